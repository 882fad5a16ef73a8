//! The grid of cells of one diameter: the bodies of each cell in a step, and the cells that hold grains or are solid.
//!
//! Cells are numbered in Z order, so that a block of 4 x 4 cells, and any larger such square, is one range of numbers.

use super::grain::Body;
use super::solids::Solids;
use crate::zorder;
use core::ops::{Range, RangeInclusive};

/// The border around the frame that belongs to the grid, in diameters.
pub const BORDER: f32 = 32.0;

/// The largest number of bodies of a cell that others see: four fit into a cell without overlaps.
const MOST: usize = 6;
/// In [`Cells::holds`]: the cell is solid.
const SOLID: u16 = 1 << 15;
/// In [`Cells::holds`]: something solid is less than 2 diameters from the middle of the cell.
const NEAR: u16 = 1 << 14;

/// The bodies in a cell in a step: sleepers, then awake ones.
#[derive(Clone, Copy, Debug)]
struct Cell {
    sleepers: u32,
    count: u32,
    bodies: [u32; MOST],
}

const EMPTY: Cell = Cell { sleepers: 0, count: 0, bodies: [0; MOST] };

impl Cell {
    #[inline(always)]
    fn push(&mut self, body: usize) {
        if let Some(place) = self.bodies.get_mut(self.count as usize) {
            *place = body as u32;
            self.count += 1;
        }
    }
}

/// The grid.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    size: [f32; 2],
    cells: Vec<Cell>,
    /// The number of grains at rest or awake, and the marks [`SOLID`] and [`NEAR`].
    holds: Vec<u16>,
    /// The bits of each column and row in a cell's number; the first and the last are repeated.
    columns: Vec<u32>,
    rows: Vec<u32>,
    /// The cells of awake bodies.
    with_awake: Vec<u32>,
}

/// Bodies by cell in a step.
#[derive(Clone, Copy)]
pub(super) struct Near<'a> {
    pub(super) cells: &'a Cells,
    /// Sleepers, then awake bodies.
    pub(super) bodies: &'a [Body],
    /// The number of sleepers.
    pub(super) sleepers: usize,
}

impl Near<'_> {
    /// Calls `f` with the number of each body in the cell of a place and in those around it.
    #[inline(always)]
    pub(super) fn around(&self, at: [f32; 2], mut f: impl FnMut(usize, &Body)) {
        let [x, y] = self.cells.column_row(at);
        // The branches of nested loops over so few bodies cannot be predicted: first a list of all.
        let (mut all, mut count) = ([0; 9 * MOST], 0);
        for row in &self.cells.rows[y..y + 3] {
            for column in &self.cells.columns[x..x + 3] {
                let cell = &self.cells.cells[(row | column) as usize];
                all[count] = cell.bodies[0];
                all[count + 1] = cell.bodies[1];
                if cell.count > 2 {
                    all[count + 2..count + MOST].copy_from_slice(&cell.bodies[2..]);
                }
                count += cell.count as usize;
            }
        }
        for j in all[..count].iter().map(|j| *j as usize) {
            f(j, &self.bodies[j]);
        }
    }
}

impl Cells {
    /// The grid of a frame of a size in diameters.
    pub(super) fn new(size: [f32; 2], solids: &Solids) -> Cells {
        let [w, h] = size.map(|v| (v + 2.0 * BORDER) as u16 + 1);
        let twice = |count: u16| (0..count + 2).map(move |i| i.clamp(1, count) - 1);
        // The last cell of the grid's corner has the highest number; squares of 8 x 8 cells are complete.
        let count = (zorder::number(w - 1, h - 1) as usize | 63) + 1;
        let mut cells = Cells {
            size,
            cells: vec![EMPTY; count],
            holds: vec![0; count],
            columns: twice(w).map(|x| zorder::number(x, 0)).collect(),
            rows: twice(h).map(|y| zorder::number(0, y)).collect(),
            with_awake: Vec::new(),
        };
        cells.mark(0..=cells.last()[0], 0, solids);
        cells
    }

    /// Marks what is solid in some columns, from a row downwards.
    fn mark(&mut self, columns: RangeInclusive<usize>, first: usize, solids: &Solids) {
        for (y, x) in (first..=self.last()[1]).flat_map(|y| columns.clone().map(move |x| (y, x))) {
            let middle = [x, y].map(|v| v as f32 + 0.5 - BORDER);
            let marks = match solids.distance(middle, self.size) {
                d if d < 0.0 => SOLID | NEAR,
                d if d < 2.0 => NEAR,
                _ => 0,
            };
            let number = self.cell(x, y) as usize;
            self.holds[number] = self.holds[number] & (NEAR - 1) | marks;
        }
    }

    /// Updates the marks of the floor from one place to another.
    pub(super) fn mark_floor(&mut self, [from, to]: [f32; 2], solids: &Solids) {
        let ([left, top], [right, _]) =
            (self.column_row([from, self.size[1] - 3.0]), self.column_row([to, 0.0]));
        self.mark(left..=right, top, solids);
    }

    pub(super) fn count(&self) -> u32 {
        self.cells.len() as u32
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * (size_of::<Cell>() + 2)
    }

    /// The column and row of a place in the grid.
    #[inline(always)]
    pub(super) fn column_row(&self, [x, y]: [f32; 2]) -> [usize; 2] {
        let [w, h] = self.size;
        let limit = |v: f32, most: f32| (v + BORDER).max(0.0).min(most + 2.0 * BORDER) as u32 as usize;
        [limit(x, w), limit(y, h)]
    }

    /// The number of the cell of a column and row.
    #[inline(always)]
    pub(super) fn cell(&self, x: usize, y: usize) -> u32 {
        self.columns[x + 1] | self.rows[y + 1]
    }

    /// The number of the cell of a place.
    #[inline(always)]
    pub(super) fn number(&self, at: [f32; 2]) -> u32 {
        let [x, y] = self.column_row(at);
        self.cell(x, y)
    }

    /// The last column and row.
    pub(super) fn last(&self) -> [usize; 2] {
        [self.columns.len() - 3, self.rows.len() - 3]
    }

    /// Whether something solid may be near a place.
    #[inline(always)]
    pub(super) fn is_near_solid(&self, at: [f32; 2]) -> bool {
        self.holds[self.number(at) as usize] & NEAR != 0
    }

    /// The number of grains in some cells of a column, and the number of solid cells, whose grains do not count.
    #[inline(always)]
    pub(super) fn held_in_column(&self, x: usize, rows: Range<usize>) -> (u32, u32) {
        let column = self.columns[x + 1];
        let (mut grains, mut solid) = (0, 0);
        for row in &self.rows[rows.start + 1..rows.end + 1] {
            let holds = self.holds[(column | row) as usize];
            let is_solid = u32::from(holds >> 15);
            grains += u32::from(holds & (NEAR - 1)) * (1 - is_solid);
            solid += is_solid;
        }
        (grains, solid)
    }

    /// Whether a block holds grains, and whether something solid is in it or near.
    #[inline(always)]
    pub(super) fn block_holds(&self, block: u32) -> (bool, bool) {
        let first = 16 * block as usize;
        let all = self.holds[first..first + 16].iter().fold(0, |all, holds| all | holds);
        (all & (NEAR - 1) != 0, all & NEAR != 0)
    }

    /// Counts a grain of a cell.
    pub(super) fn enter(&mut self, cell: u32) {
        let holds = &mut self.holds[cell as usize];
        *holds += u16::from(*holds & (NEAR - 1) < NEAR - 1);
    }

    /// Removes a grain from the count.
    pub(super) fn leave(&mut self, cell: u32) {
        let holds = &mut self.holds[cell as usize];
        *holds -= u16::from(*holds & (NEAR - 1) > 0);
    }

    /// Resets the counts of grains.
    pub(super) fn clear(&mut self) {
        self.holds.iter_mut().for_each(|holds| *holds &= SOLID | NEAR);
    }

    /// Adds a sleeper to a cell.
    #[inline(always)]
    pub(super) fn add_sleeper(&mut self, cell: u32, number: usize) {
        let cell = &mut self.cells[cell as usize];
        cell.push(number);
        cell.sleepers = cell.count;
    }

    /// Removes the sleepers of a block from its cells.
    pub(super) fn forget_sleepers(&mut self, block: u32) {
        let first = 16 * block as usize;
        self.cells[first..first + 16].fill(EMPTY);
    }

    /// Adds awake bodies, numbered from `first` on, to their cells.
    pub(super) fn add_awake(&mut self, bodies: &[Body], first: usize) {
        for (i, body) in (first..).zip(bodies) {
            let number = self.number(body.at);
            self.with_awake.push(number);
            self.cells[number as usize].push(i);
        }
    }

    /// Removes all awake bodies from their cells.
    pub(super) fn forget_awake(&mut self) {
        for number in self.with_awake.drain(..) {
            let cell = &mut self.cells[number as usize];
            cell.count = cell.sleepers;
        }
    }

    /// The blocks from one place to another and around.
    pub(super) fn blocks_between(&self, from: [f32; 2], to: [f32; 2]) -> impl Iterator<Item = u32> + use<'_> {
        const AROUND: f32 = 1.5;
        let [left, top] = self.column_row([0, 1].map(|a: usize| from[a].min(to[a]) - AROUND));
        let [right, bottom] = self.column_row([0, 1].map(|a: usize| from[a].max(to[a]) + AROUND));
        self.blocks([left, top], [right, bottom])
    }

    /// A block and the eight around it.
    pub(super) fn blocks_around(&self, block: u32) -> impl Iterator<Item = u32> + use<'_> {
        let (x, y) = zorder::position(block);
        let [x, y] = [x, y].map(|v| 4 * usize::from(v));
        let [right, bottom] = self.last();
        self.blocks([x, y].map(|v| v.max(4) - 4), [(x + 4).min(right), (y + 4).min(bottom)])
    }

    /// The blocks from one column and row to another.
    fn blocks(&self, from: [usize; 2], to: [usize; 2]) -> impl Iterator<Item = u32> + use<'_> {
        (from[1] / 4..=to[1] / 4)
            .flat_map(move |y| (from[0] / 4..=to[0] / 4).map(move |x| self.cell(4 * x, 4 * y) / 16))
    }
}

/// Whether a place is in the frame or its border, where grains are kept.
pub(super) fn is_inside([x, y]: [f32; 2], size: [f32; 2]) -> bool {
    const IN: f32 = 3.0;
    x > IN - BORDER && x < size[0] + BORDER - IN && y > IN - BORDER && y < size[1] + BORDER - IN
}
