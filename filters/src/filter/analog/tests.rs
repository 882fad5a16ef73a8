use super::super::testing::{at, bind, compare, format, run};
use super::*;
use crate::frame::{Alpha, ColorRange, Frame};

/// Without noise and events.
const CLEAN: [(&str, &str); 5] =
    [("noise", "0"), ("chroma-noise", "0"), ("dropouts", "0"), ("head-switching", "0"), ("edge-wave", "0")];

fn clean<'a>(given: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&CLEAN[..], &[("jitter", "0"), ("chroma-delay", "0")], given].concat()
}

/// A picture of 8 bits whose planes have these codes.
fn picture(f: Format, code: impl Fn(usize, usize, usize) -> u8) -> Frame {
    let mut frame = Frame::new(f);
    for p in 0..f.planes() {
        for y in 0..f.plane_size(p).1 {
            frame.row_mut::<u8>(p, y).iter_mut().enumerate().for_each(|(x, v)| *v = code(p, x, y));
        }
    }
    frame
}

fn made(f: Format, given: &[(&str, &str)], source: &Frame, number: i64) -> Frame {
    run(&*bind(&ENTRY, given, &f, Level::best()), source, number, &[])
}

#[test]
fn formats_levels_and_bands_agree() {
    let cases: [&[(&str, &str)]; 5] = [
        &[("tracking", "0.7"), ("dropouts", "20"), ("crease", "0.5"), ("generations", "2")],
        &[("system", "pal"), ("comb", "line"), ("snow", "9"), ("ghost", "0.2"), ("hue", "20")],
        &[("system", "secam"), ("interlace", "false"), ("snow", "9")],
        &[("preset", "crt-arcade"), ("lines", "9"), ("curvature", "1")],
        &[("crt", "0.6"), ("tube-mask", "shadow"), ("bloom", "0")],
    ];
    for given in cases {
        compare(&ENTRY, given, 3, |frame, p, x, y| {
            let is_color = Some(p) != frame.format().alpha_plane();
            (is_color && at(frame, p, x, y).is_finite()).then_some((0.0, f64::INFINITY))
        });
    }
}

#[test]
fn multiplied_colour_has_none_where_nothing_covers() {
    for given in [&[][..], &[("crt", "1")]] {
        for name in ["gbrap", "yuva420p", "ya8"] {
            let f = Format { alpha: Alpha::Premultiplied, range: ColorRange::Full, ..format(name, 64, 32) };
            let alpha = f.planes() - 1;
            let source = picture(f, |p, x, _| match (p == alpha, f.is_chroma(p)) {
                (true, _) => {
                    if x < 32 {
                        0
                    } else {
                        255
                    }
                }
                (_, true) => 128,
                _ => {
                    if x < 32 {
                        0
                    } else {
                        200
                    }
                }
            });
            let got = made(f, given, &source, 1);
            for p in 0..f.planes() {
                let ((w, h), (sx, _)) = (f.plane_size(p), f.plane_subsampling(p));
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    if p == alpha || x << sx < 30 {
                        assert_eq!(at(&got, p, x, y), at(&source, p, x, y), "{name} {p} {x},{y}");
                    }
                }
            }
            assert!(got != source);
        }
    }
}

#[test]
fn flat_colours_stay() {
    for (system, connection, tape) in [
        ("ntsc", "composite", "none"),
        ("pal", "composite", "none"),
        ("secam", "composite", "none"),
        ("ntsc", "component", "betacam"),
        ("ntsc", "composite", "vhs-sp"),
        ("pal", "svideo", "vhs-ep"),
    ] {
        for comb in ["notch", "line"] {
            let given =
                clean(&[("system", system), ("connection", connection), ("tape", tape), ("comb", comb)]);
            for (name, codes) in [
                ("yuv420p", [120, 90, 200]),
                ("yuv444p", [128, 128, 128]),
                ("gbrp", [40, 60, 200]),
                ("gbrp", [77, 77, 77]),
            ] {
                let f = format(name, 192, 40);
                let source = picture(f, |p, _, _| codes[p]);
                for number in 0..3 {
                    let got = made(f, &given, &source, number);
                    for (p, code) in codes.into_iter().enumerate() {
                        let (w, h) = f.plane_size(p);
                        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                            let off = at(&got, p, x, y) - f64::from(code);
                            assert!(off.abs() <= 1.0, "{system} {tape} {comb} {name} {p} {x},{y}: {off}");
                        }
                    }
                }
            }
        }
    }
}

/// Between which samples of a row from low to high a tenth and nine tenths of the step lie.
fn rise(row: &[f64]) -> f64 {
    let (low, high) = (row[0], row[row.len() - 1]);
    let crossing = |part: f64| {
        let level = low + part * (high - low);
        let x = row.windows(2).position(|w| (w[0] - level) * (w[1] - level) <= 0.0).unwrap();
        x as f64 + (level - row[x]) / (row[x + 1] - row[x])
    };
    crossing(0.9) - crossing(0.1)
}

#[test]
fn vhs_has_the_chroma_and_luma_of_vhs() {
    let f = format("yuv444p", 1920, 64);
    let source = picture(f, |p, x, _| if p == 0 { 120 } else { [80, 180][usize::from(x >= 960)] });
    let got = made(f, &clean(&[("tape", "vhs-sp")]), &source, 0);
    for p in [1, 2] {
        let row: Vec<f64> = (860..1060).map(|x| at(&got, p, x, 32)).collect();
        let rise = rise(&row);
        assert!((26.0..=40.0).contains(&rise), "chroma rises in {rise} samples");
    }
    let text = picture(f, |p, x, _| if p == 0 { 40 + 160 * (x % 2) as u8 } else { 128 });
    let got = made(f, &clean(&[("tape", "vhs-sp")]), &text, 0);
    let row = (100..1800).map(|x| at(&got, 0, x, 32));
    let (low, high) = row.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
    assert!(high - low < 16.0, "{}", high - low);
}

#[test]
fn dots_crawl_and_rainbows_show_with_composite_only() {
    let f = format("yuv444p", 756, 96);
    // A pattern of the subcarrier's frequency, and an edge of colour.
    let detail = picture(f, |p, x, _| if p == 0 { [60, 120, 180, 120][x % 4] } else { 128 });
    let edge = picture(f, |p, x, _| [120, [60, 190][x / 378], 128][p]);
    let chroma = |frame: &Frame| (300..450).map(|x| (at(frame, 2, x, 40) - 128.0).abs()).sum::<f64>() / 150.0;
    let dots = |frame: &Frame| (360..396).map(|x| (at(frame, 0, x, 40) - 120.0).abs()).fold(0.0, f64::max);
    for (connection, is_dirty) in [("composite", true), ("svideo", false)] {
        let given = clean(&[("tape", "none"), ("connection", connection)]);
        let [rainbow, crawl] = [&detail, &edge].map(|source| made(f, &given, source, 0));
        assert_eq!(chroma(&rainbow) > 10.0, is_dirty, "{}", chroma(&rainbow));
        assert_eq!(dots(&crawl) > 4.0, is_dirty, "{}", dots(&crawl));
        // The dots of the next frame are those between.
        let next = made(f, &given, &edge, 1);
        let both = (360..396).map(|x| (at(&crawl, 0, x, 40) + at(&next, 0, x, 40)) / 2.0 - 120.0);
        assert!(both.map(f64::abs).fold(0.0, f64::max) < 2.0);
        assert_eq!(crawl != next, is_dirty);
    }
}

#[test]
fn events_depend_on_seed_and_frame_and_on_nothing_before() {
    let f = format("gray", 128, 96);
    let source = picture(f, |_, x, y| (60 + x + y / 2) as u8);
    for event in [
        &[("noise", "1")][..],
        &[("jitter", "9")],
        &[("edge-wave", "30")],
        &[("head-switching", "20")],
        &[("tracking", "0.8")],
        &[("dropouts", "60")],
        &[("crease", "1")],
        &[("snow", "9")],
    ] {
        let given = clean(&[]);
        let given: Vec<_> = given
            .into_iter()
            .filter(|g| event.iter().all(|e| e.0 != g.0))
            .chain(event.iter().copied())
            .collect();
        let filter = |seed| {
            let given = [&given[..], &[("seed", seed)]].concat();
            bind(&ENTRY, &given, &f, Level::best())
        };
        let (filter, other) = (filter("1"), filter("2"));
        let frames: Vec<Frame> = (0..6).map(|n| run(&*filter, &source, n, &[])).collect();
        assert!((1..6).all(|n| frames[n] != frames[0]), "{event:?} is the same in two frames");
        assert!(run(&*other, &source, 0, &[]) != frames[0], "{event:?} has no seed");
        for n in [4, 0, 5] {
            assert!(run(&*filter, &source, n, &[24, 60]) == frames[n as usize], "{event:?} {n}");
        }
    }
}

#[test]
fn head_switching_is_at_the_bottom() {
    let f = format("yuv420p", 240, 480);
    let source = picture(f, |p, x, _| if p == 0 { (x + 8) as u8 } else { 100 });
    let mut given = clean(&[]);
    given.retain(|g| g.0 != "head-switching");
    let with = |lines| made(f, &[&given[..], &[("head-switching", lines)]].concat(), &source, 2);
    let (off, on) = (with("0"), with("10"));
    for (p, last) in [(0, 457), (1, 227), (2, 227)] {
        let rows = f.plane_size(p).1;
        assert!((0..last).all(|y| on.row::<u8>(p, y) == off.row::<u8>(p, y)), "{p}");
        assert!((rows - 4..rows).any(|y| on.row::<u8>(p, y) != off.row::<u8>(p, y)), "{p}");
    }
}

#[test]
fn a_tube_has_gaps_between_lines_and_keeps_its_light() {
    let f = Format { transfer: crate::frame::Transfer::LINEAR, ..format("gbrpf32", 300, 240) };
    let mut source = Frame::new(f);
    for (p, y) in (0..3).flat_map(|p| (0..240).map(move |y| (p, y))) {
        source.row_mut::<f32>(p, y).fill(0.25);
    }
    let given = clean(&[
        ("tape", "none"),
        ("connection", "component"),
        ("interlace", "false"),
        ("lines", "40"),
        ("crt", "1"),
        ("curvature", "0"),
        ("bloom", "0"),
        ("scanlines", "1"),
    ]);
    for mask in ["none", "aperture", "slot", "shadow"] {
        let got = made(f, &[&given[..], &[("tube-mask", mask)]].concat(), &source, 0);
        let mut means = [0.0; 3];
        for (p, mean) in means.iter_mut().enumerate() {
            let all = (60..180).flat_map(|y| got.row::<f32>(p, y)[30..270].iter());
            *mean = all.map(|v| f64::from(*v)).sum::<f64>() / (120.0 * 240.0);
        }
        assert!(means.iter().all(|m| (m - 0.25).abs() < 0.04), "{mask} {means:?}");
        let column = |y: usize| f64::from(got.row::<f32>(0, y)[150]);
        // Six rows a line: the middle of a line is between rows 2 and 3, a gap between 5 and 6.
        assert!(mask != "none" || column(122) > 3.0 * column(125), "{} {}", column(122), column(125));
    }
}
