//! Finding slots for elements that do not fit into their segments.

use super::layout::{Fill, Segment};
use super::{CellPma, MAX_DENSITY, Ranked, WIDTH, Workspace};

impl<P: Ranked> CellPma<P> {
    /// Inserts the incoming elements for which there was no slot.
    pub(super) fn rebalance(&mut self, work: &mut Workspace<P>) {
        let mut overflow = core::mem::take(&mut work.overflow);
        // In the order of segments; those of the same segment in the order of the list.
        overflow.sort_by_key(|entry| self.segment_for(*entry, work));
        let mut rest = &overflow[..];
        while !rest.is_empty() {
            let Some(placed) = self.rebalance_first(rest, work) else {
                let left: Vec<(u32, P)> = rest.iter().map(|i| work.incoming[*i as usize]).collect();
                self.rebuild_crowded(&left, work);
                break;
            };
            rest = &rest[placed..];
        }
        work.overflow = overflow;
    }

    /// The segment to which the cell of an entry leads.
    fn segment_for(&self, entry: u32, work: &Workspace<P>) -> usize {
        self.route[work.incoming[entry as usize].0 as usize] as usize
    }

    /// Lays out the smallest window with room around the segment of the first entry; returns the number of its entries.
    fn rebalance_first(&mut self, entries: &[u32], work: &mut Workspace<P>) -> Option<usize> {
        let segments = self.segments.len();
        // Windows that have been laid out before this one have changed no routes of its cells.
        let segment = self.segment_for(*entries.first()?, work);
        let height = segments.next_power_of_two().ilog2().max(1);
        for level in 1..=height {
            let mut from = segment >> level << level;
            let mut to = (from + (1 << level)).min(segments);
            // Neither a run nor segments with the same cells are split.
            while from > 0 && self.segments[from - 1].base == self.segments[from].base {
                from -= 1;
            }
            while to < segments && self.segments[to].base == self.segments[to - 1].base {
                to += 1;
            }
            let waiting = entries.iter().take_while(|entry| self.segment_for(**entry, work) < to).count();
            let density = 1.0 - (1.0 - MAX_DENSITY) * f64::from(level) / f64::from(height);
            let most = (density * ((to - from) * WIDTH) as f64) as usize;
            let lens = self.segments[from..to].iter().map(Segment::len);
            if lens.sum::<usize>() + waiting <= most && self.relayout(from, to, &entries[..waiting], work) {
                return Some(waiting);
            }
        }
        None
    }

    /// Lays out the segments `from..to` with the waiting entries, if each cell finds a place.
    fn relayout(&mut self, from: usize, to: usize, waiting: &[u32], work: &mut Workspace<P>) -> bool {
        let Workspace { incoming, lifted, counts, layout, .. } = work;
        // Elements of cells before the first segment's base may wait for it.
        let low = if from == 0 { 0 } else { self.segments[from].base };
        let high = self.segments.get(to).map_or(self.cells(), |next| next.base);
        lifted.clear();
        for at in from..to {
            self.for_each_of(at, |slot, cell| lifted.push((cell, self.slots[slot])));
        }
        lifted.extend(waiting.iter().map(|entry| incoming[*entry as usize]));
        counts.clear();
        counts.resize((high - low) as usize, 0);
        lifted.iter().for_each(|(cell, _)| counts[(cell - low) as usize] += 1);
        // Distributed evenly if possible; cells are not split, so some segments may have to be fuller.
        let even = lifted.len().div_ceil(to - from).max(1);
        let fits = [even, even.midpoint(WIDTH)].into_iter().any(|target| {
            layout.make(low, from, counts, &Fill { target, run: self.target(), most: WIDTH, spare: 0 });
            layout.segments.len() <= to - from
        });
        if !fits {
            return false;
        }
        layout.pad(to - from, high);
        self.install(low, from, counts, layout);
        for (cell, item) in &*lifted {
            let to = &mut layout.starts[(cell - low) as usize];
            self.slots[*to as usize] = *item;
            *to += 1;
        }
        true
    }
}
