//! Splats by tile.
//!
//! A counting sort in pieces that stay in the second cache: each stretch of [`CHUNK`] splats is sorted by tile on its own,
//! so stretches can be sorted at the same time, and the splats of a tile are those of its run in each stretch, one
//! after the other. A splat that reaches over several tiles is in each of them. One that reaches over more than two by two
//! is kept on a coarser grid: the finest (tiles of twice the side, four times ...) on which it touches two by two at
//! most, so that no splat takes more than four places, however large it is.

use super::cover::extent;
use super::look::{Look, Shape};
use super::place::Cells;
use super::splat::{LEAST, Splat};
use super::stamp::{LARGEST, RADII};
use crate::lend::Spread;
use core::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Splats that are sorted at a time.
pub(super) const CHUNK: usize = 1 << 14;

/// The tiles of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Luma samples of the picture, across and down.
    pub(super) size: [usize; 2],
    /// log2 of a tile's luma samples, across and down.
    pub(super) log: [u32; 2],
    /// Tiles across and down.
    pub(super) tiles: [usize; 2],
    /// What cells reach before and beyond the luma samples that they are counted with, in 1/256 of a luma sample.
    pub(super) slack: [[i32; 2]; 2],
}

impl Grid {
    /// `size` and 2^`log` in luma samples.
    pub(super) fn new(size: [usize; 2], log: [u32; 2], cells: impl Iterator<Item = Cells>) -> Grid {
        let tiles = [0, 1].map(|a| size[a].div_ceil(1 << log[a]));
        let mut slack = [[0; 2]; 2];
        for cells in cells {
            for (a, [before, beyond]) in slack.iter_mut().enumerate() {
                // Stamps stand on sixteenths of a cell, so they may be half of one aside.
                let aside = 8 << cells.shift[a];
                *before = aside.max(aside + cells.edge(a)).max(*before);
                *beyond = aside.max(aside - cells.edge(a)).max(*beyond);
            }
        }
        Grid { size, log, tiles, slack }
    }

    /// How many tiles there are.
    pub fn len(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Luma rows of a tile.
    pub fn tile_rows(&self) -> usize {
        1 << self.log[1]
    }

    /// The tiles that a splat touches, across and down, at a level of the coarser grids; `None` off the picture.
    #[inline(always)]
    fn touched(&self, splat: &Splat, reach: [i32; 2]) -> Option<[Range<i32>; 2]> {
        let axis = |a: usize, at: i32| {
            let by = 8 + self.log[a];
            let [before, beyond] = self.slack[a];
            let low = at.saturating_sub(reach[a].saturating_add(before)) >> by;
            let high = at.saturating_add(reach[a].saturating_add(beyond)) >> by;
            low.max(0)..high.saturating_add(1).min(self.tiles[a] as i32)
        };
        let (x, y) = (axis(0, splat.x), axis(1, splat.y));
        if x.is_empty() || y.is_empty() { None } else { Some([x, y]) }
    }
}

/// One stretch, sorted.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// Where each tile's run begins, and the end.
    starts: Vec<u32>,
    splats: Vec<Splat>,
    /// Large ones: level and cell, and the splat.
    coarse: Vec<(u64, Splat)>,
    /// First and last rank.
    ends: Option<(u64, u64)>,
    /// Whether ranks rise from each splat to the next.
    rising: bool,
    /// Which stamps are wanted, by look and radius.
    used: Vec<bool>,
    /// The tile of each splat, or [`MANY`] or [`OFF`].
    tiles: Vec<u32>,
    /// What [`Bins::fill`] makes.
    made: Vec<Splat>,
}

/// Splats sorted into the tiles that they touch. Keeps its memory from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    grid: Option<Grid>,
    chunks: Vec<Chunk>,
    live: usize,
    coarse: Vec<(u64, Splat)>,
    rising: bool,
    pub(super) stamps: super::painter::Stamps,
}

/// The key of a coarse cell.
fn cell(level: u32, x: i32, y: i32) -> u64 {
    u64::from(level) << 48 | (y as u64) << 24 | x as u64
}

/// A level beyond the coarsest that any picture needs.
const LEVELS: u32 = 17;

/// Touches several tiles.
const MANY: u32 = u32::MAX;
/// Touches none, or is not kept by tile.
const OFF: u32 = u32::MAX - 1;

impl Chunk {
    fn sort(&mut self, grid: &Grid, looks: &[Look], splats: &[Splat]) {
        self.starts.clear();
        self.starts.resize(grid.len() + 1, 0);
        self.coarse.clear();
        self.used.clear();
        self.used.resize(looks.len() * RADII, false);
        self.ends = splats.first().zip(splats.last()).map(|(a, b)| (a.rank, b.rank));
        self.rising = splats.windows(2).all(|w| w[0].rank < w[1].rank);
        // The first pass counts, the second places.
        self.tiles.clear();
        self.tiles.extend(splats.iter().map(|splat| {
            let Some((look, at)) = seen(grid, looks, splat) else { return OFF };
            let [x, y] = splat.half;
            if x == y && x <= LARGEST && matches!(look.shape, Shape::Disc { .. }) {
                self.used[usize::from(splat.look) * RADII + usize::from(x.max(LEAST) - LEAST)] = true;
            }
            if let Some(tile) = single(grid, &at) {
                self.starts[tile as usize + 1] += 1;
                return tile;
            }
            if is_large(&at) {
                let level = level(&at);
                for y in at[1].start >> level..=(at[1].end - 1) >> level {
                    for x in at[0].start >> level..=(at[0].end - 1) >> level {
                        self.coarse.push((cell(level, x, y), *splat));
                    }
                }
                return OFF;
            }
            tiles(grid, &at, |tile| self.starts[tile + 1] += 1);
            MANY
        }));
        let mut sum = 0;
        for s in &mut self.starts {
            sum += *s;
            *s = sum;
        }
        // Every place below is written by the second pass.
        self.splats.resize(sum as usize, Splat::new([0.0; 2], [1.0; 2]));
        for (splat, tile) in splats.iter().zip(&self.tiles) {
            let mut put = |tile: usize| {
                let to = &mut self.starts[tile];
                self.splats[*to as usize] = *splat;
                *to += 1;
            };
            match *tile {
                OFF => {}
                MANY => {
                    if let Some((_, at)) = seen(grid, looks, splat) {
                        tiles(grid, &at, put);
                    }
                }
                tile => put(tile as usize),
            }
        }
        // Starts have become ends.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn run(&self, tile: usize) -> &[Splat] {
        let at = |i: usize| self.starts.get(i).map_or(0, |s| *s as usize);
        self.splats.get(at(tile)..at(tile + 1)).unwrap_or(&[])
    }
}

#[inline(always)]
fn seen<'a>(grid: &Grid, looks: &'a [Look], splat: &Splat) -> Option<(&'a Look, [Range<i32>; 2])> {
    let look = looks.get(usize::from(splat.look))?;
    if splat.opacity == 0 {
        return None;
    }
    let at = grid.touched(splat, extent(&look.shape, splat))?;
    Some((look, at))
}

/// The tile, if it is one alone.
#[inline(always)]
fn single(grid: &Grid, at: &[Range<i32>; 2]) -> Option<u32> {
    let one = at[0].end - at[0].start == 1 && at[1].end - at[1].start == 1;
    one.then(|| at[1].start as u32 * grid.tiles[0] as u32 + at[0].start as u32)
}

#[inline(always)]
fn is_large(at: &[Range<i32>; 2]) -> bool {
    at.iter().any(|r| r.end - r.start > 2)
}

/// The finest grid on which these tiles lie in two by two cells.
fn level(at: &[Range<i32>; 2]) -> u32 {
    let fits = |l: &u32| at.iter().all(|r| ((r.end - 1) >> l) - (r.start >> l) <= 1);
    (1..LEVELS).find(fits).unwrap_or(LEVELS)
}

#[inline(always)]
fn tiles(grid: &Grid, at: &[Range<i32>; 2], mut f: impl FnMut(usize)) {
    for y in at[1].clone() {
        for x in at[0].clone() {
            f(y as usize * grid.tiles[0] + x as usize);
        }
    }
}

impl Bins {
    /// Sorts a slice.
    pub(super) fn sort(&mut self, grid: Grid, looks: &[Look], splats: &[Splat], spread: &dyn Spread) {
        let count = splats.len().div_ceil(CHUNK);
        self.each(grid, count, spread, &|i, chunk| {
            let end = splats.len().min((i + 1) * CHUNK);
            chunk.sort(&grid, looks, &splats[i * CHUNK..end]);
        });
    }

    /// Sorts what `make` pushes for each of `count` stretches.
    pub(super) fn fill(
        &mut self,
        grid: Grid,
        looks: &[Look],
        count: usize,
        make: &(dyn Fn(usize, &mut Vec<Splat>) + Sync),
        spread: &dyn Spread,
    ) {
        self.each(grid, count, spread, &|i, chunk| {
            let mut made = core::mem::take(&mut chunk.made);
            made.clear();
            make(i, &mut made);
            chunk.sort(&grid, looks, &made);
            chunk.made = made;
        });
    }

    fn each(
        &mut self,
        grid: Grid,
        count: usize,
        spread: &dyn Spread,
        task: &(dyn Fn(usize, &mut Chunk) + Sync),
    ) {
        self.grid = Some(grid);
        if self.chunks.len() < count {
            self.chunks.resize_with(count, Chunk::default);
        }
        self.live = count;
        let cells: Vec<Mutex<&mut Chunk>> = self.chunks[..count].iter_mut().map(Mutex::new).collect();
        spread.spread(count, &|i| {
            task(i, &mut cells[i].lock().unwrap_or_else(PoisonError::into_inner));
        });
        drop(cells);
        self.coarse.clear();
        let mut before = None;
        self.rising = true;
        for chunk in &self.chunks[..count] {
            self.coarse.extend_from_slice(&chunk.coarse);
            if let Some((first, last)) = chunk.ends {
                self.rising &= chunk.rising && before.is_none_or(|b| b < first);
                before = Some(last);
            }
        }
        self.coarse.sort_unstable();
    }

    /// Which stamps are wanted, by look and radius.
    pub(super) fn used(&self, out: &mut Vec<bool>) {
        out.clear();
        for chunk in &self.chunks[..self.live] {
            out.resize(out.len().max(chunk.used.len()), false);
            out.iter_mut().zip(&chunk.used).for_each(|(a, b)| *a |= b);
        }
    }

    pub(super) fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// The splats of a tile that stand in order: one slice after the other. `None` if they have to be
    /// [gathered](Bins::gather).
    pub(super) fn runs(&self, tile: usize) -> Option<impl Iterator<Item = &[Splat]>> {
        let large = || self.large(tile).any(|l| !l.is_empty());
        if !self.rising || (!self.coarse.is_empty() && large()) {
            return None;
        }
        Some(self.chunks[..self.live].iter().map(move |c| c.run(tile)))
    }

    /// How many splats touch a tile.
    pub(super) fn count(&self, tile: usize) -> usize {
        let small: usize = self.chunks[..self.live].iter().map(|c| c.run(tile).len()).sum();
        small + self.large(tile).map(<[_]>::len).sum::<usize>()
    }

    /// Copies a tile's splats to `out`, which is of their [`count`](Bins::count), in the order of drawing.
    pub(super) fn gather(&self, tile: usize, out: &mut [Splat]) {
        let mut rest = &mut *out;
        let mut put = |run: &mut dyn Iterator<Item = &Splat>, len: usize| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(len);
            head.iter_mut().zip(run).for_each(|(a, b)| *a = *b);
            rest = tail;
        };
        for chunk in &self.chunks[..self.live] {
            let run = chunk.run(tile);
            put(&mut run.iter(), run.len());
        }
        for large in self.large(tile) {
            put(&mut large.iter().map(|l| &l.1), large.len());
        }
        if !out.is_sorted() {
            out.sort_unstable();
        }
    }

    /// The large splats of the coarse cells that a tile lies in.
    fn large(&self, tile: usize) -> impl Iterator<Item = &[(u64, Splat)]> {
        let across = self.grid.map_or(1, |g| g.tiles[0].max(1));
        let (x, y) = ((tile % across) as i32, (tile / across) as i32);
        let levels = if self.coarse.is_empty() { 1..1 } else { 1..LEVELS + 1 };
        levels.map(move |level| {
            let key = cell(level, x >> level, y >> level);
            let from = self.coarse.partition_point(|c| c.0 < key);
            let long = self.coarse[from..].partition_point(|c| c.0 == key);
            &self.coarse[from..from + long]
        })
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let chunk = |c: &Chunk| {
            (c.splats.capacity() + c.made.capacity()) * size_of::<Splat>()
                + c.coarse.capacity() * size_of::<(u64, Splat)>()
                + (c.starts.capacity() + c.tiles.capacity()) * 4
                + c.used.capacity()
        };
        self.chunks.iter().map(chunk).sum::<usize>()
            + self.coarse.capacity() * size_of::<(u64, Splat)>()
            + self.stamps.bytes()
    }
}
