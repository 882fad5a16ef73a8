//! The mass of the heap on a coarse grid, and the light on the heap as a whole.

use super::grid::blurred;
use super::{Material, Style, Tile, cell_size, spline};
use crate::simd::multiversion;
use core::f32::consts::PI;

/// Cells of a tile's fields along one side of a cell of the ground.
const COARSE: usize = 4;
/// Mass of a fully covered sample.
const FULL: f32 = 2048.0;
/// Mean covered part of a packing: more does not light the heap.
const PACKED: f32 = 0.76;

/// The mass of all grains at rest on a grid of cells.
///
/// The sums are integers: adding grains in any order, and taking them away again, gives the same grid.
#[derive(Clone, Default)]
pub(in crate::filter::sand) struct Ground {
    /// The size of the picture in samples.
    size: [usize; 2],
    /// The side of a cell in samples.
    side: usize,
    columns: usize,
    rows: usize,
    cells: Vec<i32>,
}

impl Ground {
    /// An empty grid for a picture of `size` samples and grains of about `radius`.
    pub(in crate::filter::sand) fn new(size: [usize; 2], radius: f32) -> Self {
        let side = COARSE * cell_size(radius);
        let [columns, rows] = size.map(|v| v.div_ceil(side).max(1));
        Self { size, side, columns, rows, cells: vec![0; columns * rows] }
    }

    /// Adds a grain at a place in samples `sign` times.
    pub(in crate::filter::sand) fn add(&mut self, [x, y]: [f32; 2], radius: f32, sign: i32) {
        let inverse = 1.0 / self.side as f32;
        // One cell is added so that truncation rounds down.
        let (u, v) = (x * inverse + 0.5, y * inverse + 0.5);
        if !(u > 0.0 && v > 0.0 && u < (self.columns + 1) as f32 && v < (self.rows + 1) as f32) {
            return;
        }
        let area = (PI * FULL / 256.0 * radius * radius) as i32 * sign;
        let (i, j) = (u as usize, v as usize);
        let (fx, fy) = (((u - i as f32) * 16.0) as i32, ((v - j as f32) * 16.0) as i32);
        for (dj, wy) in [(0, 16 - fy), (1, fy)] {
            let row = (j + dj).saturating_sub(1).min(self.rows - 1) * self.columns;
            for (di, wx) in [(0, 16 - fx), (1, fx)] {
                self.cells[row + (i + di).saturating_sub(1).min(self.columns - 1)] += area * wx * wy;
            }
        }
    }

    /// The light on the heap as a whole.
    pub(in crate::filter::sand) fn light(&self, style: &Style) -> Light {
        let (columns, rows, side) = (self.columns, self.rows, self.side);
        let inside = |i: usize, of: usize| side.min(of - (i * side).min(of)).max(1) as f32;
        let mut density = Vec::with_capacity(columns * rows);
        for (j, row) in self.cells.chunks_exact(columns).enumerate() {
            let full = FULL * PACKED * inside(j, self.size[1]);
            let part = |(i, mass): (usize, &i32)| (*mass as f32 / (full * inside(i, self.size[0]))).min(1.0);
            density.extend(row.iter().enumerate().map(part));
        }
        let near = blurred(&density, columns, 1);
        let deep = blurred(&near, columns, 2);
        let (mut middle, mut wide, mut step) = (near.clone(), deep.clone(), 2);
        while 2 * step * side <= self.size[1] / 8 {
            step *= 2;
            middle = core::mem::take(&mut wide);
            wide = blurred(&middle, columns, step);
        }
        let at = |grid: &[f32], x: isize, y: isize| {
            grid[y.clamp(0, rows as isize - 1) as usize * columns + x.clamp(0, columns as isize - 1) as usize]
        };
        let slope = |grid: &[f32], x: isize, y: isize, by: isize, [lx, ly]: [f32; 2]| {
            (at(grid, x - by, y) - at(grid, x + by, y)) * lx
                + (at(grid, x, y - by) - at(grid, x, y + by)) * ly
        };
        // The position 1.8 cells nearer to the light.
        let [[ox, fx], [oy, fy]] = style.light.map(|v| [(1.8 * v).floor(), 1.8 * v - (1.8 * v).floor()]);
        // Light from above alone would make both flanks of a heap alike.
        let flat = [style.light[0], 0.4 * style.light[1]];
        let far = (16 / side).max(1) as isize;
        let gain = (0..columns * rows).map(|k| {
            let (x, y) = ((k % columns) as isize, (k / columns) as isize);
            let (u, v) = (x + ox as isize, y + oy as isize);
            let top = at(&deep, u, v) * (1.0 - fx) + at(&deep, u + 1, v) * fx;
            let low = at(&deep, u, v + 1) * (1.0 - fx) + at(&deep, u + 1, v + 1) * fx;
            let shade = top * (1.0 - fy) + low * fy;
            let lit = slope(&near, x, y, 1, style.light) + slope(&deep, x, y, 1, style.light);
            let lit = (0.75 * lit).clamp(-0.5, 0.5);
            let body = 1.20 - 0.07 * deep[k] - 0.18 * shade + 0.22 * lit;
            let heap = 1.4 * slope(&middle, x, y, far, flat) + 3.4 * slope(&wide, x, y, far, flat);
            let heap = 1.06 + heap.clamp(-0.4, 0.3) - 0.15 * wide[k].min(0.9);
            match style.material {
                // The thin edge of snow lets light through and stays bright.
                Material::Snow => (0.65 * body + 0.25) * (0.55 + 0.45 * heap),
                Material::Sand | Material::Picture => body * heap,
                // Flat pieces show the body of the heap less than grains do.
                _ => (0.4 + 0.6 * body) * heap,
            }
        });
        Light { side, columns, rows, gain: gain.collect() }
    }
}

/// The light on the heap as a whole.
///
/// It changes with the mass far around, but slowly from place to place, so it is not part of the tiles.
pub(in crate::filter::sand) struct Light {
    side: usize,
    columns: usize,
    rows: usize,
    gain: Vec<f32>,
}

impl Light {
    #[cfg(test)]
    pub(super) fn gain(&self) -> &[f32] {
        &self.gain
    }

    /// Lights the premultiplied samples of a tile, and writes them to rows that are `stride` samples apart.
    pub(in crate::filter::sand) fn apply(
        &self,
        style: &Style,
        tile: Tile,
        from: &[[f32; 4]],
        to: &mut [[f32; 4]],
        stride: usize,
    ) {
        apply(style.level, self, style, tile, from, to, stride);
    }
}

multiversion! {
    fn apply(level, light: &Light, style: &Style, tile: Tile, from: &[[f32; 4]], to: &mut [[f32; 4]], stride: usize) = apply_body;
}

#[inline(always)]
fn apply_body(
    light: &Light,
    style: &Style,
    tile: Tile,
    from: &[[f32; 4]],
    to: &mut [[f32; 4]],
    stride: usize,
) {
    // In snow the shade is blue.
    let part = if style.material == Material::Snow { [1.2, 0.85, 0.4] } else { [1.0; 3] };
    let place = |v: usize, count: usize| {
        let middle = v / light.side;
        let last = count - 1;
        ([middle.saturating_sub(1).min(last), middle.min(last), (middle + 1).min(last)], v % light.side)
    };
    let phases: Vec<[f32; 3]> = (0..light.side).map(|phase| spline(phase, light.side)).collect();
    // The columns of the grid that matter here.
    let first = (tile.x / light.side).saturating_sub(1);
    let count = ((tile.x + tile.width) / light.side + 2).min(light.columns) - first;
    let mut across = vec![0.0; count];
    let rows = from.chunks_exact(tile.width.max(1)).zip(to.chunks_mut(stride.max(1)));
    for (y, (from, to)) in rows.enumerate() {
        let (rows, phase) = place(tile.y + y, light.rows);
        let [a, b, c] = rows.map(|r| &light.gain[r * light.columns + first..][..count]);
        let weights = phases[phase];
        for (i, sum) in across.iter_mut().enumerate() {
            *sum = weights[0] * a[i] + weights[1] * b[i] + weights[2] * c[i] - 1.0;
        }
        let mut x = 0;
        while x < tile.width {
            let (columns, phase) = place(tile.x + x, light.columns);
            let [a, b, c] = columns.map(|c| across[c - first]);
            let end = (x + light.side - phase).min(tile.width);
            let samples = from[x..end].iter().zip(&mut to[x..end]);
            for (weights, (from, to)) in phases[phase..].iter().zip(samples) {
                let gain = weights[0] * a + weights[1] * b + weights[2] * c;
                let lit = |k: usize| {
                    let value = from[k] * (1.0 + part[k] * gain);
                    if value < from[3] { value } else { from[3] }
                };
                *to = [lit(0), lit(1), lit(2), from[3]];
            }
            x = end;
        }
    }
}
