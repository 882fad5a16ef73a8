//! Reading in order.

use super::{Pma, SEGMENT};
use crate::pma::Key;
use crate::simd::prefetch;
use core::ops::{Bound, RangeBounds};
use grainfield_filters::pma::{Ranked, Slot};

/// The prefetch distance in segments.
const AHEAD: usize = 8;

/// Elements in order, from [`Pma::iter`] or [`Pma::range`].
#[derive(Clone, Debug)]
pub struct Iter<'a, K: Key, V: Ranked> {
    pma: &'a Pma<K, V>,
    segment: usize,
    /// Remaining slots of `segment`.
    mask: u64,
    end: Bound<K>,
}

impl<'a, K: Key, V: Ranked> Iterator for Iter<'a, K, V> {
    type Item = (K, &'a V);

    fn next(&mut self) -> Option<(K, &'a V)> {
        while self.mask == 0 {
            self.segment += 1;
            self.mask = *self.pma.masks.get(self.segment)?;
        }
        let at = self.segment * SEGMENT + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        let key = self.pma.keys[at];
        let inside = match self.end {
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
            Bound::Unbounded => true,
        };
        if !inside {
            self.segment = self.pma.masks.len();
            self.mask = 0;
            return None;
        }
        Some((key, &self.pma.vals[at]))
    }
}

impl<K: Key, V: Ranked> Pma<K, V> {
    /// All elements in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mask = self.masks.first().copied().unwrap_or(0);
        Iter { pma: self, segment: 0, mask, end: Bound::Unbounded }
    }

    /// The elements whose keys are in a range, in order.
    pub fn range(&self, range: impl RangeBounds<K>) -> Iter<'_, K, V> {
        let start = match range.start_bound() {
            Bound::Included(&low) => self.first_from(|t| t.0 < low),
            Bound::Excluded(&low) => self.first_from(|t| t.0 <= low),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(&k) => Bound::Included(k),
            Bound::Excluded(&k) => Bound::Excluded(k),
            Bound::Unbounded => Bound::Unbounded,
        };
        let at = start.unwrap_or(self.slots());
        let segment = at / SEGMENT;
        let mask = self.masks.get(segment).map_or(0, |m| m & (u64::MAX << (at % SEGMENT)));
        Iter { pma: self, segment, mask, end }
    }

    /// All elements in order, as ranges without gaps: the fastest way to read all of them.
    pub fn runs(&self) -> impl Iterator<Item = (&[K], &[V])> {
        self.blocks().map(|(keys, vals, n)| (&keys[..n], &vals[..n]))
    }

    /// All segments in order: their keys and payloads, [`SEGMENT`] of each, and the number of these that are in use,
    /// from the first on. The rest has no meaning, but may be read, so that a loop can have a fixed length.
    pub fn blocks(&self) -> impl Iterator<Item = (&[K; SEGMENT], &[V], usize)> {
        let blocks = self.keys.as_chunks::<SEGMENT>().0;
        let vals = self.vals.chunks_exact(SEGMENT);
        blocks.iter().zip(vals).zip(&self.masks).enumerate().map(move |(segment, ((keys, vals), mask))| {
            self.prefetch_segment(segment + AHEAD);
            (keys, vals, mask.trailing_ones() as usize)
        })
    }

    /// Prefetches a segment's keys, as many as are in use at usual densities: the hardware prefetcher does not
    /// follow the gaps.
    #[inline(always)]
    fn prefetch_segment(&self, segment: usize) {
        let lines = (SEGMENT * size_of::<K>() / 64).max(1);
        if let Some(soon) = self.keys.get(segment * SEGMENT..(segment + 1) * SEGMENT) {
            soon.iter().step_by(SEGMENT / lines).take(lines / 2 + 1).for_each(prefetch);
        }
    }

    /// The slots in use, in order.
    pub fn held_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.masks.iter().enumerate().flat_map(|(segment, mask)| {
            let base = (segment * SEGMENT) as Slot;
            (0..mask.trailing_ones()).map(move |i| base + i)
        })
    }

    /// The indirection list: all slots in use, in order, for loops without validity tests.
    pub fn indirection(&self, list: &mut Vec<Slot>) {
        list.clear();
        list.reserve(self.len);
        list.extend(self.held_slots());
    }

    /// The short indirection list: for each key in use, its first and last slot. Between them, in slot order,
    /// are only the elements of that key and gaps.
    pub fn spans(&self, list: &mut Vec<(K, Slot, Slot)>) {
        list.clear();
        for slot in self.held_slots() {
            let key = self.keys[slot as usize];
            match list.last_mut() {
                Some((k, _, last)) if *k == key => *last = slot,
                _ => list.push((key, slot, slot)),
            }
        }
    }

    /// All elements, in order, for changes of payloads except to their ranks.
    pub fn for_each_mut(&mut self, mut f: impl FnMut(Slot, K, &mut V)) {
        for (segment, mask) in self.masks.iter().enumerate() {
            let base = segment * SEGMENT;
            for at in base..base + mask.trailing_ones() as usize {
                f(at as Slot, self.keys[at], &mut self.vals[at]);
            }
        }
    }
}
