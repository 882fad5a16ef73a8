//! A Gaussian of large sigma, at reduced resolution.
//!
//! A cell is the mean of a square (or rectangle) of samples at positions that do not depend on the band, so that bands
//! agree. Averaging over D samples has a variance of (D^2 - 1) / 12, and linear interpolation between cells D^2 / 6;
//! the Gaussian on the cells has the rest of sigma^2.

use super::{Job, gaussian, pad};
use crate::frame::Scratch;
use crate::pixel::convert::CodeSample;
use crate::pixel::resample::{Kernel, Pass, accumulate_rows, accumulate_shifted, round_saturate};

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
    let ones = vec![T::UNIT; 1 << ys.log];
    let lens = [m * count, m * high, job.width.max(m), m, m + 2 * left];
    let [cells, blurred, acc, wide, padded] = scratch.buffers::<u32, 5>(lens);
    let cells = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(cells)[..m * count];
    let blurred = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(blurred)[..m * high];
    let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
    let wide = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(wide)[..m];
    let padded = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(padded)[..m + 2 * left];

    for (i, out) in (0i64..).zip(cells.chunks_exact_mut(m)) {
        let row = |k: usize| {
            let y = ((first + i) << ys.log) + k as i64;
            job.input.row::<T>(y.clamp(0, height as i64 - 1) as usize)
        };
        accumulate_rows(job.level, &mut acc[..job.width], &ones, row);
        T::average(out, &acc[..job.width], (xs.log, ys.log), job.bits);
    }
    for (i, out) in (0i64..).zip(blurred.chunks_exact_mut(m)) {
        let row = |k: usize| &cells[(cell(from + i + k as i64 - up as i64) - first) as usize * m..][..m];
        accumulate_rows(job.level, &mut acc[..m], &down, row);
        round_saturate(job.level, wide, &acc[..m], 16, Pass::Direct);
        pad(padded, wide, left);
        accumulate_shifted(job.level, &mut acc[..m], padded, &across);
        round_saturate(job.level, out, &acc[..m], 16, Pass::Direct);
    }
    for y in rows {
        let (top, part) = ys.place(y);
        let row = |c: i64| &blurred[((c - from).min(to - from) as usize) * m..][..m];
        T::between(
            job.output.row_mut::<T>(y),
            [row(top), row(top + 1)],
            part,
            (xs, ys),
            &mut acc[..m],
            job.bits,
        );
    }
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

/// Calls `each(sample, cell, part)`; cells are counted from the one before the first.
fn places(axis: Axis, count: usize, mut each: impl FnMut(usize, usize, u32)) {
    for x in 0..count {
        let (c, part) = axis.place(x);
        each(x, (c + 1) as usize, part);
    }
}

impl<T: CodeSample> Coarse for T {
    fn average(out: &mut [u16], sums: &[i32], (lx, ly): (u32, u32), bits: u8) {
        let lift = 16 - u32::from(bits);
        let half = (1i32 << (lx + ly)) >> 1;
        let d = 1usize << lx;
        let (first, last) = (sums[0], sums[sums.len() - 1]);
        let mean = |sum: i32| (((sum << lift) + half) >> (lx + ly)) as u16;
        let end = out.len() - 1;
        (out[0], out[end]) = (mean(first << lx), mean(last << lx));
        for (out, cell) in out[1..end].iter_mut().zip(sums.chunks(d)) {
            // A cell at the edge of the picture repeats the last sample.
            let sum = cell.iter().sum::<i32>() + last * (d - cell.len()) as i32;
            *out = mean(sum);
        }
    }

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
        places(xs, out.len(), |x, l, part| {
            let sum = room[l] as u32 * (across - part) + room[l + 1] as u32 * part;
            out[x] = <T as CodeSample>::of(((sum + half) >> shift).min(top) as u16);
        });
    }
}

impl Coarse for f32 {
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
        places(xs, out.len(), |x, l, part| {
            let v = (room[l] * (across - part as f32) + room[l + 1] * part as f32) * (1.0 / across);
            out[x] = if v.is_nan() { f32::NAN } else { v };
        });
    }
}
