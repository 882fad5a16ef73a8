//! Packed memory arrays: elements kept in order in an array with gaps, so that moving a part of them is fast.
//!
//! After M. Durand, B. Raffin, F. Faure, *A Packed Memory Array to Keep Moving Particles Sorted* (2012), which
//! extends Bender's structure by batches. Two tunings of one idea:
//!
//! | | [`Pma`], total order | [`CellPma`], cell order |
//! |---|---|---|
//! | key | any integer | a cell number below a fixed count |
//! | inside a segment | sorted by key, then rank | unsorted: one tag byte a slot names its cell |
//! | payload | moves within its segment | stays in its slot until its cell changes |
//! | segment | 64 slots, packed to the left | 256 slots, filled from the lowest free one |
//! | made for | few, small payloads; ranges of keys | particles of some ten bytes; whole cells |
//!
//! Both hold a bitmask of validity (bit `i` of word `w`: slot `64 w + i` is in use), double or halve (total order) or
//! are laid out again (cell order) when their overall density leaves its bounds, and count the elements they write.
//!
//! **One order, whatever the history.** Reading gives the elements by key (or cell), then by the payload's
//! [`Ranked::rank`], however they came there. Slot numbers depend on the history and are valid only until the next
//! change.

mod bounds;
mod cells;
mod error;
mod key;
#[cfg(test)]
mod random_tests;
mod sort;
mod total;

pub use bounds::{Bounds, BoundsError};
pub use cells::{CellBatch, CellIndex, CellPma, CellSettings, UpdateAction};
pub use error::{InvariantError, PmaError};
pub use key::{Key, Ranked};
pub use total::{Batch, Iter, Pma, SEGMENT};

/// A slot of a packed memory array, valid until the next change.
pub type Slot = u32;

/// The largest number of slots of an array, so that every slot has a number.
const MAX_SLOTS: usize = 1 << 31;
