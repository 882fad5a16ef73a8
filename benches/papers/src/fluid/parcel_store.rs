//! The parcels in their packed memory array: in cell order where the grid has a dense table, else in total order.

use super::{FluidError, Grid, Parcel};
use crate::pma::{Batch, Bounds, CellIndex, Pma};
use crate::simd::Level;
use grainfield_filters::host::Executor;
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings, Slot};

#[derive(Clone)]
enum Kind {
    Dense { pma: CellPma<Parcel>, index: CellIndex, batch: CellBatch<Parcel> },
    Open { pma: Pma<u64, Parcel>, index: Vec<Slot>, batch: Batch<u64, Parcel> },
}

/// The parcels. Read in order by cell, then number, as of the last [`ParcelStore::apply_moves`].
#[derive(Clone)]
pub(super) struct ParcelStore(Kind);

impl ParcelStore {
    pub(super) fn new(grid: &Grid, level: Level) -> Result<ParcelStore, FluidError> {
        Ok(ParcelStore(if grid.is_dense() {
            let pma = CellPma::new(grid.numbers(), CellSettings::default(), level)?;
            Kind::Dense { pma, index: CellIndex::default(), batch: CellBatch::default() }
        } else {
            let pma = Pma::new(Bounds::PAPER, level)?;
            Kind::Open { pma, index: Vec::new(), batch: Batch::default() }
        }))
    }

    /// Records a new parcel, to be inserted by the next `apply_moves`.
    pub(super) fn insert(&mut self, number: u64, parcel: Parcel) {
        match &mut self.0 {
            Kind::Dense { batch, .. } => batch.inserts.push((number as u32, parcel)),
            Kind::Open { batch, .. } => batch.inserts.push((number, parcel)),
        }
    }

    /// The parcels' slots, in order.
    pub(super) fn slots(&self) -> &[Slot] {
        match &self.0 {
            Kind::Dense { index, .. } => &index.slots,
            Kind::Open { index, .. } => index,
        }
    }

    /// The parcel in a slot that `slots` named.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut Parcel> {
        match &mut self.0 {
            Kind::Dense { pma, .. } => Some(pma.payload_mut(slot)),
            Kind::Open { pma, .. } => pma.get_mut(slot),
        }
    }

    /// Records that a parcel changes its cell.
    #[inline(always)]
    pub(super) fn go(&mut self, slot: Slot, number: u64) {
        match &mut self.0 {
            Kind::Dense { batch, .. } => batch.moves.push((slot, number as u32)),
            Kind::Open { batch, .. } => batch.moves.push((slot, number)),
        }
    }

    /// Inserts new parcels, and moves those that change cells; returns their number. Slots change.
    pub(super) fn apply_moves(&mut self, executor: &dyn Executor) -> Result<usize, FluidError> {
        match &mut self.0 {
            Kind::Dense { batch, .. } if batch.is_empty() => Ok(0),
            Kind::Dense { pma, batch, .. } => {
                pma.apply(batch)?;
                let n = batch.len();
                batch.clear();
                Ok(n)
            }
            Kind::Open { pma, batch, .. } => {
                pma.apply(batch, executor)?;
                let n = batch.len();
                batch.clear();
                Ok(n)
            }
        }
    }

    /// Builds the list of slots.
    pub(super) fn index(&mut self) {
        match &mut self.0 {
            Kind::Dense { pma, index, .. } => index.fill(pma),
            Kind::Open { pma, index, .. } => pma.indirection(index),
        }
    }

    /// The parcels in order, with their cells' numbers.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = (u64, &Parcel)> + '_> {
        match &self.0 {
            Kind::Dense { pma, index, .. } => {
                let ends = index.cells.iter().skip(1).map(|c| c.1).chain([index.slots.len() as u32]);
                let runs = index.cells.iter().zip(ends);
                Box::new(runs.flat_map(move |((cell, from), to)| {
                    let slots = &index.slots[*from as usize..to as usize];
                    slots.iter().map(move |slot| (u64::from(*cell), pma.payload(*slot)))
                }))
            }
            Kind::Open { pma, .. } => Box::new(pma.iter()),
        }
    }
}
