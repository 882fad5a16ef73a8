//! Tests transfer and alpha against their definitions in f64, sample by sample, with an independent
//! implementation of the curves.

use super::tests::{frame_time, random_frame};
use super::{Convert, bind, displayed, path};
use crate::filter::Band;
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, Matrix, PlaneSet, Scratch, Transfer};
use crate::simd::Level;

/// Runs all steps of a conversion.
fn through(input: &Frame, to: &Format, level: Level) -> Frame {
    let mut frame = input.clone();
    for next in path(input.format(), to).unwrap() {
        let step = bind(frame.format(), &next, level).unwrap();
        let mut out = Frame::new(next);
        let now = step.at(&frame_time()).unwrap();
        let beside = matches!(now.plan.reach, crate::filter::Reach::Rows(_));
        if !beside {
            out = frame.clone();
            out.retag(next);
        }
        let rows = 0..next.height as usize;
        let input = beside.then(|| frame.as_ref());
        let mut band = Band { rows, input, output: out.as_mut(), writes: PlaneSet::ALL };
        step.render(&now, None, &mut band, &mut Scratch::default());
        frame = out;
    }
    frame
}

fn value(frame: &Frame, p: usize, x: usize, y: usize) -> f64 {
    match frame.format().depth {
        Depth::Float => frame.row::<f32>(p, y)[x].into(),
        Depth::Bits(8) => f64::from(frame.row::<u8>(p, y)[x]) / 255.0,
        Depth::Bits(n) => f64::from(frame.row::<u16>(p, y)[x]) / f64::from((1u32 << n) - 1),
    }
}

fn light(t: Transfer, v: f64) -> f64 {
    let x = v.abs();
    let l = match t {
        Transfer::LINEAR => x,
        Transfer::BT709 => x.powf(2.4),
        _ if x <= 0.04045 => x / 12.92,
        _ => ((x + 0.055) / 1.055).powf(2.4),
    };
    l.copysign(v)
}

fn shown(t: Transfer, l: f64) -> f64 {
    let x = l.abs();
    let v = match t {
        Transfer::LINEAR => x,
        Transfer::BT709 => x.powf(1.0 / 2.4),
        _ if x <= 0.0031308 => x * 12.92,
        _ => 1.055 * x.powf(1.0 / 2.4) - 0.055,
    };
    v.copysign(l)
}

/// The value of plane `p` at a position by the definition.
fn reference(input: &Frame, to: &Format, p: usize, x: usize, y: usize) -> f64 {
    let from = input.format();
    let a = from.alpha_plane().map_or(1.0, |p| value(input, p, x, y));
    if to.alpha_plane() == Some(p) {
        return a;
    }
    let mut v = value(input, p, x, y);
    let straightens = to.has_alpha() && from.alpha == Alpha::Premultiplied && a > 0.0;
    if straightens {
        v /= a;
    }
    let curve = |f: &Format| if f.transfer == Transfer::UNSPECIFIED { Transfer::SRGB } else { f.transfer };
    if curve(from) != curve(to) {
        v = shown(curve(to), light(curve(from), v));
    }
    let multiplies = to.alpha == Alpha::Premultiplied && (straightens || from.alpha == Alpha::Straight);
    if multiplies { v * a } else { v }
}

fn format(name: &str, transfer: Transfer, alpha: Alpha) -> Format {
    let format = Format::from_name(name, 61, 23).unwrap();
    let alpha = if format.has_alpha() { alpha } else { Alpha::None };
    let full = if format.family == Family::Gray { ColorRange::Full } else { format.range };
    Format { transfer, alpha, range: full, ..format }
}

#[test]
fn every_pair_is_as_defined_and_the_same_at_every_level() {
    let transfers = [Transfer::LINEAR, Transfer::SRGB, Transfer::BT709, Transfer::UNSPECIFIED];
    let names = ["gbrap", "gbrap12", "gbrap16", "gbrapf32", "gbrp16", "gbrpf32", "gray16", "grayf32", "ya16"];
    let mut seed = 1;
    for (a, b) in names.iter().flat_map(|a| names.map(|b| (a, b))) {
        for (s, t) in transfers.iter().flat_map(|s| transfers[..3].iter().map(move |t| (*s, *t))) {
            for (k, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let kind = |k| if k == 0 { Alpha::Straight } else { Alpha::Premultiplied };
                let (from, to) = (format(a, s, kind(k)), format(b, t, kind(l)));
                let gray = |f: &Format| f.family == Family::Gray;
                if gray(&from) != gray(&to) || s == t && from.alpha == to.alpha {
                    continue;
                }
                seed += 1;
                let input = random_frame(from, seed);
                let got = through(&input, &to, Level::SCALAR);
                for &level in Level::available() {
                    assert!(through(&input, &to, level) == got, "{from:?} {to:?} {level}");
                }
                for p in 0..to.planes() {
                    for (x, y) in (0..23).flat_map(|y| (0..61).map(move |x| (x, y))) {
                        let (want, got) = (reference(&input, &to, p, x, y), value(&got, p, x, y));
                        let top = to.depth.bits().map(|n| f64::from((1u32 << n) - 1));
                        let (off, slack) = match top {
                            // one rounding, and the error of f32: two millionths of the value
                            Some(top) => ((want.clamp(0.0, 1.0) - got).abs() * top, 0.5 + 4e-6 * top),
                            None => ((want - got).abs(), 1e-5 * want.abs() + 1e-7),
                        };
                        assert!(off <= slack, "{from:?}\n{to:?}\n{p} {x},{y}: {got} for {want}");
                    }
                }
            }
        }
    }
}

/// Chroma is resampled before the transfer changes, with the same result as through float R, G, B.
#[test]
fn video_goes_by_way_of_rgb() {
    let video = Format { matrix: Matrix::BT709, ..Format::from_name("yuva420p10", 64, 32).unwrap() };
    let to = format("gbrapf32", Transfer::LINEAR, Alpha::Premultiplied);
    let to = Format { width: 64, height: 32, ..to };
    let list = path(&video, &to).unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!((list[0].name().as_str(), list[0].alpha), ("gbrapf32", Alpha::Straight));
    let back = path(&to, &Format { transfer: Transfer::BT709, ..video }).unwrap();
    assert_eq!((back.len(), back[0].transfer, back[0].alpha), (2, Transfer::BT709, Alpha::Straight));
    // without a change of transfer or alpha there is one step
    assert_eq!(path(&video, &Format { depth: Depth::Bits(8), ..video }).unwrap().len(), 1);
}

#[test]
fn samples_that_are_not_finite_stay_and_no_others_become_so() {
    let from = Format { height: 8, ..format("gbrapf32", Transfer::LINEAR, Alpha::Premultiplied) };
    let odd = [
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        f32::MIN_POSITIVE,
        1e-45,
        f32::MAX,
        1.0,
        -2.0,
    ];
    for kind in [Alpha::Premultiplied, Alpha::Straight] {
        for t in (0..=18).map(Transfer) {
            let from = Format { alpha: kind, ..from };
            let other = if kind == Alpha::Straight { Alpha::Premultiplied } else { Alpha::Straight };
            let to = Format { alpha: other, transfer: t, ..from };
            if path(&from, &to).is_err() {
                continue;
            }
            let mut input = Frame::new(from);
            for y in 0..8 {
                for p in 0..4 {
                    let row = input.row_mut::<f32>(p, y).iter_mut().enumerate();
                    row.for_each(|(x, v)| *v = odd[(x * (1 + p / 3 * 2) + y * (p + 1)) % odd.len()]);
                }
            }
            let got = through(&input, &to, Level::best());
            for (p, y) in (0..4).flat_map(|p| (0..8).map(move |y| (p, y))) {
                for (old, new) in input.row::<f32>(p, y).iter().zip(got.row::<f32>(p, y)) {
                    if old.is_finite() {
                        assert!(new.is_finite(), "{t:?} {kind:?}: {old} {new}");
                    } else {
                        assert_eq!(old.to_bits(), new.to_bits(), "{t:?} {kind:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn linear_float_becomes_display_values_in_integers() {
    let exr = format("gbrapf32", Transfer::LINEAR, Alpha::Premultiplied);
    let to = |name: &str, from: &Format| displayed(from, super::retarget(from, name).unwrap()).transfer;
    assert_eq!(to("gbrap16", &exr), Transfer::SRGB);
    assert_eq!(to("yuv422p10", &exr), Transfer::BT709);
    assert_eq!(to("grayf32", &exr), Transfer::LINEAR);
    assert_eq!(to("gbrp", &format("gbrap16", Transfer::LINEAR, Alpha::Straight)), Transfer::LINEAR);
    assert_eq!(to("gbrp", &format("gbrapf32", Transfer::PQ, Alpha::Straight)), Transfer::PQ);
}

#[test]
fn the_description_names_the_transfer() {
    let tell = |from: &Format, to: &Format| Convert::new(from, to, Level::SCALAR).unwrap().describe();
    let exr = format("gbrapf32", Transfer::LINEAR, Alpha::Premultiplied);
    let png = format("gbrap16", Transfer::SRGB, Alpha::Straight);
    let line = tell(&exr, &png);
    assert!(line.contains("linear light -> sRGB") && line.contains("premultiplied -> straight"), "{line}");
    let line = tell(&Format { transfer: Transfer::UNSPECIFIED, ..png }, &exr);
    assert!(line.contains("sRGB -> linear light; no transfer tag"), "{line}");
    let density = Format { transfer: Transfer::DENSITY, ..png };
    let refused = path(&density, &exr).unwrap_err().to_string();
    assert!(refused.contains("density") && refused.contains("--transfer"), "{refused}");
}
