use super::super::testing::{at, bind, compare, format, frame_time, run, zero_span};
use super::*;
use crate::frame::{Depth, Format, Frame, PlaneSet};
use crate::noise::xs64::word_at;

/// The definition in f64, from the same random numbers.
fn twin(frame: &Frame, settings: (f64, f64, f64, usize), n: i64, [p, x, y]: [usize; 3]) -> f64 {
    let (f, (threshold, threshold_uv, range, iterations)) = (frame.format(), settings);
    let (w, h) = f.plane_size(p);
    let own = at(frame, p, x, y);
    let threshold = if f.is_chroma(p) { threshold_uv } else { threshold };
    let limit = threshold / 255.0 * zero_span(f, p).1;
    let (sx, sy) = f.plane_subsampling(p);
    let mut change = 0.0;
    for i in 0..iterations {
        let far = [sx, sy].map(|s| {
            let part = (i + 1) as f64 / iterations as f64;
            (range * f64::from(f.width) / 1920.0 / f64::from(1 << s) * part + 0.5).floor().min(255.0)
        });
        let side = |axis: usize| {
            let plane = Layer(Layer::DEBAND.0 + i as u32).plane(p as u32) as usize;
            let word = word_at(42, n, plane, y as u32, x as u32 % 32, x as u64 / 32);
            (f64::from((word >> (8 * axis)) & 255) * (far[axis] + 1.0) / 256.0).floor() as usize
        };
        let (a, b) = (side(0).min(x).min(w - 1 - x), side(1).min(y).min(h - 1 - y));
        let corners = [(x - a, y - b), (x + a, y - b), (x - a, y + b), (x + a, y + b)];
        let values = corners.map(|(x, y)| at(frame, p, x, y));
        let pairs = [values[0] + values[3], values[1] + values[2]].map(|sum| sum - 2.0 * own);
        let most = values.iter().map(|v| v - own).chain(pairs).fold(0.0, |most, v| v.abs().max(most));
        let mean = values.iter().sum::<f64>() / 4.0;
        if mean.is_finite() && own.is_finite() {
            change += ((2.0 * limit - most) / limit).clamp(0.0, 1.0) * (mean - own);
        }
    }
    own + change / iterations as f64
}

#[test]
fn every_sample_is_as_defined() {
    for (threshold, uv, range, iterations) in
        [(32.0, 32.0, 64.0, 1), (25.0, 9.0, 64.0, 3), (32.0, 32.0, 20.0, 4)]
    {
        let text = [threshold, uv, range].map(|v: f64| v.to_string());
        let count = iterations.to_string();
        let given = [
            ("threshold", &text[0]),
            ("threshold-uv", &text[1]),
            ("range", &text[2]),
            ("iterations", &count),
        ];
        let given = given.map(|(id, v)| (id, v.as_str()));
        // In samples of a picture 67 wide a range of 64 is 2: see below for farther ones.
        compare(&ENTRY, &given, 5, |frame, p, x, y| {
            let f = frame.format();
            let was = at(frame, p, x, y);
            let still = f.alpha_plane() == Some(p) || !was.is_finite();
            let by = if f.depth == Depth::Float { 1e-5 } else { 0.51 };
            (!still).then(|| (twin(frame, (threshold, uv, range, iterations), 5, [p, x, y]), by))
        });
    }
    let f = format("yuv420p10", 1920, 90);
    let source = ramp(f, 30.0);
    let made =
        run(&*bind(&ENTRY, &[("threshold", "2"), ("iterations", "4")], &f, Level::best()), &source, 3, &[]);
    for (p, x, y) in (0..1900).map(|i| (i % 3, i / 2, i % 45)) {
        let want = twin(&source, (2.0, 2.0, 24.0, 4), 3, [p, x, y]);
        assert!((at(&made, p, x, y) - want).abs() <= 0.51, "{p} {x} {y}");
    }
}

/// A slope with steps of one 8-bit code every so many luma samples, at the depth of the format.
fn ramp(f: Format, wide: f64) -> Frame {
    let unit = f64::from(1u32 << (f.depth.bits().unwrap() - 8));
    let mut frame = Frame::new(f);
    for p in 0..f.planes() {
        let step = f64::from(1u32 << f.plane_subsampling(p).0);
        for y in 0..f.plane_size(p).1 {
            for (x, v) in frame.row_mut::<u16>(p, y).iter_mut().enumerate() {
                *v = ((60.0 + x as f64 * step / wide).floor() * unit) as u16;
            }
        }
    }
    frame
}

/// An index of banding: the largest and the mean absolute step between neighbouring columns' means beyond that of the
/// ideal slope, in 8-bit codes.
fn banding(frame: &Frame, wide: f64) -> [f64; 2] {
    let (w, h) = frame.format().plane_size(0);
    let unit = f64::from(1u32 << (frame.format().depth.bits().unwrap() - 8));
    let mean = |x: usize| (0..h).map(|y| at(frame, 0, x, y)).sum::<f64>() / h as f64 / unit;
    let means: Vec<f64> = (0..w).map(mean).collect();
    // Over four columns, so that the noise of one is little.
    let steps = (80..w - 80).map(|x| {
        let side = |from: usize| (from..from + 4).map(|x| means[x]).sum::<f64>() / 4.0;
        (side(x) - side(x - 4) - 4.0 / wide).abs()
    });
    let count = (w - 160) as f64;
    [steps.clone().fold(0.0, f64::max), steps.sum::<f64>() / count]
}

#[test]
fn slopes_lose_their_bands_and_no_threshold_adds_any() {
    let f = format("gray16", 1920, 128);
    for wide in [16.0, 40.0, 90.0] {
        let source = ramp(f, wide);
        let before = banding(&source, wide);
        let made = |given: &[(&str, &str)]| {
            banding(&run(&*bind(&ENTRY, given, &f, Level::best()), &source, 0, &[]), wide)
        };
        let good = made(&[("iterations", "4"), ("range", "48")]);
        assert!(good[0] < 0.3 * before[0] && good[1] < 0.6 * before[1], "{wide}: {before:?} {good:?}");
        for threshold in ["0.1", "0.4", "0.49", "0.5", "0.51", "0.7", "0.99", "1", "1.01", "1.5", "2", "3"] {
            let after = made(&[("threshold", threshold)]);
            let (most, mean) = (before[0] + 0.01, before[1] + 0.003);
            assert!(after[0] <= most && after[1] <= mean, "{wide} {threshold}: {before:?} {after:?}");
        }
    }
}

#[test]
fn edges_and_texture_stay() {
    let f = format("gray16", 1920, 64);
    let mut source = Frame::new(f);
    for y in 0..64 {
        for (x, v) in source.row_mut::<u16>(0, y).iter_mut().enumerate() {
            // A step of 3.5 codes of 8 bits, and a checkerboard of as much on one side.
            *v = 20000 + if x > 900 && (x < 1100 || (x + y) % 2 == 0) { 900 } else { 0 };
        }
    }
    let made = run(&*bind(&ENTRY, &[], &f, Level::best()), &source, 0, &[]);
    for (x, y) in (0..64).flat_map(|y| (0..1920).map(move |x| (x, y))) {
        assert_eq!(at(&made, 0, x, y), at(&source, 0, x, y), "{x} {y}");
    }
}

#[test]
fn thin_lines_of_the_threshold_stay() {
    let f = format("gray16", 1920, 64);
    let mut source = Frame::new(f);
    for y in 0..64 {
        for (x, v) in source.row_mut::<u16>(0, y).iter_mut().enumerate() {
            // Lines of 1.5 codes of 8 bits.
            *v = 20000 + if x % 320 == 160 { 386 } else { 0 };
        }
    }
    for iterations in ["1", "4"] {
        let made = run(&*bind(&ENTRY, &[("iterations", iterations)], &f, Level::best()), &source, 0, &[]);
        for (x, y) in (160..1920).step_by(320).flat_map(|x| (0..64).map(move |y| (x, y))) {
            assert_eq!(at(&made, 0, x, y), at(&source, 0, x, y), "{x} {y}");
        }
    }
}

#[test]
fn planes_without_a_threshold_are_not_written() {
    let f = format("yuv420p", 1920, 64);
    let writes = |given: &[(&str, &str)]| {
        bind(&ENTRY, given, &f, Level::best()).at(&frame_time(0)).map(|now| now.plan.writes)
    };
    assert_eq!(writes(&[("threshold-uv", "0")]), Some(PlaneSet(1)));
    assert_eq!(writes(&[("threshold", "0")]), None);
    assert_eq!(writes(&[("range", "0")]), None);
}
