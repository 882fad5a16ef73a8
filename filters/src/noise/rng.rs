//! Random numbers in sequence, for the few objects of a frame.

use super::seed::{GOLDEN, mix64};
use super::value_noise::uniform;

/// A generator (SplitMix64) for one object; the order of calls determines the values.
pub(crate) struct Rng(u64);

impl Rng {
    /// The numbers of object `thing` of a seed.
    pub(crate) fn new(seed: u64, thing: u64) -> Rng {
        Rng(mix64(seed ^ mix64(thing.wrapping_add(GOLDEN))))
    }

    /// A number in 0..1, a multiple of 2^-53.
    pub(crate) fn next_f64(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        uniform(mix64(self.0))
    }

    /// A number in `low`..`high`.
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_f64()
    }
}
