//! Rectangles of cells, and their blur.

/// Cubic B-spline.
const SPLINE: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// A rectangle of cells of an endless grid.
#[derive(Default)]
pub(super) struct Grid<const N: usize> {
    pub(super) x: isize,
    pub(super) y: isize,
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) cells: Vec<[f32; N]>,
}

impl<const N: usize> Grid<N> {
    pub(super) fn reset(&mut self, x: isize, y: isize, columns: usize, rows: usize) {
        (self.x, self.y, self.columns, self.rows) = (x, y, columns, rows);
        self.cells.clear();
        self.cells.resize(columns * rows, [0.0; N]);
    }

    /// The `count` cells from a place on.
    #[inline(always)]
    pub(super) fn row(&self, x: isize, y: isize, count: usize) -> &[[f32; N]] {
        &self.cells[(y - self.y) as usize * self.columns + (x - self.x) as usize..][..count]
    }

    /// Blurs with a cubic B-spline whose taps are `step` cells apart, and drops the cells for which some are missing.
    #[inline(always)]
    pub(super) fn blur(&mut self, spare: &mut Self, step: usize) {
        let lost = 2 * step;
        let columns = self.columns - 2 * lost;
        spare.reset(self.x + lost as isize, self.y, columns, self.rows);
        for (to, from) in spare.cells.chunks_exact_mut(columns).zip(self.cells.chunks_exact(self.columns)) {
            for (k, tap) in SPLINE.iter().enumerate() {
                for (cell, from) in to.iter_mut().zip(&from[k * step..]) {
                    for n in 0..N {
                        cell[n] += tap * from[n];
                    }
                }
            }
        }
        let rows = self.rows - 2 * lost;
        self.reset(spare.x, spare.y + lost as isize, columns, rows);
        for (j, to) in self.cells.chunks_exact_mut(columns).enumerate() {
            for (k, tap) in SPLINE.iter().enumerate() {
                for (cell, from) in to.iter_mut().zip(&spare.cells[(j + k * step) * columns..]) {
                    for n in 0..N {
                        cell[n] += tap * from[n];
                    }
                }
            }
        }
    }

    /// Repeats the cells from 0 to `last` around them.
    pub(super) fn extend(&mut self, last: [isize; 2]) {
        let Grid { x, y, columns, rows, ref mut cells } = *self;
        let inside = |from: isize, count: usize, last: isize| {
            (-from).max(0) as usize..((last + 1 - from).max(0) as usize).min(count)
        };
        let (across, down) = (inside(x, columns, last[0]), inside(y, rows, last[1]));
        for row in cells.chunks_exact_mut(columns) {
            let (left, right) = (row[across.start], row[across.end - 1]);
            row[..across.start].fill(left);
            row[across.end..].fill(right);
        }
        for j in (0..down.start).chain(down.end..rows) {
            let from = j.clamp(down.start, down.end - 1) * columns;
            cells.copy_within(from..from + columns, j * columns);
        }
    }
}

/// Blurs rows of `columns` cells with taps `step` apart; the border is repeated.
pub(super) fn blurred(cells: &[f32], columns: usize, step: usize) -> Vec<f32> {
    let (rows, pad) = (cells.len() / columns, 2 * step);
    let mut grid = Grid::<1>::default();
    grid.reset(-(pad as isize), -(pad as isize), columns + 2 * pad, rows + 2 * pad);
    for (to, from) in
        grid.cells.chunks_exact_mut(columns + 2 * pad).skip(pad).zip(cells.chunks_exact(columns))
    {
        to[pad..].iter_mut().zip(from).for_each(|(to, from)| *to = [*from]);
    }
    grid.extend([columns as isize - 1, rows as isize - 1]);
    grid.blur(&mut Grid::default(), step);
    grid.cells.into_iter().map(|[cell]| cell).collect()
}
