//! The filter `particles`: 100,000 and a million soft discs of 3 pixels, moved, binned and drawn into 1080p 4:2:0.
//!
//! `cargo bench --bench particles`. "bin" is `prepare` (births, motion and sorting by tile), "draw" is `render` of the
//! whole frame, both on one thread; "two threads" is the two together on two. "next" goes from frame to frame, "random"
//! jumps anywhere among ten million frames.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use grainfield_filters::filter::particles::{Effect, Form, Layer, Particles, Place, When};
use grainfield_filters::filter::{Band, Filter, Spec, State};
use grainfield_filters::frame::{Format, Frame, FrameMut, Moment, Scratch};
use grainfield_filters::lend::{Alone, Host, NoStore, Spread};
use grainfield_filters::noise::seed::mix64;
use grainfield_filters::particle::{Spread as Values, draw::Blend};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

mod threads;
use threads::Two;

static GO: AtomicBool = AtomicBool::new(false);

/// So many at a time, all over the frame.
fn discs(count: usize) -> Box<dyn Filter> {
    let layer = Layer {
        when: When::Steady(count as f64 / 5.0),
        place: Place::Box { x: [0.0, 1.0], y: [0.0, 1.0], z: [1.0, 1.0] },
        cone: 0.5,
        life: Values::between(4.9, 5.1),
        speed: Values::between(0.01, 0.02),
        size: Values::fixed(1.5 / 1080.0),
        opacity: Values::between(0.3, 1.0),
        form: Form::Disc(1.0),
        ..Layer::default()
    };
    let effect = Effect { layers: vec![layer], blend: Blend::Over, wind: 0.01 };
    let format = Format::from_name("yuv420p", 1920, 1080).unwrap_or_else(|e| panic!("a known format: {e:?}"));
    let bound = Particles::new(effect).bind(&format, 1, Level::best());
    bound.unwrap_or_else(|e| panic!("the bench's own effect is right: {e}"))
}

fn at(n: i64) -> Moment {
    Moment::of_frame(n, Ratio::whole(24))
}

fn prepare(filter: &dyn Filter, n: i64, near: Option<State>, spread: &dyn Spread) -> State {
    let host = Host { spread, store: &NoStore, stop: &GO };
    filter.prepare(&at(n), near, &host).unwrap_or_else(|e| panic!("nobody stops it: {e}"))
}

fn draw(filter: &dyn Filter, n: i64, state: &State, output: FrameMut<'_>, scratch: &mut Scratch) {
    let rows = output.plane(0).rows();
    let writes = filter.plan(&at(n)).writes;
    filter.render(&at(n), Some(state), &mut Band { rows, input: None, output, writes }, scratch);
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("particles");
    group.sample_size(10);
    for count in [100_000, 1_000_000] {
        let filter = discs(count);
        let filter = &*filter;
        let mut frame = Frame::new(*filter.output());
        let (mut n, mut scratch, mut other) = (0, Scratch::default(), Scratch::default());
        let mut state = Some(prepare(filter, 0, None, &Alone));
        group.bench_function(BenchmarkId::new("bin, next", count), |b| {
            b.iter(|| {
                n += 1;
                state = Some(prepare(filter, n, state.take(), &Alone));
            });
        });
        group.bench_function(BenchmarkId::new("bin, random", count), |b| {
            b.iter(|| {
                n = (mix64(n as u64) % 10_000_000) as i64;
                state = Some(prepare(filter, n, state.take(), &Alone));
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
