//! Look-up tables of colours, applied to rows of R, G and B.
//!
//! In one dimension the value between two entries is linear. In three dimensions it is tetrahedral: the cell around a
//! colour is split into six tetrahedra along its grey diagonal, and the colour is interpolated between the four corners
//! of its own, so that greys on the diagonal depend on greys only. A corner's weight is the difference of two
//! neighbours in the descending order of the fractions; at equal fractions, where two orders are possible, the corner
//! in which they differ has the weight 0.

use crate::simd::{Level, multiversion};

/// The input range of a table, for R, G and B: below and above, its first and last entries hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Domain {
    /// The input of the first entry.
    pub min: [f32; 3],
    /// The input of the last entry, above `min`.
    pub max: [f32; 3],
}

impl Default for Domain {
    fn default() -> Domain {
        Domain { min: [0.0; 3], max: [1.0; 3] }
    }
}

/// How a channel's values become places in a table.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Axis {
    min: f32,
    scale: f32,
    last: u32,
}

impl Axis {
    fn new(domain: &Domain, channel: usize, entries: usize) -> Axis {
        let (min, max) = (f64::from(domain.min[channel]), f64::from(domain.max[channel]));
        let last = entries as u32 - 1;
        Axis { min: domain.min[channel], scale: (f64::from(last) / (max - min)) as f32, last }
    }

    /// The entry below a value, at most the last but one, and the fraction to the next. NaN is at the first.
    #[inline(always)]
    fn place(self, v: f32) -> (u32, f32) {
        let at = (v - self.min) * self.scale;
        let at = if at > 0.0 { at } else { 0.0 };
        let top = self.last as f32;
        let at = if at < top { at } else { top };
        let cell = (at as i32).min(self.last as i32 - 1);
        (cell as u32, at - cell as f32)
    }
}

/// A table for each channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Curves {
    axes: [Axis; 3],
    values: [Vec<f32>; 3],
}

impl Curves {
    /// The entries of R, G and B, from the lowest input to the highest: at least two.
    pub fn new(domain: &Domain, entries: &[[f32; 4]]) -> Curves {
        assert!(entries.len() > 1, "a table has two ends");
        let axes = [0, 1, 2].map(|c| Axis::new(domain, c, entries.len()));
        Curves { axes, values: [0, 1, 2].map(|c| entries.iter().map(|e| e[c]).collect()) }
    }

    /// Replaces rows of R, G and B.
    pub fn apply(&self, level: Level, rows: [&mut [f32]; 3]) {
        for (c, row) in rows.into_iter().enumerate() {
            curve(level, self.axes[c], &self.values[c], row);
        }
    }
}

#[inline(always)]
fn curve_body(axis: Axis, values: &[f32], row: &mut [f32]) {
    for v in row {
        let (at, part) = axis.place(*v);
        let (a, b) = (values[at as usize], values[at as usize + 1]);
        *v = a + part * (b - a);
    }
}

/// A table for all three channels together.
#[derive(Clone, PartialEq, Debug)]
pub struct Cube {
    axes: [Axis; 3],
    size: u32,
    /// R, G, B and nothing; red changes fastest.
    values: Vec<[f32; 4]>,
}

impl Cube {
    /// `size` entries per side, at least two; red changes fastest, then green.
    pub fn new(domain: &Domain, size: usize, values: Vec<[f32; 4]>) -> Cube {
        assert!(size > 1 && values.len() == size * size * size, "a cube has eight corners");
        let axes = [0, 1, 2].map(|c| Axis::new(domain, c, size));
        Cube { axes, size: size as u32, values }
    }

    /// Replaces rows of R, G and B of the same length.
    pub fn apply(&self, level: Level, rows: [&mut [f32]; 3]) {
        cube(level, self, rows);
    }
}

/// Pixels whose places are computed before their entries are read.
const BLOCK: usize = 64;

#[inline(always)]
fn cube_body(cube: &Cube, [r, g, b]: [&mut [f32]; 3]) {
    let (across, down) = (cube.size, cube.size * cube.size);
    let all = 1 + across + down;
    let n = r.len();
    let (g, b) = (&mut g[..n], &mut b[..n]);
    let mut corners = [[0u32; 4]; BLOCK];
    let mut weights = [[0f32; 4]; BLOCK];
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let (r, g, b) = (&mut r[start..end], &mut g[start..end], &mut b[start..end]);
        for i in 0..r.len() {
            let ((i0, x), (i1, y), (i2, z)) =
                (cube.axes[0].place(r[i]), cube.axes[1].place(g[i]), cube.axes[2].place(b[i]));
            let first = i0 + i1 * across + i2 * down;
            let (low, high) = (if x < y { x } else { y }, if x < y { y } else { x });
            let least = if low < z { low } else { z };
            let most = if high < z { z } else { high };
            let upper = if high < z { high } else { z };
            let middle = if low < upper { upper } else { low };
            // The steps along the axis of the largest fraction, and along that of the smallest.
            let step_most = if x < y {
                if y < z { down } else { across }
            } else if x < z {
                down
            } else {
                1
            };
            let step_least = if z <= y && z <= x {
                down
            } else if y <= x {
                across
            } else {
                1
            };
            corners[i] = [first, first + step_most, first + all - step_least, first + all];
            weights[i] = [1.0 - most, most - middle, middle - least, least];
        }
        for i in 0..r.len() {
            let (at, w) = (corners[i], weights[i]);
            let [p, q, s, t] = at.map(|at| &cube.values[at as usize]);
            let mut sum = [0.0; 4];
            for c in 0..4 {
                sum[c] = p[c] * w[0] + q[c] * w[1] + s[c] * w[2] + t[c] * w[3];
            }
            (r[i], g[i], b[i]) = (sum[0], sum[1], sum[2]);
        }
    }
}

#[inline(always)]
fn clip_body(row: &mut [f32]) {
    for v in row {
        let low = if *v > 0.0 { *v } else { 0.0 };
        *v = if low < 1.0 { low } else { 1.0 };
    }
}

multiversion! {
    fn curve(level, axis: Axis, values: &[f32], row: &mut [f32]) = curve_body;
    fn cube(level, cube: &Cube, rows: [&mut [f32]; 3]) = cube_body;
    /// Limits values to 0..1.
    pub fn clip(level, row: &mut [f32]) = clip_body;
}
