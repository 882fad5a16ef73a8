//! The filter `flock`: the cost of a step by the number of agents, and whole frames of 20,000 at 1080p.
//!
//! `cargo bench --bench flock`. "step" is the time of one frame's steps on one thread, for 1,000 to 100,000 agents: the
//! time per agent should be constant. "whole" is a frame of a render to `null:` by the program's pipeline, on two
//! threads; 24 frames per second are 41.6 ms. "next" and "random" are a frame after the one before it, and one far from
//! the last, with stored states.
#![allow(missing_docs, clippy::expect_used)] // a failure ends the bench

#[allow(dead_code)] // this bench does not use all of its functions
mod frames;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use frames::bind;
use grainfield::session::job::{Job, Request};
use grainfield_filters::filter::{Filter, State};
use grainfield_filters::frame::{Format, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache, StateCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

static GO: AtomicBool = AtomicBool::new(false);

/// States in memory.
#[derive(Default)]
struct Shelf(Mutex<BTreeMap<u128, Vec<u8>>>);

impl StateCache for Shelf {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        self.0.lock().expect("nobody panics").get(&key).cloned()
    }
    fn put(&self, key: u128, bytes: &[u8]) {
        self.0.lock().expect("nobody panics").insert(key, bytes.to_vec());
    }
}

fn made(filter: &dyn Filter, n: i64, line: &mut Option<State>, cache: &dyn StateCache, whole: bool) {
    let host = Host { executor: &CurrentThread, cache, stop: &GO };
    let now = filter.at(&FrameTime::of_frame(n, Ratio::whole(24))).expect("a flock is never idle");
    let state = filter.step(&now, line, &host).expect("nobody stops it");
    if whole {
        drop(filter.prepare(&now, Some(state), &host).expect("nobody stops it"));
    }
}

/// Frames of a render on two threads.
const FRAMES: u32 = 72;

fn whole(agents: u32) -> Duration {
    let mut request =
        Request::new(format!("pattern:bars:size=1920x1080:format=yuv420p:frames={FRAMES}"), "null:");
    request.recipe = format!("flock=agents={agents}:start=0").parse::<Recipe>().expect("a right chain");
    request.threads = Some(2);
    let job = Job::prepare(request).expect("a right job");
    let start = Instant::now();
    job.run(&|_| {}).expect("it runs to its end");
    start.elapsed() / FRAMES
}

fn bench(c: &mut Criterion) {
    let format = Format::from_name("yuv420p", 1920, 1080).expect("a known format");
    let mut group = c.benchmark_group("flock");
    group.sample_size(10);
    for agents in [1000u64, 3000, 10_000, 30_000, 100_000] {
        let filter =
            bind(&format, "flock", &[("agents", &agents.to_string()), ("start", "1")], Level::best());
        let (mut line, mut n) = (None, 24);
        made(&*filter, n, &mut line, &NoCache, false);
        group.throughput(Throughput::Elements(agents));
        group.bench_function(BenchmarkId::new("step", agents), |b| {
            b.iter(|| {
                n += 1;
                made(&*filter, n, &mut line, &NoCache, false);
            });
        });
    }
    let filter = bind(&format, "flock", &[("agents", "20000"), ("start", "0")], Level::best());
    let (shelf, mut line) = (Shelf::default(), None);
    (0..=240).for_each(|n| made(&*filter, n, &mut line, &shelf, false));
    group.throughput(Throughput::Elements(1));
    let mut n = 240;
    group.bench_function("next", |b| {
        b.iter(|| {
            n += 1;
            made(&*filter, n, &mut line, &shelf, true);
        });
    });
    // Frames of stored states, far from each other, so that none is among the recent ones.
    let mut k = 0;
    group.bench_function("random", |b| {
        b.iter(|| {
            k = (k + 3) % 9;
            let mut line = None;
            made(&*filter, 24 * (k + 1), &mut line, &shelf, true);
        });
    });
    group.bench_function("whole", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| whole(20_000)).sum());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
