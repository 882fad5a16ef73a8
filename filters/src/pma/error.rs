//! What can be wrong: with a call, and with an array.

use super::{BoundsError, Slot};
use core::fmt;

/// Why a call was refused; the array is as it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PmaError {
    /// The settings cannot be used.
    Bounds(BoundsError),
    /// An entry of a batch names a slot that holds nothing, or that an earlier entry has taken already.
    Vacant {
        /// The slot.
        slot: Slot,
    },
    /// A cell number beyond the last cell.
    Cell {
        /// The cell.
        cell: u32,
        /// How many cells there are.
        cells: u32,
    },
    /// More elements than slot numbers.
    TooMany {
        /// How many there would be.
        len: usize,
        /// How many there may be.
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

/// What a check of an array's inner rules found broken; none may ever be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantError {
    /// Arrays of different lengths, or a number of segments that cannot be.
    Shape,
    /// Elements counted and elements held differ.
    Length {
        /// Counted.
        said: usize,
        /// Held.
        held: usize,
    },
    /// An element is before one that should come first.
    Order {
        /// The later slot.
        slot: usize,
    },
    /// A segment's validity bits are not as they must be.
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
    /// A segment's head does not divide what is before from what is after.
    Head {
        /// The segment.
        segment: usize,
    },
    /// A cell's elements are not where its route leads.
    Route {
        /// The cell.
        cell: u32,
    },
    /// What is read out differs from the model.
    Model {
        /// The place of the first difference in the order read out.
        at: usize,
    },
}

impl fmt::Display for InvariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a packed memory array broke its own rules: {self:?}")
    }
}

impl core::error::Error for InvariantError {}
