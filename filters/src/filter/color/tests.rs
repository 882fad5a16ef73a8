use super::*;
use crate::filter::testing::{at, compare, zero_span};
use crate::frame::Frame;

/// The nominal sample.
fn nominal(f: &Frame, p: usize, x: usize, y: usize) -> f64 {
    let (zero, span) = zero_span(f.format(), p);
    (at(f, p, x, y) - zero) / span
}

/// The luma that chroma sees, with the rounding of its mean undone by nothing: exact to half a code.
fn seen(f: &Frame, x: usize, y: usize) -> f64 {
    let (sx, sy) = f.format().plane_subsampling(1);
    let (w, h) = f.format().plane_size(0);
    let mut sum = 0.0;
    for j in 0..1usize << sy {
        for i in 0..1usize << sx {
            sum += nominal(f, 0, ((x << sx) + i).min(w - 1), ((y << sy) + j).min(h - 1));
        }
    }
    sum / f64::from(1u32 << (sx + sy))
}

/// The formula in words of red, green and blue, for luma weights kr and kb.
fn check(given: &[(&str, &str)], [brightness, contrast, saturation, hue, temperature]: [f64; 5]) {
    let turn = |(kr, kb): (f64, f64), [y, u, v]: [f64; 3]| {
        let kg = 1.0 - kr - kb;
        let angle = hue * core::f64::consts::PI / 180.0;
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let (u, v) = (saturation * (u * cos - v * sin), saturation * (u * sin + v * cos));
        let (y, u, v) = ((y - 0.5) * contrast + 0.5 + brightness, u * contrast, v * contrast);
        let (r, b) = (y + 2.0 * (1.0 - kr) * v, y + 2.0 * (1.0 - kb) * u);
        let (r, b) = (r + y * temperature / 4.0, b - y * temperature / 4.0);
        let g = (y - kr * r - kb * b) / kg;
        [y, (b - y) / (2.0 * (1.0 - kb)), (r - y) / (2.0 * (1.0 - kr)), g, b, r]
    };
    compare(&ENTRY, given, 0, |source, p, x, y| {
        let f = source.format();
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let was = at(source, p, x, y);
        let (zero, span) = zero_span(f, p);
        let rgb = f.planes() >= 3 && !f.is_chroma(1);
        let luma = brightness != 0.0 || contrast != 1.0;
        let colour = contrast * saturation != 1.0 || hue != 0.0 || temperature != 0.0;
        if !rgb && !(if p == 0 { luma } else { colour }) {
            return None;
        }
        let value = if rgb {
            let [g, b, r] = [0, 1, 2].map(|p| nominal(source, p, x, y));
            let (kr, kb) = (0.2126, 0.0722);
            let luma = kr * r + (1.0 - kr - kb) * g + kb * b;
            let (u, v) = ((b - luma) / (2.0 * (1.0 - kb)), (r - luma) / (2.0 * (1.0 - kr)));
            turn((kr, kb), [luma, u, v])[3 + p]
        } else if p == 0 {
            turn((0.299, 0.114), [nominal(source, 0, x, y), 0.0, 0.0])[0]
        } else {
            let parts = [seen(source, x, y), nominal(source, 1, x, y), nominal(source, 2, x, y)];
            turn((0.299, 0.114), parts)[p]
        };
        if f.depth == Depth::Float {
            return Some(if value.is_finite() && was.is_finite() { (value, 3e-5) } else { (was, 0.0) });
        }
        let (lo, hi) = f.legal(p).unwrap();
        // Half a code of rounding, a little for integer weights, and half a code of the mean of luma.
        let mean =
            if f.is_chroma(p) && f.subsampling != (0, 0) { 0.15 * temperature.abs() * contrast } else { 0.0 };
        Some(((zero + value * span).clamp(lo.into(), hi.into()), 0.54 + mean))
    });
}

#[test]
fn it_is_the_formula() {
    compare(&ENTRY, &[("hue", "360")], 0, |_, _, _, _| None);
    check(&[("brightness", "0.1")], [0.1, 1.0, 1.0, 0.0, 0.0]);
    check(&[("contrast", "1.5"), ("brightness", "-0.2")], [-0.2, 1.5, 1.0, 0.0, 0.0]);
    check(&[("saturation", "0")], [0.0, 1.0, 0.0, 0.0, 0.0]);
    check(&[("hue", "35"), ("saturation", "1.3")], [0.0, 1.0, 1.3, 35.0, 0.0]);
    check(&[("temperature", "0.8")], [0.0, 1.0, 1.0, 0.0, 0.8]);
    let all = [
        ("brightness", "0.05"),
        ("contrast", "0.7"),
        ("saturation", "4"),
        ("hue", "-100"),
        ("temperature", "-1"),
    ];
    check(&all, [0.05, 0.7, 4.0, -100.0, -1.0]);
}

#[test]
fn hue_turns_red_towards_yellow_and_warm_is_red() {
    let f = Format::new(1, 1, Family::Rgb, Depth::Bits(8), (0, 0));
    let show = |given: &[(&str, &str)], gbr: [u8; 3]| {
        let mut frame = Frame::new(f);
        (0..3).for_each(|p| frame.row_mut::<u8>(p, 0)[0] = gbr[p]);
        let filter = crate::filter::testing::bind(&ENTRY, given, &f, Level::best());
        let out = crate::filter::testing::run(&*filter, &frame, 0, &[]);
        [0, 1, 2].map(|p| out.row::<u8>(p, 0)[0])
    };
    let [g, b, r] = show(&[("hue", "40")], [60, 60, 160]);
    assert!(g > b + 20 && r > b, "{r} {g} {b}");
    let [g, b, r] = show(&[("temperature", "0.5")], [100, 100, 100]);
    assert!(r > g && g > b, "{r} {g} {b}");
    assert_eq!(show(&[("temperature", "1")], [0, 0, 0]), [0, 0, 0]);
}

#[test]
fn what_is_added_to_multiplied_colour_is_multiplied() {
    use crate::filter::testing::{bind, format, noise, run};
    let given = [("brightness", "0.1"), ("contrast", "1.3"), ("saturation", "0.6"), ("temperature", "0.5")];
    for name in ["gbrap", "gbrap16", "gbrapf32", "yuva420p", "yuva444p12"] {
        let (straight, multiplied) =
            (format(name, 35, 8), Format { alpha: Alpha::Premultiplied, ..format(name, 35, 8) });
        // The same colour with and without alpha; alpha by blocks.
        let mut source = noise(multiplied);
        let alpha = multiplied.planes() - 1;
        let cover = |x: usize, y: usize| [0.0, 0.2, 0.6, 1.0][(x / 2 + y / 2) % 4];
        for y in 0..8 {
            for x in 0..35 {
                match multiplied.depth {
                    Depth::Bits(8) => source.row_mut::<u8>(alpha, y)[x] = (cover(x, y) * 255.0) as u8,
                    Depth::Bits(b) => {
                        source.row_mut::<u16>(alpha, y)[x] = (cover(x, y) * f64::from((1 << b) - 1)) as u16;
                    }
                    Depth::Float => source.row_mut::<f32>(alpha, y)[x] = cover(x, y) as f32,
                }
            }
        }
        let out = run(&*bind(&ENTRY, &given, &multiplied, Level::best()), &source, 0, &[4]);
        let filter = Color {
            format: multiplied,
            set: {
                let text = "brightness=0.1:contrast=1.3:saturation=0.6:temperature=0.5";
                <ColorSpec as crate::settings::Settings>::read(
                    &crate::settings::Values::parse(ENTRY.settings, text).unwrap(),
                )
            },
            weights: weights(&multiplied).unwrap(),
            level: Level::SCALAR,
        };
        let map = map(filter.weights, filter.numbers(&crate::filter::testing::frame_time(0)));
        let (m, offset) = if straight.is_rgb() { map_rgb(filter.weights, map) } else { map };
        for p in 0..3 {
            let (w, h) = multiplied.plane_size(p);
            let (sx, sy) = multiplied.plane_subsampling(p);
            let (zero, span) = zero_span(&multiplied, p);
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                let (was, is) = (at(&source, p, x, y), at(&out, p, x, y));
                let a = at(&source, alpha, (x << sx).min(34), y << sy) / zero_span(&multiplied, alpha).1;
                let luma =
                    if multiplied.is_chroma(p) { seen(&source, x, y) } else { nominal(&source, 0, x, y) };
                let others = if p == 0 && !straight.is_rgb() {
                    [0.0; 2]
                } else {
                    [1, 2].map(|p| nominal(&source, p, x, y))
                };
                let v = [luma, others[0], others[1]];
                let sum = m[p][0] * v[0] + m[p][1] * v[1] + m[p][2] * v[2] + offset[p] * a;
                if a == 0.0 || !sum.is_finite() || !was.is_finite() {
                    assert!(was == is || was.is_nan() && is.is_nan(), "{name} {p} at {x},{y}: {was} {is}");
                    continue;
                }
                let low = if multiplied.is_chroma(p) { -0.5 } else { 0.0 };
                let float = multiplied.depth == Depth::Float;
                let kept = if float { sum } else { sum.clamp(low * a, (low + 1.0) * a) };
                let by = if float { 1e-5 } else { 0.75 };
                let want = zero + kept * span;
                assert!((is - want).abs() <= by, "{name} {p} at {x},{y}: {was} became {is}, not {want}");
            }
        }
    }
}
