//! Draws piles of grains: sand, snow, flat pieces and the picture's own grains.
//!
//! A picture of grains is drawn in tiles. A tile's samples depend on the grains within [`Style::reach`] of it alone, so a
//! tile around which nothing changes can be kept. The light on the heap as a whole, which follows from the mass of all
//! grains, is applied afterwards ([`Light`]). Both are independent of the tile's place and size, so tiles have no seams.

mod field;
mod flyers;
mod grid;
mod ground;
mod pieces;
mod sand;
mod snow;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

pub(super) use flyers::{Flyer, draw_flyers};
pub(super) use ground::{Ground, Light};

use crate::math::parabola;
use crate::particle::mix32;
use crate::simd::{Level, multiversion};
use field::Field;

/// Largest radius of a grain relative to the nominal one; larger grains are drawn as large.
const LARGER: f32 = 1.2;
/// Side of the largest cell in samples.
const LARGEST_CELL: usize = 16;
/// Side of a cell of the fields in samples.
fn cell_size(radius: f32) -> usize {
    ((2.0 * radius + 0.5) as usize).clamp(2, 4).max((radius as usize).min(LARGEST_CELL))
}

/// Weights of three neighbouring cells at `phase` of `count` places within the middle one.
fn spline(phase: usize, count: usize) -> [f32; 3] {
    let t = (phase as f32 + 0.5) / count as f32 - 0.5;
    [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]
}

/// A grain at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct GrainPoint {
    /// Centre in samples of the picture.
    pub(super) x: f32,
    /// Centre in samples of the picture, downwards.
    pub(super) y: f32,
    /// Radius in samples.
    pub(super) radius: f32,
    /// Number that determines shade, shape and order of drawing.
    pub(super) id: u32,
    /// Straight R'G'B' in 0 to 1.
    pub(super) rgb: [f32; 3],
    /// Direction of a flat piece in turns.
    pub(super) angle: f32,
}

/// The material of the grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Material {
    /// Mineral grains, lit from one side.
    Sand,
    /// A soft continuous surface.
    Snow,
    /// Grains that keep their colour: sand without variation of shade and hue.
    Picture,
    /// Rectangles of paper.
    Confetti,
    /// Pointed ovals with a midrib.
    Leaves,
    /// Irregular grey flakes.
    Ash,
    /// Discs of metal, seen at an angle.
    Coins,
}

/// How all grains of a picture are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// The material of the grains.
    pub(super) material: Material,
    /// Unit vector in the picture towards the light.
    pub(super) light: [f32; 2],
    /// Nominal radius of the grains in samples.
    pub(super) radius: f32,
    /// Width and height of the picture in samples.
    pub(super) size: [usize; 2],
    /// The instructions that are used.
    pub(super) level: Level,
}

impl Style {
    /// Distance in samples within which a grain is drawn.
    pub(super) fn near(&self) -> f32 {
        3.3 * self.radius + 2.5
    }

    /// Distance in samples within which a grain must be passed to [`draw_tile`].
    pub(super) fn reach(&self) -> f32 {
        self.near() + field::reach(self.radius)
    }
}

/// A rectangle of samples of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// First column.
    pub(super) x: usize,
    /// First row.
    pub(super) y: usize,
    /// Columns.
    pub(super) width: usize,
    /// Rows.
    pub(super) height: usize,
}

impl Tile {
    /// Whether a grain within `reach` of the tile can be drawn. False if a value is not finite.
    fn sees(&self, grain: &GrainPoint, reach: f32) -> bool {
        let (dx, dy) = (grain.x - self.x as f32, grain.y - self.y as f32);
        let [r, g, b] = grain.rgb;
        dx > -reach
            && dy > -reach
            && dx < self.width as f32 + reach
            && dy < self.height as f32 + reach
            && grain.radius > 0.0
            && (r + g + b + grain.angle).is_finite()
    }
}

/// Buffers that [`draw_tile`] uses again.
#[derive(Default)]
pub(super) struct Scratch {
    field: Field,
    canvas: Canvas,
    gain: Vec<f32>,
}

/// A tile with a border, so that drawing needs no clipping.
#[derive(Default)]
struct Canvas {
    pad: usize,
    stride: usize,
    samples: Vec<[f32; 4]>,
}

impl Canvas {
    fn reset(&mut self, tile: &Tile, pad: usize) {
        self.pad = pad;
        self.stride = tile.width + 2 * pad;
        self.samples.clear();
        self.samples.resize(self.stride * (tile.height + 2 * pad), [0.0; 4]);
    }

    /// Column of the canvas at a column of the picture.
    fn column(&self, tile: &Tile, x: f32) -> usize {
        (x as isize - tile.x as isize + self.pad as isize) as usize
    }

    /// Row of the canvas at a row of the picture.
    fn row_of(&self, tile: &Tile, y: f32) -> usize {
        (y as isize - tile.y as isize + self.pad as isize) as usize
    }

    /// The samples of one row of the tile, without the border.
    fn row(&mut self, y: usize, width: usize) -> &mut [[f32; 4]] {
        let start = (y + self.pad) * self.stride + self.pad;
        &mut self.samples[start..start + width]
    }
}

multiversion! {
    /// Draws one tile as premultiplied R'G'B'A.
    ///
    /// `grains` are sorted by `id` and hold at least all grains within [`Style::reach`] of the tile; others are ignored.
    pub(super) fn draw_tile(level, style: &Style, tile: Tile, grains: &[GrainPoint], out: &mut [[f32; 4]], scratch: &mut Scratch) = draw_tile_body;
}

#[inline(always)]
fn draw_tile_body(
    style: &Style,
    tile: Tile,
    grains: &[GrainPoint],
    out: &mut [[f32; 4]],
    scratch: &mut Scratch,
) {
    assert_eq!(out.len(), tile.width * tile.height);
    if out.is_empty() {
        return;
    }
    match style.material {
        Material::Sand | Material::Picture => sand::draw(style, &tile, grains, out, scratch),
        Material::Snow => snow::draw(style, &tile, grains, out, scratch),
        _ => pieces::draw(style, &tile, grains, out, scratch),
    }
}

/// Draws a matte of the undisturbed grains: 0 to 1, and exactly 1 in a packing without gaps.
///
/// The caller shows the picture itself through this matte.
pub(super) fn draw_matte(tile: Tile, spacing: f32, grains: &[GrainPoint], out: &mut [f32]) {
    assert_eq!(out.len(), tile.width * tile.height);
    out.fill(0.0);
    // To the corners of a site's hexagon, and a soft edge.
    let reach = 0.578 * spacing + 1.0;
    for grain in grains {
        if !tile.sees(grain, reach) {
            continue;
        }
        let Window { x0, x1, y0, y1 } = Window::around(&tile, grain.x, grain.y, reach);
        for y in y0..y1 {
            let dy = (tile.y + y) as f32 + 0.5 - grain.y;
            for x in x0..x1 {
                let dx = (tile.x + x) as f32 + 0.5 - grain.x;
                let cover = (reach - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
                let sample = &mut out[y * tile.width + x];
                *sample = sample.max(cover);
            }
        }
    }
}

/// Columns and rows of a tile, relative to it.
struct Window {
    x0: usize,
    x1: usize,
    y0: usize,
    y1: usize,
}

impl Window {
    /// The samples whose centres may lie within `reach` of a point.
    fn around(tile: &Tile, x: f32, y: f32, reach: f32) -> Self {
        let (x, y) = (x - tile.x as f32, y - tile.y as f32);
        let first = |v: f32| (v - reach - 0.5).max(0.0) as usize;
        let end = |v: f32, n: usize| ((v + reach + 1.5).max(0.0) as usize).min(n);
        Self { x0: first(x), x1: end(x, tile.width), y0: first(y), y1: end(y, tile.height) }
    }
}

/// 32 well mixed bits of a grain's number.
fn hash(id: u32) -> u32 {
    mix32(id ^ 0x9e37_79b9)
}

/// Eight bits of a hash as 0 to 1.
#[inline(always)]
fn unit(hash: u32, shift: u32) -> f32 {
    (hash >> shift & 0xFF) as f32 * (1.0 / 255.0)
}

/// Unit vector of a direction in turns; a parabola stands for the sine.
#[inline(always)]
fn direction(turns: f32) -> [f32; 2] {
    let (c, s) = (parabola(turns + 0.25), parabola(turns));
    let inverse = 1.0 / (c * c + s * s).sqrt();
    [c * inverse, s * inverse]
}
