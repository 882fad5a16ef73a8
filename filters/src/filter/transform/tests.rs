use super::*;
use crate::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use crate::filter::testing::{FORMATS, at, bind, compare, format, frame_time, noise, run, zero_span};
use crate::frame::sites::{frame_place, sited};
use crate::frame::{Depth, Frame, Siting};
use crate::host::{CurrentThread, Host, NoCache};
use crate::ratio::Ratio;

/// The settings that the reference supports.
#[derive(Clone, Copy)]
struct Set {
    zoom: f64,
    pan: [f64; 2],
    rotate: f64,
    shape: InterpolationKernel,
    edge: Edge,
}

const PLAIN: Set =
    Set { zoom: 1.0, pan: [0.0; 2], rotate: 0.0, shape: InterpolationKernel::Bicubic, edge: Edge::Color };

/// The source of a position, both in luma samples of the frame: inverse translation, rotation and scale, from the
/// middle.
fn source_of(f: &Format, set: Set, at: [f64; 2]) -> [f64; 2] {
    let (w, h) = (f64::from(f.width), f64::from(f.height));
    let (x, y) = (at[0] - w * (0.5 + set.pan[0]), at[1] - h * (0.5 + set.pan[1]));
    let (sin, cos) = set.rotate.to_radians().sin_cos();
    [(x * cos + y * sin) / set.zoom + w * 0.5, (y * cos - x * sin) / set.zoom + h * 0.5]
}

/// One sample, entirely in f64, in one pass.
fn exact(source: &Frame, p: usize, (x, y): (usize, usize), set: Set) -> f64 {
    let f = source.format();
    let (pw, ph) = f.plane_size(p);
    let (sin, cos) = set.rotate.to_radians().sin_cos();
    let [first, second] = [0, 1].map(|i| frame_place(f, p, i, i));
    let step = [second[0] - first[0], second[1] - first[1]];
    let [u, v] = source_of(f, set, frame_place(f, p, x as i64, y as i64));
    let (u, v) = ((u - first[0]) / step[0], (v - first[1]) / step[1]);
    let wide =
        |along: f64, other: f64| ((along * cos).powi(2) + (other * sin).powi(2)).sqrt() / along / set.zoom;
    let taps = |c: f64, scale: f64| -> Vec<(i64, f64)> {
        let scale = if set.shape == InterpolationKernel::Nearest { 1.0 } else { scale.max(1.0) };
        // Positions are rounded to 1/256.
        let c = (c * 256.0 + 0.5).floor() / 256.0;
        let all: Vec<(i64, f64)> = ((c - 3.1 * scale).floor() as i64..=(c + 3.1 * scale).ceil() as i64)
            .map(|i| (i, set.shape.weight((c - i as f64) / scale)))
            .collect();
        let total: f64 = all.iter().map(|t| t.1).sum();
        if total == 0.0 {
            return vec![((c + 0.5).floor() as i64, 1.0)];
        }
        all.into_iter().map(|t| (t.0, t.1 / total)).collect()
    };
    let (zero, _) = zero_span(f, p);
    // Black, and transparent.
    let blank = zero;
    // Where luma is between luma samples everywhere, chroma does not fade into the colour.
    let (lw, lh) = f.plane_size(0);
    let ends = [0, 1].map(|k| frame_place(f, 0, k * (lw as i64 - 1), k * (lh as i64 - 1)));
    let filled = [[0, 0], [0, 1], [1, 0], [1, 1]].iter().all(|&[i, j]| {
        let at: [f64; 2] = source_of(f, set, [ends[i][0], ends[j][1]]);
        (0..2).all(|a| at[a] > ends[0][a] - 1e-9 && at[a] < ends[1][a] + 1e-9)
    });
    let edge = if filled && f.plane_subsampling(p) != (0, 0) && set.edge == Edge::Color {
        Edge::Extend
    } else {
        set.edge
    };
    let sample = |i: i64, j: i64| match (edge.map(i, 0, pw as i64), edge.map(j, 0, ph as i64)) {
        (Some(i), Some(j)) => at(source, p, i as usize, j as usize),
        _ => blank,
    };
    let across = taps(u, wide(step[0], step[1]));
    let down = taps(v, wide(step[1], step[0]));
    // Vertically first; the value between the passes is limited to 16 bits.
    let most = f.depth.bits().map(|b| 65535.0 / f64::from(1u32 << (16 - b)));
    let column = |i: i64| {
        let sum: f64 = down.iter().map(|j| j.1 * sample(i, j.0)).sum();
        most.map_or(sum, |most| sum.clamp(0.0, most))
    };
    across.iter().filter(|i| i.1 != 0.0).map(|i| i.1 * column(i.0)).sum()
}

fn finite(f: &Frame, p: usize) -> bool {
    let (w, h) = f.format().plane_size(p);
    (0..h).all(|y| (0..w).all(|x| at(f, p, x, y).is_finite()))
}

fn check(given: &[(&str, &str)], set: Set) {
    compare(&ENTRY, given, 0, |source, p, x, y| {
        let f = source.format();
        if !finite(source, p) {
            return Some((0.0, f64::INFINITY));
        }
        let top = f.depth.bits().map_or(1.0, |b| f64::from((1u32 << b) - 1));
        let value = exact(source, p, (x, y), set);
        let is_alpha = f.alpha_plane() == Some(p);
        if f.depth == Depth::Float && is_alpha {
            return Some((value.clamp(0.0, 1.0), 1e-4));
        }
        if f.depth == Depth::Float {
            return Some((value, 1e-4));
        }
        // Two roundings, and weights of 14 bits.
        Some((value.clamp(0.0, top), 1.2 + top * 0.0012))
    });
}

#[test]
fn it_is_the_formula() {
    for (edge, word) in
        [(Edge::Color, "color"), (Edge::Extend, "extend"), (Edge::Mirror, "mirror"), (Edge::Wrap, "wrap")]
    {
        check(
            &[("zoom", "1.37"), ("pan", "0.1,-0.23"), ("edge", word), ("kernel", "bilinear")],
            Set { zoom: 1.37, pan: [0.1, -0.23], edge, shape: InterpolationKernel::Bilinear, ..PLAIN },
        );
        check(
            &[("rotate", "33"), ("pan", "0.3,0"), ("edge", word), ("kernel", "bilinear")],
            Set { rotate: 33.0, pan: [0.3, 0.0], edge, shape: InterpolationKernel::Bilinear, ..PLAIN },
        );
    }
    for (shape, word) in [
        (InterpolationKernel::Bicubic, "bicubic"),
        (InterpolationKernel::Lanczos, "lanczos"),
        (InterpolationKernel::Bilinear, "bilinear"),
    ] {
        check(&[("zoom", "0.4"), ("kernel", word)], Set { zoom: 0.4, shape, ..PLAIN });
        check(
            &[("zoom", "0.6"), ("rotate", "-17"), ("kernel", word)],
            Set { zoom: 0.6, rotate: -17.0, shape, ..PLAIN },
        );
        check(&[("pan", "0.013,0.4"), ("kernel", word)], Set { pan: [0.013, 0.4], shape, ..PLAIN });
        check(&[("zoom", "1.6"), ("kernel", word)], Set { zoom: 1.6, shape, ..PLAIN });
        check(
            &[("zoom", "1.1"), ("rotate", "7"), ("kernel", word)],
            Set { zoom: 1.1, rotate: 7.0, shape, ..PLAIN },
        );
    }
}

#[test]
fn a_smooth_picture_is_hit_closely() {
    // Far from the ends of the range, an error of some codes of 65536, due to weights of 14 bits.
    let f = format("gray16", 90, 70);
    let mut source = Frame::new(f);
    for y in 0..70 {
        for (x, v) in source.row_mut::<u16>(0, y).iter_mut().enumerate() {
            *v = (32768.0 + 20000.0 * libm::sin(x as f64 * 0.11 + y as f64 * 0.07)) as u16;
        }
    }
    for (given, set) in [
        (
            vec![("zoom", "1.7"), ("rotate", "20"), ("edge", "extend")],
            Set { zoom: 1.7, rotate: 20.0, edge: Edge::Extend, ..PLAIN },
        ),
        (vec![("zoom", "1.7"), ("edge", "extend")], Set { zoom: 1.7, edge: Edge::Extend, ..PLAIN }),
        (
            vec![("pan", "0.011,0.007"), ("edge", "extend"), ("kernel", "lanczos")],
            Set { pan: [0.011, 0.007], edge: Edge::Extend, shape: InterpolationKernel::Lanczos, ..PLAIN },
        ),
    ] {
        let out = run(&*bind(&ENTRY, &given, &f, Level::best()), &source, 0, &[]);
        for (x, y) in (0..70).flat_map(|y| (0..90).map(move |x| (x, y))) {
            let off = (at(&out, 0, x, y) - exact(&source, 0, (x, y), set)).abs();
            assert!(off < 6.0, "{given:?} {x},{y}: {off}");
        }
    }
}

#[test]
fn whole_turns_and_whole_samples_are_exact() {
    let f = Format { siting: Siting::Center, ..format("yuv420p", 32, 32) };
    let source = noise(f);
    let show = |given: &[(&str, &str)]| run(&*bind(&ENTRY, given, &f, Level::best()), &source, 0, &[]);
    let half = show(&[("rotate", "180")]);
    let quarter = show(&[("rotate", "90")]);
    let moved = show(&[("pan", "0.25,0.5"), ("edge", "wrap")]);
    for p in 0..3 {
        let (w, h) = f.plane_size(p);
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            assert_eq!(at(&half, p, x, y), at(&source, p, w - 1 - x, h - 1 - y));
            // Clockwise: the top moves to the right.
            assert_eq!(at(&quarter, p, x, y), at(&source, p, y, h - 1 - x));
            assert_eq!(at(&moved, p, x, y), at(&source, p, (x + w - w / 4) % w, (y + h / 2) % h));
        }
    }
    assert!(
        bind(&ENTRY, &[("zoom", "1"), ("rotate", "360")], &f, Level::best()).at(&frame_time(0)).is_none()
    );
}

#[test]
fn crops_leave_the_colour() {
    for &(name, w, h) in FORMATS {
        let f = format(name, w, h);
        let source = noise(f);
        let given = [("crop-left", "0.25"), ("crop-bottom", "0.5"), ("kernel", "nearest")];
        let out = run(&*bind(&ENTRY, &given, &f, Level::best()), &source, 0, &[4]);
        for p in 0..f.planes() {
            let (w, h) = f.plane_size(p);
            let left = ((w as f64 * 0.25 + 0.5) as usize).min(w - 1);
            let bottom = (h - (h as f64 * 0.5 + 0.5) as usize).max(1);
            let (blank, _) = zero_span(&f, p);
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                let is_alpha = f.alpha_plane() == Some(p) && f.depth == Depth::Float;
                let own = at(&source, p, x, y);
                let own = if is_alpha && own.is_finite() { own.clamp(0.0, 1.0) } else { own };
                let want = if x < left || y >= bottom { blank } else { own };
                let got = at(&out, p, x, y);
                assert!(got == want || got.is_nan(), "{name} {p} {x},{y}: {got} {want}");
            }
        }
    }
}

/// A picture of 16 bits from a function of the position in luma samples of the frame.
fn drawn(f: Format, value: impl Fn([f64; 2]) -> f64) -> Frame {
    let mut frame = Frame::new(f);
    for p in 0..f.planes() {
        for y in 0..f.plane_size(p).1 {
            for (x, v) in frame.row_mut::<u16>(p, y).iter_mut().enumerate() {
                *v = value(frame_place(&f, p, x as i64, y as i64)) as u16;
            }
        }
    }
    frame
}

#[test]
fn luma_and_chroma_of_every_siting_and_field_move_together() {
    let value = |at: [f64; 2]| 32768.0 + 20000.0 * (at[0] * 0.05 + at[1] * 0.03).sin();
    for f in sited([128, 128], Depth::Bits(16)) {
        let source = drawn(f, value);
        for (given, set) in [
            (vec![("rotate", "180")], Set { rotate: 180.0, ..PLAIN }),
            (vec![("zoom", "2")], Set { zoom: 2.0, ..PLAIN }),
            (vec![("zoom", "1.3"), ("rotate", "25")], Set { zoom: 1.3, rotate: 25.0, ..PLAIN }),
            (vec![("pan", "0.053,-0.031")], Set { pan: [0.053, -0.031], ..PLAIN }),
        ] {
            let out = run(&*bind(&ENTRY, &given, &f, Level::best()), &source, 0, &[]);
            for p in 0..3 {
                let [a, b] = [0, 1].map(|i| frame_place(&f, p, i, i));
                let (w, h) = f.plane_size(p);
                let mut seen = 0;
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let from = source_of(&f, set, frame_place(&f, p, x as i64, y as i64));
                    // Away from the edges.
                    if (0..2).any(|i| from[i] < 2.5 * (b[i] - a[i]) || from[i] > 128.0 - 2.5 * (b[i] - a[i]))
                    {
                        continue;
                    }
                    seen += 1;
                    let off = at(&out, p, x, y) - value(from);
                    assert!(off.abs() < 90.0, "{f:?} {given:?} plane {p} at {x},{y}: {off}");
                }
                assert!(seen > 20, "{f:?} {given:?} {p}");
            }
        }
    }
}

#[test]
fn a_turned_picture_of_one_colour_stays_so() {
    for f in sited([34, 32], Depth::Bits(16)) {
        let source = drawn(f, |_| 50000.0);
        assert!(
            run(&*bind(&ENTRY, &[("rotate", "180")], &f, Level::best()), &source, 0, &[]) == source,
            "{f:?}"
        );
    }
}

#[test]
fn what_is_transparent_leaves_no_rim_and_alpha_no_waves() {
    // A card of one colour on a hidden other one, moved so that samples are averaged.
    let moved = "transform=pan='0.1537,0.0291':rotate=7".parse::<crate::recipe::Recipe>().unwrap();
    let woven = "weave=across=0.2:down=0.2:edge=color".parse::<crate::recipe::Recipe>().unwrap();
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let names = ["gbrap", "gbrap16", "gbrapf32", "ya16"];
    for (chain, name) in [&moved, &woven].into_iter().flat_map(|c| names.map(|name| (c, name))) {
        let f = format(name, 60, 40);
        let mut source = Frame::new(f);
        let a = f.planes() - 1;
        for (p, y) in (0..=a).flat_map(|p| (0..40).map(move |y| (p, y))) {
            for x in 0..60 {
                let inside = (20..40).contains(&x) && (10..30).contains(&y);
                let v = if p == a {
                    f64::from(inside)
                } else if inside {
                    0.5
                } else {
                    0.9
                };
                match f.depth {
                    Depth::Bits(8) => source.row_mut::<u8>(p, y)[x] = (255.0 * v) as u8,
                    Depth::Bits(_) => source.row_mut::<u16>(p, y)[x] = (65535.0 * v) as u16,
                    Depth::Float => source.row_mut::<f32>(p, y)[x] = v as f32,
                }
            }
        }
        let chain = Chain::bind::<ChainError>(&chain.steps, f, &options, |f| Ok(*f)).unwrap();
        let stop = core::sync::atomic::AtomicBool::new(false);
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
        let (mut work, states) = (Workspace::default(), States::default());
        let mut made = source.clone();
        chain.run(&frame_time(3), Ratio::ONE, &mut made, &mut work, &states, &host).unwrap();
        let top = zero_span(&f, a).1;
        let mut partly = 0;
        for (x, y) in (0..40).flat_map(|y| (0..60).map(move |x| (x, y))) {
            let alpha = at(&made, a, x, y) / top;
            assert!((0.0..=1.0).contains(&alpha), "{name} {x},{y}: alpha {alpha}");
            if alpha > 0.05 {
                partly += usize::from(alpha < 0.95);
                let v = at(&made, 0, x, y) / top;
                // Codes of alpha in 8 bits.
                let by = if f.depth == Depth::Bits(8) { 0.02 } else { 0.001 };
                assert!((v - 0.5).abs() < by, "{name} {x},{y}: {v} at alpha {alpha}");
            }
        }
        assert!(partly > 20, "{name} {partly}");
        // What comes from beyond the edge is transparent.
        assert_eq!(at(&made, a, 0, 0), 0.0);
    }
}
