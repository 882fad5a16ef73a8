//! Which numbers may live, and the ring that keeps their births by block.

use super::births::BLOCK;
use super::clock::LAST;
use super::emitter::{Columns, Emitter};
use super::kind::Kind;
use crate::simd::Level;
use core::ops::Range;

/// Which particles of an emitter may live at a time: a rule of the emitter, its kind and the cap alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveWindow {
    /// Flicks after which none of the kind lives.
    pub longest: i64,
    /// Keeps only this many of the newest births, dead or alive; no cap: `u32::MAX`.
    ///
    /// It goes by birth number, so a particle that is dropped stays dropped.
    pub cap: u32,
}

impl LiveWindow {
    /// Lives of `kind`, capped.
    pub fn of(kind: &Kind, cap: Option<u32>) -> LiveWindow {
        LiveWindow { longest: kind.longest(), cap: cap.unwrap_or(u32::MAX) }
    }

    /// The numbers that may live at flick `at`: all others are dead, unborn or dropped.
    pub fn window(&self, emitter: &Emitter, at: i64) -> Range<i64> {
        let at = at.clamp(-LAST, LAST);
        let end = emitter.births.born(at);
        let start = emitter.births.born(at.saturating_sub(self.longest).max(-LAST));
        start.max(end.saturating_sub(i64::from(self.cap))).min(end)..end
    }

    /// No more than this many numbers are in any [`window`](LiveWindow::window) between the two times.
    pub fn max_alive(&self, emitter: &Emitter, span: Range<i64>) -> i64 {
        emitter.births.max_alive(span.start, span.end, self.longest).clamp(0, i64::from(self.cap))
    }
}

/// Blocks in a row of numbers, each at its number mod their count.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub(super) blocks: Vec<Columns>,
    pub(super) filled: Range<i64>,
}

impl Ring {
    /// A block, if it is there.
    pub(super) fn get(&self, block: i64) -> Option<&Columns> {
        self.blocks.get(self.slot(block)).filter(|_| self.filled.contains(&block))
    }

    /// Makes the blocks of `want` that are not there. There must be room for all of them.
    pub(super) fn want(&mut self, want: Range<i64>, emitter: &Emitter, level: Level) {
        for block in want.clone() {
            if !self.filled.contains(&block) {
                let slot = self.slot(block);
                emitter.fill(level, block, &mut self.blocks[slot]);
            }
        }
        // Blocks outside `want` may have been overwritten, so only those are known to be there.
        self.filled = want;
    }

    pub(super) fn slot(&self, block: i64) -> usize {
        block.rem_euclid((self.blocks.len() as i64).max(1)) as usize
    }
}

/// The blocks that a range of numbers, not empty, is in.
pub(super) fn blocks_of(numbers: Range<i64>) -> Range<i64> {
    let size = BLOCK as i64;
    numbers.start.div_euclid(size)..(numbers.end - 1).div_euclid(size) + 1
}

/// Which lanes of the block that begins with number `first` are in `window`, as bits.
pub fn lanes(first: i64, window: &Range<i64>) -> u64 {
    let size = BLOCK as i64;
    let low = window.start.saturating_sub(first).clamp(0, size) as u32;
    let high = window.end.saturating_sub(first).clamp(0, size) as u32;
    let below = |n: u32| 1u64.checked_shl(n).map_or(u64::MAX, |bit| bit - 1);
    below(high) & !below(low)
}
