//! Rebuilding the whole array by a counting sort, and installing a layout.

use super::layout::{Fill, Layout, held};
use super::{CellBatch, CellPma, FREE, MAX_DENSITY, PmaError, Ranked, WIDTH, Workspace};
use crate::simd::{multiversion, prefetch};

/// In a list of goals: the batch moves this element.
const MOVED: u32 = 1 << 31;

impl<P: Ranked> CellPma<P> {
    /// Makes all changes of a batch by rebuilding the array: moving elements are copied once.
    pub(super) fn rebuild_with(&mut self, batch: &CellBatch<P>, len: usize) -> Result<(), PmaError> {
        let mut work = core::mem::take(&mut self.work);
        self.fill_goals(&mut work.goals);
        let vacant = self.cells();
        let moves = batch.moves.iter().map(|(slot, cell)| (*slot, cell | MOVED));
        let mut done = Ok(());
        for (slot, to) in moves.chain(batch.removes.iter().map(|slot| (*slot, vacant))) {
            match work.goals.get_mut(slot as usize) {
                Some(goal) if *goal < vacant => *goal = to,
                _ => done = done.and(Err(PmaError::Vacant { slot })),
            }
        }
        if done.is_ok() {
            self.len = len;
            self.rebuild(&batch.inserts, 0, &mut work);
        }
        self.work = work;
        done
    }

    /// Rebuilds the array with elements for which there was no slot. Empty segments are spread over it, so that the
    /// next ones find room near.
    pub(super) fn rebuild_crowded(&mut self, incoming: &[(u32, P)], work: &mut Workspace<P>) {
        self.fill_goals(&mut work.goals);
        self.rebuild(incoming, 8, work);
    }

    /// Elements per segment after a rebuild.
    pub(super) fn target(&self) -> usize {
        (self.settings.fill * WIDTH as f64) as usize
    }

    /// Fills `goals` with the cell of each slot's element, or the number of cells for a free slot.
    fn fill_goals(&self, goals: &mut Vec<u32>) {
        goals.resize(self.tags.len(), 0);
        let tags = self.tags.as_chunks::<WIDTH>().0;
        for ((segment, tags), goals) in self.segments.iter().zip(tags).zip(goals.as_chunks_mut::<WIDTH>().0) {
            segment_goals(self.level, segment.base, self.cells(), tags, goals);
        }
    }

    /// Moves the elements of all slots to their goals in new slots, together with incoming elements. After every
    /// `spare` segments there is an empty one.
    fn rebuild(&mut self, incoming: &[(u32, P)], spare: usize, work: &mut Workspace<P>) {
        // No slot is read before it is written, so any value serves to initialize the memory.
        let any = incoming.first().map(|(_, item)| *item).or(self.slots.first().copied());
        let Some(any) = any.filter(|_| self.len > 0) else {
            self.clear();
            return;
        };
        let Workspace { goals, counts, layout, old, .. } = work;
        let cells = self.route.len();
        counts.clear();
        // Free slots are counted as a cell after the last.
        counts.resize(cells + 1, 0);
        goals.iter().for_each(|goal| counts[(goal & !MOVED) as usize] += 1);
        incoming.iter().for_each(|(cell, _)| counts[*cell as usize] += 1);
        counts.truncate(cells);
        let target = self.target();
        let most = (MAX_DENSITY * WIDTH as f64) as usize;
        layout.make(0, 0, counts, &Fill { target, run: target, most, spare });
        let slots = layout.segments.len() * WIDTH;
        core::mem::swap(&mut self.slots, old);
        self.slots.resize(slots, any);
        self.tags.resize(slots, FREE);
        self.segments.clear();
        self.segments.extend_from_slice(&layout.segments);
        self.install(0, 0, counts, layout);
        scatter(self.level, old, goals, &mut layout.starts, &mut self.slots);
        for (cell, item) in incoming {
            let to = &mut layout.starts[*cell as usize];
            self.slots[*to as usize] = *item;
            *to += 1;
        }
        self.built = self.len;
    }

    /// Writes the segments of a layout from number `first` on, their tags, and the routes of their cells, which begin
    /// at `low` and have `counts` elements.
    pub(super) fn install(&mut self, low: u32, first: usize, counts: &[u32], layout: &Layout) {
        /// The number of tags that are written at once: most cells have fewer.
        const SOME: usize = 32;
        let mut held = held(counts).map(|(i, n)| (low + i as u32, (n, layout.starts[i] as usize))).peekable();
        let mut routed = low as usize;
        for (at, segment) in (first..).zip(&layout.segments) {
            // Cells before the base belong to the segment before.
            let base = segment.base as usize;
            self.route[routed..base].fill(at.saturating_sub(1) as u32);
            routed = base;
            self.segments[at] = *segment;
            let end = (at + 1) * WIDTH;
            while let Some((cell, (n, start))) = held.next_if(|(_, (_, start))| *start < end) {
                let tag = (cell - segment.base) as u8;
                if n <= SOME && start + SOME <= end {
                    // Tags beyond the cell's end are overwritten by those of the next cell.
                    self.tags[start..start + SOME].fill(tag);
                } else {
                    self.tags[start..start + n].fill(tag);
                }
            }
            self.tags[at * WIDTH + segment.len()..end].fill(FREE);
        }
        let last = first + layout.segments.len() - 1;
        self.route[routed..low as usize + counts.len()].fill(last as u32);
    }
}

multiversion! {
    /// The cell of each tag of a segment with this base.
    fn segment_goals(level, base: u32, vacant: u32, tags: &[u8; WIDTH], goals: &mut [u32; WIDTH]) = segment_goals_body;
    /// Moves each element to the slot `starts[goal]`, which is incremented, unless there is none for its goal. Elements
    /// of 32 bytes are copied as one register if possible.
    fn scatter<P: Copy>(level, items: &[P], goals: &[u32], starts: &mut [u32], slots: &mut [P]) = scatter_body;
}

#[inline(always)]
fn segment_goals_body(base: u32, vacant: u32, tags: &[u8; WIDTH], goals: &mut [u32; WIDTH]) {
    for (goal, tag) in goals.iter_mut().zip(tags) {
        *goal = if *tag == FREE { vacant } else { base.wrapping_add(u32::from(*tag)) };
    }
}

#[inline(always)]
fn scatter_body<P: Copy>(items: &[P], goals: &[u32], starts: &mut [u32], slots: &mut [P]) {
    /// The prefetch distance in elements, and the number of elements that are prefetched at once.
    const AHEAD: usize = 512;
    const STRETCH: usize = 64;
    let per_line = (64 / size_of::<P>().max(1)).max(1);
    for (i, (stretch, goals)) in items.chunks(STRETCH).zip(goals.chunks(STRETCH)).enumerate() {
        if let Some(soon) = items.get(i * STRETCH + AHEAD..(i + 1) * STRETCH + AHEAD) {
            soon.iter().step_by(per_line).for_each(prefetch);
        }
        for (item, goal) in stretch.iter().zip(goals) {
            if let Some(to) = starts.get_mut((goal & !MOVED) as usize) {
                slots[*to as usize] = *item;
                *to += 1;
            }
        }
    }
}
