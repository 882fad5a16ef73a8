//! The filter as the chain uses it.

use super::*;
use crate::frame::{ColorRange, Frame, Transfer};
use crate::noise::seed::mix64;
use crate::pixel::field::mirror;
use crate::pixel::grain::{across_halves, reference};
use crate::ratio::Ratio;
use crate::settings::{Kind, Settings, Value};

mod coarse;
mod measured;
mod plate;

fn values(given: &str) -> Values {
    Values::parse(ENTRY.settings, given).unwrap()
}

fn bind(given: &str, format: &Format, level: Level) -> Box<dyn Filter> {
    ENTRY.bind(&values(given), format, 42, level).unwrap()
}

fn at(n: i64) -> FrameTime {
    FrameTime::of_frame(n, Ratio::whole(24))
}

/// A picture of full-range samples, illegal ones among them.
fn picture(format: Format) -> Frame {
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
                    row.for_each(|(x, s)| {
                        *s = match random(x) % 23 {
                            0 => f32::NAN,
                            1 => f32::INFINITY,
                            r => (r as f32 - 3.0) / 15.0,
                        }
                    })
                }
            }
        }
    }
    frame
}

fn render(filter: &dyn Filter, frame: &mut Frame, n: i64, cuts: &[usize]) {
    let mut scratch = Scratch::default();
    let height = frame.format().plane_size(0).1;
    let mut rest = frame.as_mut();
    let mut first = 0;
    for &cut in cuts.iter().chain([&height]) {
        let (mut output, below) = rest.split_at_row(cut);
        let rows = first..cut;
        let Some(now) = filter.at(&at(n)) else { return };
        let writes = now.plan.writes;
        let mut band = Band { rows, input: None, output: output.reborrow(), writes };
        filter.render(&now, None, &mut band, &mut scratch);
        (rest, first) = (below, cut);
    }
    assert!(scratch.bytes() <= filter.memory().per_frame, "{} bytes", scratch.bytes());
}

fn bytes(frame: &Frame) -> Vec<u8> {
    let format = frame.format();
    let rows = (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)));
    rows.flat_map(|(p, y)| frame.plane(p).row_bytes(y).to_vec()).collect()
}

const FORMATS: [&str; 14] = [
    "gray",
    "yuv420p",
    "yuv422p10",
    "yuv444p12",
    "gray16",
    "gbrp",
    "gbrp9",
    "gbrapf32",
    "grayf32",
    "yuva420p",
    "yuv411p",
    "yuv410p",
    "yuv440p",
    "yuv420p16",
];

/// Settings in pairs with formats, so that each meets several of the others.
const SETTINGS: [&str; 11] = [
    "strength=9",
    "strength=20:size=16:sharpness=0.5",
    "preset=super8:temporal=0.3",
    "preset=digital-iso:protect=0:generator=lfsr31",
    "strength=60:points=0=0;0.4=1;1=0.3",
    "strength=12:space=linear:size=8:variation=0.6",
    "strength=12:space=log:hold=3:monochrome=1",
    "strength=5:chroma=2:curve=flat:size=9:generator=lfsr31",
    "strength=9:skew=1.5:variation=0.3",
    "strength=20:skew=0=0;9=4:space=linear:temporal=0.3",
    "strength=90:static=1:curve=highlights:temporal=0.6:chroma-size=3",
];

#[test]
fn levels_and_bands_agree() {
    for (i, name) in FORMATS.iter().enumerate() {
        for given in SETTINGS.iter().cycle().skip(i).take(5) {
            // Small against the grain, and large enough for several rasters.
            for (w, h) in [(77, 24), (2003, 24)] {
                let mut format = Format::from_name(name, w, h).unwrap();
                if i % 3 == 0 {
                    format.range = ColorRange::Full;
                }
                let source = picture(format);
                let mut whole = source.clone();
                render(&*bind(given, &format, Level::SCALAR), &mut whole, -5, &[]);
                let want = bytes(&whole);
                assert!(want != bytes(&source), "{name} {given}");
                if let Some(alpha) = format.alpha_plane() {
                    for y in 0..h as usize {
                        assert_eq!(whole.plane(alpha).row_bytes(y), source.plane(alpha).row_bytes(y));
                    }
                }
                // Each level in bands of its own.
                let bands = [&[][..], &[4], &[4, 8, 20], &[8, 16]];
                for (&level, cuts) in Level::available().iter().zip(bands.iter().cycle().skip(i)) {
                    let mut banded = source.clone();
                    render(&*bind(given, &format, level), &mut banded, -5, cuts);
                    assert!(bytes(&banded) == want, "{name} {w}x{h} {given} {level} {cuts:?}");
                }
            }
        }
    }
}

#[test]
fn every_width_and_tiny_pictures() {
    for width in (1..40).chain([255, 256, 257, 299]) {
        for height in [1, 2, 3, 9] {
            for (name, given) in
                [("yuv420p", "strength=30"), ("yuv420p10", "strength=30:size=16"), ("gbrp", "size=3")]
            {
                let format = Format::from_name(name, width, height).unwrap();
                let source = picture(format);
                let mut want = source.clone();
                render(&*bind(given, &format, Level::SCALAR), &mut want, 7, &[]);
                for &level in Level::available() {
                    let mut got = source.clone();
                    render(&*bind(given, &format, level), &mut got, 7, &[]);
                    assert!(bytes(&got) == bytes(&want), "{name} {width}x{height} {level}");
                }
            }
        }
    }
}

/// The whole of it again, pixel by pixel, from the definitions.
#[test]
fn pixels_are_the_definition() {
    use crate::noise::{Generator, Shape, noise_at};
    for (name, w, h) in [("yuv420p", 1920u32, 11u32), ("yuv422p10", 1920, 5), ("gray", 1920, 5)] {
        let format = Format::from_name(name, w, h).unwrap();
        let source = picture(format);
        let mut got = source.clone();
        // The size makes a = .21 of luma and, at half that, .10 of chroma.
        let given = "strength=25:size=1";
        let filter = bind(given, &format, Level::best());
        render(&*filter, &mut got, 3, &[]);
        for p in 0..format.planes() {
            let (pw, ph) = format.plane_size(p);
            let (sx, sy) = format.plane_subsampling(p);
            let weight = |s: u8| crate::pixel::grain::Taps::new(if s == 0 { 0.21 } else { 0.10 }, 0.0);
            let sizes: Vec<(u32, u32)> = (0..format.planes())
                .map(|p| format.plane_size(p))
                .map(|(w, h)| (w as u32, h as u32))
                .collect();
            let shape = Shape::new(&sizes, Layout::Keyed, Distribution::H8).unwrap();
            let rows: Vec<Vec<i16>> = (0..ph)
                .map(|y| {
                    let g: Vec<i16> = (0..pw)
                        .map(|x| noise_at(Generator::Xs64, &shape, 42, (3, p), x as u32, y as u32) >> 1)
                        .collect();
                    let mut padded = [&[0; 2][..], &g, &[0; 2]].concat();
                    let mut out = vec![0; pw];
                    across_halves(Level::SCALAR, &mut out, &mut padded, weight(sx));
                    out
                })
                .collect();
            let curve = GrainSpec::read(&values(given)).response();
            let Depth::Bits(bits) = format.depth else { panic!() };
            let (legal_luma, legal) = (format.legal(0).unwrap(), format.legal(p).unwrap());
            let (a, b) = (f64::from(weight(sx).a) / 65536.0, f64::from(weight(sy).a) / 65536.0);
            let deviation =
                Distribution::H8.deviation() * ((1.0 + 2.0 * a * a) * (1.0 + 2.0 * b * b)).sqrt() / 2.0;
            let strength = 25.0 * if p == 0 { 1.0 } else { 0.6 };
            let per = f64::from(1u32 << (bits - 8));
            let gain = Gain::new(true, |u| {
                let wanted = limited_near_end(strength * curve.at(u), 219.0 * u.min(1.0 - u), 0.08);
                rounded_sd(wanted * per) / deviation
            });
            let sample = |f: &Frame, p: usize, x: usize, y: usize| match bits {
                8 => u16::from(f.row::<u8>(p, y)[x]),
                _ => f.row::<u16>(p, y)[x],
            };
            let (lw, lh) = format.plane_size(0);
            for (x, y) in (0..ph).flat_map(|y| (0..pw).map(move |x| (x, y))) {
                let row = |d: isize| rows[mirror(y as isize + d, ph)][x];
                let pair = crate::pixel::grain::mulhi(row(-1).saturating_add(row(1)), weight(sy).a);
                let n = row(0).saturating_add(pair);
                let (mut sum, count) = (0u32, 1u32 << (sx + sy));
                for (i, j) in (0..1 << sy).flat_map(|j| (0..1 << sx).map(move |i| (i, j))) {
                    let place = (((x << sx) + i).min(lw - 1), ((y << sy) + j).min(lh - 1));
                    sum += u32::from(sample(&source, 0, place.0, place.1));
                }
                let light = ((2 * sum + count) / (2 * count)) as u16;
                let ramp = Ramp::new(bits, legal_luma);
                let want = reference(sample(&source, p, x, y), light, n, ramp, &gain, legal);
                assert_eq!(sample(&got, p, x, y), want, "{name} plane {p} at {x},{y}");
            }
        }
    }
}

#[test]
fn fields_are_pictures_of_their_own() {
    for name in ["yuv420p", "yuv422p10", "gray"] {
        for height in [4, 21, 22, 23, 24] {
            let whole = Format::from_name(name, 1000, height).unwrap();
            for parity in [Parity::Top, Parity::Bottom] {
                let format = whole.field(parity);
                for given in ["strength=30:size=2", "strength=30:size=16"] {
                    let source = picture(format);
                    let mut want = source.clone();
                    render(&*bind(given, &format, Level::SCALAR), &mut want, 5, &[]);
                    assert!(bytes(&want) != bytes(&source));
                    let mut got = source.clone();
                    let cuts: &[usize] = if height > 20 { &[2, 8] } else { &[] };
                    render(&*bind(given, &format, Level::best()), &mut got, 5, cuts);
                    assert!(bytes(&got) == bytes(&want), "{name} {height} {parity:?} {given}");
                }
            }
        }
    }
    let field = Format::from_name("gray", 1920, 1080).unwrap().field(Parity::Top);
    let look = Grain {
        plate: None,
        format: field,
        set: GrainSpec::read(&values("")),
        curve: settings::Curve::Points(crate::settings::Points::new(&[[0.0, 1.0]], 0.0, 1.0).unwrap()),
        space: Space::Video,
        seed: 0,
        level: Level::SCALAR,
        look: None,
        kernels: None,
    }
    .look_of(2.0, 0.0, 1.0, 0.0);
    assert_eq!(look[0].fields[0].axes, [look::Axis::new(2.0, 0.0), look::Axis::new(1.0, 0.0)]);
}

fn grey(format: Format, number: i64, given: &str) -> Vec<u8> {
    let mut frame = Frame::new(format);
    for y in 0..format.plane_size(0).1 {
        frame.row_mut::<u8>(0, y).fill(120);
    }
    render(&*bind(given, &format, Level::best()), &mut frame, number, &[]);
    bytes(&frame)
}

#[test]
fn patterns_in_time() {
    let format = Format::from_name("gray", 64, 64).unwrap();
    let show = |n, given| grey(format, n, given);
    assert!(show(0, "") != show(1, ""));
    let held: Vec<_> = (-4..6).map(|n| show(n, "hold=3")).collect();
    for (i, n) in (-4i64..6).enumerate() {
        assert!(held[i] == show(n.div_euclid(3), ""), "{n}");
    }
    let field = format.field(Parity::Top);
    let field = |n| {
        let mut frame = Frame::new(field);
        frame.as_mut().plane_mut(0).row_bytes_mut(0).fill(120);
        render(&*bind("hold=2:strength=20", &field, Level::best()), &mut frame, n, &[]);
        bytes(&frame)
    };
    assert!(field(0) == field(2) && field(1) == field(3), "fields hold their own pattern");
    assert!(field(0) != field(1) && field(2) != field(4));
}

#[test]
fn presets_are_read_and_what_is_typed_wins() {
    let Kind::Choice(names) = ENTRY.settings[0].kind else { panic!() };
    let read = |given: &str| GrainSpec::read(&values(given));
    for name in names {
        let set = read(&format!("preset={}", name.id));
        assert!(set.strength.constant() != Some(4.0), "{}", name.id);
        let typed = read(&format!("strength=1.5:preset={}:curve=flat", name.id));
        assert_eq!(typed.strength.constant(), Some(1.5));
        assert_eq!(typed.size, set.size);
        assert_ne!(typed.curve, set.curve);
    }
    assert_eq!(read("").strength.constant(), Some(4.0));
}

#[test]
fn settings_that_cannot_be() {
    let parse = |id: &str, text: &str| {
        let setting = ENTRY.settings.iter().find(|s| s.id == id).unwrap();
        setting.parse(text).map_err(|e| e.to_string())
    };
    for (id, text, right) in [
        ("strength", "nan", "number"),
        ("strength", "-1", "0 to 100"),
        ("size", "-0.5", "0 to 16"),
        ("sharpness", "2", "-1 to 1"),
        ("temporal", "1", "0 to 0.9"),
        ("hold", "0", "1 to 1000"),
        ("points", "0=0;0.6=1;0.5=0", "ascending x"),
        ("points", "0=0;0.6", "0=0;0.5=1;1=0.2"),
        ("points", "0=0;1=nan", ""),
        ("points", "0=0;1=2", "0 to 1"),
        ("curve", "films", "film, flat"),
    ] {
        let error = parse(id, text).unwrap_err();
        assert!(error.contains(right), "{id}={text}: {error}");
    }
    let e = (ENTRY.build)(&values("curve=film:points=0=0;1=1")).err().unwrap();
    assert_eq!(e.setting, "points");
    // Values that did not come from text.
    for (id, v) in [("strength", f64::NAN), ("strength", f64::INFINITY), ("size", -1.0)] {
        assert!(Values::new(ENTRY.settings).set(id, Value::Number(v.into())).is_err());
    }
}

#[test]
fn nothing_to_do() {
    let format = Format::from_name("yuv420p", 16, 16).unwrap();
    let writes = |given: &str| bind(given, &format, Level::SCALAR).at(&at(0)).map(|now| now.plan.writes);
    assert_eq!(writes("strength=0"), None);
    assert_eq!(writes("points=0.5=0"), None);
    assert_eq!(writes(""), Some(PlaneSet(0b111)));
    assert_eq!(writes("monochrome=1"), Some(PlaneSet(0b001)));
    assert_eq!(writes("chroma=0"), Some(PlaneSet(0b001)));
    let alpha = Format::from_name("gbrap", 16, 16).unwrap();
    assert_eq!(bind("", &alpha, Level::SCALAR).at(&at(0)).unwrap().plan.writes, PlaneSet(0b111));
}

/// The grain of a plane is multiplied by its factor, and that of the others stays.
#[test]
fn red_and_blue_are_factors() {
    let grain = |format: &str, given: &str| -> Vec<Vec<f64>> {
        let format = Format::from_name(format, 64, 16).unwrap();
        let mut frame = Frame::new(format);
        let grey = |frame: &mut Frame, p: usize, y: usize| frame.row_mut::<u16>(p, y).fill(0x8000);
        (0..3).for_each(|p| (0..16).for_each(|y| grey(&mut frame, p, y)));
        render(&*bind(given, &format, Level::best()), &mut frame, 3, &[]);
        let row =
            |p: usize, y: usize| frame.row::<u16>(p, y).iter().map(|&s| f64::from(s) - 32768.0).collect();
        (0..3).map(|p| (0..16).flat_map(|y| -> Vec<f64> { row(p, y) }).collect()).collect()
    };
    for format in ["gbrp16", "yuv444p16"] {
        for chroma in ["0.6", "2"] {
            let base = grain(format, &format!("curve=flat:chroma={chroma}"));
            let made = grain(format, &format!("curve=flat:chroma={chroma}:red=0.5:blue=2"));
            for (p, factor) in [1.0, 2.0, 0.5].into_iter().enumerate() {
                for (base, made) in base[p].iter().zip(&made[p]) {
                    let wanted = base * factor;
                    assert!(
                        (made - wanted).abs() <= 2.0 + 0.004 * wanted.abs(),
                        "{format} {p}: {base} {made}"
                    );
                }
            }
        }
        assert_eq!(grain(format, "blue=0:chroma=0")[1], vec![0.0; 64 * 16], "{format}");
    }
}

#[test]
fn settings_that_move() {
    let format = Format::from_name("yuv420p", 960, 8).unwrap();
    let show = |n, given: &str| {
        let mut frame = picture(format);
        render(&*bind(given, &format, Level::best()), &mut frame, n, &[]);
        bytes(&frame)
    };
    let moving = "strength=0=2;10=12:size=0=0;10=20";
    assert!(GrainSpec::read(&values("strength=0=2;10=12")).strength.constant().is_none());
    let moving = moving.replace("10=20", "10=10");
    assert!(show(5, &moving) == show(5, "strength=7:size=5"));
    assert!(show(0, &moving) == show(0, "strength=2:size=0"));
}

#[test]
fn spaces_by_tag() {
    let format = Format::from_name("gray16", 8, 8).unwrap();
    let of = |transfer| Space::of(settings::RequestedSpace::Auto, &Format { transfer, ..format });
    assert_eq!(of(Transfer::BT709), Space::Video);
    assert_eq!(of(Transfer::LINEAR), Space::Linear);
    assert_eq!(of(Transfer::PQ), Space::Pq);
    assert_eq!(of(Transfer::HLG), Space::Hlg);
    assert_eq!(of(Transfer::DENSITY), Space::Log(95.0 / 1023.0));
    assert_eq!(of(Transfer::LOG100), Space::Log(0.0));
    assert_eq!(
        Space::of(settings::RequestedSpace::Video, &Format { transfer: Transfer::PQ, ..format }),
        Space::Video
    );
}
