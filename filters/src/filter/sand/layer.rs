//! The tiles of a frame.

use super::super::overlay::Overlay;
use super::draw::{self, Flyer, GrainPoint, Ground, Material, Style, Tile};
use super::scene::Scene;
use super::snapshot::{CHUNK, Snapshot};
use crate::frame::Format;
use crate::host::Executor;
use crate::noise::seed::mix64;
use crate::particle::draw::Picture;
use crate::particle::sand::{self, BORDER, radius};
use crate::zorder;
use std::sync::{Mutex, PoisonError};

/// Luma samples across and down a tile.
const SIDE: usize = 64;
/// The largest width and height of a picture.
const LARGEST: usize = 8128;
/// The direction of the light, from the upper left.
const LIGHT: [f32; 2] = [-0.6, -0.8];

/// The largest number of pictures of a frame.
pub(super) fn most_pictures(format: &Format) -> usize {
    let (w, h) = format.plane_size(0);
    w.div_ceil(LARGEST) * h.div_ceil(LARGEST)
}

/// The displayed rows of a row of tiles.
type Strip = Vec<[f32; 4]>;

/// The appearance in a frame.
pub(super) struct Appearance {
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
    pub(super) appearance: &'a Appearance,
}

/// Lists of a thread.
#[derive(Default)]
struct Buffers {
    points: Vec<GrainPoint>,
    rgba: Vec<[f32; 4]>,
    matte: Vec<f32>,
    scratch: draw::Scratch,
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
            Material::Ash => [0.52, 0.51, 0.5],
            Material::Coins => [0.9, 0.7, 0.25],
            Material::Sand | Material::Picture => [0.84, 0.69, 0.44],
        }
    }

    /// A grain at a place in diameters, on the displayed frame, in rows.
    fn point(&self, id: u32, at: [f32; 2]) -> GrainPoint {
        let rows = self.scene.rows as f32;
        // Pieces turn as they move, and stop where they land.
        let turns = (mix64(u64::from(id) ^ 0xa11e) >> 40) as f32 * (1.0 / (1u32 << 24) as f32);
        let angle = turns + (0.11 + 0.1 * turns) * at[1] + 0.07 * at[0];
        GrainPoint {
            x: at[0] * rows,
            y: at[1] * rows,
            radius: radius(id) * rows,
            id,
            rgb: self.rgb(id),
            angle,
        }
    }

    /// The pictures of all tiles in which something is drawn.
    pub(super) fn pictures(&self, snapshot: &Snapshot, executor: &dyn Executor) -> Vec<Picture> {
        let [w, h] = self.overlay.size();
        // The displayed frame in rows.
        let shown = [libm::ceil(w / self.overlay.narrow()) as usize, h as usize];
        let radius = (0.44 * self.scene.rows) as f32;
        let style = Style { material: self.material, light: LIGHT, radius };
        let mut ground = Ground::new(shown[0], shown[1], radius);
        for point in snapshot.chunks.iter().flat_map(|chunk| chunk.iter()) {
            ground.add(&self.point(point.id, point.at));
        }
        let relief = ground.relief(&style);
        let flyers: Vec<Flyer> = snapshot.flying.iter().map(|flyer| self.flyer(flyer)).collect();
        let [across, down] = shown.map(|v| v.div_ceil(SIDE));
        let mut flying: Vec<Vec<u32>> = vec![Vec::new(); across * down];
        for (i, flyer) in (0..).zip(&flyers) {
            let tile = |v: f32, way: f32, count: usize| {
                let reach = style.near() + 0.5 * way.abs();
                let first = ((v - reach) * (1.0 / SIDE as f32)).max(0.0) as usize;
                first..(((v + reach) * (1.0 / SIDE as f32) + 1.0).max(0.0) as usize).min(count)
            };
            for y in tile(flyer.grain.y, flyer.way[1], down) {
                for x in tile(flyer.grain.x, flyer.way[0], across) {
                    flying[y * across + x].push(i);
                }
            }
        }
        let mut strips: Vec<Option<Strip>> = vec![None; down];
        let free: Mutex<Vec<Buffers>> = Mutex::default();
        {
            let outs: Vec<Mutex<&mut Option<Strip>>> = strips.iter_mut().map(Mutex::new).collect();
            executor.execute(outs.len(), &|y| {
                let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
                let mut buffers = lock().pop().unwrap_or_default();
                let mut strip: Option<Strip> = None;
                for x in 0..across {
                    let tile = Tile {
                        x: x * SIDE,
                        y: y * SIDE,
                        width: SIDE.min(shown[0] - x * SIDE),
                        height: SIDE.min(shown[1] - y * SIDE),
                    };
                    let here: Vec<Flyer> =
                        flying[y * across + x].iter().map(|i| flyers[*i as usize]).collect();
                    if !self.is_drawn(&style, &ground, tile, snapshot, &here, &mut buffers) {
                        continue;
                    }
                    relief.light(self.material, tile, &mut buffers.rgba);
                    draw::draw_flyers(&style, tile, &here, &mut buffers.rgba);
                    self.outline(tile, &mut buffers.rgba);
                    let strip = strip.get_or_insert_with(|| vec![[0.0; 4]; shown[0] * tile.height]);
                    let rows = buffers.rgba.chunks_exact(tile.width);
                    for (from, to) in rows.zip(strip.chunks_exact_mut(shown[0])) {
                        to[tile.x..tile.x + tile.width].copy_from_slice(from);
                    }
                }
                **outs[y].lock().unwrap_or_else(PoisonError::into_inner) = strip;
                lock().push(buffers);
            });
        }
        self.assemble(&strips, shown)
    }

    /// The pictures of a frame from its displayed rows: the displayed samples become luma samples, and in a field every
    /// second row is left out. One picture holds nearly every frame, since cells of chroma between two of them would
    /// show what is behind.
    fn assemble(&self, strips: &[Option<Strip>], shown: [usize; 2]) -> Vec<Picture> {
        let Some(first) = strips.iter().position(Option::is_some) else { return Vec::new() };
        let end = strips.iter().rposition(Option::is_some).map_or(0, |last| (last + 1) * SIDE);
        let narrow = self.overlay.narrow();
        let (step, skip) = self.overlay.format.field_rows();
        let (step, skip) = (step as usize, skip as usize);
        let [width, _] = self.overlay.picture_size();
        let empty = vec![[0.0; 4]; shown[0]];
        let mut out = Vec::new();
        let mut row = Vec::new();
        for left in (0..width).step_by(LARGEST) {
            let columns = left..(left + LARGEST).min(width);
            let rows: Vec<usize> = (first * SIDE..end.min(shown[1])).filter(|y| y % step == skip).collect();
            for rows in rows.chunks(LARGEST) {
                let at = [columns.start as i32, (rows[0] / step) as i32];
                let mut picture = Picture::new(at, columns.len());
                for y in rows {
                    let from = strips[y / SIDE]
                        .as_ref()
                        .map_or(&empty[..], |strip| &strip[y % SIDE * shown[0]..][..shown[0]]);
                    row.clear();
                    row.extend(columns.clone().map(|x| {
                        // The part of the row that a luma sample shows.
                        let [a, b] = [x as f64, x as f64 + 1.0].map(|v| v / narrow);
                        mean(from, a as f32, b as f32)
                    }));
                    self.overlay.painter.add_row(&mut picture, &row);
                }
                out.push(picture);
            }
        }
        out
    }

    fn flyer(&self, flyer: &sand::Flyer) -> Flyer {
        let time = self.appearance.shutter;
        let middle = [0, 1].map(|a: usize| flyer.at[a] + 0.5 * time * flyer.velocity[a]);
        let way = flyer.velocity.map(|v| v * time * self.scene.rows as f32);
        Flyer { grain: self.point(flyer.id, middle), way }
    }

    /// Draws the grains of a tile over what is behind a picture that crumbles; false if there is nothing.
    fn is_drawn(
        &self,
        style: &Style,
        ground: &Ground,
        tile: Tile,
        snapshot: &Snapshot,
        flying: &[Flyer],
        buffers: &mut Buffers,
    ) -> bool {
        let Buffers { points, rgba, matte, scratch } = buffers;
        points.clear();
        let rows = self.scene.rows as f32;
        let low = [tile.x, tile.y].map(|v| (v as f32 - style.near()) / rows);
        let high = [tile.x + tile.width, tile.y + tile.height].map(|v| (v as f32 + style.near()) / rows);
        let chunk = |v: f32| (v + BORDER).max(0.0) as u32 >> CHUNK;
        for y in chunk(low[1])..=chunk(high[1]) {
            for x in chunk(low[0])..=chunk(high[0]) {
                let number = zorder::number(x as u16, y as u16);
                for point in snapshot.chunks.get(number as usize).into_iter().flat_map(|chunk| chunk.iter()) {
                    if (0..2).all(|a| (low[a]..=high[a]).contains(&point.at[a])) {
                        points.push(self.point(point.id, point.at));
                    }
                }
            }
        }
        points.sort_unstable_by_key(|point| point.id);
        let outline = self.appearance.outline > 0.0 && self.scene.sand.solids.obstacle.is_some();
        if points.is_empty()
            && flying.is_empty()
            && !outline
            && snapshot.front.is_none_or(|front| front <= 0.0)
        {
            return false;
        }
        rgba.clear();
        rgba.resize(tile.width * tile.height, [0.0; 4]);
        draw::draw_tile(style, ground, tile, points, rgba, scratch);
        if let Some(front) = snapshot.front {
            points.clear();
            self.scene.standing(front, [low[0], high[0]], [low[1], high[1]], |id, at| {
                points.push(self.point(id, at));
            });
            matte.clear();
            matte.resize(rgba.len(), 0.0);
            draw::draw_matte(tile, points, matte);
            let [r, g, b, a] = self.appearance.behind.map(|v| v as f32);
            for (texel, matte) in rgba.iter_mut().zip(&*matte) {
                let back = (1.0 - texel[3]) * (1.0 - matte) * a;
                *texel = [texel[0] + back * r, texel[1] + back * g, texel[2] + back * b, texel[3] + back];
            }
        }
        true
    }

    /// Draws the line along the obstacle.
    fn outline(&self, tile: Tile, rgba: &mut [[f32; 4]]) {
        let (opacity, rows) = (self.appearance.outline, self.scene.rows as f32);
        let Some(obstacle) = self.scene.sand.solids.obstacle.as_ref().filter(|_| opacity > 0.0) else {
            return;
        };
        let half = 0.0012 * self.overlay.size()[1] as f32;
        for (i, texel) in rgba.iter_mut().enumerate() {
            let x = (tile.x + i % tile.width) as f32 + 0.5;
            let y = (tile.y + i / tile.width) as f32 + 0.5;
            let far = obstacle.at(x / rows, y / rows).0 * rows + half;
            let cover = (half + 0.5 - far.abs()).clamp(0.0, 1.0) * opacity;
            *texel = texel.map(|v| v + cover * (1.0 - v));
        }
    }
}

/// The mean of the texels from one position to another.
fn mean(row: &[[f32; 4]], from: f32, to: f32) -> [f32; 4] {
    let last = row.len() - 1;
    let first = (from as usize).min(last);
    if to - from == 1.0 && from == first as f32 {
        return row[first];
    }
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
