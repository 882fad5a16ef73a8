//! Sums of whole rows, of shifted rows, and of windows at individual positions.

use super::arch::{self, MAX_TAPS};
use super::{BITS, weights};
use crate::frame::Sample;
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, multiversion};
use bytemuck::Pod;

/// The passes: between samples of a plane and intermediate values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// From samples to intermediate values.
    Widen,
    /// From intermediate values to samples.
    Narrow,
    /// From samples to samples.
    Direct,
}

/// A sample type for weighted sums.
pub trait Kernel: Sample {
    /// A weight, and a sum: `i32` or `f32`.
    type Sum: Pod + Send + Sync;
    /// The type of intermediate values between two passes: samples scaled to 16 bits, or `f32`.
    type Wide: Kernel<Sum = Self::Sum>;

    /// Weights for this sample type, normalised to a sum of 1.
    fn weights(list: &[f64]) -> Vec<Self::Sum>;

    /// A sum of 0.
    const ZERO: Self::Sum;

    /// A weight that adds samples as they are.
    const UNIT: Self::Sum;

    /// The sample times `w`, added to a sum.
    fn add_to(self, sum: Self::Sum, w: Self::Sum) -> Self::Sum;

    /// A sum, shifted, rounded and clamped to `0..=top`, as a sample of its plane.
    fn of_sum(sum: Self::Sum, shift: u32, top: i32) -> Self;

    /// A whole number or float as a sample.
    fn from_f64(v: f64) -> Self;

    /// As a number.
    fn number(self) -> f64;
}

/// The shift of a sum, and the highest result; unused for float samples.
pub(super) fn shift<T>(bits: u8, pass: Pass) -> (u32, i32) {
    if size_of::<T>() == 4 {
        return (0, 0);
    }
    let lift = 16 - u32::from(bits);
    match pass {
        Pass::Widen => (BITS - lift, 65535),
        Pass::Narrow => (BITS + lift, (1 << bits) - 1),
        Pass::Direct => (BITS, (1 << bits) - 1),
    }
}

impl<T: CodeSample> Kernel for T {
    type Sum = i32;
    type Wide = u16;
    const ZERO: i32 = 0;
    const UNIT: i32 = 1;

    fn weights(list: &[f64]) -> Vec<i32> {
        weights(list)
    }
    #[inline(always)]
    fn add_to(self, sum: i32, w: i32) -> i32 {
        sum.wrapping_add(i32::from(self.code()).wrapping_mul(w))
    }
    #[inline(always)]
    fn of_sum(sum: i32, shift: u32, top: i32) -> T {
        T::from_code((sum.wrapping_add((1 << shift) >> 1) >> shift).clamp(0, top) as u16)
    }
    fn from_f64(v: f64) -> T {
        T::from_code(libm::floor(v + 0.5) as u16)
    }
    fn number(self) -> f64 {
        self.code().into()
    }
}

impl Kernel for f32 {
    type Sum = f32;
    type Wide = f32;
    const ZERO: f32 = 0.0;
    const UNIT: f32 = 1.0;

    fn weights(list: &[f64]) -> Vec<f32> {
        // Computed from the integer weights if those fall back to one tap.
        let total: f64 = list.iter().sum();
        if list.is_empty() || !(total > 0.0 && total.is_finite()) {
            return weights(list).iter().map(|&w| w as f32 / (1u32 << BITS) as f32).collect();
        }
        list.iter().map(|w| (w / total) as f32).collect()
    }
    #[inline(always)]
    fn add_to(self, sum: f32, w: f32) -> f32 {
        sum + self * w
    }
    /// A NaN without payload: payloads after arithmetic differ between machines.
    #[inline(always)]
    fn of_sum(sum: f32, _: u32, _: i32) -> f32 {
        if sum.is_nan() { f32::NAN } else { sum }
    }
    fn from_f64(v: f64) -> f32 {
        v as f32
    }
    fn number(self) -> f64 {
        self.into()
    }
}

#[inline(always)]
fn four_body<T: Kernel>(acc: &mut [T::Sum], rows: [&[T]; 4], w: [T::Sum; 4], add: bool) {
    let n = acc.len();
    let [a, b, c, d] = rows.map(|r| &r[..n]);
    for i in 0..n {
        let sum = if add { acc[i] } else { T::ZERO };
        acc[i] = d[i].add_to(c[i].add_to(b[i].add_to(a[i].add_to(sum, w[0]), w[1]), w[2]), w[3]);
    }
}

#[inline(always)]
fn one_body<T: Kernel>(acc: &mut [T::Sum], row: &[T], w: T::Sum, add: bool) {
    for (acc, x) in acc.iter_mut().zip(row) {
        *acc = x.add_to(if add { *acc } else { T::ZERO }, w);
    }
}

#[inline(always)]
fn dot_body<T: Kernel>(acc: &mut [T::Sum], row: &[T], at: &[u32], w: &[T::Sum]) {
    let dot = |x: &[T], w: &[T::Sum]| x.iter().zip(w).fold(T::ZERO, |sum, (x, &w)| x.add_to(sum, w));
    match w.len() / at.len().max(1) {
        4 => {
            for ((acc, &at), w) in acc.iter_mut().zip(at).zip(w.chunks_exact(4)) {
                *acc = dot(&row[at as usize..][..4], w);
            }
        }
        n => {
            for ((acc, &at), w) in acc.iter_mut().zip(at).zip(w.chunks_exact(n.max(1))) {
                *acc = dot(&row[at as usize..][..n], w);
            }
        }
    }
}

#[inline(always)]
fn round_body<T: Kernel>(out: &mut [T], acc: &[T::Sum], shift: u32, top: i32) {
    out.iter_mut().zip(acc).for_each(|(out, &sum)| *out = T::of_sum(sum, shift, top));
}

#[inline(always)]
fn carry_body(out: &mut [f32], own: &[f32]) {
    for (out, own) in out.iter_mut().zip(own) {
        *out = if out.is_finite() && own.is_finite() { *out } else { *own };
    }
}

multiversion! {
    /// Copies the source's `own` samples, as many as `out` has, where they, or the sums in `out`, are not finite.
    pub fn carry(level, out: &mut [f32], own: &[f32]) = carry_body;
    /// `acc = a w[0] + b w[1] + c w[2] + d w[3]`, added to `acc` with `add`. Rows have at least its length.
    pub fn accumulate4<T: Kernel>(level, acc: &mut [T::Sum], rows: [&[T]; 4], w: [T::Sum; 4], add: bool) = four_body;
    /// `acc = row w`, or added.
    pub fn accumulate1<T: Kernel>(level, acc: &mut [T::Sum], row: &[T], w: T::Sum, add: bool) = one_body;
    fn dot<T: Kernel>(level, acc: &mut [T::Sum], row: &[T], at: &[u32], w: &[T::Sum]) = dot_body;
    fn round<T: Kernel>(level, out: &mut [T], acc: &[T::Sum], shift: u32, top: i32) = round_body;
}

/// Rounds sums; `bits` is the depth of the plane's samples. An intermediate row has the type [`Wide`](Kernel::Wide).
pub fn round_saturate<T: Kernel>(level: Level, out: &mut [T], acc: &[T::Sum], bits: u8, pass: Pass) {
    let (by, top) = shift::<T>(bits, pass);
    round(level, out, acc, by, top);
}

/// A weighted sum of rows, rounded; `row(k)` is the row of weight `w[k]`. Rows and `acc`, which is overwritten, are at
/// least as long as `out`. `bits` is the depth of the plane's samples.
pub fn convolve_rows<'a, S: Kernel, D: Kernel<Sum = S::Sum>>(
    level: Level,
    (out, acc): (&mut [D], &mut [S::Sum]),
    w: &[S::Sum],
    row: impl Fn(usize) -> &'a [S],
    (bits, pass): (u8, Pass),
) {
    let n = out.len();
    if size_of::<S>() == 2 && size_of::<D>() == 2 && (1..=MAX_TAPS).contains(&w.len()) {
        let mut rows: [&[u16]; MAX_TAPS] = [&[]; MAX_TAPS];
        let rows = &mut rows[..w.len()];
        rows.iter_mut().enumerate().for_each(|(k, r)| *r = bytemuck::cast_slice(row(k)));
        let (by, top) = shift::<D>(bits, pass);
        let (out, w) = (bytemuck::cast_slice_mut(out), bytemuck::cast_slice(w));
        if arch::weighted_sum(level, out, rows, w, by, top as u16) {
            return;
        }
    }
    let acc = &mut acc[..n];
    let fours = w.chunks_exact(4);
    let rest = fours.remainder();
    for (i, w) in fours.enumerate() {
        let k = 4 * i;
        let rows = [row(k), row(k + 1), row(k + 2), row(k + 3)];
        accumulate4(level, acc, rows, [w[0], w[1], w[2], w[3]], i > 0);
    }
    let first = w.len() - rest.len();
    for (k, &w) in (first..).zip(rest) {
        accumulate1(level, acc, row(k), w, k > 0);
    }
    if w.is_empty() {
        acc.fill(S::ZERO);
    }
    round_saturate(level, out, acc, bits, pass);
}

/// The same of one row, shifted by one more sample for each weight.
pub fn convolve_row<S: Kernel, D: Kernel<Sum = S::Sum>>(
    level: Level,
    out: (&mut [D], &mut [S::Sum]),
    row: &[S],
    w: &[S::Sum],
    to: (u8, Pass),
) {
    let n = out.0.len();
    convolve_rows(level, out, w, |k| &row[k..k + n], to);
}

/// Sums over windows of the same length that begin at `at[i]` in `row`, each with its own weights.
pub fn dot_row<T: Kernel>(level: Level, acc: &mut [T::Sum], row: &[T], at: &[u32], w: &[T::Sum]) {
    assert!(acc.len() == at.len() && (at.is_empty() || w.len().is_multiple_of(at.len())));
    dot(level, acc, row, at, w);
}
