//! The speed of the effect filters compared with a copy of the same planes, and of `transform` compared with FFmpeg's
//! filters.
//!
//! `cargo bench --bench effects` runs everything; `-- ratios` prints the tables only, `-- depth` the cost of 16-bit
//! chains. Frames cycle through a working set of 512 MiB (`GRAINFIELD_BENCH_MIB` changes it), so that every frame comes
//! from memory and not from a cache.
//!
//! Ratios come from a separate loop in which the rivals alternate. They are based on the minimum of each in processor
//! time of this thread, since other loads only increase it. FFmpeg's filters run on one thread; their time is the
//! processor time of `ffmpeg -benchmark` with the filter minus that without.

#![allow(clippy::expect_used)] // a failure ends the bench
#![allow(unsafe_code)] // the clock in `timing`

mod frames;
mod timing;

use criterion::{Criterion, Throughput};
use frames::{Frames, Kept, bind};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{Frame, FrameTime, Scratch};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A title, a filter and its settings.
type Pass = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const WAYS: &[Pass] = &[
    ("fade to black", "fade", &[("amount", "0.4")]),
    ("fade to red", "fade", &[("amount", "0.4"), ("color", "red")]),
    ("levels, straight", "levels", &[("black", "0.1"), ("white", "0.9")]),
    ("levels, gamma", "levels", &[("gamma", "1.3")]),
    ("color, luma", "color", &[("contrast", "1.2")]),
    ("color, all", "color", &[("saturation", "1.2"), ("hue", "10"), ("temperature", "0.3")]),
    ("vignette", "vignette", &[]),
    ("flicker", "flicker", &[]),
    ("blur sigma 1", "blur", &[("sigma", "1")]),
    ("blur sigma 5", "blur", &[("sigma", "5")]),
    ("blur sigma 30", "blur", &[("sigma", "30")]),
    ("blur line 20", "blur", &[("mode", "directional"), ("angle", "30")]),
    ("transform pan", "transform", &[("pan", "0.0103,0.0207")]),
    ("transform zoom", "transform", &[("zoom", "1.3")]),
    ("transform turn bilinear", "transform", &[("rotate", "10"), ("kernel", "bilinear")]),
    ("transform turn bicubic", "transform", &[("rotate", "10")]),
    ("weave", "weave", &[]),
    ("AV1 grain", "av1grain", &[("vector", "3")]),
];

const FRAMES: &[(&str, &str, u32, u32)] = &[
    ("1080p 4:2:0 8", "yuv420p", 1920, 1080),
    ("1080p 4:2:0 10", "yuv420p10", 1920, 1080),
    ("1080p 4:2:0 16", "yuv420p16", 1920, 1080),
    ("1080p RGB float", "gbrpf32", 1920, 1080),
];

/// Runs all rivals in turn, and prints the minimum of each relative to memcpy; returns the milliseconds of each
/// method at the best level in the first format.
fn ratios() -> Vec<f64> {
    let rounds = std::env::var("GRAINFIELD_BENCH_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(15);
    let mut first = Vec::new();
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height, 512);
        let levels: Vec<Level> = Level::available().iter().copied().rev().take(3).collect();
        let heads: Vec<String> = levels.iter().map(|l| format!("{l:>8} ms  x memcpy")).collect();
        println!("\n{title:<26} {}", heads.join(" "));
        let mut rivals = Vec::new();
        for &way in WAYS {
            for &level in &levels {
                rivals.push((bind(&frames.format, way.1, way.2, level), Kept::default(), f64::INFINITY));
            }
        }
        let mut scratch = Scratch::default();
        let mut copy = f64::INFINITY;
        for round in 0..rounds {
            copy = copy.min(timing::time(|| frames.copy()));
            for (filter, kept, best) in &mut rivals {
                let time = timing::time(|| frames.render(&**filter, round, kept, &mut scratch));
                *best = best.min(time);
            }
        }
        println!("{:<26} {:>11.2}", "memcpy", copy * 1e3);
        for (way, group) in WAYS.iter().zip(rivals.chunks(levels.len())) {
            let cells: Vec<String> =
                group.iter().map(|r| format!("{:>11.2} {:>9.2}", r.2 * 1e3, copy / r.2)).collect();
            println!("{:<26} {}", way.0, cells.join(" "));
        }
        if first.is_empty() {
            first = rivals.chunks(levels.len()).map(|g| g[0].2 * 1e3).collect();
        }
    }
    first
}

/// The cost of 16-bit chains: 8-bit frames through a chain, compared with the same filter in 8 bits, which rounds each
/// sample separately. All frames of this table fit the caches, so the cost of the arithmetic is visible.
fn depth() {
    let rounds = std::env::var("GRAINFIELD_BENCH_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(40);
    let mut frames = Frames::new("yuv420p", 1920, 1080, 12);
    println!(
        "\n{:<26} {:>10} {:>12} {:>10} {:>10}",
        "1080p 4:2:0 8", "level", "16 bits ms", "8 bits ms", "more"
    );
    for (title, id, given) in
        [("fade to black", "fade", ("amount", "0.4")), ("levels, gamma", "levels", ("gamma", "1.3"))]
    {
        let recipe = format!("{id}={}={}", given.0, given.1).parse::<Recipe>().expect("a chain");
        for &level in Level::available().iter().rev().take(3) {
            let options = Options { seed: 1, level, first: 0, last: None, fields: Fields::Frame };
            let chain = Chain::bind::<ChainError>(&recipe.steps, frames.format, &options, |f| Ok(*f));
            let chain = chain.expect("settings that go together");
            let filter = bind(&frames.format, id, &[given], level);
            let (mut frame, mut work, mut scratch) =
                (Frame::new(frames.format), Workspace::default(), Scratch::default());
            for y in 0..1080 {
                frame.row_mut::<u8>(0, y).iter_mut().enumerate().for_each(|(x, v)| *v = (16 + x % 220) as u8);
            }
            let stop = AtomicBool::new(false);
            let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
            let (mut deep, mut plain) = (f64::INFINITY, f64::INFINITY);
            for round in 0..rounds {
                let at = FrameTime::of_frame(round, Ratio::whole(24));
                deep = deep.min(timing::time(|| {
                    chain
                        .run(&at, Ratio::ONE, &mut frame, &mut work, &States::default(), &host)
                        .expect("a frame");
                }));
                plain = plain.min(timing::time(|| {
                    frames.render(&*filter, round, &mut Kept::default(), &mut scratch);
                }));
            }
            let (deep, plain) = (deep * 1e3, plain * 1e3);
            let level = level.to_string();
            println!("{title:<26} {level:>10} {deep:>12.3} {plain:>10.3} {:>10.3}", deep - plain);
        }
    }
}

/// Processor time of FFmpeg for 60 frames, in seconds.
fn ffmpeg(filter: &str) -> Option<f64> {
    let graph = format!("testsrc2=size=1920x1080:rate=25,format=yuv420p,{filter}");
    let out = Command::new("ffmpeg")
        .args([
            "-hide_banner",
            "-nostdin",
            "-benchmark",
            "-filter_threads",
            "1",
            "-filter_complex_threads",
            "1",
        ])
        .args(["-f", "lavfi", "-i", &graph, "-frames:v", "60", "-f", "null", "-"])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let at = text.find("bench: utime=")? + "bench: utime=".len();
    text[at..].split('s').next()?.parse().ok()
}

/// `transform` compared with the most similar filters of FFmpeg.
fn beside_ffmpeg(ours: &[f64]) {
    let own = |title: &str| WAYS.iter().position(|w| w.0 == title).map_or(f64::NAN, |i| ours[i]);
    println!("\n{:<48} {:>9} {:>9} {:>9}", "1080p 4:2:0 8, one thread", "ms", "ours ms", "x");
    for (filter, way) in [
        ("rotate=angle=PI/18", "transform turn bilinear"),
        ("rotate=angle=PI/18:bilinear=0", "transform turn bilinear"),
        ("perspective=x0=20:y0=40:x1=1900:y1=0:interpolation=linear", "transform turn bilinear"),
        ("perspective=x0=20:y0=40:x1=1900:y1=0:interpolation=cubic", "transform turn bicubic"),
        ("zoompan=zoom=1.3:d=1:s=1920x1080", "transform zoom"),
        ("scale=2496:1404:flags=bicubic,crop=1920:1080", "transform zoom"),
    ] {
        let least = |graph: &str| (0..3).filter_map(|_| ffmpeg(graph)).fold(f64::INFINITY, f64::min);
        let ms = (least(filter) - least("null")) * 1000.0 / 60.0;
        println!("{filter:<60} {ms:>9.2} {:>9.2} {:>9.2}", own(way), ms / own(way));
    }
}

fn benches(c: &mut Criterion) {
    for &(title, name, width, height) in FRAMES {
        let mut frames = Frames::new(name, width, height, 512);
        let mut group = c.benchmark_group(format!("effects/{title}"));
        group
            .sample_size(10)
            .measurement_time(Duration::from_millis(500))
            .warm_up_time(Duration::from_millis(100));
        group.throughput(Throughput::Bytes(frames.format.frame_bytes() as u64));
        group.bench_function("memcpy", |b| b.iter(|| frames.copy()));
        for &way in WAYS {
            for &level in Level::available() {
                let filter = bind(&frames.format, way.1, way.2, level);
                let (mut number, mut kept, mut scratch) = (0, Kept::default(), Scratch::default());
                group.bench_function(format!("{} {level}", way.0), |b| {
                    b.iter(|| {
                        number += 1;
                        frames.render(&*filter, number, &mut kept, &mut scratch);
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
    if asked("depth") {
        return depth();
    }
    if !asked("ratios") {
        let mut criterion = Criterion::default().configure_from_args();
        benches(&mut criterion);
        criterion.final_summary();
    }
    // `cargo test --benches` only checks that it runs.
    if asked("ratios") || (!filtered && asked("--bench")) {
        let ours = ratios();
        beside_ffmpeg(&ours);
    }
}
