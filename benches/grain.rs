//! The speed of film grain compared with a copy of the same planes.
//!
//! `cargo bench --bench grain` runs everything; `-- ratios` prints the table of ratios only, `-- parts` the time of
//! each part. Frames cycle through a working set of 1 GiB (`GRAINFIELD_BENCH_MIB` changes it), so that every frame
//! comes from memory and not from a cache.
//!
//! Ratios are medians from a separate loop in which the rivals alternate, so that other loads affect all of them
//! equally.
//!
//! Times on one core of a busy AMD EPYC (family 26) with AVX-512, in nanoseconds per row of 1920 in the L1 cache: as
//! separate steps, white numbers 137, horizontal filter 56, vertical filter 91 and addition 217; fused, white numbers
//! 94 and the rest 136 (8 bits) or 234 (10 bits). A copy of a row takes about 100, so the cost is arithmetic, not
//! memory: about thirty instructions for 32 samples, twelve of them for the white numbers. AVX2 needs 199 and 525,
//! mostly for the response, whose table does not fit its registers. SSE2, which has no shuffle, needed 2.5 times as
//! long for the response as for all other parts with nodes sample by sample. With a table by codes, a row without the
//! white numbers takes 1680 if lanes are inserted one by one, 930 if they are assembled in general registers from bytes
//! in memory, and 795 from bytes in registers, the current version. Processing planes side by side, so that luma is
//! still in the L1 cache after chroma has read it, gained nothing.

#![allow(clippy::expect_used)] // a failure ends the bench

mod frames;

use criterion::{Criterion, Throughput};
use frames::{Frames, Kept, bind};
use grainfield_filters::filter::Filter;
use grainfield_filters::frame::Scratch;
use grainfield_filters::noise::seed::Layer;
use grainfield_filters::noise::{CycleStart, Distribution, Generator, Layout, Shape, Stream};
use grainfield_filters::pixel::grain::{Taps, across_halves, down, mean_row};
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The settings to measure: a name and the settings.
const WAYS: &[(&str, &[(&str, &str)])] = &[
    ("grain", &[]),
    ("size 2 (five taps)", &[("size", "2")]),
    ("size 2.8 (a pass)", &[("size", "2.8")]),
    ("temporal 0.3", &[("temporal", "0.3")]),
    ("lfsr31", &[("generator", "lfsr31")]),
];

const FRAMES: &[(&str, &str, u32, u32)] = &[
    ("1080p 4:2:0 8", "yuv420p", 1920, 1080),
    ("1080p 4:2:0 10", "yuv420p10", 1920, 1080),
    ("1080p 4:2:0 16", "yuv420p16", 1920, 1080),
    ("4K 4:2:0 8", "yuv420p", 3840, 2160),
    ("4K 4:2:0 10", "yuv420p10", 3840, 2160),
];

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Runs all rivals in turn, and prints the median of each relative to memcpy.
fn ratios() {
    println!("\n{:<16} {:<30} {:>9} {:>9}", "frame", "way", "ms", "x memcpy");
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height, 1024);
        let mut scratch = Scratch::default();
        let mut contenders: Vec<(String, Option<Box<dyn Filter>>)> = vec![("memcpy".into(), None)];
        for &level in Level::available() {
            for (way, given) in WAYS {
                contenders
                    .push((format!("{way} {level}"), Some(bind(&frames.format, "grain", given, level))));
            }
        }
        let mut times = vec![Vec::new(); contenders.len()];
        let until = Instant::now() + Duration::from_secs(5);
        let mut number = 0;
        while Instant::now() < until {
            for ((_, filter), times) in contenders.iter().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..2 {
                    number += 1;
                    match filter {
                        Some(filter) => frames.render(&**filter, number, &mut Kept::default(), &mut scratch),
                        None => frames.copy(),
                    }
                }
                times.push(start.elapsed().as_secs_f64() * 1e3 / 2.0);
            }
        }
        let times: Vec<f64> = times.iter_mut().map(|t| median(t)).collect();
        for ((name, _), ms) in contenders.iter().zip(&times) {
            println!("{title:<16} {name:<30} {ms:>9.4} {:>9.2}", times[0] / ms);
        }
    }
}

/// The steps of a row of 1920 in the L1 cache, in nanoseconds per row.
fn parts() {
    println!(
        "\n{:<24} {:>8} {:>8} {:>8} {:>8} {:>8}   ns a row of 1920",
        "step", "scalar", "sse2", "avx2", "avx512", "vbmi"
    );
    type Step<'a> = (&'static str, Box<dyn FnMut(Level) + 'a>);
    let width = 1920;
    let mut g = vec![0i16; width + 4];
    let (mut h, mut n) = (vec![1000i16; width], vec![1000i16; width]);
    let (mut words, mut white) = (vec![0u16; 2048], vec![0i16; 2048]);
    let mut words_too = words.clone();
    let (shape, taps) = (
        Shape::new(&[(1920, 1080)], Layout::Keyed, Distribution::H8).expect("a shape"),
        Taps::new(0.21, 0.0),
    );
    let rows = [(); 5].map(|()| vec![500i16; width]);
    let (upper, lower, mut light) = (vec![90u8; width], vec![91u8; width], vec![0u8; width / 2]);
    let mut halves = vec![300i16; 2048];
    let mut steps: Vec<Step<'_>> = vec![
        (
            "white",
            Box::new(|level| {
                let stream = Stream::new(Generator::Xs64, &shape, CycleStart::Seed(1), Layer::BASE, level);
                stream.expect("a stream").frame(0).centred(0, 1, &mut words, &mut white);
                black_box(&white);
            }),
        ),
        ("across", Box::new(|level| across_halves(level, &mut h, black_box(&mut g), taps))),
        (
            "down",
            Box::new(|level| down(level, &mut n, [0, 1, 2, 3, 4].map(|i| black_box(&rows[i][..])), taps)),
        ),
        (
            "mean of chroma's blocks",
            Box::new(|level| mean_row(level, &mut light, &[black_box(&upper), black_box(&lower)], 1)),
        ),
        (
            "white, halved",
            Box::new(|level| {
                let stream = Stream::new(Generator::Xs64, &shape, CycleStart::Seed(1), Layer::BASE, level);
                stream.expect("a stream").frame(0).shifted(0, 1, 1, &mut words_too, &mut halves);
                black_box(&halves);
            }),
        ),
    ];
    for (name, step) in &mut steps {
        print!("{name:<24}");
        for &level in Level::available() {
            let mut times: Vec<f64> = (0..40)
                .map(|_| {
                    let start = Instant::now();
                    (0..200).for_each(|_| step(level));
                    start.elapsed().as_secs_f64() * 1e9 / 200.0
                })
                .collect();
            print!(" {:>8.0}", median(&mut times));
        }
        println!();
    }
}

fn benches(c: &mut Criterion) {
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height, 1024);
        let mut group = c.benchmark_group(format!("grain/{title}"));
        group
            .sample_size(10)
            .measurement_time(Duration::from_secs(1))
            .warm_up_time(Duration::from_millis(200));
        group.throughput(Throughput::Bytes(frames.format.frame_bytes() as u64));
        group.bench_function("memcpy", |b| b.iter(|| frames.copy()));
        for &level in Level::available() {
            for (way, given) in WAYS {
                let filter = bind(&frames.format, "grain", given, level);
                let (mut number, mut scratch) = (0, Scratch::default());
                group.bench_function(format!("{way} {level}"), |b| {
                    b.iter(|| {
                        number += 1;
                        frames.render(&*filter, number, &mut Kept::default(), &mut scratch);
                    });
                });
            }
        }
        group.finish();
    }
}

fn main() {
    let asked = |what: &str| std::env::args().any(|a| a == what);
    let filtered = std::env::args().skip(1).any(|a| !a.starts_with('-'));
    if asked("parts") {
        return parts();
    }
    if !asked("ratios") {
        let mut criterion = Criterion::default().configure_from_args();
        benches(&mut criterion);
        criterion.final_summary();
    }
    // `cargo test --benches` only checks that it runs.
    if asked("ratios") || (!filtered && asked("--bench")) {
        ratios();
        parts();
    }
}
