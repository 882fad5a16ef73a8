//! The uniform grid: which cell a place lies in, and where the parcels of a cell are.

use super::FluidError;
use super::list::LANES;
use crate::morton;
use crate::pma::{Batch, Bounds, Pma};
use crate::simd::Level;
use grainfield_filters::pma::{Ranked, Slot};

/// The most cells (powers of two along each axis) of a dense table; larger domains, and those without end, store
/// only the cells that are not empty, in a packed memory array.
const DENSE: u64 = 1 << 23;
/// Cells are larger than requested by this fraction, so that rounding does not put a pair within the radius into
/// cells that are not adjacent.
const MARGIN: f64 = 1.0 / 4096.0;
/// Cells of an unbounded domain are within this limit along each axis.
const FAR: i32 = 1 << 20;

/// A uniform grid of cubes, numbered along a Z-curve.
///
/// In a dense grid the curve takes bits only from axes that still have some, so that a box of 354 x 94 x 55 cells has
/// 2^22 numbers and not 2^27. Bit 0 is always x's: cells `2k` and `2k+1` of a row have neighbouring numbers.
#[derive(Clone, Debug)]
pub struct Grid {
    inv: f64,
    size: [u32; 3],
    /// Along each axis, the bits a coordinate adds to the number; empty for a domain without end.
    axes: [Vec<u32>; 3],
    numbers: u64,
}

impl Grid {
    /// A grid of cells of the given size over the box from 0 to `domain` (and its border beyond: what lies outside is
    /// filed in the nearest cell), dense if it is small enough. `cell` must be above 0.
    pub fn new(domain: [f32; 3], cell: f32) -> Grid {
        let inv = 1.0 / (f64::from(cell) * (1.0 + MARGIN));
        let size = domain.map(|d| ((f64::from(d) * inv) as u32).saturating_add(1));
        let mut bits = size.map(|n| (n.max(1) - 1).checked_ilog2().map_or(0, |b| b + 1));
        bits[0] = bits[0].max(1);
        let all: u32 = bits.iter().sum();
        if all > DENSE.ilog2() {
            return Grid::open(cell);
        }
        let mut axes = size.map(|n| vec![0u32; n as usize]);
        let mut to = 0;
        for bit in 0..*bits.iter().max().unwrap_or(&0) {
            for (axis, table) in axes.iter_mut().enumerate() {
                if bit < bits[axis] {
                    table.iter_mut().enumerate().for_each(|(c, n)| *n |= ((c as u32 >> bit) & 1) << to);
                    to += 1;
                }
            }
        }
        Grid { inv, size, axes, numbers: 1 << all }
    }

    /// A grid without end (2^20 cells to each side of 0; what lies beyond is filed at the border).
    pub fn open(cell: f32) -> Grid {
        let inv = 1.0 / (f64::from(cell) * (1.0 + MARGIN));
        Grid { inv, size: [0; 3], axes: Default::default(), numbers: 0 }
    }

    /// Whether the grid has a dense table.
    pub fn is_dense(&self) -> bool {
        self.numbers != 0
    }

    /// The cell numbers of a dense grid are below this. 0 for an unbounded grid.
    pub fn numbers(&self) -> u32 {
        self.numbers as u32
    }

    /// Cells along each axis of a dense grid.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// The cell of a place.
    #[inline(always)]
    pub fn cell(&self, pos: [f32; 3]) -> [i32; 3] {
        if self.is_dense() {
            // The cast takes negative numbers to 0, as required.
            core::array::from_fn(|a| ((f64::from(pos[a]) * self.inv) as u32).min(self.size[a] - 1) as i32)
        } else {
            pos.map(|v| {
                let c = f64::from(v) * self.inv;
                let whole = c as i32;
                (whole.saturating_sub(i32::from(f64::from(whole) > c))).clamp(-FAR, FAR - 1)
            })
        }
    }

    /// Where in its cell a place lies, 0 to 1 along each axis.
    pub fn within(&self, pos: [f32; 3], cell: [i32; 3]) -> [f64; 3] {
        core::array::from_fn(|a| f64::from(pos[a]) * self.inv - f64::from(cell[a]))
    }

    /// The number of a cell; `None` outside the grid.
    #[inline(always)]
    pub fn number(&self, cell: [i32; 3]) -> Option<u64> {
        if self.is_dense() {
            let bits = |a: usize| self.axes[a].get(cell[a] as usize).copied();
            Some(u64::from(bits(0)? | bits(1)? | bits(2)?))
        } else {
            let inside = cell.iter().all(|c| (-FAR..FAR).contains(c));
            inside.then(|| morton::cell3(cell))
        }
    }
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its coordinates.
    pub cell: [i32; 3],
    /// The place of its first parcel in the layout.
    pub first: u32,
    /// The number of its parcels.
    pub len: u32,
}

/// The first place and the number of places of a cell, as a payload.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u32,
    len: u32,
}

impl Ranked for Run {
    type Rank = ();
    fn rank(&self) {}
}

#[derive(Clone)]
enum Table {
    Dense(Vec<Run>),
    Packed(Box<(Pma<u64, Run>, Batch<u64, Run>)>),
}

/// Places in the order of the grid's cells, and where each cell begins.
///
/// The coordinates have [`LANES`] more entries than there are parcels, so that a vector can be read from anywhere.
#[derive(Clone)]
pub struct Layout {
    grid: Grid,
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    pub(super) z: Vec<f32>,
    held: Vec<Held>,
    numbers: Vec<u64>,
    table: Table,
}

impl Layout {
    /// An empty layout.
    ///
    /// # Errors
    /// What the packed memory array of a grid without end refuses.
    pub fn new(grid: Grid, level: Level) -> Result<Layout, FluidError> {
        let table = if grid.is_dense() {
            Table::Dense(vec![Run::default(); grid.numbers as usize])
        } else {
            Table::Packed(Box::new((Pma::new(Bounds::PAPER, level)?, Batch::default())))
        };
        let (x, y, z) = (vec![0.0; LANES], vec![0.0; LANES], vec![0.0; LANES]);
        Ok(Layout { grid, x, y, z, held: Vec::new(), numbers: Vec::new(), table })
    }

    /// A layout of the places given, and the order they were put in: entry `i` of the layout is place `order[i]`.
    /// Places of one cell keep their order.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn of(grid: Grid, places: &[[f32; 3]], level: Level) -> Result<(Layout, Vec<u32>), FluidError> {
        let mut keys: Vec<(u64, u32)> =
            (0..).zip(places).map(|(i, p)| (grid.number(grid.cell(*p)).unwrap_or(0), i)).collect();
        keys.sort_unstable();
        let mut layout = Layout::new(grid, level)?;
        layout.fill(keys.iter().map(|(number, i)| (*number, places[*i as usize])))?;
        Ok((layout, keys.iter().map(|k| k.1).collect()))
    }

    /// Takes over places, with their cells' numbers, which must not fall.
    pub(super) fn fill(&mut self, places: impl Iterator<Item = (u64, [f32; 3])>) -> Result<(), FluidError> {
        self.begin();
        let mut last = None;
        for (number, pos) in places {
            let at = self.x.len() as u32;
            if last != Some(number) {
                last = Some(number);
                self.numbers.push(number);
                self.held.push(Held { cell: self.grid.cell(pos), first: at, len: 0 });
            }
            if let Some(held) = self.held.last_mut() {
                held.len += 1;
            }
            self.x.push(pos[0]);
            self.y.push(pos[1]);
            self.z.push(pos[2]);
        }
        self.end()
    }

    fn begin(&mut self) {
        if let Table::Dense(runs) = &mut self.table {
            // Only what was set is cleared: the table may be much larger than the fluid.
            self.numbers.iter().for_each(|n| runs[*n as usize] = Run::default());
        }
        for v in [&mut self.x, &mut self.y, &mut self.z] {
            v.clear();
        }
        self.held.clear();
        // The packed array is compared with the new numbers and needs no old ones.
        self.numbers.clear();
    }

    fn end(&mut self) -> Result<(), FluidError> {
        for v in [&mut self.x, &mut self.y, &mut self.z] {
            v.extend([0.0; LANES]);
        }
        let new = self.numbers.iter().zip(&self.held).map(|(n, h)| (*n, Run { first: h.first, len: h.len }));
        match &mut self.table {
            Table::Dense(runs) => new.for_each(|(n, run)| runs[n as usize] = run),
            Table::Packed(table) => {
                let (cells, batch) = &mut **table;
                batch.clear();
                let mut new = new.peekable();
                // Both rise: cells that are no longer held go, cells not held before come.
                for slot in cells.held_slots() {
                    let Some((number, _)) = cells.get(slot) else { continue };
                    while let Some(item) = new.next_if(|n| n.0 < number) {
                        batch.inserts.push(item);
                    }
                    if new.next_if(|n| n.0 == number).is_none() {
                        batch.removes.push(slot);
                    }
                }
                batch.inserts.extend(new);
                cells.apply(batch, &grainfield_filters::host::CurrentThread)?;
                let mut held = self.held.iter();
                cells.for_each_mut(|_, _, run| {
                    if let Some(h) = held.next() {
                        *run = Run { first: h.first, len: h.len };
                    }
                });
            }
        }
        Ok(())
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.x.len() - LANES
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells that are not empty, along the curve.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// A place.
    #[inline(always)]
    pub fn at(&self, i: usize) -> [f32; 3] {
        [self.x[i], self.y[i], self.z[i]]
    }

    /// The places of a cell, as a range.
    #[inline(always)]
    pub fn of_cell(&self, cell: [i32; 3]) -> core::ops::Range<u32> {
        let run = self.grid.number(cell).map_or(Run::default(), |n| self.run(n));
        run.first..run.first + run.len
    }

    #[inline(always)]
    fn run(&self, number: u64) -> Run {
        match &self.table {
            Table::Dense(runs) => runs.get(number as usize).copied().unwrap_or_default(),
            Table::Packed(table) => {
                let slot: Option<Slot> = table.0.find(number);
                slot.and_then(|s| table.0.get(s)).map_or(Run::default(), |(_, run)| *run)
            }
        }
    }

    /// Where the parcels of a cell and all around it lie, by z, y, x: (first, how many) for the returned number of
    /// runs. Cells whose parcels follow each other may come as one run; runs may be empty.
    #[inline(always)]
    pub(super) fn around(&self, cell: [i32; 3], out: &mut [(u32, u32); 27]) -> usize {
        let [x, y, z] = cell;
        let mut n = 0;
        let Table::Dense(runs) = &self.table else {
            for (k, j, i) in (0..27).map(|n| (n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1)) {
                let r = self.of_cell([x + i, y + j, z + k]);
                out[n] = (r.start, r.end - r.start);
                n += 1;
            }
            return n;
        };
        let [xs, ys, zs] = &self.grid.axes;
        // Of the three cells of a row two have neighbouring numbers: one entry of a pair, x even and odd.
        let odd = x & 1 == 1;
        let (two, one) = if odd { (x - 1, x + 1) } else { (x, x - 1) };
        let two = xs.get(two as usize).copied().unwrap_or(0) as usize;
        let one = xs.get(one as usize).map(|x| *x as usize);
        for zbits in zs.iter().skip((z - 1).max(0) as usize).take(if z > 0 { 3 } else { 2 }) {
            for ybits in ys.iter().skip((y - 1).max(0) as usize).take(if y > 0 { 3 } else { 2 }) {
                let row = (zbits | ybits) as usize;
                let at = |x: usize| runs.get(x | row).copied().unwrap_or_default();
                // The table has a power of two of cells, at least two, so the other of a pair is always there.
                let (a, b) = (at(two), at(two | 1));
                let pair = (if a.len > 0 { a.first } else { b.first }, a.len + b.len);
                let single = one.map_or((0, 0), |one| (at(one).first, at(one).len));
                let (first, second) = if odd { (pair, single) } else { (single, pair) };
                if let Some(to) = out.get_mut(n..n + 2) {
                    to.copy_from_slice(&[first, second]);
                    n += 2;
                }
            }
        }
        n
    }
}

impl core::fmt::Debug for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Layout")
            .field("len", &self.len())
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}
