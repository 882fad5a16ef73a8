//! Drawing in red, green and blue into planes that hold other values: light behind a transfer function, or Y, U and V.
//!
//! The samples of a tile are converted to working samples, light (or values) of G, B and R from 0 to 1. Splats are
//! drawn into these as into any RGB picture, and the difference is added to the planes: `old code + (code(after) -
//! code(before))`. A sample without coverage does not change.
//!
//! **The result** is defined cell by cell. Luma, alpha and samples of R, G and B have cells of their own size; coarser
//! chroma has cells around the chroma positions. The colour of a luma cell is that of its block (for luma, the chroma
//! of the block; for chroma, the mean luma of the block). This determines the colour below the splat, not that of the
//! splat: an opaque splat has its own colour.
//!
//! With straight alpha, light is multiplied by alpha for drawing. Premultiplied samples were multiplied as values,
//! behind the transfer function, so they are divided by alpha first.

use super::draw_plane::DrawPlane;
use super::tile::{EDGE, Part, Tile};
use super::working_space::WorkingSpace;
use crate::frame::{Alpha, FrameMut, PlaneSet};
use crate::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
use crate::pixel::transfer::TransferFunction;
use crate::simd::multiversion;

/// The longest row of a tile.
const LONGEST: usize = 1 << 9;

impl WorkingSpace {
    /// Reads the samples of the planes: `samples` to draw into, and `before` as they were, not premultiplied.
    pub(super) fn load<T: ConvertF32>(
        &self,
        tile: &Tile,
        out: &FrameMut<'_>,
        samples: &mut [f32],
        before: &mut [f32],
    ) {
        samples.fill(0.0);
        let mut rows = [[0.0f32; LONGEST]; 3];
        for part in tile.parts() {
            let lights = self.lights_of(part);
            let n = part.size[0];
            for j in 0..part.size[1] {
                let mut alpha = [1.0f32; LONGEST];
                let alpha = &mut alpha[..n];
                if let (Some(from), Some(a)) = (self.alpha_of(part), self.alpha) {
                    self.block::<T>(out, a, part, j, alpha);
                    alpha.iter_mut().for_each(|v| *v *= 1.0 / self.own[a].span);
                    samples[from + j * part.stride..][..n].copy_from_slice(alpha);
                    before[from + j * part.stride..][..n].copy_from_slice(alpha);
                }
                if let Some(matrix) = &self.matrix {
                    self.yuv::<T>(out, part, j, &mut rows);
                    for (p, to) in lights.clone() {
                        let row = &mut samples[to + j * part.stride..][..n];
                        mix(
                            self.level,
                            row,
                            [&rows[0], &rows[1], &rows[2]],
                            self.scaled(matrix[0][self.component(p)]),
                        );
                    }
                } else {
                    for (p, to) in lights.clone() {
                        let row = &mut samples[to + j * part.stride..][..n];
                        self.lifted::<T>(out, p, part, j, row);
                        row.iter_mut().for_each(|v| *v *= 1.0 / self.own[p].span);
                    }
                }
                let needs_premultiply = self.needs_premultiply(part);
                for (_, to) in lights.clone() {
                    let row = &mut samples[to + j * part.stride..][..n];
                    if needs_premultiply && self.kind == Alpha::Premultiplied {
                        row.iter_mut().zip(&*alpha).for_each(|(v, a)| *v /= whole(*a));
                    }
                    self.curve.linearize(self.level, row);
                    before[to + j * part.stride..][..n].copy_from_slice(row);
                    if needs_premultiply {
                        row.iter_mut().zip(&*alpha).for_each(|(v, a)| *v *= self.share(*a));
                    }
                }
            }
        }
    }

    /// Writes the changes to the planes.
    pub(super) fn store<T: ConvertF32>(
        &self,
        tile: &Tile,
        out: &mut FrameMut<'_>,
        samples: &mut [f32],
        before: &[f32],
        writes: PlaneSet,
    ) {
        let mut now = [[0.0f32; LONGEST]; 3];
        let mut was = [[0.0f32; LONGEST]; 3];
        let (ones, mut drawn) = ([1.0f32; LONGEST], [0u32; LONGEST]);
        for part in tile.parts() {
            let n = part.size[0];
            let drawn = &mut drawn[..n];
            let needs_premultiply = self.needs_premultiply(part);
            self.limit_alpha(part, samples, before);
            for j in 0..part.size[1] {
                let row = |from: usize| from + j * part.stride..from + j * part.stride + n;
                let alphas = self.alpha_of(part).filter(|_| needs_premultiply);
                let alpha = alphas.map_or(&ones[..n], |from| &samples[row(from)]);
                let alpha_was = alphas.map_or(&ones[..n], |from| &before[row(from)]);
                // The bits that differ in samples that were drawn on.
                drawn.fill(0);
                differ(self.level, alpha, alpha_was, drawn);
                for (k, (_, from)) in self.lights_of(part).enumerate() {
                    let (light, light_was) = (&samples[row(from)], &before[row(from)]);
                    if needs_premultiply {
                        let folded = &mut was[k][..n];
                        let rows = light_was.iter().zip(alpha_was);
                        folded.iter_mut().zip(rows).for_each(|(to, (v, a))| *to = v * self.share(*a));
                        differ(self.level, light, folded, drawn);
                    } else {
                        differ(self.level, light, light_was, drawn);
                    }
                }
                let first = drawn.iter().position(|d| *d != 0);
                let last = drawn.iter().rposition(|d| *d != 0);
                let (Some(first), Some(last)) = (first, last.map(|l| l + 1)) else { continue };
                for (k, (_, from)) in self.lights_of(part).enumerate() {
                    let from = from + j * part.stride;
                    let (now, was) = (&mut now[k][first..last], &mut was[k][first..last]);
                    now.copy_from_slice(&samples[from + first..from + last]);
                    was.copy_from_slice(&before[from + first..from + last]);
                    let (alpha, alpha_was) = (&alpha[first..last], &alpha_was[first..last]);
                    if needs_premultiply {
                        now.iter_mut().zip(alpha).for_each(|(v, a)| *v /= whole(*a));
                    }
                    self.curve.encode(self.level, now);
                    self.curve.encode(self.level, was);
                    let premultiplied = needs_premultiply && self.kind == Alpha::Premultiplied;
                    if !needs_premultiply {
                        less(self.level, now, was);
                        continue;
                    }
                    for i in 0..now.len() {
                        if premultiplied {
                            now[i] = now[i] * whole(alpha[i]) - was[i] * whole(alpha_was[i]);
                        } else {
                            now[i] -= was[i];
                        }
                        // At an alpha of 0 the colour stays unchanged, like samples that were not drawn on.
                        let hidden = !premultiplied && (alpha[i].is_nan() || alpha[i] <= 0.0);
                        if hidden || drawn[first + i] == 0 {
                            now[i] = 0.0;
                        }
                    }
                }
                self.add_back::<T>(part, j, first..last, out, &now, &mut was[0], writes);
            }
        }
        self.add_back_alpha::<T>(tile, out, samples, before);
    }

    /// Puts a row's differences in light into the planes that they belong to.
    #[allow(clippy::too_many_arguments)]
    fn add_back<T: ConvertF32>(
        &self,
        part: &Part,
        j: usize,
        cells: core::ops::Range<usize>,
        out: &mut FrameMut<'_>,
        now: &[[f32; LONGEST]; 3],
        room: &mut [f32; LONGEST],
        writes: PlaneSet,
    ) {
        let room = &mut room[cells.clone()];
        match &self.matrix {
            None => {
                for (k, (p, _)) in self.lights_of(part).enumerate() {
                    room.copy_from_slice(&now[k][cells.clone()]);
                    self.add::<T>(p, part, j, cells.start, room, out);
                }
            }
            Some(matrix) => {
                let [a, b, c] = [&now[0][cells.clone()], &now[1][cells.clone()], &now[2][cells.clone()]];
                for p in self.planes_of(part, writes).iter() {
                    mix(self.level, room, [a, b, c], matrix[1][p].map(|v| v as f32));
                    self.add::<T>(p, part, j, cells.start, room, out);
                }
            }
        }
    }

    /// Adds nominal differences to samples from `first` on.
    fn add<T: ConvertF32>(
        &self,
        p: usize,
        part: &Part,
        j: usize,
        first: usize,
        more: &mut [f32],
        out: &mut FrameMut<'_>,
    ) {
        let DrawPlane { zero, span, legal, .. } = self.own[p];
        let row =
            &mut out.plane_mut(p).row_mut::<T>(part.from[1] as usize + j)[part.from[0] as usize + first..];
        let row = &mut row[..more.len()];
        let mut old = [0.0f32; LONGEST];
        let old = &mut old[..more.len()];
        to_f32(self.level, row, zero, old);
        raise(self.level, more, old, span);
        from_f32(self.level, more, zero, legal.unwrap_or_default(), row);
    }

    fn add_back_alpha<T: ConvertF32>(
        &self,
        tile: &Tile,
        out: &mut FrameMut<'_>,
        samples: &[f32],
        before: &[f32],
    ) {
        let Some(p) = self.alpha else { return };
        // The first part is luma's.
        let Some((part, at)) = tile.parts().find_map(|part| Some((part, self.alpha_of(part)?))) else {
            return;
        };
        let mut more = [0.0f32; LONGEST];
        let more = &mut more[..part.size[0]];
        for j in 0..part.size[1] {
            let from = at + j * part.stride;
            let rows = samples[from..].iter().zip(&before[from..]);
            more.iter_mut().zip(rows).for_each(|(v, (now, was))| *v = now - was);
            self.add::<T>(p, part, j, 0, more, out);
        }
    }

    /// At most full alpha, or the previous alpha.
    fn limit_alpha(&self, part: &Part, samples: &mut [f32], before: &[f32]) {
        let Some(at) = self.alpha_of(part) else { return };
        for j in 0..part.size[1] {
            let from = at + j * part.stride;
            for (v, was) in samples[from..][..part.size[0]].iter_mut().zip(&before[from..]) {
                let most = if *was > 1.0 { *was } else { 1.0 };
                *v = if *v > most { most } else { *v };
            }
        }
    }

    /// The working planes of light of a part, as plane of the picture (where they are light themselves) or number of
    /// the component, and where their cells begin.
    fn lights_of<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = (usize, usize)> + Clone + 'a {
        let all = part.group.planes().iter().zip(part.base);
        all.filter(|(p, _)| self.component(**p) < self.lights).map(move |(p, base)| (*p, base + inside(part)))
    }

    /// The start of a part's alpha, if it is drawn.
    fn alpha_of(&self, part: &Part) -> Option<usize> {
        let mut all = part.group.planes().iter().zip(part.base);
        all.find(|(p, _)| self.component(**p) == self.lights).map(|(_, base)| base + inside(part))
    }

    /// Whether its colour depends on its alpha.
    fn needs_premultiply(&self, part: &Part) -> bool {
        let same = self.kind == Alpha::Premultiplied && self.curve == TransferFunction::Linear;
        !same && self.alpha_of(part).is_some()
    }

    /// The planes of Y, U and V that a part stands for.
    fn planes_of(&self, part: &Part, writes: PlaneSet) -> PlaneSet {
        match part.group.planes().first().map_or(0, |p| self.set_of(*p)) {
            0 => self.beside_luma(writes),
            set => self.chroma.get(set - 1).map_or(PlaneSet::NONE, |set| *set & writes),
        }
    }

    /// The factor of colour for drawing.
    #[inline(always)]
    fn share(&self, alpha: f32) -> f32 {
        if self.kind == Alpha::Premultiplied { whole(alpha) } else { alpha }
    }

    /// Samples of the picture's plane `p` in the cells of a part, less the code of nothing.
    fn lifted<T: ConvertF32>(&self, out: &FrameMut<'_>, p: usize, part: &Part, j: usize, row: &mut [f32]) {
        let plane = out.plane(p);
        let samples = &plane.row::<T>(part.from[1] as usize + j)[part.from[0] as usize..][..row.len()];
        to_f32(self.level, samples, self.own[p].zero, row);
    }

    /// Y, U and V of a row of cells, less the codes of nothing.
    fn yuv<T: ConvertF32>(&self, out: &FrameMut<'_>, part: &Part, j: usize, rows: &mut [[f32; LONGEST]; 3]) {
        let n = part.size[0];
        let [sx, sy] = self.own[1].cells.shift;
        if part.group.cells.shift == [0, 0] {
            self.lifted::<T>(out, 0, part, j, &mut rows[0][..n]);
            let mut coarse = [0.0f32; LONGEST];
            for (p, row) in rows.iter_mut().enumerate().skip(1) {
                let plane = out.plane(p);
                let from = part.from[0] as usize >> sx;
                let coarse = &mut coarse[..n.div_ceil(1 << sx)];
                // A bottom field may have a row of chroma less than its luma rows would need.
                let y = ((part.from[1] as usize + j) >> sy).min(plane.rows().end.saturating_sub(1));
                let samples = &plane.row::<T>(y)[from..][..coarse.len()];
                to_f32(self.level, samples, self.own[p].zero, coarse);
                upsample(&mut row[..n], coarse, sx);
            }
            return;
        }
        for (p, row) in rows.iter_mut().enumerate().skip(1) {
            self.lifted::<T>(out, p, part, j, &mut row[..n]);
        }
        self.block::<T>(out, 0, part, j, &mut rows[0][..n]);
    }

    /// The mean of plane `p`, as fine as luma, over each block of a row of cells, as far as it is in the picture, less
    /// the code of nothing.
    fn block<T: ConvertF32>(&self, out: &FrameMut<'_>, p: usize, part: &Part, j: usize, row: &mut [f32]) {
        let [sx, sy] = part.group.cells.shift;
        if [sx, sy] == [0, 0] {
            return self.lifted::<T>(out, p, part, j, row);
        }
        let plane = out.plane(p);
        let (y, zero) = (part.from[1] as usize + j, self.own[p].zero);
        let mut count = 0.0f32;
        row.fill(0.0);
        for y in (y << sy..(y + 1) << sy).filter(|y| plane.rows().contains(y)) {
            let samples = &plane.row::<T>(y)[(part.from[0] as usize) << sx..];
            for (sum, block) in row.iter_mut().zip(samples.chunks(1 << sx)) {
                let all = block.iter().fold(0.0, |all, s| all + (s.number() - zero));
                *sum += all * (1.0 / block.len() as f32);
            }
            count += 1.0;
        }
        let part = if count > 0.0 { 1.0 / count } else { 0.0 };
        row.iter_mut().for_each(|v| *v *= part);
    }

    /// A row of a matrix for lifted samples.
    fn scaled(&self, row: [f64; 3]) -> [f32; 3] {
        [0, 1, 2].map(|k| (row[k] / f64::from(self.own[k].span)) as f32)
    }
}

/// The first cell of a part within a plane's room.
fn inside(part: &Part) -> usize {
    EDGE * part.stride + EDGE
}

/// An alpha for divisions.
#[inline(always)]
fn whole(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha } else { 1.0 }
}

/// Each value of `coarse` repeated 2^`shift` times.
#[inline(always)]
fn upsample(out: &mut [f32], coarse: &[f32], shift: u32) {
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

multiversion! {
    /// A row of a matrix.
    fn mix(level, out: &mut [f32], rows: [&[f32]; 3], by: [f32; 3]) = mix_body;
    /// Adds the bits that differ in two rows.
    fn differ(level, a: &[f32], b: &[f32], bits: &mut [u32]) = differ_body;
    /// The increase of a row over its previous values.
    fn less(level, now: &mut [f32], was: &[f32]) = less_body;
    /// Samples that are raised by so many spans.
    fn raise(level, more: &mut [f32], old: &[f32], span: f32) = raise_body;
}

#[inline(always)]
fn mix_body(out: &mut [f32], rows: [&[f32]; 3], by: [f32; 3]) {
    let n = out.len();
    let [a, b, c] = rows.map(|r| &r[..n]);
    for i in 0..n {
        out[i] = by[0] * a[i] + by[1] * b[i] + by[2] * c[i];
    }
}

#[inline(always)]
fn differ_body(a: &[f32], b: &[f32], bits: &mut [u32]) {
    let n = bits.len();
    let (a, b) = (&a[..n], &b[..n]);
    for i in 0..n {
        bits[i] |= a[i].to_bits() ^ b[i].to_bits();
    }
}

#[inline(always)]
fn less_body(now: &mut [f32], was: &[f32]) {
    now.iter_mut().zip(was).for_each(|(now, was)| *now -= was);
}

#[inline(always)]
fn raise_body(more: &mut [f32], old: &[f32], span: f32) {
    for (v, old) in more.iter_mut().zip(old) {
        let sum = *old + *v * span;
        // NaN stays, like samples that were not drawn on.
        *v = if *v != 0.0 && sum.is_finite() { sum } else { *old };
    }
}
