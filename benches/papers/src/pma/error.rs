//! Errors of invariants.

use core::fmt;

/// A violated invariant of an array, which is a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantError {
    /// Arrays of different lengths, or an invalid number of segments.
    Shape,
    /// The count differs from the number of elements.
    Length {
        /// The count.
        said: usize,
        /// The number of elements.
        held: usize,
    },
    /// An element is before one that should come first.
    Order {
        /// The later slot.
        slot: usize,
    },
    /// A segment's validity bits are inconsistent.
    Mask {
        /// The segment.
        segment: usize,
    },
    /// A segment outside its density bounds.
    Density {
        /// The segment.
        segment: usize,
        /// Elements in it.
        count: usize,
    },
    /// The whole is outside its density bounds.
    Whole {
        /// Elements held.
        len: usize,
        /// Slots.
        slots: usize,
    },
    /// A segment's head does not separate the elements before it from those after it.
    Head {
        /// The segment.
        segment: usize,
    },
}

impl fmt::Display for InvariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a packed memory array is inconsistent: {self:?}")
    }
}

impl core::error::Error for InvariantError {}
