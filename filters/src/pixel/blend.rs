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
}
