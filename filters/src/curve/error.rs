//! Errors in a list of keys.

use super::MAX_KEYS;
use core::fmt;

/// An error in a list of keys. Keys are counted from 0 here and from 1 in messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CurveError {
    /// There is no key.
    Empty,
    /// This key is in seconds where the one before it is in frames, or the other way round.
    Mixed(usize),
    /// This key is not later than the one before it.
    Order(usize),
    /// This key has a value that is not a number, or one beyond [`MAX_VALUE`](super::MAX_VALUE).
    Value(usize),
    /// This key has a slope or handle beyond [`MAX_VALUE`](super::MAX_VALUE), or a handle whose time is
    /// outside the stretch.
    Shape(usize),
    /// This key has a negative time.
    Negative(usize),
    /// More than [`MAX_KEYS`].
    TooMany,
    /// A key counts from the end, but the length of the source is unknown.
    NoLength,
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CurveError::Empty => f.write_str("a curve needs at least one key"),
            CurveError::Mixed(_) => f.write_str(
                "keys must be all in frames or all in seconds (48s is 48 seconds; the ease is 48(circ-in))",
            ),
            CurveError::Order(i) => write!(f, "key {} must be later than the one before it", i + 1),
            CurveError::Value(i) => {
                write!(f, "the value of key {} must be a number from -1e100 to 1e100", i + 1)
            }
            CurveError::Shape(i) => write!(
                f,
                "key {}: the time of a handle is a fraction of its segment, 0 to 1, and slopes and handles are at \
                    most 1e100",
                i + 1
            ),
            CurveError::Negative(i) => {
                write!(f, "key {}: seconds start at 0; only frames can count from the end", i + 1)
            }
            CurveError::TooMany => write!(f, "more than {MAX_KEYS} keys in one curve"),
            CurveError::NoLength => f.write_str(
                "a key that counts from the end needs a source of known length; use a frame number",
            ),
        }
    }
}

impl core::error::Error for CurveError {}

impl CurveError {
    /// The number of the key with the error (from 0), if there is one.
    pub const fn key(self) -> Option<usize> {
        match self {
            CurveError::Mixed(i)
            | CurveError::Order(i)
            | CurveError::Value(i)
            | CurveError::Shape(i)
            | CurveError::Negative(i) => Some(i),
            CurveError::Empty | CurveError::TooMany | CurveError::NoLength => None,
        }
    }
}
