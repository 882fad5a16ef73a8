//! The tiles of a picture, and the assignment of splats.
#![allow(clippy::needless_range_loop)] // a lane is an index into many arrays

use super::coverage::extent;
use super::draw_plane::{BATCH, Cells};
use super::splat::Splat;
use super::style::SplatStyle;
use crate::simd::multiversion;

/// The largest distance of a splat's position from 0, and the largest reach.
const FARTHEST: i32 = 1 << 30;
const LONGEST: i32 = 1 << 29;

/// The tiles of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The size of the picture in luma samples.
    pub(super) size: [usize; 2],
    /// log2 of a tile's width and height in luma samples.
    pub(super) log: [u32; 2],
    /// The numbers of columns and rows of tiles.
    pub(super) tiles: [usize; 2],
    /// The reach of cells before and beyond their luma samples, in 1/256 of a luma sample.
    pub(super) slack: [[i32; 2]; 2],
    /// log2 of the largest cell's width and height in luma samples.
    pub(super) coarse: [u32; 2],
    /// Luma samples per row height, horizontally, in 1/65536, rounded up.
    samples_per_row: u32,
}

/// For square samples.
const SQUARE: u32 = 1 << 16;

impl Grid {
    /// `size` and 2^`log` in luma samples.
    pub(super) fn new(size: [usize; 2], log: [u32; 2], cells: impl Iterator<Item = Cells>) -> Grid {
        let tiles = [0, 1].map(|a| size[a].div_ceil(1 << log[a]));
        let (mut slack, mut coarse) = ([[0; 2]; 2], [0; 2]);
        for cells in cells {
            coarse = [0, 1].map(|a| cells.shift[a].max(coarse[a]));
            for (a, [before, beyond]) in slack.iter_mut().enumerate() {
                // Stamps are positioned on sixteenths of a cell, with an error of up to half a step.
                let aside = 8 << cells.shift[a];
                *before = aside.max(aside + cells.edge(a)).max(*before);
                *beyond = aside.max(aside - cells.edge(a)).max(*beyond);
            }
        }
        Grid { size, log, tiles, slack, coarse, samples_per_row: SQUARE }
    }

    /// The same for a sample that is displayed `aspect` times as wide as a row is high, 0.1 to 10.
    pub(super) fn displayed(self, aspect: f32) -> Grid {
        let samples_per_row =
            if aspect == 1.0 { SQUARE } else { (f64::from(SQUARE) / f64::from(aspect)) as u32 + 1 };
        Grid { samples_per_row, ..self }
    }

    /// The same picture in tiles of 2^`log` luma samples.
    pub(super) fn divided(self, log: [u32; 2]) -> Grid {
        Grid { log, tiles: [0, 1].map(|a| self.size[a].div_ceil(1 << log[a])), ..self }
    }

    /// The largest displayed cell, in luma rows.
    #[inline(always)]
    pub(super) fn cell(&self) -> [f32; 2] {
        let [w, h] = self.coarse.map(|c| (1u32 << c) as f32);
        [w * (SQUARE as f32 / self.samples_per_row as f32), h]
    }

    /// Converts a horizontal reach from rows to samples.
    #[inline(always)]
    pub(super) fn in_samples(&self, reach: i32) -> i32 {
        if self.samples_per_row == SQUARE {
            return reach;
        }
        ((i64::from(reach) * i64::from(self.samples_per_row)) >> 16).min(i64::from(LONGEST)) as i32 + 1
    }

    /// The number of tiles.
    pub fn len(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Whether there are no tiles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The luma rows of a tile.
    pub fn tile_rows(&self) -> usize {
        1 << self.log[1]
    }

    /// The first and the last tile along an axis that a reach around a position touches, which may be outside of the picture.
    #[inline(always)]
    fn span(&self, axis: usize, at: i32, reach: i32) -> [i32; 2] {
        let by = 8 + self.log[axis];
        let [before, beyond] = self.slack[axis];
        // Positions of splats are within 2^30; splats that are farther away are outside of the picture, too.
        let (at, reach) = (at.clamp(-FARTHEST, FARTHEST), reach.min(LONGEST));
        [(at - (reach + before)) >> by, (at + (reach + beyond)) >> by]
    }

    /// The first and the last tile that a splat touches, horizontally and vertically; `None` if it is outside
    /// of the picture.
    #[inline(always)]
    pub(super) fn touched(&self, splat: &Splat, reach: [i32; 2]) -> Option<[[u32; 2]; 2]> {
        let reach = [self.in_samples(reach[0]), reach[1]];
        let mut out = [[0; 2]; 2];
        for (a, at) in [splat.x, splat.y].into_iter().enumerate() {
            let [first, last] = self.span(a, at, reach[a]);
            let end = self.tiles[a] as i32 - 1;
            if first > end || last < 0 {
                return None;
            }
            out[a] = [first.max(0) as u32, last.min(end) as u32];
        }
        Some(out)
    }
}

/// The position of a splat in the grid: the number of its first tile, and whether it is also in the next one (bit 30),
/// the one below (bit 31), or in all four.
pub(super) const FIRST: u32 = (1 << 30) - 1;
/// Outside of the picture, or invisible.
pub(super) const OFF: u32 = u32::MAX;
/// In more than two by two tiles.
pub(super) const LARGE: u32 = u32::MAX - 1;

multiversion! {
    /// The position of each splat: its first tile with the bits above, [`LARGE`] or [`OFF`]. Returns whether ranks
    /// ascend from splat to splat.
    pub(super) fn codes(level, grid: &Grid, styles: &[SplatStyle], splats: &[Splat], out: &mut [u32]) -> bool = codes_body;
}

#[inline(always)]
fn codes_body(grid: &Grid, styles: &[SplatStyle], splats: &[Splat], out: &mut [u32]) -> bool {
    let mut at = [[0i32; BATCH]; 2];
    let mut reach = [[0i32; BATCH]; 2];
    let mut off = [0u32; BATCH];
    let mut ascending = true;
    let cell = grid.cell();
    // The minimum of the next rank.
    let mut least = 0;
    for (few, out) in splats.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        for (j, splat) in few.iter().enumerate().take(BATCH) {
            ascending &= (splat.rank >= least) & (splat.rank < u64::MAX);
            least = splat.rank.saturating_add(1);
            (at[0][j], at[1][j]) = (splat.x, splat.y);
            off[j] = u32::from(splat.opacity == 0);
            let Some(style) = styles.get(usize::from(splat.style)) else {
                off[j] = 1;
                continue;
            };
            [reach[0][j], reach[1][j]] = extent(&style.shape, splat, cell);
        }
        if grid.samples_per_row != SQUARE {
            reach[0].iter_mut().for_each(|r| *r = grid.in_samples(*r));
        }
        let mut first = [[0i32; BATCH]; 2];
        let mut more = [[0i32; BATCH]; 2];
        for a in 0..2 {
            let end = grid.tiles[a] as i32 - 1;
            for j in 0..BATCH {
                let [low, high] = grid.span(a, at[a][j], reach[a][j]);
                off[j] |= u32::from(low > end) | u32::from(high < 0);
                first[a][j] = low.max(0);
                more[a][j] = high.min(end) - low.max(0);
            }
        }
        let across = grid.tiles[0] as i32;
        let mut code = [0u32; BATCH];
        for j in 0..BATCH {
            let (wide, high) = (more[0][j], more[1][j]);
            let tile = (first[1][j].wrapping_mul(across).wrapping_add(first[0][j])) as u32;
            let c = tile | (wide as u32) << 30 | (high as u32) << 31;
            let c = if (wide | high) > 1 { LARGE } else { c };
            code[j] = if off[j] != 0 { OFF } else { c };
        }
        for (out, code) in out.iter_mut().zip(code) {
            *out = code;
        }
    }
    ascending
}

#[cfg(test)]
mod tests {
    use super::super::style::{Blend, Shape};
    use super::*;
    use crate::noise::seed::mix64;
    use crate::simd::Level;

    #[test]
    fn codes_are_the_tiles_that_are_touched() {
        let cells = [Cells { shift: [0, 0], first: [128, 128] }, Cells { shift: [1, 1], first: [128, 256] }];
        let styles = [Shape::disc(1.0), Ok(Shape::Speck), Shape::streak(0.5, 0.3)]
            .map(|s| SplatStyle::new(s.unwrap(), Blend::Over));
        let splats: Vec<Splat> = (0..5000u64)
            .map(|i| {
                let n = [1, 2, 3].map(|k| mix64(4 * i + k));
                let far = [0, i32::MIN, i32::MAX, 1 << 30]
                    [if n[2] & 255 == 0 { n[2] as usize >> 8 & 3 } else { 0 }];
                let at = |n: u64| if far == 0 { (n as u32 % 200_000) as i32 - 40_000 } else { far };
                let half = [1 + (n[0] >> 32) as u16 % 400, (n[0] >> 48) as u16 | 1];
                Splat {
                    rank: i,
                    x: at(n[0]),
                    y: at(n[1]),
                    half: if n[2] & 3 > 0 { [half[0]; 2] } else { half },
                    style: (n[1] >> 40) as u16 % 4,
                    angle: (n[1] >> 48) as u16,
                    opacity: (n[2] >> 32) as u16 & 15,
                    ..Splat::new([0.0; 2], [1.0; 2])
                }
            })
            .collect();
        for (log, aspect) in
            [([6, 5], 1.0), ([4, 4], 1.0), ([9, 7], 1.0), ([6, 5], 0.1), ([4, 5], 64.0 / 45.0)]
        {
            let grid = Grid::new([517, 303], log, cells.into_iter()).displayed(aspect);
            for &level in Level::available() {
                for count in [5000, 4999, 17, 1, 0] {
                    let splats = &splats[..count];
                    let mut got = vec![7; count];
                    assert!(codes(level, &grid, &styles, splats, &mut got));
                    for (splat, got) in splats.iter().zip(got) {
                        let style = styles.get(usize::from(splat.style)).filter(|_| splat.opacity > 0);
                        let at =
                            style.and_then(|l| grid.touched(splat, extent(&l.shape, splat, grid.cell())));
                        let want = at.map_or(OFF, |[[x, x1], [y, y1]]| match (x1 - x, y1 - y) {
                            (wide @ 0..=1, high @ 0..=1) => {
                                (y * grid.tiles[0] as u32 + x) | (wide << 30) | (high << 31)
                            }
                            _ => LARGE,
                        });
                        assert_eq!(got, want, "{level} {splat:?}");
                    }
                }
            }
            let mut back = splats.clone();
            back[41].rank = back[40].rank;
            assert!(!codes(Level::best(), &grid, &styles, &back, &mut vec![0; 5000]));
        }
    }
}
