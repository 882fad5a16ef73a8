//! The filter `fluid`: 30,000 parcels of a breaking dam over 720p 4:2:0.
//!
//! `cargo bench --bench fluid`. "step" advances the dam by a frame, "surface" computes its surface, "composite" draws
//! it over the picture: each on one thread. "whole" is a frame of a render to `null:` by the program's pipeline, on two
//! threads; 24 frames per second are 41.6 ms.
#![allow(missing_docs, clippy::expect_used)] // a failure ends the bench

#[allow(dead_code)] // this bench does not use all of its functions
mod frames;

use criterion::{Criterion, criterion_group, criterion_main};
use frames::bind;
use grainfield::session::job::{Job, Request};
use grainfield_filters::filter::{Band, Filter, FrameParams, State};
use grainfield_filters::frame::{Format, Frame, FrameTime, Scratch};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

static GO: AtomicBool = AtomicBool::new(false);
const HOST: Host<'_> = Host { executor: &CurrentThread, cache: &NoCache, stop: &GO };

fn at(n: i64) -> FrameTime {
    FrameTime::of_frame(n, Ratio::whole(24))
}

fn now(filter: &dyn Filter, n: i64) -> FrameParams {
    filter.at(&at(n)).expect("fluid is never idle")
}

fn step(filter: &dyn Filter, n: i64, line: &mut Option<State>) -> State {
    filter.step(&now(filter, n), line, &HOST).expect("nobody stops it")
}

fn surface(filter: &dyn Filter, n: i64, line: &mut Option<State>) -> State {
    let stepped = step(filter, n, line);
    filter.prepare(&now(filter, n), Some(stepped), &HOST).expect("nobody stops it")
}

/// Frames of a render on two threads.
const FRAMES: u32 = 72;

fn whole() -> Duration {
    let mut request =
        Request::new(format!("pattern:bars:size=1280x720:format=yuv420p:frames={FRAMES}"), "null:");
    request.recipe = "fluid=particles=30000".parse::<Recipe>().expect("a right chain");
    request.threads = Some(2);
    let job = Job::prepare(request).expect("a right job");
    let start = Instant::now();
    job.run(&|_| {}).expect("it runs to its end");
    start.elapsed() / FRAMES
}

fn bench(c: &mut Criterion) {
    let format = Format::from_name("yuv420p", 1280, 720).expect("a known format");
    let filter = bind(&format, "fluid", &[("particles", "30000")], Level::best());
    let filter = &*filter;
    let mut group = c.benchmark_group("fluid");
    group.sample_size(10);
    let (mut line, mut n) = (None, 36);
    drop(step(filter, n, &mut line));
    group.bench_function("step", |b| {
        b.iter(|| {
            n += 1;
            drop(black_box(step(filter, n, &mut line)));
        });
    });
    group.bench_function("surface", |b| b.iter(|| black_box(surface(filter, n, &mut line))));
    let state = surface(filter, n, &mut line);
    let (source, mut out, mut scratch) = (Frame::new(format), Frame::new(format), Scratch::default());
    let now = now(filter, n);
    let writes = now.plan.writes;
    group.bench_function("composite", |b| {
        b.iter(|| {
            let input = Some(source.as_ref());
            let mut band = Band { rows: 0..720, input, output: out.as_mut(), writes };
            filter.render(&now, Some(&state), &mut band, &mut scratch);
        });
    });
    group.bench_function("whole", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| whole()).sum());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
