//! A power of float samples between two linear functions, by tables.

use super::Bends;
use crate::simd::{Level, multiversion};

/// The number of segments per octave in the table of a power.
const PARTS: usize = 1024;

/// `v = (x - black) * gain`, bent at its ends, then `v^exponent` where v is positive, then `v * span + base`.
///
/// The power is the product of two table values: of the mantissa (1024 linear segments, with a relative error of at
/// most a millionth for exponents from 1/10 to 10 near 1, `1.2e-7 * |e (e - 1)|` in general) and of the binary
/// exponent. Values below black stay linear.
#[derive(Clone, PartialEq, Debug)]
pub struct Power {
    /// The value that is subtracted first.
    pub black: f32,
    /// The factor after the subtraction.
    pub gain: f32,
    /// The factor after the power.
    pub span: f32,
    /// The value that is added last.
    pub base: f32,
    /// The toe and the shoulder of v.
    bends: Option<Bends>,
    mantissas: Box<[f32]>,
    octaves: Box<[f32]>,
}

impl Power {
    /// The tables for an exponent above 0.
    pub fn new(exponent: f64, black: f32, gain: f32, span: f32, base: f32) -> Power {
        let mantissa = |i: usize| libm::pow(1.0 + i as f64 / PARTS as f64, exponent) as f32;
        let octave = |i: i32| libm::pow(2.0, f64::from(i - 127) * exponent) as f32;
        let mantissas = (0..=PARTS).map(mantissa).collect();
        Power { black, gain, span, base, bends: None, mantissas, octaves: (0..256).map(octave).collect() }
    }

    /// The same with its ends bent.
    #[must_use]
    pub fn with(self, bends: Option<Bends>) -> Power {
        Power { bends, ..self }
    }

    /// One sample: the reference.
    #[inline(always)]
    pub fn of(&self, x: f32) -> f32 {
        if !x.is_finite() {
            return x;
        }
        let v = (x - self.black) * self.gain;
        let v = self.bends.map_or(v, |bends| bends.of(f64::from(v)) as f32);
        let v = if v > 0.0 && v.is_finite() {
            let bits = v.to_bits();
            let (octave, part, rest) = ((bits >> 23) as usize, bits >> 13 & 1023, bits & 8191);
            let (a, b) = (self.mantissas[part as usize], self.mantissas[part as usize + 1]);
            (a + (b - a) * (rest as f32 * (1.0 / 8192.0))) * self.octaves[octave & 255]
        } else {
            v
        };
        v * self.span + self.base
    }

    /// A row of samples.
    pub fn apply(&self, level: Level, row: &mut [f32]) {
        power_row(level, row, self);
    }
}

#[inline(always)]
fn body(row: &mut [f32], power: &Power) {
    row.iter_mut().for_each(|x| *x = power.of(*x));
}

multiversion! {
    fn power_row(level, row: &mut [f32], power: &Power) = body;
}
