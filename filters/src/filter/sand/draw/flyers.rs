//! Grains in flight, blurred along their way.

use super::pieces::{Piece, Touch};
use super::{GrainPoint, LARGER, Material, Style, Tile, Window, hash, unit};

/// A grain in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::filter::sand) struct Flyer {
    /// The grain in the middle of its way.
    pub(in crate::filter::sand) grain: GrainPoint,
    /// Way in samples while the shutter is open.
    pub(in crate::filter::sand) way: [f32; 2],
}

/// Draws grains in flight over a tile of premultiplied R'G'B'A, in their order.
///
/// A flyer matters within its radius of `Style::near` and half its way; others are ignored.
pub(in crate::filter::sand) fn draw_flyers(
    style: &Style,
    tile: Tile,
    flyers: &[Flyer],
    out: &mut [[f32; 4]],
) {
    assert_eq!(out.len(), tile.width * tile.height);
    for flyer in flyers {
        let Flyer { grain, way } = flyer;
        let reach = style.near() + 0.5 * (way[0].abs() + way[1].abs());
        if !(tile.sees(grain, reach) && reach.is_finite()) {
            continue;
        }
        match style.material {
            Material::Sand | Material::Snow | Material::Picture => streak(style, &tile, flyer, out),
            _ => tumble(style, &tile, flyer, reach, out),
        }
    }
}

/// A capsule along the way whose opacity is the part of the time a sample is covered.
fn streak(style: &Style, tile: &Tile, flyer: &Flyer, out: &mut [[f32; 4]]) {
    let Flyer { grain, way: [wx, wy] } = flyer;
    let radius = grain.radius.min(LARGER * style.radius).max(0.1);
    let length = (wx * wx + wy * wy).sqrt();
    // Flakes are soft, and differ in size.
    let size = unit(hash(grain.id), 24);
    let (soft, radius) = match style.material {
        Material::Snow => (1.2 + 0.9 * radius, radius * (0.55 + 0.65 * size)),
        _ => (1.0, radius),
    };
    let time = 1.0 / (1.0 + length / (1.6 * radius));
    let opacity = time.sqrt() * if style.material == Material::Snow { 0.6 + 0.4 * size } else { 1.0 };
    let inverse = 1.0 / (length * length).max(1e-6);
    let shade = match style.material {
        Material::Sand => 0.85 + 0.3 * size,
        _ => 1.0,
    };
    let reach = radius + soft;
    let Window { x0, x1, .. } = Window::around(tile, grain.x, grain.y, reach + 0.5 * wx.abs());
    let Window { y0, y1, .. } = Window::around(tile, grain.x, grain.y, reach + 0.5 * wy.abs());
    for y in y0..y1 {
        let dy = (tile.y + y) as f32 + 0.5 - grain.y;
        for x in x0..x1 {
            let dx = (tile.x + x) as f32 + 0.5 - grain.x;
            let t = ((dx * wx + dy * wy) * inverse).clamp(-0.5, 0.5);
            let (px, py) = (dx - t * wx, dy - t * wy);
            let far = (px * px + py * py).sqrt();
            let cover = opacity * ((radius + 0.5 * soft - far) / soft).clamp(0.0, 1.0);
            let side = (px * style.light[0] + py * style.light[1]) / (radius + 0.5);
            let lit = shade * (1.0 + 0.22 * side);
            let sample = &mut out[y * tile.width + x];
            for (value, colour) in sample.iter_mut().zip(grain.rgb) {
                *value += cover * ((colour * lit).clamp(0.0, 1.0) - *value);
            }
            sample[3] += cover * (1.0 - sample[3]);
        }
    }
}

/// A flat piece: the mean of its pictures along the way.
fn tumble(style: &Style, tile: &Tile, flyer: &Flyer, reach: f32, out: &mut [[f32; 4]]) {
    let piece = Piece::new(style, &flyer.grain);
    let [wx, wy] = flyer.way;
    let longest = wx.abs().max(wy.abs());
    let count = (longest as usize + 1).min(32);
    let part = 1.0 / count as f32;
    let Window { x0, x1, y0, y1 } =
        Window::around(tile, flyer.grain.x, flyer.grain.y, reach.max(piece.reach()));
    for y in y0..y1 {
        let dy = (tile.y + y) as f32 + 0.5 - flyer.grain.y;
        for x in x0..x1 {
            let dx = (tile.x + x) as f32 + 0.5 - flyer.grain.x;
            let mut mean = [0.0; 4];
            for step in 0..count {
                let t = (step as f32 + 0.5) * part - 0.5;
                let Touch { rgb, cover, .. } = piece.touch(dx - t * wx, dy - t * wy);
                for k in 0..3 {
                    mean[k] += part * cover * rgb[k];
                }
                mean[3] += part * cover;
            }
            let sample = &mut out[y * tile.width + x];
            for k in 0..4 {
                sample[k] = sample[k] * (1.0 - mean[3]) + mean[k];
            }
        }
    }
}
