//! Precomputed small soft discs: the coverage of their cells with the centre at each of 16 x 16 positions in a cell,
//! and its derivatives from there.
//!
//! The points at which coverage is sampled are a sixteenth of a cell apart, and so are the positions of the centre, so
//! all of them are on one raster: a stamp consists of sums of 16 x 16 of its points. Between two positions of the
//! centre, coverage is interpolated linearly, with an error well below 1/255 for soft discs.

use super::splat::{LEAST, Splat};
use super::style::{Shape, SplatStyle};
use crate::math::smooth;

/// The largest radius of a stamp, in 1/16 of a luma sample.
pub(super) const MAX_RADIUS: u16 = 48;
/// The number of radii.
pub(super) const RADII: usize = (MAX_RADIUS - LEAST + 1) as usize;
/// The largest width and height of a stamp, in cells.
pub(super) const MAX_CELLS: usize = 8;
/// The smallest soft edge in cells.
const SOFT: f32 = 0.7;

/// The stamps of one disc for one size of cell.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    /// Cells across, 4 or 8.
    pub(super) width: usize,
    /// Cells down.
    pub(super) rows: usize,
    /// The first cell across and down, from the centre's own, by place of the centre.
    pub(super) start: [[i32; 16]; 2],
    /// For each position of the centre, down, then across: the rows of coverage, of its change across and of its change down.
    data: Vec<f32>,
    /// `f32`s of one of the three: 16 or 32 in rows of 4, or 64 in rows of 8.
    pub(super) long: usize,
}

impl Stamp {
    /// The stamp of a disc of this radius (1/16 of a luma row) and softness, on cells of 2^shift luma samples; `None`
    /// if a stamp would not be accurate enough, or too large. Samples are displayed `aspect` times as wide as high.
    pub(super) fn of(radius: u16, soft: f32, shift: [u32; 2], aspect: f32) -> Option<Stamp> {
        let r = f64::from(radius) / 16.0;
        let mut cells = shift.map(|s| r / f64::from(1u32 << s));
        cells[0] /= f64::from(aspect);
        let largest = cells[0].min(cells[1]) as f32;
        if radius > MAX_RADIUS || soft * largest < SOFT {
            return None;
        }
        let need = cells.map(|c| (2.0 * c).ceil() as usize + 1);
        if need[0] > MAX_CELLS || need[1] > MAX_CELLS {
            return None;
        }
        let (width, rows) = (if need[0] <= 4 { 4 } else { 8 }, need[1]);
        let start = cells.map(|c| core::array::from_fn(|q| (q as f64 / 16.0 - c).floor() as i32));
        // The raster: points half a step off the centre and a step apart, a step being 1/16 of a cell.
        let side = cells.map(|c| (c * 16.0).ceil() as i32 + 1);
        let value = |x: i32, y: i32| {
            let (u, v) = ((f64::from(x) + 0.5) / 16.0 / cells[0], (f64::from(y) + 0.5) / 16.0 / cells[1]);
            let t = (1.0 - (u * u + v * v).sqrt()) / f64::from(soft);
            smooth(t.clamp(0.0, 1.0))
        };
        // Sums over all points above and to the left.
        let (w, h) = (2 * side[0] as usize, 2 * side[1] as usize);
        let mut sums = vec![0.0f64; (w + 1) * (h + 1)];
        for y in 0..h {
            let mut row = 0.0;
            for x in 0..w {
                row += value(x as i32 - side[0], y as i32 - side[1]);
                sums[(y + 1) * (w + 1) + x + 1] = sums[y * (w + 1) + x + 1] + row;
            }
        }
        let sum = |x: i32, y: i32| {
            let (x, y) = ((x + side[0]).clamp(0, w as i32), (y + side[1]).clamp(0, h as i32));
            sums[y as usize * (w + 1) + x as usize]
        };
        // A cell whose top left corner is (x, y) steps from the centre.
        let cover = |x: i32, y: i32| {
            (sum(x + 16, y + 16) - sum(x, y + 16) - sum(x + 16, y) + sum(x, y)) * (1.0 / 256.0)
        };
        let long = match (width, rows) {
            (4, ..=4) => 16,
            (4, _) => 32,
            _ => 64,
        };
        let mut data = Vec::with_capacity(256 * 3 * long);
        for qy in 0..16 {
            for qx in 0..16 {
                let mut all = |f: &dyn Fn(i32, i32) -> f64| {
                    for j in 0..(long / width) as i32 {
                        let y = 16 * (start[1][qy] + j) - qy as i32;
                        let x = |i: i32| 16 * (start[0][qx] + i) - qx as i32;
                        data.extend((0..width as i32).map(|i| f(x(i), y) as f32));
                    }
                };
                all(&cover);
                all(&|x, y| 0.5 * (cover(x - 1, y) - cover(x + 1, y)));
                all(&|x, y| 0.5 * (cover(x, y - 1) - cover(x, y + 1)));
            }
        }
        Some(Stamp { width, rows, start, data, long })
    }

    /// Coverage for a place of the centre, and its changes.
    #[inline(always)]
    pub(super) fn coverage<const N: usize>(&self, across: usize, down: usize) -> Option<&[[f32; N]; 3]> {
        let at = (down * 16 + across) * 3;
        self.data.as_chunks::<N>().0.get(at..)?.first_chunk()
    }

    /// The size of the largest stamp in bytes.
    pub(super) const MAX_BYTES: usize = 256 * 3 * MAX_CELLS * MAX_CELLS * 4;
}

impl Stamp {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.data.capacity() * 4 + size_of::<Stamp>()
    }
}

/// The stamps that were needed so far. They depend only on styles and format.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    /// For each style and radius, the index in `sets` plus 1; 0 is not computed yet, `NONE` no stamp.
    index: Vec<u16>,
    /// A stamp for each size of cell, and how many sizes there are.
    sets: Vec<Stamp>,
    kinds: usize,
}

const NONE: u16 = u16::MAX;
/// The largest number of discs with stamps, which bounds the memory.
pub(super) const MAX_STAMP_SETS: usize = 512;

impl Stamps {
    /// The index of a splat's set of stamps, 0 or a high one if there is none.
    #[inline(always)]
    pub(super) fn set(&self, splat: &Splat) -> u16 {
        let [x, y] = splat.half;
        let radius = usize::from(x.wrapping_sub(LEAST));
        if x != y || radius >= RADII {
            return 0;
        }
        self.index.get(usize::from(splat.style) * RADII + radius).copied().unwrap_or(0)
    }

    /// The stamp of a set for one size of cell.
    #[inline(always)]
    pub(super) fn stamp(&self, set: u16, kind: usize) -> Option<&Stamp> {
        self.sets.get(usize::from(set.wrapping_sub(1)) * self.kinds + kind)
    }

    /// Computes the missing stamps of `used` discs for cells of these shifts, displayed `aspect` times as wide as
    /// high.
    pub(super) fn prepare(&mut self, styles: &[SplatStyle], shifts: &[[u32; 2]], aspect: f32, used: &[bool]) {
        self.index.resize(styles.len() * RADII, 0);
        self.kinds = shifts.len();
        for (i, _) in used.iter().enumerate().filter(|(_, u)| **u) {
            let Some(0) = self.index.get(i) else { continue };
            let soft = match styles.get(i / RADII).map(|l| &l.shape) {
                Some(Shape::Disc { soft }) => *soft,
                _ => 0.0,
            };
            let radius = (i % RADII) as u16 + LEAST;
            let stamps =
                shifts.iter().map(|s| Stamp::of(radius, soft, *s, aspect)).collect::<Option<Vec<_>>>();
            self.index[i] = match stamps {
                Some(set) if self.sets.len() < MAX_STAMP_SETS * self.kinds => {
                    self.sets.extend(set);
                    (self.sets.len() / self.kinds) as u16
                }
                _ => NONE,
            };
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.index.capacity() * 2 + self.sets.iter().map(Stamp::bytes).sum::<usize>()
    }
}
