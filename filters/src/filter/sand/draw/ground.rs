//! The mass of the heap on a coarse grid, and smooth fields made from it.

use super::{GrainPoint, LARGER, Material, Style, Tile};

/// Fine cells along one side of a coarse cell.
const COARSE: isize = 4;
/// Mass of a fully covered sample.
const FULL: f32 = 2048.0;
/// Side of the largest cell in samples.
const LARGEST: usize = 16;
/// Cubic B-spline.
const SPLINE: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Side of a cell in samples.
fn cell_size(radius: f32) -> usize {
    ((2.0 * radius + 0.5) as usize).clamp(2, 4).max((radius as usize).min(LARGEST))
}

/// Mass and colour of all grains at rest on a grid of cells.
///
/// The sums are integers: adding grains in any order gives the same grid.
pub(in crate::filter::sand) struct Ground {
    cell: usize,
    radius: f32,
    columns: usize,
    rows: usize,
    cells: Vec<[i32; 4]>,
}

impl Ground {
    /// An empty grid for a picture of `width` by `height` samples and grains of about `radius`.
    #[must_use]
    pub(in crate::filter::sand) fn new(width: usize, height: usize, radius: f32) -> Self {
        let cell = cell_size(radius);
        let (columns, rows) = (width.div_ceil(cell).max(1), height.div_ceil(cell).max(1));
        Self { cell, radius: radius.min(64.0), columns, rows, cells: vec![[0; 4]; columns * rows] }
    }

    /// Adds a grain.
    pub(in crate::filter::sand) fn add(&mut self, grain: &GrainPoint) {
        let inverse = 1.0 / self.cell as f32;
        // One cell is added so that truncation rounds down.
        let (u, v) = (grain.x * inverse + 0.5, grain.y * inverse + 0.5);
        let inside = u > 0.0
            && v > 0.0
            && u < (self.columns + 1) as f32
            && v < (self.rows + 1) as f32
            && grain.radius > 0.0;
        if !inside {
            return;
        }
        let radius = grain.radius.min(LARGER * self.radius);
        let area = (core::f32::consts::PI * 8.0 * radius * radius) as i32;
        let colour = grain.rgb.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as i32);
        let (i, j) = (u as usize, v as usize);
        let (fx, fy) = (((u - i as f32) * 16.0) as i32, ((v - j as f32) * 16.0) as i32);
        for (dj, wy) in [(0, 16 - fy), (1, fy)] {
            let row = (j + dj).saturating_sub(1).min(self.rows - 1) * self.columns;
            for (di, wx) in [(0, 16 - fx), (1, fx)] {
                let column = (i + di).saturating_sub(1).min(self.columns - 1);
                let mass = area * wx * wy;
                let cell = &mut self.cells[row + column];
                cell[0] = cell[0].wrapping_add(mass);
                for k in 0..3 {
                    cell[k + 1] = cell[k + 1].wrapping_add(mass.wrapping_mul(colour[k]));
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn cells(&self) -> &[[i32; 4]] {
        &self.cells
    }

    /// Side of a cell, columns, rows.
    #[cfg(test)]
    pub(super) fn size(&self) -> (isize, isize, isize) {
        (self.cell as isize, self.columns as isize, self.rows as isize)
    }

    /// The light on the heap as a whole.
    #[must_use]
    pub(in crate::filter::sand) fn relief(&self, style: &Style) -> Relief {
        let block = LARGEST / self.cell;
        let (columns, rows) = (self.columns.div_ceil(block), self.rows.div_ceil(block));
        let scale = 1.0 / FULL / (self.cell * self.cell) as f32;
        let mut density = Vec::with_capacity(columns * rows);
        for j in 0..rows {
            let below = (j + 1) * block;
            for i in 0..columns {
                let right = ((i + 1) * block).min(self.columns);
                let mut sum = 0;
                for y in j * block..below.min(self.rows) {
                    let row = &self.cells[y * self.columns..][i * block..right];
                    sum += row.iter().map(|c| i64::from(c[0])).sum::<i64>();
                }
                let cells = (below.min(self.rows) - j * block) * (right - i * block);
                density.push((sum as f32 * scale / cells as f32).min(1.0));
            }
        }
        for step in [1, 2, 4] {
            blur_clamped(&mut density, columns, step);
        }
        let middle = density.clone();
        blur_clamped(&mut density, columns, 8);
        // Light from above alone would make both flanks of a heap alike.
        let [lx, ly] = [style.light[0], 0.4 * style.light[1]];
        let slope = |g: &[f32], i: usize, j: usize| {
            let (left, right) = (i.saturating_sub(1), (i + 1).min(columns - 1));
            let (up, down) = (j.saturating_sub(1), (j + 1).min(rows - 1));
            (g[j * columns + left] - g[j * columns + right]) * lx
                + (g[up * columns + i] - g[down * columns + i]) * ly
        };
        let gain = (0..columns * rows)
            .map(|k| {
                let (i, j) = (k % columns, k / columns);
                let lit = 1.4 * slope(&middle, i, j) + 3.4 * slope(&density, i, j);
                1.06 + lit.clamp(-0.4, 0.3) - 0.15 * density[k].min(0.9)
            })
            .collect();
        Relief { side: block * self.cell, columns, rows, gain }
    }
}

/// Blurs rows of `columns` cells with a spline of taps `step` apart; the border is repeated.
fn blur_clamped(cells: &mut [f32], columns: usize, step: usize) {
    let rows = cells.len() / columns;
    for (across, count, stride) in [(true, columns, 1), (false, rows, columns)] {
        let from = cells.to_vec();
        for (k, cell) in cells.iter_mut().enumerate() {
            let place = if across { k % columns } else { k / columns };
            let line = k - place * stride;
            *cell = 0.0;
            for (n, tap) in SPLINE.iter().enumerate() {
                let at = (place + n * step).saturating_sub(2 * step).min(count - 1);
                *cell += tap * from[line + at * stride];
            }
        }
    }
}

/// The light on the heap as a whole, for [`Relief::light`].
///
/// It changes slowly with the mass far around, so it is not part of the tiles.
pub(in crate::filter::sand) struct Relief {
    side: usize,
    columns: usize,
    rows: usize,
    gain: Vec<f32>,
}

impl Relief {
    /// Lights the premultiplied samples of a tile.
    pub(in crate::filter::sand) fn light(&self, material: Material, tile: Tile, samples: &mut [[f32; 4]]) {
        // In snow the shade is blue.
        let part = if material == Material::Snow { [0.62, 0.42, 0.20] } else { [1.0; 3] };
        let inverse = 1.0 / self.side as f32;
        let place = |v: usize, count: usize| {
            let u = (v as f32 + 0.5) * inverse;
            let middle = u as usize;
            let t = u - middle as f32 - 0.5;
            let weights = [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)];
            let last = count - 1;
            ([middle.saturating_sub(1).min(last), middle.min(last), (middle + 1).min(last)], weights)
        };
        let mut across = vec![0.0; self.columns];
        for (y, row) in samples.chunks_exact_mut(tile.width.max(1)).enumerate() {
            let (rows, weights) = place(tile.y + y, self.rows);
            for (i, sum) in across.iter_mut().enumerate() {
                let [a, b, c] = rows.map(|r| self.gain[r * self.columns + i]);
                *sum = weights[0] * a + weights[1] * b + weights[2] * c;
            }
            for (x, sample) in row.iter_mut().enumerate() {
                let (columns, weights) = place(tile.x + x, self.columns);
                let [a, b, c] = columns.map(|c| across[c]);
                let gain = weights[0] * a + weights[1] * b + weights[2] * c - 1.0;
                for k in 0..3 {
                    sample[k] = (sample[k] * (1.0 + part[k] * gain)).min(sample[3]);
                }
            }
        }
    }
}

/// Channels of a field's cell.
pub(super) const DENSITY: usize = 0;
pub(super) const LIT: usize = 4;
pub(super) const DEEP: usize = 5;
pub(super) const SHADE: usize = 6;
pub(super) const RELIEF: usize = 7;

/// Smooth fields around one tile, on the ground's cells.
///
/// Channels: covered part, R'G'B' times covered part, slope towards the light at the scale of a heap, covered part at
/// that scale, the same nearer to the light, slope at the scale of a few grains.
#[derive(Default)]
pub(super) struct Field {
    x: isize,
    y: isize,
    columns: usize,
    cells: Vec<[f32; 8]>,
    across: Vec<[f32; 8]>,
    shades: Vec<[f32; 4]>,
    fine: Grid<4>,
    coarse: Grid<4>,
    spare: Grid<4>,
}

/// A rectangle of cells at a place of the endless grid.
#[derive(Default)]
struct Grid<const N: usize> {
    x: isize,
    y: isize,
    columns: usize,
    rows: usize,
    cells: Vec<[f32; N]>,
}

impl<const N: usize> Grid<N> {
    fn reset(&mut self, x: isize, y: isize, columns: usize, rows: usize) {
        (self.x, self.y, self.columns, self.rows) = (x, y, columns, rows);
        self.cells.clear();
        self.cells.resize(columns * rows, [0.0; N]);
    }

    fn at(&self, x: isize, y: isize) -> &[f32; N] {
        &self.cells[(y - self.y) as usize * self.columns + (x - self.x) as usize]
    }

    /// Blurs with a spline whose taps are `step` cells apart and drops the cells it lacks.
    fn blur(&mut self, spare: &mut Self, step: usize) {
        let lost = 2 * step;
        let columns = self.columns - 2 * lost;
        spare.reset(self.x + lost as isize, self.y, columns, self.rows);
        for (to, from) in spare.cells.chunks_exact_mut(columns).zip(self.cells.chunks_exact(self.columns)) {
            for (i, cell) in to.iter_mut().enumerate() {
                for (k, tap) in SPLINE.iter().enumerate() {
                    for n in 0..N {
                        cell[n] += tap * from[i + k * step][n];
                    }
                }
            }
        }
        let rows = self.rows - 2 * lost;
        self.reset(spare.x, spare.y + lost as isize, columns, rows);
        for (j, to) in self.cells.chunks_exact_mut(columns).enumerate() {
            for (k, tap) in SPLINE.iter().enumerate() {
                let start = (j + k * step) * columns;
                for (cell, from) in to.iter_mut().zip(&spare.cells[start..start + columns]) {
                    for n in 0..N {
                        cell[n] += tap * from[n];
                    }
                }
            }
        }
    }
}

/// Weights of three neighbouring cells at `phase` of `count` places within the middle one.
fn weights(phase: usize, count: usize) -> [f32; 3] {
    let t = (phase as f32 + 0.5) / count as f32 - 0.5;
    [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]
}

impl Field {
    /// Computes the fields for the samples within `near` of a tile.
    pub(super) fn prepare(&mut self, style: &Style, ground: &Ground, tile: &Tile) {
        let cell = ground.cell as isize;
        let near = style.near() as isize + 2;
        let first = |v: usize| (v as isize - near).div_euclid(cell) - 1;
        let end = |v: usize| (v as isize + near).div_euclid(cell) + 2;
        (self.x, self.y) = (first(tile.x), first(tile.y));
        let (x1, y1) = (end(tile.x + tile.width), end(tile.y + tile.height));
        let rows = (y1 - self.y) as usize;
        self.columns = (x1 - self.x) as usize;

        self.load_fine(ground, rows);
        self.fine.blur(&mut self.spare, 1);
        self.load_coarse(ground, rows);
        self.coarse.blur(&mut self.spare, 1);
        let middle = std::mem::take(&mut self.coarse.cells);
        let (mx, my, mc) = (self.coarse.x, self.coarse.y, self.coarse.columns);
        self.coarse.cells.extend_from_slice(&middle);
        self.coarse.blur(&mut self.spare, 2);
        let middle = Grid { x: mx, y: my, columns: mc, rows: 0, cells: middle };
        self.shade_coarse(style.light, &middle);
        self.combine(style.light, rows);
    }

    fn load_fine(&mut self, ground: &Ground, rows: usize) {
        let scale = 1.0 / (FULL * (ground.cell * ground.cell) as f32);
        let scales = [scale, scale / 255.0, scale / 255.0, scale / 255.0];
        self.fine.reset(self.x - 3, self.y - 3, self.columns + 6, rows + 6);
        for (j, to) in self.fine.cells.chunks_exact_mut(self.columns + 6).enumerate() {
            let y = (self.y - 3 + j as isize).clamp(0, ground.rows as isize - 1) as usize;
            let from = &ground.cells[y * ground.columns..][..ground.columns];
            for (i, cell) in to.iter_mut().enumerate() {
                let x = (self.x - 3 + i as isize).clamp(0, ground.columns as isize - 1);
                for k in 0..4 {
                    cell[k] = from[x as usize][k] as f32 * scales[k];
                }
            }
        }
    }

    fn load_coarse(&mut self, ground: &Ground, rows: usize) {
        // Two blurs take 2 and 4 cells, the shifted copy and the gradient 3, interpolation 1.
        let beyond = 10;
        let x = self.x.div_euclid(COARSE) - beyond;
        let y = self.y.div_euclid(COARSE) - beyond;
        let columns = (self.x + self.columns as isize).div_euclid(COARSE) + beyond + 1 - x;
        let count = (self.y + rows as isize).div_euclid(COARSE) + beyond + 1 - y;
        self.coarse.reset(x, y, columns as usize, count as usize);
        let side = ground.cell as f32 * COARSE as f32;
        let scale = 1.0 / (FULL * side * side);
        for j in 0..count * COARSE {
            let from = (y * COARSE + j).clamp(0, ground.rows as isize - 1) as usize;
            let from = &ground.cells[from * ground.columns..][..ground.columns];
            let to = (j / COARSE * columns) as usize;
            let to = &mut self.coarse.cells[to..to + columns as usize];
            for (i, cell) in to.iter_mut().enumerate() {
                let left = (x + i as isize) * COARSE;
                let sum: i32 = (left..left + COARSE)
                    .map(|c| from[c.clamp(0, ground.columns as isize - 1) as usize][0])
                    .fold(0, i32::wrapping_add);
                // Four rows of whole numbers below 2^24 add up exactly.
                cell[0] += sum as f32;
            }
        }
        for cell in &mut self.coarse.cells {
            // Packed is packed: differences of the packing do not light the heap.
            cell[0] = (cell[0] * scale).min(0.76) * (1.0 / 0.76);
        }
    }

    /// Writes the shading of each coarse cell: slope, depth, depth nearer to the light.
    fn shade_coarse(&mut self, light: [f32; 2], middle: &Grid<4>) {
        let deep = &self.coarse;
        let (columns, rows) = (deep.columns - 6, deep.rows - 6);
        self.spare.reset(deep.x + 3, deep.y + 3, columns, rows);
        let (sx, sy) = (light[0] * 1.8, light[1] * 1.8);
        let (ox, oy) = (sx.floor(), sy.floor());
        let (fx, fy) = (sx - ox, sy - oy);
        let (ox, oy) = ((ox as isize).clamp(-2, 1), (oy as isize).clamp(-2, 1));
        for j in 0..rows {
            for i in 0..columns {
                let (x, y) = (self.spare.x + i as isize, self.spare.y + j as isize);
                let slope = |g: &Grid<4>| {
                    (g.at(x - 1, y)[0] - g.at(x + 1, y)[0]) * light[0]
                        + (g.at(x, y - 1)[0] - g.at(x, y + 1)[0]) * light[1]
                };
                let top = deep.at(x + ox, y + oy)[0] * (1.0 - fx) + deep.at(x + ox + 1, y + oy)[0] * fx;
                let low =
                    deep.at(x + ox, y + oy + 1)[0] * (1.0 - fx) + deep.at(x + ox + 1, y + oy + 1)[0] * fx;
                self.spare.cells[j * columns + i] =
                    [slope(middle) + slope(deep), deep.at(x, y)[0], top * (1.0 - fy) + low * fy, 0.0];
            }
        }
        std::mem::swap(&mut self.coarse, &mut self.spare);
    }

    /// Brings the coarse cells to the fine ones.
    fn combine(&mut self, light: [f32; 2], rows: usize) {
        let phases: [[f32; 3]; 4] = core::array::from_fn(|phase| weights(phase, 4));
        let coarse = &self.coarse;
        self.cells.clear();
        for j in 0..rows {
            let y = self.y + j as isize;
            let wy = phases[y.rem_euclid(COARSE) as usize];
            let top = (y.div_euclid(COARSE) - 1 - coarse.y) as usize * coarse.columns;
            self.shades.clear();
            self.shades.extend((top..top + coarse.columns).map(|i| -> [f32; 4] {
                let (a, b) = (&coarse.cells[i], &coarse.cells[i + coarse.columns]);
                let c = &coarse.cells[i + 2 * coarse.columns];
                core::array::from_fn(|k| wy[0] * a[k] + wy[1] * b[k] + wy[2] * c[k])
            }));
            let start = (y - self.fine.y) as usize * self.fine.columns;
            let across = (self.x - self.fine.x) as usize;
            let above = &self.fine.cells[start - self.fine.columns + across..][..self.columns];
            let here = &self.fine.cells[start + across - 1..][..self.columns + 2];
            let below = &self.fine.cells[start + self.fine.columns + across..][..self.columns];
            for i in 0..self.columns {
                let x = self.x + i as isize;
                let wx = phases[x.rem_euclid(COARSE) as usize];
                let left = (x.div_euclid(COARSE) - 1 - coarse.x) as usize;
                let c = &self.shades[left..left + 3];
                let shade: [f32; 4] =
                    core::array::from_fn(|k| wx[0] * c[0][k] + wx[1] * c[1][k] + wx[2] * c[2][k]);
                let fine = &here[i + 1];
                let relief =
                    (here[i][0] - here[i + 2][0]) * light[0] + (above[i][0] - below[i][0]) * light[1];
                self.cells.push([fine[0], fine[1], fine[2], fine[3], shade[0], shade[1], shade[2], relief]);
            }
        }
    }

    /// Replaces the fields of each cell.
    pub(super) fn map(&mut self, mut change: impl FnMut(&[f32; 8]) -> [f32; 8]) {
        for cell in &mut self.cells {
            *cell = change(cell);
        }
    }

    /// Calls `write` with the fields of each sample of a row of the tile.
    pub(super) fn row(
        &mut self,
        ground: &Ground,
        tile: &Tile,
        y: usize,
        mut write: impl FnMut(usize, &[f32; 8]),
    ) {
        let cell = ground.cell;
        let phases: [[f32; 3]; LARGEST] = core::array::from_fn(|phase| weights(phase.min(cell - 1), cell));
        let y = tile.y + y;
        let wy = phases[y % cell];
        let top = ((y / cell) as isize - 1 - self.y) as usize * self.columns;
        self.across.clear();
        for i in top..top + self.columns {
            let rows = [&self.cells[i], &self.cells[i + self.columns], &self.cells[i + 2 * self.columns]];
            self.across
                .push(core::array::from_fn(|k| wy[0] * rows[0][k] + wy[1] * rows[1][k] + wy[2] * rows[2][k]));
        }
        let (mut phase, mut left) = (tile.x % cell, ((tile.x / cell) as isize - 1 - self.x) as usize);
        for x in 0..tile.width {
            let wx = phases[phase];
            let c = &self.across[left..left + 3];
            let sample: [f32; 8] =
                core::array::from_fn(|k| wx[0] * c[0][k] + wx[1] * c[1][k] + wx[2] * c[2][k]);
            write(x, &sample);
            phase += 1;
            if phase == cell {
                (phase, left) = (0, left + 1);
            }
        }
    }

    /// The cell in which a point within `near` of the tile lies.
    pub(super) fn cell(&self, ground: &Ground, x: f32, y: f32) -> &[f32; 8] {
        let side = ground.cell as f32;
        let (i, j) = ((x / side).floor() as isize - self.x, (y / side).floor() as isize - self.y);
        &self.cells[j as usize * self.columns + i as usize]
    }
}
