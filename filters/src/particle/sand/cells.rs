//! The grid of cells of one diameter: who is in each cell during a step, and which blocks of cells hold grains.
//!
//! Cells are numbered in Z order, so that 8 x 8 cells (a block) and any larger square of them are one range of numbers.

use super::grain::Body;
use super::solids::Solids;
use crate::zorder;

/// The border around the frame that belongs to the grid, in diameters.
pub const BORDER: f32 = 16.0;

/// No body.
pub(super) const NONE: u32 = u32::MAX;

/// How solid a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Wall {
    /// No obstacle is near.
    #[default]
    Far,
    /// The surface of an obstacle may be in it or next to it.
    Near,
    /// It is solid.
    Solid,
}

/// A cell in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Its sleeping grains: a range of the step's list.
    pub(super) sleepers: [u32; 2],
    /// The first of its awake grains, or [`NONE`]; the others follow by links.
    pub(super) awake: u32,
    /// The number of awake grains at the start of the step.
    pub(super) count: u16,
    pub(super) wall: Wall,
}

const EMPTY: Cell = Cell { sleepers: [0; 2], awake: NONE, count: 0, wall: Wall::Far };

/// The grid.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    size: [f32; 2],
    cells: Vec<Cell>,
    /// The cells of linked bodies.
    linked: Vec<u32>,
    /// Grains at rest or awake, by block.
    pub(super) held: Vec<u32>,
    /// Blocks in which, or next to which, there is something solid.
    pub(super) solid: Vec<bool>,
}

impl Cells {
    /// The grid of a frame of a size in diameters.
    pub(super) fn new(size: [f32; 2], solids: &Solids) -> Cells {
        let [w, h] = size.map(|v| (v + 2.0 * BORDER) as u32 + 1);
        // The last cell of the grid's corner has the highest number.
        let blocks = (zorder::number(w as u16 - 1, h as u16 - 1) as usize >> 6) + 1;
        let mut grid = Cells {
            size,
            cells: vec![EMPTY; 64 * blocks],
            linked: Vec::new(),
            held: vec![0; blocks],
            solid: vec![false; blocks],
        };
        for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
            let middle = [x as f32 + 0.5 - BORDER, y as f32 + 0.5 - BORDER];
            let near = solids.obstacle.as_ref().is_some_and(|o| o.at(middle[0], middle[1]).0 < 2.0);
            let wall = match (solids.fills(middle, size), near) {
                (true, _) => Wall::Solid,
                (_, true) => Wall::Near,
                _ => continue,
            };
            let cell = zorder::number(x as u16, y as u16);
            grid.cells[cell as usize].wall = wall;
            grid.solid[cell as usize >> 6] = true;
        }
        grid
    }

    pub(super) fn count(&self) -> u32 {
        self.cells.len() as u32
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.held.len() * 5
    }

    /// The column and row of a place in the grid.
    #[inline(always)]
    pub(super) fn column_row(&self, [x, y]: [f32; 2]) -> [u32; 2] {
        let [w, h] = self.size;
        let limit = |v: f32, most: f32| (v + BORDER).max(0.0).min(most + 2.0 * BORDER) as u32;
        [limit(x, w), limit(y, h)]
    }

    /// The number of the cell of a place.
    #[inline(always)]
    pub(super) fn number(&self, at: [f32; 2]) -> u32 {
        let [x, y] = self.column_row(at);
        zorder::number(x as u16, y as u16)
    }

    /// Whether the surface of an obstacle may be near a place.
    #[inline(always)]
    pub(super) fn is_near_wall(&self, at: [f32; 2]) -> bool {
        self.wall(at) != Wall::Far
    }

    #[inline(always)]
    fn wall(&self, at: [f32; 2]) -> Wall {
        self.cells[self.number(at) as usize].wall
    }

    #[inline(always)]
    pub(super) fn at(&self, x: u32, y: u32) -> &Cell {
        static OUTSIDE: Cell = EMPTY;
        self.cells.get(zorder::number(x as u16, y as u16) as usize).unwrap_or(&OUTSIDE)
    }

    pub(super) fn cell_mut(&mut self, number: u32) -> &mut Cell {
        &mut self.cells[number as usize]
    }

    /// Calls `f` with each cell around a place, and its own.
    #[inline(always)]
    pub(super) fn around(&self, at: [f32; 2], mut f: impl FnMut(&Cell)) {
        let [x, y] = self.column_row(at);
        for v in y.max(1) - 1..=y + 1 {
            for u in x.max(1) - 1..=x + 1 {
                f(self.at(u, v));
            }
        }
    }

    /// Enters the awake bodies, so that each cell lists its own in ascending order.
    pub(super) fn link(&mut self, bodies: &[Body], links: &mut Vec<u32>) {
        links.clear();
        links.resize(bodies.len(), NONE);
        for i in (0..bodies.len()).rev() {
            self.link_one(bodies, links, i);
        }
    }

    /// Enters body `i` before all others of its cell.
    pub(super) fn link_one(&mut self, bodies: &[Body], links: &mut [u32], i: usize) {
        let number = self.number(bodies[i].at);
        self.linked.push(number);
        links[i] = core::mem::replace(&mut self.cells[number as usize].awake, i as u32);
    }

    /// Takes them all out again.
    pub(super) fn unlink(&mut self) {
        for number in self.linked.drain(..) {
            self.cells[number as usize].awake = NONE;
        }
    }

    /// The blocks from one place to another and around, those beyond the grid left out.
    pub(super) fn blocks_between(&self, from: [f32; 2], to: [f32; 2]) -> impl Iterator<Item = u32> + use<> {
        const AROUND: f32 = 1.5;
        let low = self.column_row([0, 1].map(|a: usize| from[a].min(to[a]) - AROUND)).map(|v| v >> 3);
        let high = self.column_row([0, 1].map(|a: usize| from[a].max(to[a]) + AROUND)).map(|v| v >> 3);
        let count = self.held.len() as u32;
        let all = (low[1]..=high[1])
            .flat_map(move |y| (low[0]..=high[0]).map(move |x| zorder::number(x as u16, y as u16)));
        all.filter(move |b| *b < count)
    }

    /// A block and the eight around it, those beyond the grid left out.
    pub(super) fn blocks_around(&self, block: u32) -> impl Iterator<Item = u32> + use<> {
        let (x, y) = zorder::position(block);
        let (x, y) = (u32::from(x), u32::from(y));
        let count = self.held.len() as u32;
        let all = (y.max(1) - 1..=y + 1)
            .flat_map(move |v| (x.max(1) - 1..=x + 1).map(move |u| zorder::number(u as u16, v as u16)));
        all.filter(move |b| *b < count)
    }
}

/// Whether a place is where grains are kept: the frame and a border.
pub(super) fn is_inside([x, y]: [f32; 2], size: [f32; 2]) -> bool {
    const IN: f32 = 3.0;
    x > IN - BORDER && x < size[0] + BORDER - IN && y > IN - BORDER && y < size[1] + BORDER - IN
}
