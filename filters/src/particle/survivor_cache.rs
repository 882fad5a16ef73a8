//! A cache of long-lived particles: what a pool keeps of births before its ring, where lives vary much.

use super::births::BLOCK;
use super::clock::LAST;
use super::emitter::{Columns, Emitter};
use super::kind::Kind;
use super::motion::{PlacedBlock, View, place};
use super::ring::{LiveWindow, Ring, blocks_of, lanes};
use crate::simd::Level;
use core::ops::Range;

/// [`BLOCK`] particles whose numbers rise, but not by one.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct SurvivorBlock {
    pub(super) columns: Columns,
    /// The distance of each lane's number from `first`; 0 for empty lanes.
    pub(super) offset: [u32; BLOCK],
    /// Number of lane 0.
    pub(super) first: i64,
    /// The number of occupied lanes.
    count: u32,
}

impl SurvivorBlock {
    pub(super) const EMPTY: SurvivorBlock =
        SurvivorBlock { columns: Columns::EMPTY, offset: [0; BLOCK], first: 0, count: 0 };

    /// The lanes whose numbers are in `window`, as bits.
    pub(super) fn lanes(&self, window: &Range<i64>) -> u64 {
        let held = &self.offset[..self.count as usize];
        let below = |number: i64| held.partition_point(|o| self.first + i64::from(*o) < number) as i64;
        lanes(0, &(below(window.start)..below(window.end)))
    }

    /// Takes lane `from` of `columns`, whose number is `number`, into lane `to`.
    fn take(&mut self, to: usize, columns: &Columns, from: usize, number: i64) {
        if to == 0 {
            self.first = number;
        }
        self.offset[to] = (number - self.first) as u32;
        let own = &mut self.columns;
        own.birth[to] = columns.birth[from];
        own.seed[to] = columns.seed[from];
        for axis in 0..3 {
            own.position[axis][to] = columns.position[axis][from];
            own.direction[axis][to] = columns.direction[axis][from];
        }
    }
}

/// All that were born before an edge and lived at a mark of the clock, in order of number. Marks are whole multiples of
/// the step, edges whole blocks; so what is kept follows from the mark alone.
#[derive(Clone, Debug)]
pub(super) struct SurvivorCache {
    kept: Vec<SurvivorBlock>,
    count: usize,
    /// The mark and the block that the edge is at; nothing before the first seek.
    mark: Option<(i64, i64)>,
    step: i64,
    /// Scratch: a block that is taken out to be compacted.
    spare: Box<(Columns, PlacedBlock)>,
}

impl SurvivorCache {
    pub(super) fn new(kept: Vec<SurvivorBlock>, step: i64) -> SurvivorCache {
        SurvivorCache {
            kept,
            count: 0,
            mark: None,
            step,
            spare: Box::new((Columns::EMPTY, PlacedBlock::EMPTY)),
        }
    }

    /// The first number that is not kept here.
    pub(super) fn edge(&self) -> i64 {
        self.mark.map_or(i64::MIN, |(_, edge)| edge * BLOCK as i64)
    }

    pub(super) fn blocks(&self) -> usize {
        self.count.div_ceil(BLOCK)
    }

    pub(super) fn block(&self, index: usize) -> Option<&SurvivorBlock> {
        self.kept[..self.blocks()].get(index)
    }

    pub(super) fn bytes(&self) -> usize {
        self.kept.capacity() * size_of::<SurvivorBlock>()
    }

    /// Goes to the last mark at or before `at`. From the mark before, those kept and the ring's births are compacted;
    /// from anywhere else, all that may live at the mark are born again.
    pub(super) fn seek(
        &mut self,
        at: i64,
        emitter: &Emitter,
        kind: &Kind,
        lives: &LiveWindow,
        ring: &mut Ring,
        level: Level,
    ) {
        let mark = at.div_euclid(self.step).saturating_mul(self.step).max(-LAST);
        if self.mark.is_some_and(|(m, _)| m == mark) {
            return;
        }
        let mut window = lives.window(emitter, mark);
        let edge = window.end.div_euclid(BLOCK as i64);
        let edge_number = edge * BLOCK as i64;
        // Outside the pool's span there may be more than there is room for: then the oldest go, by number.
        window.start = window.start.max(edge_number - (self.kept.len() * BLOCK) as i64);
        window.end = edge_number;
        let before = self.mark.filter(|(m, _)| m.checked_add(self.step) == Some(mark));
        self.mark = Some((mark, edge));
        let mut into = SurvivorCollector { count: 0 };
        let mut from = window.start;
        if let Some((_, old_edge)) = before {
            for index in 0..self.blocks() {
                let (columns, placed) = &mut *self.spare;
                let kept = &self.kept[index];
                let lanes = kept.lanes(&window);
                // In place: what is taken never comes after where it goes, and a block is read before it is written.
                columns.clone_from(&kept.columns);
                placed.number_by(kept.first, &kept.offset);
                place(level, kind, columns, mark, &View::ALL, lanes, placed);
                into.take(&mut self.kept, columns, placed);
            }
            from = from.max(old_edge * BLOCK as i64);
        }
        if from < window.end {
            for block in blocks_of(from..window.end) {
                let (columns, placed) = &mut *self.spare;
                match ring.get(block) {
                    Some(there) => columns.clone_from(there),
                    None => emitter.fill(level, block, columns),
                }
                let first = block * BLOCK as i64;
                placed.number_in_a_row(first);
                let lanes = lanes(first, &(from..window.end));
                place(level, kind, columns, mark, &View::ALL, lanes, placed);
                into.take(&mut self.kept, columns, placed);
            }
        }
        self.count = into.count;
        for (index, kept) in self.kept.iter_mut().enumerate().take(self.count.div_ceil(BLOCK)) {
            kept.count = (self.count - index * BLOCK).min(BLOCK) as u32;
        }
    }
}

/// How many have been taken so far.
struct SurvivorCollector {
    count: usize,
}

impl SurvivorCollector {
    /// Takes the lanes that live.
    fn take(&mut self, kept: &mut [SurvivorBlock], columns: &Columns, placed: &PlacedBlock) {
        for lane in placed.lanes() {
            if let Some(to) = kept.get_mut(self.count / BLOCK) {
                to.take(self.count % BLOCK, columns, lane, placed.number(lane));
                self.count += 1;
            }
        }
    }
}
