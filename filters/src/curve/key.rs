//! A key of a curve.

use super::{KeyTime, Shape};
use crate::ratio::Ratio;

/// A key of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key<T = f64> {
    /// The time.
    pub at: KeyTime,
    /// The value.
    pub value: T,
    /// The interpolation to the next key.
    pub shape: Shape<T>,
}

impl<T> Key<T> {
    /// The time as a number, in frames or seconds.
    pub(crate) const fn when(&self) -> Ratio {
        self.at.ratio()
    }
}

/// The time from a key to the next, in seconds or frames; above 0.
pub(crate) fn length<T>(a: &Key<T>, b: &Key<T>) -> f64 {
    (b.when() - a.when()).to_f64()
}
