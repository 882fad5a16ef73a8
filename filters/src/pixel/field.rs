//! Rows of coloured noise: weighted sums of white rows, and the recursive integrator.
//!
//! All numbers are centred, 16 bits. Those of a field have the standard deviation [`FIELD_SD`], so that eight deviations
//! fit before saturation. A weighted sum is
//!
//! `n = sat((base * 2^k + g0 * w0 + g1 * w1 + ... + 2^(k-1)) >> k)`, k = [`SHIFT`] in a field,
//!
//! saturating, and a step of the integrator
//!
//! `v = sat((v * A + g * B + 16384) >> 15)`, A = round(32768 e^(-1/length)), B = round(sqrt(2^30 - A^2)),
//!
//! a first-order recursive filter whose output has the deviation of its input and a correlation that falls to 1/e over
//! the length. Its power falls with the square of the frequency above a corner at 1/(2 pi length).

use crate::simd::{Level, multiversion};

/// The standard deviation of the numbers of a field.
pub const FIELD_SD: f64 = 4096.0;

/// The fraction bits of a [`weight`].
pub const SHIFT: u32 = 13;

/// A weight of a sum, from -4 to 4.
pub fn weight(w: f64) -> i16 {
    libm::floor(w * f64::from(1 << SHIFT) + 0.5).clamp(-32767.0, 32767.0) as i16
}

/// Both factors of an integrator's step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pole {
    a: i16,
    b: i16,
}

impl Pole {
    /// The pole of noise whose correlation falls to 1/e over `length` samples.
    pub fn new(length: f64) -> Pole {
        let a = libm::floor(32768.0 * libm::exp(-1.0 / length) + 0.5).clamp(0.0, 32767.0);
        let b = libm::floor((1_073_741_824.0 - a * a).sqrt() + 0.5).min(32767.0);
        Pole { a: a as i16, b: b as i16 }
    }

    /// One step: the reference. Both products are below 2^30, so that their sum fits 32 bits.
    #[inline(always)]
    pub const fn step(self, v: i16, g: i16) -> i16 {
        let v = (v as i32 * self.a as i32 + g as i32 * self.b as i32 + (1 << 14)) >> 15;
        if v > 32767 {
            32767
        } else if v < -32767 {
            -32767
        } else {
            v as i16
        }
    }

    /// The number of steps after which less than 1/500 of the start value remains.
    pub fn warm_up(length: f64) -> usize {
        libm::ceil(6.25 * length) as usize
    }
}

/// The index of the sample for index `i` of `len`: edges are mirrored without repeating the edge.
#[inline]
pub const fn mirror(i: isize, len: usize) -> usize {
    // Most indices are inside, and a division is slow.
    if i >= 0 && i < len as isize {
        return i as usize;
    }
    if len == 1 {
        return 0;
    }
    let period = 2 * (len as isize - 1);
    let i = i.rem_euclid(period);
    (if i < len as isize { i } else { period - i }) as usize
}

#[inline(always)]
fn begin_body(sum: &mut [i32], base: &[i16]) {
    sum.iter_mut().zip(base).for_each(|(s, &b)| *s = (i32::from(b) << SHIFT) + (1 << (SHIFT - 1)));
}

#[inline(always)]
fn accumulate_body(sum: &mut [i32], g: &[i16], weight: i16) {
    let weight = i32::from(weight);
    sum.iter_mut().zip(g).for_each(|(s, &g)| *s += i32::from(g) * weight);
}

#[inline(always)]
fn round_saturate_body(out: &mut [i16], sum: &[i32], shift: u32, lowest: i32) {
    out.iter_mut().zip(sum).for_each(|(o, &s)| *o = (s >> shift).clamp(lowest, 32767) as i16);
}

#[inline(always)]
fn ar1_columns_body(state: &mut [i16], g: &[i16], pole: Pole) {
    state.iter_mut().zip(g).for_each(|(v, &g)| *v = pole.step(*v, g));
}

/// A sample between coarse samples: `near`, the neighbour on its side, and the neighbour on the other side of
/// `near`. The taps of both phases together are (1 5 10 10 5 1)/16.
#[inline(always)]
const fn interpolated(near: i16, beside: i16, other: i16) -> i16 {
    ((10 * near as i32 + 5 * beside as i32 + other as i32 + 8) >> 4) as i16
}

#[inline(always)]
fn upsample_2x_body(out: &mut [i16], padded: &[i16]) {
    // Sample 2i lies between i-1 and i, nearer to i; 2i+1 between i and i+1.
    let coarse = out.len().div_ceil(2);
    let (l, c, r) = (&padded[..coarse], &padded[1..1 + coarse], &padded[2..2 + coarse]);
    let mut pairs = out.chunks_exact_mut(2);
    for (((pair, &l), &c), &r) in (&mut pairs).zip(l).zip(c).zip(r) {
        pair[0] = interpolated(c, l, r);
        pair[1] = interpolated(c, r, l);
    }
    if let [last] = pairs.into_remainder() {
        *last = interpolated(c[coarse - 1], l[coarse - 1], r[coarse - 1]);
    }
}

#[inline(always)]
fn interpolate_body(out: &mut [i16], rows: [&[i16]; 3]) {
    let n = out.len();
    let [near, beside, other] = rows.map(|r| &r[..n]);
    for i in 0..n {
        out[i] = interpolated(near[i], beside[i], other[i]);
    }
}

#[inline(always)]
fn smooth_body(out: &mut [i16], rows: [&[i16]; 3]) {
    let n = out.len();
    let [l, c, r] = rows.map(|r| &r[..n]);
    for i in 0..n {
        out[i] = ((i32::from(l[i]) + 2 * i32::from(c[i]) + i32::from(r[i]) + 2) >> 2) as i16;
    }
}

multiversion! {
    fn upsample_2x(level, out: &mut [i16], padded: &[i16]) = upsample_2x_body;
    fn interpolate(level, out: &mut [i16], rows: [&[i16]; 3]) = interpolate_body;
    fn smooth(level, out: &mut [i16], rows: [&[i16]; 3]) = smooth_body;
    fn begin_rows(level, sum: &mut [i32], base: &[i16]) = begin_body;
    fn accumulate_rows(level, sum: &mut [i32], g: &[i16], weight: i16) = accumulate_body;
    fn round_saturate_rows(
        level, out: &mut [i16], sum: &[i32], shift: u32, lowest: i32,
    ) = round_saturate_body;
    fn ar1_column_steps(level, state: &mut [i16], g: &[i16], pole: Pole) = ar1_columns_body;
}

/// Begins a weighted sum with a row of weight 1, or with zero; for weights with [`SHIFT`] fraction bits.
pub fn begin_sum(level: Level, sum: &mut [i32], base: Option<&[i16]>) {
    match base {
        None => sum.fill(1 << (SHIFT - 1)),
        Some(base) => {
            assert_eq!(sum.len(), base.len());
            begin_rows(level, sum, base);
        }
    }
}

/// Adds a row, times a weight, to as many sums. The sum of all weights times 32767 must stay below 2^31.
pub fn accumulate(level: Level, sum: &mut [i32], g: &[i16], weight: i16) {
    assert_eq!(sum.len(), g.len());
    accumulate_rows(level, sum, g, weight);
}

/// The sum of weights with `shift` fraction bits as 16-bit numbers, rounded and saturating at `lowest` and 32767.
/// Both rows have one length.
pub fn round_saturate(level: Level, out: &mut [i16], sum: &[i32], shift: u32, lowest: i16) {
    assert_eq!(sum.len(), out.len());
    round_saturate_rows(level, out, sum, shift, lowest.into());
}

/// The weights of the last `frames` frames in a sum with the correlation `rho` from frame to frame; their squares sum
/// to 1.
pub fn ar1_weights(rho: f64, frames: usize) -> Vec<f64> {
    let mut weights = vec![1.0; frames];
    for j in 1..frames {
        weights[j] = weights[j - 1] * rho;
    }
    let norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    weights.iter().map(|w| w / norm).collect()
}

/// The integrator along a row, in place, starting from zero.
pub fn ar1_row(row: &mut [i16], pole: Pole) {
    let mut v = 0;
    for g in row {
        v = pole.step(v, *g);
        *g = v;
    }
}

/// A step of the integrator in every column: `state` and `g` are rows of one length.
pub fn ar1_columns(level: Level, state: &mut [i16], g: &[i16], pole: Pole) {
    assert_eq!(state.len(), g.len());
    ar1_column_steps(level, state, g, pole);
}

/// Mirrors the ends of a row `[_, samples.., _]` without repeating the edge.
fn pad(row: &mut [i16]) {
    let len = row.len() - 2;
    row[0] = row[1 + mirror(-1, len)];
    row[len + 1] = row[1 + mirror(len as isize, len)];
}

/// A row of twice (or twice less one) as many samples from a coarse one `[_, c.., _]`, whose ends are overwritten.
pub fn upsample_2x_row(level: Level, out: &mut [i16], row: &mut [i16]) {
    assert_eq!(row.len(), out.len().div_ceil(2) + 2);
    pad(row);
    upsample_2x(level, out, row);
}

/// The row between coarse rows: a quarter of the first, three quarters of the second; the third is on the other
/// side of the first.
pub fn interpolate_rows(level: Level, out: &mut [i16], rows: [&[i16]; 3]) {
    interpolate(level, out, rows);
}

/// A row `[_, c.., _]` smoothed by (1 2 1)/4; its ends are overwritten.
pub fn smooth_row(level: Level, out: &mut [i16], row: &mut [i16]) {
    assert_eq!(row.len(), out.len() + 2);
    pad(row);
    smooth(level, out, [row, &row[1..], &row[2..]]);
}

/// The same of rows above, here and below.
pub fn smooth_columns(level: Level, out: &mut [i16], rows: [&[i16]; 3]) {
    smooth(level, out, rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seed::mix64;

    fn numbers(n: usize, seed: u64) -> Vec<i16> {
        let ends = [i16::MIN, i16::MAX, -32767, -1, 0, 1];
        (0..n).map(|i| *ends.get(i % 17).unwrap_or(&(mix64((seed << 32) | (i as u64 + 1)) as i16))).collect()
    }

    #[test]
    fn sums_are_the_definition_at_every_level() {
        for &level in Level::available() {
            for n in [0, 1, 7, 16, 31, 64, 65, 130, 301] {
                let (base, g, k) = (numbers(n + 1, 1), numbers(n + 1, 2), numbers(n + 1, 3));
                let weights = [weight(-1.3), weight(2.5)];
                assert_eq!(weights, [-10650, 20480]);
                let mut sum = vec![7; n];
                let mut out = vec![0; n];
                begin_sum(level, &mut sum, Some(&base[1..]));
                accumulate(level, &mut sum, &g[1..], weights[0]);
                accumulate(level, &mut sum, &k[1..], weights[1]);
                round_saturate(level, &mut out, &sum, SHIFT, -32767);
                for i in 0..n {
                    let exact = i64::from(base[i + 1]) * 8192
                        + i64::from(g[i + 1]) * i64::from(weights[0])
                        + i64::from(k[i + 1]) * i64::from(weights[1]);
                    let want = (exact + 4096).div_euclid(8192).clamp(-32767, 32767);
                    assert_eq!(i64::from(out[i]), want, "{level} {n} {i}");
                }
            }
        }
    }

    #[test]
    fn rows_between_rasters_are_the_definition_at_every_level() {
        let three = |n: i16, b: i16, o: i16| {
            (10 * i64::from(n) + 5 * i64::from(b) + i64::from(o) + 8).div_euclid(16) as i16
        };
        for width in 1..100usize {
            let coarse = numbers(width.div_ceil(2), width as u64);
            let rows: Vec<Vec<i16>> = (0..3).map(|i| numbers(width, 7 + i)).collect();
            let at = |c: isize| coarse[mirror(c, coarse.len())];
            for &level in Level::available() {
                let mut out = vec![0; width];
                upsample_2x_row(level, &mut out, &mut [&[9], &coarse[..], &[9]].concat());
                for (x, out) in out.iter().enumerate() {
                    let (c, by) = ((x / 2) as isize, if x % 2 == 0 { -1 } else { 1 });
                    assert_eq!(*out, three(at(c), at(c + by), at(c - by)), "{level} {width} {x}");
                }
                let three_rows = [&rows[0][..], &rows[1], &rows[2]];
                interpolate_rows(level, &mut out, three_rows);
                let soft = |a: i16, b: i16, c: i16| {
                    (i64::from(a) + 2 * i64::from(b) + i64::from(c) + 2).div_euclid(4) as i16
                };
                assert!((0..width).all(|x| out[x] == three(rows[0][x], rows[1][x], rows[2][x])));
                smooth_columns(level, &mut out, three_rows);
                assert!((0..width).all(|x| out[x] == soft(rows[0][x], rows[1][x], rows[2][x])));
                smooth_row(level, &mut out, &mut [&[9], &rows[0][..], &[9]].concat());
                let at = |x: isize| rows[0][mirror(x, width)];
                for x in 0..width as isize {
                    assert_eq!(out[x as usize], soft(at(x - 1), at(x), at(x + 1)), "{level} {width} {x}");
                }
            }
        }
    }

    #[test]
    fn the_integrator_is_its_definition_at_every_level() {
        for length in [0.1, 0.5, 1.0, 8.0, 64.0] {
            let pole = Pole::new(length);
            let exact = |v: i16, g: i16| {
                let sum = i64::from(v) * i64::from(pole.a) + i64::from(g) * i64::from(pole.b) + 16384;
                sum.div_euclid(32768).clamp(-32767, 32767) as i16
            };
            for &level in Level::available() {
                for n in [1, 7, 33, 64, 301] {
                    let (mut state, g) = (numbers(n, 4), numbers(n, 5));
                    let want: Vec<i16> = state.iter().zip(&g).map(|(&v, &g)| exact(v, g)).collect();
                    ar1_columns(level, &mut state, &g, pole);
                    assert_eq!(state, want, "{level} {length} {n}");
                }
            }
            let mut row = numbers(99, 6);
            let g = row.clone();
            ar1_row(&mut row, pole);
            assert!((0..99).all(|i| row[i] == exact(if i == 0 { 0 } else { row[i - 1] }, g[i])));
            assert!((f64::from(pole.a) / 32768.0).powi(Pole::warm_up(length) as i32) < 1.0 / 500.0);
        }
    }
}
