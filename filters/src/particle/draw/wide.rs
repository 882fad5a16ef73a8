//! Splats of any shape and size, cell by cell.

use super::cover::{Outline, extent};
use super::look::{Blend, Look};
use super::painter::Painter;
use super::place::Effect;
use super::press::effects;
use super::splat::Splat;
use super::tile::{Part, ROOM};
use crate::simd::multiversion;

multiversion! {
    /// Draws a splat of any shape and size, cut to the tile, into the planes of a part.
    pub(super) fn wide(level, part: &Part, painter: &Painter, splat: &Splat, look: &Look, samples: &mut [f32]) = wide_body;
}

#[inline(always)]
fn wide_body(part: &Part, painter: &Painter, splat: &Splat, look: &Look, samples: &mut [f32]) {
    let aspect = painter.aspect;
    let reach = extent(&look.shape, splat);
    let reach = [painter.grid.narrowed(reach[0]), reach[1]];
    let cells = &part.group.cells;
    let range = |a: usize, at: i32| {
        let more = reach[a].saturating_add(128 << cells.shift[a]);
        let (low, high) = cells.touched(a, at.saturating_sub(more), at.saturating_add(more));
        let end = part.from[a] + part.size[a] as i32;
        low.clamp(part.from[a], end)..high.clamp(part.from[a], end)
    };
    let (x, y) = (range(0, splat.x), range(1, splat.y));
    if x.is_empty() || y.is_empty() {
        return;
    }
    let outline = Outline::of(&look.shape, splat);
    let image = painter.images.get(usize::from(splat.look)).and_then(Option::as_ref);
    let opacity = f32::from(splat.opacity) * (1.0 / 65535.0);
    let size = cells.size();
    let size = [size[0] * aspect, size[1]];
    let effects = effects(painter, part, splat, look);
    let sampler = image.map(|image| image.sampler(splat, size));
    for j in y {
        let dy = cells.from(1, splat.y, j);
        let place = ((j - part.from[1]) as usize + ROOM) * part.stride + ROOM;
        for i in x.clone() {
            let at = [cells.from(0, splat.x, i) * aspect, dy];
            let place = place + (i - part.from[0]) as usize;
            let mut each = |cover: f32, effects: &[Effect; 4]| {
                for (base, effect) in part.base[..part.group.count].iter().zip(effects) {
                    let p = &mut samples[base + place];
                    *p = *p * (1.0 - cover * effect.fade) + cover * effect.ink;
                }
            };
            if let Some(outline) = &outline {
                let cover = outline.cell(at, size) * opacity;
                if cover > 0.0 {
                    each(cover, &effects);
                }
            } else if let Some(sampler) = &sampler {
                let colour = sampler.cell(at);
                if colour[3] > 0.0 {
                    each(opacity, &of_image(painter, part, look.blend, colour));
                }
            }
        }
    }
}

/// What a cell of an image does to each plane of a part.
#[inline(always)]
fn of_image(painter: &Painter, part: &Part, blend: Blend, colour: [f32; 4]) -> [Effect; 4] {
    let mut out = [Effect::default(); 4];
    for (out, p) in out.iter_mut().zip(part.group.planes()) {
        *out = painter.places[*p].effect_of_image(blend, colour);
    }
    out
}
