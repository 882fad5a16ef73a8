//! The grid on which the density is computed, and its interpolation.

use super::density::{Air, Octaves, Row, rows};
use crate::frame::Format;
use crate::host::{Executor, lock};
use crate::simd::{Level, multiversion};
use core::ops::Range;
use std::sync::Mutex;

/// A grid over a picture, with samples beyond its edges for interpolation.
pub(super) struct Grid {
    /// The distance of samples in luma samples, a power of 2.
    pub(super) step: usize,
    /// Columns and rows.
    pub(super) size: (usize, usize),
    /// Width and height of the picture in samples of one 1920 wide.
    pub(super) extent: [f64; 2],
    /// Such samples per luma sample, horizontally and vertically.
    unit: [f64; 2],
}

/// Samples before the first one in the picture.
const BEFORE: usize = 2;
/// The reach of the light of flames, in parts of their height, and light that is too weak.
pub(super) const GLOW: f64 = 0.2;
pub(super) const FAINT: f32 = 0.012;
/// Rows of a task.
const TASK: usize = 8;

/// Density and light of a moment.
#[derive(Default)]
pub(super) struct State {
    pub(super) density: Vec<f32>,
    /// From 0, in shadow, to 1. Of flames, their light on what is around them.
    pub(super) light: Vec<f32>,
    /// Whether there is anything in a row of the grid.
    pub(super) full: Vec<bool>,
}

/// Distances towards the light, in parts of the scale, and the weights of the density there.
pub(super) const STEPS: [(f64, f64); 5] = [(0.025, 0.2), (0.065, 0.2), (0.14, 0.2), (0.27, 0.2), (0.5, 0.2)];

#[inline(always)]
fn light_body(density: &[f32], towards: &[f32], shade: f32, out: &mut [f32]) {
    for ((out, own), towards) in out.iter_mut().zip(density).zip(towards) {
        let x = shade * 2.2 * (towards - 0.85 * own + 0.02);
        *out = 0.5 - 0.5 * x / (1.0 + x * x).sqrt();
    }
}

/// Adds a weighted row, interpolated between two samples.
#[inline(always)]
fn add_body(row: &[f32], by: [f32; 2], out: &mut [f32]) {
    let next = &row[1..];
    for ((out, a), b) in out.iter_mut().zip(row).zip(next) {
        *out += by[0] * a + by[1] * b;
    }
}

/// Filters of the first order along up to eight rows. Each waits for its last sample, so they take turns.
fn spread(keep: f32, rows: &mut [f32], len: usize, columns: impl Iterator<Item = usize>) {
    let mut last = [0.0; 8];
    for x in columns {
        for (last, row) in last.iter_mut().zip(rows.chunks_exact_mut(len)) {
            row[x] += keep * (*last - row[x]);
            *last = row[x];
        }
    }
}

/// The same from each row to the next.
fn blend(keep: f32, rows: &mut [&mut [f32]]) {
    if let [first, ..] = rows {
        first.iter_mut().for_each(|v| *v -= keep * *v);
    }
    for i in 1..rows.len() {
        let (last, row) = rows.split_at_mut(i);
        row[0].iter_mut().zip(&*last[i - 1]).for_each(|(v, last)| *v += keep * (last - *v));
    }
}

#[inline(always)]
fn mean_body(rows: [&[f32]; 4], by: [f32; 4], out: &mut [f32]) {
    let n = out.len();
    let [a, b, c, d] = rows.map(|row| &row[..n]);
    for i in 0..n {
        out[i] = a[i] * by[0] + b[i] * by[1] + c[i] * by[2] + d[i] * by[3];
    }
}

multiversion! {
    fn light(level, density: &[f32], towards: &[f32], shade: f32, out: &mut [f32]) = light_body;
    fn add(level, row: &[f32], by: [f32; 2], out: &mut [f32]) = add_body;
    fn mean(level, rows: [&[f32]; 4], by: [f32; 4], out: &mut [f32]) = mean_body;
}

/// The cubic B-spline's weights of four samples around a place, `t` after the second.
pub(super) fn spline(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    let near = |t: f64| (4.0 + t * t * (3.0 * t - 6.0)) / 6.0;
    [s * s * s / 6.0, near(t), near(s), t * t * t / 6.0]
}

impl Grid {
    /// A grid with about 480 columns.
    pub(super) fn new(format: &Format) -> Grid {
        let across = f64::from(format.width) / 480.0;
        let mut step = 1;
        while step as f64 * 1.42 <= across {
            step *= 2;
        }
        let size = |n: u32| (n as usize).div_ceil(step) + 6;
        let unit = 1920.0 / f64::from(format.width);
        let unit = [unit, unit / format.shape()];
        Grid {
            step,
            size: (size(format.width), size(format.height)),
            extent: [1920.0, f64::from(format.height) * unit[1]],
            unit,
        }
    }

    /// The place of a luma sample of the frame, among columns or rows: the first of four samples, and their weights.
    pub(super) fn place(&self, at: f64, count: usize) -> (usize, [f64; 4]) {
        let place = (at / self.step as f64 - 0.5 + BEFORE as f64).clamp(1.0, count as f64 - 3.0);
        let first = libm::floor(place);
        (first as usize - 1, spline(place - first))
    }

    /// The luma sample of the frame where a column or a row is.
    pub(super) fn site(&self, i: usize) -> f64 {
        (i as f64 - BEFORE as f64 + 0.5) * self.step as f64
    }

    /// The place of row `y` of plane `p`.
    pub(super) fn row_place(&self, format: &Format, p: usize, y: usize) -> (usize, [f64; 4]) {
        let (first, step) = format.frame_sites(p);
        self.place(first[1] + y as f64 * step[1], self.size.1)
    }

    /// A row of a grid at row `y` of plane `p`.
    pub(super) fn row(
        &self,
        level: Level,
        grid: &[f32],
        format: &Format,
        (p, y): (usize, usize),
        out: &mut [f32],
    ) {
        let (first, by) = self.row_place(format, p, y);
        self.between(level, grid, first, by, out);
    }

    /// The weighted mean of four rows of a grid.
    pub(super) fn between(&self, level: Level, grid: &[f32], first: usize, by: [f64; 4], out: &mut [f32]) {
        let len = self.size.0;
        mean(level, [0, 1, 2, 3].map(|i| &grid[(first + i) * len..][..len]), by.map(|v| v as f32), out);
    }

    /// Whether there is anything in the luma rows of a picture.
    pub(super) fn is_full(&self, state: &State, format: &Format, rows: &Range<usize>) -> bool {
        let [first, last] = [rows.start, rows.end].map(|y| self.row_place(format, 0, y).0);
        state.full[first..last + 4].contains(&true)
    }

    /// Row `j` of the grid.
    pub(super) fn air_row(&self, air: &Air, j: usize) -> Row {
        let x = [self.site(0) * self.unit[0], self.step as f64 * self.unit[0]];
        Row::new(air, x, self.site(j) * self.unit[1])
    }

    pub(super) fn state(
        &self,
        level: Level,
        air: &Air,
        (towards, shade): ([f64; 2], f64),
        mut state: State,
        executor: &dyn Executor,
    ) -> State {
        let (len, count) = self.size;
        let octaves = Octaves::new(air);
        state.density.resize(len * count, 0.0);
        state.light.resize(len * count, 0.0);
        let each = |grid: &mut [f32], task: &(dyn Fn(usize, &mut [f32]) + Sync)| {
            let parts: Vec<Mutex<&mut [f32]>> = grid.chunks_mut(TASK * len).map(Mutex::new).collect();
            executor.execute(parts.len(), &|part| task(part * TASK, &mut lock(&parts[part])));
        };
        each(&mut state.density, &|from, part| {
            rows(level, (air, &octaves), len, |y| self.air_row(air, from + y), part);
        });
        if air.is_flames() {
            self.glow(&state.density, air.height, &mut state.light);
        }
        let rows = state.density.chunks_exact(len).zip(state.light.chunks_exact(len));
        state.full = rows.map(|(heat, glow)| heat.iter().chain(glow).any(|v| *v != 0.0)).collect();
        if air.is_flames() {
            return state;
        }
        let density = &state.density;
        each(&mut state.light, &|from, part| {
            self.shade(level, density, air, (towards, shade as f32), from, part);
        });
        state
    }

    /// The light of flames on the picture: the square of their heat, which filters of the first order spread in four
    /// directions, twice. It ends where it cannot be seen, so that the rest of the picture is copied.
    fn glow(&self, heat: &[f32], height: f64, out: &mut [f32]) {
        let len = self.size.0;
        let keep = |i: usize| {
            let reach = GLOW * height / (self.unit[i] * self.step as f64);
            (reach / (1.0 + reach)) as f32
        };
        out.iter_mut().zip(heat).for_each(|(out, heat)| *out = 5.0 * heat * heat);
        let [across, down] = [keep(0), keep(1)];
        for _ in 0..2 {
            for rows in out.chunks_mut(8 * len) {
                spread(across, rows, len, 0..len);
                spread(across, rows, len, (0..len).rev());
            }
            let mut rows: Vec<&mut [f32]> = out.chunks_exact_mut(len).collect();
            for _ in 0..2 {
                blend(down, &mut rows);
                rows.reverse();
            }
        }
        out.iter_mut().for_each(|v| *v = if *v > FAINT { *v - FAINT } else { 0.0 });
    }

    /// The light of rows from `from` on.
    fn shade(
        &self,
        level: Level,
        density: &[f32],
        air: &Air,
        (direction, shade): ([f64; 2], f32),
        from: usize,
        out: &mut [f32],
    ) {
        let (len, count) = self.size;
        // Structures of a plume grow, and so does the reach of their shadows.
        let far = |j: usize, i: usize, part: f64| {
            let grown = self.step as f64 * self.unit[0] / f64::from(self.air_row(air, j).x[1]);
            part * air.scale * grown * direction[i] / (self.unit[i] * self.step as f64)
        };
        let rows = from..from + out.len() / len;
        let margin = rows.clone().map(|j| far(j, 0, STEPS[4].0).abs()).fold(0.0, f64::max) as usize + 2;
        let mut wide = vec![0.0; len + 2 * margin];
        let mut towards = vec![0.0; len];
        for (out, j) in out.chunks_exact_mut(len).zip(rows) {
            towards.fill(0.0);
            for (part, weight) in STEPS {
                let [x, y] = [far(j, 0, part), far(j, 1, part) + j as f64];
                let [left, top] = [x, y].map(libm::floor);
                let down = (y - top) as f32;
                let [a, b] = [top, top + 1.0]
                    .map(|y| &density[y.clamp(0.0, (count - 1) as f64) as usize * len..][..len]);
                let by = [1.0 - down, down, 0.0, 0.0];
                mean(level, [a, b, a, b], by, &mut wide[margin..margin + len]);
                let [low, high] = [wide[margin], wide[margin + len - 1]];
                wide[..margin].fill(low);
                wide[margin + len..].fill(high);
                let right = (x - left) as f32;
                let weight = weight as f32;
                let start = (margin as f64 + left) as usize;
                add(level, &wide[start..], [weight * (1.0 - right), weight * right], &mut towards);
            }
            let own = &density[j * len..][..len];
            light(level, own, &towards, shade, out);
        }
    }
}
