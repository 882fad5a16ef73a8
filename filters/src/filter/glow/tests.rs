use super::super::convert::tests::{codes, raw, reference};
use super::super::testing::{FORMATS, bind, format, noise, run};
use super::*;
use crate::frame::{ColorRange, Family, Frame, Transfer};

/// The settings of a case: strength, threshold, knee, and for R, G and B the radius and the tint's light.
struct Wanted {
    strength: f64,
    threshold: f64,
    knee: f64,
    radii: [f64; 3],
    tint: [f64; 3],
    is_rim: bool,
}

/// Differences of nominal R, G and B in f64, sample by sample from the definition, as planes of G, B and R; and what an
/// error of a few millionths of the light makes of them.
fn twin(source: &Frame, wanted: &Wanted) -> (Frame, Vec<f64>) {
    let f = *source.format();
    let curve = TransferFunction::of(&f);
    let is_multiplied = f.alpha == Alpha::Premultiplied;
    let rgb = Format::new(f.width, f.height, Family::Rgb, Depth::Float, (0, 0));
    let (w, h) = (f.width as usize, f.height as usize);
    let places = || (0..h).flat_map(move |y| (0..w).map(move |x| (x, y)));
    let coverage = |(x, y): (usize, usize)| {
        f.alpha_plane().map_or(1.0, |p| {
            let (zero, span) = codes(&f, p);
            (raw(source.plane(p), f.depth, x, y) - zero) / span
        })
    };
    // The samples, without regard to alpha.
    let values: Vec<[f64; 3]> =
        places().map(|(x, y)| [2, 0, 1].map(|q| reference(source, &rgb, q, x, y))).collect();
    let t = curve.light(wanted.threshold).max(0.0);
    let k = (t * wanted.knee).max(1e-6);
    let bright: Vec<[f64; 3]> = values
        .iter()
        .zip(places())
        .map(|(v, at)| {
            let a = coverage(at);
            let is_covered = a > 0.0 && a.is_finite();
            let by = if is_multiplied && is_covered { a } else { 1.0 };
            let light = v.map(|v| curve.light(v / by)).map(|v| if v > 0.0 && v < 1e6 { v } else { 0.0 });
            let most = light.into_iter().fold(0.0, f64::max);
            let m = if wanted.is_rim { (light[0] + 2.0 * light[1] + light[2]) / 4.0 } else { most };
            let part = if m - t > k { m - t } else { (m - t + k).max(0.0).powi(2) / (4.0 * k) };
            let a = if is_covered || (!is_multiplied && a.is_finite()) { a.max(0.0) } else { 1.0 };
            let most = if wanted.is_rim { light[0] } else { most };
            light.map(|v| if m > 0.0 { v.min(most) * part / m * a } else { 0.0 })
        })
        .collect();
    let mut made = Frame::new(rgb);
    let mut slack = vec![0.0f64; w * h];
    for c in 0..3 {
        let sigma = wanted.radii[c] * f64::from(f.width) / 1920.0;
        let part = wanted.radii[c] / wanted.radii.into_iter().fold(0.0, f64::max);
        let amount = wanted.strength * wanted.tint[c] * part * part;
        if sigma < 0.05 || amount == 0.0 {
            continue;
        }
        let far = ((3.5 * sigma - 0.5).ceil() as i64).max(1);
        let weight = |d: i64| (-((d * d) as f64) / (2.0 * sigma * sigma)).exp();
        let all: f64 = (-far..=far).map(weight).sum();
        let soften = |from: &[f64], step: usize, len: usize, at: usize, i: usize| -> f64 {
            let near = |d: i64| (i as i64 + d).clamp(0, len as i64 - 1) as usize;
            (-far..=far).map(|d| weight(d) / all * from[at - i * step + near(d) * step]).sum()
        };
        let channel: Vec<f64> = bright.iter().map(|v| v[c]).collect();
        let down: Vec<f64> = (0..w * h).map(|n| soften(&channel, w, h, n, n / w)).collect();
        for (n, (x, y)) in places().enumerate() {
            let own = if wanted.is_rim { channel[n] } else { 0.0 };
            let more = amount * (soften(&down, 1, w, n, x) - own);
            let v = values[n][c];
            let to = |more: f64| {
                let (more, room) = (curve.code(curve.light(v) + more.max(0.0)) - v, 1.0 - v);
                let bent = if room > 0.0 { more * room / (more + room) } else { 0.0 };
                (if f.depth == Depth::Float { more } else { bent }).max(0.0)
            };
            let error = 3e-6 * amount.max(1.0);
            let difference = if more > 0.0 && v.is_finite() { to(more) } else { 0.0 };
            made.row_mut::<f32>([2, 0, 1][c], y)[x] = difference as f32;
            if v.is_finite() {
                slack[n] = slack[n].max(to(more + error) - to(more - error));
            }
        }
    }
    (made, slack)
}

fn check(entry: &Entry, given: &[(&str, &str)], wanted: &Wanted) {
    for &(name, width, height) in FORMATS {
        let plain = format(name, width, height);
        let multiplied = Format { alpha: Alpha::Premultiplied, range: ColorRange::Full, ..plain };
        let linear = Format { transfer: Transfer::LINEAR, ..plain };
        for f in [Some(plain), Some(linear), plain.has_alpha().then_some(multiplied)].into_iter().flatten() {
            let source = noise(f);
            let (added, slack) = twin(&source, wanted);
            let got = run(&*bind(entry, given, &f, Level::SCALAR), &source, 0, &[]);
            for p in 0..f.planes() {
                let ((w, h), (zero, span)) = (f.plane_size(p), codes(&f, p));
                let (sx, sy) = f.plane_subsampling(p);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let [was, is] = [&source, &got].map(|frame| raw(frame.plane(p), f.depth, x, y));
                    let near = |n: usize, s: u8, len: u32| {
                        let at = n << s;
                        at.saturating_sub(4)..(at + 8).min(len as usize)
                    };
                    let spread = near(y, sy, f.height)
                        .flat_map(|j| near(x, sx, f.width).map(move |i| (i, j)))
                        .map(|(i, j)| slack[j * width as usize + i])
                        .fold(0.0, f64::max);
                    if Some(p) == f.alpha_plane() || !was.is_finite() {
                        assert!(was == is || was.is_nan() && is.is_nan(), "{f:?} {p} {x},{y}: {was} {is}");
                        continue;
                    }
                    let more = reference(&added, &f, p, x, y) * span;
                    let limits = f.legal(p).map_or((f64::MIN, f64::MAX), |(low, high)| {
                        (was.min(low.into()), was.max(high.into()))
                    });
                    let want = (was + more).clamp(limits.0, limits.1);
                    let by =
                        if f.depth == Depth::Float { 2e-4 } else { 0.51 + 1e-5 * span } + 2.0 * spread * span;
                    assert!(
                        (is - want).abs() <= by,
                        "{f:?} {given:?} plane {p} at {x},{y}: {was} became {is}, not {want} by {by} (zero {zero})"
                    );
                }
            }
            for (level, cuts) in Level::available().iter().flat_map(|l| [(*l, &[][..]), (*l, &[4, 8, 16])]) {
                assert!(
                    run(&*bind(entry, given, &f, level), &source, 0, cuts) == got,
                    "{f:?} {level} {cuts:?}"
                );
            }
        }
    }
}

#[test]
fn every_sample_is_as_defined() {
    let given =
        [("strength", "0.8"), ("threshold", "0.5"), ("knee", "0.6"), ("radius", "45"), ("tint", "#ff8000")];
    let half = TransferFunction::Srgb.light(128.0 / 255.0);
    let wanted = Wanted {
        strength: 0.8,
        threshold: 0.5,
        knee: 0.6,
        radii: [45.0; 3],
        tint: [1.0, half, 0.0],
        is_rim: false,
    };
    check(&GLOW, &given, &wanted);
    let given = [("strength", "2"), ("threshold", "0.6"), ("knee", "0"), ("red", "50"), ("green", "20")];
    let half = TransferFunction::Srgb.light(0.7);
    let wanted = Wanted {
        strength: 2.0,
        threshold: 0.6,
        knee: 0.0,
        radii: [50.0, 20.0, 0.0],
        tint: [1.0, half, 0.0],
        is_rim: true,
    };
    check(&HALATION, &given, &wanted);
}

/// A white disc of this radius on dark grey.
fn lamp(f: Format, radius: f64) -> Frame {
    let mut frame = Frame::new(f);
    for p in 0..3 {
        for y in 0..f.height as usize {
            for (x, v) in frame.row_mut::<u16>(p, y).iter_mut().enumerate() {
                let [dx, dy] = [x as f64 - 160.0, y as f64 - 90.0];
                *v = if dx * dx + dy * dy < radius * radius { 65000 } else { 3000 };
            }
        }
    }
    frame
}

#[test]
fn halation_is_red_then_orange_and_nothing_falls() {
    let f = format("gbrp16", 320, 180);
    for radius in [3.0, 12.0, 40.0, 400.0] {
        let source = lamp(f, radius);
        for entry in [&GLOW, &HALATION] {
            let given: &[_] =
                if entry.name == "glow" { &[("radius", "80")] } else { &[("red", "60"), ("green", "20")] };
            let made = run(&*bind(entry, given, &f, Level::best()), &source, 0, &[]);
            let at = |frame: &Frame, p: usize, x: usize| i32::from(frame.row::<u16>(p, 90)[x]);
            for (p, y, x) in (0..3).flat_map(|p| (0..180).flat_map(move |y| (0..320).map(move |x| (p, y, x))))
            {
                assert!(made.row::<u16>(p, y)[x] >= source.row::<u16>(p, y)[x], "{} {radius}", entry.name);
            }
            let edge = 160 + radius as usize;
            if entry.name == "halation" && radius < 100.0 {
                let rises = |p: usize, x: usize| at(&made, p, x) - at(&source, p, x);
                let (near, far) = (edge + 2, edge + 14);
                assert!(rises(0, near) > 0 && rises(1, near) == 0);
                assert!((edge + 1..320).all(|x| rises(2, x) >= rises(0, x)), "{radius}");
                assert!(rises(2, far) > 8 * rises(0, far) && rises(2, far) > 200, "{radius}");
            }
            if entry.name == "halation" && radius > 100.0 {
                assert!(made == source, "a wide bright area keeps its colour");
            }
        }
    }
}

#[test]
fn a_layer_without_tint_takes_nothing_from_the_others() {
    let f = format("gbrp16", 320, 180);
    let source = lamp(f, 12.0);
    let made =
        |blue| run(&*bind(&HALATION, &[("red", "60"), ("blue", blue)], &f, Level::best()), &source, 0, &[]);
    assert!(made("0") == made("300"));
}

#[test]
fn what_is_below_the_threshold_does_not_change() {
    for name in ["yuv420p10", "gbrp16"] {
        let f = format(name, 96, 54);
        let mut source = Frame::new(f);
        for p in 0..3 {
            let (zero, span) = codes(&f, p);
            for y in 0..f.plane_size(p).1 {
                for (x, v) in source.row_mut::<u16>(p, y).iter_mut().enumerate() {
                    let value = ((x * 37 + y * 11 + p * 5) % 64) as f64 / 64.0;
                    let value = if f.is_chroma(p) { (value - 0.5) * 0.1 } else { 0.1 + 0.25 * value };
                    *v = (zero + span * value) as u16;
                }
            }
        }
        for entry in [&GLOW, &HALATION] {
            assert!(run(&*bind(entry, &[("strength", "4")], &f, Level::best()), &source, 0, &[]) == source);
        }
    }
}

#[test]
fn light_spreads_beyond_the_matte_of_premultiplied_pictures() {
    let f = Format {
        alpha: Alpha::Premultiplied,
        transfer: Transfer::LINEAR,
        ..Format::from_name("gbrapf32", 192, 9).unwrap()
    };
    // The same light over black, opaque and cut out at half and at no coverage.
    let mut source = Frame::new(f);
    for y in 0..9 {
        (0..3).for_each(|p| source.row_mut::<f32>(p, y)[60..68].fill(10.0));
        source.row_mut::<f32>(3, y)[..80].fill(1.0);
        source.row_mut::<f32>(3, y)[80..100].fill(0.5);
    }
    let mut opaque = source.clone();
    (0..9).for_each(|y| opaque.row_mut::<f32>(3, y).fill(1.0));
    let glow = bind(&GLOW, &[("radius", "150")], &f, Level::best());
    let [made, want] = [&source, &opaque].map(|frame| run(&*glow, frame, 0, &[]));
    for (p, y) in (0..3).flat_map(|p| (0..9).map(move |y| (p, y))) {
        assert_eq!(made.row::<f32>(p, y), want.row::<f32>(p, y));
        assert!(made.row::<f32>(p, y)[90] > 0.005 && made.row::<f32>(p, y)[105] > 0.0);
        assert_eq!(made.row::<f32>(3, y), source.row::<f32>(3, y));
    }
    // Where straight alpha is 0, colour is no light.
    let f = format("gbrap16", 192, 9);
    let mut source = Frame::new(f);
    for (p, y) in (0..4).flat_map(|p| (0..9).map(move |y| (p, y))) {
        source.row_mut::<u16>(p, y).fill(if p == 3 { 65535 } else { 9000 });
        source.row_mut::<u16>(p, y)[60..68].fill(if p == 3 { 0 } else { 65535 });
    }
    assert!(run(&*bind(&GLOW, &[], &f, Level::best()), &source, 0, &[]) == source);
}
