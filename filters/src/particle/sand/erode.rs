//! Erosion: wind lifts grains off the surface, warmth melts them, jolts throw them up, and a drain swallows them.

use super::{ASLEEP, Flyer, Forces, Grain, Sand};
use crate::noise::seed::mix64;
use crate::pma::{PmaError, Slot};

/// The change of the topmost grain of a column.
#[derive(Clone, Copy)]
enum Change {
    Lifted,
    Melted,
    Shaken,
}

/// The velocity of a lifted grain, in parts of the wind's: along it and upwards.
const LIFT: [f32; 2] = [0.7, 0.35];

impl Sand {
    /// Takes the topmost sleeping grains of random columns out of the array; lifted ones fly with the wind.
    pub(super) fn erode(&mut self, forces: &Forces) -> Result<(), PmaError> {
        let mut taken: Vec<(Slot, u32, Grain, Change)> = Vec::new();
        let changes = [
            (Change::Lifted, forces.lifted),
            (Change::Melted, forces.melted),
            (Change::Shaken, forces.shaken),
        ];
        let changes = changes.iter().flat_map(|(change, count)| (0..*count).map(|_| *change));
        for (k, change) in (0u32..).zip(changes) {
            let hash = mix64(forces.seed ^ mix64(forces.number << 24 ^ u64::from(k)));
            let x = (hash >> 40) as f32 * (1.0 / (1u32 << 24) as f32) * self.settings.size[0];
            if let Some((slot, cell, grain)) = self.top(x) {
                taken.push((slot, cell, grain, change));
            }
        }
        // If several changes choose a grain, the first applies.
        taken.sort_by_key(|t| t.0);
        taken.dedup_by_key(|t| t.0);
        self.work.batch.clear();
        for (slot, cell, grain, change) in taken {
            self.work.batch.removes.push(slot);
            self.cells.leave(cell);
            self.changed[cell as usize >> 6] = true;
            let hash = mix64(u64::from(grain.id) ^ forces.number);
            let [part, aside] =
                [hash, mix64(hash)].map(|h| 0.6 + 0.8 * (h >> 40) as f32 * (1.0 / (1u32 << 24) as f32));
            let velocity = match change {
                Change::Lifted => [forces.wind * LIFT[0] * part, -forces.wind.abs() * LIFT[1] * part],
                Change::Shaken => [forces.jolt * (aside - 1.0), -forces.jolt * part],
                Change::Melted => {
                    self.drained += 1;
                    continue;
                }
            };
            self.flying.push(Flyer { id: grain.id, at: grain.at, velocity });
        }
        self.array.apply(&self.work.batch)
    }

    /// Opens a hole in the floor, and wakes the grains on it.
    pub(super) fn drain_to(&mut self, drain: [f32; 2]) {
        let floor = self.settings.size[1];
        let mut woken: Vec<(Slot, u32)> = Vec::new();
        let ([left, top], [right, bottom]) =
            (self.cells.column_row([drain[0], floor - 2.0]), self.cells.column_row([drain[1], floor]));
        for cell in (top..=bottom).flat_map(|y| (left..=right).map(move |x| (x, y))) {
            let cell = self.cells.cell(cell.0, cell.1);
            self.array.read(cell..cell + 1, |cell, slot, grain| {
                if grain.still >= ASLEEP {
                    woken.push((slot, cell));
                }
            });
        }
        woken.into_iter().for_each(|(slot, cell)| self.wake(slot, cell));
        self.sort_active();
        self.open(drain);
    }

    /// The topmost grain of the column of cells at a place, if it sleeps.
    fn top(&self, x: f32) -> Option<(Slot, u32, Grain)> {
        let [column, last] = self.cells.column_row([x, self.settings.size[1]]);
        let mut found: Option<(Slot, u32, Grain)> = None;
        for row in (0..=last).step_by(4) {
            if !self.cells.block_holds(self.cells.cell(column, row) / 16).0 {
                continue;
            }
            for y in row..(row + 4).min(last + 1) {
                let cell = self.cells.cell(column, y);
                self.array.read(cell..cell + 1, |cell, slot, grain| {
                    if found.is_none_or(|(.., top)| grain.at[1] < top.at[1]) {
                        found = Some((slot, cell, *grain));
                    }
                });
                if found.is_some() {
                    return found.filter(|(.., grain)| grain.still >= ASLEEP);
                }
            }
        }
        None
    }
}
