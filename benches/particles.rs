//! The filter `particles`: 100,000 and a million soft discs of 3 pixels, moved, binned and drawn into 1080p 4:2:0.
//!
//! `cargo bench --bench particles`. "regenerate, move" regenerates the parameters of particles and computes their
//! positions; "bin" is `prepare`, which does this, culls, and sorts by tile; "draw" is `render` of the whole frame: all
//! on one thread. "two threads" is the last two together on two threads. "next" renders consecutive frames, "random"
//! random ones of ten million frames, and "late" consecutive frames from frame 10,000,000 on.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use grainfield_filters::filter::particles::{Appearance, Effect, Emission, Layer, Particles, SpawnArea};
use grainfield_filters::filter::{Band, Filter, Spec, State};
use grainfield_filters::frame::{Format, Frame, FrameMut, FrameTime, Scratch};
use grainfield_filters::host::{CurrentThread, Executor, Host, NoCache};
use grainfield_filters::noise::seed::mix64;
use grainfield_filters::particle::{
    ConstantRate, Emitter, EmitterShape, FLICKS, Kind, LAST, Parameter, PlacedBlock, Pool, STANDARD,
    Spread as Values, View, draw::Blend,
};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

mod threads;
use threads::Two;

static GO: AtomicBool = AtomicBool::new(false);

/// So many at a time, all over the frame.
fn discs(count: usize) -> Box<dyn Filter> {
    let layer = Layer {
        when: Emission::Steady(count as f64 / 5.0),
        place: SpawnArea::Box { x: [0.0, 1.0], y: [0.0, 1.0], z: [1.0, 1.0] },
        // In the plane, so that they stay 3 samples large; a size that is rounded up to just that.
        direction: [0.6, 0.8, 0.0],
        life: Values::between(4.9, 5.1),
        speed: Values::between(-0.02, 0.02),
        size: Values::fixed(1.499 / 1080.0),
        opacity: Values::between(0.3, 1.0),
        form: Appearance::Disc(1.0),
        ..Layer::default()
    };
    let effect = Effect { layers: vec![layer], blend: Blend::Over, wind: 0.01, ..Default::default() };
    let bound = Particles::new(effect).bind(&format(), 1, Level::best());
    bound.unwrap_or_else(|e| panic!("the bench's own effect is right: {e}"))
}

fn format() -> Format {
    Format::from_name("yuv420p", 1920, 1080).unwrap_or_else(|e| panic!("a known format: {e:?}"))
}

/// Places all particles of a pool like that of [`discs`], frame by frame.
fn pool(count: usize) -> Pool {
    fn right<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
        made.unwrap_or_else(|e| panic!("the bench's own settings are right: {e:?}"))
    }
    let mut spreads = [Values::default(); STANDARD];
    spreads[Parameter::Life as usize] = Values::between(4.9, 5.1);
    spreads[Parameter::Speed as usize] = Values::between(-0.02, 0.02);
    spreads[Parameter::Size as usize] = Values::fixed(1.5 / 1080.0);
    let kind = right(Kind::new(spreads, vec![]));
    let shape = right(EmitterShape::new([0.0; 3], [0.8, 0.5, 0.0], [0.6, 0.8, 0.0], 0.0));
    let births = Arc::new(right(ConstantRate::new(count as f64 / 5.0)));
    let emitter = Emitter { seed: 1, kind: 0, births, shape };
    right(Pool::new(emitter, kind, None, -LAST..LAST, 2 * count as u32, Level::best()))
}

fn at(n: i64) -> FrameTime {
    FrameTime::of_frame(n, Ratio::whole(24))
}

fn prepare(filter: &dyn Filter, n: i64, near: Option<State>, executor: &dyn Executor) -> State {
    let host = Host { executor, cache: &NoCache, stop: &GO };
    let now = filter.at(&at(n)).unwrap_or_else(|| panic!("there is something to draw"));
    filter.prepare(&now, near, &host).unwrap_or_else(|e| panic!("nobody stops it: {e}"))
}

fn draw(filter: &dyn Filter, n: i64, state: &State, output: FrameMut<'_>, scratch: &mut Scratch) {
    let rows = output.plane(0).rows();
    let now = filter.at(&at(n)).unwrap_or_else(|| panic!("there is something to draw"));
    let writes = now.plan.writes;
    filter.render(&now, Some(state), &mut Band { rows, input: None, output, writes }, scratch);
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("particles");
    group.sample_size(10);
    for count in [100_000, 1_000_000] {
        let filter = discs(count);
        let filter = &*filter;
        let mut frame = Frame::new(format());
        let (mut n, mut scratch, mut other) = (0, Scratch::default(), Scratch::default());
        let (mut pool, mut block) = (pool(count), PlacedBlock::EMPTY);
        group.bench_function(BenchmarkId::new("regenerate, move", count), |b| {
            b.iter(|| {
                n += 1;
                pool.seek(n * FLICKS / 24);
                for index in 0..pool.blocks() {
                    pool.place(index, &View::ALL, &mut block);
                    pool.set_size_and_angle(&mut block);
                    black_box(&block);
                }
            });
        });
        let mut state = Some(prepare(filter, 0, None, &CurrentThread));
        group.bench_function(BenchmarkId::new("bin, next", count), |b| {
            b.iter(|| {
                n += 1;
                state = Some(prepare(filter, n, state.take(), &CurrentThread));
            });
        });
        group.bench_function(BenchmarkId::new("bin, random", count), |b| {
            b.iter(|| {
                n = (mix64(n as u64) % 10_000_000) as i64;
                state = Some(prepare(filter, n, state.take(), &CurrentThread));
            });
        });
        n = 10_000_000;
        group.bench_function(BenchmarkId::new("bin, next, late", count), |b| {
            b.iter(|| {
                n += 1;
                state = Some(prepare(filter, n, state.take(), &CurrentThread));
            });
        });
        group.bench_function(BenchmarkId::new("draw", count), |b| {
            b.iter(|| {
                if let Some(state) = &state {
                    draw(filter, n, state, frame.as_mut(), &mut scratch);
                }
            });
        });
        group.bench_function(BenchmarkId::new("two threads, next and draw", count), |b| {
            b.iter(|| {
                n += 1;
                let now = prepare(filter, n, state.take(), &Two);
                let (above, below) = frame.as_mut().split_at_row(544);
                std::thread::scope(|s| {
                    s.spawn(|| draw(filter, n, &now, above, &mut scratch));
                    draw(filter, n, &now, below, &mut other);
                });
                state = Some(now);
            });
        });
        black_box(&frame);
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
