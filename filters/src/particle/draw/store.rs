//! The way back from a drawn tile to the planes of the picture.
//!
//! Working colours that are the samples of the planes are rounded. Others are compared with what they were: their
//! change, as values and limited to white, is added to the samples, so that a sample without coverage does not change.
//!
//! The samples of a block share one chroma. A change of chroma would lower R, G or B of those that the splats light
//! less than the block as a whole, so their luma rises by as much; where white leaves no room for that, chroma changes
//! less. So no channel ends below both what it was and what was drawn: light never darkens.

use super::draw_plane::DrawPlane;
use super::tile::{
    BlockBuffers, Change, Line, MAX_BLOCK, PlaneGroupArea, Rows, Tile, divisor, mix, upsample,
};
use crate::frame::FrameMut;
use crate::pixel::f32_rows::{ConvertF32, from_f32, from_f32_rows};
use crate::simd::multiversion;
use core::ops::Range;

impl Tile<'_> {
    /// At most full alpha, or the previous alpha.
    #[inline(always)]
    fn limit_alpha<T: ConvertF32>(&self, out: &FrameMut<'_>, samples: &mut [f32]) {
        let (Some((part, at)), Some(p)) = (self.alpha(), self.painter.space.alpha) else { return };
        let span = self.painter.space.own[p].span;
        for j in 0..part.size[1] {
            let row = &mut samples[at + j * part.stride..][..part.size[0]];
            for (v, b) in row.iter_mut().zip(part.row::<T>(out, p, j)) {
                let most = if b.number() > span { b.number() } else { span };
                *v = if *v > most { most } else { *v };
            }
        }
    }

    /// A row whose colours are those of the planes in its cells.
    #[inline(always)]
    fn store_row<T: ConvertF32>(
        &self,
        out: &mut FrameMut<'_>,
        part: &PlaneGroupArea,
        j: usize,
        samples: &[f32],
        before: &[f32],
        change: &mut Change,
    ) {
        let (space, level) = (&self.painter.space, self.level());
        let Some(cells) = self.change(part, j, samples, before, None, change) else { return };
        let Change { old, new, .. } = change;
        if space.matrix.is_some() {
            for p in (space.planes_of(part.grid) & self.writes).iter() {
                let delta = &mut old[0][cells.clone()];
                self.yuv_row(p, new, delta, &cells);
                self.add::<T>(out, part, p, j, cells.start, delta);
            }
            return;
        }
        for (k, (i, _)) in self.colours(part).enumerate() {
            let row = &mut new[k][cells.clone()];
            if space.is_direct {
                let DrawPlane { zero, legal, .. } = space.own[i];
                from_f32(level, row, zero, legal.unwrap_or_default(), part.row_mut::<T>(out, i, j, &cells));
            } else {
                self.add::<T>(out, part, i, j, cells.start, row);
            }
        }
    }

    /// The rows of luma with those of coarser chroma.
    #[inline(always)]
    fn store_blocks<T: ConvertF32>(
        &self,
        out: &mut FrameMut<'_>,
        luma: &PlaneGroupArea,
        samples: &[f32],
        before: &[f32],
        block: &mut BlockBuffers,
    ) {
        let space = &self.painter.space;
        let Some([to_rgb, to_yuv]) = &space.matrix else { return };
        let BlockBuffers { chroma: chroma_rows, luma: luma_rows, uv, fine, chroma_scale, .. } = block;
        let parts = || self.parts[1..].iter().flatten();
        let Some(([sx, sy], size)) = parts().next().map(|part| (part.group.cells.shift, part.size)) else {
            return;
        };
        // White is the limit where codes are.
        let top = if space.own[0].legal.is_some() { 1.0 } else { f32::INFINITY };
        let floor = ChannelFloor {
            chroma_to_rgb: to_rgb.map(|row| [row[1] as f32, row[2] as f32]),
            luma: to_yuv[0].map(|v| v as f32),
            top,
        };
        for k in 0..size[1] {
            // The cells of chroma that change, and those of luma in their blocks.
            let mut changed: Option<Range<usize>> = None;
            uv.iter_mut().for_each(|row| row[..size[0]].fill(0.0));
            for (part, change) in parts().zip(&mut *chroma_rows) {
                let Some(cells) = self.change(part, k, samples, before, None, change) else { continue };
                for p in (space.planes_of(part.grid) & self.writes).iter() {
                    self.yuv_row(p, &change.new, &mut uv[p.saturating_sub(1).min(1)][cells.clone()], &cells);
                }
                changed = Some(join(cells, changed));
            }
            let blocks = changed.map(|c| (c.start << sx..(c.end << sx).min(luma.size[0]), c));
            let end = if k + 1 == size[1] { luma.size[1] } else { (k + 1) << sy };
            let rows = (k << sy)..end.min((k << sy) + MAX_BLOCK);
            let mut cells: [Option<Range<usize>>; MAX_BLOCK] = Default::default();
            for ((j, change), cells) in rows.clone().zip(&mut *luma_rows).zip(&mut cells) {
                let covered = blocks.as_ref().map(|(fine, _)| fine.clone());
                *cells = self.change(luma, j, samples, before, covered, change);
            }
            let n = luma.size[0];
            fine.iter_mut().for_each(|row| row[..n].fill(0.0));
            if let Some((cells, coarse)) = blocks {
                upsample_both(fine, uv, &cells, &coarse, sx);
                if top.is_finite() {
                    let part = &mut chroma_scale[cells.clone()];
                    part.fill(1.0);
                    for (_, change) in rows.clone().zip(&*luma_rows) {
                        chroma_headroom(&floor, &change.old, &change.new, fine, cells.start, part);
                    }
                    for (i, part) in part.chunks(1 << sx).enumerate() {
                        let least = part.iter().fold(1.0, |a, b| if *b < a { *b } else { a });
                        uv.iter_mut().for_each(|row| row[coarse.start + i] *= least);
                    }
                }
                for part in parts() {
                    for p in (space.planes_of(part.grid) & self.writes).iter() {
                        let row = &mut uv[p.saturating_sub(1).min(1)][coarse.clone()];
                        self.add::<T>(out, part, p, k, coarse.start, row);
                    }
                }
                upsample_both(fine, uv, &cells, &coarse, sx);
            }
            for ((j, change), cells) in rows.zip(&mut *luma_rows).zip(cells) {
                let Some(cells) = cells else { continue };
                let Change { old, new, alpha: [delta, _], .. } = change;
                let delta = &mut delta[cells.clone()];
                self.yuv_row(0, new, delta, &cells);
                raise_luma(&floor, old, new, fine, cells.start, delta);
                self.add::<T>(out, luma, 0, j, cells.start, delta);
            }
        }
    }

    /// A row of cells as values, not multiplied by alpha where the planes are not: what was, and (but for working
    /// colours that are samples) the change since. Gives the cells that were drawn on, and those that are `covered`.
    #[inline(always)]
    fn change(
        &self,
        part: &PlaneGroupArea,
        j: usize,
        samples: &[f32],
        before: &[f32],
        covered: Option<Range<usize>>,
        change: &mut Change,
    ) -> Option<Range<usize>> {
        let (space, level, n) = (&self.painter.space, self.level(), part.size[0]);
        let Change { old, new, alpha: [alpha_old, alpha_new], drawn } = change;
        let drawn = &mut drawn[..n];
        let mut any = 0;
        let (a, b) = (&mut *alpha_old, &mut *alpha_new);
        if self.multiplied {
            self.alpha_row(before, part, j, a);
            self.alpha_row(samples, part, j, b);
            any |= differ(&a[..n], &b[..n], true, drawn);
        }
        for (k, (_, at)) in self.colours(part).enumerate() {
            let row = at + j * part.stride..at + j * part.stride + n;
            let (light, light_old) = (&samples[row.clone()], &before[row]);
            if self.multiplied {
                let multiplied = &mut new[k][..n];
                for ((to, v), a) in multiplied.iter_mut().zip(light_old).zip(&*alpha_old) {
                    *to = v * self.share(*a);
                }
                any |= differ(light, multiplied, false, drawn);
            } else {
                any |= differ(light, light_old, k == 0, drawn);
            }
        }
        let mut cells = covered;
        if any != 0
            && let Some(first) = drawn.iter().position(|d| *d != 0)
            && let Some(last) = drawn.iter().rposition(|d| *d != 0)
        {
            cells = Some(join(first..last + 1, cells));
        }
        let Range { start: first, end: last } = cells?;
        for (k, (_, at)) in self.colours(part).enumerate() {
            let at = at + j * part.stride;
            let (new, old) = (&mut new[k][first..last], &mut old[k][first..last]);
            new.copy_from_slice(&samples[at + first..at + last]);
            old.copy_from_slice(&before[at + first..at + last]);
            if self.multiplied {
                new.iter_mut().zip(&alpha_new[first..last]).for_each(|(v, a)| *v /= divisor(*a));
            }
            space.curve.encode(level, new);
            space.curve.encode(level, old);
            if self.multiplied {
                for (i, (new, old)) in new.iter_mut().zip(old.iter_mut()).enumerate() {
                    let i = first + i;
                    if space.is_premultiplied() {
                        (*new, *old) = (*new * divisor(alpha_new[i]), *old * divisor(alpha_old[i]));
                    } else if alpha_new[i].is_nan() || alpha_new[i] <= 0.0 {
                        // At an alpha of 0 the colour stays.
                        *new = *old;
                    }
                    if drawn[i] == 0 {
                        *new = *old;
                    }
                }
            }
            if !space.is_direct {
                subtract(new, old, space.own[0].legal.is_some(), space.softens);
            }
        }
        Some(first..last)
    }

    /// Computes the change of plane `p` of Y, U and V.
    #[inline(always)]
    fn yuv_row(&self, p: usize, rgb: &Rows, out: &mut [f32], cells: &Range<usize>) {
        let Some([_, to_yuv]) = &self.painter.space.matrix else { return };
        let [g, b, r] = rgb;
        mix(out, [&g[cells.clone()], &b[cells.clone()], &r[cells.clone()]], to_yuv[p].map(|v| v as f32));
    }

    /// Adds nominal values to samples from column `first` on, and sets them to what has been added after rounding.
    #[inline(always)]
    fn add<T: ConvertF32>(
        &self,
        out: &mut FrameMut<'_>,
        part: &PlaneGroupArea,
        p: usize,
        j: usize,
        first: usize,
        delta: &mut [f32],
    ) {
        let DrawPlane { zero, span, legal, .. } = self.painter.space.own[p];
        let row = part.row_mut::<T>(out, p, j, &(first..first + delta.len()));
        add_to(row, zero, span, legal.unwrap_or_default(), delta);
    }
}

impl PlaneGroupArea {
    /// Some columns of row `j` of the samples of a plane of the picture in the cells of the part.
    fn row_mut<'a, T: ConvertF32>(
        &self,
        out: &'a mut FrameMut<'_>,
        p: usize,
        j: usize,
        cells: &Range<usize>,
    ) -> &'a mut [T] {
        let row = out.plane_mut(p).row_mut::<T>(self.from[1] as usize + j);
        &mut row[self.from[0] as usize..][cells.clone()]
    }
}

fn upsample_both(
    fine: &mut [Line; 2],
    uv: &[Line; 2],
    cells: &Range<usize>,
    coarse: &Range<usize>,
    shift: u32,
) {
    for (fine, uv) in fine.iter_mut().zip(uv) {
        upsample(&mut fine[cells.clone()], &uv[coarse.clone()], shift);
    }
}

/// `n` columns of each row.
#[inline(always)]
fn columns<const N: usize>(rows: &[Line; N], first: usize, n: usize) -> [&[f32]; N] {
    rows.each_ref().map(|row| &row[first..][..n])
}

/// The smallest range that contains both.
fn join(a: Range<usize>, b: Option<Range<usize>>) -> Range<usize> {
    b.map_or(a.clone(), |b| a.start.min(b.start)..a.end.max(b.end))
}

/// The condition that no channel falls below both what it was and what was drawn.
#[derive(Clone, Copy)]
struct ChannelFloor {
    /// G, B and R for U and V.
    chroma_to_rgb: [[f32; 2]; 3],
    /// The weights of G, B and R in luma.
    luma: [f32; 3],
    /// White; infinite for float.
    top: f32,
}

impl ChannelFloor {
    /// The least change of luma in a cell where R, G and B were `was` and should change by `more`, for changes of U and
    /// V.
    #[inline(always)]
    fn least_luma(&self, old: [f32; 3], delta: [f32; 3], u: f32, v: f32) -> f32 {
        let mut least = f32::NEG_INFINITY;
        for c in 0..3 {
            let fall = if delta[c] < 0.0 { delta[c] } else { 0.0 };
            // Above white, a fall down to white is not visible.
            let beyond = self.top - old[c];
            let fall = if beyond < fall { beyond } else { fall };
            let luma = fall - (self.chroma_to_rgb[c][0] * u + self.chroma_to_rgb[c][1] * v);
            least = if luma > least { luma } else { least };
        }
        least
    }
}

multiversion! {
    /// Puts the samples back into the planes; `before` is what [`load`](super::tile::load) has set.
    pub(super) fn store<T: ConvertF32>(level, tile: &Tile<'_>, out: &mut FrameMut<'_>, samples: &mut [f32], before: &[f32], block: &mut [BlockBuffers]) = store_body::<T>;
}

#[inline(always)]
fn store_body<T: ConvertF32>(
    tile: &Tile<'_>,
    out: &mut FrameMut<'_>,
    samples: &mut [f32],
    before: &[f32],
    block: &mut [BlockBuffers],
) {
    let space = &tile.painter.space;
    tile.limit_alpha::<T>(out, samples);
    let whole_planes = |out: &mut FrameMut<'_>, part: &PlaneGroupArea, alpha: bool| {
        for (p, at) in part.planes().filter(|(p, _)| (Some(*p) == space.alpha) == alpha) {
            let DrawPlane { zero, legal, .. } = space.own[p];
            let (legal, plane, values) = (legal.unwrap_or_default(), out.plane_mut(p), &samples[at..]);
            from_f32_rows::<T>(tile.level(), values, part.stride, zero, legal, plane, part.area());
        }
    };
    if !tile.needs_original() {
        tile.parts().for_each(|part| whole_planes(out, part, false));
    } else if let Some(block) = block.first_mut() {
        match &tile.parts {
            [Some(luma), Some(_), ..] if space.matrix.is_some() && tile.colours(luma).next().is_some() => {
                tile.store_blocks::<T>(out, luma, samples, before, block);
            }
            _ => {
                for (part, j) in tile.parts().flat_map(|part| (0..part.size[1]).map(move |j| (part, j))) {
                    tile.store_row::<T>(out, part, j, samples, before, &mut block.chroma[0]);
                }
            }
        }
    }
    // Until here, alpha was read from its plane.
    tile.parts().for_each(|part| whole_planes(out, part, true));
}

/// Sets the bits that differ between two rows (or adds them to `bits`); returns all of them combined.
#[inline(always)]
fn differ(a: &[f32], b: &[f32], first: bool, bits: &mut [u32]) -> u32 {
    let n = bits.len();
    let (a, b) = (&a[..n], &b[..n]);
    let mut any = 0;
    for i in 0..n {
        bits[i] = if first { 0 } else { bits[i] } | (a[i].to_bits() ^ b[i].to_bits());
        any |= bits[i];
    }
    any
}

/// The part of what is left to white from which on a rise is softened, as film does; at 2 - KNEE of it white is reached.
pub(super) const KNEE: f32 = 0.75;

/// The change of a value by light that raises it by `rise`, where `room` is left to white: a parabola from the knee to
/// white, instead of an edge where a channel is full.
#[inline(always)]
pub(super) fn soften(rise: f32, room: f32) -> f32 {
    let knee = KNEE * room;
    let over = (rise - knee) * (0.5 / (1.0 - KNEE));
    let over = if over < room { over } else { room };
    let bent = knee + (1.0 - KNEE) * over * (2.0 - over / room);
    if rise > knee { bent } else { rise }
}

/// The change of a row, limited to black and white if `limited`.
#[inline(always)]
fn subtract(new: &mut [f32], old: &[f32], limited: bool, softens: bool) {
    for (new, old) in new.iter_mut().zip(old) {
        let (low, high) = if limited { (0.0, 1.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
        let (low, high) = (if *old < low { *old } else { low }, if *old > high { *old } else { high });
        let v = if *new > low { *new } else { low };
        let room = high - *old;
        *new = if softens && room > 0.0 {
            soften(v - *old, room)
        } else {
            (if v < high { v } else { high }) - *old
        };
    }
}

/// Adds nominal values to samples; sets them to what was added after rounding.
#[inline(always)]
fn add_to<T: ConvertF32>(row: &mut [T], zero: f32, span: f32, legal: (f32, f32), delta: &mut [f32]) {
    let per = 1.0 / span;
    for (s, v) in row.iter_mut().zip(delta) {
        let old = s.less(zero);
        let sum = old + *v * span;
        // NaN stays, like samples that were not drawn on.
        let new = s.replaced(if *v != 0.0 && sum.is_finite() { sum } else { old }, zero, legal);
        *s = new;
        *v = (new.less(zero) - old) * per;
    }
}

/// Lowers `part` to the largest part of the change of chroma for which luma need not exceed white.
#[inline(always)]
fn chroma_headroom(
    floor: &ChannelFloor,
    old: &Rows,
    delta: &Rows,
    uv: &[Line; 2],
    first: usize,
    part: &mut [f32],
) {
    let n = part.len();
    let (old, delta, [u, v]) = (columns(old, first, n), columns(delta, first, n), columns(uv, first, n));
    for i in 0..n {
        let (old, delta) = (old.map(|r| r[i]), delta.map(|r| r[i]));
        let all = floor.least_luma(old, delta, u[i], v[i]);
        let none = floor.least_luma(old, delta, 0.0, 0.0);
        let luma = floor.luma[0] * old[0] + floor.luma[1] * old[1] + floor.luma[2] * old[2];
        let above = if luma < 1.0 { 1.0 - luma } else { 0.0 };
        // The requirement is convex in the part, so this part suffices.
        let most = (above - none) / (all - none);
        let most = if all > above { most } else { 1.0 };
        part[i] = if most < part[i] { most } else { part[i] };
    }
}

/// Raises the change of luma as far as the change of chroma needs.
#[inline(always)]
fn raise_luma(
    floor: &ChannelFloor,
    old: &Rows,
    delta: &Rows,
    uv: &[Line; 2],
    first: usize,
    luma: &mut [f32],
) {
    let n = luma.len();
    let (old, delta, [u, v]) = (columns(old, first, n), columns(delta, first, n), columns(uv, first, n));
    for i in 0..n {
        let least = floor.least_luma(old.map(|r| r[i]), delta.map(|r| r[i]), u[i], v[i]);
        luma[i] = if least > luma[i] { least } else { luma[i] };
    }
}
