//! A packed memory array: elements kept in the order of their cells, in an array with gaps, so that moving a few of
//! many is fast.
//!
//! After M. Durand, B. Raffin, F. Faure, *A Packed Memory Array to Keep Moving Particles Sorted* (2012), which extends
//! Bender's structure by batches. Here, payloads stay in their slots until their cells change.
//!
//! **Segments.** The array is divided into segments of 256 slots. A segment holds the elements of a range of at most
//! 255 cells, in any of its slots: a tag byte per slot is the cell, counted from the first cell of the segment, or 255
//! for a free slot. A table leads from a cell to its segment, so moving an element writes one payload, one byte and two
//! bits. A cell is never split over segments, except one too large for a segment: it has a *run* of segments to itself.
//!
//! **Overflow.** Elements whose segment is full wait until the end of the batch. Then the smallest window of segments
//! that has room is laid out anew by a counting sort. If no window has room, or if so many elements move that it is
//! cheaper, the whole array is.
//!
//! **One order for any history.** [`CellPma::read`] goes by cell, then by the payload's [`Ranked::rank`], whatever
//! changes led to the contents. Slot numbers do depend on the history, and are valid only until the next change.
//!
//! To have near cells near in memory, number them along a Z-curve ([`zorder`](crate::zorder)).

mod apply;
#[cfg(test)]
mod check;
mod layout;
mod read;
mod rebalance;
mod rebuild;
#[cfg(test)]
mod tests;

use crate::simd::Level;
pub use apply::CellBatch;
use core::fmt;
use layout::{Layout, Segment};

/// A slot of a packed memory array, valid until the next change.
pub type Slot = u32;

/// Slots per segment.
const WIDTH: usize = 256;
/// The tag of a free slot.
const FREE: u8 = 255;
/// The largest number of cells: the table of routes takes four bytes each.
const MAX_CELLS: u32 = 1 << 28;
/// The largest number of elements: with any settings and any distribution over [`MAX_CELLS`] cells, slots are numbered
/// below 2^31.
const MAX_LEN: usize = 1 << 26;

/// The largest density of the whole array. Segments may be full, and windows have limits between these two.
const MAX_DENSITY: f64 = 0.9;
/// The smallest density of the whole array, unless it was no higher after the last rebuild, as with many empty cells.
const MIN_DENSITY: f64 = 0.4;

/// A payload, and its rank among those of one cell.
///
/// The rank decides the order in which the payloads of a cell are read. Give it a value that no other payload has (a
/// particle's number) and that does not change while it is stored: then the order depends only on the elements. If
/// ranks are equal, too, the order is unspecified.
pub trait Ranked: Copy + Send + Sync {
    /// The type of the rank; `()` for none.
    type Rank: Copy + Ord + Send + Sync + fmt::Debug;

    /// The rank of this payload.
    fn rank(&self) -> Self::Rank;
}

/// No payload.
impl Ranked for () {
    type Rank = ();
    #[inline(always)]
    fn rank(&self) {}
}

/// A number is its own rank.
impl Ranked for u32 {
    type Rank = u32;
    #[inline(always)]
    fn rank(&self) -> u32 {
        *self
    }
}

/// The density of a [`CellPma`], and when it is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSettings {
    /// The density after a rebuild, .4 to .9.
    pub fill: f64,
    /// The fraction of moving and new elements from which a rebuild of the whole array is faster, 0 to 1. For payloads
    /// of up to 8 MiB in total it is two thirds of this, as a rebuild within the caches is faster.
    pub rebuild: f64,
}

impl Default for CellSettings {
    fn default() -> CellSettings {
        CellSettings { fill: 0.85, rebuild: 0.28 }
    }
}

/// The error of a rejected call, which leaves the array unchanged.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PmaError {
    /// A setting outside its range.
    #[error("{name} = {value} must lie between {low} and {high}")]
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
    },
    /// An entry of a batch has a slot that is free, or that is used by an earlier entry.
    #[error(
        "slot {slot} holds no element: a batch may name each slot once, as it was read since the last change"
    )]
    Vacant {
        /// The slot.
        slot: Slot,
    },
    /// A cell number that does not exist.
    #[error("cell {cell} does not exist: the {cells} cells are numbered from 0")]
    Cell {
        /// The cell.
        cell: u32,
        /// The number of cells.
        cells: u32,
    },
    /// More elements, or cells, than can be numbered.
    #[error("{len} elements or cells are more than can be numbered: at most {most}")]
    TooMany {
        /// The resulting number.
        len: usize,
        /// The largest number.
        most: usize,
    },
}

/// A packed memory array in cell order. Cells are numbered from 0.
#[derive(Clone)]
pub struct CellPma<P: Ranked> {
    settings: CellSettings,
    level: Level,
    /// [`WIDTH`] per segment, as `tags`. Those of free slots have no meaning.
    slots: Vec<P>,
    tags: Vec<u8>,
    segments: Vec<Segment>,
    /// For each cell, the last segment whose first cell is not after it, or segment 0.
    route: Vec<u32>,
    len: usize,
    /// The number of elements at the last rebuild.
    built: usize,
    work: Workspace<P>,
}

/// Buffers of [`CellPma::apply`], kept between calls.
struct Workspace<P> {
    /// Elements to be inserted, and their cells.
    incoming: Vec<(u32, P)>,
    /// Tags of the elements that have been taken out.
    taken: Vec<u8>,
    /// Entries of `incoming` for which there was no slot.
    overflow: Vec<u32>,
    /// The elements of a window that is laid out, and their cells.
    lifted: Vec<(u32, P)>,
    /// In a rebuild, the cell to which the element of each old slot moves.
    goals: Vec<u32>,
    /// The number of elements of each cell.
    counts: Vec<u32>,
    layout: Layout,
    /// The slots before the last rebuild.
    old: Vec<P>,
}

impl<P> Default for Workspace<P> {
    fn default() -> Self {
        Workspace {
            incoming: Vec::new(),
            taken: Vec::new(),
            overflow: Vec::new(),
            lifted: Vec::new(),
            goals: Vec::new(),
            counts: Vec::new(),
            layout: Layout::default(),
            old: Vec::new(),
        }
    }
}

/// No buffer has contents between calls.
impl<P> Clone for Workspace<P> {
    fn clone(&self) -> Self {
        Workspace::default()
    }
}

impl<P: Ranked> CellPma<P> {
    /// An empty array for `cells` cells.
    ///
    /// # Errors
    /// [`PmaError::Setting`], and [`PmaError::TooMany`] for more than 2^28 cells.
    pub fn new(cells: u32, settings: CellSettings, level: Level) -> Result<Self, PmaError> {
        let CellSettings { fill, rebuild } = settings;
        for (name, value, low, high) in
            [("fill", fill, MIN_DENSITY, MAX_DENSITY), ("rebuild", rebuild, 0.0, 1.0)]
        {
            if !(low..=high).contains(&value) {
                return Err(PmaError::Setting { name, value, low, high });
            }
        }
        if cells > MAX_CELLS {
            return Err(PmaError::TooMany { len: cells as usize, most: MAX_CELLS as usize });
        }
        Ok(CellPma {
            settings,
            level,
            slots: Vec::new(),
            tags: Vec::new(),
            segments: Vec::new(),
            route: vec![0; cells as usize],
            len: 0,
            built: 0,
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

    /// The number of slots, in use or not: every slot is below it.
    pub fn slots(&self) -> usize {
        self.tags.len()
    }

    /// Its size in bytes, with its buffers.
    pub fn memory(&self) -> usize {
        let Workspace { incoming, taken, overflow, lifted, goals, counts, layout, old } = &self.work;
        let pairs = incoming.capacity() + lifted.capacity();
        let words = self.route.capacity() + overflow.capacity() + goals.capacity() + counts.capacity();
        (self.slots.capacity() + old.capacity()) * size_of::<P>()
            + pairs * size_of::<(u32, P)>()
            + words * size_of::<u32>()
            + self.segments.capacity() * size_of::<Segment>()
            + layout.memory()
            + self.tags.capacity()
            + taken.capacity()
    }

    /// The payload of a slot that has been read since the last change.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn payload(&self, slot: Slot) -> &P {
        &self.slots[slot as usize]
    }

    /// The same, for changes except to its rank.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn payload_mut(&mut self, slot: Slot) -> &mut P {
        &mut self.slots[slot as usize]
    }

    /// Removes all elements and keeps the memory.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.tags.clear();
        self.slots.clear();
        self.route.fill(0);
        self.len = 0;
        self.built = 0;
    }
}

impl<P: Ranked> fmt::Debug for CellPma<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("CellPma");
        d.field("len", &self.len).field("cells", &self.cells()).field("slots", &self.slots());
        d.finish_non_exhaustive()
    }
}
