//! Cell order: payloads that stay in their slots, in segments of 256, each segment the home of a stretch of cells.
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

/// Slots of a segment.
const WIDE: usize = 256;
/// The tag of a free slot.
const FREE: u8 = 255;
/// How many cells a segment may reach over: one tag is taken.
const SPAN: u32 = 255;
/// Most cells: the table of routes takes four bytes each.
const MAX_CELLS: u32 = 1 << 28;
/// In [`Head::next`]: the run has no room.
const NO_ROOM: u32 = u32::MAX;

/// How full a [`CellPma`] may be, and when it is built anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSettings {
    /// Bounds of density. The lower bound of a segment is not kept: cells lie where they lie.
    pub bounds: Bounds,
    /// How full segments are made when all is built anew; between `rhoh` and `tauh`.
    pub fill: f64,
    /// From this share of elements on the move (or new), all is built anew, 0..=1.
    pub rebuild: f64,
    /// The same for payloads of up to [`SMALL`](CellSettings::SMALL) bytes in all, 0..=1: what fits into the caches is
    /// built anew in less time.
    pub rebuild_small: f64,
}

impl Default for CellSettings {
    fn default() -> CellSettings {
        CellSettings { bounds: Bounds::CELLS, fill: 0.85, rebuild: 0.28, rebuild_small: 0.18 }
    }
}

impl CellSettings {
    /// Bytes of payloads up to which `rebuild_small` holds: 8 MiB.
    pub const SMALL: usize = 8 << 20;

    /// Checks the bounds and shares.
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

    /// The share from which so many elements of `size` bytes are built anew.
    fn share_of(&self, len: usize, size: usize) -> f64 {
        if len.saturating_mul(size) <= Self::SMALL { self.rebuild_small } else { self.rebuild }
    }

    /// Elements of a segment when all is built anew.
    fn target(&self) -> usize {
        ((self.fill * WIDE as f64) as usize).clamp(2, WIDE)
    }

    /// The most elements of a segment when all is built anew.
    fn most(&self) -> usize {
        (self.bounds.tauh * WIDE as f64) as usize
    }
}

/// What is known of a segment beside its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    /// Tags count from this cell; bases never fall from segment to segment.
    base: u32,
    /// How many cells from `base` on may live here: [`SPAN`], or 1 in a run.
    span: u32,
    /// In the last segment of a run, how many it has; else 1.
    run: u32,
    /// In the last segment of a run, where to look for room first, or [`NO_ROOM`].
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
    /// How many there were when all was last built anew.
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

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many cells there are, empty or not.
    pub fn cells(&self) -> u32 {
        self.route.len() as u32
    }

    /// How many slots there are, in use or not.
    pub fn slots(&self) -> usize {
        self.masks.len() * WIDE
    }

    /// How full the whole is.
    pub fn density(&self) -> f64 {
        self.len as f64 / self.slots().max(1) as f64
    }

    /// The settings it keeps to.
    pub fn settings(&self) -> &CellSettings {
        &self.settings
    }

    /// The instruction set it works with.
    pub fn level(&self) -> Level {
        self.level
    }

    /// How many times a payload has been written to a slot since the array was made.
    pub fn element_moves(&self) -> u64 {
        self.moves
    }

    /// Validity: bit `i` of word `w` says whether slot `64 w + i` holds an element.
    pub fn validity(&self) -> &[u64] {
        self.masks.as_flattened()
    }

    /// Removes all, keeping the room.
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

    /// The payload in a slot, to be changed in anything but its rank.
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

/// How many segments ahead of the one being read memory is asked for: left to itself, the machine was seen to wait
/// for every line of a walk that stops at each gap to think.
const AHEAD: usize = 2;

/// Asks for the memory of all of `items`.
#[inline(always)]
fn prefetch_all<T>(items: &[T]) {
    let step = (64 / size_of::<T>().max(1)).max(1);
    items.iter().step_by(step).for_each(prefetch);
}

/// Asks for the payloads of the segment [`AHEAD`] of `segment`, a word's at a time.
#[inline(always)]
fn prefetch_ahead<P>(slots: &[P], segment: usize, word: usize) {
    let from = (segment + AHEAD) * WIDE + 64 * word;
    if let Some(items) = slots.get(from..from + 64) {
        prefetch_all(items);
    }
}

/// Calls `f(slot, tag)` for the slots in use of one word, `tags` being its tags.
#[inline(always)]
fn in_word(word: u64, tags: &[u8], mut f: impl FnMut(usize, u8)) {
    let tags = &tags[..64];
    if word == u64::MAX {
        // Most are full, and a loop without a test is quicker.
        tags.iter().enumerate().for_each(|(i, tag)| f(i, *tag));
    } else {
        // Bit by bit: tests of tags would be guessed wrong where many elements have just left.
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
