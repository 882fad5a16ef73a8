//! Draws splats into a tile, small soft discs by their stamps.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::draw_large::draw_large;
use super::draw_plane::{BATCH, BlendTerms};
use super::painter::Painter;
use super::picture::Picture;
use super::rasterize::CoverageMask;
use super::splat::Splat;
use super::stamp::{Stamp, Stamps};
use super::tile::{EDGE, PlaneGroupArea, Tile};
use crate::simd::{Level, multiversion};
use bytemuck::Zeroable;

multiversion! {
    /// Draws splats, in this order, into a tile's samples, by stamps and pictures.
    pub(super) fn paint(level, tile: &Tile<'_>, painter: &Painter, prepared: (&Stamps, &[Picture]), splats: &[Splat], buffers: &mut DrawBuffers, samples: &mut [f32], own: Level) = paint_body;
}

/// The splats and styles to draw.
#[derive(Clone, Copy)]
struct DrawContext<'a> {
    painter: &'a Painter,
    stamps: &'a Stamps,
    pictures: &'a [Picture],
    splats: &'a [Splat],
    batch: &'a [SplatBatch; BATCHES],
    own: Level,
}

/// Groups of [`BATCH`] splats that are prepared at a time.
const BATCHES: usize = 16;

/// Temporary buffers for drawing a band.
#[derive(Zeroable)]
pub(super) struct DrawBuffers {
    batch: [SplatBatch; BATCHES],
    mask: CoverageMask,
}

/// One part after the other, so that only its stamps and samples need be in the cache. Common numbers of planes and
/// strides are separate instances, in which the steps of a stamp need no bounds checks.
#[inline(always)]
fn paint_body(
    tile: &Tile<'_>,
    painter: &Painter,
    (stamps, pictures): (&Stamps, &[Picture]),
    splats: &[Splat],
    buffers: &mut DrawBuffers,
    samples: &mut [f32],
    own: Level,
) {
    let DrawBuffers { batch, mask } = buffers;
    for splats in splats.chunks(BATCH * BATCHES) {
        // All of them first: numbers that were written one by one cannot be read as vectors immediately.
        for (batch, splats) in batch.iter_mut().zip(splats.chunks(BATCH)) {
            batch.take(splats, stamps);
        }
        let work = DrawContext { painter, stamps, pictures, splats, batch, own };
        each_part(tile, work, mask, samples);
    }
}

#[inline(always)]
fn each_part(tile: &Tile<'_>, work: DrawContext<'_>, mask: &mut CoverageMask, samples: &mut [f32]) {
    for part in tile.parts() {
        match (part.group.count, part.stride) {
            (1, 80) => blend_part::<1, 80>(part, work, mask, samples),
            (2, 48) => blend_part::<2, 48>(part, work, mask, samples),
            (3, 80) => blend_part::<3, 80>(part, work, mask, samples),
            (3, 48) => blend_part::<3, 48>(part, work, mask, samples),
            _ => blend_part::<0, 0>(part, work, mask, samples),
        }
    }
}

/// `C` planes, or any number; a stride of `S` samples, or any.
#[inline(always)]
fn blend_part<const C: usize, const S: usize>(
    part: &PlaneGroupArea,
    work: DrawContext<'_>,
    mask: &mut CoverageMask,
    samples: &mut [f32],
) {
    let stride = if S > 0 { S } else { part.stride };
    let count = if C > 0 { C } else { part.group.count.min(4) };
    let finder = OffsetFinder::new(part);
    let mut at = BufferOffsets::zeroed();
    let mut mix = [[[0.0f32; BATCH]; 2]; 4];
    let mut coverages = Coverages([[0.0; 16]; BATCH]);
    for (splats, batch) in work.splats.chunks(BATCH).zip(work.batch) {
        finder.find(batch, &mut at);
        batch.effects(part, work.painter, splats, &mut mix);
        // The coverage of all small splats, then their composition one after the other.
        for (j, cover) in coverages.0.iter_mut().enumerate().take(splats.len()) {
            at.to[j] = OUTSIDE;
            let Some(stamp) = work.stamps.stamp(batch.set[j], part.group.kind) else { continue };
            let [x, y] =
                [0, 1].map(|a| at.cell[a][j].wrapping_add(stamp.start[a][at.phase[a][j] as usize & 15]));
            // From 0 to the last position where the stamp fits: a negative number is large when unsigned. Stamps
            // that are not within the buffer do not touch the tile.
            let fits = (x as u32 <= (finder.size[0] - stamp.width as i32) as u32)
                & (y as u32 <= (finder.size[1] - stamp.rows as i32) as u32);
            if !fits {
                continue;
            }
            at.to[j] = y as u32 * stride as u32 + x as u32;
            if stamp.long == 16 {
                coverage(stamp, &at, j, batch.opacity[j], cover);
            }
        }
        for (j, splat) in splats.iter().enumerate() {
            let Some(stamp) = work.stamps.stamp(batch.set[j], part.group.kind) else {
                if let Some(style) = work.painter.styles.get(usize::from(splat.style)) {
                    draw_large(work.own, part, work.painter, splat, style, work.pictures, mask, samples);
                }
                continue;
            };
            if at.to[j] == OUTSIDE {
                continue;
            }
            let place = at.to[j] as usize;
            for (base, [fade, ink]) in part.base.iter().zip(&mix).take(count) {
                let terms = BlendTerms { fade: fade[j], ink: ink[j] };
                let Some(samples) = samples.get_mut(base + place..) else { continue };
                match (stamp.long, stamp.rows) {
                    (16, 3) => blend_stamp::<3>(&coverages.0[j], terms, stride, samples),
                    (16, 4) => blend_stamp::<4>(&coverages.0[j], terms, stride, samples),
                    (32, _) => blend_rows::<4, 32>(stamp, &at, j, batch.opacity[j], terms, stride, samples),
                    _ => blend_rows::<8, 64>(stamp, &at, j, batch.opacity[j], terms, stride, samples),
                }
            }
        }
    }
}

/// Coverage of the cells of stamps, times opacity.
#[repr(C, align(64))]
struct Coverages([[f32; 16]; BATCH]);

/// Not in the tile's buffer.
const OUTSIDE: u32 = u32::MAX;

/// A group of splats.
#[derive(Zeroable)]
#[repr(C, align(64))]
struct SplatBatch {
    at: [[i32; BATCH]; 2],
    opacity: [f32; BATCH],
    colour: [[u16; BATCH]; 3],
    /// Their stamps.
    set: [u16; BATCH],
    /// Whether all have the same style.
    alike: bool,
}

impl SplatBatch {
    #[inline(always)]
    fn take(&mut self, splats: &[Splat], stamps: &Stamps) {
        let style = splats.first().map_or(0, |s| s.style);
        self.alike = true;
        for (j, splat) in splats.iter().enumerate().take(BATCH) {
            self.at[0][j] = splat.x;
            self.at[1][j] = splat.y;
            self.opacity[j] = f32::from(splat.opacity) * (1.0 / 65535.0);
            for c in 0..3 {
                self.colour[c][j] = splat.colour[c];
            }
            self.set[j] = stamps.set(splat);
            self.alike &= splat.style == style;
        }
    }

    /// Their effect on each plane of a part: fades and inks.
    #[inline(always)]
    fn effects(
        &self,
        part: &PlaneGroupArea,
        painter: &Painter,
        splats: &[Splat],
        mix: &mut [[[f32; BATCH]; 2]; 4],
    ) {
        let styles = &painter.styles;
        if self.alike {
            let Some(style) = splats.first().and_then(|s| styles.get(usize::from(s.style))) else { return };
            for (p, [fade, ink]) in part.group.planes().iter().zip(mix) {
                let plane = painter.planes[*p];
                for j in 0..BATCH {
                    let colour = [0, 1, 2].map(|c: usize| self.colour[c][j]);
                    let terms = plane.splat_terms(style, colour);
                    (fade[j], ink[j]) = (terms.fade, terms.ink);
                }
            }
            return;
        }
        for (j, splat) in splats.iter().enumerate().take(BATCH) {
            let Some(style) = styles.get(usize::from(splat.style)) else { continue };
            let effects = painter.effects(&part.group, splat, style);
            for (mix, effect) in mix.iter_mut().zip(effects) {
                (mix[0][j], mix[1][j]) = (effect.fade, effect.ink);
            }
        }
    }
}

/// The positions of a group of splats in a part's buffer.
#[derive(Zeroable)]
#[repr(C, align(64))]
struct BufferOffsets {
    /// The cell of the centre.
    cell: [[i32; BATCH]; 2],
    /// The sixteenth of the cell that contains the centre, and the distance beyond it, in sixteenths.
    phase: [[u32; BATCH]; 2],
    remainder: [[f32; BATCH]; 2],
    /// The first sample of the stamp, relative to the plane.
    to: [u32; BATCH],
}

/// The conversion of positions for a part.
struct OffsetFinder {
    /// log2 of a sixteenth of a cell, left or top edge of cell 0, and first cell of the buffer: across and down.
    by: [u32; 2],
    edge: [i32; 2],
    from: [i32; 2],
    /// Cells of the buffer.
    size: [i32; 2],
}

impl OffsetFinder {
    #[inline(always)]
    fn new(part: &PlaneGroupArea) -> OffsetFinder {
        let cells = &part.group.cells;
        let mut finder = OffsetFinder { by: [0; 2], edge: [0; 2], from: [0; 2], size: [0; 2] };
        for a in 0..2 {
            finder.by[a] = 4 + cells.shift[a];
            finder.edge[a] = cells.edge(a);
            finder.from[a] = part.from[a] - EDGE as i32;
            finder.size[a] = (part.size[a] + 2 * EDGE) as i32;
        }
        finder
    }

    #[inline(always)]
    fn find(&self, batch: &SplatBatch, out: &mut BufferOffsets) {
        for a in 0..2 {
            let (by, edge, from) = (self.by[a], self.edge[a], self.from[a]);
            let unit = 1.0 / (1u32 << by) as f32;
            for j in 0..BATCH {
                let place = batch.at[a][j].wrapping_sub(edge);
                let near = place.wrapping_add(1 << (by - 1)) >> by;
                out.remainder[a][j] = place.wrapping_sub(near << by) as f32 * unit;
                out.phase[a][j] = (near & 15) as u32;
                out.cell[a][j] = (near >> 4).wrapping_sub(from);
            }
        }
    }
}

/// The coverage of a cell of a stamp.
#[inline(always)]
fn clamped_coverage(cover: f32, across: f32, down: f32, remainder: [f32; 2], opacity: f32) -> f32 {
    let v = cover + remainder[0] * across + remainder[1] * down;
    let v = if v > 0.0 { v } else { 0.0 };
    (if v < 1.0 { v } else { 1.0 }) * opacity
}

/// The coverage of all cells of a small stamp.
#[inline(always)]
fn coverage(stamp: &Stamp, at: &BufferOffsets, j: usize, opacity: f32, out: &mut [f32; 16]) {
    let phase = [0, 1].map(|a| at.phase[a][j] as usize & 15);
    let remainder = [at.remainder[0][j], at.remainder[1][j]];
    let Some([cover, across, down]) = stamp.coverage::<16>(phase[0], phase[1]) else { return };
    for i in 0..16 {
        out[i] = clamped_coverage(cover[i], across[i], down[i], remainder, opacity);
    }
}

/// Composes `R` rows of 4 onto a plane, the first at the start of `samples`.
#[inline(always)]
fn blend_stamp<const R: usize>(coverages: &[f32; 16], terms: BlendTerms, stride: usize, samples: &mut [f32]) {
    let long = (R - 1) * stride + 4;
    let Some(cells) = samples.get_mut(..long) else { return };
    for r in 0..R {
        let row = &mut cells[r * stride..][..4];
        for i in 0..4 {
            row[i] = terms.over(row[i], coverages[4 * r + i]);
        }
    }
}

/// Composes a stamp of any height and a width of `W` cells onto a plane, row by row.
#[inline(always)]
fn blend_rows<const W: usize, const N: usize>(
    stamp: &Stamp,
    at: &BufferOffsets,
    j: usize,
    opacity: f32,
    terms: BlendTerms,
    stride: usize,
    samples: &mut [f32],
) {
    let phase = [0, 1].map(|a| at.phase[a][j] as usize & 15);
    let remainder = [at.remainder[0][j], at.remainder[1][j]];
    let Some([cover, across, down]) = stamp.coverage::<N>(phase[0], phase[1]) else { return };
    let (cover, across, down) =
        (cover.as_chunks::<W>().0, across.as_chunks::<W>().0, down.as_chunks::<W>().0);
    let mut to = 0;
    for ((cover, across), down) in cover.iter().zip(across).zip(down).take(stamp.rows) {
        let Some(row) = samples.get_mut(to..).and_then(|s| s.first_chunk_mut::<W>()) else { return };
        for i in 0..W {
            row[i] = terms.over(row[i], clamped_coverage(cover[i], across[i], down[i], remainder, opacity));
        }
        to += stride;
    }
}
