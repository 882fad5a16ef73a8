//! One tile: its samples as `f32`, with a margin so that small splats need not be clipped.

use super::super::arch::prefetch;
use super::draw_plane::{DrawPlane, Group, PlaneContent, needs_premultiply};
use super::painter::Painter;
use crate::frame::{FrameMut, PlaneSet};
use crate::pixel::f32_rows::{Area, ConvertF32, from_f32_rows, to_f32_rows};
use core::ops::Range;

/// The margin around a tile in cells: a stamp that touches the tile is inside.
pub(super) const EDGE: usize = 8;
const _: () = assert!(EDGE >= super::stamp::MAX_CELLS, "stamps fit the room around a tile");

/// A group's part of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) group: Group,
    /// First cell, and how many, across and down.
    pub(super) from: [i32; 2],
    pub(super) size: [usize; 2],
    pub(super) stride: usize,
    /// The start of each plane's cells in the buffer, including the margin.
    pub(super) base: [usize; 4],
}

impl Part {
    /// The index of a cell in a plane's part of the buffer: the given number of rows below `first`.
    #[inline(always)]
    pub(super) fn index(&self, first: [i32; 2], row: usize) -> usize {
        let [i, j] = [0, 1].map(|a| (first[a] - self.from[a]) as usize);
        (j + row + EDGE) * self.stride + EDGE + i
    }

    /// Its samples of any of its planes.
    fn area(&self) -> Area {
        Area { from: self.from.map(|v| v as usize), size: self.size }
    }
}

/// The layout of a tile's samples in its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    parts: [Option<Part>; 4],
    len: usize,
    unpremultiply: bool,
}

impl Tile {
    /// The luma samples `x` and rows `y` of the planes that are written.
    pub(super) fn new(painter: &Painter, x: Range<usize>, y: Range<usize>, writes: PlaneSet) -> Tile {
        let wanted = |p: usize| match &painter.working {
            Some(working) => working.wants(p, writes),
            None => writes.has(p),
        };
        let mut parts = [None; 4];
        let mut len = 0;
        for (out, group) in parts.iter_mut().zip(&painter.groups) {
            let mut mine = *group;
            mine.count = 0;
            group.planes().iter().filter(|p| wanted(**p)).for_each(|p| {
                mine.planes[mine.count.min(3)] = *p;
                mine.count += 1;
            });
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
            *out = Some(Part { group: mine, from: from.map(|v| v as i32), size, stride, base });
        }
        Tile { parts, len, unpremultiply: needs_premultiply(&painter.format, writes) }
    }

    /// Its parts, one for all planes with the same cells.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().flatten()
    }

    /// The number of `f32` values of its buffer.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Every plane with the part it is in and where its cells (without room) begin.
    fn planes(&self) -> impl Iterator<Item = (usize, &Part, usize)> {
        self.parts.iter().flatten().flat_map(|part| {
            let inside = EDGE * part.stride + EDGE;
            part.group.planes().iter().zip(part.base).map(move |(p, base)| (*p, part, base + inside))
        })
    }

    /// Reads the samples of the planes.
    pub(super) fn load(&self, painter: &Painter, out: &FrameMut<'_>, samples: &mut [f32]) {
        match painter.format.depth.bytes() {
            1 => self.load_as::<u8>(painter, out, samples),
            2 => self.load_as::<u16>(painter, out, samples),
            _ => self.load_as::<f32>(painter, out, samples),
        }
        if self.unpremultiply {
            self.premultiply(painter, samples);
        }
    }

    fn load_as<T: ConvertF32>(&self, painter: &Painter, out: &FrameMut<'_>, samples: &mut [f32]) {
        for (p, part, at) in self.planes() {
            let (inside, high) = (EDGE * part.stride + EDGE, part.size[1] + 2 * EDGE);
            let samples = &mut samples[at - inside..][..high * part.stride];
            // The margin is drawn on and never read, but its values must not be slow to compute with (subnormal).
            let (above, samples) = samples.split_at_mut(inside);
            let (samples, below) = samples.split_at_mut(part.size[1] * part.stride);
            above.fill(0.0);
            let zero = painter.places[p].zero;
            to_f32_rows::<T>(painter.level, &out.plane(p), part.area(), zero, samples, part.stride);
            below.fill(0.0);
            // Prefetches the tile to the right: the hardware does not predict it, since rows are far from each
            // other.
            let (from, plane) = (part.area().from, out.plane(p));
            for j in 0..part.size[1] {
                let row = plane.row::<T>(from[1] + j).get(from[0] + part.size[0]..).unwrap_or(&[]);
                row.iter().take(part.size[0]).step_by(64 / size_of::<T>()).for_each(prefetch);
            }
        }
    }

    /// The position of alpha, and its maximum.
    fn alpha(&self, painter: &Painter) -> Option<(usize, &Part, f32)> {
        self.planes()
            .find(|(p, ..)| painter.places[*p].content == PlaneContent::Alpha)
            .map(|(p, part, at)| (at, part, painter.places[p].span))
    }

    /// Multiplies colours by alpha.
    fn premultiply(&self, painter: &Painter, samples: &mut [f32]) {
        let Some((alpha_at, alpha, span)) = self.alpha(painter) else { return };
        for (p, part, at) in self.planes() {
            if painter.places[p].content == PlaneContent::Alpha {
                continue;
            }
            for j in 0..part.size[1] {
                for i in 0..part.size[0] {
                    let a = mean_alpha(&samples[alpha_at..], alpha, part, i, j) / span;
                    samples[at + j * part.stride + i] *= a;
                }
            }
        }
    }

    /// Writes the samples to the planes.
    pub(super) fn store(&self, painter: &Painter, out: &mut FrameMut<'_>, samples: &mut [f32]) {
        match painter.format.depth.bytes() {
            1 => self.store_as::<u8>(painter, out, samples),
            2 => self.store_as::<u16>(painter, out, samples),
            _ => self.store_as::<f32>(painter, out, samples),
        }
    }

    fn store_as<T: ConvertF32>(&self, painter: &Painter, out: &mut FrameMut<'_>, samples: &mut [f32]) {
        self.limit_alpha::<T>(painter, out, samples);
        if self.unpremultiply {
            self.unpremultiply::<T>(painter, out, samples);
        }
        for (p, part, at) in self.planes() {
            let DrawPlane { zero, legal, content, .. } = painter.places[p];
            if self.unpremultiply && content != PlaneContent::Alpha {
                continue;
            }
            let (values, legal) = (&samples[at..], legal.unwrap_or_default());
            from_f32_rows::<T>(
                painter.level,
                values,
                part.stride,
                zero,
                legal,
                out.plane_mut(p),
                part.area(),
            );
        }
    }

    /// At most full alpha, or the previous alpha.
    fn limit_alpha<T: ConvertF32>(&self, painter: &Painter, out: &FrameMut<'_>, samples: &mut [f32]) {
        for (p, part, at) in self.planes() {
            let DrawPlane { span, content: PlaneContent::Alpha, .. } = painter.places[p] else { continue };
            for j in 0..part.size[1] {
                let before = &out.plane(p).row::<T>(part.from[1] as usize + j)[part.from[0] as usize..];
                for (v, b) in samples[at + j * part.stride..][..part.size[0]].iter_mut().zip(before) {
                    let most = if b.number() > span { b.number() } else { span };
                    *v = if *v > most { most } else { *v };
                }
            }
        }
    }

    /// Divides colours by alpha and writes them to the planes. Samples without coverage do not change; at an alpha of
    /// 0, colour does not change.
    fn unpremultiply<T: ConvertF32>(&self, painter: &Painter, out: &mut FrameMut<'_>, samples: &mut [f32]) {
        let Some((alpha_at, alpha, span)) = self.alpha(painter) else { return };
        let Some(alpha_plane) = painter.format.alpha_plane() else { return };
        for (p, part, at) in self.planes() {
            let DrawPlane { zero, legal, content, .. } = painter.places[p];
            if content == PlaneContent::Alpha {
                continue;
            }
            let mut before = [0.0f32; 1 << 9];
            for j in 0..part.size[1] {
                // The old alpha is still in its plane.
                let [sx, sy] = part.group.cells.shift;
                for (i, before) in before.iter_mut().enumerate().take(part.size[0]) {
                    let old = |x: usize, y: usize| {
                        let row = out.plane(alpha_plane).row::<T>(alpha.from[1] as usize + y);
                        row[alpha.from[0] as usize + x].number()
                    };
                    *before = mean_over(alpha, [sx, sy], i, j, old) / span;
                }
                let row =
                    &mut out.plane_mut(p).row_mut::<T>(part.from[1] as usize + j)[part.from[0] as usize..];
                for (i, s) in row.iter_mut().enumerate().take(part.size[0]) {
                    let a = mean_alpha(&samples[alpha_at..], alpha, part, i, j) / span;
                    let v = samples[at + j * part.stride + i];
                    let folded = (s.number() - zero) * before[i];
                    let same = v.to_bits() == folded.to_bits() && a.to_bits() == before[i].to_bits();
                    if same || a <= 0.0 || !s.number().is_finite() || !(v / a).is_finite() {
                        continue;
                    }
                    match legal {
                        None => *s = T::of(v / a),
                        Some((low, high)) => {
                            let (low, high) = (low.min(s.number()), high.max(s.number()));
                            *s = T::of((v / a + zero).clamp(low, high));
                        }
                    }
                }
            }
        }
    }
}

/// The mean of alpha over the block of cell (i, j) of a part: for luma its own.
fn mean_alpha(samples: &[f32], alpha: &Part, part: &Part, i: usize, j: usize) -> f32 {
    mean_over(alpha, part.group.cells.shift, i, j, |x, y| samples[y * alpha.stride + x])
}

fn mean_over(alpha: &Part, [sx, sy]: [u32; 2], i: usize, j: usize, at: impl Fn(usize, usize) -> f32) -> f32 {
    if sx == 0 && sy == 0 {
        return at(i, j);
    }
    let (x, y) = (i << sx..((i + 1) << sx).min(alpha.size[0]), j << sy..((j + 1) << sy).min(alpha.size[1]));
    let mut sum = 0.0;
    let count = x.len() * y.len();
    for y in y {
        for x in x.clone() {
            sum += at(x, y);
        }
    }
    sum / count.max(1) as f32
}
