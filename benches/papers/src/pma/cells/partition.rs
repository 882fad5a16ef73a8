//! The range of segments of one task, and the insertion of incoming elements into its segments.

use super::{Head, Mask, NO_ROOM, WIDE};
use crate::simd::prefetch;

/// A range of segments that belongs to one task, from segment `first` on, and the routes of their cells.
pub(super) struct Partition<'a, P> {
    pub(super) first: usize,
    /// The first cell of `route`.
    pub(super) low: u32,
    pub(super) slots: &'a mut [P],
    pub(super) tags: &'a mut [u8],
    pub(super) masks: &'a mut [Mask],
    pub(super) heads: &'a mut [Head],
    /// The number of segments of the whole array.
    pub(super) route: &'a mut [u32],
    /// Entries of the incoming list without a free slot, in order.
    pub(super) overflow: Vec<u32>,
    pub(super) moves: u64,
}

/// The prefetch distance in entries, for the route, then the segment's head and mask, then the slot of an entry.
/// Each depends on the one before, so they form a pipeline.
const ROUTE: usize = 48;
const SEGMENT: usize = 32;
const SLOT: usize = 16;

/// The lowest free slot. Branchless, as the word that contains it is unpredictable.
#[inline(always)]
fn lowest_free(mask: &Mask) -> Option<usize> {
    let full = mask.map(|m| usize::from(m == u64::MAX));
    let word = full[0] + full[0] * full[1] + full[0] * full[1] * full[2];
    let bit = mask[word].trailing_ones() as usize;
    (bit < 64).then_some(64 * word + bit)
}

impl<P: Copy> Partition<'_, P> {
    /// The segment of the partition for a cell.
    #[inline(always)]
    fn segment(&self, cell: u32) -> Option<usize> {
        let route = self.route.get(cell.wrapping_sub(self.low) as usize)?;
        let segment = (*route as usize).wrapping_sub(self.first);
        (segment < self.heads.len()).then_some(segment)
    }

    /// Inserts the elements whose cells belong to this partition into their segments, in the order of the
    /// list.
    pub(super) fn place(&mut self, cells: &[u32], items: &[P]) {
        for (i, (&cell, item)) in cells.iter().zip(items).enumerate() {
            self.prefetch_entry(cells, i);
            let Some(segment) = self.segment(cell) else { continue };
            if !self.put(segment, cell, item) {
                self.overflow.push(i as u32);
            }
        }
    }

    /// Prefetches entries ahead of entry `i`.
    #[inline(always)]
    fn prefetch_entry(&self, cells: &[u32], i: usize) {
        if let Some(route) =
            cells.get(i + ROUTE).and_then(|c| self.route.get(c.wrapping_sub(self.low) as usize))
        {
            prefetch(route);
        }
        if let Some(segment) = cells.get(i + SEGMENT).and_then(|c| self.segment(*c)) {
            prefetch(&self.heads[segment]);
            prefetch(&self.masks[segment]);
        }
        if let Some(segment) = cells.get(i + SLOT).and_then(|c| self.segment(*c))
            && let Some(slot) = lowest_free(&self.masks[segment])
        {
            prefetch(&self.tags[segment * WIDE + slot]);
            prefetch(&self.slots[segment * WIDE + slot]);
        }
    }

    /// Inserts one element into its segment or run, if there is a free slot.
    #[inline(always)]
    pub(super) fn put(&mut self, segment: usize, cell: u32, item: &P) -> bool {
        let head = self.heads[segment];
        let tag = cell.wrapping_sub(head.base);
        if tag >= head.span {
            return false;
        }
        let segment = if head.run == 1 {
            segment
        } else {
            match self.room_in_run(segment) {
                Some(segment) => segment,
                None => return false,
            }
        };
        let Some(slot) = lowest_free(&self.masks[segment]) else { return false };
        self.masks[segment][slot / 64] |= 1 << (slot % 64);
        self.tags[segment * WIDE + slot] = tag as u8;
        self.slots[segment * WIDE + slot] = *item;
        self.moves += 1;
        true
    }

    /// A segment with a free slot in the run that ends with `last`.
    fn room_in_run(&mut self, last: usize) -> Option<usize> {
        let Head { run, next, .. } = self.heads[last];
        if next == NO_ROOM {
            return None;
        }
        let (start, next) = (last + 1 - run as usize, next as usize - self.first);
        let roomy = |s: &usize| self.masks[*s] != [u64::MAX; WIDE / 64];
        let found = (next..=last).find(roomy).or_else(|| (start..next).find(roomy));
        self.heads[last].next = found.map_or(NO_ROOM, |s| (self.first + s) as u32);
        found
    }
}
