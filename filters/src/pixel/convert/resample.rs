//! Resampling of rows: weighted sums vertically (of rows) and horizontally (of neighbours), exact in `i32`, in a fixed
//! order in `f32`.

use super::Taps;
use crate::frame::Sample;
use crate::simd::{Level, multiversion};
use core::ops::{Add, Mul};

/// Samples of padding on either side of a row that is resampled horizontally, filled by [`pad`].
pub const PAD: usize = 16;

/// The type of sums: `i32`, which holds 16 bits with the weights of both axes, or `f32`.
pub trait Num: bytemuck::Pod + Add<Output = Self> + Mul<Output = Self> + Default {
    /// A weight or code.
    fn from_i32(v: i32) -> Self;
    /// Resamples horizontally: `row` has [`PAD`] samples before the first of its `len` samples and as many after
    /// the last, filled by [`pad`]. `out` may have any length whose input samples exist.
    fn across(level: Level, out: &mut [Self], row: &[Self], taps: &Taps) {
        across_rows(level, out, row, taps);
    }
}

impl Num for i32 {
    #[inline(always)]
    fn from_i32(v: i32) -> i32 {
        v
    }
}

impl Num for f32 {
    #[inline(always)]
    fn from_i32(v: i32) -> f32 {
        v as f32
    }
}

/// Samples that can be summed in `A`.
pub trait Accumulate<A: Num>: Sample {
    /// As a term of a sum; an integer code above `top` counts as `top`.
    #[doc(hidden)]
    fn widen(self, top: u16) -> A;
    /// `acc = row * weight`, or `acc += row * weight` with `add`. Integer codes above `top` count as `top`.
    fn accumulate(level: Level, acc: &mut [A], row: &[Self], weight: i32, top: u16, add: bool) {
        assert_eq!(acc.len(), row.len());
        accumulate_rows(level, acc, row, A::from_i32(weight), top, add);
    }
}

/// Repeats the outermost samples of a row of `len` samples that starts at [`PAD`]. `len` must not be 0.
pub fn pad<A: Copy>(row: &mut [A], len: usize) {
    let (first, last) = (row[PAD], row[PAD + len - 1]);
    row[..PAD].fill(first);
    row[PAD + len..].fill(last);
}

/// The reference of horizontal resampling, one sample: `row` without padding.
#[cfg(test)]
fn across_one<A: Num>(row: &[A], taps: &Taps, i: usize) -> A {
    let (first, weights) = taps.at(i);
    let at = |n: i64| row[n.clamp(0, row.len() as i64 - 1) as usize];
    let mut terms = (first..).zip(weights).map(|(n, &w)| at(n) * A::from_i32(w));
    let start = terms.next().unwrap_or_default();
    terms.fold(start, |sum, term| sum + term)
}

macro_rules! lanes {
    ($($from:ty, $to:ty, |$v:ident, $top:ident| $do:expr;)+) => {$(
        impl Accumulate<$to> for $from {
            #[inline(always)]
            fn widen(self, $top: u16) -> $to {
                let $v = self;
                $do
            }
        }
    )+};
}

lanes! {
    u8, i32, |v, _top| v.into();
    u16, i32, |v, top| v.min(top).into();
    u8, f32, |v, _top| v.into();
    u16, f32, |v, top| v.min(top).into();
    f32, f32, |v, _top| v;
}

#[inline(always)]
fn accumulate_body<A: Num, S: Accumulate<A>>(acc: &mut [A], row: &[S], weight: A, top: u16, add: bool) {
    let each = acc.iter_mut().zip(row);
    if add {
        each.for_each(|(a, &v)| *a = *a + v.widen(top) * weight);
    } else {
        each.for_each(|(a, &v)| *a = v.widen(top) * weight);
    }
}

/// `T` taps, one output sample per block of `Q` input samples.
#[inline(always)]
fn down<A: Num, const Q: usize, const T: usize>(out: &mut [A], row: &[A], start: usize, weights: &[i32]) {
    let mut w = [A::default(); T];
    w.iter_mut().zip(weights).for_each(|(w, &v)| *w = A::from_i32(v));
    let mut from = [&[][..]; T];
    for (t, from) in from.iter_mut().enumerate() {
        *from = &row[start + t..].as_chunks::<Q>().0[..out.len()];
    }
    for (j, o) in out.iter_mut().enumerate() {
        let mut sum = from[0][j][0] * w[0];
        for t in 1..T {
            sum = sum + from[t][j][0] * w[t];
        }
        *o = sum;
    }
}

/// At most two taps, `P` output samples per input sample.
#[inline(always)]
fn up<A: Num, const P: usize>(out: &mut [A], row: &[A], taps: &Taps) {
    let blocks = out.len() / P;
    let (whole, tail) = out.as_chunks_mut::<P>();
    let mut a = [&[][..]; P];
    let mut b = [&[][..]; P];
    let mut w = [[A::default(); 2]; P];
    for (ph, phase) in taps.phases.iter().enumerate() {
        let start = (PAD as i32 + phase.first) as usize;
        a[ph] = &row[start..][..blocks];
        (b[ph], w[ph]) = match phase.weights[..] {
            [v, u, ..] => (&row[start + 1..][..blocks], [A::from_i32(v), A::from_i32(u)]),
            // The same sample twice with half of the weight (a power of 2) gives the same sum, and avoids an
            // infinite neighbour with weight 0.
            [v] => (a[ph], [A::from_i32(v / 2), A::from_i32(v / 2)]),
            [] => unreachable!("a sample is made of something"),
        };
    }
    for (j, o) in whole.iter_mut().enumerate() {
        for ph in 0..P {
            o[ph] = a[ph][j] * w[ph][0] + b[ph][j] * w[ph][1];
        }
    }
    any(tail, row, taps, blocks * P);
}

/// Any taps; `out` starts at output sample `skip`.
#[inline(always)]
fn any<A: Num>(out: &mut [A], row: &[A], taps: &Taps, skip: usize) {
    for (i, o) in out.iter_mut().enumerate() {
        let (first, weights) = taps.at(skip + i);
        let from = &row[(PAD as i64 + first) as usize..][..weights.len()];
        let mut sum = from[0] * A::from_i32(weights[0]);
        for (&v, &w) in from[1..].iter().zip(&weights[1..]) {
            sum = sum + v * A::from_i32(w);
        }
        *o = sum;
    }
}

#[inline(always)]
fn down_body<A: Num>(out: &mut [A], row: &[A], taps: &Taps) {
    let phase = &taps.phases[0];
    let start = (PAD as i32 + phase.first) as usize;
    match (taps.down, phase.weights.len()) {
        (2, 2) => down::<A, 2, 2>(out, row, start, &phase.weights),
        (2, 3) => down::<A, 2, 3>(out, row, start, &phase.weights),
        (2, 4) => down::<A, 2, 4>(out, row, start, &phase.weights),
        (4, 4) => down::<A, 4, 4>(out, row, start, &phase.weights),
        (4, 7) => down::<A, 4, 7>(out, row, start, &phase.weights),
        (4, 8) => down::<A, 4, 8>(out, row, start, &phase.weights),
        _ => any(out, row, taps, 0),
    }
}

#[inline(always)]
fn across_body<A: Num>(out: &mut [A], row: &[A], taps: &Taps) {
    match (taps.up, taps.down) {
        // moved by whole samples: a weight of 1 cannot be halved
        _ if taps.bits == 0 => any(out, row, taps, 0),
        (1, 1) => up::<A, 1>(out, row, taps),
        (2, 1) => up::<A, 2>(out, row, taps),
        (4, 1) => up::<A, 4>(out, row, taps),
        _ => down_body(out, row, taps),
    }
}

multiversion! {
    fn across_rows<A: Num>(level, out: &mut [A], row: &[A], taps: &Taps) = across_body;
    fn accumulate_rows<A: Num, S: Accumulate<A>>(level, acc: &mut [A], row: &[S], weight: A, top: u16, add: bool) = accumulate_body;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<i32> {
        let mut x = 12345u32;
        let mut next = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) as i32 % (1 << 20)
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn across_is_its_definition_for_all_grids_and_lengths() {
        for (a, at) in [(0u8, 0), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0), (2, 6), (2, 12)] {
            for (b, to) in [(0u8, 0), (1, 0), (1, 2), (1, 4), (2, 0), (2, 3), (2, 6), (2, 12)] {
                let taps = Taps::new((a, at), (b, to));
                for luma in (1..40).chain([255, 256, 257]) {
                    let (n, m) = ((luma as usize).div_ceil(1 << a), (luma as usize).div_ceil(1 << b));
                    let src = noise(n);
                    let mut row = vec![0; n + 2 * PAD];
                    row[PAD..PAD + n].copy_from_slice(&src);
                    pad(&mut row, n);
                    let want: Vec<i32> = (0..m).map(|i| across_one(&src, &taps, i)).collect();
                    let float: Vec<f32> = row.iter().map(|&v| v as f32 / 3.0).collect();
                    let want_f: Vec<f32> =
                        (0..m).map(|i| across_one(&float[PAD..PAD + n], &taps, i)).collect();
                    for &level in Level::available() {
                        let mut out = vec![0; m];
                        i32::across(level, &mut out, &row, &taps);
                        assert_eq!(out, want, "{a} {at} {b} {to} {luma} {level}");
                        let mut out = vec![0.0; m];
                        f32::across(level, &mut out, &float, &taps);
                        assert_eq!(out, want_f, "{a} {at} {b} {to} {luma} {level}");
                    }
                }
            }
        }
    }

    #[test]
    fn infinity_stays_where_it_weighs() {
        let taps = Taps::new((1, 0), (0, 0));
        let mut row = vec![0.0f32; 4 + 2 * PAD];
        row[PAD + 2] = f32::INFINITY;
        let mut out = [1.0; 8];
        for &level in Level::available() {
            f32::across(level, &mut out, &row, &taps);
            let inf = f32::INFINITY;
            assert_eq!(out, [0.0, 0.0, 0.0, inf, inf, inf, 0.0, 0.0]);
        }
    }

    #[test]
    fn weighing_is_its_definition() {
        let codes: Vec<u16> = noise(300).iter().map(|&v| v as u16).collect();
        for &level in Level::available() {
            for (start, len) in [(0, 0), (1, 1), (3, 33), (2, 255)] {
                let src = &codes[start..start + len];
                let mut acc = vec![7i32; len];
                u16::accumulate(level, &mut acc, src, 3, 1023, false);
                u16::accumulate(level, &mut acc, src, 5, 1023, true);
                assert!(acc.iter().zip(src).all(|(&a, &v)| a == 8 * i32::from(v.min(1023))));
                let bytes: Vec<u8> = src.iter().map(|&v| v as u8).collect();
                let mut acc = vec![7f32; len];
                u8::accumulate(level, &mut acc, &bytes, 3, 255, false);
                assert!(acc.iter().zip(&bytes).all(|(&a, &v)| a == 3.0 * f32::from(v)));
            }
        }
    }
}
