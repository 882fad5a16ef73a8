//! The invariants between calls.

use super::{CellPma, FREE, Head, NO_ROOM, WIDE};
use crate::pma::{InvariantError, Ranked};

impl<P: Ranked> CellPma<P> {
    /// Checks all invariants: shape, tags and masks, bases, routes, runs and the density of the whole array.
    /// Reads all slots and cells; for tests.
    pub fn check(&self) -> Result<(), InvariantError> {
        let segments = self.masks.len();
        let slots = segments * WIDE;
        let payloads = self.slots.len() == slots || self.len == 0;
        if self.tags.len() != slots || self.heads.len() != segments || !payloads {
            return Err(InvariantError::Shape);
        }
        let held: usize = (0..segments).map(|s| self.count(s)).sum();
        if held != self.len {
            return Err(InvariantError::Length { said: self.len, held });
        }
        if self.too_empty() || self.too_full() {
            return Err(InvariantError::Whole { len: self.len, slots });
        }
        for segment in 0..segments {
            self.check_segment(segment)?;
        }
        for (cell, &route) in (0..).zip(&self.route) {
            let right = self.heads.partition_point(|h| h.base <= cell).saturating_sub(1);
            if segments > 0 && route as usize != right {
                return Err(InvariantError::Route { cell });
            }
        }
        Ok(())
    }

    fn check_segment(&self, segment: usize) -> Result<(), InvariantError> {
        let Head { base, span, run, next } = self.heads[segment];
        if segment > 0 && self.heads[segment - 1].base > base {
            return Err(InvariantError::Head { segment });
        }
        for slot in 0..WIDE {
            let tag = self.tags[segment * WIDE + slot];
            let held = self.masks[segment][slot / 64] >> (slot % 64) & 1 == 1;
            let cell = base.saturating_add(u32::from(tag));
            if held != (tag != FREE) || (held && (u32::from(tag) >= span || cell >= self.cells())) {
                return Err(InvariantError::Mask { segment });
            }
            // The cell's route leads here, or to the end of the run of this segment.
            let last = self.route.get(cell as usize).copied().unwrap_or(0) as usize;
            let leads = (last + 1).saturating_sub(self.heads[last].run as usize)..=last;
            if held && !leads.contains(&segment) {
                return Err(InvariantError::Route { cell });
            }
        }
        if run > 1 {
            let first = (segment + 1).saturating_sub(run as usize);
            let heads = &self.heads[first..segment];
            let whole = heads.iter().all(|h| h.base == base && h.span == 1 && h.run == 1);
            let roomy = (first..=segment).any(|s| self.count(s) < WIDE);
            let inside = next == NO_ROOM || (first..=segment).contains(&(next as usize));
            if !whole || span != 1 || !inside || (next == NO_ROOM && roomy) {
                return Err(InvariantError::Head { segment });
            }
        }
        Ok(())
    }
}
