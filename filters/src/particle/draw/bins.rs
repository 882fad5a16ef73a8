//! Splats by tile.
//!
//! A counting sort in chunks that stay in the L2 cache: each chunk of [`CHUNK`] splats is sorted by tile on its own, so
//! that chunks can be sorted in parallel. The splats of a tile are its runs in all chunks, in order. A splat that
//! touches several tiles is in each of them. A splat that touches more than two by two tiles is stored on a coarser
//! grid: the finest one (tiles of twice the side, four times ...) on which it touches at most two by two tiles, so that
//! every splat is stored at most four times, whatever its size.

use super::super::arch::prefetch;
use super::coverage::extent;
use super::grid::{FIRST, Grid, LARGE, OFF, codes};
use super::picture::Picture;
use super::splat::{LEAST, Splat};
use super::stamp::{MAX_RADIUS, RADII, Stamps};
use super::style::SplatStyle;
use crate::host::{Executor, lock};
use crate::simd::Level;
use std::sync::{Mutex, PoisonError};

/// The number of splats that are sorted at a time.
pub(super) const CHUNK: usize = 1 << 13;

/// The number of splats that are drawn at a time: they and the tile stay in the L1 cache.
const DRAW_BATCH: usize = 256;

/// The prefetch distance in chunks for a tile's splats, and the number of cache lines.
const AHEAD: usize = 4;
const MAX_AHEAD: usize = 8;

/// One sorted chunk.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// The start of each tile's run, and the end.
    starts: Vec<u32>,
    splats: Vec<Splat>,
    /// Large splats: level and cell, and the splat.
    coarse: Vec<(u64, Splat)>,
    /// First and last rank.
    rank_range: Option<(u64, u64)>,
    /// Whether ranks are ascending.
    ascending: bool,
    /// The stamps that are needed, by style and radius.
    used: Vec<bool>,
}

/// Temporary buffers for sorting a chunk: few of them, so that they stay in the caches.
#[derive(Clone, Debug, Default)]
struct SortBuffers {
    /// The results of [`Bins::fill`].
    filled: Vec<Splat>,
    /// The tiles of each splat, or [`OFF`].
    tiles: Vec<u32>,
    /// Splats by tile, before they are copied to their destination, which is not in the cache: scattered writes would
    /// read it first, while sequential ones do not.
    sorted: Vec<Splat>,
}

/// Splats sorted into the tiles that they touch. Keeps its memory from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    grid: Option<Grid>,
    chunks: Vec<Chunk>,
    idle_buffers: Vec<SortBuffers>,
    live: usize,
    coarse: Vec<(u64, Splat)>,
    ascending: bool,
    pub(super) stamps: Stamps,
    pub(super) pictures: Vec<Picture>,
}

/// The key of a coarse cell.
fn cell(level: u32, x: u32, y: u32) -> u64 {
    u64::from(level) << 48 | u64::from(y) << 24 | u64::from(x)
}

/// A level beyond the coarsest that a picture needs.
const LEVELS: u32 = 17;

impl Chunk {
    fn sort(
        &mut self,
        level: Level,
        grid: &Grid,
        styles: &[SplatStyle],
        splats: &[Splat],
        tiles: &mut Vec<u32>,
        sorted: &mut Vec<Splat>,
    ) {
        self.starts.clear();
        self.starts.resize(grid.len() + 1, 0);
        self.coarse.clear();
        self.used.clear();
        self.used.resize(styles.len() * RADII, false);
        self.rank_range = splats.first().zip(splats.last()).map(|(a, b)| (a.rank, b.rank));
        // The first pass counts, the second one places.
        tiles.clear();
        tiles.resize(splats.len(), OFF);
        self.ascending = codes(level, grid, styles, splats, tiles);
        for (splat, code) in splats.iter().zip(tiles.iter_mut()) {
            if *code >= LARGE {
                if *code == LARGE
                    && let Some(style) = styles.get(usize::from(splat.style))
                    && let Some(at) = grid.touched(splat, extent(&style.shape, splat, grid.cell()))
                {
                    self.keep_large(splat, at);
                }
                *code = OFF;
                continue;
            }
            let [x, y] = splat.half;
            if x == y && x <= MAX_RADIUS {
                let radius = usize::from(x.max(LEAST) - LEAST);
                if let Some(used) = self.used.get_mut(usize::from(splat.style) * RADII + radius) {
                    *used = true;
                }
            }
            self.starts[(*code & FIRST) as usize + 1] += 1;
            if *code > FIRST {
                for (tile, more) in others(*code, grid.tiles[0] as u32) {
                    self.starts[tile + 1] += more;
                }
            }
        }
        let mut sum = 0;
        for s in &mut self.starts {
            sum += *s;
            *s = sum;
        }
        // The second pass writes every slot below.
        sorted.resize((sum as usize).max(sorted.len()), Splat::new([0.0; 2], [1.0; 2]));
        let mut put = |splat: &Splat, tile: usize| {
            let to = &mut self.starts[tile];
            sorted[*to as usize] = *splat;
            *to += 1;
        };
        for (splat, code) in splats.iter().zip(tiles.iter()).filter(|(_, code)| **code != OFF) {
            put(splat, (*code & FIRST) as usize);
            if *code > FIRST {
                for (tile, _) in others(*code, grid.tiles[0] as u32).into_iter().filter(|(_, more)| *more > 0)
                {
                    put(splat, tile);
                }
            }
        }
        self.splats.clear();
        self.splats.extend_from_slice(&sorted[..sum as usize]);
        // Starts have become ends.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Adds a splat to the finest grid in which its range of tiles covers at most two by two cells.
    fn keep_large(&mut self, splat: &Splat, at: [[u32; 2]; 2]) {
        let fits = |l: &u32| at.iter().all(|[first, last]| (last >> l) - (first >> l) <= 1);
        let level = (1..LEVELS).find(fits).unwrap_or(LEVELS);
        let [x, y] = at.map(|[first, last]| first >> level..=last >> level);
        for y in y {
            for x in x.clone() {
                self.coarse.push((cell(level, x, y), *splat));
            }
        }
    }

    fn run(&self, tile: usize) -> &[Splat] {
        let at = |i: usize| self.starts.get(i).map_or(0, |s| *s as usize);
        self.splats.get(at(tile)..at(tile + 1)).unwrap_or(&[])
    }
}

/// The up to three more tiles of a splat that is kept by tile, and 1; others, and 0.
#[inline(always)]
fn others(code: u32, across: u32) -> [(usize, u32); 3] {
    let first = code & FIRST;
    let (wide, high) = (code >> 30 & 1, code >> 31);
    [
        ((first + wide) as usize, wide),
        ((first + high * across) as usize, high),
        ((first + high * across + wide) as usize, wide & high),
    ]
}

impl Bins {
    /// Sorts a slice.
    pub(super) fn sort(
        &mut self,
        level: Level,
        grid: Grid,
        styles: &[SplatStyle],
        splats: &[Splat],
        executor: &dyn Executor,
    ) {
        let count = splats.len().div_ceil(CHUNK);
        self.each(grid, count, executor, &|i, chunk, buffers| {
            let end = splats.len().min((i + 1) * CHUNK);
            chunk.sort(
                level,
                &grid,
                styles,
                &splats[i * CHUNK..end],
                &mut buffers.tiles,
                &mut buffers.sorted,
            );
        });
    }

    /// Sorts the splats that `make` pushes for each of `count` chunks.
    pub(super) fn fill(
        &mut self,
        level: Level,
        grid: Grid,
        styles: &[SplatStyle],
        count: usize,
        make: &(dyn Fn(usize, &mut Vec<Splat>) + Sync),
        executor: &dyn Executor,
    ) {
        self.each(grid, count, executor, &|i, chunk, buffers| {
            buffers.filled.clear();
            make(i, &mut buffers.filled);
            chunk.sort(level, &grid, styles, &buffers.filled, &mut buffers.tiles, &mut buffers.sorted);
        });
    }

    fn each(
        &mut self,
        grid: Grid,
        count: usize,
        executor: &dyn Executor,
        task: &(dyn Fn(usize, &mut Chunk, &mut SortBuffers) + Sync),
    ) {
        self.grid = Some(grid);
        if self.chunks.len() < count {
            self.chunks.resize_with(count, Chunk::default);
        }
        self.live = count;
        let cells: Vec<Mutex<&mut Chunk>> = self.chunks[..count].iter_mut().map(Mutex::new).collect();
        let idle_buffers = Mutex::new(core::mem::take(&mut self.idle_buffers));
        executor.execute(count, &|i| {
            // The buffers that were used last, if they are free.
            let mut buffers = lock(&idle_buffers).pop().unwrap_or_default();
            task(i, &mut lock(&cells[i]), &mut buffers);
            lock(&idle_buffers).push(buffers);
        });
        drop(cells);
        self.idle_buffers = idle_buffers.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.coarse.clear();
        let mut before = None;
        self.ascending = true;
        for chunk in &self.chunks[..count] {
            self.coarse.extend_from_slice(&chunk.coarse);
            if let Some((first, last)) = chunk.rank_range {
                self.ascending &= chunk.ascending && before.is_none_or(|b| b < first);
                before = Some(last);
            }
        }
        self.coarse.sort_unstable();
    }

    /// The stamps that are needed, by style and radius.
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

    /// Whether the splats of a tile are in the order of drawing.
    pub(super) fn ordered(&self, tile: usize) -> bool {
        self.ascending && (self.coarse.is_empty() || self.large(tile).all(<[_]>::is_empty))
    }

    /// The buffer length in splats for [`each_batch`](Bins::each_batch).
    pub(super) fn room(&self, tile: usize) -> usize {
        let count = self.count(tile);
        if self.ordered(tile) { count.min(DRAW_BATCH) } else { 2 * count + count.div_ceil(2) }
    }

    /// The splats of a tile in the order of drawing, in `list`, which is of the length that [`room`](Bins::room)
    /// says: a batch at a time where they are [`ordered`](Bins::ordered), else all at once.
    pub(super) fn each_batch(&self, tile: usize, list: &mut [Splat], draw: &mut dyn FnMut(&mut [Splat])) {
        if !self.ordered(tile) {
            let (list, room) = list.split_at_mut(self.count(tile));
            self.gather(tile, list, room);
            return draw(list);
        }
        let mut count = 0;
        for (i, chunk) in self.chunks[..self.live].iter().enumerate() {
            // Runs are short, and the hardware prefetcher does not predict the start of the next one.
            if let Some(ahead) = self.chunks[..self.live].get(i + AHEAD) {
                ahead.run(tile).iter().step_by(2).take(MAX_AHEAD).for_each(prefetch);
            }
            let mut run = chunk.run(tile);
            while !run.is_empty() && !list.is_empty() {
                let (now, rest) = run.split_at(run.len().min(list.len() - count));
                list[count..count + now.len()].copy_from_slice(now);
                (count, run) = (count + now.len(), rest);
                if count == list.len() {
                    draw(list);
                    count = 0;
                }
            }
        }
        draw(&mut list[..count]);
    }

    /// The splats that touch a tile, in no particular order.
    pub(super) fn splats(&self, tile: usize) -> impl Iterator<Item = &Splat> {
        let small = self.chunks[..self.live].iter().flat_map(move |c| c.run(tile));
        small.chain(self.large(tile).flatten().map(|(_, splat)| splat))
    }

    /// The number of splats that touch a tile.
    pub(super) fn count(&self, tile: usize) -> usize {
        let small: usize = self.chunks[..self.live].iter().map(|c| c.run(tile).len()).sum();
        small + self.large(tile).map(<[_]>::len).sum::<usize>()
    }

    /// Copies a tile's splats to `out`, which is of their [`count`](Bins::count), in the order of drawing, by way of
    /// `room`: one and a half times as many.
    fn gather(&self, tile: usize, out: &mut [Splat], room: &mut [Splat]) {
        let n = out.len();
        let (found, keys) = room.split_at_mut(n);
        let mut rest = &mut *found;
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
        // Ranks and indices are sorted instead of splats: they are half as long and faster to compare.
        let keys: &mut [[u64; 2]] = bytemuck::cast_slice_mut(keys);
        let keys = &mut keys[..n];
        for (i, (key, splat)) in keys.iter_mut().zip(&*found).enumerate() {
            *key = [splat.rank, i as u64];
        }
        keys.sort_unstable_by_key(|k| k[0]);
        for (out, key) in out.iter_mut().zip(&*keys) {
            *out = found[key[1] as usize];
        }
        if keys.windows(2).any(|w| w[0][0] == w[1][0]) {
            out.sort_unstable();
        }
    }

    /// The large splats of the coarse cells that contain a tile.
    fn large(&self, tile: usize) -> impl Iterator<Item = &[(u64, Splat)]> {
        let across = self.grid.map_or(1, |g| g.tiles[0].max(1));
        let (x, y) = ((tile % across) as u32, (tile / across) as u32);
        let levels = if self.coarse.is_empty() { 1..1 } else { 1..LEVELS + 1 };
        levels.map(move |level| {
            let key = cell(level, x >> level, y >> level);
            let from = self.coarse.partition_point(|c| c.0 < key);
            let long = self.coarse[from..].partition_point(|c| c.0 == key);
            &self.coarse[from..from + long]
        })
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        let chunk = |c: &Chunk| {
            c.splats.capacity() * size_of::<Splat>()
                + c.coarse.capacity() * size_of::<(u64, Splat)>()
                + c.starts.capacity() * 4
                + c.used.capacity()
        };
        let buffers = |d: &SortBuffers| {
            (d.filled.capacity() + d.sorted.capacity()) * size_of::<Splat>() + d.tiles.capacity() * 4
        };
        self.chunks.iter().map(chunk).sum::<usize>()
            + self.idle_buffers.iter().map(buffers).sum::<usize>()
            + self.coarse.capacity() * size_of::<(u64, Splat)>()
            + self.stamps.bytes()
            + self.pictures.iter().map(Picture::bytes).sum::<usize>()
    }

    /// Replaces the pictures that splats of this frame name.
    pub fn set_pictures(&mut self, pictures: Vec<Picture>) {
        self.pictures = pictures;
    }

    /// The pictures of this frame.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }
}
