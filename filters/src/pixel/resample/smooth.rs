//! Rows for Gaussian blurs: symmetric sums of rows and of neighbours, and rows of half and of twice the resolution.
//!
//! In integers, samples have 16 bits and weights are multiples of 2^-15 whose sum is 1, so a flat row keeps its value; a
//! sum is made in 32 bits and rounded once.
//!
//! In registers, one instruction multiplies two samples by their weights. Vertically these are two rows, which are
//! interleaved first; horizontally they are two neighbours, once for the even and once for the odd samples of the result.
//! Products are signed, so samples are offset by -32768, between the two directions, too.

mod arch;

use super::weights_of;
use crate::frame::Sample;
use crate::simd::{Level, multiversion};
use arch::{interleave, sum_columns, sum_neighbours};
use bytemuck::Pod;

/// The largest reach of the weights to either side.
pub const MAX_REACH: usize = 15;

/// Fraction bits of integer weights.
const BITS: u32 = 15;

/// Columns that are summed vertically at a time, and rows of results for which rows are interleaved: they fit the
/// first-level cache.
const STRIP: usize = 256;
const CHUNK: usize = 32;

/// A sample type for blurs: `u16` with all bits in use, or `f32`.
pub trait Smooth: Sample {
    /// A weight.
    type Weight: Pod;
    /// A sum.
    type Sum: Copy;
    /// A sum of 0.
    const ZERO: Self::Sum;

    /// The weights of pairs of samples at the same distance, from a distance of 0 on; `list` has two or more weights of
    /// single samples. All samples' weights sum to 1.
    fn weights(list: &[f64]) -> Vec<Self::Weight>;

    /// Adds a pair to a sum.
    fn add_pair(sum: Self::Sum, a: Self, b: Self, w: Self::Weight) -> Self::Sum;

    /// A sum as a sample.
    fn of_sum(sum: Self::Sum) -> Self;

    /// The mean.
    fn mean(a: Self, b: Self) -> Self;

    /// Two neighbours with weights of 3/4 and 1/4.
    fn between(near: Self, far: Self) -> Self;

    /// Four neighbours with weights of 1/8, 3/8, 3/8 and 1/8.
    #[inline(always)]
    fn halve([a, b, c, d]: [Self; 4]) -> Self {
        Self::between(Self::mean(b, c), Self::mean(a, d))
    }
}

impl Smooth for u16 {
    type Weight = u16;
    type Sum = u32;
    const ZERO: u32 = 0;

    fn weights(list: &[f64]) -> Vec<u16> {
        // The middle is a pair with itself.
        let mut list = list.to_vec();
        list[0] *= 0.5;
        let mut fixed = weights_of(&list, BITS - 1);
        // Twice its weight must fit a signed number of 16 bits.
        let excess = (fixed[0] - 0x3fff).max(0);
        fixed[0] -= excess;
        fixed[1] += excess;
        fixed.into_iter().map(|w| w as u16).collect()
    }
    #[inline(always)]
    fn add_pair(sum: u32, a: u16, b: u16, w: u16) -> u32 {
        sum.wrapping_add((u32::from(a) + u32::from(b)).wrapping_mul(w.into()))
    }
    #[inline(always)]
    fn of_sum(sum: u32) -> u16 {
        (sum.wrapping_add(1 << (BITS - 1)) >> BITS) as u16
    }
    /// Halves up.
    #[inline(always)]
    fn mean(a: u16, b: u16) -> u16 {
        ((u32::from(a) + u32::from(b) + 1) >> 1) as u16
    }
    /// `(3 near + far + 2) / 4`, in 16 bits.
    #[inline(always)]
    fn between(near: u16, far: u16) -> u16 {
        u16::mean(near, (near & far) + ((near ^ far) >> 1))
    }
}

impl Smooth for f32 {
    type Weight = f32;
    type Sum = f32;
    const ZERO: f32 = 0.0;

    fn weights(list: &[f64]) -> Vec<f32> {
        let total = 2.0 * list.iter().sum::<f64>() - list[0];
        list.iter().enumerate().map(|(k, w)| (w / total * if k == 0 { 0.5 } else { 1.0 }) as f32).collect()
    }
    #[inline(always)]
    fn add_pair(sum: f32, a: f32, b: f32, w: f32) -> f32 {
        sum + (a + b) * w
    }
    /// A NaN without payload: payloads after arithmetic differ between machines.
    #[inline(always)]
    fn of_sum(sum: f32) -> f32 {
        if sum.is_nan() { f32::NAN } else { sum }
    }
    #[inline(always)]
    fn mean(a: f32, b: f32) -> f32 {
        a * 0.5 + b * 0.5
    }
    #[inline(always)]
    fn between(near: f32, far: f32) -> f32 {
        Smooth::of_sum(near * 0.75 + far * 0.25)
    }
}

/// The sums of pairs of rows, in blocks that fit the registers.
#[inline(always)]
fn pairs_body<T: Smooth>(out: &mut [T], pairs: &[(&[T], &[T])], w: &[T::Weight]) {
    let (blocks, rest) = out.as_chunks_mut::<32>();
    let done = 32 * blocks.len();
    for (x, out) in (0..).step_by(32).zip(blocks) {
        let mut sums = [T::ZERO; 32];
        for (&(a, b), &w) in pairs.iter().zip(w) {
            let (a, b) = (&a[x..x + 32], &b[x..x + 32]);
            for i in 0..32 {
                sums[i] = T::add_pair(sums[i], a[i], b[i], w);
            }
        }
        for i in 0..32 {
            out[i] = T::of_sum(sums[i]);
        }
    }
    for (x, out) in (done..).zip(rest) {
        let mut sum = T::ZERO;
        for (&(a, b), &w) in pairs.iter().zip(w) {
            sum = T::add_pair(sum, a[x], b[x], w);
        }
        *out = T::of_sum(sum);
    }
}

#[inline(always)]
fn halve_rows_body<T: Smooth>(out: &mut [T], [a, b, c, d]: [&[T]; 4]) {
    let n = out.len();
    let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
    for i in 0..n {
        out[i] = T::halve([a[i], b[i], c[i], d[i]]);
    }
}

#[inline(always)]
fn halve_body<T: Smooth>(out: &mut [T], row: &[T]) {
    let twos = row.as_chunks::<2>().0;
    for ((out, &[a, b]), &[c, d]) in out.iter_mut().zip(twos).zip(&twos[1..]) {
        *out = T::halve([a, b, c, d]);
    }
}

#[inline(always)]
fn between_body<T: Smooth>(out: &mut [T], near: &[T], far: &[T]) {
    for ((out, &near), &far) in out.iter_mut().zip(near).zip(far) {
        *out = T::between(near, far);
    }
}

#[inline(always)]
fn double_body<T: Smooth>(out: &mut [T], row: &[T]) {
    let (twos, rest) = out.as_chunks_mut::<2>();
    let n = twos.len();
    let (left, own, right) = (&row[..n], &row[1..n + 1], &row[2..n + 2]);
    for (i, out) in twos.iter_mut().enumerate() {
        *out = [T::between(own[i], left[i]), T::between(own[i], right[i])];
    }
    if let [last] = rest {
        *last = T::between(row[n + 1], row[n]);
    }
}

multiversion! {
    fn sum_pairs<T: Smooth>(level, out: &mut [T], pairs: &[(&[T], &[T])], w: &[T::Weight]) = pairs_body;
    /// A row of half the vertical resolution from four rows.
    pub fn halve_rows<T: Smooth>(level, out: &mut [T], rows: [&[T]; 4]) = halve_rows_body;
    /// A row of half the horizontal resolution: `out[i]` lies between samples `2 i + 1` and `2 i + 2` of the row.
    pub fn halve_row<T: Smooth>(level, out: &mut [T], row: &[T]) = halve_body;
    /// Interpolates a quarter of the way from the row `near` to the row `far`.
    pub fn between_rows<T: Smooth>(level, out: &mut [T], near: &[T], far: &[T]) = between_body;
    /// Two samples for each sample of the row but the first and the last, a quarter of a sample to its left and to its
    /// right.
    pub fn double_row<T: Smooth>(level, out: &mut [T], row: &[T]) = double_body;
}

/// Whether sums are made in registers; rows between the two directions are then offset.
fn in_registers<T>(level: Level) -> bool {
    size_of::<T>() == 2 && interleave(level, &mut [], &[], &[])
}

/// The weights of a symmetric window.
#[derive(Debug)]
pub struct Weights<T: Smooth> {
    /// The weights of pairs of samples at the same distance, from a distance of 0 on.
    pairs: Vec<T::Weight>,
    /// The weights of samples, two by two; the second list begins with half of a pair.
    twos: [Vec<i32>; 2],
}

impl<T: Smooth> Weights<T> {
    /// From the weights of the middle and of those to one side of it, of any sum: at least one, at most [`MAX_REACH`].
    pub fn new(list: &[f64]) -> Weights<T> {
        assert!((2..=MAX_REACH + 1).contains(&list.len()));
        let pairs = T::weights(list);
        let mut twos = [vec![], vec![]];
        if size_of::<T>() == 2 {
            let w: &[u16] = bytemuck::cast_slice(&pairs);
            let (middle, side) = (2 * w[0], &w[1..]);
            let all = side.iter().rev().copied().chain([middle]).chain(side.iter().copied());
            twos = [0, 1].map(|odd| {
                let mut all: Vec<u16> = core::iter::repeat_n(0, odd).chain(all.clone()).chain([0]).collect();
                all.truncate(2 * w.len());
                all.as_chunks::<2>().0.iter().map(|&[a, b]| i32::from(a) | i32::from(b) << 16).collect()
            });
        }
        Weights { pairs, twos }
    }

    /// The number of weights to one side of the middle.
    pub fn reach(&self) -> usize {
        self.pairs.len() - 1
    }
}

/// Samples that a row for [`blur_row`] has beyond its last sample.
pub const ROW_ROOM: usize = 132;

/// Room for [`blur_columns`].
pub const COLUMNS_ROOM: usize = 2 * STRIP * (CHUNK / 2 + MAX_REACH + 1);

/// Blurs `width` columns vertically into rows of `out`, which are `pitch` samples apart: result `i` is the sum of
/// `row(i)` to `row(i + 2 w.reach())`. It is for [`blur_row`] only.
pub fn blur_columns<'a, T: Smooth>(
    level: Level,
    (out, pitch, width): (&mut [T], usize, usize),
    row: impl Fn(usize) -> &'a [T],
    w: &Weights<T>,
    room: &mut [T],
) {
    let reach = w.reach();
    if !in_registers::<T>(level) {
        let mut pairs: [(&[T], &[T]); MAX_REACH + 1] = [(&[], &[]); _];
        for (i, out) in out.chunks_mut(pitch).enumerate() {
            for (k, pair) in pairs[..=reach].iter_mut().enumerate() {
                *pair = (row(i + reach - k), row(i + reach + k));
            }
            sum_pairs(level, &mut out[..width], &pairs[..=reach], &w.pairs);
        }
        return;
    }
    let room: &mut [u16] = bytemuck::cast_slice_mut(room);
    let last = out.len().div_ceil(pitch) - 1 + 2 * reach;
    for start in (0..width).step_by(STRIP) {
        let end = (start + STRIP).min(width);
        for (c, out) in out.chunks_mut(CHUNK * pitch).enumerate() {
            let count = out.len().div_ceil(pitch);
            let twos = &mut room[..2 * STRIP * (count.div_ceil(2) + reach)];
            for (j, block) in twos.chunks_exact_mut(2 * STRIP).enumerate() {
                let part = |i: usize| bytemuck::cast_slice(&row((CHUNK * c + i).min(last))[start..end]);
                interleave(level, block, part(2 * j), part(2 * j + 1));
            }
            for (i, out) in out.chunks_mut(pitch).enumerate() {
                let out = bytemuck::cast_slice_mut(&mut out[start..end]);
                sum_columns(level, out, &twos[i / 2 * 2 * STRIP..], &w.twos[i % 2]);
            }
        }
    }
}

/// Blurs a row of [`blur_columns`] horizontally: result `i` is the sum of the samples from `i` to `i + 2 w.reach()`. Panics
/// if the row has not [`ROW_ROOM`] samples more than that.
pub fn blur_row<T: Smooth>(level: Level, out: &mut [T], row: &[T], w: &Weights<T>) {
    let (n, reach) = (out.len(), w.reach());
    if in_registers::<T>(level) {
        let (out, row) = (bytemuck::cast_slice_mut(out), bytemuck::cast_slice(row));
        sum_neighbours(level, out, row, &w.twos[0]);
        return;
    }
    let mut pairs: [(&[T], &[T]); MAX_REACH + 1] = [(&[], &[]); _];
    for (k, pair) in pairs[..=reach].iter_mut().enumerate() {
        *pair = (&row[reach - k..][..n], &row[reach + k..][..n]);
    }
    sum_pairs(level, out, &pairs[..=reach], &w.pairs);
}
