//! Changes: in batches, in an update of all, one by one.

use super::layout::Layout;
use super::place::Share;
use super::{CellPma, FREE, NO_ROOM, WIDE, ask_ahead};
use crate::lend::{Alone, Spread};
use crate::pma::{PmaError, Ranked, Slot, arch};
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
pub enum Fate {
    /// It stays in its cell.
    Stay,
    /// It goes to a cell (which may be its own).
    Move(u32),
    /// It is taken out.
    Gone,
}

/// How many elements ahead of the one being taken out memory is asked for.
const AHEAD: usize = 16;

/// Room that is kept between calls.
#[derive(Clone)]
pub(super) struct Work<P> {
    /// The cells and payloads of what comes in.
    pub(super) cells: Vec<u32>,
    pub(super) items: Vec<P>,
    /// Tags of what is being taken out.
    taken: Vec<u8>,
    /// Entries of those that found no room.
    pub(super) overflow: Vec<u32>,
    pub(super) counts: Vec<u32>,
    pub(super) layout: Layout,
    pub(super) fresh: Vec<P>,
    pub(super) lifted: Vec<(u32, P)>,
}

impl<P> Default for Work<P> {
    fn default() -> Self {
        Work {
            cells: Vec::new(),
            items: Vec::new(),
            taken: Vec::new(),
            overflow: Vec::new(),
            counts: Vec::new(),
            layout: Layout::default(),
            fresh: Vec::new(),
            lifted: Vec::new(),
        }
    }
}

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
    /// and new ones put in. The result is the same for any `spread`.
    ///
    /// # Errors
    /// [`PmaError::Vacant`], [`PmaError::Cell`] and [`PmaError::TooMany`]; then nothing has changed.
    pub fn apply(&mut self, batch: &CellBatch<P>, spread: &dyn Spread) -> Result<(), PmaError> {
        let cells = self.cells();
        let new_cells = batch.moves.iter().map(|m| m.1).chain(batch.inserts.iter().map(|i| i.0));
        // The greatest tells whether any is wrong.
        if let Some(cell) = new_cells.max().filter(|c| *c >= cells) {
            return Err(PmaError::Cell { cell, cells });
        }
        let new_len = (self.len + batch.inserts.len()).saturating_sub(batch.removes.len());
        self.room_for(new_len)?;
        let many = self.many(batch.moves.len() + batch.inserts.len(), new_len);
        // What moves stays where it is, if all will be built anew: straight from the old slots to the new ones.
        self.take_out(batch, !many)?;
        self.len = new_len;
        if many {
            let slots = core::mem::take(&mut self.slots);
            let moves = || batch.moves.iter().map(|m| (m.1, &slots[m.0 as usize]));
            self.rebuild(&slots, false, || moves().chain(batch.inserts.iter().map(|i| (i.0, &i.1))));
            self.work.fresh = slots;
            return Ok(());
        }
        self.work.cells.clear();
        self.work.cells.extend(batch.moves.iter().map(|m| m.1));
        self.work.cells.extend(batch.inserts.iter().map(|i| i.0));
        self.work.items.extend(batch.inserts.iter().map(|i| i.1));
        self.put_in(spread);
        Ok(())
    }

    /// Frees the slots of what goes or moves; copies what moves to the incoming list, if `copy`.
    fn take_out(&mut self, batch: &CellBatch<P>, copy: bool) -> Result<(), PmaError> {
        self.work.items.clear();
        self.work.taken.clear();
        let moving = batch.moves.len();
        let slots = || batch.moves.iter().map(|m| m.0).chain(batch.removes.iter().copied());
        let mut soon = slots().skip(AHEAD);
        for (done, slot) in slots().enumerate() {
            let at = slot as usize;
            let tag = self.tags.get(at).copied().unwrap_or(FREE);
            if tag == FREE {
                // Put back what was taken: the call has no effect.
                for (slot, tag) in slots().zip(&self.work.taken) {
                    self.tags[slot as usize] = *tag;
                    self.masks[slot as usize / WIDE][slot as usize % WIDE / 64] |= 1 << (slot % 64);
                }
                return Err(PmaError::Vacant { slot });
            }
            self.work.taken.push(tag);
            self.tags[at] = FREE;
            self.masks[at / WIDE][at % WIDE / 64] &= !(1 << (at % 64));
            if copy && done < moving {
                if let Some(item) = soon.next().and_then(|s| self.slots.get(s as usize)) {
                    arch::prefetch(item);
                }
                self.work.items.push(self.slots[at]);
            }
        }
        slots().for_each(|slot| self.room_made(slot as usize / WIDE));
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
    /// of `spread`; the result is the same for any.
    ///
    /// # Errors
    /// [`PmaError::Cell`] if a cell does not exist: such movers stay in their cells, such births are left out, and
    /// all else is done. [`PmaError::TooMany`]: nothing has been done.
    pub fn update<F>(&mut self, births: &[(u32, P)], spread: &dyn Spread, f: F) -> Result<(), PmaError>
    where
        F: Fn(&mut P, u32) -> Fate + Sync,
    {
        self.room_for(self.len + births.len())?;
        let cells = self.cells();
        let segments = self.heads.len();
        let tasks = if segments < 16 { 1 } else { spread.width().clamp(1, 64) };
        let cuts: Vec<usize> = (0..=tasks).map(|t| segments * t / tasks).collect();
        let mut work = core::mem::take(&mut self.work);
        let mut found: Vec<Mutex<(Share<'_, P>, Found<P>)>> = Vec::with_capacity(tasks);
        for share in self.shares(&cuts) {
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
        spread.spread(found.len(), &|t| {
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
        self.put_in(spread);
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
        self.put_in(&Alone);
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
            self.rebuild_waiting(Some(&[]));
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
        coming as f64 > self.settings.rebuild * len as f64 && coming > WIDE
    }

    /// Splits the segments at `cuts` (which rise from 0 to their number).
    fn shares(&mut self, cuts: &[usize]) -> Vec<Share<'_, P>> {
        let (mut slots, mut tags) = (&mut self.slots[..], &mut self.tags[..]);
        let (mut masks, mut heads) = (&mut self.masks[..], &mut self.heads[..]);
        let mut shares = Vec::with_capacity(cuts.len());
        for cut in cuts.windows(2) {
            let n = cut[1] - cut[0];
            let (s, t, m, h);
            (s, slots) = slots.split_at_mut(n * WIDE);
            (t, tags) = tags.split_at_mut(n * WIDE);
            (m, masks) = masks.split_at_mut(n);
            (h, heads) = heads.split_at_mut(n);
            let overflow = Vec::new();
            shares.push(Share { first: cut[0], slots: s, tags: t, masks: m, heads: h, overflow, moves: 0 });
        }
        shares
    }

    /// Puts the elements in the work room into their cells; `len` counts them already.
    fn put_in(&mut self, spread: &dyn Spread) {
        let coming = self.work.cells.len();
        if self.slots.is_empty() || self.many(coming, self.len) || self.too_full() || self.too_empty() {
            self.rebuild_waiting(None);
            return;
        }
        let segments = self.heads.len();
        let tasks = if coming < 2048 { 1 } else { spread.width().clamp(1, 64).min(segments) };
        // A run stays in one piece.
        let mut cuts = vec![0];
        for t in 1..tasks {
            let mut cut = (segments * t / tasks).max(cuts[t - 1]);
            while cut > 0 && cut < segments && self.heads[cut].base == self.heads[cut - 1].base {
                cut += 1;
            }
            cuts.push(cut);
        }
        cuts.push(segments);
        let mut work = core::mem::take(&mut self.work);
        let route = core::mem::take(&mut self.route);
        work.overflow.clear();
        let shares: Vec<_> = self.shares(&cuts).into_iter().map(Mutex::new).collect();
        let place = |t: usize| {
            let mut share = shares[t].lock().unwrap_or_else(PoisonError::into_inner);
            share.place(&route, &work.cells, &work.items);
        };
        if tasks == 1 {
            place(0);
        } else {
            spread.spread(tasks, &place);
        }
        let mut moves = 0;
        for share in shares {
            let share = share.into_inner().unwrap_or_else(PoisonError::into_inner);
            moves += share.moves;
            work.overflow.extend_from_slice(&share.overflow);
        }
        self.route = route;
        self.moves += moves;
        let overflow = core::mem::take(&mut work.overflow);
        self.work = work;
        self.settle_all(overflow);
    }
}

impl<P: Copy> Share<'_, P> {
    /// Runs `f` over the elements and takes out those that leave their cells.
    fn update(&mut self, cells: u32, found: &mut Found<P>, f: &impl Fn(&mut P, u32) -> Fate) {
        for segment in 0..self.heads.len() {
            let base = self.heads[segment].base;
            for w in 0..WIDE / 64 {
                ask_ahead(self.slots, segment, w);
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
                        Fate::Stay => continue,
                        Fate::Move(to) if to == cell => continue,
                        Fate::Move(to) if to >= cells => {
                            found.wrong = found.wrong.or(Some(to));
                            continue;
                        }
                        Fate::Move(to) => {
                            found.cells.push(to);
                            found.items.push(*item);
                        }
                        Fate::Gone => found.gone += 1,
                    }
                    *tag = FREE;
                    stay &= !(1 << i);
                }
                *word = stay;
            }
        }
    }
}
