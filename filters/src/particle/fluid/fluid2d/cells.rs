//! The cells of the fluid, and its parcels in their order: by cell, row by row, then by number.

use super::{LANES, MIN_SHARE, run, split};
use crate::host::Executor;
use crate::simd::{Level, multiversion};
use core::ops::Range;

/// Cells are larger than the radius by this fraction, so that rounding does not put a pair within the radius into cells
/// that are not adjacent: a place in cells is below 2^12, so that it is off by 2^-13 at most.
const MARGIN: f32 = 1.0 / 1024.0;
/// The largest number of cells, and of columns or rows.
const MAX_CELLS: usize = 1 << 23;
const MAX_ALONG: usize = 1 << 12;
/// The number of parcels of a cell up to which they are sorted by insertion.
const FEW: usize = 32;

/// Square cells over the box, numbered row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    inv: f32,
    size: [usize; 2],
}

impl Cells {
    /// Cells such that all parcels within the radius are in the same or an adjacent cell. `None` if there would be too
    /// many.
    pub(super) fn new(size: [f32; 2], radius: f32) -> Option<Cells> {
        let inv = 1.0 / (radius * (1.0 + MARGIN));
        let size = size.map(|v| (v * inv) as usize + 1);
        let fits = size.iter().all(|n| *n <= MAX_ALONG) && size[0] * size[1] <= MAX_CELLS;
        fits.then_some(Cells { inv, size })
    }
}

multiversion! {
    /// The cells of positions within the box.
    fn number(level, cells: Cells, x: &[f32], y: &[f32], out: &mut [u32]) = number_body;
}

#[inline(always)]
fn number_body(cells: Cells, x: &[f32], y: &[f32], out: &mut [u32]) {
    let n = out.len();
    let (x, y) = (&x[..n], &y[..n]);
    let [w, h] = cells.size.map(|n| n as i32);
    for i in 0..n {
        // Positions are within the box, so these conversions fit.
        let at = |v: f32, most: i32| crate::particle::whole(v * cells.inv, 0, most);
        out[i] = (at(y[i], h - 1) * w + at(x[i], w - 1)) as u32;
    }
}

/// Parcels, one column per field; float columns have [`LANES`] more entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<u32>,
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    pub(super) vx: Vec<f32>,
    pub(super) vy: Vec<f32>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    fn floats(&mut self) -> [&mut Vec<f32>; 4] {
        [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy]
    }

    /// New parcels after the last: position and velocity.
    pub(super) fn extend(&mut self, new: &[[f32; 4]]) {
        let n = self.len();
        self.ids.extend((n..n + new.len()).map(|id| id as u32));
        for (k, column) in self.floats().into_iter().enumerate() {
            column.truncate(n);
            column.extend(new.iter().map(|p| p[k]));
            column.resize(n + new.len() + LANES, 0.0);
        }
    }
}

/// The data for sorting parcels.
#[derive(Clone, Debug)]
pub(super) struct Order {
    cells: Cells,
    /// Where the parcels of each cell begin, and where the last ends; one more is room for counting.
    starts: Vec<u32>,
    /// The cell of each parcel in order, and before it was put in order.
    held: Vec<u32>,
    goal: Vec<u32>,
    /// Where each parcel in order was before.
    from: Vec<u32>,
    /// The columns before, or room for those to come.
    spare: Columns,
    /// Rows of cells with enough parcels for a task, and those parcels.
    rows: Vec<Range<usize>>,
    parts: Vec<Range<usize>>,
}

impl Order {
    pub(super) fn new(cells: Cells) -> Order {
        Order {
            cells,
            starts: Vec::new(),
            held: Vec::new(),
            goal: Vec::new(),
            from: Vec::new(),
            spare: Columns::default(),
            rows: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Cells across and down.
    pub(super) fn size(&self) -> [usize; 2] {
        self.cells.size
    }

    /// Where the parcels of each cell begin, and where the last ends.
    pub(super) fn starts(&self) -> &[u32] {
        let [w, h] = self.cells.size;
        &self.starts[..=w * h]
    }

    /// The cell of each parcel.
    pub(super) fn cells(&self) -> &[u32] {
        &self.held
    }

    /// Stretches of rows of cells with enough parcels for a task, and those parcels.
    pub(super) fn parts(&self) -> (&[Range<usize>], &[Range<usize>]) {
        (&self.rows, &self.parts)
    }

    /// The parcels of the rows that lie one below a stretch of rows.
    pub(super) fn below(&self, rows: &Range<usize>) -> Range<usize> {
        let [w, h] = self.cells.size;
        let at = |j: usize| self.starts[j.min(h) * w] as usize;
        at(rows.start + 1)..at(rows.end + 1)
    }

    /// Puts columns in order: a stable counting sort by cell. Parcels of a cell mostly are in order of number already.
    pub(super) fn sort_by_cell(&mut self, now: &mut Columns, level: Level, executor: &dyn Executor) {
        let n = now.len();
        let [w, h] = self.cells.size;
        for v in [&mut self.held, &mut self.goal, &mut self.from] {
            v.resize(n, 0);
        }
        self.spare.ids.resize(n, 0);
        for column in self.spare.floats() {
            column.resize(n + LANES, 0.0);
        }
        number(level, self.cells, &now.x, &now.y, &mut self.goal);
        self.starts.clear();
        self.starts.resize(w * h + 2, 0);
        // Counts are offset by two: after the prefix sum, entry cell + 1 is the position at which the next parcel of the
        // cell is written, and in the end the start of the next cell.
        for cell in &self.goal {
            self.starts[*cell as usize + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        for (i, cell) in self.goal.iter().enumerate() {
            let to = &mut self.starts[*cell as usize + 1];
            self.from[*to as usize] = i as u32;
            *to += 1;
        }
        self.cut();
        let parts = &self.parts;
        let Columns { ids, x, y, vx, vy } = &mut self.spare;
        let floats =
            split(x, parts).into_iter().zip(split(y, parts)).zip(split(vx, parts)).zip(split(vy, parts));
        let jobs = split(&mut self.from, parts).into_iter().zip(split(&mut self.held, parts));
        let jobs = jobs.zip(split(ids, parts)).zip(floats).collect();
        let (old, goal) = (&*now, &self.goal);
        run(executor, jobs, |(((from, held), ids), (((x, y), vx), vy))| {
            for ((i, held), id) in from.iter().zip(held.iter_mut()).zip(ids.iter_mut()) {
                (*held, *id) = (goal[*i as usize], old.ids[*i as usize]);
            }
            in_order(held, ids, from);
            for (k, i) in from.iter().enumerate() {
                let i = *i as usize;
                (x[k], y[k], vx[k], vy[k]) = (old.x[i], old.y[i], old.vx[i], old.vy[i]);
            }
        });
        core::mem::swap(now, &mut self.spare);
    }

    /// Cuts the rows into stretches of enough parcels.
    fn cut(&mut self) {
        let [w, h] = self.cells.size;
        self.rows.clear();
        self.parts.clear();
        let mut from = 0;
        for j in 1..=h {
            let part = self.starts[from * w] as usize..self.starts[j * w] as usize;
            if part.len() >= MIN_SHARE || j == h {
                self.rows.push(from..j);
                self.parts.push(part);
                from = j;
            }
        }
    }
}

/// Puts the parcels of each cell, which follow each other, in order of their numbers, and `from` in the same order.
fn in_order(held: &[u32], ids: &mut [u32], from: &mut [u32]) {
    let mut k = 1;
    while k < held.len() {
        if held[k - 1] != held[k] || ids[k - 1] <= ids[k] {
            k += 1;
            continue;
        }
        // The parcels of this cell up to here are in order.
        let start = held[..k].iter().rposition(|cell| *cell != held[k]).map_or(0, |i| i + 1);
        let end = held[k..].iter().position(|cell| *cell != held[k]).map_or(held.len(), |n| k + n);
        let (ids, from) = (&mut ids[start..end], &mut from[start..end]);
        if ids.len() > FEW {
            let mut cell: Vec<(u32, u32)> = ids.iter().copied().zip(from.iter().copied()).collect();
            cell.sort_unstable();
            for ((id, i), own) in ids.iter_mut().zip(from).zip(cell) {
                (*id, *i) = own;
            }
        } else {
            for i in 1..ids.len() {
                let (own, mut to) = ((ids[i], from[i]), i);
                while to > 0 && ids[to - 1] > own.0 {
                    (ids[to], from[to]) = (ids[to - 1], from[to - 1]);
                    to -= 1;
                }
                (ids[to], from[to]) = own;
            }
        }
        k = end;
    }
}
