//! The packed memory array of the paper, in total order: any integer as a key, elements sorted in segments of 64 slots.
//!
//! After M. Durand, B. Raffin, F. Faure, *A Packed Memory Array to Keep Moving Particles Sorted* (2012), which
//! extends Bender's structure by batches. The array in cell order, which filters use, is
//! [`grainfield_filters::pma::CellPma`]:
//!
//! | | [`Pma`], total order | `CellPma`, cell order |
//! |---|---|---|
//! | key | any integer | a cell number below a fixed count |
//! | inside a segment | sorted by key, then rank | unsorted: one tag byte a slot names its cell |
//! | payload | moves within its segment | stays in its slot until its cell changes |
//! | segment | 64 slots, packed to the left | 256 slots, filled from the lowest free one |
//! | made for | few, small payloads; ranges of keys | particles of some ten bytes; ranges of cells |
//!
//! It holds a bitmask of validity (bit `i` of word `w`: slot `64 w + i` is in use), doubles or halves when its overall
//! density leaves its bounds, and counts the elements it writes.
//!
//! **One order, whatever the history.** Reading gives the elements by key, then by the payload's
//! [`Ranked::rank`](grainfield_filters::pma::Ranked::rank), however they came there. Slot numbers depend on the history
//! and are valid only until the next change.

mod bounds;
mod error;
mod index;
mod key;
#[cfg(test)]
mod random_tests;
mod sort;
mod total;

pub use bounds::{Bounds, BoundsError};
pub use error::InvariantError;
pub use index::CellIndex;
pub use key::Key;
pub use total::{Batch, Iter, Pma, SEGMENT};

/// The largest number of slots of an array, so that every slot has a number.
const MAX_SLOTS: usize = 1 << 31;
