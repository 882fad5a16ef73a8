//! The invariants between calls.

use super::{Pma, SEGMENT, packed};
use crate::pma::{InvariantError, Key};
use grainfield_filters::pma::Ranked;

impl<K: Key, V: Ranked> Pma<K, V> {
    /// Checks all invariants: shape, packing, order, heads, and the density bounds of each segment and of the
    /// whole array. Reads all elements; for tests.
    pub fn check(&self) -> Result<(), InvariantError> {
        let segments = self.masks.len();
        if segments == 0 {
            return if self.len == 0 {
                Ok(())
            } else {
                Err(InvariantError::Length { said: self.len, held: 0 })
            };
        }
        let slots = segments * SEGMENT;
        let shape = segments.is_power_of_two()
            && self.limits.height() == segments.ilog2()
            && self.heads.len() == segments
            && self.keys.len() >= slots
            && self.vals.len() >= slots;
        if !shape {
            return Err(InvariantError::Shape);
        }
        let held = self.held_in(0, segments);
        if held != self.len {
            return Err(InvariantError::Length { said: self.len, held });
        }
        let halved_fits = self.height_for(self.len).is_ok_and(|h| h < self.limits.height());
        if self.len > self.limits.most() || (self.len < self.limits.least() && halved_fits) {
            return Err(InvariantError::Whole { len: self.len, slots });
        }
        let mut last = None;
        for segment in 0..segments {
            let count = self.count(segment);
            if self.masks[segment] != packed(count) {
                return Err(InvariantError::Mask { segment });
            }
            // If no smaller array is possible, the whole array and its segments may be below their lower
            // bounds.
            let low = if self.len < self.limits.least() { 0 } else { self.limits.low(0) };
            if segments > 1 && !(low..=self.limits.high(0)).contains(&count) {
                return Err(InvariantError::Density { segment, count });
            }
            let head = self.heads[segment];
            let head_rises = segment == 0 || self.heads[segment - 1] <= head;
            if !head_rises || last.is_some_and(|l| segment > 0 && l > head) {
                return Err(InvariantError::Head { segment });
            }
            for slot in segment * SEGMENT..segment * SEGMENT + count {
                let tag = self.tag_at(slot);
                if last.is_some_and(|l| l > tag) {
                    return Err(InvariantError::Order { slot });
                }
                if tag < head {
                    return Err(InvariantError::Head { segment });
                }
                last = Some(tag);
            }
        }
        Ok(())
    }
}
