//! Composites images onto the planes, sixteen cells at a time.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::draw_plane::{DrawPlane, Premultiplied};
use super::painter::Painter;
use super::rasterize::{CellBlock, F32x16, HIGH, LANES};
use super::sampler::Sampler;
use super::style::Blend;
use super::tile::PlaneGroupArea;

/// Composites an image onto the cells of a block.
#[inline(always)]
pub(super) fn blend_image(
    part: &PlaneGroupArea,
    painter: &Painter,
    block: &CellBlock<'_>,
    blend: Blend,
    opacity: f32,
    sampler: &Sampler<'_>,
    samples: &mut [f32],
) {
    let mut spans = [[0; 2]; HIGH];
    let upright = sampler.is_upright();
    if !upright {
        sampler.bounds().spans(block, &mut spans);
    }
    for (row, span) in spans.into_iter().enumerate().take(block.size[1]) {
        let ([from, to], copied) = if upright { sampler.columns(block, row) } else { (span, None) };
        let dy = block.down(row);
        for at in (from..to).step_by(LANES) {
            let mut values = [[0.0; LANES]; 4];
            let count = LANES.min(to - at);
            let mut put = |l: usize, texel: &Premultiplied| {
                for c in 0..4 {
                    values[c][l % LANES] = texel[c];
                }
            };
            if let Some(texels) = copied {
                texels.iter().skip(at - from).take(count).enumerate().for_each(|(l, texel)| put(l, texel));
            } else if upright && !painter.draft {
                sampler.upright_cells(&block.across(at), dy, count, put);
            } else {
                let across = block.across(at);
                for l in 0..count {
                    let place = [across[l], dy];
                    put(l, &if painter.draft { sampler.nearest(place) } else { sampler.cell(place) });
                }
            }
            let place = part.index(block.first, row) + at;
            for (base, p) in part.base.iter().zip(part.group.planes()) {
                let cells = samples.get_mut(base + place..).and_then(|s| s.first_chunk_mut::<LANES>());
                if let Some(cells) = cells {
                    blend_texels(&painter.planes[*p], blend, opacity, &values, cells);
                }
            }
        }
    }
}

/// Composites colours onto sixteen cells; cells without alpha stay.
#[inline(always)]
fn blend_texels(plane: &DrawPlane, blend: Blend, opacity: f32, colours: &[F32x16; 4], cells: &mut F32x16) {
    let (p, mut drawn) = (*cells, [0.0; LANES]);
    for l in 0..LANES {
        let terms = plane.terms(blend, [colours[0][l], colours[1][l], colours[2][l], colours[3][l]]);
        let v = terms.over(p[l], opacity);
        drawn[l] = if colours[3][l] > 0.0 { v } else { p[l] };
    }
    *cells = drawn;
}
