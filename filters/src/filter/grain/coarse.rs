//! Rows after all passes but the last, in order, each computed once.
//!
//! White numbers go on beyond the edges of the plane, so coarse grain is the same there as everywhere. Sample -1-j
//! takes the number at index W+2j+1 of a row of W samples, sample W+j that at W+2j; rows likewise. So the numbers at an
//! edge do not depend on the reach of the passes.

use super::look::Field;
use super::{HALF, SHIFT};
use crate::noise::stream::{StreamFrame, shift_right};
use crate::pixel::field::{accumulate, round_saturate};
use crate::pixel::grain::{Pass, pass_across, pass_both};
use crate::simd::Level;

/// Aligns a row to a cache line.
pub(super) fn line(width: usize) -> usize {
    width.next_multiple_of(32)
}

/// The length of a white row, with the cache line of room that the last register of a pass may read.
fn white_len(field: &Field, block: usize) -> usize {
    line((field.size.0 + 2 * field.reach()).next_multiple_of(block)) + line(1)
}

/// The index in a stream of sample or row `i` of `len`.
pub(super) fn stream_index(i: isize, len: usize) -> usize {
    match usize::try_from(i) {
        Ok(i) if i < len => i,
        Ok(i) => len + 2 * (i - len),
        Err(_) => len + 2 * (-1 - i) as usize + 1,
    }
}

/// White noise of one plane: of one stream and frame, or a weighted sum of several.
pub(super) struct White<'a> {
    /// Stream and frame, plane, weight in 1/32768 (unused if there is only one).
    pub(super) parts: Vec<(StreamFrame<'a>, usize, i16)>,
    /// Pixels that the streams generate at a time.
    pub(super) block: usize,
}

/// Generates rows of white noise, shifted to the right.
pub(super) struct WhiteRows<'a> {
    pub(super) white: White<'a>,
    pub(super) shift: u32,
    pub(super) level: Level,
    pub(super) words: &'a mut [u16],
    pub(super) sum: &'a mut [i32],
}

impl WhiteRows<'_> {
    /// Row `y` of the stream, in whole blocks.
    pub(super) fn fill_row(&mut self, y: usize, g: &mut [i16]) {
        let whole = g.len() / self.white.block * self.white.block;
        let g = &mut g[..whole];
        if let [(frame, plane, _)] = &self.white.parts[..] {
            return frame.shifted(*plane, y as u32, self.shift, self.words, g);
        }
        let sum = &mut self.sum[..whole];
        sum.fill(HALF);
        for (frame, plane, weight) in &self.white.parts {
            frame.centred(*plane, y as u32, self.words, g);
            accumulate(self.level, sum, g, *weight);
        }
        round_saturate(self.level, g, sum, SHIFT, i16::MIN);
        shift_right(self.level, g, self.shift);
    }
}

/// The state of the passes.
pub(super) struct Coarse<'a> {
    levels: Vec<PassRows<'a>>,
    /// A white row, with its padding.
    white: &'a mut [i16],
    size: (usize, usize),
    reach: usize,
    level: Level,
}

/// Rows of one pass.
struct PassRows<'a> {
    pass: Pass,
    /// The numbers of a row that this pass computes.
    width: usize,
    /// Rows h, as many as the pass reads.
    h: &'a mut [i16],
    /// The row after those in the buffer.
    next: isize,
}

impl<'a> Coarse<'a> {
    /// The number of values of memory that it needs.
    pub(super) fn buffer_len(field: &Field, block: usize) -> usize {
        let reach = field.reach();
        if reach == 0 {
            return 0;
        }
        let row = line(field.size.0 + 2 * reach);
        let rows: usize = field.passes.iter().map(|p| 2 * p.step + 1).sum();
        line(reach) + white_len(field, block) + rows * row
    }

    /// The passes of a field, in the given memory.
    pub(super) fn new(field: &Field, block: usize, level: Level, buffer: &'a mut [i16]) -> Coarse<'a> {
        let (width, reach) = (field.size.0, field.reach());
        let row = line(width + 2 * reach);
        let (white, mut rest) =
            buffer.split_at_mut(if reach == 0 { 0 } else { line(reach) + white_len(field, block) });
        let mut wider = reach;
        let rows = |pass: &Pass| {
            wider -= pass.step;
            let (h, tail) = core::mem::take(&mut rest).split_at_mut((2 * pass.step + 1) * row);
            rest = tail;
            PassRows { pass: *pass, width: width + 2 * wider, h, next: isize::MIN }
        };
        let levels = field.passes.iter().map(rows).collect();
        Coarse { levels, white, size: field.size, reach, level }
    }

    /// Whether there are passes.
    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Row `y` of the plane, into `out`, which has room for the reach of all passes besides.
    pub(super) fn row(&mut self, y: usize, out: &mut [i16], white: &mut WhiteRows<'_>) {
        let mut white = PaddedWhite { numbers: self.white, size: self.size, reach: self.reach, white };
        compute_row(&mut self.levels, self.level, y as isize, out, &mut white, false);
    }
}

/// White rows, wider than the plane.
struct PaddedWhite<'a, 'b> {
    numbers: &'a mut [i16],
    size: (usize, usize),
    reach: usize,
    white: &'a mut WhiteRows<'b>,
}

impl PaddedWhite<'_, '_> {
    /// Row `y`, from the first number within reach of the plane on, with the room after the last.
    fn row(&mut self, y: isize) -> &[i16] {
        let (width, height) = self.size;
        let (start, room) = (line(self.reach), self.numbers.len() - line(1));
        self.white.fill_row(stream_index(y, height), &mut self.numbers[start..room]);
        // The numbers after the plane are distributed to both ends.
        let end = start + width;
        for j in 0..self.reach {
            self.numbers[start - 1 - j] = self.numbers[end + 2 * j + 1];
            self.numbers[end + j] = self.numbers[end + 2 * j];
        }
        &self.numbers[start - self.reach..]
    }
}

/// Row `y` of the last of these passes, into `out`, which has room for the rows of those before; halved for another.
fn compute_row(
    levels: &mut [PassRows<'_>],
    level: Level,
    y: isize,
    out: &mut [i16],
    white: &mut PaddedWhite<'_, '_>,
    halved: bool,
) {
    let Some((this, before)) = levels.split_last_mut() else { return };
    let (pass, width) = (this.pass, this.width);
    let (step, count) = (pass.step as isize, 2 * pass.step + 1);
    let stride = this.h.len() / count;
    // Rows go on to the end of a cache line: what is there never reaches the plane.
    let h = |y: isize| {
        let start = stride * y.rem_euclid(count as isize) as usize;
        start..start + line(width)
    };
    // Rows are computed in order; after a jump all that the pass reads are missing.
    if this.next != y + step {
        this.next = y - step;
    }
    loop {
        let next = this.next;
        this.next += 1;
        let row = if before.is_empty() {
            Some(white.row(next))
        } else {
            compute_row(before, level, next, out, white, true);
            None
        };
        if next == y + step {
            let rows = this.h.get_disjoint_mut([h(next), h(y - step), h(y)]);
            let [fresh, above, here] = rows.unwrap_or_else(|e| unreachable!("rows of a pass: {e}"));
            return pass_both(level, (out, row), fresh, [above, here], &pass, halved);
        }
        let row = row.unwrap_or(&*out);
        pass_across(level, &mut this.h[h(next)][..width], &row[..width + 2 * pass.step], &pass);
    }
}
