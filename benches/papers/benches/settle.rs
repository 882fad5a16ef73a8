//! Putting the parcels of the fluid in order: a stable counting sort of all beside the packed memory array, at the
//! rates at which parcels of a breaking dam change cells from step to step.
//!
//! `cargo bench -p grainfield-papers --bench settle [-- steps=N]`. Both sides end with the same columns in the same order: by cell, then by
//! number. The array moves those that change cells and is then read in order; "its moves alone" leaves the reading out,
//! which nothing that sums over runs of cells can. Nanoseconds a parcel, the least of all steps and their median, in
//! this thread's processor time; "sums and move" is the rest of the step.
#![allow(unsafe_code)] // the clock is a foreign function
#![allow(missing_docs, unreachable_pub)]

#[path = "../../rows/mod.rs"]
mod rows;
#[path = "../../timing/mod.rs"]
mod timing;

use grainfield_filters::host::CurrentThread;
use grainfield_filters::particle::fluid::{Fluid2d, Fluid2dSettings};
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings};
use grainfield_filters::simd::Level;
use grainfield_papers::fluid::Parcel;
use grainfield_papers::pma::CellIndex;
use rows::Sheet;
use timing::{median, time};

const RADIUS: f32 = 1.9;

/// A dam over two fifths of a frame of 16:9, as the filter makes it.
fn dam(count: usize) -> (Fluid2dSettings, Vec<[f32; 4]>) {
    let spacing = (0.4 * 0.86 * 16.0 / 9.0 / count as f32).sqrt();
    let (radius, sound) = (RADIUS * spacing, 2.3 * 1.6f32.sqrt());
    let viscosity = 0.012 * radius * sound;
    let max_step = Fluid2d::max_step(radius, sound, viscosity);
    let steps = ((1.0 / 24.0 / max_step / 2.0) as u32 + 1) * 2;
    let rate = sound / radius;
    let size = [16.0 / 9.0 + 6.0 * spacing, 1.6 + 3.0 * spacing];
    let set = Fluid2dSettings {
        size,
        spacing,
        radius,
        gravity: 1.6,
        sound,
        viscosity,
        cohesion: 0.015 * rate * rate,
        step: 1.0 / 24.0 / steps as f32,
        max_speed: 1.3 * sound,
    };
    let across = (0.4 * 16.0 / 9.0 / spacing) as usize;
    let parcels = (0..count)
        .map(|i| {
            let aside = 0.1 * ((i * 7919 % 101) as f32 / 101.0 - 0.5);
            let place = |k: usize| (k as f32 + 0.5 + aside) * spacing;
            [3.0 * spacing + place(i % across), (size[1] - place(i / across)).max(0.0), 0.0, 0.0]
        })
        .collect();
    (set, parcels)
}

/// What a step reads: ids, cells, places and velocities, in order.
#[derive(Default)]
struct Columns {
    ids: Vec<u32>,
    cells: Vec<u32>,
    floats: [Vec<f32>; 4],
    starts: Vec<u32>,
}

/// The rival: parcels in a packed memory array in cell order.
struct Packed {
    pma: CellPma<Parcel>,
    batch: CellBatch<Parcel>,
    index: CellIndex,
    read: Columns,
}

impl Packed {
    /// New places and velocities into the array, and those that change cells to where they belong.
    fn apply(&mut self, by_id: &[[f32; 4]], cell: impl Fn(&[f32; 4]) -> u32) -> usize {
        self.batch.clear();
        for (slot, (id, held)) in self.index.slots.iter().zip(self.read.ids.iter().zip(&self.read.cells)) {
            let new = &by_id[*id as usize];
            let goal = cell(new);
            if goal != *held {
                self.batch.moves.push((*slot, goal));
            }
            let parcel = self.pma.payload_mut(*slot);
            parcel.pos = [new[0], new[1], 0.0];
            parcel.vel = [new[2], new[3], 0.0];
        }
        self.pma.apply(&self.batch).unwrap_or_else(|e| panic!("{e}"));
        self.batch.moves.len()
    }

    /// Reads the array in order.
    fn read(&mut self) {
        self.index.fill(&self.pma);
        let Columns { ids, cells, floats, starts } = &mut self.read;
        ids.clear();
        cells.clear();
        floats.iter_mut().for_each(Vec::clear);
        starts.clear();
        let ends = self.index.cells.iter().skip(1).map(|c| c.1).chain([self.index.slots.len() as u32]);
        for ((cell, from), to) in self.index.cells.iter().zip(ends) {
            starts.resize(*cell as usize + 1, *from);
            for slot in &self.index.slots[*from as usize..to as usize] {
                let p = self.pma.payload(*slot);
                ids.push(p.id);
                cells.push(*cell);
                let values = [p.pos[0], p.pos[1], p.vel[0], p.vel[1]];
                floats.iter_mut().zip(values).for_each(|(column, v)| column.push(v));
            }
        }
    }
}

fn main() {
    let asked = std::env::args().find_map(|a| a.strip_prefix("steps=")?.parse().ok());
    let mut sheet = Sheet::new(
        "The fluid's order: counting sort and packed memory array, ns a parcel".to_owned(),
        &[
            "parcels",
            "change cells",
            "counting sort",
            "array",
            "its moves alone",
            "array / sort",
            "sums and move",
        ],
    );
    for count in [1_000, 3_000, 12_000, 30_000, 100_000, 200_000] {
        let steps = asked.unwrap_or(if count > 50_000 { 100 } else { 400 });
        let (set, parcels) = dam(count);
        let mut flat = Fluid2d::new(set, None, &parcels, 0, Level::best()).unwrap_or_else(|e| panic!("{e}"));
        // Until it has fallen.
        for _ in 0..24 * (1.0 / 24.0 / set.step) as u32 {
            flat.sort_by_cell(&[], &CurrentThread);
            flat.step(&CurrentThread);
        }
        let inv = 1.0 / (set.radius * (1.0 + 1.0 / 1024.0));
        let [w, h] = set.size.map(|v| (v * inv) as u32 + 1);
        let cell = |p: &[f32; 4]| ((p[1] * inv) as u32).min(h - 1) * w + ((p[0] * inv) as u32).min(w - 1);
        let pma =
            CellPma::new(w * h, CellSettings::default(), Level::best()).unwrap_or_else(|e| panic!("{e}"));
        let (batch, index) = (CellBatch::default(), CellIndex::default());
        let mut packed = Packed { pma, batch, index, read: Columns::default() };
        for (id, p) in (0..).zip(flat.parcels()) {
            let parcel = Parcel { id, pos: [p[0], p[1], 0.0], vel: [p[2], p[3], 0.0], spare: 0 };
            packed.batch.inserts.push((cell(&p), parcel));
        }
        packed.pma.apply(&packed.batch).unwrap_or_else(|e| panic!("{e}"));
        packed.read();
        let (mut sort, mut array, mut moves, mut rest) = (vec![], vec![], vec![], vec![]);
        let (mut ratios, mut moved) = (vec![], 0);
        for _ in 0..steps {
            rest.push(time(|| flat.step(&CurrentThread)));
            let by_id = flat.parcels();
            sort.push(time(|| flat.sort_by_cell(&[], &CurrentThread)));
            let apply = time(|| moved += packed.apply(&by_id, cell));
            let read = time(|| packed.read());
            moves.push(apply);
            array.push(apply + read);
            ratios.push((apply + read) / sort[sort.len() - 1]);
            assert!(flat.places().map(|p| p.0).eq(packed.read.ids.iter().copied()), "the same order");
        }
        let ns = |v: &[f64]| {
            let each = 1e9 / count as f64;
            let least = v.iter().copied().fold(f64::INFINITY, f64::min);
            format!("{:.2} ({:.2})", least * each, median(v.iter().copied()) * each)
        };
        sheet.row([
            count.to_string(),
            format!("{:.1} %", 100.0 * moved as f64 / (count * steps) as f64),
            ns(&sort),
            ns(&array),
            ns(&moves),
            format!("{:.2}x", median(ratios)),
            ns(&rest),
        ]);
    }
    sheet.note("The least of all steps, and their median in brackets.");
    sheet.done();
}
