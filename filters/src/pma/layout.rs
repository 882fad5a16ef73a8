//! The assignment of cells to segments.

use super::{FREE, WIDTH};

/// The largest number of cells of a segment: one tag is reserved.
const SPAN: u32 = FREE as u32;
/// In [`Segment::next`]: the run has no free slots.
pub(super) const NO_ROOM: u32 = u32::MAX;

/// The data of a segment besides its slots and their tags, in one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Segment {
    /// Its first cell, from which tags count. Those of consecutive segments do not descend.
    pub(super) base: u32,
    /// The number of cells from `base` on whose elements may be here: [`SPAN`], or 1 in a run.
    pub(super) span: u32,
    /// In the last segment of a run, the length of the run; otherwise 1.
    pub(super) run: u32,
    /// In the last segment of a run, where to search for free slots first, or [`NO_ROOM`].
    pub(super) next: u32,
    /// Bit `i` of word `w` says whether slot `64 w + i` is in use.
    pub(super) mask: [u64; WIDTH / 64],
}

impl Segment {
    /// A segment whose lowest `len` slots are in use.
    fn new(base: u32, span: u32, len: usize) -> Segment {
        let mask = core::array::from_fn(|w| match len.saturating_sub(64 * w) {
            n if n >= 64 => u64::MAX,
            n => (1 << n) - 1,
        });
        Segment { base, span, run: 1, next: NO_ROOM, mask }
    }

    /// The number of elements.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.mask.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The lowest free slot. Branchless, as the word that contains it is unpredictable.
    #[inline(always)]
    pub(super) fn lowest_free(&self) -> Option<usize> {
        let full = self.mask.map(|word| usize::from(word == u64::MAX));
        let word = full[0] + full[0] * full[1] + full[0] * full[1] * full[2];
        let bit = self.mask[word].trailing_ones() as usize;
        (bit < 64).then_some(64 * word + bit)
    }
}

/// The segments for a range of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) segments: Vec<Segment>,
    /// The first slot of each cell that is not empty; its elements are in consecutive slots.
    pub(super) starts: Vec<u32>,
}

/// The filling of segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// The target number of elements per segment.
    pub(super) target: usize,
    /// The target number of elements per segment of a run.
    pub(super) run: usize,
    /// The largest number of elements per segment.
    pub(super) most: usize,
    /// An empty segment is added after this many segments; 0: none.
    pub(super) spare: usize,
}

/// The segment being filled.
struct Open {
    /// Its first cell that is not empty.
    first: u32,
    /// Its last cell so far.
    last: u32,
    /// The first cell behind those of the segments before.
    free_from: u32,
    /// Its elements so far.
    len: usize,
}

impl Layout {
    /// Lays out the cells from `low` on, which have `counts` elements, in segments from number `number` on: each cell in
    /// one segment or, if it is too large, in a run.
    pub(super) fn make(&mut self, low: u32, number: usize, counts: &[u32], fill: &Fill) {
        self.segments.clear();
        self.starts.clear();
        self.starts.resize(counts.len(), 0);
        // Segments keep space to grow, and a cell that needs more has a run.
        let most = fill.target.midpoint(WIDTH).min(fill.most);
        let large = fill.run.midpoint(WIDTH).min(fill.most);
        let mut open = Open { first: low, last: low, free_from: low, len: 0 };
        for (i, n) in held(counts) {
            let cell = low + i as u32;
            let fits = n <= large
                && open.len + n <= most.max(n)
                && cell - open.first < SPAN
                && open.len + n / 2 <= fill.target.max(n);
            if open.len > 0 && !fits {
                self.close(&mut open);
            }
            if open.len == 0 {
                open.first = cell;
                if fill.spare > 0 && self.segments.len() % (fill.spare + 1) == fill.spare {
                    self.segments.push(Segment::new(open.free_from, SPAN, 0));
                }
            }
            let segment = number + self.segments.len();
            self.starts[i] = (segment * WIDTH + open.len) as u32;
            if n > large {
                let run = n.div_ceil(fill.run);
                let lens = (0..run).map(|i| n.saturating_sub(i * WIDTH).min(WIDTH));
                self.segments.extend(lens.map(|len| Segment::new(cell, 1, len)));
                if let Some(last) = self.segments.last_mut() {
                    last.run = run as u32;
                    last.next = if n / WIDTH < run { (segment + n / WIDTH) as u32 } else { NO_ROOM };
                }
                open.free_from = cell + 1;
            } else {
                open.len += n;
                open.last = cell;
            }
        }
        if open.len > 0 {
            self.close(&mut open);
        }
    }

    fn close(&mut self, open: &mut Open) {
        // Half of the cells in reach beyond its own are empty cells before it: elements may move there, too.
        let beside = (SPAN - 1 - (open.last - open.first)).div_ceil(2);
        let base = open.first - beside.min(open.first - open.free_from);
        self.segments.push(Segment::new(base, SPAN, core::mem::take(&mut open.len)));
        open.free_from = open.last + 1;
    }

    /// Adds empty segments that begin at cell `end`, up to `len` in all.
    pub(super) fn pad(&mut self, len: usize, end: u32) {
        self.segments.resize(len, Segment::new(end, SPAN, 0));
    }

    pub(super) fn memory(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>() + self.starts.capacity() * size_of::<u32>()
    }
}

/// The numbers and counts of cells with elements. Long stretches without any are passed fast.
pub(super) fn held(counts: &[u32]) -> impl Iterator<Item = (usize, usize)> {
    const STRETCH: usize = 64;
    let stretches = counts.chunks(STRETCH).enumerate();
    let held = stretches.filter(|(_, stretch)| stretch.iter().fold(0, |all, n| all | n) > 0);
    held.flat_map(|(k, stretch)| (k * STRETCH..).zip(stretch.iter().map(|n| *n as usize)))
        .filter(|(_, n)| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_kept_together_and_large_ones_have_runs() {
        let mut counts = vec![50u32; 20];
        counts[7] = 1000;
        counts.extend([0; 400]);
        counts.push(3);
        let mut layout = Layout::default();
        layout.make(10, 0, &counts, &Fill { target: 217, run: 217, most: 230, spare: 0 });
        let segments = &layout.segments;
        assert_eq!(segments.iter().map(Segment::len).sum::<usize>(), counts.iter().sum::<u32>() as usize);
        assert!(segments.is_sorted_by_key(|s| s.base));
        let run: Vec<_> = segments.iter().filter(|s| s.base == 17).collect();
        assert_eq!((run.len(), run[4].run, run[4].next), (5, 5, 5));
        assert_eq!(layout.starts[7] as usize, 2 * WIDTH);
        assert_eq!(segments.last().unwrap().base, 430 - 127);
    }
}
