//! The filter `sand`: steps of a bed of sleeping grains into which others fall.
//!
//! `cargo bench --bench sand` prints milliseconds per step on one thread with AVX2: first with as many awake grains over
//! ever larger beds, which should cost the same, then with more awake ones.
#![allow(missing_docs, clippy::expect_used)] // a failure ends the bench
#![allow(unsafe_code)] // the clock in `timing`

mod timing;

use grainfield_filters::host::CurrentThread;
use grainfield_filters::particle::sand::{ASLEEP, Flyer, Forces, Sand, SandSettings, Solids};
use grainfield_filters::simd::{Isa, Level};
use timing::{median, time};

const STEP: f32 = 1.0 / 48.0;
/// Steps until as many grains fall asleep as come.
const WARM: u32 = 120;
const TIMED: u32 = 60;

/// A bed of `n` sleepers on a lattice of triangles, with room above it.
fn bed(n: u32) -> (Sand, [f32; 2]) {
    let columns = ((n as f32 * 2.2).sqrt()) as u32;
    let rows = n.div_ceil(columns);
    let size = [columns as f32 * 0.9, rows as f32 * 0.77 + 60.0];
    let solids = Solids { floor: true, walls: true, ..Solids::default() };
    let level = Level::of(Isa::Avx2).expect("AVX2");
    let mut sand = Sand::new(SandSettings { size, step: STEP, solids }, level).expect("few cells");
    let item = |id: u32| {
        let (row, column) = (id / columns, id % columns);
        let x = 0.45 + 0.9 * (column as f32 - 0.25 + 0.5 * (row % 2) as f32);
        let y = size[1] - 0.4 - 0.77 * row as f32;
        [f32::from_bits(id), x, y, 0.0, 0.0, f32::from_bits(u32::from(ASLEEP))]
    };
    let items: Vec<[f32; 6]> = (0..n).map(item).collect();
    assert!(sand.restore(&items), "a valid state");
    (sand, size)
}

/// Arrivals of a step over the whole width.
fn arrivals(n: u32, step: u32, count: u32, [width, _]: [f32; 2]) -> Vec<Flyer> {
    let flyer = |k: u32| {
        let id = n + step * count + k;
        let unit = (id.wrapping_mul(0x9e37_79b1) >> 8) as f32 / (1 << 24) as f32;
        Flyer { id, at: [unit * width, 3.0 + (k % 16) as f32], velocity: [0.0, 40.0] }
    };
    (0..count).map(flyer).collect()
}

/// Milliseconds per step, and the awake grains.
fn step(n: u32, count: u32) -> (f64, usize) {
    let (mut sand, size) = bed(n);
    let forces = Forces { gravity: 500.0, friction: 0.7, drag: 1.5, ..Forces::default() };
    let mut times = Vec::new();
    for k in 0..WARM + TIMED {
        let new = arrivals(n, k, count, size);
        let took = time(|| sand.step(&forces, &new, &CurrentThread).expect("few grains"));
        if k >= WARM {
            times.push(took * 1e3);
        }
    }
    let awake = sand.items().iter().filter(|item| item[5].to_bits() % 256 < u32::from(ASLEEP)).count();
    (median(times), awake)
}

fn main() {
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    println!("{:>9} {:>9} {:>9} {:>9}", "asleep", "per step", "awake", "ms");
    for (n, count) in [(10_000, 40), (100_000, 40), (1_000_000, 40), (100_000, 80), (1_000_000, 800)] {
        let (took, awake) = step(n, count);
        println!("{n:>9} {count:>9} {awake:>9} {took:>9.2}");
    }
}
