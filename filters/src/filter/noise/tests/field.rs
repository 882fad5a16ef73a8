//! Tests fields against their definitions and guarantees.

use super::field::{Plane, Space, power, window};
use super::settings::InTime;
use super::tests::{at, bind, flat, measured, number, picture, render, values};
use super::*;
use crate::filter::testing::lattice;
use crate::frame::{ColorRange, Frame, Parity, PictureStructure};
use crate::noise::Layout;
use crate::noise::{Generator, noise_at};
use crate::pixel::field::{Pole, mirror, weight};
use crate::settings::{Animated, Settings, Value, Values};

fn whole(v: i64) -> Value {
    Value::Integer(v)
}

/// Fields that are not white, each with its settings.
fn ways() -> Vec<Vec<(&'static str, Value)>> {
    let temporal = |id| ("temporal", Value::Choice(id));
    vec![
        vec![temporal("ar1"), ("correlation", number(0.7))],
        vec![temporal("pink")],
        vec![("octaves", whole(3))],
        vec![("octaves", whole(8)), ("persistence", number(1.5))],
        vec![("octaves", whole(4)), ("persistence", number(0.6)), temporal("pink")],
        vec![("across", whole(3))],
        vec![("down", whole(2))],
        vec![("across", whole(12)), ("down", whole(15)), temporal("ar1")],
    ]
}

/// The white number of a layer, computed from its address; `xs64`, seed 42.
fn white(law: Distribution, layer: Layer, frame: i64, p: usize, x: usize, y: usize) -> i16 {
    let shape = Shape::new(&[(1, 1)], Layout::Keyed, law).unwrap();
    noise_at(Generator::Xs64, &shape, 42, (frame, layer.plane(p as u32) as usize), x as u32, y as u32)
}

/// A weighted sum added to a base, as [`crate::pixel::field`] defines it.
fn sum(base: i16, parts: &[(i16, i16)]) -> i16 {
    let sum: i64 = parts.iter().map(|&(g, w)| i64::from(g) * i64::from(w)).sum();
    (i64::from(base) * 8192 + sum + 4096).div_euclid(8192).clamp(-32767, 32767) as i16
}

/// Layer, frame and weight of the terms of a frame in time.
fn in_time(given: &Values, t: i64) -> Vec<(u32, i64, f64)> {
    let given = NoiseSpec::read(given);
    match given.temporal {
        InTime::Ar1 => {
            let rho = given.correlation.at(&at(0));
            let count = window(rho) as i32;
            let norm = (0..count).map(|j| rho.powi(2 * j)).sum::<f64>().sqrt();
            (0..count).map(|j| (0, t - i64::from(j), rho.powi(j) / norm)).collect()
        }
        InTime::Pink => {
            let frame =
                |j: u32| (t as f64 / f64::from(1 << j) + if j == 0 { 0.0 } else { 0.5 }).floor() as i64;
            (0..10).map(|j| (j, frame(j), 0.1f64.sqrt())).collect()
        }
        InTime::None => vec![(0, t, 1.0)],
    }
}

/// A plane of the field, each sample from the definition.
fn reference(given: &Values, format: &Format, p: usize, frame: i64, law: Distribution) -> Vec<Vec<i16>> {
    let (w, h) = format.plane_size(p);
    let field = u32::from(!matches!(format.picture, PictureStructure::Frame));
    let pictures = i64::from(1 + field);
    let (sx, sy) = format.plane_subsampling(p);
    let (sx, sy) = (u32::from(sx), u32::from(sy) + field);
    let parts = in_time(given, frame.div_euclid(pictures));
    let draw = |base: i16, k: u32, share: f64, x: usize, y: usize| {
        let part = |&(voice, t, w): &(u32, i64, f64)| {
            let t = t * pictures + frame.rem_euclid(pictures);
            (white(law, Layer::of(k, voice), t, p, x, y), weight(w * 4096.0 / law.deviation() * share))
        };
        sum(base, &parts.iter().map(part).collect::<Vec<_>>())
    };
    let octaves = given.read::<i64>("octaves") as u32;
    if octaves > 1 {
        let persistence = given.read::<Animated>("persistence").at(&at(0));
        let space = Space::Octaves(octaves, persistence.into());
        let weights = Plane::new((w, h), [sx, sy], &space).weights(persistence);
        let three = |c: [i16; 3]| {
            let [near, beside, other] = c.map(i32::from);
            ((10 * near + 5 * beside + other + 8) >> 4) as i16
        };
        let soft = |c: [i16; 3]| {
            let [l, c, r] = c.map(i32::from);
            ((l + 2 * c + r + 2) >> 2) as i16
        };
        let around = |i: usize, n: usize| {
            let by = if i.is_multiple_of(2) { -1 } else { 1 };
            [0, by, -by].map(|d| mirror(i as isize / 2 + d, n))
        };
        let mut before: Vec<Vec<i16>> = Vec::new();
        for k in (0..octaves).rev() {
            let levels = |k: u32| (k.saturating_sub(sx), k.saturating_sub(sy));
            let (lx, ly) = levels(k);
            let half = |levels: u32| 1 << levels.saturating_sub(1);
            let size = (w.div_ceil(half(lx)), h.div_ceil(half(ly)));
            let value = |x: usize, y: usize| {
                if before.is_empty() {
                    return 0;
                }
                let halved = (half(levels(k + 1).0) > half(lx), half(levels(k + 1).1) > half(ly));
                let row = |y: usize| {
                    let row = &before[y];
                    if halved.0 { three(around(x, row.len()).map(|x| row[x])) } else { row[x] }
                };
                if halved.1 { three(around(y, before.len()).map(row)) } else { row(y) }
            };
            let row = |y| (0..size.0).map(|x| draw(value(x, y), k, weights[k as usize], x, y)).collect();
            before = (0..size.1).map(row).collect();
            let sides = |i: usize, n: usize| [-1, 0, 1].map(|d| mirror(i as isize + d, n));
            if lx > 0 {
                let soften = |row: Vec<i16>| {
                    (0..row.len()).map(|x| soft(sides(x, row.len()).map(|x| row[x]))).collect()
                };
                before = before.into_iter().map(soften).collect();
            }
            if ly > 0 {
                let at = |x: usize, y: usize| soft(sides(y, size.1).map(|y| before[y][x]));
                before = (0..size.1).map(|y| (0..size.0).map(|x| at(x, y)).collect()).collect();
            }
        }
        return before;
    }
    let length = |id: &str, s: u32| given.read::<i64>(id) as f64 / f64::from(1 << s);
    let (across, down) = (length("across", sx), length("down", sy));
    let warm = |length: f64| if length > 0.0 { Pole::warm_up(length) } else { 0 };
    let (left, above) = (warm(across), warm(down));
    let along = |i: usize| -> Vec<i16> {
        let row = (0..w + left).map(|x| draw(0, 0, 1.0, x, i));
        let mut v = 0;
        let drawn = row.map(|g| {
            v = if across > 0.0 { Pole::new(across).step(v, g) } else { g };
            v
        });
        drawn.skip(left).collect()
    };
    let rows: Vec<Vec<i16>> = (0..h + above).map(along).collect();
    let block = above.next_multiple_of(64).max(64);
    let value = |x: usize, y: usize| {
        let start = y / block * block;
        let mut v = 0;
        for row in &rows[start..=y + above] {
            v = if down > 0.0 { Pole::new(down).step(v, row[x]) } else { row[x] };
        }
        v
    };
    (0..h).map(|y| (0..w).map(|x| value(x, y)).collect()).collect()
}

fn codes(format: &Format, strength: f64) -> NoiseGain {
    let Depth::Bits(bits) = format.depth else { panic!("float") };
    NoiseGain::of_factor(rounded_sd(strength * f64::from(1u32 << (bits - 8))) / 4096.0)
}

#[test]
fn fields_are_their_definition_at_every_level_in_any_bands() {
    let laws = [
        ("uniform", Distribution::UNIFORM),
        ("binomial", Distribution::Sum(4)),
        ("gaussian", Distribution::H8),
    ];
    let formats = ["yuv420p", "yuv411p", "gbrap10", "gray16"];
    for (i, way) in ways().into_iter().enumerate() {
        let (distribution, law) = laws[i % 3];
        let own = [("distribution", Value::Choice(distribution)), ("strength", number(20.0))];
        let own = [way, own.to_vec(), vec![("generator", Value::Choice("xs64"))]].concat();
        let format = Format::from_name(formats[i % 4], 37, if i > 6 { 140 } else { 22 }).unwrap();
        let source = picture(format);
        let mut want = source.clone();
        for p in format.color_planes().iter() {
            let n = reference(&values(&own), &format, p, 5, law);
            let (scale, legal) = (codes(&format, 20.0), format.legal(p).unwrap());
            for (y, row) in n.iter().enumerate() {
                let one = |s: u16, c: i16| crate::pixel::add::reference(s, c, scale, legal);
                if format.depth == Depth::Bits(8) {
                    let line = want.row_mut::<u8>(p, y).iter_mut().zip(row);
                    line.for_each(|(s, &c)| *s = one((*s).into(), c) as u8);
                } else {
                    want.row_mut::<u16>(p, y).iter_mut().zip(row).for_each(|(s, &c)| *s = one(*s, c));
                }
            }
        }
        let height = format.plane_size(0).1;
        let every: Vec<usize> = (4..height).step_by(4).collect();
        for &level in Level::available() {
            for cuts in [&[][..], &[4], &every, &[12, 16]] {
                let mut got = source.clone();
                render(&*bind(&own, &format, level), &mut got, 5, cuts);
                assert!(got == want, "{own:?} {} {level} {cuts:?}", format.name());
            }
        }
    }
}

#[test]
fn either_generator_and_every_band_height_give_the_same_at_every_level() {
    for (name, way) in ["gray", "yuv420p12", "gbrpf32", "ya8"].into_iter().cycle().zip(ways()) {
        let format = Format::from_name(name, 301, 150).unwrap();
        let source = picture(format);
        for generator in ["lfsr31", "xs64"] {
            let way = [way.clone(), vec![("generator", Value::Choice(generator))]].concat();
            let mut whole = source.clone();
            render(&*bind(&way, &format, Level::SCALAR), &mut whole, -3, &[]);
            assert!(whole != source);
            for &level in Level::available() {
                for height in [2, 6, 34, 64, 66, 128] {
                    let cuts: Vec<usize> = (height..150).step_by(height).collect();
                    let mut banded = source.clone();
                    render(&*bind(&way, &format, level), &mut banded, -3, &cuts);
                    assert!(banded == whole, "{name} {way:?} {level} {height}");
                }
            }
        }
    }
}

#[test]
fn fields_of_an_interlaced_picture_are_the_definition_too() {
    let format = Format::from_name("gray16", 40, 43).unwrap();
    for way in ways() {
        let xs64 = vec![("generator", Value::Choice("xs64")), ("distribution", Value::Choice("gaussian"))];
        let way = [way, xs64].concat();
        let mut frame = flat(format, 128);
        for (i, parity) in [Parity::Top, Parity::Bottom].into_iter().enumerate() {
            let field = format.field(parity);
            let filter = bind(&way, &field, Level::best());
            let mut moment = at(0);
            moment.index = 6 + i as i64;
            let now = filter.at(&moment).unwrap();
            let writes = now.plan.writes;
            let rows = 0..field.plane_size(0).1;
            let output = frame.as_mut().field(parity);
            let mut band = Band { rows, input: None, output, writes };
            filter.render(&now, None, &mut band, &mut Scratch::default());
            let want = reference(&values(&way), &field, 0, moment.index, Distribution::H8);
            let scale = codes(&field, 6.0);
            for (y, row) in want.iter().enumerate() {
                let got = frame.row::<u16>(0, 2 * y + i);
                let same = got.iter().zip(row).all(|(&s, &c)| i32::from(s) == 32768 + scale.of(c));
                assert!(same, "{way:?} {parity:?} {y}");
            }
        }
    }
}

/// The noise at every n-th sample in consecutive frames, in codes.
fn series(given: &[(&str, Value)], format: Format, frames: i64) -> Vec<Vec<f64>> {
    let filter = bind(given, &format, Level::best());
    let one = |n| {
        let mut frame = flat(format, 128);
        render(&*filter, &mut frame, n, &[]);
        let (w, h) = format.plane_size(0);
        let row = |y| frame.row::<u16>(0, y)[..w].iter().map(|&s| f64::from(s) - 32768.0).collect::<Vec<_>>();
        (0..h).flat_map(row).collect()
    };
    (0..frames).map(one).collect()
}

#[test]
fn strength_stays_the_standard_deviation() {
    for name in ["yuv420p", "gray12", "gbrpf32"] {
        let format = Format { range: ColorRange::Full, ..Format::from_name(name, 128, 128).unwrap() };
        for way in ways() {
            let way = [way, vec![("strength", number(9.0))]].concat();
            let filter = bind(&way, &format, Level::best());
            for p in 0..format.planes() {
                // Coarse fields have few independent samples in a frame, so take many frames that are far apart.
                let (mut sum, mut squares, count) = (0.0, 0.0, 48);
                let mut means = 0.0;
                for n in 0..count {
                    let mut frame = flat(format, 128);
                    render(&*filter, &mut frame, 5000 * n, &[]);
                    let (mean, sd) = measured(&frame, p, 128);
                    sum += mean;
                    means += mean * mean;
                    squares += sd * sd;
                }
                let n = count as f64;
                let (mean, sd) = (sum / n, (squares / n).sqrt());
                let slack = 5.0 * (means / n / n).sqrt() + 0.01;
                assert!(mean.abs() < slack, "{name} {way:?} plane {p}: mean {mean} +- {slack}");
                // Five standard errors: 48 frames with about 90 independent samples at lengths 12 and 15, and with one
                // sample, of half the variance, at 8 octaves.
                let slack = match way[0].1 {
                    Value::Integer(8) => 0.28,
                    Value::Integer(12) => 0.055,
                    _ => 0.02,
                };
                assert!((sd / 9.0 - 1.0).abs() < slack, "{name} {way:?} plane {p}: {sd}");
            }
        }
    }
}

#[test]
fn octaves_are_the_same_with_and_without_edges() {
    assert_eq!(power(100, 0), 1.0);
    // (1 2 1)/4: 6/16 inside, and at most 3/8 + 1/8 at an edge.
    assert!((power(1 << 20, 1) / 0.375 - 1.0).abs() < 0.01);
    // A single sample fills its whole raster.
    assert_eq!(power(64, 7), 1.0);
    for by in 1..8 {
        let (few, many) = (power(80 << (by - 1), by), power(81 << (by - 1), by));
        assert!((few / many - 1.0).abs() < 0.02, "{by}: {few} {many}");
    }
}

#[test]
fn no_octave_leaves_a_lattice() {
    let format = Format::from_name("yuv420p16", 768, 768).unwrap();
    for (octaves, persistence) in [(2, 4.0), (3, 4.0), (4, 1.0), (5, 4.0), (8, 1.5)] {
        let given = [
            ("octaves", whole(octaves)),
            ("persistence", number(persistence)),
            ("strength", number(30.0)),
            ("distribution", Value::Choice("gaussian")),
        ];
        let mut frame = flat(format, 128);
        render(&*bind(&given, &format, Level::best()), &mut frame, 0, &[]);
        for p in 0..3 {
            let (w, h) = format.plane_size(p);
            let row = |y| frame.row::<u16>(p, y)[..w].iter().map(|&s| f64::from(s)).collect();
            let n: Vec<Vec<f64>> = (0..h).map(row).collect();
            for period in 2..=16 {
                let ratio = lattice(&n, period);
                // The number of independent differences is that of the samples of the coarsest relevant octave, or
                // twice.
                let few = (1u32 << (2 * octaves.min(5) - 1)) as f64 / if p == 0 { 1.0 } else { 4.0 };
                let chance = 6.0 * (2.0 * few.max(4.0) * period as f64 / (w * h) as f64).sqrt();
                assert!(ratio < 1.02 + chance, "{octaves} {persistence} plane {p}, period {period}: {ratio}");
            }
        }
    }
}

#[test]
fn ar1_correlates_neighbours_by_the_setting() {
    let format = Format::from_name("gray16", 96, 48).unwrap();
    for rho in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9] {
        let given = [("temporal", Value::Choice("ar1")), ("correlation", number(rho))];
        let frames = series(&given, format, 9);
        let (mut at0, mut at1, mut at2) = (0.0, 0.0, 0.0);
        for three in frames.windows(3) {
            for ((a, b), c) in three[0].iter().zip(&three[1]).zip(&three[2]) {
                at0 += a * a;
                at1 += a * b;
                at2 += a * c;
            }
        }
        // Samples at different positions are independent; those at one position count as one.
        let sigma = 1.0 / (frames[0].len() as f64).sqrt() * (1.0 - rho * rho);
        let cut = 0.006;
        assert!((at1 / at0 - rho).abs() < 5.0 * sigma + cut, "{rho}: {}", at1 / at0);
        assert!((at2 / at0 - rho * rho).abs() < 10.0 * sigma + 2.0 * cut, "{rho}: {}", at2 / at0);
    }
}

#[test]
fn pink_falls_by_ten_decibels_a_decade() {
    const T: usize = 2048;
    let format = Format::from_name("gray16", 32, 8).unwrap();
    let frames = series(&[("temporal", Value::Choice("pink"))], format, T as i64);
    // The slope of power against log10 of frequency, in octaves from 1/1024 to 1/8 of the frame rate.
    let mut points = Vec::new();
    for octave in 1..8 {
        let (first, last) = (1usize << octave, 2 << octave);
        let mut power = 0.0;
        let step = ((last - first) / 8).max(1);
        let bins: Vec<usize> = (first..last).step_by(step).collect();
        for &k in &bins {
            let turn = |t: usize| 2.0 * core::f64::consts::PI * ((k * t) % T) as f64 / T as f64;
            let waves: Vec<(f64, f64)> = (0..T).map(|t| turn(t).sin_cos()).collect();
            for x in 0..frames[0].len() {
                let (mut re, mut im) = (0.0, 0.0);
                for (frame, (s, c)) in frames.iter().zip(&waves) {
                    re += frame[x] * c;
                    im += frame[x] * s;
                }
                power += re * re + im * im;
            }
        }
        let middle = bins.iter().sum::<usize>() as f64 / bins.len() as f64;
        points.push((middle.log10(), 10.0 * (power / bins.len() as f64).log10()));
    }
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>();
    assert!((-11.2..-9.0).contains(&slope), "{slope} dB a decade: {points:?}");
}

#[test]
fn monochrome_is_one_noise() {
    let mono = [("monochrome", Value::Switch(true))];
    for way in [vec![], ways().swap_remove(2)] {
        let given = [way, mono.to_vec()].concat();
        let rgb = Format::from_name("gbrap", 64, 16).unwrap();
        let mut frame = flat(rgb, 128);
        render(&*bind(&given, &rgb, Level::best()), &mut frame, 4, &[]);
        for y in 0..16 {
            assert_eq!(frame.row::<u8>(0, y), frame.row::<u8>(1, y));
            assert_eq!(frame.row::<u8>(0, y), frame.row::<u8>(2, y));
            assert!(frame.row::<u8>(3, y).iter().all(|&a| a == 128));
        }
        assert!(frame.row::<u8>(0, 0).iter().any(|&s| s != 128));
        let yuv = Format::from_name("yuv420p", 64, 16).unwrap();
        assert_eq!(bind(&given, &yuv, Level::best()).at(&at(0)).unwrap().plan.writes, PlaneSet::one(0));
    }
}

#[test]
fn given_settings_override_presets() {
    let format = Format::from_name("gbrp", 64, 64).unwrap();
    let of = |given: &[(&str, Value)]| -> Frame {
        let mut frame = flat(format, 128);
        render(&*bind(given, &format, Level::best()), &mut frame, 3, &[]);
        frame
    };
    let ar1 = |rho| vec![("temporal", Value::Choice("ar1")), ("correlation", number(rho))];
    let gaussian = vec![("distribution", Value::Choice("gaussian"))];
    let mono = vec![("monochrome", Value::Switch(true))];
    let presets = [
        ("analog-tv", [mono.clone(), vec![("strength", number(32.0)), ("across", whole(3))]].concat()),
        (
            "vhs",
            [ar1(0.3), vec![("strength", number(8.0)), ("across", whole(9)), ("down", whole(1))]].concat(),
        ),
    ];
    for (name, typed) in presets {
        let preset = vec![("preset", Value::Choice(name))];
        let typed = [typed, gaussian.clone()].concat();
        assert!(of(&preset) == of(&typed), "{name}");
        for (id, value) in [
            ("strength", number(3.0)),
            ("distribution", Value::Choice("uniform")),
            ("monochrome", Value::Switch(name == "vhs")),
            ("temporal", Value::Choice("pink")),
        ] {
            let mut rest = typed.clone();
            rest.retain(|t| t.0 != id && !(id == "temporal" && t.0 == "correlation"));
            let own = vec![(id, value)];
            assert!(
                of(&[preset.clone(), own.clone()].concat()) == of(&[rest, own].concat()),
                "{name} with {id}"
            );
        }
    }
}

#[test]
fn fields_that_cannot_be() {
    let problem = |given: &[(&str, Value)]| match (ENTRY.build)(&values(given)) {
        Ok(_) => panic!("{given:?} should be refused"),
        Err(e) => e.setting,
    };
    assert_eq!(problem(&[("octaves", whole(2)), ("down", whole(1))]), "octaves");
    assert_eq!(problem(&[("persistence", number(0.5))]), "persistence");
    assert_eq!(problem(&[("correlation", number(0.5))]), "correlation");
    let mut values = Values::new(ENTRY.settings);
    for (id, value) in [
        ("octaves", whole(0)),
        ("octaves", whole(9)),
        ("across", whole(65)),
        ("down", whole(-1)),
        ("correlation", number(1.0)),
        ("persistence", number(f64::NAN)),
    ] {
        assert!(values.set(id, value).is_err(), "{id}");
    }
    // One cycle has no room for several layers, but holds one layer in any number of frames.
    let format = Format::from_name("gray", 64, 64).unwrap();
    let bound = |way: Vec<(&'static str, Value)>| {
        let way = [way, vec![("layout", Value::Choice("sequential"))]].concat();
        ENTRY.bind(&super::tests::values(&way), &format, 42, Level::best()).is_ok()
    };
    let found: Vec<bool> = ways().into_iter().map(bound).collect();
    assert_eq!(found, [true, false, false, false, false, true, true, true]);
}

#[test]
fn golden_fields() {
    let format = Format::from_name("yuv420p10", 77, 70).unwrap();
    let found: Vec<u64> = ways()
        .iter()
        .map(|way| {
            let mut frame = flat(format, 128);
            render(&*bind(way, &format, Level::best()), &mut frame, 3, &[]);
            let mut bytes = Vec::new();
            frame.for_each_row(|row| bytes.extend_from_slice(row));
            crate::noise::seed::fnv1a64(&bytes)
        })
        .collect();
    assert_eq!(found, GOLDEN, "{found:#x?}");
}

/// Golden values: a change here means that renders with such noise change.
const GOLDEN: [u64; 8] = [
    0x1d86_79e6_8031_846b,
    0x97c8_3b3d_c84e_672f,
    0xcbf9_effa_ee69_5bb2,
    0x44a2_5e90_6a95_0ca2,
    0xd475_698d_b93d_c4f5,
    0x7f67_911d_a325_5bfb,
    0x7211_ed48_fd71_6a63,
    0x1ed7_c199_b79e_e459,
];
