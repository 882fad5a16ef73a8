//! Changes in batches, updates of all elements, and single changes.

use super::partition::Partition;
use super::rebuild::NAMED;
use super::{CellPma, FREE, NO_ROOM, WIDE, prefetch_ahead};
use crate::pma::{PmaError, Ranked, Slot};
use crate::simd::prefetch;
use grainfield_filters::host::{CurrentThread, Executor};
use std::sync::{Mutex, PoisonError};

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

/// The result of an update for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateAction {
    /// It stays in its cell.
    Stay,
    /// It moves to a cell (which may be its own).
    Move(u32),
    /// It is removed.
    Gone,
}

/// The prefetch distance in elements, ahead of the one being removed.
const AHEAD: usize = 48;

/// The results of an update in one range of segments.
struct Found<P> {
    cells: Vec<u32>,
    items: Vec<P>,
    /// The number of removed elements.
    gone: usize,
    wrong: Option<u32>,
}

impl<P: Ranked> CellPma<P> {
    /// Makes all changes of a batch, as if first all moving and removed elements were removed, and then all moved
    /// and new ones inserted. The result is the same for any `executor`.
    ///
    /// # Errors
    /// [`PmaError::Vacant`], [`PmaError::Cell`] and [`PmaError::TooMany`]; then nothing has changed.
    pub fn apply(&mut self, batch: &CellBatch<P>, executor: &dyn Executor) -> Result<(), PmaError> {
        let new_len = (self.len + batch.inserts.len()).saturating_sub(batch.removes.len());
        self.room_for(new_len)?;
        if self.many(batch.moves.len() + batch.inserts.len(), new_len) {
            self.check_cells(batch)?;
            return self.build_moved(batch, new_len, executor);
        }
        self.take_out(batch)?;
        self.len = new_len;
        self.work.cells.extend(batch.inserts.iter().map(|i| i.0));
        self.work.items.extend(batch.inserts.iter().map(|i| i.1));
        self.put_in(executor);
        Ok(())
    }

    /// Whether all cells of a batch exist, by the largest.
    fn check_cells(&self, batch: &CellBatch<P>) -> Result<(), PmaError> {
        let cells = self.cells();
        let all = batch.moves.iter().map(|m| m.1).chain(batch.inserts.iter().map(|i| i.0));
        match all.max().filter(|c| *c >= cells) {
            Some(cell) => Err(PmaError::Cell { cell, cells }),
            None => Ok(()),
        }
    }

    /// Rebuilds the whole array; moving elements are copied directly from their old to their new slots.
    fn build_moved(
        &mut self,
        batch: &CellBatch<P>,
        len: usize,
        executor: &dyn Executor,
    ) -> Result<(), PmaError> {
        let mut goals = core::mem::take(&mut self.work.goals);
        self.goals(&mut goals);
        let vacant = self.cells();
        let moves = batch.moves.iter().map(|m| (m.0, m.1 | NAMED));
        let mut wrong = None;
        for (slot, to) in moves.chain(batch.removes.iter().map(|r| (*r, vacant))) {
            match goals.get_mut(slot as usize) {
                Some(goal) if *goal < vacant => *goal = to,
                _ => wrong = wrong.or(Some(slot)),
            }
        }
        self.work.goals = goals;
        if let Some(slot) = wrong {
            return Err(PmaError::Vacant { slot });
        }
        self.len = len;
        let slots = core::mem::take(&mut self.slots);
        let coming = |i: usize| (batch.inserts[i].0, &batch.inserts[i].1);
        self.rebuild(&slots, false, (batch.inserts.len(), &coming), executor);
        self.work.fresh = slots;
        Ok(())
    }

    /// Frees the slots of removed and moving elements, and copies moving elements to the incoming list. After an
    /// error everything is unchanged.
    fn take_out(&mut self, batch: &CellBatch<P>) -> Result<(), PmaError> {
        self.work.items.clear();
        self.work.cells.clear();
        self.work.taken.clear();
        self.work.items.reserve(batch.moves.len() + batch.inserts.len());
        self.work.cells.reserve(batch.moves.len() + batch.inserts.len());
        self.work.taken.reserve(batch.moves.len() + batch.removes.len());
        let mut runs = false;
        let mut done = Ok(());
        let mut greatest = batch.inserts.iter().map(|i| i.0).max().unwrap_or(0);
        for (i, &(slot, cell)) in batch.moves.iter().enumerate() {
            if let Some(soon) = batch.moves.get(i + AHEAD) {
                self.prefetch_slot(soon.0);
            }
            done = done.and_then(|()| self.free(slot, &mut runs));
            if done.is_err() {
                break;
            }
            greatest = greatest.max(cell);
            self.work.cells.push(cell);
            self.work.items.push(self.slots[slot as usize]);
        }
        for &slot in &batch.removes {
            done = done.and_then(|()| self.free(slot, &mut runs));
        }
        if done.is_err() || greatest >= self.cells() {
            // An unknown cell is reported before a vacant slot, wherever they are.
            done = self.check_cells(batch).and(done);
        }
        let slots = || batch.moves.iter().map(|m| m.0).chain(batch.removes.iter().copied());
        if done.is_err() {
            // Restores the slots: the call has no effect.
            for (slot, tag) in slots().zip(&self.work.taken) {
                self.tags[slot as usize] = *tag;
                self.masks[slot as usize / WIDE][slot as usize % WIDE / 64] |= 1 << (slot % 64);
            }
            return done;
        }
        if runs {
            slots().for_each(|slot| self.room_made(slot as usize / WIDE));
        }
        Ok(())
    }

    /// Prefetches a slot that will be freed.
    #[inline(always)]
    fn prefetch_slot(&self, slot: Slot) {
        let at = slot as usize;
        if let (Some(tag), Some(item), Some(mask), Some(head)) =
            (self.tags.get(at), self.slots.get(at), self.masks.get(at / WIDE), self.heads.get(at / WIDE))
        {
            prefetch(item);
            prefetch(tag);
            prefetch(mask);
            prefetch(head);
        }
    }

    /// Frees a slot in use and records its tag, and whether its segment belongs to a run.
    #[inline(always)]
    fn free(&mut self, slot: Slot, runs: &mut bool) -> Result<(), PmaError> {
        let at = slot as usize;
        let tag = self.tags.get(at).copied().unwrap_or(FREE);
        if tag == FREE {
            return Err(PmaError::Vacant { slot });
        }
        self.work.taken.push(tag);
        self.tags[at] = FREE;
        self.masks[at / WIDE][at % WIDE / 64] &= !(1 << (at % 64));
        *runs |= self.heads[at / WIDE].span == 1;
        Ok(())
    }

    /// Records that a segment has free slots, if it belongs to a run without free slots.
    #[inline(always)]
    fn room_made(&mut self, segment: usize) {
        if self.heads[segment].span == 1 {
            let last = self.route[self.heads[segment].base as usize] as usize;
            if self.heads[last].next == NO_ROOM {
                self.heads[last].next = segment as u32;
            }
        }
    }

    /// Calls `f` for every element, with its cell, to change it (except its rank) and return its [`UpdateAction`]; then
    /// inserts the moving elements and `births` into their cells. `f` is called once per element, in any order,
    /// from the threads of `executor`; the result is the same for any.
    ///
    /// # Errors
    /// [`PmaError::Cell`] if a cell does not exist: such movers stay in their cells, such births are left
    /// out, and all else is done. [`PmaError::TooMany`]: nothing has been done.
    pub fn update<F>(&mut self, births: &[(u32, P)], executor: &dyn Executor, f: F) -> Result<(), PmaError>
    where
        F: Fn(&mut P, u32) -> UpdateAction + Sync,
    {
        self.room_for(self.len + births.len())?;
        let cells = self.cells();
        let segments = self.heads.len();
        let tasks = if segments < 16 { 1 } else { executor.width().clamp(1, 64) };
        let cuts: Vec<usize> = (0..=tasks).map(|t| segments * t / tasks).collect();
        let mut work = core::mem::take(&mut self.work);
        let mut found: Vec<Mutex<(Partition<'_, P>, Found<P>)>> = Vec::with_capacity(tasks);
        for share in self.partitions(&cuts) {
            let found_here = if found.is_empty() {
                // The first range writes directly to the result.
                work.cells.clear();
                work.items.clear();
                let (cells, items) = (core::mem::take(&mut work.cells), core::mem::take(&mut work.items));
                Found { cells, items, gone: 0, wrong: None }
            } else {
                Found { cells: Vec::new(), items: Vec::new(), gone: 0, wrong: None }
            };
            found.push(Mutex::new((share, found_here)));
        }
        executor.execute(found.len(), &|t| {
            let mut guard = found[t].lock().unwrap_or_else(PoisonError::into_inner);
            let (share, found) = &mut *guard;
            share.update(cells, found, &f);
        });
        let mut wrong = None;
        let mut gone = 0;
        for (t, part) in found.into_iter().enumerate() {
            let (_, part) = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            gone += part.gone;
            wrong = wrong.or(part.wrong);
            if t == 0 {
                (work.cells, work.items) = (part.cells, part.items);
            } else {
                work.cells.extend_from_slice(&part.cells);
                work.items.extend_from_slice(&part.items);
            }
        }
        let moved = work.cells.len();
        for (cell, item) in births {
            if *cell < cells {
                work.cells.push(*cell);
                work.items.push(*item);
            } else {
                wrong = wrong.or(Some(*cell));
            }
        }
        self.len = self.len - gone + (work.cells.len() - moved);
        self.work = work;
        for segment in 0..segments {
            if self.heads[segment].span == 1 && self.masks[segment] != [u64::MAX; WIDE / 64] {
                self.room_made(segment);
            }
        }
        self.put_in(executor);
        match wrong {
            Some(cell) => Err(PmaError::Cell { cell, cells }),
            None => Ok(()),
        }
    }

    /// Adds one element.
    ///
    /// # Errors
    /// [`PmaError::Cell`] and [`PmaError::TooMany`].
    pub fn insert(&mut self, cell: u32, item: P) -> Result<(), PmaError> {
        let cells = self.cells();
        if cell >= cells {
            return Err(PmaError::Cell { cell, cells });
        }
        self.room_for(self.len + 1)?;
        self.len += 1;
        self.work.cells.clear();
        self.work.items.clear();
        self.work.cells.push(cell);
        self.work.items.push(item);
        self.put_in(&CurrentThread);
        Ok(())
    }

    /// Removes the element of a slot; `None` if there is none.
    pub fn remove(&mut self, slot: Slot) -> Option<(u32, P)> {
        let at = self.held(slot)?;
        let item = (self.cell_at(at), self.slots[at]);
        self.tags[at] = FREE;
        self.masks[at / WIDE][at % WIDE / 64] ^= 1 << (at % 64);
        self.room_made(at / WIDE);
        self.len -= 1;
        if self.too_empty() {
            self.work.cells.clear();
            self.work.items.clear();
            self.rebuild_waiting(None, &CurrentThread);
        }
        Some(item)
    }

    /// Whether the whole array is below its lower bound, and a rebuild would help.
    pub(super) fn too_empty(&self) -> bool {
        let least = self.settings.bounds.rhoh * self.slots() as f64;
        (self.len as f64) < least && self.len < self.built / 2
    }

    /// Whether the whole array is above its upper bound, and has grown since the last rebuild.
    pub(super) fn too_full(&self) -> bool {
        let most = self.settings.bounds.tauh * self.slots() as f64;
        self.len as f64 > most && self.len > self.built + self.built / 16
    }

    /// Whether so many elements come in, with `len` in total, that a rebuild is faster.
    fn many(&self, coming: usize, len: usize) -> bool {
        coming as f64 > self.settings.share_of(len, size_of::<P>()) * len as f64 && coming > WIDE
    }

    /// Splits the segments at `cuts` (ascending, from 0 to their number), and the routes of their cells.
    pub(super) fn partitions(&mut self, cuts: &[usize]) -> Vec<Partition<'_, P>> {
        let cells = self.route.len();
        let base = |cut: usize| self.heads.get(cut).map_or(cells, |h| h.base as usize);
        let lows: Vec<usize> = cuts.iter().map(|cut| if *cut == 0 { 0 } else { base(*cut) }).collect();
        let (mut slots, mut tags) = (&mut self.slots[..], &mut self.tags[..]);
        let (mut masks, mut heads) = (&mut self.masks[..], &mut self.heads[..]);
        let mut route = &mut self.route[..];
        let mut partitions = Vec::with_capacity(cuts.len());
        for (cut, low) in cuts.windows(2).zip(lows.windows(2)) {
            let n = cut[1] - cut[0];
            let (s, t, m, h, r);
            (s, slots) = slots.split_at_mut(n * WIDE);
            (t, tags) = tags.split_at_mut(n * WIDE);
            (m, masks) = masks.split_at_mut(n);
            (h, heads) = heads.split_at_mut(n);
            (r, route) = route.split_at_mut(low[1] - low[0]);
            partitions.push(Partition {
                first: cut[0],
                low: low[0] as u32,
                slots: s,
                tags: t,
                masks: m,
                heads: h,
                route: r,
                overflow: Vec::new(),
                moves: 0,
            });
        }
        partitions
    }

    /// Where to cut the segments for so many tasks: evenly, without splitting a run.
    pub(super) fn cuts(&self, tasks: usize) -> Vec<usize> {
        let segments = self.heads.len();
        let mut cuts = vec![0];
        for t in 1..tasks {
            cuts.push(self.whole_runs((segments * t / tasks).max(cuts[t - 1])));
        }
        cuts.push(segments);
        cuts
    }

    /// The next position, from `cut` on, that splits neither a run nor segments with the same base.
    pub(super) fn whole_runs(&self, mut cut: usize) -> usize {
        while cut > 0 && cut < self.heads.len() && self.heads[cut].base == self.heads[cut - 1].base {
            cut += 1;
        }
        cut
    }

    /// Inserts the elements of the workspace into their cells; `len` includes them already.
    fn put_in(&mut self, executor: &dyn Executor) {
        let coming = self.work.cells.len();
        if self.slots.is_empty() || self.many(coming, self.len) || self.too_full() || self.too_empty() {
            self.rebuild_waiting(None, executor);
            return;
        }
        let segments = self.heads.len();
        let tasks = if coming < 2048 { 1 } else { executor.width().clamp(1, 64).min(segments) };
        let cuts = self.cuts(tasks);
        let mut work = core::mem::take(&mut self.work);
        work.overflow.clear();
        let partitions: Vec<_> = self.partitions(&cuts).into_iter().map(Mutex::new).collect();
        let place = |t: usize| {
            let mut share = partitions[t].lock().unwrap_or_else(PoisonError::into_inner);
            share.place(&work.cells, &work.items);
        };
        if tasks == 1 {
            place(0);
        } else {
            executor.execute(tasks, &place);
        }
        let mut moves = 0;
        for share in partitions {
            let share = share.into_inner().unwrap_or_else(PoisonError::into_inner);
            moves += share.moves;
            work.overflow.extend_from_slice(&share.overflow);
        }
        self.moves += moves;
        let overflow = core::mem::take(&mut work.overflow);
        self.work = work;
        self.rebalance_all(overflow, executor);
    }
}

impl<P: Copy> Partition<'_, P> {
    /// Runs `f` over the elements and removes those that leave their cells.
    fn update(&mut self, cells: u32, found: &mut Found<P>, f: &impl Fn(&mut P, u32) -> UpdateAction) {
        for segment in 0..self.heads.len() {
            let base = self.heads[segment].base;
            for w in 0..WIDE / 64 {
                prefetch_ahead(self.slots, segment, w);
                let at = segment * WIDE + 64 * w;
                let word = &mut self.masks[segment][w];
                let mut stay = *word;
                let slots = self.tags[at..at + 64].iter_mut().zip(&mut self.slots[at..at + 64]);
                for (i, (tag, item)) in slots.enumerate() {
                    if *tag == FREE {
                        continue;
                    }
                    let cell = base + u32::from(*tag);
                    match f(item, cell) {
                        UpdateAction::Stay => continue,
                        UpdateAction::Move(to) if to == cell => continue,
                        UpdateAction::Move(to) if to >= cells => {
                            found.wrong = found.wrong.or(Some(to));
                            continue;
                        }
                        UpdateAction::Move(to) => {
                            found.cells.push(to);
                            found.items.push(*item);
                        }
                        UpdateAction::Gone => found.gone += 1,
                    }
                    *tag = FREE;
                    stay &= !(1 << i);
                }
                *word = stay;
            }
        }
    }
}
