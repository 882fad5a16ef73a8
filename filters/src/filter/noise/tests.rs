//! Tests the filter through the chain's interface.

use super::*;
use crate::curve::{Curve, Key, KeyTime, Shape as Ease};
use crate::frame::{ColorRange, Frame, Parity};
use crate::noise::seed::{fnv1a64, mix64};
use crate::noise::{Generator, Layout, lfsr31, noise_at};
use crate::ratio::Ratio;
use crate::settings::{Value, Values};

pub(super) fn values(given: &[(&str, Value)]) -> Values {
    let mut values = Values::new(ENTRY.settings);
    for (id, value) in given {
        values.set(id, value.clone()).unwrap();
    }
    values
}

pub(super) fn number(v: f64) -> Value {
    Value::Number(v.into())
}

pub(super) fn bind(given: &[(&str, Value)], format: &Format, level: Level) -> Box<dyn Filter> {
    ENTRY.bind(&values(given), format, 42, level).unwrap()
}

fn by(distribution: Distribution) -> Vec<(&'static str, Value)> {
    match distribution {
        Distribution::UNIFORM => vec![],
        Distribution::Sum(k) => {
            vec![("distribution", Value::Choice("binomial")), ("samples", Value::Integer(k.into()))]
        }
        Distribution::H8 => vec![("distribution", Value::Choice("gaussian"))],
    }
}

pub(super) fn at(n: i64) -> FrameTime {
    FrameTime::of_frame(n, Ratio::whole(24))
}

/// A picture of full-range samples, including illegal ones.
pub(super) fn picture(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            let random = |x: usize| mix64((p << 40 | y << 20 | x) as u64 + 1);
            match format.depth {
                Depth::Bits(8) => {
                    frame.row_mut::<u8>(p, y).iter_mut().enumerate().for_each(|(x, s)| *s = random(x) as u8)
                }
                Depth::Bits(bits) => {
                    let row = frame.row_mut::<u16>(p, y).iter_mut().enumerate();
                    row.for_each(|(x, s)| *s = random(x) as u16 >> (16 - bits))
                }
                Depth::Float => {
                    let row = frame.row_mut::<f32>(p, y).iter_mut().enumerate();
                    row.for_each(|(x, s)| *s = random(x) as u16 as f32 / 50000.0 - 0.1)
                }
            }
        }
    }
    frame
}

pub(super) fn flat(format: Format, code8: u16) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(code8 as u8),
                Depth::Bits(bits) => frame.row_mut::<u16>(p, y).fill(code8 << (bits - 8)),
                Depth::Float => frame.row_mut::<f32>(p, y).fill(f32::from(code8) / 255.0),
            }
        }
    }
    frame
}

pub(super) fn render(filter: &dyn Filter, frame: &mut Frame, n: i64, cuts: &[usize]) {
    let mut scratch = Scratch::default();
    let height = frame.format().plane_size(0).1;
    let mut rest = frame.as_mut();
    let mut first = 0;
    for &cut in cuts.iter().chain([&height]) {
        let (mut output, below) = rest.split_at_row(cut);
        let rows = first..cut;
        let Some(now) = filter.at(&at(n)) else { return };
        let writes = now.plan.writes;
        filter.render(
            &now,
            None,
            &mut Band { rows, input: None, output: output.reborrow(), writes },
            &mut scratch,
        );
        (rest, first) = (below, cut);
    }
}

fn formats() -> Vec<Format> {
    [
        "gray",
        "yuv420p",
        "yuv422p10",
        "yuv444p12",
        "gray16",
        "gbrp9",
        "gbrapf32",
        "grayf32",
        "yuva420p",
        "yuv411p",
    ]
    .iter()
    .map(|name| Format::from_name(name, 77, 22).unwrap())
    .collect()
}

#[test]
fn levels_bands_and_closed_form_agree() {
    for format in formats() {
        for (distribution, generator) in [Distribution::UNIFORM, Distribution::Sum(3), Distribution::H8]
            .into_iter()
            .flat_map(|l| [(l, "lfsr31"), (l, "xs64")])
        {
            let given =
                [by(distribution), vec![("strength", number(9.0)), ("generator", Value::Choice(generator))]]
                    .concat();
            let source = picture(format);
            let mut whole = source.clone();
            render(&*bind(&given, &format, Level::SCALAR), &mut whole, -5, &[]);
            assert_ne!(whole, source);
            for &level in Level::available() {
                for cuts in [&[][..], &[2], &[2, 4, 6, 20], &[4, 18]] {
                    let mut banded = source.clone();
                    render(&*bind(&given, &format, level), &mut banded, -5, cuts);
                    assert_eq!(banded, whole, "{} {level} {cuts:?}", format.name());
                }
            }
            if format.depth == Depth::Bits(8) {
                let shape = Shape::of(&format, Layout::Keyed, distribution).unwrap();
                let scale = NoiseGain::new(distribution, 9.0);
                let by = if generator == "xs64" { Generator::Xs64 } else { Generator::Lfsr31 };
                for p in format.color_planes().iter() {
                    let (w, h) = format.plane_size(p);
                    for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                        let c = noise_at(by, &shape, 42, (-5, p), x as u32, y as u32);
                        let was = source.row::<u8>(p, y)[x].into();
                        let want = crate::pixel::add::reference(was, c, scale, format.legal(p).unwrap());
                        assert_eq!(u16::from(whole.row::<u8>(p, y)[x]), want, "{p} {x} {y}");
                    }
                }
            }
            if let Some(alpha) = format.alpha_plane() {
                for y in 0..22 {
                    assert_eq!(whole.plane(alpha).row_bytes(y), source.plane(alpha).row_bytes(y));
                }
                assert!(!bind(&given, &format, Level::best()).at(&at(0)).unwrap().plan.writes.has(alpha));
            }
        }
    }
}

#[test]
fn wide_rows_are_the_closed_form() {
    let format = Format::from_name("gray16", 9001, 1).unwrap();
    for distribution in [Distribution::UNIFORM, Distribution::Sum(16), Distribution::H8] {
        let given = [by(distribution), vec![("strength", number(20.0))]].concat();
        let shape = Shape::of(&format, Layout::Keyed, distribution).unwrap();
        let scale = NoiseGain::new(distribution, 20.0 * 256.0);
        for &level in Level::available() {
            let mut frame = flat(format, 128);
            render(&*bind(&given, &format, level), &mut frame, 3, &[]);
            for x in (0..9001).step_by(7).chain([8191, 8192, 8999, 9000]) {
                let c = noise_at(Generator::Lfsr31, &shape, 42, (3, 0), x as u32, 0);
                assert_eq!(
                    i32::from(frame.row::<u16>(0, 0)[x]),
                    32768 + scale.of(c),
                    "{level} {distribution:?} {x}"
                );
            }
        }
    }
}

/// Mean and standard deviation of the added noise in 8-bit code values.
pub(super) fn measured(frame: &Frame, p: usize, code8: u16) -> (f64, f64) {
    let (w, h) = frame.format().plane_size(p);
    let (mut sum, mut squares) = (0.0, 0.0);
    for y in 0..h {
        for x in 0..w {
            let value = match frame.format().depth {
                Depth::Bits(8) => frame.row::<u8>(p, y)[x].into(),
                Depth::Bits(bits) => f64::from(frame.row::<u16>(p, y)[x]) / f64::from(1u32 << (bits - 8)),
                Depth::Float => f64::from(frame.row::<f32>(p, y)[x]) * 255.0,
            };
            let noise = value - f64::from(code8);
            sum += noise;
            squares += noise * noise;
        }
    }
    let n = (w * h) as f64;
    (sum / n, (squares / n).sqrt())
}

#[test]
fn strength_is_the_standard_deviation_whatever_the_rest() {
    for name in ["yuv420p", "yuv420p10", "gray12", "gray16", "gbrpf32"] {
        let format = Format { range: ColorRange::Full, ..Format::from_name(name, 512, 512).unwrap() };
        for distribution in [
            Distribution::UNIFORM,
            Distribution::Sum(2),
            Distribution::Sum(4),
            Distribution::Sum(16),
            Distribution::H8,
        ] {
            for strength in [0.4, 1.0, 6.0, 20.0] {
                let given = [by(distribution), vec![("strength", number(strength))]].concat();
                let mut frame = flat(format, 128);
                render(&*bind(&given, &format, Level::best()), &mut frame, 1, &[]);
                for p in 0..format.planes() {
                    let (mean, sd) = measured(&frame, p, 128);
                    // Five standard errors for the number of samples of the plane.
                    let n = (format.plane_size(p).0 * format.plane_size(p).1) as f64;
                    let five = 5.0 / n.sqrt();
                    assert!(
                        mean.abs() < five * strength,
                        "{name} {distribution:?} {strength} plane {p}: mean {mean}"
                    );
                    // Words of one lane are not independent (three bits 28 and 31 apart always have even parity), so
                    // sums have flatter tails than a binomial distribution; rounding below half a code shows it.
                    let tails =
                        if strength < 1.0 && distribution != Distribution::UNIFORM { 0.02 } else { 0.004 };
                    assert!(
                        (sd / strength - 1.0).abs() < five + tails,
                        "{name} {distribution:?} {strength} plane {p}: {sd}"
                    );
                }
            }
        }
    }
}

#[test]
fn limited_range_stays_legal_and_illegal_samples_are_not_pulled() {
    let format = Format::from_name("yuv420p", 256, 64).unwrap();
    let filter = bind(&[("strength", number(60.0))], &format, Level::best());
    let mut frame = flat(format, 30);
    render(&*filter, &mut frame, 0, &[]);
    for p in 0..3 {
        let (lo, hi) = format.legal(p).unwrap();
        let all = (0..format.plane_size(p).1).flat_map(|y| frame.row::<u8>(p, y));
        let (mut low, mut high) = (255, 0);
        all.for_each(|&s| (low, high) = (s.min(low), s.max(high)));
        assert_eq!(u16::from(low), lo);
        assert!(u16::from(high) <= hi);
    }
    // Below black noise can move samples up, but not further down.
    let mut frame = flat(format, 3);
    render(&*filter, &mut frame, 0, &[]);
    assert!((0..64).all(|y| frame.row::<u8>(0, y).iter().all(|s| *s >= 3)));
}

#[test]
fn frames_planes_and_seeds_differ() {
    let format = Format::from_name("gbrp", 64, 16).unwrap();
    let of = |given: &[(&str, Value)], n| {
        let mut frame = flat(format, 128);
        render(&*bind(given, &format, Level::best()), &mut frame, n, &[]);
        frame
    };
    let zero = of(&[], 0);
    assert_ne!(zero.row::<u8>(0, 0), zero.row::<u8>(1, 0));
    assert_ne!(zero.row::<u8>(0, 0), zero.row::<u8>(0, 1));
    assert_ne!(zero, of(&[], 1));
    assert_ne!(zero, of(&[("seed", Value::Seed(43))], 0));
    assert_eq!(zero, of(&[("seed", Value::Seed(42))], 0), "a seed given is used as it is");
    assert_ne!(zero, of(&[("layout", Value::Choice("sequential"))], 0));
    let state = u64::from(CycleStart::Seed(42).state().unwrap());
    for layout in ["keyed", "sequential"] {
        let layout = ("layout", Value::Choice(layout));
        assert_eq!(of(&[("state", Value::Seed(state)), layout.clone()], 7), of(&[layout], 7));
    }
}

#[test]
fn a_state_is_the_articles() {
    // The first pixel of frame 0 uses the first word after the state.
    let format = Format { range: ColorRange::Full, ..Format::from_name("gray16", 64, 8).unwrap() };
    let given = [("state", Value::Seed(0xace1)), ("layout", Value::Choice("sequential"))];
    let mut frame = flat(format, 128);
    render(&*bind(&given, &format, Level::best()), &mut frame, 0, &[]);
    let shape = Shape::of(&format, Layout::Sequential, Distribution::UNIFORM).unwrap();
    let word = lfsr31::word_at(&shape, CycleStart::State(0xace1), 0, 0, 0, 0, 0).unwrap();
    assert_eq!(word, lfsr31::step(0xace1) as u16);
    let scale = NoiseGain::new(Distribution::Sum(1), 6.0 * 256.0);
    assert_eq!(i32::from(frame.row::<u16>(0, 0)[0]), 32768 + scale.of((word | 1) as i16));
}

#[test]
fn fields_are_pictures_of_their_own() {
    // With an odd height the top field has one row more; both are filtered.
    let format = Format::from_name("yuv420p", 40, 21).unwrap();
    let mut frame = flat(format, 128);
    for (i, parity) in [Parity::Top, Parity::Bottom].into_iter().enumerate() {
        let field = format.field(parity);
        let filter = bind(&[("layout", Value::Choice("sequential"))], &field, Level::best());
        let mut moment = at(0);
        moment.index = i as i64;
        let output = frame.as_mut().field(parity);
        let rows = 0..field.plane_size(0).1;
        let now = filter.at(&moment).unwrap();
        let writes = now.plan.writes;
        filter.render(&now, None, &mut Band { rows, input: None, output, writes }, &mut Scratch::default());
    }
    assert!((0..21).all(|y| frame.row::<u8>(0, y).iter().any(|s| *s != 128)));
    assert_ne!(frame.row::<u8>(0, 0), frame.row::<u8>(0, 1));
}

#[test]
fn strength_moves_and_zero_is_idle() {
    let format = Format::from_name("gray", 64, 64).unwrap();
    let key = |n, value| Key { at: KeyTime::Frame(n), value, shape: Ease::Linear };
    let ramp = Animated::Curve(Curve::new(vec![key(0, 0.0), key(10, 20.0)]).unwrap());
    let filter = bind(&[("strength", Value::Number(ramp))], &format, Level::best());
    assert!(filter.at(&at(0)).is_none() && filter.at(&at(1)).is_some());
    let mut moving = flat(format, 128);
    render(&*filter, &mut moving, 5, &[]);
    let mut fixed = flat(format, 128);
    render(&*bind(&[("strength", number(10.0))], &format, Level::best()), &mut fixed, 5, &[]);
    assert_eq!(moving, fixed);
    // Too weak to change any sample.
    assert!(bind(&[("strength", number(0.0))], &format, Level::best()).at(&at(0)).is_none());
}

#[test]
fn settings_that_cannot_be() {
    let problem = |given: &[(&str, Value)]| match (ENTRY.build)(&values(given)) {
        Ok(_) => panic!("{given:?} should be refused"),
        Err(e) => e,
    };
    assert_eq!(problem(&[("samples", Value::Integer(4))]).setting, "samples");
    assert_eq!(problem(&[("state", Value::Seed(1)), ("seed", Value::Seed(1))]).setting, "state");
    for stuck in [0, 0x8000_0000, 1 << 32] {
        assert_eq!(problem(&[("state", Value::Seed(stuck))]).setting, "state");
    }
    let xs64 = ("generator", Value::Choice("xs64"));
    assert_eq!(problem(&[xs64.clone(), ("state", Value::Seed(5))]).setting, "state");
    assert_eq!(problem(&[xs64, ("layout", Value::Choice("keyed"))]).setting, "layout");
    let mut values = Values::new(ENTRY.settings);
    for (id, value) in [
        ("strength", number(-1.0)),
        ("strength", number(f64::NAN)),
        ("strength", number(256.0)),
        ("samples", Value::Integer(1)),
        ("samples", Value::Integer(17)),
    ] {
        assert!(values.set(id, value).is_err());
    }
}

#[test]
fn golden_pictures() {
    let hash = |name: &str, given: &[(&str, Value)]| {
        let format = Format::from_name(name, 77, 22).unwrap();
        let mut frame = flat(format, 128);
        render(&*bind(given, &format, Level::best()), &mut frame, 3, &[]);
        let mut bytes = Vec::new();
        frame.for_each_row(|row| bytes.extend_from_slice(row));
        fnv1a64(&bytes)
    };
    let binomial = [("distribution", Value::Choice("binomial"))];
    let found = [
        hash("yuv420p", &[]),
        hash("yuv420p10", &[]),
        hash("gray16", &[("strength", number(100.0))]),
        hash("grayf32", &[]),
        hash("yuv420p", &binomial),
        hash("yuv420p", &[("distribution", Value::Choice("gaussian"))]),
        hash(
            "yuv420p10",
            &[("distribution", Value::Choice("gaussian")), ("generator", Value::Choice("xs64"))],
        ),
    ];
    assert_eq!(found, GOLDEN, "{found:#x?}");
}

/// Golden values: a change here means that every render with `noise` changes.
const GOLDEN: [u64; 7] = [
    0x920a_d5dc_fb27_82c5,
    0x586f_9aeb_f9fc_0d24,
    0xc4cc_173b_d3bf_ba1a,
    0x5027_d1c1_4575_2137,
    0x3692_f37c_0f37_6e6a,
    0x4368_0d78_a379_36f0,
    0xd826_a4d6_861e_c373,
];

#[test]
fn premultiplied_colour_gets_the_noise_times_alpha() {
    use crate::filter::testing::{at, zero_span};
    use crate::frame::Alpha;
    let ways = [
        vec![],
        vec![("generator", Value::Choice("lfsr31"))],
        vec![("distribution", Value::Choice("gaussian"))],
        vec![("octaves", Value::Integer(3))],
    ];
    let names = ["gbrap", "gbrap16", "gbrapf32", "yuva420p", "yuva444p10", "ya8"];
    for (name, given) in names.iter().flat_map(|name| ways.iter().map(move |given| (name, given))) {
        let straight = Format::from_name(name, 77, 22).unwrap();
        let multiplied = Format { alpha: Alpha::Premultiplied, ..straight };
        let clean = flat(straight, 128);
        let mut noisy = clean.clone();
        render(&*bind(given, &straight, Level::best()), &mut noisy, 5, &[]);
        let a = straight.alpha_plane().unwrap();
        let mut source = Frame::new(multiplied);
        for (p, y) in (0..=a).flat_map(|p| (0..straight.plane_size(p).1).map(move |y| (p, y))) {
            let (zero, span) = zero_span(&straight, p);
            for x in 0..straight.plane_size(p).0 {
                let alpha = [0.0, 0.5, 1.0][(x << straight.plane_subsampling(p).0) / 4 % 3];
                let v = if p == a { span * alpha } else { zero + (at(&clean, p, x, y) - zero) * alpha };
                match straight.depth {
                    Depth::Bits(8) => source.row_mut::<u8>(p, y)[x] = v as u8,
                    Depth::Bits(_) => source.row_mut::<u16>(p, y)[x] = v as u16,
                    Depth::Float => source.row_mut::<f32>(p, y)[x] = v as f32,
                }
            }
        }
        let made = |level, cuts: &[usize]| {
            let mut made = source.clone();
            render(&*bind(given, &multiplied, level), &mut made, 5, cuts);
            made
        };
        let got = made(Level::best(), &[]);
        assert!(got == made(Level::SCALAR, &[4, 8]), "{name} {given:?}");
        let tolerance = if straight.depth == Depth::Float { 1e-6 } else { 0.76 };
        for (p, y) in (0..=a).flat_map(|p| (0..straight.plane_size(p).1).map(move |y| (p, y))) {
            for x in 0..straight.plane_size(p).0 {
                let alpha =
                    at(&source, a, x << straight.plane_subsampling(p).0, 0) / zero_span(&straight, a).1;
                let noise = at(&noisy, p, x, y) - at(&clean, p, x, y);
                let (was, is) = (at(&source, p, x, y), at(&got, p, x, y));
                let exact = alpha == 0.0 || (alpha == 1.0 && straight.depth != Depth::Float);
                let by = if exact { 0.0 } else { tolerance };
                let want = was + if p == a { 0.0 } else { noise * alpha };
                assert!(
                    (is - want).abs() <= by,
                    "{name} {given:?} plane {p} {x},{y}: {was}, {is}, not {want}"
                );
            }
        }
    }
}
