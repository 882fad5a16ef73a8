//! Sums of whole rows, of shifted rows, and of windows that differ from sample to sample.

use super::{BITS, weights};
use crate::frame::Sample;
use crate::simd::{Level, multiversion};
use bytemuck::Pod;

/// Where a row comes from and goes to: a plane's samples, or what stands between two passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// From samples to what stands between.
    Widen,
    /// From what stands between to samples.
    Narrow,
    /// From samples to samples.
    Direct,
}

/// A sample that weighted sums can be made of.
pub trait Kernel: Sample {
    /// A weight, and a sum: `i32` or `f32`.
    type Sum: Pod + Send + Sync;
    /// What stands between two passes: samples lifted to 16 bits, or `f32`.
    type Wide: Kernel<Sum = Self::Sum>;

    /// Weights for this kind of sample, normalised to a sum of 1.
    fn weights(list: &[f64]) -> Vec<Self::Sum>;

    /// A sum of 0.
    const ZERO: Self::Sum;

    /// A weight that adds samples as they are.
    const UNIT: Self::Sum;

    /// `acc = a w[0] + b w[1] + c w[2] + d w[3]`, added to what is there with `add`.
    fn accumulate4(level: Level, acc: &mut [Self::Sum], rows: [&[Self]; 4], w: [Self::Sum; 4], add: bool);

    /// `acc = row w`, or added.
    fn accumulate1(level: Level, acc: &mut [Self::Sum], row: &[Self], w: Self::Sum, add: bool);

    /// `out[i] = sum(row[at[i] + k] w[i n + k])`, k below n.
    fn dot(level: Level, acc: &mut [Self::Sum], row: &[Self], at: &[u32], w: &[Self::Sum]);

    /// Rounds sums; `bits` are those of the plane's samples. A row that has been widened is of type [`Wide`](Kernel::Wide).
    fn round_saturate<O: Kernel>(level: Level, out: &mut [O], acc: &[Self::Sum], bits: u8, pass: Pass);

    /// One sum, rounded, as a sample of its plane.
    fn of_sum(sum: Self::Sum, shift: u32, top: i32) -> Self;

    /// A whole number or float as a sample.
    fn of(v: f64) -> Self;

    /// As a number.
    fn number(self) -> f64;

    /// As a part of a sum.
    fn part(self) -> Self::Sum;
}

/// What a sum is shifted by, and the highest result.
pub(super) fn shift(bits: u8, pass: Pass) -> (u32, i32) {
    let lift = 16 - u32::from(bits);
    match pass {
        Pass::Widen => (BITS - lift, 65535),
        Pass::Narrow => (BITS + lift, (1 << bits) - 1),
        Pass::Direct => (BITS, (1 << bits) - 1),
    }
}

macro_rules! integer {
    ($t:ty, $four:ident, $one:ident, $dot:ident, $round_saturate:ident, $four_body:ident, $one_body:ident, $dot_body:ident, $round_saturate_body:ident) => {
        #[inline(always)]
        fn $four_body(acc: &mut [i32], rows: [&[$t]; 4], w: [i32; 4], add: bool) {
            let n = acc.len();
            let [a, b, c, d] = rows.map(|r| &r[..n]);
            for i in 0..n {
                let sum =
                    (i32::from(a[i]).wrapping_mul(w[0])).wrapping_add(i32::from(b[i]).wrapping_mul(w[1]));
                let more =
                    (i32::from(c[i]).wrapping_mul(w[2])).wrapping_add(i32::from(d[i]).wrapping_mul(w[3]));
                acc[i] = sum.wrapping_add(more).wrapping_add(if add { acc[i] } else { 0 });
            }
        }

        #[inline(always)]
        fn $one_body(acc: &mut [i32], row: &[$t], w: i32, add: bool) {
            for (acc, &x) in acc.iter_mut().zip(row) {
                *acc = i32::from(x).wrapping_mul(w).wrapping_add(if add { *acc } else { 0 });
            }
        }

        #[inline(always)]
        fn $dot_body(acc: &mut [i32], row: &[$t], at: &[u32], w: &[i32]) {
            let n = w.len() / at.len().max(1);
            let dot = |x: &[$t], w: &[i32]| {
                x.iter().zip(w).fold(0i32, |s, (&x, &w)| s.wrapping_add(i32::from(x).wrapping_mul(w)))
            };
            match n {
                4 => {
                    for ((acc, &at), w) in acc.iter_mut().zip(at).zip(w.chunks_exact(4)) {
                        *acc = dot(&row[at as usize..][..4], w);
                    }
                }
                _ => {
                    for ((acc, &at), w) in acc.iter_mut().zip(at).zip(w.chunks_exact(n.max(1))) {
                        *acc = dot(&row[at as usize..][..n], w);
                    }
                }
            }
        }

        #[inline(always)]
        fn $round_saturate_body(out: &mut [$t], acc: &[i32], shift: u32, top: i32) {
            let half = (1 << shift) >> 1;
            for (out, &sum) in out.iter_mut().zip(acc) {
                *out = (sum.wrapping_add(half) >> shift).clamp(0, top) as $t;
            }
        }

        multiversion! {
            fn $four(level, acc: &mut [i32], rows: [&[$t]; 4], w: [i32; 4], add: bool) = $four_body;
            fn $one(level, acc: &mut [i32], row: &[$t], w: i32, add: bool) = $one_body;
            fn $dot(level, acc: &mut [i32], row: &[$t], at: &[u32], w: &[i32]) = $dot_body;
            fn $round_saturate(level, out: &mut [$t], acc: &[i32], shift: u32, top: i32) = $round_saturate_body;
        }

        impl Kernel for $t {
            type Sum = i32;
            type Wide = u16;
            const ZERO: i32 = 0;
            const UNIT: i32 = 1;

            fn weights(list: &[f64]) -> Vec<i32> {
                weights(list)
            }
            fn accumulate4(level: Level, acc: &mut [i32], rows: [&[$t]; 4], w: [i32; 4], add: bool) {
                $four(level, acc, rows, w, add);
            }
            fn accumulate1(level: Level, acc: &mut [i32], row: &[$t], w: i32, add: bool) {
                $one(level, acc, row, w, add);
            }
            fn dot(level: Level, acc: &mut [i32], row: &[$t], at: &[u32], w: &[i32]) {
                $dot(level, acc, row, at, w);
            }
            fn round_saturate<O: Kernel>(level: Level, out: &mut [O], acc: &[i32], bits: u8, pass: Pass) {
                let (shift, top) = shift(bits, pass);
                // Bytes, since the type is one of two.
                if size_of::<O>() == 1 {
                    round_saturate_u8(level, bytemuck::cast_slice_mut(out), acc, shift, top);
                } else {
                    round_saturate_u16(level, bytemuck::cast_slice_mut(out), acc, shift, top);
                }
            }
            #[inline(always)]
            fn of_sum(sum: i32, shift: u32, top: i32) -> $t {
                (sum.wrapping_add((1 << shift) >> 1) >> shift).clamp(0, top) as $t
            }
            fn of(v: f64) -> $t {
                libm::floor(v + 0.5) as $t
            }
            fn number(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn part(self) -> i32 {
                self.into()
            }
        }
    };
}

integer!(
    u8,
    four_u8,
    one_u8,
    dot_u8,
    round_saturate_u8,
    four_u8_body,
    one_u8_body,
    dot_u8_body,
    round_saturate_u8_body
);
integer!(
    u16,
    four_u16,
    one_u16,
    dot_u16,
    round_saturate_u16,
    four_u16_body,
    one_u16_body,
    dot_u16_body,
    round_saturate_u16_body
);

#[inline(always)]
fn four_f32_body(acc: &mut [f32], rows: [&[f32]; 4], w: [f32; 4], add: bool) {
    let n = acc.len();
    let [a, b, c, d] = rows.map(|r| &r[..n]);
    for i in 0..n {
        let start = if add { acc[i] } else { 0.0 };
        acc[i] = start + a[i] * w[0] + b[i] * w[1] + c[i] * w[2] + d[i] * w[3];
    }
}

#[inline(always)]
fn one_f32_body(acc: &mut [f32], row: &[f32], w: f32, add: bool) {
    for (acc, &x) in acc.iter_mut().zip(row) {
        *acc = if add { *acc } else { 0.0 } + x * w;
    }
}

#[inline(always)]
fn dot_f32_body(acc: &mut [f32], row: &[f32], at: &[u32], w: &[f32]) {
    let n = (w.len() / at.len().max(1)).max(1);
    for ((acc, &at), w) in acc.iter_mut().zip(at).zip(w.chunks_exact(n)) {
        *acc = row[at as usize..][..n].iter().zip(w).fold(0.0, |s, (&x, &w)| s + x * w);
    }
}

/// A NaN that has no payload: what arithmetic makes of payloads differs between machines.
#[inline(always)]
fn plain(v: f32) -> f32 {
    if v.is_nan() { f32::NAN } else { v }
}

#[inline(always)]
fn canonical_nan_body(out: &mut [f32], acc: &[f32]) {
    out.iter_mut().zip(acc).for_each(|(o, &v)| *o = plain(v));
}

#[inline(always)]
fn carry_body(out: &mut [f32], own: &[f32]) {
    for (out, own) in out.iter_mut().zip(own) {
        *out = if out.is_finite() && own.is_finite() { *out } else { *own };
    }
}

multiversion! {
    /// Puts the source's `own` samples where they, or the sums in `out`, are not finite.
    pub fn carry(level, out: &mut [f32], own: &[f32]) = carry_body;
    fn four_f32(level, acc: &mut [f32], rows: [&[f32]; 4], w: [f32; 4], add: bool) = four_f32_body;
    fn one_f32(level, acc: &mut [f32], row: &[f32], w: f32, add: bool) = one_f32_body;
    fn dot_f32(level, acc: &mut [f32], row: &[f32], at: &[u32], w: &[f32]) = dot_f32_body;
    fn canonical_nan(level, out: &mut [f32], acc: &[f32]) = canonical_nan_body;
}

impl Kernel for f32 {
    type Sum = f32;
    type Wide = f32;
    const ZERO: f32 = 0.0;
    const UNIT: f32 = 1.0;

    fn weights(list: &[f64]) -> Vec<f32> {
        // Through the integers where those fall back to one tap.
        let total: f64 = list.iter().sum();
        if list.is_empty() || !(total > 0.0 && total.is_finite()) {
            return weights(list).iter().map(|&w| w as f32 / (1u32 << BITS) as f32).collect();
        }
        list.iter().map(|w| (w / total) as f32).collect()
    }
    fn accumulate4(level: Level, acc: &mut [f32], rows: [&[f32]; 4], w: [f32; 4], add: bool) {
        four_f32(level, acc, rows, w, add);
    }
    fn accumulate1(level: Level, acc: &mut [f32], row: &[f32], w: f32, add: bool) {
        one_f32(level, acc, row, w, add);
    }
    fn dot(level: Level, acc: &mut [f32], row: &[f32], at: &[u32], w: &[f32]) {
        dot_f32(level, acc, row, at, w);
    }
    fn round_saturate<O: Kernel>(level: Level, out: &mut [O], acc: &[f32], _: u8, _: Pass) {
        canonical_nan(level, bytemuck::cast_slice_mut(out), acc);
    }
    #[inline(always)]
    fn of_sum(sum: f32, _: u32, _: i32) -> f32 {
        plain(sum)
    }
    fn of(v: f64) -> f32 {
        v as f32
    }
    fn number(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn part(self) -> f32 {
        self
    }
}

/// A weighted sum of rows, `row(k)` being the one of weight `w[k]`. Rows are at least as long as `acc`.
pub fn accumulate_rows<'a, T: Kernel>(
    level: Level,
    acc: &mut [T::Sum],
    w: &[T::Sum],
    row: impl Fn(usize) -> &'a [T],
) {
    let fours = w.chunks_exact(4);
    let rest = fours.remainder();
    for (i, w) in fours.enumerate() {
        let k = 4 * i;
        T::accumulate4(
            level,
            acc,
            [row(k), row(k + 1), row(k + 2), row(k + 3)],
            [w[0], w[1], w[2], w[3]],
            i > 0,
        );
    }
    let first = w.len() - rest.len();
    for (k, &w) in (first..).zip(rest) {
        T::accumulate1(level, acc, row(k), w, k > 0);
    }
    if w.is_empty() {
        acc.fill(T::ZERO);
    }
}

/// The same of one row, shifted by a sample more from weight to weight.
pub fn accumulate_shifted<T: Kernel>(level: Level, acc: &mut [T::Sum], row: &[T], w: &[T::Sum]) {
    let n = acc.len();
    accumulate_rows(level, acc, w, |k| &row[k..k + n]);
}

/// Sums over windows of one length that begin at `at[i]` in `row`, each with weights of its own.
pub fn dot_row<T: Kernel>(level: Level, acc: &mut [T::Sum], row: &[T], at: &[u32], w: &[T::Sum]) {
    assert!(acc.len() == at.len() && (at.is_empty() || w.len().is_multiple_of(at.len())));
    T::dot(level, acc, row, at, w);
}
