//! One point of a curve.

use super::{KeyTime, Shape};
use crate::ratio::Ratio;

/// One point of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key<T = f64> {
    /// When.
    pub at: KeyTime,
    /// What.
    pub value: T,
    /// How it goes on to the next key.
    pub shape: Shape<T>,
}

impl<T> Key<T> {
    /// The time as a number, in frames or seconds.
    pub(crate) const fn when(&self) -> Ratio {
        self.at.ratio()
    }
}

/// Seconds or frames from a key to the next; above 0.
pub(crate) fn length<T>(a: &Key<T>, b: &Key<T>) -> f64 {
    (b.when() - a.when()).to_f64()
}
