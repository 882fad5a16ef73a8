//! Snow: the smoothed mass as one soft body, and single flakes where it is thin.

use super::field::{Cell, DEEP, DENSITY, RELIEF};
use super::{GrainPoint, LARGER, Scratch, Style, Tile, Window, hash, unit};
use crate::math::smoothstep;

#[inline(always)]
pub(super) fn draw(
    style: &Style,
    tile: &Tile,
    grains: &[GrainPoint],
    out: &mut [[f32; 4]],
    scratch: &mut Scratch,
) {
    let field = &mut scratch.field;
    let near = style.near();
    field.prepare(style, tile, near, grains);
    out.fill([0.0; 4]);
    for grain in grains {
        if tile.sees(grain, near) {
            let density = field.cell(grain.x, grain.y)[DENSITY];
            let alone = 1.0 - smoothstep(0.45, 0.75, density);
            if alone > 0.0 {
                draw_flake(style, tile, grain, alone, out);
            }
        }
    }
    for y in 0..tile.height {
        let to = &mut out[y * tile.width..][..tile.width];
        field.row(tile, y, |x, f| cover(f, &mut to[x]));
    }
    for grain in grains {
        let glint = glint(grain);
        if glint > 0.0 && tile.sees(grain, near) {
            let density = field.cell(grain.x, grain.y)[DENSITY];
            sparkle(tile, grain, glint * smoothstep(0.3, 0.5, density), out);
        }
    }
}

/// How strongly a grain glints; few do, equally many on an area for all sizes.
fn glint(grain: &GrainPoint) -> f32 {
    let h = hash(grain.id);
    let glints = ((h & 0xFFFF) as f32) < 240.0 * grain.radius * grain.radius;
    if glints { unit(h, 16) * unit(h, 16) * unit(h, 24) } else { 0.0 }
}

/// Lays the body of snow over a sample.
#[inline(always)]
fn cover(f: &Cell, sample: &mut [f32; 4]) {
    let density = f[DENSITY];
    let alpha = smoothstep(0.16, 0.52, density.max(1.3 * f[DEEP] - 0.3));
    // Under the surface the body is smooth.
    let relief = (f[RELIEF] * 0.4).clamp(-0.25, 0.25) * (1.1 - f[DEEP].min(1.0));
    let light = 0.97 + relief;
    let blue = (1.0 - light).clamp(-0.1, 0.6);
    let tint = [1.0 - 1.30 * blue, 1.0 - 0.88 * blue, 1.0 - 0.38 * blue];
    let inverse = 1.0 / density.max(0.02);
    for k in 0..3 {
        let colour = (f[k + 1] * inverse * tint[k]).clamp(0.0, 1.0);
        sample[k] += alpha * (colour - sample[k]);
    }
    sample[3] += alpha * (1.0 - sample[3]);
}

/// A single flake: a flat soft cap, white above and bluish below.
#[inline(always)]
fn draw_flake(style: &Style, tile: &Tile, grain: &GrainPoint, part: f32, out: &mut [[f32; 4]]) {
    let radius = 1.15 * grain.radius.min(LARGER * style.radius).max(0.1);
    let reach = radius + 1.0;
    let Window { x0, x1, y0, y1 } = Window::around(tile, grain.x, grain.y, reach);
    for y in y0..y1 {
        let dy = (tile.y + y) as f32 + 0.5 - grain.y;
        for x in x0..x1 {
            let dx = (tile.x + x) as f32 + 0.5 - grain.x;
            let far = (dx * dx + 1.5 * dy * dy).sqrt();
            let alpha = part * smoothstep(0.0, 1.0, (reach - far) / (0.6 * radius + 1.0));
            let blue = (0.10 + 0.16 * dy / radius).clamp(0.0, 0.3);
            let tint = [1.0 - 1.4 * blue, 1.0 - 0.9 * blue, 1.0 - 0.3 * blue];
            let sample = &mut out[y * tile.width + x];
            for k in 0..3 {
                sample[k] += alpha * (grain.rgb[k] * tint[k] - sample[k]);
            }
            sample[3] += alpha * (1.0 - sample[3]);
        }
    }
}

/// A glint of about a sample.
#[inline(always)]
fn sparkle(tile: &Tile, grain: &GrainPoint, strength: f32, out: &mut [[f32; 4]]) {
    let Window { x0, x1, y0, y1 } = Window::around(tile, grain.x, grain.y, 1.2);
    for y in y0..y1 {
        let dy = (tile.y + y) as f32 + 0.5 - grain.y;
        for x in x0..x1 {
            let dx = (tile.x + x) as f32 + 0.5 - grain.x;
            let light = strength * (1.0 - 0.7 * (dx * dx + dy * dy)).max(0.0);
            let sample = &mut out[y * tile.width + x];
            for k in 0..3 {
                sample[k] += light * (sample[3] - sample[k]);
            }
        }
    }
}
