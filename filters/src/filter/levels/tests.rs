use super::*;
use crate::filter::testing::{at, compare, compare_premultiplied, format, run, try_bind, zero_span};
use crate::frame::{Alpha, Depth, Frame};

/// The bend as its document has it: for t beyond `1 - part`, up to `most`.
fn shoulder(t: f64, part: f64, most: f64) -> f64 {
    let (from, u) = (1.0 - part, (t - (1.0 - part)) / part);
    let reach = (most - from) / part;
    if u > 0.0 && most > 1.0 { from + part * u * (1.0 + u / (reach * reach)) / (1.0 + u) } else { t }
}

fn check(given: &[(&str, &str)], numbers: [f64; 5]) {
    check_bent(given, numbers, [0.0; 2]);
}

fn check_bent(given: &[(&str, &str)], [black, white, gamma, low, high]: [f64; 5], [toe, top]: [f64; 2]) {
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
        let t = if top > 0.0 { shoulder(t, top, (1.0 - black) / (white - black)) } else { t };
        let t = if toe > 0.0 { 1.0 - shoulder(1.0 - t, toe, 1.0 + black / (white - black)) } else { t };
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
    let bent = [("black", "0.1"), ("white", "0.8"), ("toe", "0.2"), ("shoulder", "0.5")];
    check_bent(&bent, [0.1, 0.8, 1.0, 0.0, 1.0], [0.2, 0.5]);
    let bent = [("white", "0.6"), ("gamma", "1.3"), ("shoulder", "1"), ("out-white", "0.9")];
    check_bent(&bent, [0.0, 0.6, 1.3, 0.0, 0.9], [0.0, 1.0]);
}

#[test]
fn the_defaults_change_nothing_and_a_threshold_is_one() {
    compare(&ENTRY, &[], 0, |_, _, _, _| None);
    // Luma becomes black or white; the slope for float samples is as steep.
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
    // The middle of a colour difference does not move if black and white are symmetric about it.
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
    let check = |given: &[(&str, &str)], [black, white, gamma, low, high]: [f64; 5]| {
        compare_premultiplied(&ENTRY, given, 0.56, |f, p, v, a| {
            if a.is_nan() || a <= 0.0 {
                return None;
            }
            let (v, gain) = (v[p] / a, (high - low) / (white - black));
            let limit = |v: f64, lo: f64, hi: f64| if f.depth == Depth::Float { v } else { v.clamp(lo, hi) };
            if f.is_chroma(p) {
                return (gain != 1.0).then(|| limit(v * gain, -0.5, 0.5) * a);
            }
            let t = limit((v - black) / (white - black), 0.0, 1.0);
            let t = if gamma == 1.0 || t <= 0.0 { t } else { libm::pow(t, 1.0 / gamma) };
            Some((low + t * (high - low)) * a)
        });
    };
    let line = [("black", "0.1"), ("white", "0.8"), ("out-white", "0.9")];
    check(&line, [0.1, 0.8, 1.0, 0.0, 0.9]);
    check(&[("gamma", "1.8"), ("out-black", "0.2")], [0.0, 1.0, 1.8, 0.2, 1.0]);
    check(&[("gamma", "0.25"), ("white", "0.9")], [0.0, 0.9, 0.25, 0.0, 1.0]);
    // One channel, which only some of the formats have.
    let f = Format { alpha: Alpha::Premultiplied, ..format("yuva444p10", 4, 4) };
    let mut source = Frame::new(f);
    for (p, code) in [512 + 112, 512 + 112, 512 - 112, 512].into_iter().enumerate() {
        (0..4).for_each(|y| source.row_mut::<u16>(p, y).fill(code));
    }
    let given = [("channel", "u"), ("black", "0.25"), ("white", "0.75")];
    let out = run(&*try_bind(&ENTRY, &given, &f, Level::best()).unwrap(), &source, 0, &[]);
    // With alpha 1/2, u is 0.25 above the middle: at white; half of it is left.
    assert_eq!(out.row::<u16>(1, 0), [512 + 224; 4]);
    assert_eq!(out.row::<u16>(2, 0), [512 - 112; 4]);
}
