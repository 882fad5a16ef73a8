//! Rows of grain that was taken from a plate.
//!
//! The picture is covered by a grid of patches, which each frame moves by an offset of its own. Neighbours overlap by a
//! fifth of a tile. There each is faded by a quarter wave of sine or cosine, whose squares sum to 1, so that the variance
//! is the same everywhere. Each patch is a tile of the plate, mirrored or not in either direction. A permutation of all
//! tiles and mirror images, drawn for each frame, gives each cell its own; where there are more cells than that, others
//! follow.
//!
//! In integers, with tiles t, w = round(32768 sin((k + 1/2) pi / 2o)) for sample k of the o that overlap (at most
//! 32767), and all sums saturating:
//!
//! ```text
//! h = t, or (t1 w[k] + t0 w[o-1-k] + 2^14) >> 15
//! n = h, or (sum of h W + 2^14) >> 15        W = w, times the weight of a frame where several are summed
//! ```

use super::{HALF, SHIFT};
use crate::frame::{Format, PictureStructure};
use crate::noise::seed::{FrameKey, Layer, key_of_frame, mix64};
use crate::pixel::field::{accumulate, round_saturate};
use crate::plate::Plate;
use crate::simd::Level;
use core::ops::Range;

/// The pattern of a frame: which frame's, and its weight in 1/32768 (not used for a single one).
pub(super) type Part = (i64, i16);

/// How plane `p` of a picture is covered.
pub(super) struct PlateTiling<'a> {
    plate: &'a Plate,
    /// The plane of the plate.
    plane: usize,
    /// An offset that separates planes with the grain of one plane of the plate.
    salt: u32,
    /// Width and height of a tile in samples of the plane, of the overlap, and the shifts of chroma.
    tile: (usize, usize),
    overlap: (usize, usize),
    shift: (u8, u8),
    /// The cells across.
    columns: usize,
    /// The distance of rows in rows of the frame.
    step: usize,
    width: usize,
    /// w for both directions.
    fades: [Vec<i16>; 2],
}

/// The first half of a fade.
fn fade(overlap: usize) -> Vec<i16> {
    let turn = |k: usize| core::f64::consts::FRAC_PI_2 * (k as f64 + 0.5) / overlap as f64;
    (0..overlap).map(|k| libm::floor(32768.0 * libm::sin(turn(k)) + 0.5).min(32767.0) as i16).collect()
}

/// A permutation of 0 to `count` - 1, of at least 4 numbers.
fn permuted(i: u32, count: u32, key: u64) -> u32 {
    let bits = 32 - (count - 1).leading_zeros();
    let mask = (1u32 << bits) - 1;
    let mut x = i;
    // Each step is a bijection of the numbers of so many bits; those beyond go round again.
    loop {
        for round in 0..4 {
            let word = mix64(key.wrapping_add(round));
            x = x.wrapping_mul(word as u32 | 1).wrapping_add((word >> 32) as u32) & mask;
            x ^= x >> (bits / 2);
        }
        if x < count {
            return x;
        }
    }
}

/// A tile, and whether it is mirrored across and down.
#[derive(Clone, Copy)]
struct Patch {
    tile: usize,
    mirrored: (bool, bool),
}

/// The patches of a frame.
#[derive(Clone, Copy)]
struct Grid {
    key: FrameKey,
    layer: u32,
    /// In samples of luma.
    offset: (usize, usize),
}

impl<'a> PlateTiling<'a> {
    pub(super) fn new(plate: &'a Plate, format: &Format, p: usize, alone: bool) -> PlateTiling<'a> {
        // Grain of brightness only is that of the first plane.
        let plane = if alone { 0 } else { plate.plane_for(format, p) };
        let apart = plane != p && format.is_chroma(p);
        let shift = plate.plane_subsampling(plane);
        let scaled = |n: usize| (n >> shift.0, n >> shift.1);
        let overlap = scaled(plate.overlap());
        let width = format.plane_size(p).0;
        PlateTiling {
            plate,
            plane,
            salt: if apart { p as u32 } else { 0 },
            tile: scaled(plate.side()),
            overlap,
            shift,
            columns: format.width as usize / plate.distance() + 3,
            step: if matches!(format.picture, PictureStructure::Frame) { 1 } else { 2 },
            width,
            fades: [fade(overlap.0), fade(overlap.1)],
        }
    }

    fn grid(&self, seed: u64, frame: i64) -> Grid {
        let key = key_of_frame(seed, frame);
        let layer = Layer::PLATE.plane(self.salt);
        let word = key.row(layer, 0);
        // Offsets are of whole blocks of chroma, as the distance is.
        let places = self.plate.distance() as u64 / 4;
        let part = |word: u64| (((word & 0xffff_ffff) * places) >> 32) as usize * 4;
        Grid { key, layer, offset: (part(word), part(word >> 32)) }
    }

    /// The patch of a cell, counted from the one that ends in the first column and row.
    fn patch(&self, grid: &Grid, column: usize, row: usize) -> Patch {
        let cell = row * self.columns + column;
        let count = 4 * self.plate.count();
        let key = grid.key.row(grid.layer, 1 + (cell / count) as u32);
        let drawn = permuted((cell % count) as u32, count as u32, key);
        Patch { tile: drawn as usize / 4, mirrored: (drawn & 1 != 0, drawn & 2 != 0) }
    }

    /// The cells that cover sample `at` in a direction, the new one and the one that it replaces: the index of the cell,
    /// and the place in its tile.
    fn places(at: usize, distance: usize, overlap: usize) -> [Option<(usize, usize)>; 2] {
        let (cell, place) = (at / distance, at % distance);
        [Some((cell + 1, place)), (place < overlap).then_some((cell, place + distance))]
    }

    /// Row `at` of a tile.
    fn row(&self, patch: Patch, at: usize) -> &[i16] {
        let (width, height) = self.tile;
        let at = if patch.mirrored.1 { height - 1 - at } else { at };
        &self.plate.samples(self.plane)[(patch.tile * height + at) * width..][..width]
    }

    /// Row `y` of h, of the cells of one row.
    fn across(&self, grid: &Grid, (row, place): (usize, usize), out: &mut [i16]) {
        let (overlap, distance) = (self.overlap.0, self.tile.0 - self.overlap.0);
        let offset = grid.offset.0 >> self.shift.0;
        let first = offset / distance;
        let end = (offset + self.width).div_ceil(distance);
        let samples = |column: usize| {
            let patch = self.patch(grid, column, row);
            (self.row(patch, place), patch.mirrored.0)
        };
        let mut before = samples(first);
        for column in first..end {
            let now = samples(column + 1);
            // The samples of the cell that are in the picture.
            let start = (column * distance).max(offset);
            let shown = start..((column + 1) * distance).min(offset + self.width);
            let faded = shown.start..shown.end.min(column * distance + overlap).max(shown.start);
            let to = |x: usize| x - column * distance;
            let of = |(row, mirrored): (&[i16], bool), x: usize| {
                if mirrored { row[row.len() - 1 - x] } else { row[x] }
            };
            for x in faded.clone() {
                let k = to(x);
                let new = i32::from(of(now, k)) * i32::from(self.fades[0][k]);
                let old = i32::from(of(before, k + distance)) * i32::from(self.fades[0][overlap - 1 - k]);
                out[x - offset] = saturated(new + old);
            }
            let plain: Range<usize> = to(faded.end)..to(shown.end);
            let out = &mut out[faded.end - offset..shown.end - offset];
            if now.1 {
                let width = now.0.len();
                let from = &now.0[width - plain.end..width - plain.start];
                out.iter_mut().zip(from.iter().rev()).for_each(|(o, v)| *o = *v);
            } else {
                out.copy_from_slice(&now.0[plain]);
            }
            before = now;
        }
    }

    /// Row `y` of n. `h` and `sum` are buffers of a row.
    pub(super) fn rows(
        &self,
        level: Level,
        (seed, parts): (u64, &[Part]),
        y: usize,
        n: &mut [i16],
        (h, sum): (&mut [i16], &mut [i32]),
    ) {
        let (n, h, sum) = (&mut n[..self.width], &mut h[..self.width], &mut sum[..self.width]);
        let (overlap, distance) = (self.overlap.1, self.tile.1 - self.overlap.1);
        sum.fill(HALF);
        let mut whole = false;
        for &(frame, weight) in parts {
            let grid = self.grid(seed, frame);
            let at = y * self.step + (grid.offset.1 >> self.shift.1);
            let places = PlateTiling::places(at, distance, overlap);
            let only = parts.len() == 1;
            for (i, &place) in places.iter().flatten().enumerate() {
                let fade = match places[1] {
                    None => None,
                    Some(_) if i == 0 => Some(self.fades[1][place.1]),
                    Some(_) => Some(self.fades[1][overlap - 1 - (place.1 - distance)]),
                };
                let weight = match (fade, only) {
                    (None, true) => {
                        self.across(&grid, place, n);
                        whole = true;
                        continue;
                    }
                    (None, false) => weight,
                    (Some(fade), true) => fade,
                    (Some(fade), false) => saturated(i32::from(fade) * i32::from(weight)),
                };
                self.across(&grid, place, h);
                accumulate(level, sum, h, weight);
            }
        }
        if !whole {
            round_saturate(level, n, sum, SHIFT, i16::MIN);
        }
    }
}

/// A product of 1/32768 as a number, rounded.
fn saturated(product: i32) -> i16 {
    ((product + (1 << 14)) >> 15).clamp(-32768, 32767) as i16
}
