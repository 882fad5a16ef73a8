//! Cell order: payloads stay in their slots, in segments of 256; each segment holds the elements of a range of cells.
//!
//! A slot has a tag byte: its cell, counted from the segment's base, or 255 for a free slot. Nothing is sorted inside
//! a segment; the slots of a cell are found by comparing 256 bytes. A table leads from a cell to its segment, so
//! moving an element writes one payload, one byte and two bits. Cells of one segment lie within 255 of its base. A
//! cell is never split over segments, except one too large for a segment: it has a *run* of segments to itself.
//!
//! A segment that overflows waits until the end of the batch; then the smallest window around it that has room is
//! laid out anew by a counting sort, and if even the whole has none, or if so many elements move that it is cheaper,
//! everything is.

mod batch;
mod check;
mod layout;
mod partition;
mod read;
mod rebalance;
mod rebuild;
mod scatter;
#[cfg(test)]
mod tests;
mod workspace;

use super::{Bounds, BoundsError, MAX_SLOTS, PmaError, Ranked, Slot};
use crate::simd::{Level, prefetch};
pub use batch::{CellBatch, UpdateAction};
pub use read::CellIndex;
use workspace::Workspace;

/// Slots per segment.
const WIDE: usize = 256;
/// The tag of a free slot.
const FREE: u8 = 255;
/// The largest number of cells of a segment: one tag is reserved.
const SPAN: u32 = 255;
/// The largest number of cells: the table of routes takes four bytes each.
const MAX_CELLS: u32 = 1 << 28;
/// In [`Head::next`]: the run has no free slots.
const NO_ROOM: u32 = u32::MAX;

/// The density of a [`CellPma`], and the conditions of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSettings {
    /// Bounds of density. The lower bound of a segment is not enforced: segments follow the cells.
    pub bounds: Bounds,
    /// The density after a rebuild; between `rhoh` and `tauh`.
    pub fill: f64,
    /// The fraction of moving and new elements from which the whole array is rebuilt, 0..=1.
    pub rebuild: f64,
    /// The same for payloads of up to [`SMALL`](CellSettings::SMALL) bytes in total, 0..=1: a rebuild within the
    /// caches is faster.
    pub rebuild_small: f64,
}

impl Default for CellSettings {
    fn default() -> CellSettings {
        CellSettings { bounds: Bounds::CELLS, fill: 0.85, rebuild: 0.28, rebuild_small: 0.18 }
    }
}

impl CellSettings {
    /// The largest size of payloads in bytes for `rebuild_small`: 8 MiB.
    pub const SMALL: usize = 8 << 20;

    /// Checks the bounds and fractions.
    pub fn check(&self) -> Result<(), BoundsError> {
        self.bounds.check(WIDE)?;
        let share = |name, value: f64, low, high| {
            let inside = low <= value && value <= high;
            if inside { Ok(()) } else { Err(BoundsError::Share { name, value, low, high }) }
        };
        share("fill", self.fill, self.bounds.rhoh, self.bounds.tauh)?;
        share("rebuild", self.rebuild, 0.0, 1.0)?;
        share("rebuild_small", self.rebuild_small, 0.0, 1.0)
    }

    /// The fraction of moving elements of `size` bytes from which the array is rebuilt.
    fn share_of(&self, len: usize, size: usize) -> f64 {
        if len.saturating_mul(size) <= Self::SMALL { self.rebuild_small } else { self.rebuild }
    }

    /// Elements per segment after a rebuild.
    fn target(&self) -> usize {
        ((self.fill * WIDE as f64) as usize).clamp(2, WIDE)
    }

    /// The largest number of elements per segment after a rebuild.
    fn most(&self) -> usize {
        (self.bounds.tauh * WIDE as f64) as usize
    }
}

/// The data of a segment besides its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    /// Tags count from this cell; bases are nondecreasing.
    base: u32,
    /// The number of cells from `base` on whose elements may be here: [`SPAN`], or 1 in a run.
    span: u32,
    /// In the last segment of a run, the length of the run; otherwise 1.
    run: u32,
    /// In the last segment of a run, where to search for free slots first, or [`NO_ROOM`].
    next: u32,
}

type Mask = [u64; WIDE / 64];

/// A packed memory array in cell order.
///
/// Cells are numbered from 0; to have near cells near in memory, number them along a Z-curve. For domains of more
/// than 2^28 cells, most of them empty, use [`Pma`](super::Pma) with the cell as its key.
#[derive(Clone)]
pub struct CellPma<P: Ranked> {
    settings: CellSettings,
    level: Level,
    slots: Vec<P>,
    tags: Vec<u8>,
    masks: Vec<Mask>,
    heads: Vec<Head>,
    /// The last segment whose base is not after the cell, or the first.
    route: Vec<u32>,
    len: usize,
    /// The number of elements at the last rebuild.
    built: usize,
    moves: u64,
    work: Workspace<P>,
}

impl<P: Ranked> CellPma<P> {
    /// An empty array for `cells` cells.
    ///
    /// # Errors
    /// [`PmaError::Bounds`] for settings that cannot be used, [`PmaError::TooMany`] for more than 2^28 cells.
    pub fn new(cells: u32, settings: CellSettings, level: Level) -> Result<Self, PmaError> {
        settings.check()?;
        if cells > MAX_CELLS {
            return Err(PmaError::TooMany { len: cells as usize, most: MAX_CELLS as usize });
        }
        Ok(CellPma {
            settings,
            level,
            slots: Vec::new(),
            tags: Vec::new(),
            masks: Vec::new(),
            heads: Vec::new(),
            route: vec![0; cells as usize],
            len: 0,
            built: 0,
            moves: 0,
            work: Workspace::default(),
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of cells, empty or not.
    pub fn cells(&self) -> u32 {
        self.route.len() as u32
    }

    /// The number of slots, in use or not.
    pub fn slots(&self) -> usize {
        self.masks.len() * WIDE
    }

    /// The density of the whole array.
    pub fn density(&self) -> f64 {
        self.len as f64 / self.slots().max(1) as f64
    }

    /// The settings.
    pub fn settings(&self) -> &CellSettings {
        &self.settings
    }

    /// The instruction set.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The number of times that a payload has been written to a slot since the array was created.
    pub fn element_moves(&self) -> u64 {
        self.moves
    }

    /// Validity: bit `i` of word `w` says whether slot `64 w + i` holds an element.
    pub fn validity(&self) -> &[u64] {
        self.masks.as_flattened()
    }

    /// Removes all elements and keeps the memory.
    pub fn clear(&mut self) {
        self.masks.clear();
        self.heads.clear();
        self.tags.clear();
        self.slots.clear();
        self.route.fill(0);
        self.len = 0;
        self.built = 0;
    }

    /// The cell and payload in a slot.
    pub fn get(&self, slot: Slot) -> Option<(u32, &P)> {
        let at = self.held(slot)?;
        Some((self.cell_at(at), &self.slots[at]))
    }

    /// The payload of a slot, for changes except to its rank.
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut P> {
        let at = self.held(slot)?;
        Some(&mut self.slots[at])
    }

    fn held(&self, slot: Slot) -> Option<usize> {
        let at = slot as usize;
        (*self.tags.get(at)? != FREE).then_some(at)
    }

    #[inline(always)]
    fn cell_at(&self, at: usize) -> u32 {
        self.heads[at / WIDE].base + u32::from(self.tags[at])
    }

    fn count(&self, segment: usize) -> usize {
        count(&self.masks[segment])
    }
}

#[inline(always)]
fn count(mask: &Mask) -> usize {
    mask.iter().map(|m| m.count_ones() as usize).sum()
}

/// A mask of the lowest `n` slots.
fn lowest(n: usize) -> Mask {
    core::array::from_fn(|w| match n.saturating_sub(64 * w) {
        k if k >= 64 => u64::MAX,
        k => (1 << k) - 1,
    })
}

/// The prefetch distance in segments: in measurements, the hardware prefetcher stopped at every gap.
const AHEAD: usize = 2;

/// Prefetches all of `items`.
#[inline(always)]
fn prefetch_all<T>(items: &[T]) {
    let step = (64 / size_of::<T>().max(1)).max(1);
    items.iter().step_by(step).for_each(prefetch);
}

/// Prefetches the payloads of the segment [`AHEAD`] of `segment`, those of one mask word at a time.
#[inline(always)]
fn prefetch_ahead<P>(slots: &[P], segment: usize, word: usize) {
    let from = (segment + AHEAD) * WIDE + 64 * word;
    if let Some(items) = slots.get(from..from + 64) {
        prefetch_all(items);
    }
}

/// Calls `f(slot, tag)` for the slots in use of one word, whose tags are `tags`.
#[inline(always)]
fn in_word(word: u64, tags: &[u8], mut f: impl FnMut(usize, u8)) {
    let tags = &tags[..64];
    if word == u64::MAX {
        // Most words are full, and a loop without a test is faster.
        tags.iter().enumerate().for_each(|(i, tag)| f(i, *tag));
    } else {
        // Bit by bit: branches on tags would be mispredicted where many elements have just left.
        let mut rest = word;
        while rest != 0 {
            let i = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            f(i, tags[i]);
        }
    }
}

/// Calls `f(slot, tag, payload)` for the slots in use of every segment, in slot order.
#[inline(always)]
fn walk<P>(masks: &[Mask], tags: &[u8], slots: &[P], mut f: impl FnMut(usize, usize, u8, &P)) {
    for (segment, mask) in masks.iter().enumerate() {
        for (w, word) in mask.iter().enumerate() {
            prefetch_ahead(slots, segment, w);
            let at = segment * WIDE + 64 * w;
            let items = &slots[at..at + 64];
            in_word(*word, &tags[at..at + 64], |i, tag| f(segment, at + i, tag, &items[i]));
        }
    }
}

impl<P: Ranked> core::fmt::Debug for CellPma<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut d = f.debug_struct("CellPma");
        d.field("len", &self.len).field("cells", &self.cells()).field("slots", &self.slots());
        d.finish_non_exhaustive()
    }
}
