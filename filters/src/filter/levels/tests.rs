use super::*;
use crate::filter::testing::{at, compare, format, noise, run, try_bind, zero_span};

fn check(given: &[(&str, &str)], [black, white, gamma, low, high]: [f64; 5]) {
    compare(&ENTRY, given, 0, |source, p, x, y| {
        let f = source.format();
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let was = at(source, p, x, y);
        if !was.is_finite() {
            return None;
        }
        let (zero, span) = zero_span(f, p);
        let gain = (high - low) / (white - black);
        let float = f.depth == Depth::Float;
        if f.is_chroma(p) && gain == 1.0 {
            return None;
        }
        if f.is_chroma(p) {
            let (lo, hi) = f.legal(p).unwrap();
            return Some(((zero + (was - zero) * gain).clamp(lo.into(), hi.into()), 0.513));
        }
        let t = ((was - zero) / span - black) / (white - black);
        let t = if float { t } else { t.clamp(0.0, 1.0) };
        let t = if gamma == 1.0 || t <= 0.0 { t } else { libm::pow(t, 1.0 / gamma) };
        Some((zero + (low + t * (high - low)) * span, if float { 1e-5 * (1.0 + t.abs()) } else { 0.513 }))
    });
}

#[test]
fn lines_and_tables_are_the_formula() {
    check(&[("black", "0.1"), ("white", "0.8")], [0.1, 0.8, 1.0, 0.0, 1.0]);
    check(&[("white", "0"), ("black", "1")], [1.0, 0.0, 1.0, 0.0, 1.0]);
    check(&[("out-black", "0.9"), ("out-white", "0.2")], [0.0, 1.0, 1.0, 0.9, 0.2]);
    check(&[("gamma", "2.2")], [0.0, 1.0, 2.2, 0.0, 1.0]);
    let all =
        [("black", "0.05"), ("white", "0.9"), ("gamma", "0.45"), ("out-black", "0.1"), ("out-white", "0.7")];
    check(&all, [0.05, 0.9, 0.45, 0.1, 0.7]);
}

#[test]
fn the_defaults_change_nothing_and_a_threshold_is_one() {
    compare(&ENTRY, &[], 0, |_, _, _, _| None);
    // Luma becomes black or white; float samples are as steep.
    compare(&ENTRY, &[("black", "0.5"), ("white", "0.5"), ("channel", "all")], 0, |source, p, x, y| {
        let f = source.format();
        let (zero, span) = zero_span(f, p);
        let was = at(source, p, x, y);
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let up = (was - zero) / span > 0.5;
        match f.depth {
            Depth::Float => Some((was, f64::INFINITY)),
            _ if f.is_chroma(p) => Some((was, f64::INFINITY)),
            _ => Some((zero + if up { span } else { 0.0 }, 0.5)),
        }
    });
}

#[test]
fn one_channel_alone() {
    let f = format("gbrp", 8, 8);
    let filter = try_bind(&ENTRY, &[("channel", "r"), ("gamma", "2")], &f, Level::best()).unwrap();
    let at = crate::filter::testing::frame_time(0);
    assert_eq!(filter.at(&at).unwrap().plan.writes, PlaneSet(0b100));
    let yuva = format("yuva420p", 8, 8);
    let filter = try_bind(&ENTRY, &[("channel", "a"), ("gamma", "2")], &yuva, Level::best()).unwrap();
    assert_eq!(filter.at(&at).unwrap().plan.writes, PlaneSet(0b1000));
    let problem = try_bind(&ENTRY, &[("channel", "u")], &f, Level::best()).err().unwrap();
    assert!(problem.problem.contains("no channel 'u'"), "{problem}");
    // The middle of a colour difference stays where black and white lie even about it.
    let f = format("yuv444p", 8, 8);
    let mut frame = crate::frame::Frame::new(f);
    frame.row_mut::<u8>(1, 0).copy_from_slice(&[16, 72, 128, 184, 240, 0, 255, 128]);
    let filter =
        try_bind(&ENTRY, &[("channel", "u"), ("black", "0.25"), ("white", "0.75")], &f, Level::best());
    let out = crate::filter::testing::run(&*filter.unwrap(), &frame, 0, &[]);
    assert_eq!(out.row::<u8>(1, 0), [16, 16, 128, 240, 240, 16, 240, 128]);
}

#[test]
fn colour_that_is_multiplied_by_alpha_is_divided_by_it() {
    for name in ["gbrap", "gbrap16", "gbrapf32", "yuva420p", "yuva444p10"] {
        let f = Format { alpha: Alpha::Premultiplied, ..format(name, 37, 12) };
        let mut source = noise(f);
        let alpha = f.planes() - 1;
        // Nothing, little, half and all of it.
        for y in 0..12 {
            for x in 0..37 {
                let a = [0.0, 0.1, 0.5, 1.0][(x / 2 + y / 2) % 4];
                match f.depth {
                    Depth::Bits(8) => source.row_mut::<u8>(alpha, y)[x] = (a * 255.0) as u8,
                    Depth::Bits(b) => {
                        source.row_mut::<u16>(alpha, y)[x] = (a * f64::from((1 << b) - 1)) as u16
                    }
                    Depth::Float => source.row_mut::<f32>(alpha, y)[x] = a as f32,
                }
            }
        }
        for (given, [black, white, gamma, low, high]) in [
            (&[("black", "0.1"), ("white", "0.8"), ("out-white", "0.9")][..], [0.1, 0.8, 1.0, 0.0, 0.9]),
            (&[("gamma", "1.8"), ("out-black", "0.2")][..], [0.0, 1.0, 1.8, 0.2, 1.0]),
        ] {
            let filter = try_bind(&ENTRY, given, &f, Level::best()).unwrap();
            let out = run(&*filter, &source, 0, &[4, 8]);
            let whole = run(&*try_bind(&ENTRY, given, &f, Level::SCALAR).unwrap(), &source, 0, &[]);
            assert!(out == whole, "{name} {given:?}");
            for p in 0..f.planes() {
                let (w, h) = f.plane_size(p);
                let (sx, sy) = f.plane_subsampling(p);
                let (zero, span) = zero_span(&f, p);
                let float = f.depth == Depth::Float;
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let (was, is) = (at(&source, p, x, y), at(&out, p, x, y));
                    let a = at(&source, alpha, (x << sx).min(36), (y << sy).min(11)) / zero_span(&f, alpha).1;
                    if p == alpha || a == 0.0 || !was.is_finite() {
                        assert!(was == is || was.is_nan() && is.is_nan(), "{name} {p} at {x},{y}");
                        continue;
                    }
                    let v = (was - zero) / span / a;
                    let gain = (high - low) / (white - black);
                    let want = if f.is_chroma(p) {
                        (v.clamp(-0.5, 0.5) * gain).clamp(-0.5, 0.5)
                    } else {
                        let t = (v - black) / (white - black);
                        let t = if float { t } else { t.clamp(0.0, 1.0) };
                        low + if gamma == 1.0 || t <= 0.0 { t } else { libm::pow(t, 1.0 / gamma) }
                            * (high - low)
                    };
                    if f.is_chroma(p) && gain == 1.0 {
                        assert_eq!(was, is, "{name} {p}");
                        continue;
                    }
                    let want = zero + want * a * span;
                    let by = if float { 3e-5 * (1.0 + want.abs()) } else { 0.56 };
                    assert!(
                        (is - want).abs() <= by,
                        "{name} {given:?} {p} at {x},{y}: {was} to {is}, not {want}"
                    );
                }
            }
        }
    }
}
