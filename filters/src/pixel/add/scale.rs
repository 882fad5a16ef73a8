//! Converts a standard deviation in code values to a gain and a shift.

use crate::noise::Distribution;
use core::f64::consts::PI;

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
pub(super) const BYTE_SHIFT: u32 = 24;

/// How integer noise is scaled: `floor((c * gain + 2^(shift-1)) / 2^shift)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    gain: i16,
    shift: u32,
}

impl Scale {
    /// No noise.
    pub const ZERO: Scale = Scale { gain: 0, shift: 17 };

    /// The scale that gives noise of `distribution` the standard deviation `codes` (in code values, from 0 to 65535)
    /// *after* rounding to whole codes. Exact to 0.2 % from half a code up.
    pub fn new(distribution: Distribution, codes: f64) -> Scale {
        if codes.is_nan() || codes <= 0.0 {
            return Scale::ZERO;
        }
        Scale::of_factor(before_rounding(distribution, codes.min(65535.0)) / distribution.deviation())
    }

    /// The nearest scale to a factor from c to codes, below 16.
    ///
    /// The shift is 24 if the gain then has at least ten bits and noise stays within 64 codes, since kernels
    /// are faster with it; otherwise the gain uses all of its 15 bits.
    pub fn of_factor(factor: f64) -> Scale {
        if factor.is_nan() || factor <= 0.0 || factor >= 16.0 {
            return Scale::ZERO;
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
                    return Scale::ZERO;
                }
            }
        }
        // The next odd number; see the module's documentation.
        Scale { gain: gain as i16 | 1, shift }
    }

    /// The factor from c to codes.
    pub fn factor(self) -> f64 {
        f64::from(self.gain) / f64::from(1u32 << self.shift)
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

    /// Gain and shift, the latter 11 to 30.
    #[inline(always)]
    pub(super) const fn parts(self) -> (i16, u32) {
        (self.gain, self.shift)
    }

    /// Whether 16-bit lanes are sufficient.
    #[inline(always)]
    pub(super) const fn fits_i16(self) -> bool {
        self.shift >= 17
    }
}
