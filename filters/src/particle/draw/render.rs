//! Drawing bands of a picture.

use super::bins::{Bins, CHUNK};
use super::coverage::extent;
use super::paint::{DrawBuffers, paint};
use super::painter::Painter;
use super::sampler::Prepared;
use super::scene_light::SceneLight;
use super::splat::Splat;
use super::stamp::{MAX_STAMP_SETS, RADII, Stamp};
use super::store::store;
use super::style::Shape;
use super::tile::{BlockBuffers, Tile, load};
use crate::frame::{FrameMut, PlaneSet, Scratch};
use crate::host::Executor;
use bytemuck::Zeroable;
use core::ops::Range;

/// The number of `f32` values of a splat.
const SPLAT: usize = size_of::<Splat>() / size_of::<f32>();
/// log2 of the luma samples across and down to which the touched part of a tile is rounded: at least those of a block.
const BLOCKS: [u32; 2] = [4, 2];
/// The largest number of splats of a tile whose extent is computed before they are drawn.
const FEW: usize = 32;
/// The same of the buffers of a block.
const BLOCK: usize = size_of::<BlockBuffers>() / size_of::<f32>();

impl Painter {
    /// Sorts splats into tiles. The result depends on the splats as a set alone, given that their ranks differ; when
    /// they come in order of rank it is quickest.
    pub fn bin(&self, splats: &[Splat], bins: &mut Bins, executor: &dyn Executor) {
        bins.sort(self.level, self.grid, &self.styles, splats, executor);
        self.stamp(bins);
    }

    /// The same for splats that are made on the way: `make(i, out)` pushes the `i`-th part of them, for `i` below
    /// `parts`, in any order and at the same time. Parts of some [`PART`](Painter::PART) splats are best; ranks
    /// that rise from part to part are quickest.
    pub fn bin_with(
        &self,
        parts: usize,
        make: &(dyn Fn(usize, &mut Vec<Splat>) + Sync),
        bins: &mut Bins,
        executor: &dyn Executor,
    ) {
        bins.fill(self.level, self.grid, &self.styles, parts, make, executor);
        self.stamp(bins);
    }

    /// The best number of splats per call.
    pub const PART: usize = CHUNK;

    fn stamp(&self, bins: &mut Bins) {
        let mut used = Vec::new();
        bins.used(&mut used);
        let mut stamps = core::mem::take(&mut bins.stamps);
        stamps.prepare(&self.styles, &self.shifts, self.aspect, &used);
        bins.stamps = stamps;
    }

    /// Draws the rows of `out`, a band of the picture, in the planes of `writes`. Bins must be this painter's.
    ///
    /// Alpha, where it is in `writes`, becomes what picture and splats cover together; where it is not, the picture's
    /// colour is changed as if it were opaque.
    pub fn draw(&self, bins: &Bins, out: &mut FrameMut<'_>, writes: PlaneSet, scratch: &mut Scratch) {
        self.draw_lit(bins, None, out, writes, scratch);
    }

    /// The same in the light of a scene.
    pub fn draw_lit(
        &self,
        bins: &Bins,
        light: Option<&SceneLight>,
        out: &mut FrameMut<'_>,
        writes: PlaneSet,
        scratch: &mut Scratch,
    ) {
        let rows = out.plane(0).rows();
        let Some(grid) = bins.grid().filter(|g| **g == self.grid && !rows.is_empty()) else { return };
        let high = grid.tile_rows();
        let mut buffers = DrawBuffers::zeroed();
        for down in rows.start / high..=(rows.end - 1) / high {
            let y = (down * high).max(rows.start)..((down + 1) * high).min(rows.end);
            for across in 0..grid.tiles[0] {
                let number = down * grid.tiles[0] + across;
                if bins.count(number) == 0 {
                    continue;
                }
                let from = across << grid.log[0];
                let x = from..(from + (1 << grid.log[0])).min(grid.size[0]);
                let Some([x, y]) = self.touched(bins, number, [x, y.clone()]) else { continue };
                let tile = Tile::new(self, x, y, writes);
                let (original, block) = if tile.needs_original() { (tile.len(), BLOCK) } else { (0, 0) };
                let [samples, list, before, block] =
                    scratch.buffers::<f32, 4>([tile.len(), bins.room(number) * SPLAT, original, block]);
                let list: &mut [Splat] = bytemuck::cast_slice_mut(list);
                let block = bytemuck::cast_slice_mut(block);
                match self.format.depth.bytes() {
                    1 => load::<u8>(self.level, &tile, out, samples, before, block),
                    2 => load::<u16>(self.level, &tile, out, samples, before, block),
                    _ => load::<f32>(self.level, &tile, out, samples, before, block),
                }
                bins.each_batch(number, list, &mut |splats| {
                    if let Some(light) = light {
                        light.shine(&self.styles, splats);
                    }
                    let prepared = (&bins.stamps, bins.pictures());
                    paint(self.level, &tile, self, prepared, splats, &mut buffers, samples, self.level);
                });
                match self.format.depth.bytes() {
                    1 => store::<u8>(self.level, &tile, out, samples, before, block),
                    2 => store::<u16>(self.level, &tile, out, samples, before, block),
                    _ => store::<f32>(self.level, &tile, out, samples, before, block),
                }
            }
        }
    }

    /// The samples and rows of a tile that its splats may change, rounded up to whole blocks: all where there are many
    /// splats, `None` where they touch nothing of it.
    fn touched(&self, bins: &Bins, number: usize, tile: [Range<usize>; 2]) -> Option<[Range<usize>; 2]> {
        if bins.splats(number).nth(FEW).is_some() {
            return Some(tile);
        }
        let grid = self.grid.divided(BLOCKS);
        let nothing = Range { start: usize::MAX, end: 0 };
        let mut touched = [nothing.clone(), nothing];
        for splat in bins.splats(number) {
            let Some(style) = self.styles.get(usize::from(splat.style)) else { continue };
            let Some(blocks) = grid.touched(splat, extent(&style.shape, splat, grid.cell())) else {
                continue;
            };
            for (a, (range, [first, last])) in touched.iter_mut().zip(blocks).enumerate() {
                range.start = range.start.min((first as usize) << BLOCKS[a]);
                range.end = range.end.max((last as usize + 1) << BLOCKS[a]);
            }
        }
        // The last row of chroma of a bottom field may belong to more rows of luma than others.
        let [mut x, mut y] = touched;
        let ((_, rows), (_, coarse)) = (self.format.plane_size(0), self.format.plane_size(1));
        let last = coarse.saturating_sub(1) << self.grid.coarse[1];
        if y.end > last {
            y = y.start.min(last)..rows;
        }
        for (range, tile) in [&mut x, &mut y].into_iter().zip(&tile) {
            *range = range.start.max(tile.start)..range.end.min(tile.end);
        }
        (!x.is_empty() && !y.is_empty()).then_some([x, y])
    }

    /// The upper bound of the bytes that bins of so many splats take.
    pub fn memory(&self, splats: usize) -> usize {
        let chunks = splats.div_ceil(CHUNK);
        let discs = self.styles.iter().filter(|l| matches!(l.shape, Shape::Disc { .. })).count();
        let stamps = (discs * RADII).min(MAX_STAMP_SETS) * self.shifts.len() * Stamp::MAX_BYTES;
        let images: usize = self.images.iter().flatten().map(Prepared::bytes).sum();
        images + splats * 9 * size_of::<Splat>() + chunks * (self.grid.len() + 1) * 4 + stamps
    }
}
