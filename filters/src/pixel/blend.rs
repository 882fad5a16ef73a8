//! Mixing a filter's result with its input (the chain's `opacity`).

use crate::frame::Depth;
use crate::simd::{Level, multiversion};

/// The weight of the filter's result, for all sample types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opacity {
    /// 0 to 65536, for integer samples.
    fixed: u32,
    /// 0 to 1, for float samples.
    float: f32,
}

impl Opacity {
    /// From 0 (input only) to 1 (result only); values outside are clamped, NaN counts as 0.
    pub fn new(part: f64) -> Opacity {
        let part = if part > 0.0 { part.min(1.0) } else { 0.0 };
        Opacity { fixed: (part * 65536.0 + 0.5) as u32, float: part as f32 }
    }

    /// Whether the result has no weight.
    pub fn is_none(self) -> bool {
        self.fixed == 0
    }

    /// Whether the result is used unchanged.
    pub fn is_full(self) -> bool {
        self.fixed == 65536
    }
}

// (before * (65536 - o) + after * o + 32768) >> 16: round half up; the largest sum is 65535 * 65536 + 32768 < 2^32.
#[inline(always)]
fn blend_u8_body(after: &mut [u8], before: &[u8], o: u32) {
    for (a, &b) in after.iter_mut().zip(before) {
        *a = ((u32::from(b) * (65536 - o) + u32::from(*a) * o + 32768) >> 16) as u8;
    }
}

#[inline(always)]
fn blend_u16_body(after: &mut [u16], before: &[u16], o: u32) {
    for (a, &b) in after.iter_mut().zip(before) {
        *a = ((u32::from(b) * (65536 - o) + u32::from(*a) * o + 32768) >> 16) as u16;
    }
}

#[inline(always)]
fn blend_f32_body(after: &mut [f32], before: &[f32], o: f32) {
    for (a, &b) in after.iter_mut().zip(before) {
        let sum = b + (*a - b) * o;
        // Two infinities have no difference, and the payload of a NaN after arithmetic differs between machines.
        let finite = if sum.is_finite() { sum } else { b };
        *a = if a.is_finite() { finite } else { *a };
    }
}

multiversion! {
    fn blend_u8(level, after: &mut [u8], before: &[u8], o: u32) = blend_u8_body;
    fn blend_u16(level, after: &mut [u16], before: &[u16], o: u32) = blend_u16_body;
    fn blend_f32(level, after: &mut [f32], before: &[f32], o: f32) = blend_f32_body;
    fn blend_u8_by(level, after: &mut [u8], before: &[u8], weights: &[u16], o: u32) = blend_u8_by_body;
    fn blend_u16_by(level, after: &mut [u16], before: &[u16], weights: &[u16], o: u32) = blend_u16_by_body;
    fn blend_f32_by(level, after: &mut [f32], before: &[f32], weights: &[u16], o: f32) = blend_f32_by_body;
}

#[inline(always)]
fn blend_u8_by_body(after: &mut [u8], before: &[u8], weights: &[u16], o: u32) {
    for ((a, &b), &w) in after.iter_mut().zip(before).zip(weights) {
        let o = part(w, o);
        *a = ((u32::from(b) * (65536 - o) + u32::from(*a) * o + 32768) >> 16) as u8;
    }
}

#[inline(always)]
fn blend_u16_by_body(after: &mut [u16], before: &[u16], weights: &[u16], o: u32) {
    for ((a, &b), &w) in after.iter_mut().zip(before).zip(weights) {
        let o = part(w, o);
        *a = ((u32::from(b) * (65536 - o) + u32::from(*a) * o + 32768) >> 16) as u16;
    }
}

/// A weight of 0 to 65535 times an opacity of 0 to 65536, in 65536ths, rounded down; both full give full.
#[inline(always)]
fn part(weight: u16, opacity: u32) -> u32 {
    let weight = u32::from(weight) + u32::from(weight >> 15);
    // Full times full does not fit 32 bits.
    let lower = (weight * (opacity >> 1)) >> 15;
    if opacity == 65536 { weight } else { lower }
}

#[inline(always)]
fn blend_f32_by_body(after: &mut [f32], before: &[f32], weights: &[u16], o: f32) {
    for ((a, &b), &w) in after.iter_mut().zip(before).zip(weights) {
        let o = o * (f32::from(w) * (1.0 / 65535.0));
        let sum = b + (*a - b) * o;
        let mixed = if sum.is_finite() && a.is_finite() {
            sum
        } else if a.is_finite() {
            b
        } else {
            *a
        };
        // An empty mask keeps the sample whatever the filter made of it; a full one takes it.
        *a = if o <= 0.0 {
            b
        } else if o >= 1.0 {
            *a
        } else {
            mixed
        };
    }
}

/// `after = before + (after - before) * opacity`, for rows of samples of the given depth as bytes. If one of two float
/// samples is not finite, the result is that sample, bit for bit; if both are, `after`.
pub fn blend_row(level: Level, depth: Depth, after: &mut [u8], before: &[u8], opacity: Opacity) {
    match depth.bytes() {
        1 => blend_u8(level, after, before, opacity.fixed),
        2 => blend_u16(level, bytemuck::cast_slice_mut(after), bytemuck::cast_slice(before), opacity.fixed),
        _ => blend_f32(level, bytemuck::cast_slice_mut(after), bytemuck::cast_slice(before), opacity.float),
    }
}

/// As [`blend_row`], where the opacity of each sample is multiplied by a weight from 0 to 65535. A weight of 0 leaves the
/// bits of `before`; a full one at full opacity those of `after`.
pub fn blend_row_by(
    level: Level,
    depth: Depth,
    after: &mut [u8],
    before: &[u8],
    weights: &[u16],
    opacity: Opacity,
) {
    let Opacity { fixed, float } = opacity;
    match depth.bytes() {
        1 => blend_u8_by(level, after, before, weights, fixed),
        2 => {
            let after = bytemuck::cast_slice_mut(after);
            blend_u16_by(level, after, bytemuck::cast_slice(before), weights, fixed);
        }
        _ => {
            let after = bytemuck::cast_slice_mut(after);
            blend_f32_by(level, after, bytemuck::cast_slice(before), weights, float);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Non-finite samples are copied bit for bit at every level: no NaN is made by arithmetic.
    #[test]
    fn samples_that_are_not_finite_are_unchanged() {
        let (inf, nan, odd) = (f32::INFINITY, f32::NAN, f32::from_bits(0xffc0_1234));
        for (before, after, want) in [
            (inf, inf, inf),
            (inf, -inf, -inf),
            (-inf, 0.5, -inf),
            (0.5, inf, inf),
            (odd, odd, odd),
            (odd, 0.5, odd),
            (0.5, odd, odd),
            (nan, odd, odd),
            (0.25, 0.75, 0.375),
        ] {
            for &level in Level::available() {
                let mut row = [after; 37];
                let o = Opacity::new(0.25);
                blend_row(
                    level,
                    Depth::Float,
                    bytemuck::cast_slice_mut(&mut row),
                    bytemuck::cast_slice(&[before; 37]),
                    o,
                );
                assert!(
                    row.iter().all(|v| v.to_bits() == want.to_bits()),
                    "{level} {before} {after}: {row:?}"
                );
            }
        }
    }

    #[test]
    fn integers_agree_with_exact_rounding_at_every_level() {
        for &level in Level::available() {
            for part in [0.0, 1.0 / 65536.0, 0.25, 0.5, 0.9, 1.0, 2.0, -1.0, f64::NAN] {
                let o = Opacity::new(part);
                let before: Vec<u16> = (0..263).map(|i: u32| (i * 40503 + 7) as u16).collect();
                let after: Vec<u16> = (0..263).map(|i: u32| (i * 9973 + 65535) as u16).collect();
                let mut got = after.clone();
                let bytes = bytemuck::cast_slice_mut(&mut got);
                blend_row(level, Depth::Bits(16), bytes, bytemuck::cast_slice(&before), o);
                for i in 0..got.len() {
                    let exact = f64::from(before[i])
                        + (f64::from(after[i]) - f64::from(before[i])) * f64::from(o.fixed) / 65536.0;
                    assert_eq!(f64::from(got[i]), (exact + 0.5).floor(), "{level} {part} at {i}");
                }
                let b8: Vec<u8> = before.iter().map(|&v| v as u8).collect();
                let mut a8: Vec<u8> = after.iter().map(|&v| v as u8).collect();
                let want: Vec<u8> = (0..263)
                    .map(|i| {
                        let (b, a) = (f64::from(b8[i]), f64::from(a8[i]));
                        (b + (a - b) * f64::from(o.fixed) / 65536.0 + 0.5).floor() as u8
                    })
                    .collect();
                blend_row(level, Depth::Bits(8), &mut a8, &b8, o);
                assert_eq!(a8, want, "{level} {part}");
            }
        }
    }

    #[test]
    fn weights_multiply_the_opacity_at_every_level() {
        let weights: Vec<u16> = (0..263u32)
            .map(|i| if i % 5 == 0 { 65535 } else { (i * 25_411) as u16 & !((i % 7 == 0) as u16 * 0xffff) })
            .collect();
        let before: Vec<u16> = (0..263).map(|i: u32| (i * 40503 + 7) as u16).collect();
        let after: Vec<u16> = (0..263).map(|i: u32| (i * 9973 + 65535) as u16).collect();
        for (&level, part) in Level::available().iter().flat_map(|l| [0.0, 0.3, 0.5, 1.0].map(|p| (l, p))) {
            let o = Opacity::new(part);
            let want = |b: f64, a: f64, w: u16| b + (a - b) * part * f64::from(w) / 65535.0;
            let mut got = after.clone();
            let bytes = bytemuck::cast_slice_mut(&mut got);
            blend_row_by(level, Depth::Bits(16), bytes, bytemuck::cast_slice(&before), &weights, o);
            let (b8, a8): (Vec<u8>, Vec<u8>) =
                before.iter().zip(&after).map(|(b, a)| (*b as u8, *a as u8)).unzip();
            let mut got8 = a8.clone();
            blend_row_by(level, Depth::Bits(8), &mut got8, &b8, &weights, o);
            let float = |row: &[u16]| row.iter().map(|v| f32::from(*v)).collect::<Vec<_>>();
            let mut got_float = float(&after);
            let bytes = bytemuck::cast_slice_mut(&mut got_float);
            blend_row_by(level, Depth::Float, bytes, bytemuck::cast_slice(&float(&before)), &weights, o);
            for i in 0..got.len() {
                let [exact, exact8] = [[before[i], after[i]], [b8[i].into(), a8[i].into()]]
                    .map(|[b, a]| want(b.into(), a.into(), weights[i]));
                // The weight is rounded to 65536ths twice.
                assert!((f64::from(got[i]) - exact).abs() <= 3.0, "{level} {part} {i}: {} {exact}", got[i]);
                assert!(
                    (f64::from(got8[i]) - exact8).abs() <= 0.51,
                    "{level} {part} {i}: {} {exact8}",
                    got8[i]
                );
                assert!((f64::from(got_float[i]) - exact).abs() <= 0.05, "{level} {part} {i}");
                if weights[i] == 0 || (weights[i] == 65535 && part == 1.0) {
                    let whole = if weights[i] == 0 { before[i] } else { after[i] };
                    assert_eq!((got[i], got_float[i]), (whole, f32::from(whole)), "{level} {part} {i}");
                }
            }
        }
        let (nan, odd) = (f32::NAN, f32::from_bits(0xffc0_1234));
        for (before, after, weight, want) in [
            (odd, 0.5, 0, odd),
            (0.5, odd, 0, 0.5),
            (nan, odd, 65535, odd),
            (0.5, nan, 30000, nan),
            (odd, 0.5, 30000, odd),
        ] {
            let mut row = [after; 37];
            let bytes = bytemuck::cast_slice_mut(&mut row);
            blend_row_by(
                Level::best(),
                Depth::Float,
                bytes,
                bytemuck::cast_slice(&[before; 37]),
                &[weight; 37],
                Opacity::new(1.0),
            );
            assert!(
                row.iter().all(|v: &f32| v.to_bits() == want.to_bits()),
                "{before} {after} {weight}: {row:?}"
            );
        }
    }
}
