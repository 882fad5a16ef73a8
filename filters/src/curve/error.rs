//! Errors in a list of keys.

use super::MAX_KEYS;

/// An error in a list of keys. Keys are counted from 0 here and from 1 in messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CurveError {
    /// There is no key.
    #[error("a curve needs at least one key")]
    Empty,
    /// This key is in seconds where the one before it is in frames or percent, or the other way round.
    #[error(
        "keys must be all in seconds, or all in frames and percent (48s is 48 seconds; the ease is 48(circ-in))"
    )]
    Mixed(usize),
    /// This key is not later than the one before it.
    #[error("key {} must be later than the one before it", .0 + 1)]
    Order(usize),
    /// This key has a value that is not a number, or one beyond [`MAX_VALUE`](super::MAX_VALUE).
    #[error("the value of key {} must be a number from -1e100 to 1e100", .0 + 1)]
    Value(usize),
    /// This key has a slope or handle beyond [`MAX_VALUE`](super::MAX_VALUE), or a handle whose time is
    /// outside the stretch.
    #[error(
        "key {}: the time of a handle is a fraction of its segment, 0 to 1, and slopes and handles are at most 1e100",
        .0 + 1
    )]
    Shape(usize),
    /// This key has a negative time.
    #[error("key {}: seconds start at 0; only frames can count from the end", .0 + 1)]
    Negative(usize),
    /// More than [`MAX_KEYS`].
    #[error("more than {MAX_KEYS} keys in one curve")]
    TooMany,
    /// A key counts from the end or in percent, but the length of the source is unknown.
    #[error(
        "a key in percent or counted from the end needs a source of known length, which a pipe is not; use a frame \
         number or a time"
    )]
    NoLength,
}

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
