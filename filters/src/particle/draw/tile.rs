//! One tile: its working colours and alpha as `f32`, with a margin so that small splats need not be clipped.
//!
//! Luma, alpha and samples of R, G and B have cells of their own size; coarser chroma has cells around the chroma
//! positions. Where the working colours are R, G and B of a picture in Y, U and V, the colour of a luma cell is that of
//! its block (for luma, the chroma of the block; for chroma, the mean luma of the block). This determines the colour
//! below the splats, not theirs.
//!
//! With straight alpha, colour is multiplied by alpha for drawing. Premultiplied samples were multiplied as values,
//! behind the transfer function, so they are divided by alpha before they become light.

use super::super::arch::prefetch;
use super::draw_plane::{Group, PlaneContent};
use super::painter::Painter;
use crate::frame::{FrameMut, PlaneSet};
use crate::pixel::f32_rows::{Area, ConvertF32, to_f32_rows};
use crate::simd::{Level, multiversion};
use bytemuck::{Pod, Zeroable};
use core::ops::Range;

/// The margin around a tile in cells: a stamp that touches the tile is inside.
pub(super) const EDGE: usize = 8;
const _: () = assert!(EDGE >= super::stamp::MAX_CELLS, "stamps fit the margin of a tile");

/// The longest row of a tile, and a cache line more, so that rows do not compete for the same places in the cache.
pub(super) const PADDED: usize = (1 << 9) + 16;
pub(super) type Line = [f32; PADDED];
/// A row of each working colour.
pub(super) type Rows = [Line; 3];

/// A row of cells before and after drawing.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Change {
    pub(super) old: Rows,
    pub(super) new: Rows,
    pub(super) alpha: [Line; 2],
    /// The bits that differ in cells that were drawn on.
    pub(super) drawn: [u32; PADDED],
}

/// The most rows of luma in a block: in a bottom field the last block may be twice as high.
pub(super) const MAX_BLOCK: usize = 8;

/// Buffers for the rows of a block.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BlockBuffers {
    /// For reading: colours, Y, U and V, a row before its samples are means or repeated, and alpha.
    pub(super) colours: Rows,
    pub(super) yuv: Rows,
    pub(super) line: Line,
    pub(super) alpha: Line,
    /// A row of each kind of chroma, the rows of luma, and the changes of U and V.
    pub(super) chroma: [Change; 2],
    pub(super) luma: [Change; MAX_BLOCK],
    /// In cells of chroma, and of luma.
    pub(super) uv: [Line; 2],
    pub(super) fine: [Line; 2],
    /// The part of the change of chroma that white leaves room for.
    pub(super) chroma_scale: Line,
}

/// A group's part of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaneGroupArea {
    pub(super) group: Group,
    /// The number of the group: luma's, then those of chroma.
    pub(super) grid: usize,
    /// First cell, and how many, across and down.
    pub(super) from: [i32; 2],
    pub(super) size: [usize; 2],
    pub(super) stride: usize,
    /// The start of each plane's cells in the buffer, including the margin.
    pub(super) base: [usize; 4],
}

impl PlaneGroupArea {
    /// The index of a cell in a plane's part of the buffer: the given number of rows below `first`.
    #[inline(always)]
    pub(super) fn index(&self, first: [i32; 2], row: usize) -> usize {
        let [i, j] = [0, 1].map(|a| (first[a] - self.from[a]) as usize);
        (j + row + EDGE) * self.stride + EDGE + i
    }

    /// Its samples of any of its planes.
    pub(super) fn area(&self) -> Area {
        Area { from: self.from.map(|v| v as usize), size: self.size }
    }

    /// Its planes, and the start of the first row of cells of each.
    pub(super) fn planes(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let inside = EDGE * self.stride + EDGE;
        self.group.planes().iter().zip(self.base).map(move |(p, base)| (*p, base + inside))
    }

    /// Row `j` of the samples of a plane of the picture in the cells of the part.
    pub(super) fn row<'a, T: ConvertF32>(&self, out: &'a FrameMut<'_>, p: usize, j: usize) -> &'a [T] {
        &out.plane(p).row::<T>(self.from[1] as usize + j)[self.from[0] as usize..][..self.size[0]]
    }
}

/// The layout of a tile's samples in its buffer.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub(super) painter: &'a Painter,
    pub(super) parts: [Option<PlaneGroupArea>; 4],
    len: usize,
    pub(super) writes: PlaneSet,
    /// Whether colour is multiplied by alpha while drawing and divided afterwards.
    pub(super) multiplied: bool,
}

impl<'a> Tile<'a> {
    /// The luma samples `x` and rows `y` of the planes that are written.
    pub(super) fn new(painter: &'a Painter, x: Range<usize>, y: Range<usize>, writes: PlaneSet) -> Tile<'a> {
        let space = &painter.space;
        let mut parts = [None; 4];
        let mut len = 0;
        for (grid, (out, group)) in parts.iter_mut().zip(&painter.groups).enumerate() {
            let mut mine = *group;
            mine.count = 0;
            let wanted = |p: &&usize| space.wants(**p, painter.planes[**p].content, grid, writes);
            group.planes().iter().filter(wanted).for_each(|p| mine.add(*p));
            if mine.count == 0 {
                continue;
            }
            let [sx, sy] = group.cells.shift;
            let from = [x.start >> sx, y.start >> sy];
            // A bottom field may have a row of chroma less than its luma rows would need.
            let (width, height) = painter.format.plane_size(usize::from([sx, sy] != [0, 0]));
            let end = [x.end.div_ceil(1 << sx).min(width), y.end.div_ceil(1 << sy).min(height)];
            let size = [end[0].saturating_sub(from[0]), end[1].saturating_sub(from[1])];
            if size.contains(&0) {
                continue;
            }
            let stride = (size[0] + 2 * EDGE).next_multiple_of(16);
            let mut base = [0; 4];
            for base in &mut base[..mine.count] {
                *base = len;
                len += stride * (size[1] + 2 * EDGE);
            }
            *out =
                Some(PlaneGroupArea { group: mine, grid, from: from.map(|v| v as i32), size, stride, base });
        }
        let multiplied = space.alpha.is_some_and(|a| writes.has(a)) && space.is_multiplied();
        Tile { painter, parts, len, writes, multiplied }
    }

    /// Its parts, one for all planes with the same cells.
    pub(super) fn parts(&self) -> impl Iterator<Item = &PlaneGroupArea> {
        self.parts.iter().flatten()
    }

    /// The number of `f32` values of its buffer.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether [`load`](Tile::load) and [`store`](Tile::store) need the values before drawing.
    pub(super) fn needs_original(&self) -> bool {
        self.multiplied || !self.painter.space.is_direct
    }

    /// The working colours of a part: component, and the start of its first row.
    pub(super) fn colours<'p>(
        &self,
        part: &'p PlaneGroupArea,
    ) -> impl Iterator<Item = (usize, usize)> + use<'p, 'a> {
        let planes = &self.painter.planes;
        part.planes().filter_map(move |(p, at)| match planes[p].content {
            PlaneContent::Light(i) | PlaneContent::Chroma(i) => Some((i, at)),
            PlaneContent::Alpha => None,
        })
    }

    /// The part with alpha, and the start of its first row.
    pub(super) fn alpha(&self) -> Option<(&PlaneGroupArea, usize)> {
        let alpha = self.painter.space.alpha?;
        let part = self.parts[0].as_ref()?;
        part.planes().find(|(p, _)| *p == alpha).map(|(_, at)| (part, at))
    }

    /// The samples of a plane of the picture, less the code of nothing.
    #[inline(always)]
    fn load_plane<T: ConvertF32>(
        &self,
        out: &FrameMut<'_>,
        part: &PlaneGroupArea,
        p: usize,
        samples: &mut [f32],
    ) {
        let (plane, zero) = (out.plane(p), self.painter.space.own[p].zero);
        to_f32_rows::<T>(self.level(), &plane, part.area(), zero, samples, part.stride);
        // Prefetches the tile to the right: the hardware does not predict it, since rows are far from each other.
        let from = part.area().from;
        for j in 0..part.size[1] {
            let row = plane.row::<T>(from[1] + j).get(from[0] + part.size[0]..).unwrap_or(&[]);
            row.iter().take(part.size[0]).step_by(64 / size_of::<T>()).for_each(prefetch);
        }
    }

    /// G, B and R (or grey) of a row of cells, as values. Rows are read in order: those of luma that share a row of
    /// chroma find it in the block.
    #[inline(always)]
    fn read_rgb<T: ConvertF32>(
        &self,
        out: &FrameMut<'_>,
        part: &PlaneGroupArea,
        j: usize,
        block: &mut BlockBuffers,
    ) {
        let (space, n) = (&self.painter.space, part.size[0]);
        let BlockBuffers { colours, yuv, line, .. } = block;
        let (zero, per) = (|p: usize| space.own[p].zero, |p: usize| 1.0 / space.own[p].span);
        let Some([to_rgb, _]) = &space.matrix else {
            for (i, _) in self.colours(part) {
                let row = part.row::<T>(out, i, j);
                colours[i][..n].iter_mut().zip(row).for_each(|(v, s)| *v = s.less(zero(i)) * per(i));
            }
            return;
        };
        if part.grid == 0 {
            read(part.row::<T>(out, 0, j), zero(0), &mut yuv[0][..n]);
            for (p, row) in yuv.iter_mut().enumerate().skip(1) {
                let [sx, sy] = space.own[p].cells.shift;
                // A bottom field may have a row of chroma less than its luma rows would need.
                let last = out.plane(p).rows().end.saturating_sub(1);
                let y = |j: usize| ((part.from[1] as usize + j) >> sy).min(last);
                if j == 0 || y(j) != y(j - 1) {
                    let coarse = &mut line[..n.div_ceil(1 << sx)];
                    read(&out.plane(p).row::<T>(y(j))[part.from[0] as usize >> sx..], zero(p), coarse);
                    upsample(&mut row[..n], coarse, sx);
                }
            }
        } else {
            for (p, row) in yuv.iter_mut().enumerate().skip(1) {
                read(part.row::<T>(out, p, j), zero(p), &mut row[..n]);
            }
            let [sx, sy] = part.group.cells.shift;
            let (plane, y) = (out.plane(0), part.from[1] as usize + j);
            let lines = (y << sy).min(plane.rows().end)..((y + 1) << sy).min(plane.rows().end);
            let per_line = 1.0 / lines.len().max(1) as f32;
            let luma = &mut yuv[0][..n];
            luma.fill(0.0);
            for y in lines {
                let row = &plane.row::<T>(y)[(part.from[0] as usize) << sx..];
                let fine = &mut line[..row.len().min(n << sx)];
                read(row, zero(0), fine);
                add_means(fine, sx, per_line, luma);
            }
        }
        for (row, m) in colours.iter_mut().zip(to_rgb) {
            mix(&mut row[..n], yuv.each_ref().map(|v| &v[..n]), [0, 1, 2].map(|p| m[p] as f32 * per(p)));
        }
    }

    /// The mean alpha (0 to 1) over the block of each cell of a row: for luma its own.
    #[inline(always)]
    pub(super) fn alpha_row(&self, samples: &[f32], part: &PlaneGroupArea, j: usize, out: &mut Line) {
        if !self.multiplied {
            return;
        }
        let Some((alpha, at)) = self.alpha() else { return };
        let span = self.painter.space.alpha.map_or(1.0, |a| self.painter.space.own[a].span);
        let [sx, sy] = part.group.cells.shift;
        let [w, h] = alpha.size;
        let value = |x: usize, y: usize| samples[at + y * alpha.stride + x];
        for (i, out) in out[..part.size[0]].iter_mut().enumerate() {
            let (x, y) = (i << sx..((i + 1) << sx).min(w), j << sy..((j + 1) << sy).min(h));
            *out = mean(x, y, value) / span;
        }
    }

    pub(super) fn level(&self) -> Level {
        self.painter.level
    }

    /// The factor of colour for drawing.
    #[inline(always)]
    pub(super) fn share(&self, alpha: f32) -> f32 {
        if self.painter.space.is_premultiplied() { divisor(alpha) } else { alpha }
    }
}

/// The rows of cells of a plane between its margins. The margin is drawn on and never read, but its values must not be
/// slow to compute with (subnormal).
#[inline(always)]
fn clear_margin<'s>(part: &PlaneGroupArea, samples: &'s mut [f32]) -> &'s mut [f32] {
    let [w, h] = part.size;
    let (above, samples) = samples.split_at_mut(EDGE * part.stride + EDGE);
    let (rows, below) = samples.split_at_mut(h * part.stride);
    above.fill(0.0);
    rows.chunks_mut(part.stride).for_each(|row| row[w..].fill(0.0));
    below[..EDGE * part.stride - EDGE].fill(0.0);
    rows
}

/// The divisor that undoes multiplication by `alpha`: 1 at an alpha of 0.
#[inline(always)]
pub(super) fn divisor(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha } else { 1.0 }
}

/// The mean of the samples of a block; 0 if there are none.
#[inline(always)]
fn mean(x: Range<usize>, y: Range<usize>, at: impl Fn(usize, usize) -> f32) -> f32 {
    let (mut sum, count) = (0.0, x.len() * y.len());
    for y in y {
        for x in x.clone() {
            sum += at(x, y);
        }
    }
    sum / count.max(1) as f32
}

/// Each value of `coarse` repeated 2^`shift` times.
#[inline(always)]
pub(super) fn upsample(out: &mut [f32], coarse: &[f32], shift: u32) {
    match shift {
        0 => out.copy_from_slice(coarse),
        1 => {
            let (pairs, rest) = out.as_chunks_mut::<2>();
            pairs.iter_mut().zip(coarse).for_each(|(pair, c)| *pair = [*c; 2]);
            rest.iter_mut().zip(coarse.last()).for_each(|(v, c)| *v = *c);
        }
        _ => out.chunks_mut(1 << shift).zip(coarse).for_each(|(block, c)| block.fill(*c)),
    }
}

/// Samples less the code of nothing.
#[inline(always)]
fn read<T: ConvertF32>(row: &[T], zero: f32, out: &mut [f32]) {
    out.iter_mut().zip(row).for_each(|(v, s)| *v = s.less(zero));
}

/// A row of a matrix.
#[inline(always)]
pub(super) fn mix(out: &mut [f32], rows: [&[f32]; 3], by: [f32; 3]) {
    let n = out.len();
    let [a, b, c] = rows.map(|r| &r[..n]);
    for i in 0..n {
        out[i] = by[0] * a[i] + by[1] * b[i] + by[2] * c[i];
    }
}

/// Adds the means of blocks of 2^`shift` samples, times `by`.
#[inline(always)]
fn add_means(row: &[f32], shift: u32, by: f32, out: &mut [f32]) {
    let mean = |block: &[f32]| block.iter().sum::<f32>() * (by / block.len() as f32);
    if shift == 1 {
        let (pairs, rest) = row.as_chunks::<2>();
        out.iter_mut().zip(pairs).for_each(|(sum, [a, b])| *sum += (a + b) * (0.5 * by));
        out.iter_mut().skip(pairs.len()).zip(rest).for_each(|(sum, v)| *sum += v * by);
        return;
    }
    out.iter_mut().zip(row.chunks(1 << shift)).for_each(|(sum, block)| *sum += mean(block));
}

multiversion! {
    /// Reads the samples of the planes: `samples` to draw into, and `before`, if it is needed, as they were, not
    /// multiplied by alpha.
    pub(super) fn load<T: ConvertF32>(level, tile: &Tile<'_>, out: &FrameMut<'_>, samples: &mut [f32], before: &mut [f32], block: &mut [BlockBuffers]) = load_body::<T>;
}

#[inline(always)]
fn load_body<T: ConvertF32>(
    tile: &Tile<'_>,
    out: &FrameMut<'_>,
    samples: &mut [f32],
    before: &mut [f32],
    block: &mut [BlockBuffers],
) {
    let space = &tile.painter.space;
    for part in tile.parts() {
        for (p, at) in part.planes() {
            let samples = clear_margin(part, &mut samples[at - EDGE * part.stride - EDGE..]);
            if space.is_direct || Some(p) == space.alpha {
                tile.load_plane::<T>(out, part, p, samples);
            }
        }
    }
    let Some(block) = block.first_mut().filter(|_| tile.needs_original()) else { return };
    if let Some((part, at)) = tile.alpha() {
        let long = part.size[1] * part.stride;
        before[at..][..long - EDGE].copy_from_slice(&samples[at..][..long - EDGE]);
    }
    for (part, j) in tile.parts().flat_map(|part| (0..part.size[1]).map(move |j| (part, j))) {
        let n = part.size[0];
        if !space.is_direct && part.planes().any(|(p, _)| Some(p) != space.alpha) {
            tile.read_rgb::<T>(out, part, j, block);
        }
        tile.alpha_row(samples, part, j, &mut block.alpha);
        let (colours, alpha) = (&block.colours, &block.alpha[..n]);
        for (k, (i, at)) in tile.colours(part).enumerate() {
            let row = &mut samples[at + j * part.stride..][..n];
            if !space.is_direct {
                row.copy_from_slice(&colours[if space.matrix.is_some() { k } else { i }][..n]);
            }
            if tile.multiplied && space.is_premultiplied() {
                row.iter_mut().zip(alpha).for_each(|(v, a)| *v /= divisor(*a));
            }
            space.curve.linearize(tile.level(), row);
            if space.keeps_above_white {
                row.iter_mut().filter(|v| **v > 1.0).for_each(|v| *v = 1.0);
            }
            before[at + j * part.stride..][..n].copy_from_slice(row);
            if tile.multiplied {
                row.iter_mut().zip(alpha).for_each(|(v, a)| *v *= tile.share(*a));
            }
        }
    }
}
