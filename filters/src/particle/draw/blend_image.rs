//! Composes images onto the planes: small ones sixteen cells at a time, to the same samples, to the bit, as cell by
//! cell.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::draw_plane::{DrawPlane, PlaneContent};
use super::painter::Painter;
use super::rasterize::{Block, F32x16, HIGH, LANES, WIDE};
use super::sample_rows::Overlap;
use super::sampler::Sampler;
use super::style::Blend;
use super::tile::Part;
use crate::simd::multiversion;

/// Groups of cells of a row of a block.
const GROUPS: usize = WIDE.div_ceil(LANES);
/// From 16 - n on: n ones and then zeros.
const INSIDE: [f32; 2 * LANES] = {
    let mut inside = [0.0; 2 * LANES];
    let mut l = 0;
    while l < LANES {
        inside[l] = 1.0;
        l += 1;
    }
    inside
};

/// The components that the planes of a part take from a picture, with alpha.
#[derive(Clone, Copy)]
enum Needs {
    Luma,
    Chroma,
    All,
}

multiversion! {
    /// Composes an image onto the cells of a block.
    pub(super) fn blend_image(level, part: &Part, painter: &Painter, block: &Block<'_>, blend: Blend, opacity: f32, sampler: &Sampler<'_>, samples: &mut [f32]) = blend_image_body;
}

#[inline(always)]
fn blend_image_body(
    part: &Part,
    painter: &Painter,
    block: &Block<'_>,
    blend: Blend,
    opacity: f32,
    sampler: &Sampler<'_>,
    samples: &mut [f32],
) {
    if painter.draft || !sampler.is_simple() {
        return by_cell(part, painter, block, blend, opacity, sampler, samples);
    }
    let (mut spans, mut planes) = ([[0; 2]; HIGH], [(0, None); 4]);
    sampler.bounds().spans(block, &mut spans);
    for ((to, base), p) in planes.iter_mut().zip(part.base).zip(part.group.planes()) {
        *to = (base, Some(&painter.places[*p]));
    }
    let all = |are: fn(PlaneContent) -> bool| planes.iter().all(|p| p.1.is_none_or(|p| are(p.content)));
    let needs = if all(|c| matches!(c, PlaneContent::Light(0) | PlaneContent::Alpha)) {
        Needs::Luma
    } else if all(|c| matches!(c, PlaneContent::Chroma(_))) && matches!(blend, Blend::Over | Blend::Add) {
        Needs::Chroma
    } else {
        Needs::All
    };
    let upright = sampler.is_upright();
    // No closures here: they would be compiled for the lowest level.
    let mut rows = [Overlap::EMPTY; HIGH / LANES];
    if upright {
        for (k, rows) in rows.iter_mut().enumerate().take(block.size[1].div_ceil(LANES)) {
            sampler.rows(block, k * LANES, rows);
        }
    }
    let (mut columns, mut values) = (Overlap::EMPTY, [[0.0; LANES]; 4]);
    for group in 0..block.size[0].div_ceil(LANES).min(GROUPS) {
        // All rows of one that is upright have the same span.
        if upright {
            sampler.columns(block, spans[0][0] + group * LANES, &mut columns);
        }
        for (row, [from, to]) in spans.into_iter().enumerate().take(block.size[1]) {
            let at = from + group * LANES;
            if at >= to {
                continue;
            }
            if upright {
                let rows = (&rows[row / LANES], row);
                match needs {
                    Needs::Luma => sampler.upright(&columns, rows, [3, 0], &mut values),
                    Needs::Chroma => sampler.upright(&columns, rows, [3, 1, 2], &mut values),
                    Needs::All => sampler.upright(&columns, rows, [3, 0, 1, 2], &mut values),
                }
            } else {
                sampler.turned(block, at, block.down(row), &mut values);
            }
            let Some((inside, _)) = INSIDE[LANES - (to - at).min(LANES)..].split_first_chunk::<LANES>()
            else {
                continue;
            };
            for l in 0..LANES {
                values[3][l] *= inside[l];
            }
            let place = part.index(block.first, row) + at;
            for (base, plane) in &planes {
                let cells = samples.get_mut(base + place..).and_then(|s| s.first_chunk_mut::<LANES>());
                let (Some(cells), Some(plane)) = (cells, plane) else {
                    break;
                };
                compose(plane, blend, opacity, &values, cells);
            }
        }
    }
}

/// The component of a picture that a plane takes its values from.
#[inline(always)]
fn source(plane: &DrawPlane) -> usize {
    match plane.content {
        PlaneContent::Light(i) | PlaneContent::Chroma(i) => i,
        PlaneContent::Alpha => 3,
    }
}

/// The component that says how bright a cell is.
#[inline(always)]
fn brightness(plane: &DrawPlane) -> usize {
    match plane.content {
        PlaneContent::Light(i) => i,
        PlaneContent::Chroma(_) | PlaneContent::Alpha => 0,
    }
}

/// Composes colours onto sixteen cells as [`DrawPlane::effect_of_image`] has it for one.
#[inline(always)]
fn compose(plane: &DrawPlane, blend: Blend, opacity: f32, colours: &[F32x16; 4], cells: &mut F32x16) {
    let (alpha, values, bright) = (&colours[3], &colours[source(plane)], &colours[brightness(plane)]);
    let mut fade = [0.0; LANES];
    match (blend, plane.content) {
        (Blend::Over, _) | (Blend::Screen, PlaneContent::Alpha) => fade = *alpha,
        (Blend::Add, _) | (Blend::Multiply, PlaneContent::Alpha) => {}
        (Blend::Screen, _) => {
            for l in 0..LANES {
                let b = if bright[l] > 0.0 { bright[l] } else { 0.0 };
                fade[l] = if b < 1.0 { b } else { 1.0 };
            }
        }
        (Blend::Multiply, _) => {
            for l in 0..LANES {
                let b = if bright[l] > 0.0 { bright[l] } else { 0.0 };
                fade[l] = alpha[l] - if b < alpha[l] { b } else { alpha[l] };
            }
        }
    }
    let span = if blend == Blend::Multiply { 0.0 } else { plane.span };
    let (p, mut drawn) = (*cells, [0.0; LANES]);
    for l in 0..LANES {
        let v = p[l] * (1.0 - opacity * fade[l]) + opacity * (values[l] * span);
        drawn[l] = if alpha[l] > 0.0 { v } else { p[l] };
    }
    *cells = drawn;
}

/// Cell by cell.
#[inline(always)]
fn by_cell(
    part: &Part,
    painter: &Painter,
    block: &Block<'_>,
    blend: Blend,
    opacity: f32,
    sampler: &Sampler<'_>,
    samples: &mut [f32],
) {
    let mut spans = [[0; 2]; HIGH];
    sampler.bounds().spans(block, &mut spans);
    for (j, [from, to]) in spans.into_iter().enumerate().take(block.size[1]) {
        let dy = block.cells.offset(1, block.centre[1], block.first[1] + j as i32);
        let place = part.index(block.first, j);
        for i in from..to {
            let dx = block.cells.offset(0, block.centre[0], block.first[0] + i as i32) * block.aspect;
            let colour = if painter.draft { sampler.nearest([dx, dy]) } else { sampler.cell([dx, dy]) };
            if colour[3] <= 0.0 {
                continue;
            }
            for (base, p) in part.base.iter().zip(part.group.planes()) {
                let effect = painter.places[*p].effect_of_image(blend, colour);
                let p = &mut samples[base + place + i];
                *p = *p * (1.0 - opacity * effect.fade) + opacity * effect.ink;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Format;
    use crate::noise::seed::mix64;

    #[test]
    fn sixteen_cells_are_composed_as_one() {
        let any = |n: u64| (mix64(n) >> 40) as f32 / (1u64 << 24) as f32;
        for name in ["gbrap", "yuva420p", "gray"] {
            let format = Format::from_name(name, 64, 64).unwrap();
            for plane in (0..format.planes()).map(|p| DrawPlane::of(&format, p)) {
                for (k, blend) in
                    [Blend::Over, Blend::Add, Blend::Screen, Blend::Multiply].into_iter().enumerate()
                {
                    let at = |c: usize, l: usize| any((c * 100 + l + 1000 * k) as u64);
                    // Colours from -.5 to 1.5, and every fourth cell without alpha.
                    let colours: [F32x16; 4] = core::array::from_fn(|c| {
                        core::array::from_fn(|l| match c {
                            3 if l % 4 == 0 => 0.0,
                            3 => at(c, l),
                            _ => 2.0 * at(c, l) - 0.5,
                        })
                    });
                    let before: F32x16 = core::array::from_fn(|l| 255.0 * at(7, l));
                    let mut after = before;
                    compose(&plane, blend, 0.7, &colours, &mut after);
                    for l in 0..LANES {
                        let colour = colours.map(|c| c[l]);
                        let effect = plane.effect_of_image(blend, colour);
                        let drawn = before[l] * (1.0 - 0.7 * effect.fade) + 0.7 * effect.ink;
                        let want = if colour[3] > 0.0 { drawn } else { before[l] };
                        assert_eq!(after[l].to_bits(), want.to_bits(), "{name} {plane:?} {blend:?} {l}");
                    }
                }
            }
        }
    }
}
