//! What takes grains off the surface: wind that carries them on, and warmth that melts them.

use super::{ASLEEP, Flyer, Forces, Grain, Sand};
use crate::noise::seed::mix64;
use crate::pma::{PmaError, Slot};

/// The velocity of a lifted grain, in parts of the wind's: along it and upwards.
const LIFT: [f32; 2] = [0.7, 0.35];

impl Sand {
    /// Takes the topmost sleeping grains of random columns out of the array; lifted ones fly with the wind.
    pub(super) fn erode(&mut self, forces: &Forces) -> Result<(), PmaError> {
        let mut taken: Vec<(Slot, u32, Grain, bool)> = Vec::new();
        for k in 0..forces.lifted + forces.melted {
            let hash = mix64(forces.seed ^ mix64(forces.number << 24 ^ u64::from(k)));
            let x = (hash >> 40) as f32 * (1.0 / (1u32 << 24) as f32) * self.settings.size[0];
            if let Some((slot, cell, grain)) = self.top(x) {
                taken.push((slot, cell, grain, k < forces.lifted));
            }
        }
        // The first claim to a grain counts.
        taken.sort_by_key(|t| t.0);
        taken.dedup_by_key(|t| t.0);
        self.work.batch.clear();
        for (slot, cell, grain, is_lifted) in taken {
            self.work.batch.removes.push(slot);
            self.cells.leave(cell);
            self.changed[cell as usize >> 6] = true;
            if is_lifted {
                let part = 0.6
                    + 0.8
                        * (mix64(u64::from(grain.id) ^ forces.number) >> 40) as f32
                        * (1.0 / (1u32 << 24) as f32);
                let velocity = [forces.wind * LIFT[0] * part, -forces.wind.abs() * LIFT[1] * part];
                self.flying.push(Flyer { id: grain.id, at: grain.at, velocity });
            } else {
                self.drained += 1;
            }
        }
        self.array.apply(&self.work.batch)
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
