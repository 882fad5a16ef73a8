//! Rebalancing: finding slots for elements that do not fit into their segments.

use super::layout::Fill;
use super::partition::Partition;
use super::rebuild::cursors;
use super::workspace::{WindowBuffer, Workspace};
use super::{CellPma, FREE, WIDE, count};
use crate::pma::Ranked;
use grainfield_filters::host::Executor;
use std::sync::{Mutex, PoisonError};

/// From this number of entries without a slot on, ranges of [`STRETCH`] segments are rebalanced separately first.
/// Neither number depends on the number of threads, so that the result does not.
const APART: usize = 64;
const STRETCH: usize = 64;

/// The entries of the incoming list, and settings, for rebalancing.
struct Rules<'a, P> {
    cells: &'a [u32],
    items: &'a [P],
    bounds: super::Bounds,
    /// Elements per segment after a rebuild.
    full: usize,
    /// The number of levels of the whole array.
    height: u32,
    /// The number of segments of the whole array.
    segments: usize,
}

impl<P: Ranked> CellPma<P> {
    /// Finds slots for the entries of the incoming list that have none.
    pub(super) fn rebalance_all(&mut self, mut overflow: Vec<u32>, executor: &dyn Executor) {
        let mut work = core::mem::take(&mut self.work);
        let (route, cells) = (&self.route, &work.cells);
        // In the order of segments; those of the same segment in the order of the list.
        overflow.sort_by_key(|i| route[cells[*i as usize] as usize]);
        if overflow.len() >= APART {
            overflow = self.rebalance_partitions(&overflow, &mut work, executor);
        }
        if !overflow.is_empty() {
            let left =
                self.rebalance_partition(vec![0, self.heads.len()], vec![&overflow[..]], &mut work, executor);
            self.work = core::mem::take(&mut work);
            if !left.is_empty() {
                self.rebuild_waiting(Some(&left), executor);
            }
            work = core::mem::take(&mut self.work);
        }
        overflow.clear();
        work.overflow = overflow;
        self.work = work;
    }

    /// Rebalances each range of segments separately, in parallel; returns the entries that need a wider
    /// window.
    fn rebalance_partitions(
        &mut self,
        overflow: &[u32],
        work: &mut Workspace<P>,
        executor: &dyn Executor,
    ) -> Vec<u32> {
        let segments = self.heads.len();
        let mut cuts = vec![0];
        let mut entries = vec![];
        let mut rest = overflow;
        while let Some(last) = cuts.last().copied().filter(|last| *last < segments) {
            let cut = self.whole_runs((last / STRETCH + 1) * STRETCH).min(segments);
            let here =
                rest.partition_point(|i| (self.route[work.cells[*i as usize] as usize] as usize) < cut);
            let (now, later) = rest.split_at(here);
            cuts.push(cut);
            entries.push(now);
            rest = later;
        }
        self.rebalance_partition(cuts, entries, work, executor)
    }

    /// Rebalances the entries of each partition; returns those that do not fit into their partition.
    fn rebalance_partition(
        &mut self,
        cuts: Vec<usize>,
        entries: Vec<&[u32]>,
        work: &mut Workspace<P>,
        executor: &dyn Executor,
    ) -> Vec<u32> {
        let segments = self.heads.len();
        let rules = Rules {
            cells: &work.cells,
            items: &work.items,
            bounds: self.settings.bounds,
            full: self.settings.target(),
            height: segments.next_power_of_two().ilog2(),
            segments,
        };
        let partitions = self.partitions(&cuts).into_iter().zip(entries).filter(|(_, e)| !e.is_empty());
        let partitions: Vec<_> = partitions.map(Mutex::new).collect();
        let tasks = executor.width().clamp(1, 64).min(partitions.len());
        work.rooms.resize_with(tasks.max(work.rooms.len()), Mutex::default);
        let rooms = &work.rooms;
        let rebalance = |t: usize| {
            let mut room = rooms[t].lock().unwrap_or_else(PoisonError::into_inner);
            for share in partitions.iter().skip(t).step_by(tasks) {
                let mut share = share.lock().unwrap_or_else(PoisonError::into_inner);
                let (share, entries) = &mut *share;
                share.rebalance_all(entries, &rules, &mut room);
            }
        };
        if tasks > 1 {
            executor.execute(tasks, &rebalance);
        } else {
            rebalance(0);
        }
        let mut left = vec![];
        let mut moves = 0;
        for share in partitions {
            let (share, _) = share.into_inner().unwrap_or_else(PoisonError::into_inner);
            left.extend_from_slice(&share.overflow);
            moves += share.moves;
        }
        self.moves += moves;
        left
    }
}

impl<P: Ranked> Partition<'_, P> {
    /// Rebalances entries in the order of their segments; from the first that does not fit here, they are put into
    /// `overflow`.
    fn rebalance_all(&mut self, entries: &[u32], rules: &Rules<'_, P>, room: &mut WindowBuffer<P>) {
        let mut next = 0;
        while next < entries.len() {
            match self.rebalance_first(&entries[next..], rules, room) {
                Some(settled) => next += settled,
                None => {
                    self.overflow.extend_from_slice(&entries[next..]);
                    return;
                }
            }
        }
    }

    /// The segment of an entry of the incoming list, counted from the partition's first segment.
    fn segment_for(&self, entry: u32, rules: &Rules<'_, P>) -> usize {
        (self.route[(rules.cells[entry as usize] - self.low) as usize] as usize).saturating_sub(self.first)
    }

    /// Rebalances the smallest window with enough free slots around the segment of the first entry; returns the
    /// number of entries.
    fn rebalance_first(
        &mut self,
        entries: &[u32],
        rules: &Rules<'_, P>,
        room: &mut WindowBuffer<P>,
    ) -> Option<usize> {
        let segments = self.heads.len();
        // Windows rebalanced before this one have new routes, but not for cells from this window's segments
        // on.
        let segment = self.first + self.segment_for(entries[0], rules);
        let mut tried = (0, 0);
        for level in 1.. {
            // Windows are aligned to the first segment of the whole array.
            let start = segment >> level << level;
            let end = (start + (1 << level)).min(rules.segments);
            if start < self.first || end > self.first + segments {
                return None;
            }
            let (mut from, mut to) = (start - self.first, end - self.first);
            while from > 0 && self.heads[from - 1].base == self.heads[from].base {
                from -= 1;
            }
            while to < segments && self.heads[to].base == self.heads[to - 1].base {
                to += 1;
            }
            if (from, to) == tried {
                continue;
            }
            tried = (from, to);
            // The entries of the window come first, as those of segments before have been placed.
            let waiting = entries.iter().take_while(|i| self.segment_for(**i, rules) < to).count();
            if self.rebalance((from, to), &entries[..waiting], level, rules, room) {
                return Some(waiting);
            }
            if to - from == segments {
                return None;
            }
        }
        None
    }

    /// Lays out a window with the waiting elements, if it has enough slots for them; `level` is its level.
    fn rebalance(
        &mut self,
        (from, to): (usize, usize),
        waiting: &[u32],
        level: u32,
        rules: &Rules<'_, P>,
        room: &mut WindowBuffer<P>,
    ) -> bool {
        let segments = to - from;
        let held: usize = self.masks[from..to].iter().map(count).sum();
        let total = held + waiting.len();
        let (_, tau) = rules.bounds.at(level.min(rules.height), rules.height);
        if total as f64 > tau * (segments * WIDE) as f64 {
            return false;
        }
        let low = if from == 0 { self.low } else { self.heads[from].base };
        let high =
            if to == self.heads.len() { self.low + self.route.len() as u32 } else { self.heads[to].base };
        let WindowBuffer { counts, layout, lifted } = room;
        counts.clear();
        counts.resize((high - low) as usize, 0);
        for segment in from..to {
            let base = (self.heads[segment].base - low) as usize;
            let tags = &self.tags[segment * WIDE..][..WIDE];
            for tag in tags.iter().filter(|tag| **tag != FREE) {
                counts[base + *tag as usize] += 1;
            }
        }
        for &i in waiting {
            counts[(rules.cells[i as usize] - low) as usize] += 1;
        }
        // Distributed evenly if possible; cells are not split, so some segments may have to be fuller.
        let even = total.div_ceil(segments).max(1);
        let fits = [even, even.midpoint(WIDE)].into_iter().any(|target| {
            layout.make(low, counts, &Fill { target, full: rules.full, most: WIDE, spare: 0 });
            layout.heads.len() <= segments
        });
        if !fits {
            return false;
        }
        layout.pad(segments, high);
        layout.set_next(self.first + from);
        cursors(counts, self.first + from, low, layout);
        lifted.clear();
        for segment in from..to {
            let (at, base) = (segment * WIDE, self.heads[segment].base);
            let slots = self.tags[at..at + WIDE].iter().zip(&self.slots[at..at + WIDE]);
            let held = slots.filter(|(tag, _)| **tag != FREE);
            lifted.extend(held.map(|(tag, item)| (base + u32::from(*tag), *item)));
        }
        lifted.extend(waiting.iter().map(|&i| (rules.cells[i as usize], rules.items[i as usize])));
        for (cell, item) in &*lifted {
            let to = &mut counts[(cell - low) as usize];
            self.slots[*to as usize - self.first * WIDE] = *item;
            *to += 1;
        }
        self.adopt(from, (low, high), (&layout.heads, &layout.counts), counts);
        self.moves += total as u64;
        true
    }
}
