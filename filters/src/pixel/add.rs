//! Adding noise to rows of samples.
//!
//! # The definition
//!
//! A pixel's noise is a centred number c of 16 bits (see [`crate::noise::distribution`]). For integer samples it is
//! converted to whole code values by one multiplication and one rounding,
//!
//! `n = floor((c * gain + 2^(shift-1)) / 2^shift)`,
//!
//! with the 15-bit `gain` and the `shift` of a [`NoiseGain`]. The sum is clamped to the legal codes, but samples that were
//! outside before may stay there:
//!
//! `out = clamp(src + n, min(lo, src), max(hi, src))`,
//!
//! so noise of strength 0 changes nothing. `gain` is odd, so no `c * gain` lies halfway between two codes (while
//! `shift` is at least 16) and the rounding has no bias.
//!
//! Float samples get `src + c * gain` in `f32`, rounded after the product and after the sum, unbounded; infinities and
//! NaN stay as they are, bit for bit.
//!
//! # Why it is fast
//!
//! While `shift` is at least 17, floor(floor(c * gain / 65536) + 2^(shift-17)) / 2^(shift-16)) is the same number: a
//! high multiplication, an addition and a shift of 16-bit lanes. That holds for noise of up to 8191 codes, so for all
//! of 8 to 13 bits; stronger noise of deeper samples goes through 32 bits. White noise of `lfsr31` is generated in the
//! registers that add it (`add_lfsr31`).

mod kernel;
#[cfg(test)]
mod tests;

pub(crate) use kernel::{NoiseSample, add_lfsr31, can_fuse};

use crate::noise::Distribution;
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, multiversion};
use core::f64::consts::PI;

/// One integer sample: the reference of the kernels below.
#[inline(always)]
pub fn reference(sample: u16, c: i16, scale: NoiseGain, (lo, hi): (u16, u16)) -> u16 {
    let sum = i32::from(sample) + scale.of(c);
    sum.clamp(sample.min(lo).into(), sample.max(hi).into()) as u16
}

#[inline(always)]
fn plain_body<T: CodeSample>(row: &mut [T], c: &[i16], or: i16, scale: NoiseGain, lo: T, hi: T) {
    for (x, c) in row.iter_mut().zip(c) {
        *x = T::from_code(reference(x.code(), c | or, scale, (lo.code(), hi.code())));
    }
}

#[inline(always)]
fn f32_body(row: &mut [f32], c: &[i16], or: i16, gain: f32) {
    for (x, c) in row.iter_mut().zip(c) {
        // The NaN payload after an addition differs between machines.
        if x.is_finite() {
            *x += f32::from(c | or) * gain;
        }
    }
}

multiversion! {
    fn plain_rows<T: CodeSample>(level, row: &mut [T], c: &[i16], or: i16, scale: NoiseGain, lo: T, hi: T) = plain_body;

    /// Adds noise to float samples: `(c | or) * gain`, to finite ones. `gain` is samples per unit of c.
    pub fn add_f32(level, row: &mut [f32], c: &[i16], or: i16, gain: f32) = f32_body;
}

/// Adds noise to premultiplied samples: the noise of the straight colour times `alpha` (from 0 to 1), rounded once, and
/// clamped to the legal codes of the straight colour times alpha, or to the sample's value. Where alpha is 0, samples do
/// not change; where it is 1, they become those of [`add`]. `zero`: the code of nominal 0.
pub(crate) fn add_premultiplied<T: CodeSample>(
    row: &mut [T],
    (c, or): (&[i16], i16),
    alpha: &[f64],
    scale: NoiseGain,
    zero: f64,
    (lo, hi): (T, T),
) {
    for ((x, c), &a) in row.iter_mut().zip(c).zip(alpha).filter(|(_, a)| **a > 0.0) {
        let was = f64::from(x.code());
        let limit = |code: T| zero + (f64::from(code.code()) - zero) * a;
        let sum = was + scale.exact(c | or) * a;
        let sum = sum.max(limit(lo).min(was)).min(limit(hi).max(was));
        *x = T::from_code(libm::floor(sum + 0.5) as u16);
    }
}

/// The same for float samples: `(c | or) * gain * alpha`, where alpha and sample are finite.
pub(crate) fn add_premultiplied_f32(row: &mut [f32], (c, or): (&[i16], i16), alpha: &[f64], gain: f32) {
    for ((x, c), &a) in row.iter_mut().zip(c).zip(alpha) {
        if x.is_finite() && a > 0.0 && a.is_finite() {
            *x += f32::from(c | or) * gain * a as f32;
        }
    }
}

/// Adds noise to integer samples, clamped to the legal codes `lo..=hi` or to the sample's value. The numbers are `c |
/// or`, so words of uniform noise are added with an `or` of 1, and centred numbers with 0.
///
/// Processes the smaller of the numbers of samples and of noise numbers. Panics for noise of more than 8191 codes in
/// 8-bit samples, which strengths up to 255 do not reach.
pub(crate) fn add<T: NoiseSample>(
    level: Level,
    row: &mut [T],
    c: &[i16],
    or: i16,
    scale: NoiseGain,
    (lo, hi): (T, T),
) {
    assert!(scale.fits_i16() || size_of::<T>() > 1, "noise of more than 8191 codes for 8-bit samples");
    if !(scale.fits_i16() && kernel::add(level, row, c, or, scale, lo, hi)) {
        plain_rows(level, row, c, or, scale, lo, hi);
    }
}

/// The characteristic function E cos(tX) and its derivative, for X of standard deviation `sd`.
fn characteristic(distribution: Distribution, sd: f64, t: f64) -> (f64, f64) {
    // Each term is uniform on -a..a. The slots of H8 are sums of eight.
    let k = match distribution {
        Distribution::Sum(k) => f64::from(k),
        Distribution::H8 => 8.0,
    };
    let a = sd * (3.0 / k).sqrt();
    let at = a * t;
    let (sin, cos) = (libm::sin(at), libm::cos(at));
    let one = sin / at;
    let slope = (cos - one) / t;
    let mut power = 1.0;
    for _ in 1..k as u32 {
        power *= one;
    }
    (power * one, k * power * slope)
}

/// The variance of X with standard deviation `sd` after rounding to whole numbers, by the Fourier series of the
/// rounding error.
fn rounded_variance(distribution: Distribution, sd: f64) -> f64 {
    let mut sum = sd * sd + 1.0 / 12.0;
    let mut sign = 1.0;
    for j in 1..=48 {
        sign = -sign;
        let j = f64::from(j);
        let (value, slope) = characteristic(distribution, sd, 2.0 * PI * j);
        sum += sign * (value / (PI * PI * j * j) - 2.0 * slope / (PI * j));
    }
    sum
}

/// The standard deviation before rounding that gives `wanted` after it. Rounding adds about 1/12 to a variance,
/// 4 % at one code value, and removes noise below half a code.
fn before_rounding(distribution: Distribution, wanted: f64) -> f64 {
    let var = wanted * wanted;
    if distribution == Distribution::UNIFORM {
        // For uniform noise on -a..a, rounded, the codes below N are equally frequent and N has the remaining
        // probability, so the variance is N^2 - (4 N^3 - N) / (6 a), which is solved for a.
        let mut n = libm::floor(libm::sqrt(3.0 * var)) - 1.0;
        n = if n < 1.0 { 1.0 } else { n };
        while n * (n + 1.0) / 3.0 < var {
            n += 1.0;
        }
        let a = (4.0 * n * n * n - n) / (6.0 * (n * n - var));
        return a / 3.0f64.sqrt();
    }
    if wanted >= 8.0 {
        return (var - 1.0 / 12.0).sqrt();
    }
    let (mut low, mut high) = (0.0, wanted + 0.5);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if rounded_variance(distribution, middle) < var {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The shift at which the noise is the high byte of a 16-bit number.
const BYTE_SHIFT: u32 = 24;

/// How integer noise is scaled: `floor((c * gain + 2^(shift-1)) / 2^shift)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoiseGain {
    gain: i16,
    shift: u32,
}

impl NoiseGain {
    /// No noise.
    pub const ZERO: NoiseGain = NoiseGain { gain: 0, shift: 17 };

    /// The scale that gives noise of `distribution` the standard deviation `codes` (in code values, from 0 to 65535)
    /// *after* rounding to whole codes. Exact to 0.2 % from half a code up.
    pub fn new(distribution: Distribution, codes: f64) -> NoiseGain {
        if codes.is_nan() || codes <= 0.0 {
            return NoiseGain::ZERO;
        }
        NoiseGain::of_factor(before_rounding(distribution, codes.min(65535.0)) / distribution.deviation())
    }

    /// The nearest scale to a factor from c to codes, below 16.
    ///
    /// The shift is 24 if the gain then has at least ten bits and noise stays within 64 codes, since kernels
    /// are faster with it; otherwise the gain uses all of its 15 bits.
    pub fn of_factor(factor: f64) -> NoiseGain {
        if factor.is_nan() || factor <= 0.0 || factor >= 16.0 {
            return NoiseGain::ZERO;
        }
        let mut gain = factor * f64::from(1u32 << BYTE_SHIFT);
        let mut shift = BYTE_SHIFT;
        if !(1024.0..32768.0).contains(&gain) {
            (gain, shift) = (factor, 0);
            while gain < 16384.0 {
                gain *= 2.0;
                shift += 1;
                // Beyond a shift of 30, noise is below half a code.
                if shift > 30 {
                    return NoiseGain::ZERO;
                }
            }
        }
        // The next odd number; see the module's documentation.
        NoiseGain { gain: gain as i16 | 1, shift }
    }

    /// Whether the noise is 0 for every c.
    pub fn is_zero(self) -> bool {
        self.of(i16::MAX) == 0 && self.of(-i16::MAX) == 0
    }

    /// The noise of c in codes: the reference.
    #[inline(always)]
    pub const fn of(self, c: i16) -> i32 {
        (c as i32 * self.gain as i32 + (1 << (self.shift - 1))) >> self.shift
    }

    /// The same before rounding.
    fn exact(self, c: i16) -> f64 {
        f64::from(c) * f64::from(self.gain) / f64::from(1u32 << self.shift)
    }

    /// Whether 16-bit lanes are sufficient.
    #[inline(always)]
    pub const fn fits_i16(self) -> bool {
        self.shift >= 17
    }
}
