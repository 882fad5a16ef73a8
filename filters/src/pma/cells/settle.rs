//! Finding room for what found none in its segment.

use super::layout::Fill;
use super::rebuild::cursors;
use super::{CellPma, FREE, WIDE};
use crate::pma::Ranked;

impl<P: Ranked> CellPma<P> {
    /// Finds room for the entries of the incoming list that found none.
    pub(super) fn settle_all(&mut self, mut overflow: Vec<u32>) {
        let route = &self.route;
        let cells = &self.work.cells;
        let segment_of = |i: u32| route[cells[i as usize] as usize];
        // In the order of the segments, those of one segment in the order of the list.
        overflow.sort_by_key(|i| segment_of(*i));
        let mut next = 0;
        while next < overflow.len() {
            next = match self.settle_first(&overflow[next..]) {
                Some(settled) => next + settled,
                None => {
                    self.rebuild_waiting(Some(&overflow[next..]));
                    overflow.len()
                }
            };
        }
        overflow.clear();
        self.work.overflow = overflow;
    }

    /// Where an entry of the incoming list belongs.
    fn segment_for(&self, entry: u32) -> usize {
        self.route[self.work.cells[entry as usize] as usize] as usize
    }

    /// Settles the smallest window with room around the segment of the first entry; how many entries that were.
    fn settle_first(&mut self, overflow: &[u32]) -> Option<usize> {
        let segments = self.heads.len();
        // Windows settled before this one have new routes, but never for cells from this one's segment on.
        let first = self.segment_for(overflow[0]);
        let mut tried = (0, 0);
        for level in 1.. {
            let mut from = first >> level << level;
            let mut to = (from + (1 << level)).min(segments);
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
            // Those of the window; they come first, as entries of segments before have been settled.
            let waiting = overflow.iter().take_while(|i| self.segment_for(**i) < to).count();
            if self.settle((from, to), &overflow[..waiting], level) {
                return Some(waiting);
            }
            if to - from == segments {
                return None;
            }
        }
        None
    }

    /// Lays out a window anew with the waiting elements, if it has room for them; `level` is its level.
    fn settle(&mut self, (from, to): (usize, usize), waiting: &[u32], level: u32) -> bool {
        let segments = to - from;
        let held: usize = (from..to).map(|s| self.count(s)).sum();
        let total = held + waiting.len();
        let height = self.masks.len().next_power_of_two().ilog2();
        let (_, tau) = self.settings.bounds.at(level.min(height), height);
        if total as f64 > tau * (segments * WIDE) as f64 {
            return false;
        }
        let low = if from == 0 { 0 } else { self.heads[from].base };
        let high = if to == self.heads.len() { self.cells() } else { self.heads[to].base };
        let mut work = core::mem::take(&mut self.work);
        work.counts.clear();
        work.counts.resize((high - low) as usize, 0);
        for segment in from..to {
            let base = (self.heads[segment].base - low) as usize;
            let (tags, counts) = (&self.tags[segment * WIDE..][..WIDE], &mut work.counts);
            for tag in tags.iter().filter(|tag| **tag != FREE) {
                counts[base + *tag as usize] += 1;
            }
        }
        for &i in waiting {
            work.counts[(work.cells[i as usize] - low) as usize] += 1;
        }
        // Shared out evenly if that can be; cells are not split, so some segments may have to be fuller.
        let full = self.settings.target();
        let even = total.div_ceil(segments).max(1);
        let fits = [even, even.midpoint(WIDE)].into_iter().any(|target| {
            work.layout.make(low, &work.counts, &Fill { target, full, most: WIDE, spare: 0 });
            work.layout.heads.len() <= segments
        });
        if fits {
            work.layout.pad(segments, high);
            work.layout.set_next(from);
            cursors(&mut work.counts, from, low, &work.layout);
            work.lifted.clear();
            for segment in from..to {
                let (at, base) = (segment * WIDE, self.heads[segment].base);
                let slots = self.tags[at..at + WIDE].iter().zip(&self.slots[at..at + WIDE]);
                let held = slots.filter(|(tag, _)| **tag != FREE);
                work.lifted.extend(held.map(|(tag, item)| (base + u32::from(*tag), *item)));
            }
            work.lifted.extend(waiting.iter().map(|&i| (work.cells[i as usize], work.items[i as usize])));
            for (cell, item) in &work.lifted {
                let to = &mut work.counts[(cell - low) as usize];
                self.slots[*to as usize] = *item;
                *to += 1;
            }
        }
        self.work = work;
        if fits {
            self.adopt(from, low, high);
            self.moves += total as u64;
        }
        fits
    }
}
