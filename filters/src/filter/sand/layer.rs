//! The tiles of a frame.

use super::super::splats::Overlay;
use super::draw::{self, Flyer, GrainPoint, Light, Material, Style, Tile};
use super::scene::Scene;
use super::snapshot::{CHUNK, Drawn, Point, Snapshot, TileKey};
use crate::frame::Format;
use crate::host::{Executor, lock};
use crate::noise::seed::mix64;
use crate::particle::draw::Picture;
use crate::particle::fluid::SignedDistanceField;
use crate::particle::sand::{self, BORDER, radius};
use crate::simd::Level;
use crate::zorder;
use std::sync::{Arc, Mutex, PoisonError};

/// Luma samples across and down a tile.
pub(super) const SIDE: usize = 64;
/// The largest width and height of a picture.
const LARGEST: usize = 8128;
/// The direction of the light, from the upper left.
const LIGHT: [f32; 2] = [-0.6, -0.8];

/// The largest number of pictures of a frame.
pub(super) fn most_pictures(format: &Format) -> usize {
    let (w, h) = format.plane_size(0);
    w.div_ceil(LARGEST) * h.div_ceil(LARGEST)
}

/// The appearance in a frame.
pub(super) struct SandLook {
    pub(super) colour: Option<[f64; 4]>,
    pub(super) behind: [f64; 4],
    /// Opacity of the line along the obstacle.
    pub(super) outline: f32,
    /// Seconds for which the shutter is open.
    pub(super) shutter: f32,
}

/// The drawing of a frame.
pub(super) struct Layer<'a> {
    pub(super) overlay: &'a Overlay,
    pub(super) scene: &'a Scene,
    pub(super) material: Material,
    pub(super) appearance: &'a SandLook,
    pub(super) level: Level,
}

/// Lists of a thread.
#[derive(Default)]
struct Buffers {
    places: Vec<Point>,
    /// Numbers of grains and, below, indices of their places.
    order: Vec<u64>,
    points: Vec<GrainPoint>,
    strip: Vec<[f32; 4]>,
    matte: Vec<f32>,
    scratch: draw::Scratch,
}

/// The data that are common to all rows of tiles.
struct Frame<'a> {
    style: Style,
    light: Light,
    snapshot: &'a Snapshot,
    /// The flyers of each row of tiles.
    flying: Vec<Vec<Flyer>>,
    /// Columns and rows of the displayed frame.
    shown: [usize; 2],
}

const CONFETTI: [[f32; 3]; 7] = [
    [0.93, 0.16, 0.22],
    [1.0, 0.78, 0.1],
    [0.12, 0.62, 0.95],
    [0.2, 0.75, 0.32],
    [0.95, 0.4, 0.75],
    [0.55, 0.3, 0.85],
    [1.0, 0.5, 0.12],
];
const LEAVES: [[f32; 3]; 6] = [
    [0.78, 0.36, 0.1],
    [0.86, 0.6, 0.14],
    [0.62, 0.2, 0.1],
    [0.5, 0.3, 0.12],
    [0.72, 0.48, 0.16],
    [0.55, 0.52, 0.16],
];
const COINS: [[f32; 3]; 3] = [[0.92, 0.72, 0.26], [0.88, 0.66, 0.22], [0.95, 0.78, 0.36]];

impl Layer<'_> {
    fn rgb(&self, id: u32) -> [f32; 3] {
        if let Some([r, g, b, _]) = self.appearance.colour {
            return [r, g, b].map(|v| v as f32);
        }
        if let Some(rgb) = self.scene.colour(id) {
            return rgb;
        }
        let of = |all: &[[f32; 3]]| all[(mix64(u64::from(id)) >> 33) as usize % all.len()];
        match self.material {
            Material::Snow => [0.96, 0.98, 1.0],
            Material::Confetti => of(&CONFETTI),
            Material::Leaves => of(&LEAVES),
            Material::Ash => [0.60, 0.59, 0.575],
            Material::Coins => of(&COINS),
            Material::Sand | Material::Picture => [0.84, 0.69, 0.44],
        }
    }

    /// A grain at a place in diameters, on the displayed frame, in rows.
    fn point(&self, id: u32, at: [f32; 2]) -> GrainPoint {
        let rows = self.scene.rows as f32;
        // Pieces turn as they move, to either side, and stop where they land.
        let hash = mix64(u64::from(id) ^ 0xa11e);
        let turns = (hash >> 40) as f32 * (1.0 / (1u32 << 24) as f32);
        let spin = (0.11 + 0.1 * turns) * if hash & 1 == 0 { 1.0 } else { -1.0 };
        let angle = turns + spin * at[1] + 0.07 * at[0];
        GrainPoint {
            x: at[0] * rows,
            y: at[1] * rows,
            radius: radius(id) * rows,
            id,
            rgb: self.rgb(id),
            angle,
        }
    }

    /// The pictures of a frame: the displayed samples become luma samples, and in a field every second row is left out.
    /// One picture holds nearly every frame, since cells of chroma between two of them would show what is behind.
    pub(super) fn pictures(&self, snapshot: &Snapshot, executor: &dyn Executor) -> Vec<Picture> {
        let shown = self.scene.shown();
        let radius = (0.44 * self.scene.rows) as f32;
        let style = Style { material: self.material, light: LIGHT, radius, size: shown, level: self.level };
        let light = snapshot.ground.light(&style);
        let flyers: Vec<Flyer> = snapshot.flying.iter().map(|flyer| self.flyer(flyer)).collect();
        let down = shown[1].div_ceil(SIDE);
        let mut flying: Vec<Vec<Flyer>> = vec![Vec::new(); down];
        for flyer in &flyers {
            let reach = style.near() + 0.5 * flyer.way[1].abs();
            let row = |v: f32| (v * (1.0 / SIDE as f32)).max(0.0) as usize;
            let (first, last) = (row(flyer.grain.y - reach).min(down), row(flyer.grain.y + reach));
            flying[first..(last + 1).min(down)].iter_mut().for_each(|row| row.push(*flyer));
        }
        let frame = Frame { style, light, snapshot, flying, shown };
        let strips: Vec<Mutex<Vec<Picture>>> = (0..down).map(|_| Mutex::default()).collect();
        let free: Mutex<Vec<Buffers>> = Mutex::default();
        executor.execute(down, &|y| {
            let mut buffers = lock(&free).pop().unwrap_or_default();
            *lock(&strips[y]) = self.strip(&frame, y, &mut buffers);
            lock(&free).push(buffers);
        });
        let mut out: Vec<Picture> = Vec::new();
        for (y, strip) in strips.into_iter().enumerate() {
            let strip = strip.into_inner().unwrap_or_else(PoisonError::into_inner);
            let first = out.len().saturating_sub(strip.len());
            if y % (LARGEST / SIDE) == 0 || out.is_empty() {
                out.extend(strip);
            } else {
                out[first..].iter_mut().zip(strip).for_each(|(picture, strip)| picture.append(strip));
            }
        }
        out
    }

    /// The displayed rows of a row of tiles, in a picture for every [`LARGEST`] samples.
    fn strip(&self, frame: &Frame<'_>, y: usize, buffers: &mut Buffers) -> Vec<Picture> {
        let Frame { style, light, snapshot, flying, shown } = frame;
        let height = SIDE.min(shown[1] - y * SIDE);
        let all = Tile { x: 0, y: y * SIDE, width: shown[0], height };
        let across = shown[0].div_ceil(SIDE);
        let mut strip = core::mem::take(&mut buffers.strip);
        // Old rows are overwritten.
        strip.resize(all.width * height, [0.0; 4]);
        let mut is_empty = flying[y].is_empty() && self.obstacle().is_none();
        for x in 0..across {
            let tile = Tile { x: x * SIDE, width: SIDE.min(shown[0] - x * SIDE), ..all };
            let to = &mut strip[tile.x..];
            if let Some(drawn) = self.tile(style, tile, y * across + x, snapshot, buffers) {
                is_empty = false;
                light.apply(style, tile, &drawn, to, shown[0]);
            } else {
                to.chunks_mut(shown[0]).for_each(|row| row[..tile.width].fill([0.0; 4]));
            }
        }
        if !is_empty {
            draw::draw_flyers(style, all, &flying[y], &mut strip);
            self.outline(all, &mut strip);
        }
        let narrow = self.overlay.narrow();
        let (step, skip) = self.overlay.format.field_rows();
        let (step, skip) = (step as usize, skip as usize);
        let [width, _] = self.overlay.picture_size();
        let mut row = Vec::new();
        let pictures = (0..width).step_by(LARGEST).map(|left| {
            let columns = left..(left + LARGEST).min(width);
            // A row of tiles has an even number of rows.
            let mut picture = Picture::new([left as i32, (all.y / step) as i32], columns.len());
            for from in strip.chunks_exact(shown[0]).skip(skip).step_by(step) {
                let painter = &self.overlay.painter;
                if is_empty {
                    painter.add_row(&mut picture, &[]);
                } else if narrow == 1.0 {
                    painter.add_row(&mut picture, &from[columns.clone()]);
                } else {
                    row.clear();
                    row.extend(columns.clone().map(|x| {
                        // The part of the row that a luma sample shows.
                        let [a, b] = [x as f64, x as f64 + 1.0].map(|v| v / narrow);
                        mean(from, a as f32, b as f32)
                    }));
                    painter.add_row(&mut picture, &row);
                }
            }
            picture
        });
        let pictures = pictures.collect();
        buffers.strip = strip;
        pictures
    }

    /// A tile of grains at rest, and of what is behind a picture that crumbles.
    fn tile(
        &self,
        style: &Style,
        tile: Tile,
        number: usize,
        snapshot: &Snapshot,
        buffers: &mut Buffers,
    ) -> Drawn {
        let Buffers { places, order, points, matte, scratch, .. } = buffers;
        let rows = self.scene.rows as f32;
        let around = |reach: f32| {
            let low = [tile.x, tile.y].map(|v| (v as f32 - reach) / rows);
            let high = [tile.x + tile.width, tile.y + tile.height].map(|v| (v as f32 + reach) / rows);
            [[low[0], high[0]], [low[1], high[1]]]
        };
        let [columns, lines] = around(style.reach());
        let chunk = |v: f32| (v + BORDER).max(0.0) as u32 >> CHUNK;
        let chunks = (chunk(lines[0])..=chunk(lines[1]))
            .flat_map(|y| (chunk(columns[0])..=chunk(columns[1])).map(move |x| (x, y)))
            .filter_map(|(x, y)| snapshot.chunks.get(zorder::number(x as u16, y as u16) as usize));
        // Nothing is drawn over a picture that has not begun to crumble.
        let front = snapshot.front.filter(|front| *front > 0.0);
        let mut standing = 0;
        let [near_columns, near_lines] = around(style.near());
        if let Some(front) = front {
            standing = 1;
            self.scene.standing(front, near_columns, near_lines, |_, _| standing += 1);
        }
        let SandLook { colour, behind, .. } = *self.appearance;
        let changed = chunks.clone().map(|chunk| chunk.changed).max().unwrap_or(0);
        let key = TileKey { changed, standing, material: self.material, colour, behind };
        if let Some(drawn) = snapshot.tiles.get(number, &key) {
            return drawn;
        }
        places.clear();
        order.clear();
        for point in chunks.flat_map(|chunk| chunk.points.iter()) {
            let [x, y] = point.at;
            if (columns[0]..=columns[1]).contains(&x) && (lines[0]..=lines[1]).contains(&y) {
                order.push(u64::from(point.id) << 32 | places.len() as u64);
                places.push(*point);
            }
        }
        order.sort_unstable();
        points.clear();
        points.extend(order.iter().map(|key| {
            let Point { id, at } = places[*key as u32 as usize];
            self.point(id, at)
        }));
        let is_empty = points.is_empty() && front.is_none();
        let drawn = (!is_empty).then(|| {
            let mut rgba = vec![[0.0; 4]; tile.width * tile.height];
            draw::draw_tile(style.level, style, tile, points, &mut rgba, scratch);
            if let Some(front) = front {
                points.clear();
                self.scene.standing(front, near_columns, near_lines, |id, at| {
                    points.push(self.point(id, at));
                });
                matte.clear();
                matte.resize(rgba.len(), 0.0);
                draw::draw_matte(tile, rows, points, matte);
                let [r, g, b, a] = behind.map(|v| v as f32);
                for (texel, matte) in rgba.iter_mut().zip(&*matte) {
                    let back = (1.0 - texel[3]) * (1.0 - matte) * a;
                    *texel = [texel[0] + back * r, texel[1] + back * g, texel[2] + back * b, texel[3] + back];
                }
            }
            Arc::new(rgba)
        });
        snapshot.tiles.put(number, key, drawn.clone());
        drawn
    }

    fn flyer(&self, flyer: &sand::Flyer) -> Flyer {
        let time = self.appearance.shutter;
        let middle = [0, 1].map(|a: usize| flyer.at[a] + 0.5 * time * flyer.velocity[a]);
        let way = flyer.velocity.map(|v| v * time * self.scene.rows as f32);
        Flyer { grain: self.point(flyer.id, middle), way }
    }

    /// The obstacle, if a line is drawn along it.
    fn obstacle(&self) -> Option<&SignedDistanceField> {
        self.scene.sand.solids.obstacle.as_deref().filter(|_| self.appearance.outline > 0.0)
    }

    /// Draws the line along the obstacle.
    fn outline(&self, tile: Tile, rgba: &mut [[f32; 4]]) {
        let (opacity, rows) = (self.appearance.outline, self.scene.rows as f32);
        let Some(obstacle) = self.obstacle() else { return };
        let half = 0.0012 * self.overlay.size()[1] as f32;
        const SPAN: usize = 8;
        for y in 0..tile.height {
            let row = &mut rgba[y * tile.width..][..tile.width];
            let v = ((tile.y + y) as f32 + 0.5) / rows;
            for (i, span) in row.chunks_mut(SPAN).enumerate() {
                let left = (tile.x + i * SPAN) as f32;
                let far = obstacle.at((left + 0.5 * SPAN as f32) / rows, v).0 * rows + half;
                if far.abs() > 3.0 * half + SPAN as f32 + 2.0 * rows {
                    continue;
                }
                for (x, texel) in span.iter_mut().enumerate() {
                    let u = (left + x as f32 + 0.5) / rows;
                    // The obstacle is made of squares: their mean is smooth.
                    let around = [[-0.9, -0.9], [0.9, -0.9], [-0.9, 0.9], [0.9, 0.9], [0.0, 0.0]];
                    let far: f32 = around.iter().map(|[du, dv]| obstacle.at(u + du, v + dv).0).sum();
                    let far = 0.2 * far * rows + half;
                    let cover = (half + 0.5 - far.abs()).clamp(0.0, 1.0) * opacity;
                    // The line has a shade on both sides, so that it shows on a bright picture.
                    let shade = 0.3 * (1.0 - 0.4 * far.abs() / half).max(0.0) * opacity;
                    let [r, g, b, a] = texel.map(|v| v - shade * v);
                    *texel = [r, g, b, a + shade].map(|v| v + cover * (1.0 - v));
                }
            }
        }
    }
}

/// The mean of the texels from one position to another.
fn mean(row: &[[f32; 4]], from: f32, to: f32) -> [f32; 4] {
    let last = row.len() - 1;
    let first = (from as usize).min(last);
    let (mut sum, mut weight) = ([0.0f32; 4], 0.0f32);
    for (i, texel) in row.iter().enumerate().take((to as usize).min(last) + 1).skip(first) {
        let part = (to.min((i + 1) as f32) - from.max(i as f32)).max(1e-6);
        weight += part;
        for k in 0..4 {
            sum[k] += part * texel[k];
        }
    }
    sum.map(|v| v / weight)
}
