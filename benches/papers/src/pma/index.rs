//! The indirection list of the paper for an array in cell order.

use grainfield_filters::pma::{CellPma, Ranked, Slot};

/// The slots of a [`CellPma`] in reading order, and the start of each cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellIndex {
    /// Cells that are not empty, ascending, and the index in `slots` where each begins.
    pub cells: Vec<(u32, u32)>,
    /// All slots in use, by cell, then by rank.
    pub slots: Vec<Slot>,
}

impl CellIndex {
    /// Lists all elements of an array.
    pub fn fill<P: Ranked>(&mut self, pma: &CellPma<P>) {
        self.cells.clear();
        self.slots.clear();
        self.slots.reserve(pma.len());
        let mut last = None;
        pma.read(0..pma.cells(), |cell, slot, _| {
            if last != Some(cell) {
                self.cells.push((cell, self.slots.len() as u32));
                last = Some(cell);
            }
            self.slots.push(slot);
        });
    }
}
