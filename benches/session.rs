//! From a changed setting to the pixels of an open clip, compared with copying the frame and running the filter; and a
//! random seek in an hour of H.264.
//!
//! `./x bench session`. The first two are comparable: one thread, one frame.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use grainfield::Clip;
use grainfield::session::job::Request;
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::FrameTime;
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

fn look(strength: u64) -> Recipe {
    format!("grain=strength={}", 4.0 + strength as f64 / 1e4).parse::<Recipe>().unwrap()
}

fn changed_setting(c: &mut Criterion) {
    let mut group = c.benchmark_group("session/1080p grain");
    let mut request = Request::new("pattern:bars:size=1920x1080:frames=3:format=yuv420p", "hash:");
    request.threads = Some(1);
    let clip = Clip::open(request).unwrap();
    let frame = clip.frame(1, &Recipe::default()).unwrap().frame;
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let chain =
        Chain::bind::<ChainError>(&look(0).steps, *frame.format(), &options, |made| Ok(*made)).unwrap();
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let at = FrameTime::of_frame(1, frame.format().rate);
    let (mut work, states) = (Workspace::default(), States::default());
    let mut copy = frame.clone();
    group.bench_function("copy and filter", |b| {
        b.iter(|| {
            for p in 0..frame.format().planes() {
                for y in 0..frame.format().plane_size(p).1 {
                    copy.row_bytes_mut(p, y).copy_from_slice(frame.plane(p).row_bytes(y));
                }
            }
            let duration = grainfield_filters::ratio::Ratio::ONE;
            chain.run(&at, duration, &mut copy, &mut work, &states, &host).unwrap();
            black_box(&copy);
        });
    });
    let mut strength = 0;
    group.bench_function("changed strength", |b| {
        b.iter_batched(
            || {
                strength += 1;
                look(strength)
            },
            |look| clip.frame(1, &look).unwrap(),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

#[cfg(feature = "ffmpeg")]
fn seek(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hour.mp4");
    let made = std::process::Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25:duration=3600"])
        .args(["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"])
        .arg(&file)
        .status();
    assert!(made.unwrap().success());
    let clip = Clip::open(&file).unwrap();
    let mut group = c.benchmark_group("session/hour of h264");
    group.sample_size(20);
    let mut number: i64 = 1;
    let plain = Recipe::default();
    for (name, step) in [("random frame", 48_271), ("keyframe", 0)] {
        group.bench_function(name, |b| {
            b.iter_batched(
                || {
                    number = if step > 0 {
                        number * step % 89_989
                    } else {
                        (number + 250 * 7) / 250 * 250 % 90_000
                    };
                    number
                },
                |number| clip.frame(number, &plain).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

#[cfg(not(feature = "ffmpeg"))]
fn seek(_: &mut Criterion) {}

criterion_group!(benches, changed_setting, seek);
criterion_main!(benches);
