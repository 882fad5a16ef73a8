//! The 32-byte particle: its generator, its regeneration, its closed form.
//!
//! `cargo bench --bench particle`. All sides of a table run in every round; a figure is the median over the rounds, a
//! ratio the median of the rounds' ratios. Times are this thread's processor time.
#![allow(unsafe_code)] // the C library's generator is a foreign function
#![allow(missing_docs)]

use grainfield_filters::particle::*;
use grainfield_filters::simd::Level;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

mod rows;
mod timing;
use rows::{Sheet, gate};
use timing::{median, ratio, time};

const ROUNDS: usize = 15;

/// A name, and work to be timed.
type Side = (&'static str, Box<dyn FnMut()>);

/// Runs every side in every round and returns the seconds of each, round by round.
fn rounds(sides: &mut [Side]) -> Vec<Vec<f64>> {
    let mut seconds = vec![vec![]; sides.len()];
    for _ in 0..ROUNDS {
        for ((_, work), seconds) in sides.iter_mut().zip(&mut seconds) {
            work(); // what the side before left in the caches is not this one's
            seconds.push(time(work));
        }
    }
    seconds
}

/// Takes a number as if it were needed.
fn sink(v: f32) {
    let _ = black_box(v);
}

fn right<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|e| panic!("the bench's own settings are right: {e:?}"))
}

/// The generator the article compares with: 48 bits, advanced by compare and swap so that threads may share it.
struct SharedLcg(AtomicU64);

impl SharedLcg {
    fn next(&self) -> f32 {
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let new = old.wrapping_mul(0x5_deec_e66d).wrapping_add(11) & 0xffff_ffff_ffff;
            match self.0.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return (new >> 24) as f32 / (1 << 24) as f32,
                Err(now) => old = now,
            }
        }
    }
}

unsafe extern "C" {
    fn rand() -> i32;
}

fn generators() {
    const N: usize = 1 << 20;
    let level = Level::best();
    let shared = SharedLcg(AtomicU64::new(42));
    let mut sides: Vec<Side> = vec![
        ("shared 48-bit LCG (the article's rival)", {
            Box::new(move || (0..N).for_each(|_| sink(shared.next())))
        }),
        ("C library's rand()", {
            // SAFETY: takes nothing, returns a number, and locks its own state.
            Box::new(|| (0..N).for_each(|_| sink(unsafe { rand() } as f32 / 2_147_483_648.0)))
        }),
        ("Listing 2, one sequence", {
            Box::new(|| {
                let mut draws = Draws::from_bits(0x4584_3800);
                (0..N).for_each(|_| sink(draws.draw()));
            })
        }),
        ("Listing 2, a block of sequences", {
            let mut bits: [u32; BLOCK] = std::array::from_fn(|i| mix32(i as u32));
            let mut out = vec![[0.0; BLOCK]; 16];
            let spreads = [Spread { base: 0.0, offset: 1.0 }; 16];
            Box::new(move || {
                for _ in 0..N / BLOCK / 16 {
                    continue_draws(level, &spreads, &mut bits, &mut out);
                    black_box(&mut out);
                }
            })
        }),
    ];
    let seconds = rounds(&mut sides);
    let title = format!("Random floats, {level}");
    let mut sheet = Sheet::new(title, &["", "ns", "to the article's rival", "to rand()", "article"]);
    for (i, ((name, _), s)) in sides.iter().zip(&seconds).enumerate() {
        sheet.row([
            (*name).to_owned(),
            format!("{:.2}", median(s.iter().copied()) / N as f64 * 1e9),
            format!("{:.1}", ratio(&seconds[0], s)),
            format!("{:.1}", ratio(&seconds[1], s)),
            if i == 2 { "10 times a library's" } else { "-" }.to_owned(),
        ]);
    }
    sheet.done();
}

fn kind(extra: usize) -> Kind {
    let mut spreads = [Spread { base: 1.0, offset: 0.5 }; STANDARD];
    spreads[Parameter::Life as usize] = Spread::between(1.2, 1.6);
    right(Kind::new(spreads, vec![Spread { base: 1.0, offset: 0.5 }; extra]))
}

fn regeneration() {
    const N: usize = 4096;
    let title = format!("Regeneration, {N} seeds in cache, G particles/s");
    let mut sheet = Sheet::new(title, &["", "9 numbers", "16", "32"]);
    let seeds: Vec<u32> = (0..N as u32).collect();
    for &level in Level::available() {
        let speed = |extra: usize| {
            let kind = kind(extra);
            let spreads: Vec<Spread> = kind.standard().iter().chain(kind.extra()).copied().collect();
            let mut out = vec![[0.0; BLOCK]; kind.count()];
            let one = |_| {
                let s = time(|| {
                    for _ in 0..50 {
                        for seeds in black_box(&seeds).as_chunks::<BLOCK>().0 {
                            let mut bits = seeds.map(mix32);
                            continue_draws(level, &spreads, &mut bits, &mut out);
                            black_box(&mut out);
                        }
                    }
                });
                (50 * N) as f64 / s / 1e9
            };
            median((0..ROUNDS).map(one).collect::<Vec<_>>())
        };
        let speeds = [0, 7, 23].map(|extra| format!("{:.2}", speed(extra)));
        sheet.row([level.to_string()].into_iter().chain(speeds));
    }
    sheet.done();
}

fn closed_form(count: usize) {
    let level = Level::best();
    let kind = kind(0);
    let shape = right(EmitterShape::new([0.0; 3], [100.0; 3], [0.0, -1.0, 0.0], 0.1));
    let births = right(ConstantRate::new(count as f64 / 1.4));
    let emitter = Emitter { seed: 1, kind: 0, births: Arc::new(births), shape };
    let lives = LiveWindow::of(&kind, None);
    let at = 100 * FLICKS;
    let window = lives.window(&emitter, at);
    // Records of those that live, in order of birth: the rival's best case.
    let records: Vec<Particle> =
        window.clone().map(|n| emitter.particle(n)).filter(|p| placed(&kind, p, at).is_some()).collect();
    let live = records.len();
    let mut pool = right(Pool::new(emitter.clone(), kind.clone(), None, 0..2 * at, u32::MAX, level));
    pool.seek(at);
    let blocks = pool.blocks();
    let rows = move || [0, 1, 2].map(|_| vec![[0.0f32; BLOCK]; blocks]);
    let mut sides: Vec<Side> = vec![
        ("scalar records of 32 bytes", {
            let kind = kind.clone();
            let mut out = vec![[0.0f32; 3]; live];
            Box::new(move || {
                for (out, record) in out.iter_mut().zip(&records) {
                    if let Some(p) = placed(&kind, record, black_box(at)) {
                        (*out, _) = (p.position, black_box(p));
                    }
                }
                black_box(&mut out);
            })
        }),
        ("the pool, positions kept", {
            let (pool, mut block, mut rows) = (pool.clone(), PlacedBlock::EMPTY, rows());
            Box::new(move || {
                for index in 0..blocks {
                    pool.place(index, &View::ALL, &mut block);
                    pool.set_size_and_angle(&mut block);
                    rows.iter_mut().zip(&block.position).for_each(|(r, p)| r[index] = *p);
                }
                black_box(&mut rows);
            })
        }),
        ("the pool, handed on", {
            let mut block = PlacedBlock::EMPTY;
            Box::new(move || {
                for index in 0..blocks {
                    pool.place(index, &View::ALL, &mut block);
                    pool.set_size_and_angle(&mut block);
                    black_box(&mut block);
                }
            })
        }),
        ("from the numbers alone, handed on", {
            let (mut columns, mut block) = (Columns::EMPTY, PlacedBlock::EMPTY);
            let first = window.start.div_euclid(BLOCK as i64);
            Box::new(move || {
                for index in 0..blocks as i64 {
                    let start = (first + index) * BLOCK as i64;
                    emitter.fill(level, first + index, &mut columns);
                    place(level, &kind, &columns, at, &View::ALL, lanes(start, &window), &mut block);
                    set_size_and_angle(level, &kind, &mut block);
                    black_box(&mut block);
                }
            })
        }),
    ];
    let seconds = rounds(&mut sides);
    let mut sheet = Sheet::new(format!("Closed form, {live} alive, {level}"), &["", "M/s", "to records"]);
    for ((name, _), s) in sides.iter().zip(&seconds) {
        let speed = live as f64 / median(s.iter().copied()) / 1e6;
        sheet.row([(*name).to_owned(), format!("{speed:.1}"), format!("{:.2}", ratio(&seconds[0], s))]);
    }
    sheet.done();
    if count == 1_000_000 {
        let work = "closed form, from numbers alone, against scalar records, 1 M";
        gate(work, ratio(&seconds[0], &seconds[3]), 12.0, Some(20.0));
    }
}

fn main() {
    generators();
    regeneration();
    closed_form(100_000);
    closed_form(1_000_000);
}
