//! Rebuilding the whole array, and applying a layout.

use super::layout::{Fill, Layout};
use super::partition::Partition;
use super::scatter::scatter;
use super::workspace::Workspace;
use super::{CellPma, FREE, Head, MAX_SLOTS, WIDE, lowest};
use crate::pma::{PmaError, Ranked};
use crate::simd::{Level, multiversion, prefetch};
use grainfield_filters::host::Executor;
use std::sync::{Mutex, PoisonError};

/// The prefetch distance in elements, ahead of the one being placed.
const NEAR: usize = 16;
/// In a list of goals: a batch contains this slot.
pub(super) const NAMED: u32 = 1 << 31;
/// The number of elements from which more than one task is faster.
const SHARED: usize = 1 << 15;

/// The number of incoming elements, and the cell and payload of each.
pub(super) type Incoming<'a, 'p, P> = (usize, &'a (dyn Fn(usize) -> (u32, &'p P) + Sync));

impl<P: Ranked> CellPma<P> {
    /// Rebuilds the array with the entries of the incoming list in `waiting` (all, if `None`), for which there was
    /// no slot.
    pub(super) fn rebuild_waiting(&mut self, waiting: Option<&[u32]>, executor: &dyn Executor) {
        let mut goals = core::mem::take(&mut self.work.goals);
        self.goals(&mut goals);
        self.work.goals = goals;
        let cells = core::mem::take(&mut self.work.cells);
        let items = core::mem::take(&mut self.work.items);
        let slots = core::mem::take(&mut self.slots);
        match waiting {
            None => self.rebuild(&slots, false, (items.len(), &|i| (cells[i], &items[i])), executor),
            Some(w) => {
                let entry = |i: usize| (cells[w[i] as usize], &items[w[i] as usize]);
                self.rebuild(&slots, true, (w.len(), &entry), executor);
            }
        }
        self.work.fresh = slots;
        self.work.cells = cells;
        self.work.items = items;
    }

    /// Fills `goals` with the cell of each slot's element, or the number of cells for a free slot.
    pub(super) fn goals(&self, goals: &mut Vec<u32>) {
        let vacant = self.cells();
        goals.resize(self.tags.len(), vacant);
        let tags = self.tags.as_chunks::<WIDE>().0;
        let goals = goals.as_chunks_mut::<WIDE>().0;
        for ((head, tags), goals) in self.heads.iter().zip(tags).zip(goals) {
            segment_goals(self.level, head.base, vacant, tags, goals);
        }
    }

    /// Rebuilds the array: the elements of `slots` (removed from `self`) move to their goals in the workspace,
    /// together with incoming elements. `crowded`: the reason is a lack of free slots. Each task counts a part of
    /// the elements and then places those of a part of the cells, so that the slots do not depend on the number of
    /// tasks.
    pub(super) fn rebuild(
        &mut self,
        slots: &[P],
        crowded: bool,
        coming: Incoming<'_, '_, P>,
        executor: &dyn Executor,
    ) {
        let (n, entry) = coming;
        // No slot is read before it is written, so any value serves to initialise the memory.
        let Some(any) = (n > 0).then(|| *entry(0).1).or(slots.first().copied()) else {
            // There has been no element yet.
            self.clear();
            return;
        };
        let mut work = core::mem::take(&mut self.work);
        let level = self.level;
        let cells = self.route.len();
        let tasks = if self.len < SHARED { 1 } else { executor.width().clamp(1, 64) };
        tally(&mut work, cells, coming, tasks, self.len, executor);
        let mut counts = work.tallies.first_mut().map(own).map(core::mem::take).unwrap_or_default();
        let target = self.settings.target();
        // After a rebuild for lack of free slots, empty segments are spread so that later insertions find
        // some near.
        let spare = if crowded { 8 } else { 0 };
        let most = self.settings.most();
        work.layout.make(0, &counts, &Fill { target, full: target, most, spare });
        work.layout.pad(1, cells as u32);
        work.layout.set_next(0);
        cursors(&mut counts, 0, 0, &work.layout);
        // Payloads into new memory; tags and masks follow from the layout.
        let segments = work.layout.heads.len();
        work.fresh.resize(segments * WIDE, any);
        self.slots = core::mem::take(&mut work.fresh);
        self.tags.resize(segments * WIDE, FREE);
        self.masks.resize(segments, [0; WIDE / 64]);
        self.heads.clear();
        self.heads.extend_from_slice(&work.layout.heads);
        let cuts = self.cuts(tasks);
        let mut rest = &mut counts[..];
        let mut parts = Vec::with_capacity(tasks);
        for share in self.partitions(&cuts) {
            let (mine, others) = rest.split_at_mut(share.route.len());
            rest = others;
            parts.push(Mutex::new((share, mine)));
        }
        let (goals, layout) = (&work.goals[..], &work.layout);
        let fill = |t: usize| {
            let mut part = parts[t].lock().unwrap_or_else(PoisonError::into_inner);
            let (share, cursors) = &mut *part;
            share.fill(level, slots, goals, coming, cursors);
            let (low, segments) = (share.low, share.first..share.first + share.heads.len());
            let high = low + share.route.len() as u32;
            let taken = (&layout.heads[segments.clone()], &layout.counts[segments]);
            if !share.heads.is_empty() {
                share.adopt(0, (low, high), taken, cursors);
            }
        };
        if tasks > 1 {
            executor.execute(tasks, &fill);
        } else {
            fill(0);
        }
        drop(parts);
        if let Some(tally) = work.tallies.first_mut() {
            *own(tally) = counts;
        }
        self.work = work;
        self.built = self.len;
        self.moves += self.len as u64;
    }

    /// Whether the slots of `len` elements can be numbered in the worst case: two neighbouring segments together
    /// reach the target of one, with empty cells between them.
    pub(super) fn room_for(&self, len: usize) -> Result<(), PmaError> {
        let most = (MAX_SLOTS / WIDE).saturating_sub(self.cells() as usize / 128)
            * (self.settings.target() / 4).max(1);
        if len > most { Err(PmaError::TooMany { len, most }) } else { Ok(()) }
    }
}

multiversion! {
    fn segment_goals(level, base: u32, vacant: u32, tags: &[u8; WIDE], goals: &mut [u32; WIDE]) = segment_goals_body;
}

/// The cell of each tag.
#[inline(always)]
fn segment_goals_body(base: u32, vacant: u32, tags: &[u8; WIDE], goals: &mut [u32; WIDE]) {
    for (goal, tag) in goals.iter_mut().zip(tags) {
        *goal = if *tag == FREE { vacant } else { base.wrapping_add(u32::from(*tag)) };
    }
}

/// The contents of a mutex without other users.
fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the elements of each cell into the first list.
fn tally<P>(
    work: &mut Workspace<P>,
    cells: usize,
    (n, entry): Incoming<'_, '_, P>,
    tasks: usize,
    len: usize,
    executor: &dyn Executor,
) {
    // Every task has a list of all cells: not more lists than elements justify.
    let tasks = tasks.min(len / cells.max(1)).max(1);
    work.tallies.resize_with(tasks.max(work.tallies.len()), Mutex::default);
    let (goals, tallies) = (&work.goals, &work.tallies);
    let count = |t: usize| {
        let part = |n: usize| n * t / tasks..n * (t + 1) / tasks;
        let goals = &goals[part(goals.len())];
        let mut counts = tallies[t].lock().unwrap_or_else(PoisonError::into_inner);
        counts.clear();
        // Free slots are counted as a cell after the last.
        let all = cells + 1;
        // Neighbours mostly have the same cell, and reading a count that has just been written is slow: with two
        // alternating lists this is half as frequent.
        let lists = if all < goals.len() / 4 { 2 } else { 1 };
        counts.resize(lists * all, 0);
        let (first, second) = counts.split_at_mut(all);
        let (pairs, rest) = if lists == 2 { goals.as_chunks::<2>() } else { (&[][..], goals) };
        for [a, b] in pairs {
            first[(a & !NAMED) as usize] += 1;
            second[(b & !NAMED) as usize] += 1;
        }
        for goal in rest {
            first[(goal & !NAMED) as usize] += 1;
        }
        part(n).for_each(|i| first[entry(i).0 as usize] += 1);
        first.iter_mut().zip(second).for_each(|(a, b)| *a += *b);
        counts.truncate(cells);
    };
    if tasks == 1 {
        count(0);
        return;
    }
    executor.execute(tasks, &count);
    if let Some((first, others)) = work.tallies[..tasks].split_first_mut() {
        for other in others {
            own(first).iter_mut().zip(own(other)).for_each(|(sum, n)| *sum += *n);
        }
    }
}

impl<P: Ranked> Partition<'_, P> {
    /// Inserts the elements whose goals are cells of this partition into its slots: those of `slots`, then incoming
    /// ones. The cursors belong to the partition's cells.
    fn fill(
        &mut self,
        level: Level,
        slots: &[P],
        goals: &[u32],
        (n, entry): Incoming<'_, '_, P>,
        cursors: &mut [u32],
    ) {
        let (low, first) = (self.low, (self.first * WIDE) as u32);
        scatter(level, (slots, goals), !NAMED, (low, cursors), (first, self.slots));
        for i in 0..n {
            if i + NEAR < n {
                let (cell, item) = entry(i + NEAR);
                prefetch(item);
                if let Some(to) = cursors.get(cell.wrapping_sub(low) as usize)
                    && let Some(to) = self.slots.get(to.wrapping_sub(first) as usize)
                {
                    prefetch(to);
                }
            }
            let (cell, item) = entry(i);
            if let Some(to) = cursors.get_mut(cell.wrapping_sub(low) as usize) {
                self.slots[(*to - first) as usize] = *item;
                *to += 1;
            }
        }
    }

    /// Applies a layout whose elements are in place and whose cursors (of the cells `low..high`, in slots of the
    /// whole array) are at the ends of the cells' slots, to the partition's segments from `first` on.
    pub(super) fn adopt(
        &mut self,
        first: usize,
        (low, high): (u32, u32),
        (heads, counts): (&[Head], &[u32]),
        cursors: &[u32],
    ) {
        /// The number of tags that are written at once: most cells have fewer.
        const SOME: usize = 32;
        self.heads[first..first + heads.len()].copy_from_slice(heads);
        let mut from = low;
        let route = |share: &mut Self, from: u32, to: u32, segment: usize| {
            share.route[(from - share.low) as usize..(to - share.low) as usize].fill(segment as u32);
        };
        for (i, (head, &n)) in heads.iter().zip(counts).enumerate() {
            let (segment, n) = (first + i, n as usize);
            let number = self.first + segment;
            // Cells before the base belong to the segment before.
            route(self, from, head.base, number.saturating_sub(1));
            from = head.base;
            self.masks[segment] = lowest(n);
            let Some(tags) = self.tags[segment * WIDE..].first_chunk_mut::<WIDE>() else { return };
            if head.span == 1 {
                tags.fill(FREE);
                tags[..n].fill(0);
                continue;
            }
            let mut start = 0;
            let mut cell = head.base;
            while start < n {
                let end = cursors[(cell - low) as usize] as usize;
                let end = end.saturating_sub(number * WIDE).min(n);
                // Cells without elements keep a cursor of zero.
                if end > start {
                    let tag = (cell - head.base) as u8;
                    match tags[start..].first_chunk_mut::<SOME>() {
                        // Tags beyond the cell's end are overwritten by those of the next cell.
                        Some(some) if end - start <= SOME => *some = [tag; SOME],
                        _ => tags[start..end].fill(tag),
                    }
                    start = end;
                }
                cell += 1;
            }
            tags[n..].fill(FREE);
        }
        route(self, from, high, self.first + first + heads.len() - 1);
    }
}

/// Converts the counts of the cells from `low` on into their first slots, in a layout that begins with segment
/// `first`. Empty cells get 0.
pub(super) fn cursors(counts: &mut [u32], first: usize, low: u32, layout: &Layout) {
    let mut segment = 0;
    let mut end = 0;
    let mut at = 0;
    for (cell, count) in (low..).zip(counts.iter_mut()) {
        if *count == 0 {
            continue;
        }
        if at == end {
            // The segment is complete: go on with the next that begins at or before this cell.
            while layout.counts[segment] == 0 {
                segment += 1;
            }
            debug_assert!(layout.heads[segment].base <= cell);
            at = (first + segment) * WIDE;
            end = at + layout.counts[segment] as usize;
            segment += 1;
            if layout.heads[segment - 1].span == 1 {
                // A run is filled without gaps, so one cursor is sufficient for all of it.
                while layout.heads[segment - 1].run == 1 {
                    end += layout.counts[segment] as usize;
                    segment += 1;
                }
            }
        }
        let n = core::mem::replace(count, at as u32);
        at += n as usize;
    }
}
