//! Changes in batches.

use super::layout::NO_ROOM;
use super::{CellPma, FREE, MAX_DENSITY, MAX_LEN, MIN_DENSITY, PmaError, Ranked, Slot, WIDTH, Workspace};
use crate::simd::prefetch;

/// Changes that are made together. Slots are those before the batch; each may occur once.
#[derive(Clone, Debug)]
pub struct CellBatch<P> {
    /// New elements and their cells.
    pub inserts: Vec<(u32, P)>,
    /// Slots of elements to be removed. Ascending order is the fastest.
    pub removes: Vec<Slot>,
    /// Slots of elements, and their new cells. Ascending order is the fastest.
    pub moves: Vec<(Slot, u32)>,
}

impl<P> Default for CellBatch<P> {
    fn default() -> Self {
        CellBatch { inserts: Vec::new(), removes: Vec::new(), moves: Vec::new() }
    }
}

impl<P> CellBatch<P> {
    /// Removes all changes and keeps the memory.
    pub fn clear(&mut self) {
        self.inserts.clear();
        self.removes.clear();
        self.moves.clear();
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        self.inserts.len() + self.removes.len() + self.moves.len()
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The prefetch distance in entries of the slots that are freed.
const FREED: usize = 48;
/// The prefetch distances in entries of the route of an incoming element, then of its segment, then of its slot. Each
/// depends on the one before, so they form a pipeline.
const ROUTE: usize = 48;
const SEGMENT: usize = 32;
const SLOT: usize = 16;

impl<P: Ranked> CellPma<P> {
    /// Makes all changes of a batch, as if first all moving and removed elements were removed, and then all moved and
    /// new ones inserted. The time depends on the number of changes, not on that of the elements. If so many elements
    /// come to an array that a rebuild is faster, as to an empty one, they are inserted by one counting sort.
    ///
    /// # Errors
    /// [`PmaError::Cell`], [`PmaError::TooMany`] and [`PmaError::Vacant`]; then nothing has changed.
    pub fn apply(&mut self, batch: &CellBatch<P>) -> Result<(), PmaError> {
        let cells = self.cells();
        let goals = batch.moves.iter().map(|m| m.1).chain(batch.inserts.iter().map(|i| i.0));
        if let Some(cell) = goals.max().filter(|cell| *cell >= cells) {
            return Err(PmaError::Cell { cell, cells });
        }
        let len = (self.len + batch.inserts.len()).saturating_sub(batch.removes.len());
        if len > MAX_LEN {
            return Err(PmaError::TooMany { len, most: MAX_LEN });
        }
        let coming = batch.moves.len() + batch.inserts.len();
        if self.slots.is_empty() || self.is_much(coming, len) || self.is_out_of_bounds(len) {
            return self.rebuild_with(batch, len);
        }
        let mut work = core::mem::take(&mut self.work);
        let done = self.take_out(batch, &mut work);
        if done.is_ok() {
            self.len = len;
            work.incoming.extend_from_slice(&batch.inserts);
            self.place(&mut work);
        }
        self.work = work;
        done
    }

    /// Whether so many elements come in, with `len` in total, that a rebuild is faster.
    fn is_much(&self, coming: usize, len: usize) -> bool {
        let small = len * size_of::<P>() <= 8 << 20;
        let share = if small { self.settings.rebuild / 1.5 } else { self.settings.rebuild };
        coming as f64 > share * len as f64 && coming > WIDTH
    }

    /// Whether the density with `len` elements is too high or too low, and a rebuild would help.
    pub(super) fn is_out_of_bounds(&self, len: usize) -> bool {
        let density = len as f64 / self.slots() as f64;
        (density > MAX_DENSITY && len > self.built + self.built / 16)
            || (density < MIN_DENSITY && len < self.built / 2)
    }

    /// Frees the slots of removed and moving elements, and copies moving elements to the incoming list. After an
    /// error everything is unchanged.
    fn take_out(&mut self, batch: &CellBatch<P>, work: &mut Workspace<P>) -> Result<(), PmaError> {
        work.incoming.clear();
        work.taken.clear();
        let slots = || batch.moves.iter().map(|m| m.0).chain(batch.removes.iter().copied());
        let mut done = Ok(());
        for (i, &(slot, cell)) in batch.moves.iter().enumerate() {
            if let Some(&(soon, _)) = batch.moves.get(i + FREED) {
                self.prefetch_slot(soon as usize);
            }
            done = done.and_then(|()| self.free(slot, &mut work.taken));
            if done.is_err() {
                break;
            }
            work.incoming.push((cell, self.slots[slot as usize]));
        }
        for &slot in &batch.removes {
            done = done.and_then(|()| self.free(slot, &mut work.taken));
        }
        if done.is_err() {
            for (slot, tag) in slots().zip(&work.taken) {
                self.tags[slot as usize] = *tag;
                self.segments[slot as usize / WIDTH].mask[slot as usize % WIDTH / 64] |= 1 << (slot % 64);
            }
        }
        done
    }

    /// Prefetches a slot that will be freed.
    #[inline(always)]
    fn prefetch_slot(&self, at: usize) {
        if let (Some(tag), Some(item), Some(segment)) =
            (self.tags.get(at), self.slots.get(at), self.segments.get(at / WIDTH))
        {
            prefetch(item);
            prefetch(tag);
            prefetch(segment);
        }
    }

    /// Frees a slot in use and records its tag.
    #[inline(always)]
    fn free(&mut self, slot: Slot, taken: &mut Vec<u8>) -> Result<(), PmaError> {
        let at = slot as usize;
        let Some(tag) = self.tags.get_mut(at).filter(|tag| **tag != FREE) else {
            return Err(PmaError::Vacant { slot });
        };
        taken.push(core::mem::replace(tag, FREE));
        let segment = &mut self.segments[at / WIDTH];
        segment.mask[at % WIDTH / 64] &= !(1 << (at % 64));
        if segment.span == 1 {
            // The run has room now.
            let last = self.route[segment.base as usize] as usize;
            let last = &mut self.segments[last];
            if last.next == NO_ROOM {
                last.next = (at / WIDTH) as u32;
            }
        }
        Ok(())
    }

    /// Inserts the incoming elements.
    fn place(&mut self, work: &mut Workspace<P>) {
        work.overflow.clear();
        for (i, (cell, item)) in work.incoming.iter().enumerate() {
            self.prefetch_entry(&work.incoming, i);
            if !self.put(*cell, item) {
                work.overflow.push(i as u32);
            }
        }
        self.rebalance(work);
    }

    /// Prefetches what entries after entry `i` need.
    #[inline(always)]
    fn prefetch_entry(&self, incoming: &[(u32, P)], i: usize) {
        let route = |ahead: usize| incoming.get(i + ahead).map(|(cell, _)| &self.route[*cell as usize]);
        if let Some(route) = route(ROUTE) {
            prefetch(route);
        }
        if let Some(route) = route(SEGMENT) {
            prefetch(&self.segments[*route as usize]);
        }
        if let Some(&route) = route(SLOT)
            && let Some(slot) = self.segments[route as usize].lowest_free()
        {
            let at = route as usize * WIDTH + slot;
            prefetch(&self.tags[at]);
            prefetch(&self.slots[at]);
        }
    }

    /// Inserts one element into its segment or run, if there is a free slot.
    #[inline(always)]
    fn put(&mut self, cell: u32, item: &P) -> bool {
        let mut at = self.route[cell as usize] as usize;
        let segment = &self.segments[at];
        let tag = cell.wrapping_sub(segment.base);
        if tag >= segment.span {
            return false;
        }
        if segment.run > 1 {
            match self.room_in_run(at) {
                Some(segment) => at = segment,
                None => return false,
            }
        }
        let Some(slot) = self.segments[at].lowest_free() else { return false };
        self.segments[at].mask[slot / 64] |= 1 << (slot % 64);
        self.tags[at * WIDTH + slot] = tag as u8;
        self.slots[at * WIDTH + slot] = *item;
        true
    }

    /// A segment with a free slot in the run that ends with `last`.
    fn room_in_run(&mut self, last: usize) -> Option<usize> {
        let (first, next) = (last + 1 - self.segments[last].run as usize, self.segments[last].next);
        if next == NO_ROOM {
            return None;
        }
        let has_room = |at: &usize| self.segments[*at].lowest_free().is_some();
        let found = (next as usize..=last).chain(first..next as usize).find(has_room);
        self.segments[last].next = found.map_or(NO_ROOM, |at| at as u32);
        found
    }
}
