//! Mineral grains, lit from one side, over the dark of the heap's inside.
//!
//! Lengths of a grain are in its radii, brightness is relative to its colour. The numbers were chosen by eye, by
//! comparison with photographs of sand.

use super::field::{Cell, DEEP, DENSITY, RELIEF};
use super::{Canvas, GrainPoint, LARGER, Material, Scratch, Style, Tile, direction, hash, unit};
use crate::math::smoothstep;

/// Drawn radius up to which a grain is too small for a shape.
const SMALL: f32 = 1.3;

/// Largest drawn radius relative to the grain's.
const LARGEST: f32 = 1.38;

/// The kinds of grains by a random number from 0 to 1: quartz, white and glossy, is above the first, dark mineral below the
/// second.
const QUARTZ: f32 = 0.91;
const DARK: f32 = 0.07;

/// How far a grain's shadow reaches.
const SHADOW_REACH: f32 = 1.52;

/// A grain as it is drawn.
struct Body {
    x: f32,
    y: f32,
    radius: f32,
    rgb: [f32; 3],
    gloss: f32,
    hash: u32,
}

impl Body {
    /// Varies place, size and shade by the grain's number.
    #[inline(always)]
    fn new(style: &Style, grain: &GrainPoint) -> Self {
        let h = hash(grain.id);
        let g = hash(h);
        let size = unit(h, 0);
        let radius = grain.radius.min(LARGER * style.radius) * (LARGEST - 0.40 + 0.40 * size * size * size);
        let place = 0.5 * grain.radius.min(style.radius);
        let x = grain.x + place * (unit(h, 8) - 0.5);
        let y = grain.y + place * (unit(h, 16) - 0.5);
        let tone = unit(h, 24);
        let kind = unit(g, 0);
        let strength = if style.material == Material::Picture { 0.35 } else { 1.0 };
        let mut shade = 1.0 + strength * (0.30 * tone - 0.15);
        let (mut white, mut gloss) = (0.0, 0.06);
        if kind > QUARTZ {
            white = (0.25 + 2.5 * (kind - QUARTZ)) * strength;
            gloss = 0.30;
        } else if kind < DARK {
            shade *= 1.0 - 0.42 * strength;
        }
        // Hue differs a little: warmer or cooler.
        let warm = 0.05 * strength * (unit(g, 8) - 0.5);
        let tint = [1.0 + warm, 1.0, 1.0 - 1.6 * warm];
        let pale = [1.0, 0.97, 0.90];
        let rgb = core::array::from_fn(|k| {
            let base = grain.rgb[k] * tint[k] * shade;
            base + white * (pale[k] - base)
        });
        Self { x, y, radius, rgb, gloss, hash: g }
    }
}

#[inline(always)]
pub(super) fn draw(
    style: &Style,
    tile: &Tile,
    grains: &[GrainPoint],
    out: &mut [[f32; 4]],
    scratch: &mut Scratch,
) {
    let Scratch { field, canvas, gain } = scratch;
    field.prepare(style, tile, 0.0, grains);
    let r = style.radius;
    // The reach of a grain from its position, and of its drawing.
    let (reach, pad) = if LARGEST * LARGER * r < SMALL {
        (2.0 * r + 1.0, 2.5 * r + 5.0)
    } else {
        (2.9 * r + 1.5, 6.0 * r + 13.0)
    };
    canvas.reset(tile, pad as usize);
    gain.clear();
    gain.resize(out.len(), 0.0);
    field.map(inside);
    for y in 0..tile.height {
        let to = canvas.row(y, tile.width);
        let gain = &mut gain[y * tile.width..][..tile.width];
        field.row(tile, y, |x, f| {
            to[x] = [f[0], f[1], f[2], f[3]];
            gain[x] = f[4];
        });
    }
    for grain in grains {
        if !tile.sees(grain, reach) {
            continue;
        }
        let body = Body::new(style, grain);
        if body.radius < SMALL {
            draw_small(style, tile, &body, canvas);
        } else {
            draw_large(style, tile, &body, canvas);
        }
    }
    for y in 0..tile.height {
        let start = y * tile.width;
        let shades = &gain[start..start + tile.width];
        let to = &mut out[start..start + tile.width];
        for ((to, from), gain) in to.iter_mut().zip(canvas.row(y, tile.width)).zip(shades) {
            let alpha = from[3].min(1.0);
            *to = [
                (from[0] * gain).max(0.0).min(alpha),
                (from[1] * gain).max(0.0).min(alpha),
                (from[2] * gain).max(0.0).min(alpha),
                alpha,
            ];
        }
    }
}

/// The premultiplied colour under the grains, and the brightness of the surface.
///
/// Gaps and holes are dark sand; around the heap is a shadow on the plate.
#[inline(always)]
pub(super) fn inside(f: &Cell) -> Cell {
    let density = f[DENSITY];
    let inside = smoothstep(0.34, 0.62, density.max(1.3 * f[DEEP] - 0.3));
    let shadow = 0.12 * smoothstep(0.02, 0.5, density);
    let dark = 0.46 * inside / density.max(0.02);
    let relief = (f[RELIEF] * 0.4).clamp(-0.25, 0.2);
    [f[1] * dark, f[2] * dark, f[3] * dark, inside + (1.0 - inside) * shadow, 1.0 + relief, 0.0, 0.0, 0.0]
}

/// A grain of at most four samples: a disc with a light and a dark side.
#[inline(always)]
fn draw_small(style: &Style, tile: &Tile, body: &Body, canvas: &mut Canvas) {
    let reach = body.radius + 0.5;
    // Distances are taken in the picture, so that they do not depend on the tile.
    let i = (body.x + 0.5).floor() - 2.0;
    let (j, rows) = if reach <= 1.5 { (body.y.floor() - 1.0, 3) } else { ((body.y + 0.5).floor() - 2.0, 4) };
    let (dx, dy) = (i + 0.5 - body.x, j + 0.5 - body.y);
    let (i, j) = (canvas.column(tile, i), canvas.row_of(tile, j));
    let slope = 0.30 / (body.radius + 0.4);
    let mut cover = [0.0f32; 16];
    let mut lit = [0.0f32; 16];
    for k in 0..16 {
        let (x, y) = (dx + (k & 3) as f32, dy + (k >> 2) as f32);
        cover[k] = (reach - (x * x + y * y).sqrt()).clamp(0.0, 1.0);
        lit[k] = 1.0 + slope * (x * style.light[0] + y * style.light[1]);
    }
    let [r, g, b] = body.rgb;
    for row in 0..rows {
        let start = (j + row) * canvas.stride + i;
        let samples = &mut canvas.samples[start..start + 4];
        for (column, sample) in samples.iter_mut().enumerate() {
            let (cover, lit) = (cover[4 * row + column], lit[4 * row + column]);
            let colour = [r * lit, g * lit, b * lit, 1.0];
            for k in 0..4 {
                sample[k] += cover * (colour[k] - sample[k]);
            }
        }
    }
}

/// A grain with facets, a highlight and a shadow on its neighbours.
#[inline(always)]
fn draw_large(style: &Style, tile: &Tile, body: &Body, canvas: &mut Canvas) {
    const LANES: usize = 8;
    let [lx, ly] = style.light;
    let radius = body.radius;
    let inverse = 1.0 / radius;
    let h = body.hash;
    let [ax, ay] = direction(unit(h, 8));
    let oblate = 1.0 + 0.22 * unit(h, 16);
    // Facets cut the ellipse at these directions; each has its own brightness.
    let facets: [[f32; 2]; 3] =
        core::array::from_fn(|k| direction(unit(h, 8) + 0.33 * k as f32 + 0.22 * unit(h, 16 + 4 * k as u32)));
    let cuts: [f32; 3] = core::array::from_fn(|k| 1.0 / (0.66 + 0.34 * unit(h, 6 * k as u32 + 3)));
    let bright = facets.map(|[x, y]| x * lx + y * ly);
    let [f0, f1, f2] = core::array::from_fn(|k| [facets[k][0] * cuts[k], facets[k][1] * cuts[k]]);
    let [b0, b1, b2] = bright;
    let flat = 0.25 + 0.35 * unit(h, 24);
    let gloss = body.gloss;
    // Shadows of small grains blend with the grains.
    let depth = 0.62 * ((radius - 0.6) * 0.4).clamp(0.25, 1.0);
    let reach = (SHADOW_REACH * radius).max(radius + 0.5);
    let (left, top) = ((body.x - reach - 0.5).ceil(), (body.y - reach - 0.5).ceil());
    let count = (2.0 * reach) as usize + 1;
    let (i0, j0) = (canvas.column(tile, left), canvas.row_of(tile, top));
    let [r, g, b] = body.rgb;
    let colour = [r, g, b, 1.0];
    let mut keep = [0.0f32; LANES];
    let mut dim = [0.0f32; LANES];
    let mut lit = [0.0f32; LANES];
    let mut spark = [0.0f32; LANES];
    for j in 0..count {
        let v = (top + j as f32 + 0.5 - body.y) * inverse;
        for i in (0..count).step_by(LANES) {
            for k in 0..LANES {
                let u = (left + (i + k) as f32 + 0.5 - body.x) * inverse;
                let (p, q) = (u * ax + v * ay, (v * ax - u * ay) * oblate);
                let round = p * p + q * q;
                let d0 = u * f0[0] + v * f0[1];
                let d1 = u * f1[0] + v * f1[1];
                let d2 = u * f2[0] + v * f2[1];
                let far = round.sqrt().max(d0).max(d1).max(d2);
                let cover = ((1.0 - far) * radius + 0.5).clamp(0.0, 1.0);
                let (su, sv) = (u + 0.28 * lx, v + 0.28 * ly);
                let shadow = depth * (1.24 - (su * su + sv * sv).sqrt()).clamp(0.0, 1.0);
                keep[k] = 1.0 - cover;
                dim[k] = (1.0 - cover) * (1.0 - shadow);
                let most = d0.max(d1).max(d2);
                let facet = b0 * (1.0 + 5.0 * (d0 - most)).max(0.0)
                    + b1 * (1.0 + 5.0 * (d1 - most)).max(0.0)
                    + b2 * (1.0 + 5.0 * (d2 - most)).max(0.0);
                let facet = 0.24 * facet * ((most - flat) * 5.0).clamp(0.0, 1.0);
                let side = u * lx + v * ly;
                lit[k] = cover * (1.06 + 0.20 * side + facet - 0.22 * round * round.min(1.0));
                let (gu, gv) = (u - 0.38 * lx, v - 0.38 * ly);
                let near = (1.0 - 5.0 * (gu * gu + gv * gv)).max(0.0);
                spark[k] = cover * gloss * near * near;
            }
            let start = (j0 + j) * canvas.stride + i0 + i;
            let samples = &mut canvas.samples[start..start + LANES];
            for (k, sample) in samples.iter_mut().enumerate() {
                let cover = 1.0 - keep[k];
                let old = [dim[k], dim[k], dim[k], keep[k]];
                let new = [lit[k], lit[k], lit[k], cover];
                let add = [spark[k], spark[k], spark[k], 0.0];
                for n in 0..4 {
                    sample[n] = sample[n] * old[n] + colour[n] * new[n] + add[n];
                }
            }
        }
    }
}
