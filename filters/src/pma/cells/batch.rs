//! Changes: in batches, in an update of all, one by one.

use super::partition::Partition;
use super::rebuild::NAMED;
use super::{CellPma, FREE, NO_ROOM, WIDE, prefetch_ahead};
use crate::lend::{CurrentThread, Executor};
use crate::pma::{PmaError, Ranked, Slot};
use crate::simd::prefetch;
use std::sync::{Mutex, PoisonError};

/// Changes to be made together. Slots are those before the batch; each may be named once.
#[derive(Clone, Debug)]
pub struct CellBatch<P> {
    /// New elements and their cells.
    pub inserts: Vec<(u32, P)>,
    /// Slots of elements to be taken out. Fastest in rising order.
    pub removes: Vec<Slot>,
    /// Slots of elements, and their new cells. Fastest in rising order.
    pub moves: Vec<(Slot, u32)>,
}

impl<P> Default for CellBatch<P> {
    fn default() -> Self {
        CellBatch { inserts: Vec::new(), removes: Vec::new(), moves: Vec::new() }
    }
}

impl<P> CellBatch<P> {
    /// Forgets all changes, keeping the room.
    pub fn clear(&mut self) {
        self.inserts.clear();
        self.removes.clear();
        self.moves.clear();
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.inserts.len() + self.removes.len() + self.moves.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What becomes of an element in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateAction {
    /// It stays in its cell.
    Stay,
    /// It goes to a cell (which may be its own).
    Move(u32),
    /// It is taken out.
    Gone,
}

/// How many elements ahead of the one being taken out memory is asked for.
const AHEAD: usize = 48;

/// What an update found in one stretch of segments.
struct Found<P> {
    cells: Vec<u32>,
    items: Vec<P>,
    /// How many elements are gone.
    gone: usize,
    wrong: Option<u32>,
}

impl<P: Ranked> CellPma<P> {
    /// Makes all changes of a batch, as if first all moving and removed elements were taken out, and then all moved
    /// and new ones put in. The result is the same for any `executor`.
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

    /// Whether all cells of a batch are among those there are; the greatest tells.
    fn check_cells(&self, batch: &CellBatch<P>) -> Result<(), PmaError> {
        let cells = self.cells();
        let all = batch.moves.iter().map(|m| m.1).chain(batch.inserts.iter().map(|i| i.0));
        match all.max().filter(|c| *c >= cells) {
            Some(cell) => Err(PmaError::Cell { cell, cells }),
            None => Ok(()),
        }
    }

    /// Lays out everything anew, what moves going straight from its old slot to its new one.
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

    /// Frees the slots of what goes or moves; copies what moves to the incoming list. On an error all is as it was.
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
            // A wrong cell is named before a vacant slot, wherever they stand.
            done = self.check_cells(batch).and(done);
        }
        let slots = || batch.moves.iter().map(|m| m.0).chain(batch.removes.iter().copied());
        if done.is_err() {
            // Put back what was taken: the call has no effect.
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

    /// Asks for the memory of a slot that will be freed.
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

    /// Frees a slot that is in use, noting its tag; whether it is one of a run is noted too.
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

    /// Notes that a segment has room, if it is one of a run that had none.
    #[inline(always)]
    fn room_made(&mut self, segment: usize) {
        if self.heads[segment].span == 1 {
            let last = self.route[self.heads[segment].base as usize] as usize;
            if self.heads[last].next == NO_ROOM {
                self.heads[last].next = segment as u32;
            }
        }
    }

    /// Calls `f` for every element, with its cell, to change it (but for its rank) and say what becomes of it; then
    /// puts the movers and `births` into their cells. `f` is called once an element, in any order, from the threads
    /// of `executor`; the result is the same for any.
    ///
    /// # Errors
    /// [`PmaError::Cell`] if a cell does not exist: such movers stay in their cells, such births are left out, and
    /// all else is done. [`PmaError::TooMany`]: nothing has been done.
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
                // The first stretch writes to where all ends up.
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

    /// Takes the element out of a slot; `None` if there is none.
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

    /// Whether the whole is below its lower bound, and building it anew would help.
    pub(super) fn too_empty(&self) -> bool {
        let least = self.settings.bounds.rhoh * self.slots() as f64;
        (self.len as f64) < least && self.len < self.built / 2
    }

    /// Whether the whole is above its upper bound, and has grown since it was built.
    pub(super) fn too_full(&self) -> bool {
        let most = self.settings.bounds.tauh * self.slots() as f64;
        self.len as f64 > most && self.len > self.built + self.built / 16
    }

    /// Whether so many come in, `len` in all, that building all anew is cheaper.
    fn many(&self, coming: usize, len: usize) -> bool {
        coming as f64 > self.settings.share_of(len, size_of::<P>()) * len as f64 && coming > WIDE
    }

    /// Splits the segments at `cuts` (which rise from 0 to their number), and their cells' routes with them.
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

    /// Where to cut the segments for so many tasks: evenly, a run staying in one piece.
    pub(super) fn cuts(&self, tasks: usize) -> Vec<usize> {
        let segments = self.heads.len();
        let mut cuts = vec![0];
        for t in 1..tasks {
            cuts.push(self.whole_runs((segments * t / tasks).max(cuts[t - 1])));
        }
        cuts.push(segments);
        cuts
    }

    /// The next place, from `cut` on, that parts no run and no segments of one base.
    pub(super) fn whole_runs(&self, mut cut: usize) -> usize {
        while cut > 0 && cut < self.heads.len() && self.heads[cut].base == self.heads[cut - 1].base {
            cut += 1;
        }
        cut
    }

    /// Puts the elements in the work room into their cells; `len` counts them already.
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
    /// Runs `f` over the elements and takes out those that leave their cells.
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
