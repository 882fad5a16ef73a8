//! Splats of any shape and size, clipped to the tile.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::blend_image::blend_image;
use super::coverage::{Outline, extent_rotated, rotation};
use super::draw_plane::BlendTerms;
use super::painter::Painter;
use super::picture::Picture;
use super::rasterize::{CellBlock, CoverageMask, HIGH, LANES, WIDE, rasterize};
use super::speck::Speck;
use super::splat::Splat;
use super::style::{Shape, SplatStyle};
use super::tile::PlaneGroupArea;
use crate::simd::multiversion;
use core::ops::Range;

multiversion! {
    /// Draws a splat of any shape and size, clipped to the tile, into the planes of a part.
    pub(super) fn draw_large(level, part: &PlaneGroupArea, painter: &Painter, splat: &Splat, style: &SplatStyle, pictures: &[Picture], mask: &mut CoverageMask, samples: &mut [f32]) = draw_large_body;
}

#[inline(always)]
fn draw_large_body(
    part: &PlaneGroupArea,
    painter: &Painter,
    splat: &Splat,
    style: &SplatStyle,
    pictures: &[Picture],
    mask: &mut CoverageMask,
    samples: &mut [f32],
) {
    let turned = rotation(splat.angle);
    let cells = &part.group.cells;
    let aspect = painter.aspect;
    let speck =
        matches!(style.shape, Shape::Speck).then(|| Speck::new(splat, turned, cells.displayed(aspect)));
    let reach = match &speck {
        Some(speck) => speck.extent(),
        None => extent_rotated(&style.shape, splat, || turned),
    };
    let reach = [painter.grid.in_samples(reach[0]), reach[1]];
    let range = |a: usize, at: i32| {
        // The coverage of a speck is evaluated at the centre of cells.
        let more = reach[a].saturating_add(if speck.is_some() { 0 } else { 128 << cells.shift[a] });
        let (low, high) = cells.touched(a, at.saturating_sub(more), at.saturating_add(more));
        let end = part.from[a] + part.size[a] as i32;
        low.clamp(part.from[a], end)..high.clamp(part.from[a], end)
    };
    let (x, y) = (range(0, splat.x), range(1, splat.y));
    if x.is_empty() || y.is_empty() {
        return;
    }
    let opacity = f32::from(splat.opacity) * (1.0 / 65535.0);
    let effects = painter.effects(&part.group, splat, style);
    if let Some(speck) = speck {
        return draw_speck(&speck, part, splat, aspect, opacity, x, y, &effects, samples);
    }
    let outline = Outline::of(&style.shape, splat, turned);
    let image = painter.images.get(usize::from(splat.style)).and_then(Option::as_ref);
    let sampler = match style.shape {
        Shape::Picture => pictures.get(Painter::picture_index(splat)).map(|p| p.sampler(cells, aspect)),
        _ => image.map(|image| image.sampler(splat, turned, cells.displayed(aspect))),
    };
    for top in y.clone().step_by(HIGH) {
        for left in x.clone().step_by(WIDE) {
            let size = [((x.end - left) as usize).min(WIDE), ((y.end - top) as usize).min(HIGH)];
            let block = CellBlock { cells, aspect, first: [left, top], size, centre: [splat.x, splat.y] };
            if let Some(outline) = &outline {
                rasterize(outline, &block, opacity, if painter.draft { 2 } else { 16 }, mask);
                blend_coverage(part, &block, &effects, mask, samples);
            } else if let Some(sampler) = &sampler {
                blend_image(part, painter, &block, style.blend, opacity, sampler, samples);
            }
        }
    }
}

/// Composes a speck onto the cells `x` and `y` of a part. Samples are displayed `aspect` times as wide as high.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn draw_speck(
    speck: &Speck,
    part: &PlaneGroupArea,
    splat: &Splat,
    aspect: f32,
    opacity: f32,
    x: Range<i32>,
    y: Range<i32>,
    effects: &[BlendTerms; 4],
    samples: &mut [f32],
) {
    let cells = &part.group.cells;
    let per = 1.0 / speck.det;
    let [xx, xy, yy] = [speck.m[2] * per, -2.0 * speck.m[1] * per, speck.m[0] * per];
    for j in y {
        let dy = cells.offset(1, splat.y, j);
        let (with_x, alone) = (xy * dy, yy * dy * dy);
        for i in x.clone().step_by(LANES) {
            let mut cover = [0.0; LANES];
            for (l, cover) in cover.iter_mut().enumerate() {
                let column = i + l as i32;
                let dx = cells.offset(0, splat.x, column) * aspect;
                let u = 1.0 - (xx * dx * dx + with_x * dx + alone);
                let u = if u > 0.0 { u } else { 0.0 };
                let c = speck.gain * u * u;
                let c = (if c < 1.0 { c } else { 1.0 }) * opacity;
                *cover = if column < x.end { c } else { 0.0 };
            }
            let place = part.index([i, j], 0);
            for (base, effect) in part.base[..part.group.count].iter().zip(effects) {
                let at = base + place;
                let Some(row) = samples.get_mut(at..).and_then(|s| s.first_chunk_mut::<LANES>()) else {
                    break;
                };
                effect.blend(&cover, row);
            }
        }
    }
}

/// Composes a shape onto the planes.
#[inline(always)]
fn blend_coverage(
    part: &PlaneGroupArea,
    block: &CellBlock<'_>,
    effects: &[BlendTerms; 4],
    mask: &CoverageMask,
    samples: &mut [f32],
) {
    for j in 0..block.size[1] {
        let (from, cover) = mask.row(j);
        let place = part.index(block.first, j) + from;
        for (base, effect) in part.base[..part.group.count].iter().zip(effects) {
            for (k, c) in cover.iter().enumerate() {
                // The last sixteen cells may extend into the margin of the tile, where nothing is covered.
                let at = base + place + k * LANES;
                let Some(row) = samples.get_mut(at..).and_then(|s| s.first_chunk_mut::<LANES>()) else {
                    break;
                };
                effect.blend(c, row);
            }
        }
    }
}
