//! Smooth fields around one tile, made from the grains near it.

use super::grid::Grid;
use super::{GrainPoint, LARGER, LARGEST_CELL, Style, Tile, cell_size, spline};

/// Channels of a field's cell: covered part, R'G'B' times covered part, slope towards the light, covered part around.
pub(super) type Cell = [f32; 8];
pub(super) const DENSITY: usize = 0;
pub(super) const RELIEF: usize = 4;
pub(super) const DEEP: usize = 5;

/// Cells around those of the samples that the blurs and the slope need.
const MARGIN: isize = 6;

/// Distance in samples beyond the nearest grains within which grains matter: the cells of a sample's neighbours, the
/// margin, and the cell into which a grain's mass may spread.
pub(super) fn reach(radius: f32) -> f32 {
    (cell_size(radius) * (MARGIN as usize + 4)) as f32
}

/// The fields of a tile.
#[derive(Default)]
pub(super) struct Field {
    side: usize,
    x: isize,
    y: isize,
    columns: usize,
    cells: Vec<Cell>,
    across: Vec<Cell>,
    mass: Grid<4>,
    deep: Grid<1>,
    spare: (Grid<4>, Grid<1>),
}

impl Field {
    /// Computes the fields for the samples within `near` of a tile; `grains` are in the order of their numbers.
    #[inline(always)]
    pub(super) fn prepare(&mut self, style: &Style, tile: &Tile, near: f32, grains: &[GrainPoint]) {
        self.side = cell_size(style.radius);
        let (side, near) = (self.side as isize, near as isize);
        let first = |v: usize| (v as isize - near).div_euclid(side) - 1;
        let count = |v: usize, n: usize| ((v + n) as isize + near).div_euclid(side) + 2 - first(v);
        (self.x, self.y) = (first(tile.x), first(tile.y));
        self.columns = count(tile.x, tile.width) as usize;
        let rows = count(tile.y, tile.height) as usize;
        let more = 2 * MARGIN as usize;
        self.mass.reset(self.x - MARGIN, self.y - MARGIN, self.columns + more, rows + more);
        // Around the picture its edge is repeated.
        let last = style.size.map(|v| (v / self.side).max(1) as isize - 1);
        for grain in grains {
            self.add(grain, LARGER * style.radius, last);
        }
        self.mass.extend(last);
        self.mass.blur(&mut self.spare.0, 1);
        let Grid { x, y, columns, rows: all, .. } = self.mass;
        self.deep.reset(x, y, columns, all);
        self.deep.cells.iter_mut().zip(&self.mass.cells).for_each(|(to, from)| to[0] = from[0]);
        self.deep.blur(&mut self.spare.1, 2);
        let [lx, ly] = style.light;
        self.cells.clear();
        for y in self.y..self.y + rows as isize {
            let above = self.mass.row(self.x, y - 1, self.columns);
            let here = self.mass.row(self.x - 1, y, self.columns + 2);
            let below = self.mass.row(self.x, y + 1, self.columns);
            let deep = self.deep.row(self.x, y, self.columns);
            self.cells.extend((0..self.columns).map(|i| {
                let [d, r, g, b] = here[i + 1];
                let relief = (here[i][0] - here[i + 2][0]) * lx + (above[i][0] - below[i][0]) * ly;
                [d, r, g, b, relief, deep[i][0], 0.0, 0.0]
            }));
        }
    }

    /// Adds a grain to the four cells around it, or to the nearest ones in the picture.
    #[inline(always)]
    fn add(&mut self, grain: &GrainPoint, largest: f32, last: [isize; 2]) {
        let inverse = 1.0 / self.side as f32;
        let (u, v) = (grain.x * inverse - 0.5, grain.y * inverse - 0.5);
        let inside = u > -1.0 && v > -1.0 && u < (last[0] + 2) as f32 && v < (last[1] + 2) as f32;
        let radius = grain.radius.min(largest);
        let [r, g, b] = grain.rgb.map(|c| c.clamp(0.0, 1.0));
        let area = core::f32::consts::PI * radius * radius * inverse * inverse;
        if !(inside && grain.radius > 0.0 && area * (r + g + b) >= 0.0) {
            return;
        }
        let (i, j) = (u.floor(), v.floor());
        let (fx, fy) = (u - i, v - j);
        let mass = [area, area * r, area * g, area * b];
        for (dj, wy) in [(0, 1.0 - fy), (1, fy)] {
            let y = (j as isize + dj).clamp(0, last[1]) - self.mass.y;
            for (di, wx) in [(0, 1.0 - fx), (1, fx)] {
                let x = (i as isize + di).clamp(0, last[0]) - self.mass.x;
                if (0..self.mass.columns as isize).contains(&x) && (0..self.mass.rows as isize).contains(&y) {
                    let cell = &mut self.mass.cells[y as usize * self.mass.columns + x as usize];
                    for (cell, mass) in cell.iter_mut().zip(mass) {
                        *cell += wx * wy * mass;
                    }
                }
            }
        }
    }

    /// Replaces the fields of each cell.
    #[inline(always)]
    pub(super) fn map(&mut self, mut change: impl FnMut(&Cell) -> Cell) {
        for cell in &mut self.cells {
            *cell = change(cell);
        }
    }

    /// Calls `write` with the fields of each sample of a row of the tile.
    #[inline(always)]
    pub(super) fn row(&mut self, tile: &Tile, y: usize, mut write: impl FnMut(usize, &Cell)) {
        let side = self.side;
        let phases: [[f32; 3]; LARGEST_CELL] =
            core::array::from_fn(|phase| spline(phase.min(side - 1), side));
        let y = tile.y + y;
        let wy = phases[y % side];
        let top = ((y / side) as isize - 1 - self.y) as usize * self.columns;
        self.across.clear();
        for i in top..top + self.columns {
            let rows = [&self.cells[i], &self.cells[i + self.columns], &self.cells[i + 2 * self.columns]];
            self.across
                .push(core::array::from_fn(|k| wy[0] * rows[0][k] + wy[1] * rows[1][k] + wy[2] * rows[2][k]));
        }
        let (mut phase, mut left) = (tile.x % side, ((tile.x / side) as isize - 1 - self.x) as usize);
        for x in 0..tile.width {
            let wx = phases[phase];
            let c = &self.across[left..left + 3];
            let sample: Cell = core::array::from_fn(|k| wx[0] * c[0][k] + wx[1] * c[1][k] + wx[2] * c[2][k]);
            write(x, &sample);
            phase += 1;
            if phase == side {
                (phase, left) = (0, left + 1);
            }
        }
    }

    /// The cell in which a point within `near` of the tile lies.
    #[inline(always)]
    pub(super) fn cell(&self, x: f32, y: f32) -> &Cell {
        let side = self.side as f32;
        let (i, j) = ((x / side).floor() as isize - self.x, (y / side).floor() as isize - self.y);
        &self.cells[j as usize * self.columns + i as usize]
    }
}
