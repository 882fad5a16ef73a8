//! Rows of a grain field, in order, each computed once.

use super::coarse::{Coarse, White, WhiteRows, line};
use super::look::Field;
use crate::pixel::field::mirror;
use crate::pixel::grain::{MARGIN, Sources, TURN, across_halves, halves_end};
use crate::simd::Level;

/// Padding before and after a row.
const PAD: usize = 2;
/// The number of rows h that are kept: as many as a kernel reads.
const KEPT: usize = 5;

/// The memory for rows; see [`Rows::buffer_len`].
pub(super) struct Rows<'a> {
    field: &'a Field,
    level: Level,
    coarse: Coarse<'a>,
    white: WhiteRows<'a>,
    /// `[margin.., g, .., margin..]`, in whole blocks of halved numbers and whole iterations.
    g: &'a mut [i16],
    h: &'a mut [i16],
    has: [usize; KEPT],
}

const NONE: usize = usize::MAX;

/// The number of rows that are processed in whole iterations.
fn turns(width: usize) -> usize {
    width.next_multiple_of(TURN)
}

/// The numbers that are generated for a row of the field.
fn generated(field: &Field, block: usize) -> usize {
    (field.size.0 + 2 * field.reach()).next_multiple_of(block)
}

impl<'a> Rows<'a> {
    /// The number of `i32` of memory that rows of the field need.
    pub(super) fn buffer_len(field: &Field, block: usize) -> usize {
        let blocks = generated(field, block);
        // words, g and h, and what the passes need, in 16 bits, and the sums
        let halves = line(blocks.next_multiple_of(TURN) + 2 * MARGIN);
        let kept = KEPT * turns(field.size.0) + Coarse::buffer_len(field, block);
        (line(blocks) + halves + kept).div_ceil(2) + blocks
    }

    /// Rows in the given memory of length [`buffer_len`](Rows::buffer_len).
    pub(super) fn new(field: &'a Field, white: White<'a>, level: Level, buffer: &'a mut [i32]) -> Rows<'a> {
        let (block, blocks) = (white.block, generated(field, white.block));
        let (sum, rest) = buffer.split_at_mut(blocks);
        let (words, rest) = bytemuck::cast_slice_mut::<i32, i16>(rest).split_at_mut(line(blocks));
        let (g, rest) = rest.split_at_mut(line(blocks.next_multiple_of(TURN) + 2 * MARGIN));
        let (h, rest) = rest.split_at_mut(KEPT * turns(field.size.0));
        let coarse = Coarse::new(field, block, level, rest);
        // Passes read halves, and the last of them writes halves.
        let shift = if coarse.is_empty() { 1 } else { 2 };
        let white = WhiteRows { white, shift, level, words: bytemuck::cast_slice_mut(words), sum };
        Rows { field, level, coarse, white, g, h, has: [NONE; KEPT] }
    }

    /// The inputs of row `y` of n.
    pub(super) fn sources(&mut self, y: usize) -> Sources<'_> {
        let [across, down] = self.field.axes.map(|a| a.taps);
        let (width, height) = self.field.size;
        let slot = turns(width);
        // The lowest row that the kernel reads is new. Away from the edges, where other rows are its mirror images,
        // its computation is left to the caller.
        let reach = down.reach().max(1);
        let lowest = y + reach;
        let fresh = y >= reach && lowest < height && self.has[lowest % KEPT] != lowest;
        let places = self.prepare(y, down.reach(), if fresh { lowest } else { NONE });
        if !fresh {
            return Sources { h: places.map(|at| &self.h[at..at + slot]), fresh: None, across, down };
        }
        self.white(lowest);
        halves_end(self.g, width);
        self.has[lowest % KEPT] = lowest;
        let (before, rest) = self.h.split_at_mut(slot * (lowest % KEPT));
        let (new, behind) = rest.split_at_mut(slot);
        let (before, behind) = (&*before, &*behind);
        let h = places.map(|at| match at.checked_sub(before.len()) {
            None => &before[at..at + slot],
            Some(0) => &before[..0],
            Some(at) => &behind[at - slot..at],
        });
        Sources { h, fresh: Some((self.g, new)), across, down }
    }

    /// Computes the missing rows h around row `y`, except row `later`, and returns their indices.
    fn prepare(&mut self, y: usize, reach: usize, later: usize) -> [usize; KEPT] {
        let (width, height) = self.field.size;
        let slot = turns(width);
        // Rows beyond the reach of the taps are not replaced.
        let row = |d: isize| mirror(y as isize + if d.unsigned_abs() <= reach { d } else { 0 }, height);
        let rows = [-2, -1, 0, 1, 2].map(row);
        // In order, as required by the passes before.
        let mut missing = rows;
        missing.sort_unstable();
        for row in missing {
            if self.has[row % KEPT] != row && row != later {
                self.white(row);
                let g = &mut self.g[MARGIN - PAD..MARGIN + width + PAD];
                let h = &mut self.h[slot * (row % KEPT)..][..width];
                across_halves(self.level, h, g, self.field.axes[0].taps);
                self.has[row % KEPT] = row;
            }
        }
        rows.map(|row| slot * (row % KEPT))
    }

    /// Row `y` of g, halved: white, or made coarse.
    fn white(&mut self, y: usize) {
        let width = self.field.size.0;
        if self.coarse.is_empty() {
            self.white
                .fill_row(y, &mut self.g[MARGIN..MARGIN + width.next_multiple_of(self.white.white.block)]);
        } else {
            self.coarse.row(y, &mut self.g[MARGIN..], &mut self.white);
        }
    }
}
