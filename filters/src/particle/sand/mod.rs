//! Granular matter: grains that fall, pile up at their angle of repose, and sleep.
//!
//! Grains at rest and those that touch others are in a packed memory array ([`CellPma`]) by cells in Z order; grains in
//! flight are in a list. A step reads the blocks of cells around moving grains, moves the awake grains in short steps, and
//! writes changed grains back; sleeping grains elsewhere cost nothing.
//!
//! | module | contents |
//! |---|---|
//! | `grain` | grains and flyers |
//! | `solids` | floor, walls and obstacles |
//! | `cells` | the grid of a step |
//! | `flight` | grains in flight, and landing |
//! | `contact` | contacts of the awake grains |
//! | `slope` | the slope of a pile's surface |
//! | `erode` | wind and warmth that take grains off the surface, jolts, and the drain |
//! | `step` | one step of all grains |
//!
//! **Units:** lengths are in diameters of the largest grain, times in seconds; y grows downwards; the frame starts at the
//! origin.
//!
//! **Order:** the result of a step depends on the grains by cell and number only, not on the history of the array, the
//! number of threads or the SIMD level.

mod cells;
mod contact;
mod erode;
mod flight;
mod grain;
mod slope;
mod solids;
mod step;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use crate::pma::{CellBatch, CellPma, CellSettings, PmaError};
use crate::simd::Level;
pub use cells::BORDER;
use cells::Cells;
pub use grain::{Flyer, Grain, radius};
pub use solids::Solids;
use step::Workspace;

/// A grain sleeps after a quarter of this many steps without motion, or after this many of creeping.
pub const ASLEEP: u16 = 24;

/// In [`Sand::items`]: the mark of a flyer.
const FLIES: u32 = ASLEEP as u32 + 1;
/// The mark of a grain that is carried.
const CARRIED: u32 = 1 << 8;

/// The properties of a scene.
#[derive(Clone, Debug)]
pub struct SandSettings {
    /// The size of the frame in diameters.
    pub size: [f32; 2],
    /// Seconds per step.
    pub step: f32,
    /// The obstacles.
    pub solids: Solids,
}

/// The forces on the grains in a step.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Forces {
    /// Diameters per second squared.
    pub gravity: f32,
    /// The tangent of the angle of repose, .55 to 1.2.
    pub friction: f32,
    /// Drag of the air: the part of a flyer's velocity, relative to the air, that it loses per second.
    pub drag: f32,
    /// Velocity of the air to the right, in diameters a second.
    pub wind: f32,
    /// Velocity of the swirls in the air.
    pub gusts: f32,
    /// Columns from which the wind lifts the topmost grain in this step, chosen at random.
    pub lifted: u32,
    /// Columns of which the topmost grain melts.
    pub melted: u32,
    /// Columns of which the topmost grain is thrown up.
    pub shaken: u32,
    /// Its velocity.
    pub jolt: f32,
    /// The start and the end of the hole in the floor.
    pub drain: [f32; 2],
    /// The time of the step in seconds, which moves the swirls.
    pub time: f32,
    /// The seed of the swirls.
    pub seed: u64,
    /// The number of the step, for the choice of columns.
    pub number: u64,
}

/// The grains of a scene.
#[derive(Clone)]
pub struct Sand {
    settings: SandSettings,
    array: CellPma<Grain>,
    /// The grains in flight, by number.
    flying: Vec<Flyer>,
    cells: Cells,
    /// Blocks of 4 x 4 cells with awake grains, ascending.
    active: Vec<u32>,
    /// Squares of 8 x 8 cells in which something has changed since the last call of [`Sand::take_changed`].
    changed: Vec<bool>,
    work: Workspace,
    drained: u64,
}

impl Sand {
    /// An empty scene.
    ///
    /// # Errors
    /// The frame has too many cells.
    pub fn new(settings: SandSettings, level: Level) -> Result<Sand, PmaError> {
        let cells = Cells::new(settings.size, &settings.solids);
        let array =
            CellPma::new(cells.count(), CellSettings { fill: 0.7, ..CellSettings::default() }, level)?;
        let changed = vec![false; cells.count() as usize / 64];
        let (flying, active) = (Vec::new(), Vec::new());
        Ok(Sand { settings, array, flying, cells, active, changed, work: Workspace::default(), drained: 0 })
    }

    /// The grains in flight, by number.
    pub fn flying(&self) -> &[Flyer] {
        &self.flying
    }

    /// The number of grains at rest or awake.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there are none of them.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// The number of grains that have left the frame since this scene was made.
    pub fn drained(&self) -> u64 {
        self.drained
    }

    /// Calls `f` with the grains of a range of cells, by cell and number. Cells are numbered in Z order from [`BORDER`]
    /// diameters above and to the left of the frame.
    pub fn read(&self, cells: core::ops::Range<u32>, mut f: impl FnMut(&Grain)) {
        self.array.read(cells, |_, _, grain| f(grain));
    }

    /// Calls `f` with the number of each square of 8 x 8 cells in which something has changed since the last call.
    pub fn take_changed(&mut self, mut f: impl FnMut(u32)) {
        for (square, changed) in (0..).zip(&mut self.changed) {
            if core::mem::take(changed) {
                f(square);
            }
        }
    }

    /// The start and the end of the hole in the floor, since the last step.
    pub fn drain(&self) -> [f32; 2] {
        self.settings.solids.drain
    }

    /// Opens the floor from one place to another, and closes it elsewhere. Grains do not wake.
    pub fn open(&mut self, drain: [f32; 2]) {
        let old = core::mem::replace(&mut self.settings.solids.drain, drain);
        if old != drain {
            let [from, to] = [old[0].min(drain[0]), old[1].max(drain[1])];
            self.cells.mark_floor([from, to], &self.settings.solids);
        }
    }

    /// The state as numbers: each grain by cell and number, then each flyer by number. The number of a grain and its steps
    /// without motion are stored as bits.
    pub fn items(&self) -> Vec<[f32; 6]> {
        let mut items = Vec::with_capacity(self.array.len() + self.flying.len());
        self.read(0..self.cells.count(), |grain| {
            let ([x, y], [vx, vy]) = (grain.at, grain.velocity);
            let carried = if grain.is_carried { CARRIED } else { 0 };
            let marks = u32::from(grain.still.min(ASLEEP)) | carried;
            items.push([f32::from_bits(grain.id), x, y, vx, vy, f32::from_bits(marks)]);
        });
        items.extend(self.flying.iter().map(|flyer| {
            let ([x, y], [vx, vy]) = (flyer.at, flyer.velocity);
            [f32::from_bits(flyer.id), x, y, vx, vy, f32::from_bits(FLIES)]
        }));
        items
    }

    /// Replaces all grains by those of [`Sand::items`]. False if they are not from a scene like this one; then the scene
    /// has no meaning.
    pub fn restore(&mut self, items: &[[f32; 6]]) -> bool {
        self.array.clear();
        self.flying.clear();
        self.active.clear();
        self.cells.clear();
        self.changed.fill(true);
        let mut batch = CellBatch::default();
        for [id, x, y, vx, vy, marks] in items {
            let (id, at, velocity, marks) = (id.to_bits(), [*x, *y], [*vx, *vy], marks.to_bits());
            if marks == FLIES {
                self.flying.push(Flyer { id, at, velocity });
                continue;
            }
            let (still, is_carried) = ((marks % CARRIED) as u16, marks >= CARRIED);
            if still > ASLEEP || !cells::is_inside(at, self.settings.size) {
                return false;
            }
            let cell = self.cells.number(at);
            self.cells.enter(cell);
            if still < ASLEEP {
                self.active.push(cell / 16);
            }
            batch.inserts.push((cell, Grain { id, at, velocity, still, is_carried }));
        }
        self.active.sort_unstable();
        self.active.dedup();
        self.flying.is_sorted_by_key(|flyer| flyer.id) && self.array.apply(&batch).is_ok()
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.array.memory() + self.cells.bytes() + self.flying.len() * size_of::<Flyer>() + self.work.bytes()
    }
}
