//! Tracks: the stream compared with simpler methods.
//!
//! `cargo bench --bench curves [-- COUNT...]`. All methods play the same frames of the same Hermite tracks in every
//! round, alternating frame by frame, so that other loads affect all of them equally. A figure is the minimum of the
//! rounds, a ratio the median of the rounds' ratios. Every tenth frame, the values of all methods are compared. Cold:
//! 32 MB, many times the L2 cache, are overwritten before every frame of every method; the table has the size of the
//! per-track arrays. The stream is a compressed file in memory; its evaluation uses the best instruction level, the
//! rest and the rivals the compiler's baseline.
//!
//! - arrays: an array of keys for each track, with its current position
//! - search: the same, with a search for the position every time
//! - by time: all keys in one array sorted by their own time (the article's example of a method that does not help),
//!   each with the position of the next one of its track
//! - stream: [`grainfield_filters::curve::stream`]
//!
//! A second table compares tracks of every shape with evaluating each curve separately.
#![allow(unsafe_code)] // the clock of a thread
#![allow(clippy::expect_used)] // a bench that fails ends
#![allow(missing_docs)]

use grainfield_filters::curve::stream::{Tracks, write};
use grainfield_filters::curve::{Curve, Ease, Handles, Key, KeyTime, Shape};
use grainfield_filters::ratio::Ratio;
use std::hint::black_box;
use std::sync::Arc;

mod timing;
use timing::{median, ratio, time};

/// A key of the rivals, as small as possible.
#[derive(Clone, Copy)]
struct Point {
    time: f64,
    value: f64,
    leave: f64,
    arrive: f64,
}

fn between(a: &Point, b: &Point, now: f64) -> f64 {
    let h = b.time - a.time;
    let u = (now - a.time) / h;
    let (m0, m1) = (a.leave * h, a.arrive * h);
    let (c2, c3) = (3.0 * (b.value - a.value) - 2.0 * m0 - m1, m0 + m1 - 2.0 * (b.value - a.value));
    a.value + u * (m0 + u * (c2 + u * c3))
}

/// Tracks whose keys are `step` frames apart on average.
fn tracks(count: usize, frames: i64, step: i64) -> Vec<Curve> {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    let mut track = |_| {
        let (mut at, mut keys) = (-(random() % step), Vec::new());
        loop {
            let value = (random() % 1000) as f64 / 10.0;
            let slope = (random() % 100) as f64 / 500.0 - 0.1;
            let shape = Shape::Hermite { leave: slope, arrive: -slope };
            keys.push(Key { at: KeyTime::Frame(at.max(-1) + 1), value, shape });
            if at > frames {
                break;
            }
            at = at.max(-1) + 1 + random() % (2 * step - 1);
        }
        Curve::new(keys).expect("a curve")
    };
    (0..count).map(&mut track).collect()
}

struct Arrays {
    tracks: Vec<Vec<Point>>,
    at: Vec<u32>,
}

struct ByTime {
    points: Vec<(Point, u32)>,
    at: Vec<u32>,
}

fn points(curve: &Curve) -> Vec<Point> {
    let of = |k: &Key| {
        let (KeyTime::Frame(n), Shape::Hermite { leave, arrive }) = (k.at, k.shape) else {
            unreachable!("made so")
        };
        Point { time: n as f64, value: k.value, leave, arrive }
    };
    curve.keys().iter().map(of).collect()
}

impl Arrays {
    fn new(tracks: &[Curve]) -> Arrays {
        Arrays { tracks: tracks.iter().map(points).collect(), at: vec![0; tracks.len()] }
    }

    fn seek(&mut self, now: f64, out: &mut [f64]) {
        for ((keys, at), out) in self.tracks.iter().zip(&mut self.at).zip(out) {
            while keys.get(*at as usize + 1).is_some_and(|k| k.time <= now) {
                *at += 1;
            }
            *out = value(keys, *at as usize, now);
        }
    }

    fn search(&self, now: f64, out: &mut [f64]) {
        for (keys, out) in self.tracks.iter().zip(out) {
            *out = value(keys, keys.partition_point(|k| k.time <= now).saturating_sub(1), now);
        }
    }
}

fn value(keys: &[Point], i: usize, now: f64) -> f64 {
    match keys.get(i + 1) {
        Some(next) if now >= keys[i].time => between(&keys[i], next, now),
        _ => keys[i].value,
    }
}

impl ByTime {
    fn new(tracks: &[Curve]) -> ByTime {
        let mut all: Vec<(Point, usize, usize)> = Vec::new();
        for (t, track) in tracks.iter().enumerate() {
            all.extend(points(track).into_iter().enumerate().map(|(i, p)| (p, t, i)));
        }
        all.sort_by(|a, b| a.0.time.total_cmp(&b.0.time).then(a.1.cmp(&b.1)));
        let mut next = vec![u32::MAX; tracks.len()];
        let mut points = Vec::new();
        for (i, (p, t, _)) in all.iter().enumerate().rev() {
            points.push((*p, next[*t]));
            next[*t] = i as u32;
        }
        points.reverse();
        ByTime { points, at: next }
    }

    fn seek(&mut self, now: f64, out: &mut [f64]) {
        for (at, out) in self.at.iter_mut().zip(out) {
            let (mut key, mut next) = self.points[*at as usize];
            *out = loop {
                match self.points.get(next as usize) {
                    Some((after, behind)) if after.time <= now => {
                        *at = next;
                        (key, next) = (*after, *behind);
                    }
                    Some((after, _)) if now >= key.time => break between(&key, after, now),
                    _ => break key.value,
                }
            };
        }
    }
}

/// The tracks as a file in memory, and its size.
fn stream(tracks: &[Curve], every: i64) -> (Tracks, usize) {
    let named: Vec<(String, Curve)> =
        (0..).zip(tracks).map(|(i, t): (u32, _)| (i.to_string(), t.clone())).collect();
    let mut bytes = Vec::new();
    write(&named, Ratio::whole(every), &mut bytes).expect("written");
    let size = bytes.len();
    (Tracks::open(Arc::new(bytes)).expect("opened"), size)
}

fn play(count: usize, step: i64, cold: bool) {
    let frames = 240i64;
    let tracks = tracks(count, frames + 10, step);
    let keys: usize = tracks.iter().map(|t| t.keys().len()).sum();
    let (all, _) = stream(&tracks, 100_000);
    let mut out = vec![0.0; count];
    let mut over = vec![0u64; if cold { 4 << 20 } else { 0 }];
    let rounds = if count > 2000 || cold { 3 } else { 9 };
    // Points, and the state of every track: position, number of keys, current key.
    let size =
        (keys * size_of::<Point>() + count * (size_of::<Vec<Point>>() + size_of::<u32>())) as f64 / 1e6;
    let mut taken: [Vec<f64>; 4] = Default::default();
    for _ in 0..rounds {
        let (mut arrays, mut by_time) = (Arrays::new(&tracks), ByTime::new(&tracks));
        let search = Arrays::new(&tracks);
        let mut head = all.start().expect("started");
        let mut sums = [0.0; 4];
        for f in 0..frames {
            let now = f as f64;
            for (way, sum) in sums.iter_mut().enumerate() {
                over.iter_mut().for_each(|v| *v = v.wrapping_add(1));
                *sum += time(|| match way {
                    0 => all.seek(&mut head, Ratio::whole(f)).expect("played"),
                    1 => arrays.seek(now, &mut out),
                    2 => search.search(now, &mut out),
                    _ => by_time.seek(now, &mut out),
                });
                black_box(&mut out);
                if f % 10 == 5 && way > 0 {
                    let same = out.iter().zip(head.values()).all(|(a, b)| (a - b).abs() < 1e-9);
                    assert!(same, "way {way} at frame {f}");
                }
            }
        }
        taken.iter_mut().zip(sums).for_each(|(all, sum)| all.push(sum));
    }
    black_box(&over);
    let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min) / frames as f64 * 1e6;
    let all: Vec<String> = taken.iter().map(|t| format!("{:9.1}", least(t))).collect();
    let times: Vec<String> = (1..4).map(|w| format!("{:6.2}", ratio(&taken[w], &taken[0]))).collect();
    println!(
        "{count:6} {step:5} {} {keys:8} {size:7.2}  {}  {}",
        if cold { "cold" } else { "warm" },
        all.join(" "),
        times.join(" ")
    );
}

/// Tracks of every shape, compared with evaluating each of them separately.
fn shapes() {
    let ease = |name: &str| Shape::Ease(Ease::from_name(name).expect("an ease"));
    let handles = Handles { leave: 0.3, leave_by: 5.0, arrive: 0.6, arrive_by: -5.0 };
    let all = [
        ("hold", Shape::Hold),
        ("linear", Shape::Linear),
        ("Hermite", Shape::Hermite { leave: 0.1, arrive: -0.1 }),
        ("smooth", Shape::Smooth),
        ("B-spline", Shape::BSpline),
        ("Bezier", Shape::Bezier(handles)),
        ("quad-in-out", ease("quad-in-out")),
        ("sine-in-out", ease("sine-in-out")),
        ("elastic-out", ease("elastic-out")),
    ];
    let frames = 240i64;
    println!("\nShapes: 2000 tracks, keys 30 frames apart, microseconds a frame\n");
    println!("shape          stream, warm   cold   asked one by one");
    let mut over = vec![0u64; 4 << 20];
    for (name, shape) in all {
        let mut tracks = tracks(2000, frames + 10, 30);
        for track in &mut tracks {
            let keys = track.keys().iter().map(|k| Key { shape, ..*k }).collect();
            *track = Curve::new(keys).expect("a curve");
        }
        let (stream, _) = stream(&tracks, 100_000);
        let mut least = [f64::INFINITY; 3];
        for (way, least) in least.iter_mut().enumerate() {
            for _ in 0..3 {
                let (mut head, mut sum) = (stream.start().expect("started"), 0.0);
                for f in 0..frames {
                    let now = Ratio::whole(f);
                    if way == 1 {
                        over.iter_mut().for_each(|v| *v = v.wrapping_add(1));
                    }
                    sum += time(|| match way {
                        0 | 1 => stream.seek(&mut head, now).expect("played"),
                        _ => tracks.iter().for_each(|t| {
                            black_box(t.value_at(now));
                        }),
                    });
                }
                *least = least.min(sum / frames as f64 * 1e6);
            }
        }
        println!("{name:12} {:14.1} {:6.1} {:18.1}", least[0], least[1], least[2]);
    }
    black_box(&over);
}

fn seek() {
    let frames = 20_000;
    let tracks = tracks(2000, frames, 60);
    println!("\nSeeking: 2000 tracks, {frames} frames, keys 60 frames apart\n");
    println!("   jump every     bytes of file   a random frame, ms   worst, ms");
    for every in [10_000, 3000, 1000, 300, 100] {
        let (all, size) = stream(&tracks, every);
        let mut head = all.start().expect("started");
        let mut taken = Vec::new();
        for k in 0..60i64 {
            let to = Ratio::whole((k * 7919 * 13) % frames);
            taken.push(1e3 * time(|| all.seek(&mut head, to).expect("sought")));
        }
        let worst = taken.iter().copied().fold(0.0, f64::max);
        println!("   {every:10} {:17} {:20.3} {worst:11.3}", size, median(taken));
    }
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![10, 200, 2000, 20_000] } else { asked };
    println!("Playing forward, microseconds a frame, and how many times the stream's\n");
    println!(
        "tracks  step            keys      MB     stream    arrays    search   by time  arrays search by time"
    );
    for &count in &counts {
        for step in [3, 30, 120] {
            play(count, step, false);
            play(count, step, true);
        }
    }
    shapes();
    seek();
}
