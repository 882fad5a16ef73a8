//! A Gaussian of large sigma, at reduced resolution.
//!
//! A cell is the mean of a square (or rectangle) of samples at positions that do not depend on the band, so that bands
//! agree. Averaging over D samples has a variance of (D^2 - 1) / 12, and linear interpolation between cells D^2 / 6;
//! the Gaussian on the cells has the rest of sigma^2.

use super::{Job, gaussian, pad};
use crate::frame::Scratch;
use crate::pixel::convert::CodeSample;
use crate::pixel::resample::{Kernel, Pass, convolve_row, convolve_rows};
use crate::simd::multiversion;

/// The sigma in samples above which this method is used.
pub(super) const FROM: f64 = 8.0;

/// The reduction of one axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// log2 of samples per cell.
    log: u32,
    /// The number of cells.
    cells: usize,
    /// Sigma of the Gaussian on the cells.
    sigma: f64,
}

impl Axis {
    fn new(sigma: f64, len: usize) -> Axis {
        let mut log = 0;
        while log < 7 && sigma / f64::from(2u32 << log) >= 4.0 {
            log += 1;
        }
        let d = f64::from(1u32 << log);
        let own = if log == 0 { 0.0 } else { (d * d - 1.0) / 12.0 + d * d / 6.0 };
        Axis { log, cells: len.div_ceil(1 << log), sigma: (sigma * sigma - own).max(0.0).sqrt() / d }
    }

    /// The cell left of sample `i` (it may be -1), and the fraction towards the next in 1/(2D).
    fn place(self, i: usize) -> (i64, u32) {
        let d = 1i64 << self.log;
        let at = 2 * i as i64 + 1 - d;
        if self.log == 0 { (i as i64, 0) } else { (at.div_euclid(2 * d), at.rem_euclid(2 * d) as u32) }
    }
}

/// Blurs the rows of the output in this band.
pub(super) fn render<T: Coarse>(job: Job<'_, '_>, sigmas: [f64; 2], scratch: &mut Scratch) {
    let height = job.input.height();
    let (xs, ys) = (Axis::new(sigmas[0], job.width), Axis::new(sigmas[1], height));
    let [across, down] = [xs.sigma, ys.sigma].map(|s| T::Wide::weights(&gaussian(s)));
    let [left, up] = [across.len() / 2, down.len() / 2];
    let rows = job.output.rows();
    if rows.is_empty() {
        return;
    }
    // The blurred cells between which the band's rows lie, and the cells that they depend on. One more cell at
    // each end repeats the outermost samples.
    let cell = |c: i64| c.clamp(-1, ys.cells as i64);
    let (from, to) = (ys.place(rows.start).0, ys.place(rows.end - 1).0 + 1);
    let (first, last) = (cell(from - up as i64), cell(to + up as i64));
    let (m, count) = (xs.cells + 2, (last - first + 1) as usize);
    let high = (to - from + 1) as usize;
    let lens = [m * count, m * high, job.width.max(m), m, m + 2 * left];
    let [cells, blurred, acc, wide, padded] = scratch.buffers::<u32, 5>(lens);
    let cells = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(cells)[..m * count];
    let blurred = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(blurred)[..m * high];
    let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
    let wide = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(wide)[..m];
    let padded = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(padded)[..m + 2 * left];

    for (i, out) in (0i64..).zip(cells.chunks_exact_mut(m)) {
        let sums = &mut acc[..job.width];
        sums.fill(T::ZERO);
        for k in 0..1 << ys.log {
            let y = ((first + i) << ys.log) + k;
            add_row(job.level, sums, job.input.row::<T>(y.clamp(0, height as i64 - 1) as usize));
        }
        average::<T>(job.level, out, sums, (xs.log, ys.log), job.bits);
    }
    for (i, out) in (0i64..).zip(blurred.chunks_exact_mut(m)) {
        let row = |k: usize| &cells[(cell(from + i + k as i64 - up as i64) - first) as usize * m..][..m];
        convolve_rows(job.level, (wide, acc), &down, row, (16, Pass::Direct));
        pad(padded, wide, left);
        convolve_row(job.level, (out, acc), padded, &across, (16, Pass::Direct));
    }
    for y in rows {
        let (top, part) = ys.place(y);
        let row = |c: i64| &blurred[((c - from).min(to - from) as usize) * m..][..m];
        let out = job.output.row_mut::<T>(y);
        between::<T>(job.level, out, [row(top), row(top + 1)], part, (xs, ys), &mut acc[..m], job.bits);
    }
}

#[inline(always)]
fn add_body<T: Coarse>(sums: &mut [T::Sum], row: &[T]) {
    sums.iter_mut().zip(row).for_each(|(sum, v)| *sum = v.add_to(*sum, T::UNIT));
}

multiversion! {
    fn add_row<T: Coarse>(level, sums: &mut [T::Sum], row: &[T]) = add_body;
    fn average<T: Coarse>(level, out: &mut [T::Wide], sums: &[T::Sum], logs: (u32, u32), bits: u8) = T::average;
    fn between<T: Coarse>(
        level, out: &mut [T], rows: [&[T::Wide]; 2], part: u32, axes: (Axis, Axis), room: &mut [T::Sum], bits: u8,
    ) = T::between;
}

/// The operations on samples of the reduced picture.
pub(super) trait Coarse: Kernel {
    /// Means of cells of `1 << lx` by `1 << ly` samples, from sums of their rows; before the first and after the
    /// last cell, those of the outermost samples.
    fn average(out: &mut [Self::Wide], sums: &[Self::Sum], logs: (u32, u32), bits: u8);

    /// Interpolates a row of samples between two rows of cells, `part` of the way down in 1/(2D). `room` has the length
    /// of a row of cells.
    fn between(
        out: &mut [Self],
        rows: [&[Self::Wide]; 2],
        part: u32,
        axes: (Axis, Axis),
        room: &mut [Self::Sum],
        bits: u8,
    );
}

/// 2D, or 1 if the axis is not reduced.
fn whole(log: u32) -> u32 {
    if log == 0 { 1 } else { 2 << log }
}

/// Calls `each(sample, cell, part)` for the samples from `x` on; cells are counted from the one before the first.
#[inline(always)]
fn places<T>(axis: Axis, x: usize, out: &mut [T], mut each: impl FnMut(&mut T, usize, u32)) {
    for (x, out) in (x..).zip(out) {
        let (cell, part) = axis.place(x);
        each(out, (cell + 1) as usize, part);
    }
}

/// Means of whole cells of `D` columns.
#[inline(always)]
fn means<const D: usize>(out: &mut [u16], sums: &[i32], mean: impl Fn(i32) -> u16) {
    for (out, cell) in out.iter_mut().zip(sums.as_chunks::<D>().0) {
        *out = mean(cell.iter().sum());
    }
}

/// The samples between the centres of cells `D` columns wide, from the first on; returns their number.
#[inline(always)]
fn interpolate<T: CodeSample, const D: usize>(
    out: &mut [T],
    cells: &[i32],
    (half, shift, top): (u32, u32, u32),
) -> usize {
    let (spans, _) = out.as_chunks_mut::<D>();
    for ((span, &a), &b) in spans.iter_mut().zip(cells).zip(&cells[1..]) {
        for (j, out) in (0u32..).zip(span) {
            let sum = a as u32 * (2 * D as u32 - 2 * j - 1) + b as u32 * (2 * j + 1) + half;
            *out = T::from_code((sum >> shift).min(top) as u16);
        }
    }
    spans.len() * D
}

impl<T: CodeSample> Coarse for T {
    #[inline(always)]
    fn average(out: &mut [u16], sums: &[i32], (lx, ly): (u32, u32), bits: u8) {
        let lift = 16 - u32::from(bits);
        let half = (1i32 << (lx + ly)) >> 1;
        let d = 1usize << lx;
        let (first, last) = (sums[0], sums[sums.len() - 1]);
        let mean = |sum: i32| (((sum << lift) + half) >> (lx + ly)) as u16;
        let end = out.len() - 1;
        (out[0], out[end]) = (mean(first << lx), mean(last << lx));
        let out = &mut out[1..end];
        match lx {
            0 => means::<1>(out, sums, mean),
            1 => means::<2>(out, sums, mean),
            2 => means::<4>(out, sums, mean),
            3 => means::<8>(out, sums, mean),
            _ => out
                .iter_mut()
                .zip(sums.chunks_exact(d))
                .for_each(|(out, cell)| *out = mean(cell.iter().sum())),
        }
        let rest = sums.chunks_exact(d).remainder();
        if let Some(out) = out.last_mut().filter(|_| !rest.is_empty()) {
            // A cell at the edge of the picture repeats the last sample.
            *out = mean(rest.iter().sum::<i32>() + last * (d - rest.len()) as i32);
        }
    }

    #[inline(always)]
    fn between(
        out: &mut [T],
        [a, b]: [&[u16]; 2],
        part: u32,
        (xs, ys): (Axis, Axis),
        room: &mut [i32],
        bits: u8,
    ) {
        let (down, across) = (whole(ys.log), whole(xs.log));
        for ((v, &a), &b) in room.iter_mut().zip(a).zip(b) {
            *v = (u32::from(a) * (down - part) + u32::from(b) * part) as i32;
        }
        let shift = down.trailing_zeros() + across.trailing_zeros() + 16 - u32::from(bits);
        let half = (1u32 << shift) >> 1;
        let top = (1u32 << bits) - 1;
        let each = |out: &mut T, l: usize, part: u32| {
            let sum = room[l] as u32 * (across - part) + room[l + 1] as u32 * part;
            *out = T::from_code(((sum + half) >> shift).min(top) as u16);
        };
        // The first half of a cell lies before its centre.
        let first = ((1 << xs.log) / 2).min(out.len());
        let (before, rest) = out.split_at_mut(first);
        places(xs, 0, before, each);
        let (cells, to) = (&room[1..], (half, shift, top));
        let done = match xs.log {
            1 => interpolate::<T, 2>(rest, cells, to),
            2 => interpolate::<T, 4>(rest, cells, to),
            3 => interpolate::<T, 8>(rest, cells, to),
            4 => interpolate::<T, 16>(rest, cells, to),
            _ => 0,
        };
        places(xs, first + done, &mut rest[done..], each);
    }
}

impl Coarse for f32 {
    #[inline(always)]
    fn average(out: &mut [f32], sums: &[f32], (lx, ly): (u32, u32), _: u8) {
        let d = 1usize << lx;
        let part = 1.0 / (1u32 << (lx + ly)) as f32;
        let (first, last) = (sums[0], sums[sums.len() - 1]);
        let end = out.len() - 1;
        (out[0], out[end]) = (first * d as f32 * part, last * d as f32 * part);
        for (out, cell) in out[1..end].iter_mut().zip(sums.chunks(d)) {
            let sum = cell.iter().fold(0.0f32, |s, v| s + v) + last * (d - cell.len()) as f32;
            *out = sum * part;
        }
    }

    #[inline(always)]
    fn between(
        out: &mut [f32],
        [a, b]: [&[f32]; 2],
        part: u32,
        (xs, ys): (Axis, Axis),
        room: &mut [f32],
        _: u8,
    ) {
        let (down, across) = (whole(ys.log) as f32, whole(xs.log) as f32);
        for ((v, &a), &b) in room.iter_mut().zip(a).zip(b) {
            *v = (a * (down - part as f32) + b * part as f32) * (1.0 / down);
        }
        places(xs, 0, out, |out, l, part| {
            let v = (room[l] * (across - part as f32) + room[l + 1] * part as f32) * (1.0 / across);
            *out = if v.is_nan() { f32::NAN } else { v };
        });
    }
}
