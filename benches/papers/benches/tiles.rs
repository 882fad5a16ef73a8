//! Particles by tile: a counting sort of each frame's splats, as the drawing does it, beside the packed memory array in
//! cell order, at the rates at which the particles of each preset really change tiles.
//!
//! `cargo bench -p grainfield-papers --bench tiles`. Frames are 1/24 s apart, in 1080p. Reading is not measured. Splats have the smallest size, so that few are in two tiles: the sort
//! puts such a splat into both, the array into the tile of its centre. The array has an advantage: the new positions of
//! its splats are known before the measured move. Both run in every round; a figure is the lowest of the rounds.
#![allow(missing_docs)]
#![allow(unsafe_code)] // the clock of this thread

use grainfield_filters::filter::particles::{Particles, Preset};
use grainfield_filters::frame::{Format, FrameTime};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::particle::draw::{Bins, Blend, BlendSpace, Painter, Shape, Splat, SplatStyle};
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings, Ranked};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::ChoiceEnum;
use grainfield_filters::simd::Level;
use std::collections::BTreeMap;
use std::hint::black_box;

#[path = "../../rows/mod.rs"]
mod rows;
#[path = "../../timing/mod.rs"]
mod timing;
use rows::Sheet;
use timing::time;

const ROUNDS: i64 = 12;
/// Tiles of 64 x 32 samples.
const ACROSS: i32 = 1920 / 64;
const DOWN: i32 = (1080 + 31) / 32;

fn right<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|e| panic!("the bench's own settings are right: {e:?}"))
}

/// The tile of a splat's centre, the nearest one for those beside the picture.
fn tile(s: &Splat) -> u32 {
    let (x, y) = ((s.x >> 14).clamp(0, ACROSS - 1), (s.y >> 13).clamp(0, DOWN - 1));
    (y * ACROSS + x) as u32
}

/// A splat as the array stores it, ranked by the order of drawing.
#[derive(Clone, Copy)]
struct Stored(Splat);

impl Ranked for Stored {
    type Rank = Splat;
    fn rank(&self) -> Splat {
        self.0
    }
}

/// A particle's number in its effect.
fn number(s: &Splat) -> u64 {
    s.rank & ((1 << 40) - 1)
}

fn row(name: &str, effect: &Particles, start: i64, sheet: &mut Sheet) {
    let format = right(Format::from_name("yuv420p", 1920, 1080));
    let level = Level::best();
    let splats = |n: i64| -> Vec<Splat> {
        let all = right(effect.splats(&format, 1, level, &FrameTime::of_frame(n, Ratio::whole(24))));
        all.into_iter().map(|s| Splat { half: [8; 2], ..s }).collect()
    };
    let styles = vec![SplatStyle::new(right(Shape::disc(1.0)), Blend::Over); 64];
    let painter = right(Painter::new(&format, styles, BlendSpace::Gamma, level));
    let mut bins = Bins::default();
    let mut array = right(CellPma::<Stored>::new((ACROSS * DOWN) as u32, CellSettings::default(), level));
    let first: Vec<(u32, Stored)> = splats(start).iter().map(|s| (tile(s), Stored(*s))).collect();
    let mut batch = CellBatch { inserts: first, ..CellBatch::default() };
    right(array.apply(&batch));
    let mut best = [f64::INFINITY; 2];
    let (mut count, mut moved, mut changed) = (0usize, 0usize, 0usize);
    for n in start + 1..=start + ROUNDS {
        let now = splats(n);
        let mut by_number: BTreeMap<u64, Splat> = now.iter().map(|s| (number(s), *s)).collect();
        let mut slots = vec![];
        array.for_each(|slot, cell, s| slots.push((slot, cell, number(&s.0))));
        for (slot, cell, number) in slots {
            let next = by_number.remove(&number);
            match next {
                Some(next) if tile(&next) == cell => {}
                Some(_) => moved += 1,
                None => changed += 1,
            }
            let s = array.payload_mut(slot);
            s.0 = next.unwrap_or(Splat { opacity: 0, ..s.0 });
        }
        changed += by_number.len();
        count += now.len();
        batch.clear();
        batch.inserts.extend(by_number.values().map(|s| (tile(s), Stored(*s))));
        let per = 1e9 / now.len().max(1) as f64;
        let step = time(|| {
            array.for_each(|slot, cell, s| match tile(&s.0) {
                _ if s.0.opacity == 0 => batch.removes.push(slot),
                to if to == cell => {}
                to => batch.moves.push((slot, to)),
            });
            right(array.apply(&batch));
        });
        let sort = time(|| painter.bin(&now, &mut bins, &CurrentThread));
        black_box(&bins);
        for (best, new) in best.iter_mut().zip([sort, step]) {
            *best = best.min(new * per);
        }
    }
    let share = |n: usize| format!("{:.1} %", 100.0 * n as f64 / count.max(1) as f64);
    sheet.row([
        name.to_owned(),
        (count / ROUNDS as usize).to_string(),
        share(moved),
        share(changed),
        format!("{:.1}", best[0]),
        format!("{:.1}", best[1]),
        format!("{:.2}", best[0] / best[1]),
    ]);
}

fn main() {
    // Built by `cargo test`, too, where it has nothing to do.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let columns =
        ["preset", "seen", "change tile", "come or go", "counting sort, ns", "array, ns", "sort over array"];
    let mut sheet =
        Sheet::new("Splats by tile, from a frame to the next at 24 frames a second, 1080p", &columns);
    for (preset, name) in Preset::VALUES.iter().map(|p| (*p, p.id())) {
        row(name, &Particles::preset(preset), 2400, &mut sheet);
    }
    // More of them, as far as one effect goes.
    for (name, amount) in [("snow", 40.0), ("dust-motes", 100.0), ("starfield", 40.0)] {
        let Some(preset) = Preset::from_id(name) else { panic!("{name} is no preset") };
        let mut many = Particles::preset(preset);
        many.set.amount = grainfield_filters::settings::Animated::Constant(amount);
        row(&format!("{name}, amount {amount}"), &many, 2400, &mut sheet);
    }
    sheet.note("Nanoseconds a splat that is seen, the least of the rounds.");
    sheet.done();
}
