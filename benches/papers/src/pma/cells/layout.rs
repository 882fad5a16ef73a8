//! The assignment of cells to segments.

use super::{Head, NO_ROOM, SPAN, WIDE};

/// The segments for a range of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// One per segment, including those of a run.
    pub(super) heads: Vec<Head>,
    /// The number of elements of each segment, which is filled from its lowest slot.
    pub(super) counts: Vec<u32>,
}

/// The filling of segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// The target number of elements per segment.
    pub(super) target: usize,
    /// The target number of elements per segment of a run.
    pub(super) full: usize,
    /// The largest number of elements per segment.
    pub(super) most: usize,
    /// An empty segment is added after this many segments; 0: none.
    pub(super) spare: usize,
}

/// The segment being filled.
struct Open {
    /// Its first cell.
    base: u32,
    /// The first cell that cannot be reached by any segment before it.
    free_from: u32,
    /// Its last cell so far.
    last: u32,
    /// Its elements so far.
    held: usize,
}

impl Layout {
    /// Lays out cells `low..` with the given counts, in one segment each or, if a cell is too large, in a
    /// run.
    pub(super) fn make(&mut self, low: u32, counts: &[u32], how: &Fill) {
        self.heads.clear();
        self.counts.clear();
        // Segments keep space to grow, and a cell that needs more has a run.
        let cap = how.target.midpoint(WIDE).min(how.most);
        let large = how.full.midpoint(WIDE).min(how.most);
        let mut open = Open { base: low, free_from: low, last: low, held: 0 };
        for (cell, n) in (low..).zip(counts.iter().map(|n| *n as usize)).filter(|(_, n)| *n > 0) {
            let fits = n <= large
                && open.held + n <= cap.max(n)
                && cell - open.base < SPAN
                && open.held + n / 2 <= how.target.max(n);
            if open.held > 0 && !fits {
                self.close(&mut open, how);
            }
            if n > large {
                let run = n.div_ceil(how.full);
                self.spare(cell, how);
                for i in 0..run {
                    let here = n.saturating_sub(i * WIDE).min(WIDE);
                    self.heads.push(Head { base: cell, span: 1, run: 1, next: NO_ROOM });
                    self.counts.push(here as u32);
                }
                if let Some(last) = self.heads.last_mut() {
                    last.run = run as u32;
                }
                open.free_from = cell + 1;
                continue;
            }
            if open.held == 0 {
                open.base = cell;
            }
            open.held += n;
            open.last = cell;
        }
        if open.held > 0 {
            self.close(&mut open, how);
        }
    }

    fn close(&mut self, open: &mut Open, how: &Fill) {
        // Half of the cells in reach beyond its own are empty cells before it: elements may move there, too.
        let beside = (SPAN - 1 - (open.last - open.base)).div_ceil(2);
        let base = open.base - beside.min(open.base - open.free_from);
        self.spare(base, how);
        self.heads.push(Head { base, span: SPAN, run: 1, next: NO_ROOM });
        self.counts.push(core::mem::take(&mut open.held) as u32);
        open.free_from = open.last + 1;
    }

    /// Adds an empty segment before one that begins at `base`, if it is due.
    fn spare(&mut self, base: u32, how: &Fill) {
        if how.spare > 0 && self.heads.len() % (how.spare + 1) == how.spare {
            self.heads.push(Head { base, span: SPAN, run: 1, next: NO_ROOM });
            self.counts.push(0);
        }
    }

    /// Adds empty segments that begin at the end of the cells, up to `segments`.
    pub(super) fn pad(&mut self, segments: usize, end: u32) {
        let n = segments.max(self.heads.len());
        self.heads.resize(n, Head { base: end, span: SPAN, run: 1, next: NO_ROOM });
        self.counts.resize(n, 0);
    }

    /// Sets where runs have free slots; the first segment has the index `first` in the array.
    pub(super) fn set_next(&mut self, first: usize) {
        for last in 0..self.heads.len() {
            let run = self.heads[last].run as usize;
            if run > 1 {
                let start = last + 1 - run;
                let roomy = (start..=last).find(|&s| (self.counts[s] as usize) < WIDE);
                self.heads[last].next = roomy.map_or(NO_ROOM, |s| (first + s) as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_kept_whole_and_large_ones_have_runs() {
        let mut counts = vec![50u32; 20];
        counts[7] = 1000;
        counts.extend([0; 400]);
        counts.push(3);
        let mut layout = Layout::default();
        layout.make(10, &counts, &Fill { target: 217, full: 217, most: 230, spare: 0 });
        let sum: u32 = layout.counts.iter().sum();
        assert_eq!(sum, counts.iter().sum::<u32>());
        assert!(layout.heads.is_sorted_by_key(|h| h.base));
        let run: Vec<_> = layout.heads.iter().filter(|h| h.base == 17).collect();
        assert_eq!(run.len(), 5);
        assert_eq!(run[4].run, 5);
        assert_eq!(layout.heads.last().unwrap().base, 430 - 127);
        assert!(layout.counts.iter().all(|c| *c <= 256));
    }
}
