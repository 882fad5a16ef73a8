//! Errors of calls and of invariants.

use super::{BoundsError, Slot};
use core::fmt;

/// The error of a rejected call, which leaves the array unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PmaError {
    /// The settings cannot be used.
    Bounds(BoundsError),
    /// An entry of a batch has a slot that is vacant, or that is used by an earlier entry.
    Vacant {
        /// The slot.
        slot: Slot,
    },
    /// A cell number that does not exist.
    Cell {
        /// The cell.
        cell: u32,
        /// The number of cells.
        cells: u32,
    },
    /// The number of elements exceeds the slot numbers.
    TooMany {
        /// The resulting number of elements.
        len: usize,
        /// The largest number of elements.
        most: usize,
    },
}

impl fmt::Display for PmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PmaError::Bounds(e) => e.fmt(f),
            PmaError::Vacant { slot } => write!(
                f,
                "slot {slot} holds no element: a batch may name each slot once, as it was read since the last change"
            ),
            PmaError::Cell { cell, cells } => {
                write!(f, "cell {cell} does not exist: the {cells} cells are numbered from 0")
            }
            PmaError::TooMany { len, most } => {
                write!(f, "{len} elements are more than this array can number: at most {most}")
            }
        }
    }
}

impl core::error::Error for PmaError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            PmaError::Bounds(e) => Some(e),
            _ => None,
        }
    }
}

impl From<BoundsError> for PmaError {
    fn from(e: BoundsError) -> PmaError {
        PmaError::Bounds(e)
    }
}

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
    /// A cell's elements are not at the end of its route.
    Route {
        /// The cell.
        cell: u32,
    },
}

impl fmt::Display for InvariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a packed memory array is inconsistent: {self:?}")
    }
}

impl core::error::Error for InvariantError {}
