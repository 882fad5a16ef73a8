//! Rows for Gaussian blurs: symmetric sums of rows, and rows of half and of twice the resolution.
//!
//! In integers, samples have 16 bits. The two samples of a symmetric pair are averaged first, halves up; the weights of
//! these means are multiples of 2^-15 whose sum is 1, and the sum is rounded once. So a flat row keeps its value.
#![allow(unsafe_code)] // loads in rows whose lengths are checked once, not at each of up to 32 places

use super::weights_of;
use crate::frame::Sample;
use crate::simd::{Level, Vector, multiversion};

/// The largest number of pairs.
pub const MAX_PAIRS: usize = 16;

/// Fraction bits of integer weights.
const BITS: u32 = 15;

/// Two rows of the same weight.
pub type Pair<'a, T> = (&'a [T], &'a [T]);

/// A sample type for blurs: `u16` with all bits in use, or `f32`.
pub trait Smooth: Sample {
    /// A weight of a pair.
    type Weight: Copy;
    /// A sum.
    type Sum: Copy;
    /// A sum of 0.
    const ZERO: Self::Sum;

    /// The weights of two or more pairs, normalised to a sum of 1; the first one is the largest. Last ones that vanish are
    /// left out.
    fn weights(list: &[f64]) -> Vec<Self::Weight>;

    /// Adds a pair to a sum.
    fn add_pair(sum: Self::Sum, a: Self, b: Self, w: Self::Weight) -> Self::Sum;

    /// A sum as a sample.
    fn of_sum(sum: Self::Sum) -> Self;

    /// Four neighbours with weights of 1/8, 3/8, 3/8 and 1/8.
    fn halve(row: [Self; 4]) -> Self;

    /// Two neighbours with weights of 3/4 and 1/4.
    fn between(near: Self, far: Self) -> Self;

    /// [`symmetric`] in registers; `false`, with `out` as it was, if that is not possible.
    fn in_registers(level: Level, out: &mut [Self], pairs: &[Pair<'_, Self>], w: &[Self::Weight]) -> bool {
        let _ = (level, out, pairs, w);
        false
    }
}

impl Smooth for u16 {
    type Weight = i16;
    type Sum = u32;
    const ZERO: u32 = 0;

    fn weights(list: &[f64]) -> Vec<i16> {
        let mut fixed = weights_of(list, BITS);
        // A weight of 1 does not fit a signed number of 16 bits.
        let excess = (fixed[0] - i32::from(i16::MAX)).max(0);
        fixed[0] -= excess;
        fixed[1] += excess;
        let used = fixed.iter().rposition(|&w| w != 0).map_or(0, |last| last + 1);
        fixed[..used].iter().map(|&w| w as i16).collect()
    }
    #[inline(always)]
    fn add_pair(sum: u32, a: u16, b: u16, w: i16) -> u32 {
        sum.wrapping_add(u32::from(average(a, b)) * w as u32)
    }
    #[inline(always)]
    fn of_sum(sum: u32) -> u16 {
        (sum.wrapping_add(1 << (BITS - 1)) >> BITS) as u16
    }
    #[inline(always)]
    fn halve([a, b, c, d]: [u16; 4]) -> u16 {
        let [a, b, c, d] = [a, b, c, d].map(u32::from);
        ((a + d + 3 * (b + c) + 4) >> 3) as u16
    }
    /// `(3 near + far + 2) / 4`, in 16 bits.
    #[inline(always)]
    fn between(near: u16, far: u16) -> u16 {
        average(near, (near & far) + ((near ^ far) >> 1))
    }
    fn in_registers(level: Level, out: &mut [u16], pairs: &[Pair<'_, u16>], w: &[i16]) -> bool {
        sum_pairs(level, out, pairs, w)
    }
}

/// The mean, halves up.
#[inline(always)]
fn average(a: u16, b: u16) -> u16 {
    ((u32::from(a) + u32::from(b) + 1) >> 1) as u16
}

impl Smooth for f32 {
    type Weight = f32;
    type Sum = f32;
    const ZERO: f32 = 0.0;

    fn weights(list: &[f64]) -> Vec<f32> {
        let total: f64 = list.iter().sum();
        // A pair is summed, not averaged.
        list.iter().map(|w| (0.5 * w / total) as f32).collect()
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
    fn halve([a, b, c, d]: [f32; 4]) -> f32 {
        (a + d) * 0.125 + (b + c) * 0.375
    }
    #[inline(always)]
    fn between(near: f32, far: f32) -> f32 {
        Smooth::of_sum(near * 0.75 + far * 0.25)
    }
}

#[inline(always)]
fn plain_body<T: Smooth>(out: &mut [T], pairs: &[Pair<'_, T>], w: &[T::Weight]) {
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
        let add = |sum, (&(a, b), &w): (&Pair<'_, T>, &T::Weight)| T::add_pair(sum, a[x], b[x], w);
        *out = T::of_sum(pairs.iter().zip(w).fold(T::ZERO, add));
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
    fn plain<T: Smooth>(level, out: &mut [T], pairs: &[Pair<'_, T>], w: &[T::Weight]) = plain_body;
    fn sum_pairs(level, out: &mut [u16], pairs: &[Pair<'_, u16>], w: &[i16]) -> bool => sum_pairs_body;
    /// Every second sample of the row, smoothed: `out[i]` lies between samples `2 i + 1` and `2 i + 2`.
    pub fn halve_row<T: Smooth>(level, out: &mut [T], row: &[T]) = halve_body;
    /// Interpolates a quarter of the way from the row `near` to the row `far`.
    pub fn between_rows<T: Smooth>(level, out: &mut [T], near: &[T], far: &[T]) = between_body;
    /// Two samples for each sample of the row but the first and the last, a quarter of a sample to its left and to its
    /// right.
    pub fn double_row<T: Smooth>(level, out: &mut [T], row: &[T]) = double_body;
}

/// The sum of pairs of rows, weighted by [`weights`](Smooth::weights). Panics if there are more than [`MAX_PAIRS`] of them
/// or weights, or a row is shorter than `out`.
pub fn symmetric<T: Smooth>(level: Level, out: &mut [T], pairs: &[Pair<'_, T>], w: &[T::Weight]) {
    if !T::in_registers(level, out, pairs, w) {
        plain(level, out, pairs, w);
    }
}

/// Two pairs of rows, and their weights in the lower and the upper half.
type Taps = ([*const u16; 4], i32);

#[inline(always)]
fn sum_pairs_body<V: Vector>(any: V, out: &mut [u16], pairs: &[Pair<'_, u16>], w: &[i16]) -> bool {
    let (n, lanes) = (out.len(), V::BYTES / 2);
    assert!(pairs.len() == w.len() && pairs.iter().all(|(a, b)| a.len() >= n && b.len() >= n));
    if n < lanes {
        return false;
    }
    let mut taps = [([core::ptr::null(); 4], 0); MAX_PAIRS / 2];
    let taps = &mut taps[..pairs.len().div_ceil(2)];
    for ((tap, pairs), w) in taps.iter_mut().zip(pairs.chunks(2)).zip(w.chunks(2)) {
        // The last of an odd number of pairs has itself beside it, with a weight of 0.
        let ((a, b), (c, d)) = (pairs[0], *pairs.get(1).unwrap_or(&pairs[0]));
        let second = w.get(1).map_or(0, |&w| i32::from(w));
        *tap = ([a.as_ptr(), b.as_ptr(), c.as_ptr(), d.as_ptr()], i32::from(w[0]) | second << 16);
    }
    let mut next = 0;
    while next < n {
        // The last register overlaps the one before.
        if n - next >= 2 * lanes {
            // SAFETY: all rows have at least the `n` samples of `out`, and this is two registers before.
            let [a, b] = unsafe { registers(any, taps, next) };
            a.store(&mut out[next..]);
            b.store(&mut out[next + lanes..]);
            next += 2 * lanes;
        } else {
            let x = next.min(n - lanes);
            // SAFETY: likewise for one register.
            let [a] = unsafe { registers(any, taps, x) };
            a.store(&mut out[x..]);
            next += lanes;
        }
    }
    true
}

/// The results from `x` on. Products are signed, so means are offset by -32768.
///
/// # Safety
/// `N` registers must be readable there in every row.
#[inline(always)]
unsafe fn registers<V: Vector, const N: usize>(any: V, taps: &[Taps], x: usize) -> [V; N] {
    let sign = any.splat16(i16::MIN);
    let start = any.splat32(1 << (BITS - 1));
    let (mut low, mut high) = ([start; N], [start; N]);
    for &(rows, w) in taps {
        let w = any.splat32(w);
        for i in 0..N {
            let x = x + i * (V::BYTES / 2);
            // SAFETY: the caller's promise.
            let (a, b) = unsafe { (any.read(rows[0].add(x)), any.read(rows[1].add(x))) };
            // SAFETY: likewise.
            let (c, d) = unsafe { (any.read(rows[2].add(x)), any.read(rows[3].add(x))) };
            let (ab, cd) = (a.average_u16(b).xor(sign), c.average_u16(d).xor(sign));
            low[i] = low[i].add32(ab.unpack_low16(cd).madd16(w));
            high[i] = high[i].add32(ab.unpack_high16(cd).madd16(w));
        }
    }
    let mut all = low;
    for i in 0..N {
        // Unpacking and packing change the order in the same way.
        all[i] = low[i].shr_i32(BITS).pack_i32(high[i].shr_i32(BITS)).xor(sign);
    }
    all
}
