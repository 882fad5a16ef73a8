//! The invariants between calls.

use super::layout::{NO_ROOM, Segment};
use super::{CellPma, FREE, Ranked, WIDTH};

impl<P: Ranked> CellPma<P> {
    /// Panics if an invariant is violated: lengths, tags and masks, bases, routes, runs, the density of the array.
    pub(super) fn check(&self) {
        let segments = &self.segments;
        assert_eq!((self.tags.len(), self.slots.len()), (segments.len() * WIDTH, segments.len() * WIDTH));
        assert_eq!(segments.iter().map(Segment::len).sum::<usize>(), self.len);
        assert!(self.len == 0 || !self.is_out_of_bounds(self.len), "{} of {}", self.len, self.slots());
        assert!(segments.is_sorted_by_key(|segment| segment.base));
        for (cell, &route) in (0..).zip(&self.route) {
            let right = segments.partition_point(|segment| segment.base <= cell).saturating_sub(1);
            assert_eq!(route as usize, right, "the route of cell {cell}");
        }
        (0..segments.len()).for_each(|at| self.check_segment(at));
    }

    fn check_segment(&self, at: usize) {
        let Segment { base, span, run, next, mask } = self.segments[at];
        for slot in 0..WIDTH {
            let tag = self.tags[at * WIDTH + slot];
            let held = mask[slot / 64] >> (slot % 64) & 1 == 1;
            assert_eq!(held, tag != FREE, "slot {slot} of segment {at}");
            if held {
                let cell = base + u32::from(tag);
                assert!(u32::from(tag) < span && cell < self.cells(), "slot {slot} of segment {at}");
                // The cell's route leads here, or to the end of the run of this segment.
                let last = self.route[cell as usize] as usize;
                assert!((last + 1 - self.segments[last].run as usize..=last).contains(&at));
            }
        }
        if run > 1 {
            let run = at + 1 - run as usize..at + 1;
            let others = &self.segments[run.start..at];
            assert!(span == 1 && others.iter().all(|s| (s.base, s.span, s.run) == (base, 1, 1)));
            if next == NO_ROOM {
                assert!(run.clone().all(|at| self.segments[at].len() == WIDTH));
            } else {
                assert!(run.contains(&(next as usize)));
            }
        }
    }
}
