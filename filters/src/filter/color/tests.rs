use super::*;
use crate::filter::testing::{at, compare, compare_premultiplied, frame_time, zero_span};
use crate::frame::{Depth, Frame};

/// The nominal sample.
fn nominal(f: &Frame, p: usize, x: usize, y: usize) -> f64 {
    let (zero, span) = zero_span(f.format(), p);
    (at(f, p, x, y) - zero) / span
}

/// The luma at a chroma sample, as an unrounded mean.
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

/// Compares with the formula in terms of red, green and blue, for luma weights kr and kb.
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
        // Half a code of rounding, a margin for integer weights, and half a code for the mean of luma.
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
fn offsets_to_premultiplied_colour_are_premultiplied() {
    let text = "brightness=0.1:contrast=1.3:saturation=0.6:temperature=0.5";
    let given = [("brightness", "0.1"), ("contrast", "1.3"), ("saturation", "0.6"), ("temperature", "0.5")];
    let values = crate::settings::Values::parse(ENTRY.settings, text).unwrap();
    let set = <ColorSpec as crate::settings::Settings>::read(&values);
    compare_premultiplied(&ENTRY, &given, 0.75, |f, p, v, a| {
        let weights = weights(f).unwrap();
        let filter = Color { format: *f, set: set.clone(), weights, level: Level::SCALAR };
        let map = map(weights, filter.numbers(&frame_time(0)));
        let (m, offset) = if f.is_rgb() { map_rgb(weights, map) } else { map };
        let sum = m[p][0] * v[0] + m[p][1] * v[1] + m[p][2] * v[2] + offset[p] * a;
        let low = if f.is_chroma(p) { -0.5 } else { 0.0 };
        let kept = if f.depth == Depth::Float { sum } else { sum.clamp(low * a, (low + 1.0) * a) };
        (a > 0.0).then_some(kept)
    });
}
