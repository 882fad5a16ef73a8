//! Rows of a field of grain, in order, each made once.

use super::look::Field;
use crate::noise::stream::{StreamFrame, halve};
use crate::pixel::grain::{
    MARGIN, Sources, TURN, across_halves, between, blend, down, halves_end, mirror, round_saturate, widen,
};
use crate::simd::Level;

/// White numbers of one plane: of one stream and frame, or a weighted sum of several.
pub(super) struct White<'a> {
    /// Stream and frame, plane, weight in 1/32768 (of no meaning when there is only one).
    pub(super) parts: Vec<(StreamFrame<'a>, usize, i16)>,
    /// Pixels that the streams make at a time.
    pub(super) block: usize,
}

/// Samples before and behind a row.
const PAD: usize = 2;
/// Rows of h that are kept: as many as a kernel looks at.
const KEPT: usize = 5;
/// Coarse rows that are kept on each raster: those that a finer row lies between, and the next.
const COARSE: usize = 3;

/// Memory that rows are made in; see [`Rows::buffer_len`].
pub(super) struct Rows<'a> {
    field: &'a Field,
    white: White<'a>,
    level: Level,
    words: &'a mut [u16],
    sum: &'a mut [i32],
    /// `[margin.., g >> 1, .., margin..]`, whole blocks of g and whole turns.
    g: &'a mut [i16],
    h: &'a mut [i16],
    has: [usize; KEPT],
    /// On the way from the coarse width to the full one.
    wide: &'a mut [i16],
    /// Rows of the full width on each coarser raster.
    coarse: &'a mut [i16],
    tags: Vec<[usize; COARSE]>,
}

const NONE: usize = usize::MAX;

/// A row's place in memory begins at a cache line.
fn line(width: usize) -> usize {
    width.next_multiple_of(32)
}

/// Rows that are worked on in whole turns.
fn turns(width: usize) -> usize {
    width.next_multiple_of(TURN)
}

impl<'a> Rows<'a> {
    /// How many `i32` of memory rows of the field need.
    pub(super) fn buffer_len(field: &Field, block: usize) -> usize {
        let (blocks, width) = (field.coarse.0.next_multiple_of(block), line(field.size.0));
        let narrow = line(blocks + 2 * PAD);
        let coarse = COARSE * width * field.axes[1].levels as usize;
        // words, g, h, wide, coarse rows in 16 bits, and the sums
        let halves = line(blocks.next_multiple_of(TURN) + 2 * MARGIN);
        (narrow + halves + KEPT * turns(field.coarse.0) + 2 * line(field.size.0 + 4 * PAD) + coarse)
            .div_ceil(2)
            + blocks
    }

    /// Rows from the memory lent, [`buffer_len`](Rows::buffer_len) of it.
    pub(super) fn new(field: &'a Field, white: White<'a>, level: Level, room: &'a mut [i32]) -> Rows<'a> {
        let blocks = field.coarse.0.next_multiple_of(white.block);
        let (sum, rest) = room.split_at_mut(blocks);
        let (words, rest) = bytemuck::cast_slice_mut::<i32, i16>(rest).split_at_mut(line(blocks + 2 * PAD));
        let (g, rest) = rest.split_at_mut(line(blocks.next_multiple_of(TURN) + 2 * MARGIN));
        let (h, rest) = rest.split_at_mut(KEPT * turns(field.coarse.0));
        let (wide, coarse) = rest.split_at_mut(2 * line(field.size.0 + 4 * PAD));
        let tags = vec![[NONE; COARSE]; field.axes[1].levels as usize];
        let words = bytemuck::cast_slice_mut(words);
        Rows { field, white, level, words, sum, g, h, has: [NONE; KEPT], wide, coarse, tags }
    }

    /// Row `y` of n, into `out`.
    pub(super) fn row(&mut self, y: usize, out: &mut [i16]) {
        if self.tags.is_empty() {
            return self.widened(y, out);
        }
        self.need(0, y);
        let (near, far) = self.parents(0, y);
        let width = out.len();
        let at = |c: usize| line(width) * (c % COARSE);
        between(self.level, out, &self.coarse[at(near)..][..width], &self.coarse[at(far)..][..width]);
    }

    /// The rows of raster `k` (0 is the first below the full one) that row `y` above it lies between.
    fn parents(&self, k: usize, y: usize) -> (usize, usize) {
        let height = (0..=k).fold(self.field.size.1, |h, _| h.div_ceil(2));
        let near = y / 2;
        let beside = if y.is_multiple_of(2) { near as isize - 1 } else { near as isize + 1 };
        (near, mirror(beside, height))
    }

    /// Sees to it that both parents of row `y` are there on raster `k`.
    fn need(&mut self, k: usize, y: usize) {
        let (near, far) = self.parents(k, y);
        for c in [near, far] {
            if self.tags[k][c % COARSE] == c {
                continue;
            }
            let width = self.field.size.0;
            let (slot, size) = (line(width), COARSE * line(width));
            let place = k * size + slot * (c % COARSE);
            if k + 1 == self.tags.len() {
                // The memory is taken out while it is written, since the rest of it is at work too.
                let coarse = core::mem::take(&mut self.coarse);
                self.widened(c, &mut coarse[place..place + width]);
                self.coarse = coarse;
            } else {
                self.need(k + 1, c);
                let (near, far) = self.parents(k + 1, c);
                let (here, below) = self.coarse.split_at_mut((k + 1) * size);
                let at = |c: usize| slot * (c % COARSE);
                between(
                    self.level,
                    &mut here[place..place + width],
                    &below[at(near)..][..width],
                    &below[at(far)..][..width],
                );
            }
            self.tags[k][c % COARSE] = c;
        }
    }

    /// Row `y` of the coarse raster's n, at the full width.
    fn widened(&mut self, y: usize, out: &mut [i16]) {
        let levels = self.field.axes[0].levels;
        if levels == 0 {
            return self.kernel(y, out);
        }
        let wide = core::mem::take(&mut self.wide);
        let (mut from, mut to) = wide.split_at_mut(wide.len() / 2);
        let width = |k: u32| (0..k).fold(self.field.size.0, |w, _| w.div_ceil(2));
        let mut now = width(levels);
        self.kernel(y, &mut from[PAD..PAD + now]);
        for k in (1..levels).rev() {
            let next = width(k);
            widen(self.level, &mut to[PAD..PAD + next], &mut from[..now + 2 * PAD]);
            (from, to, now) = (to, from, next);
        }
        widen(self.level, out, &mut from[..now + 2 * PAD]);
        self.wide = wide;
    }

    /// What row `y` of n is made of, for kernels that make it themselves: `None` where it comes from a coarser raster.
    pub(super) fn sources(&mut self, y: usize) -> Option<Sources<'_>> {
        if !self.tags.is_empty() || self.field.axes[0].levels > 0 {
            return None;
        }
        let [across, down] = self.field.axes.map(|a| a.taps);
        let (width, height) = self.field.coarse;
        let slot = turns(width);
        // The lowest row that the kernel looks at is the one that the rows before have not seen. Away from the edges,
        // where others are its mirror images, it is left to the caller.
        let reach = down.reach().max(1);
        let lowest = y + reach;
        let fresh = y >= reach && lowest < height && self.has[lowest % KEPT] != lowest;
        let places = self.prepare(y, down.reach(), if fresh { lowest } else { NONE });
        if !fresh {
            return Some(Sources { h: places.map(|at| &self.h[at..at + slot]), fresh: None, across, down });
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
        Some(Sources { h, fresh: Some((self.g, new)), across, down })
    }

    /// Sees to it that the rows of h around row `y` are there, but for row `later`, and says where.
    fn prepare(&mut self, y: usize, reach: usize, later: usize) -> [usize; KEPT] {
        let (width, height) = self.field.coarse;
        let slot = turns(width);
        let mut at = [0; KEPT];
        for (d, at) in (-2..=2isize).zip(&mut at) {
            // Rows that the taps do not reach stand for themselves.
            let row = mirror(y as isize + if d.unsigned_abs() <= reach { d } else { 0 }, height);
            *at = slot * (row % KEPT);
            if self.has[row % KEPT] != row && row != later {
                self.white(row);
                let g = &mut self.g[MARGIN - PAD..MARGIN + width + PAD];
                across_halves(self.level, &mut self.h[*at..*at + width], g, self.field.axes[0].taps);
                self.has[row % KEPT] = row;
            }
        }
        at
    }

    /// Row `y` of n on the coarse raster.
    fn kernel(&mut self, y: usize, out: &mut [i16]) {
        let taps = self.field.axes[1].taps;
        let at = self.prepare(y, taps.reach(), NONE);
        down(self.level, out, at.map(|at| &self.h[at..at + self.field.coarse.0]), taps);
    }

    /// Row `y` of g, halved.
    fn white(&mut self, y: usize) {
        let blocks = self.field.coarse.0.next_multiple_of(self.white.block);
        let g = &mut self.g[MARGIN..MARGIN + blocks];
        if let [(frame, plane, _)] = &self.white.parts[..] {
            return frame.halves(*plane, y as u32, self.words, g);
        }
        for (i, (frame, plane, weight)) in self.white.parts.iter().enumerate() {
            frame.row(*plane, y as u32, 0).centred(self.words, g);
            blend(self.level, self.sum, g, *weight, i == 0);
        }
        round_saturate(self.level, g, self.sum);
        halve(self.level, g);
    }
}
