//! Small images that are not turned, sixteen cells at a time: the same samples, to the bit, as cell by cell.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::draw_plane::{DrawPlane, PlaneContent};
use super::painter::Painter;
use super::rasterize::{Block, LANES, WIDE};
use super::sampler::{Columns, Sampler, Step};
use super::style::Blend;
use super::tile::{Part, ROOM};

type Lanes = [f32; LANES];

/// Groups of cells of a row of a block.
const GROUPS: usize = WIDE.div_ceil(LANES);

/// The plane of a raster that a plane of the format takes its values from.
#[inline(always)]
fn source(plane: &DrawPlane) -> usize {
    match plane.content {
        PlaneContent::Light(i) | PlaneContent::Chroma(i) => i,
        PlaneContent::Alpha => 3,
    }
}

/// Composes an image onto the cells of a block; `false` if it must be done cell by cell.
#[inline(always)]
pub(super) fn blend_upright(
    part: &Part,
    painter: &Painter,
    block: &Block<'_>,
    blend: Blend,
    opacity: f32,
    sampler: &Sampler<'_>,
    samples: &mut [f32],
) -> bool {
    if blend != Blend::Over || painter.draft || !sampler.is_upright() {
        return false;
    }
    let mut columns = Columns::EMPTY;
    sampler.columns(block, &mut columns);
    let mut spans = [[0; 2]; super::rasterize::HIGH];
    sampler.bounds().spans(block, &mut spans);
    let [i, j] = [0, 1].map(|a| (block.first[a] - part.from[a]) as usize);
    // Rows mostly have the same span.
    let (mut known, mut steps) = (usize::MAX, [Step::Any; GROUPS]);
    for (row, [from, to]) in spans.into_iter().enumerate().take(block.size[1]) {
        let place = (j + row + ROOM) * part.stride + ROOM + i;
        let dy = block.cells.from(1, block.centre[1], block.first[1] + row as i32);
        if from != known {
            known = from;
            steps = core::array::from_fn(|k| columns.step(from + k * LANES));
        }
        for (at, step) in (from..to).step_by(LANES).zip(steps) {
            let mut alpha = [0.0; LANES];
            sampler.lanes(3, &columns, (at, step), dy, &mut alpha);
            // Alpha is never negative; a test of its bits takes fewer steps than one of lanes.
            let mut any = [0u32; LANES];
            for l in 0..LANES {
                alpha[l] = if l < to - at { alpha[l] } else { 0.0 };
                any[l] = alpha[l].to_bits();
            }
            if any.iter().fold(0, |all, any| all | any) == 0 {
                continue;
            }
            for (base, p) in part.base.iter().zip(part.group.planes()) {
                let plane = &painter.places[*p];
                let mut values = alpha;
                if source(plane) < 3 {
                    sampler.lanes(source(plane), &columns, (at, step), dy, &mut values);
                }
                let to = base + place + at;
                let Some(cells) = samples.get_mut(to..).and_then(|s| s.first_chunk_mut::<LANES>()) else {
                    break;
                };
                compose(&alpha, &values, plane.span, opacity, cells);
            }
        }
    }
    true
}

#[inline(always)]
fn compose(alpha: &Lanes, values: &Lanes, span: f32, opacity: f32, cells: &mut Lanes) {
    let (p, mut drawn) = (*cells, [0.0; LANES]);
    for l in 0..LANES {
        let v = p[l] * (1.0 - opacity * alpha[l]) + opacity * (values[l] * span);
        drawn[l] = if alpha[l] > 0.0 { v } else { p[l] };
    }
    *cells = drawn;
}
