//! Premultiplied samples, changed as the straight colour: in f64, rounded once.

use super::{Nominal, Power};
use crate::frame::Format;
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::ConvertF32;

/// The relation of premultiplied samples of a plane to nominal values, and the limits of straight values.
#[derive(Clone, Copy, Debug)]
pub struct PremultipliedScale {
    zero: f64,
    span: f64,
    /// The highest code; infinite for float.
    top: f64,
    bounds: (f64, f64),
    /// Whether samples change where alpha is 0, too.
    uncovered: bool,
}

impl PremultipliedScale {
    /// For plane `p`, with the limits `bounds` of straight values for integer samples.
    pub fn new(format: &Format, p: usize, bounds: (f64, f64)) -> PremultipliedScale {
        let code = Code::of(format, p);
        let (top, bounds) = match format.depth.bits() {
            Some(_) => (f64::from(format.codes().1), bounds),
            None => (f64::INFINITY, (f64::NEG_INFINITY, f64::INFINITY)),
        };
        PremultipliedScale { zero: code.zero.into(), span: code.span.into(), top, bounds, uncovered: false }
    }

    /// The nominal value of a sample, multiplied by alpha.
    #[inline(always)]
    pub fn value<T: ConvertF32>(&self, x: T) -> f64 {
        (f64::from(x.number()) - self.zero) / self.span
    }

    /// The sample for a value that is multiplied by alpha, clamped to the bounds of the straight value and rounded
    /// once, halves up. `was` stays if alpha is 0, and if it or the value is not finite.
    #[inline(always)]
    pub fn sample<T: ConvertF32>(&self, was: T, value: f64, alpha: f64) -> T {
        let covered = alpha > 0.0 || self.uncovered;
        if !(covered && was.number().is_finite() && (value as f32).is_finite()) {
            return was;
        }
        // Without bounds, the products at an alpha of 0 would be NaN.
        let bound = |v: f64, limit: f64| if limit.is_finite() { limit * alpha } else { v };
        let value = value.max(bound(value, self.bounds.0)).min(bound(value, self.bounds.1));
        let code = self.zero + value * self.span;
        T::from_f32(if self.top.is_finite() {
            libm::floor(code + 0.5).min(self.top) as f32
        } else {
            code as f32
        })
    }
}

/// A function of straight values for premultiplied samples of a plane.
#[derive(Clone, Debug)]
pub struct Premultiplied {
    scale: PremultipliedScale,
    of: Function,
}

#[derive(Clone, Debug)]
enum Function {
    Line {
        gain: f64,
        offset: f64,
    },
    /// The tone for values that are clamped to a range first.
    Power(Power, (f64, f64)),
}

impl Premultiplied {
    pub(super) fn new(nominal: &Nominal, format: &Format, p: usize) -> Premultiplied {
        let uncovered = matches!(nominal, Nominal::Mix { .. });
        let scale = PremultipliedScale::new(format, p, nominal.bounds(format, p));
        let of = match (*nominal, nominal.power()) {
            (Nominal::Power { black, width, bends, .. }, Some(power)) => {
                let ends = match bends {
                    // The bends bring everything into the range.
                    Some(_) => (f64::NEG_INFINITY, f64::INFINITY),
                    None => (black.min(black + width), black.max(black + width)),
                };
                Function::Power(power, if scale.top.is_finite() { ends } else { scale.bounds })
            }
            _ => {
                let (gain, offset) = nominal.line().unwrap_or((1.0, 0.0));
                Function::Line { gain, offset }
            }
        };
        Premultiplied { scale: PremultipliedScale { uncovered, ..scale }, of }
    }

    /// One sample: the reference.
    #[inline(always)]
    fn of<T: ConvertF32>(&self, x: T, alpha: f64) -> T {
        let v = self.scale.value(x);
        let value = match &self.of {
            Function::Line { gain, offset } => v * gain + offset * alpha,
            Function::Power(power, (low, high)) => {
                f64::from(power.of((v / alpha).max(*low).min(*high) as f32)) * alpha
            }
        };
        self.scale.sample(x, value, alpha)
    }

    /// A row of samples that were multiplied by `alpha` (0 to 1).
    pub fn apply<T: ConvertF32>(&self, row: &mut [T], alpha: &[f64]) {
        row.iter_mut().zip(alpha).for_each(|(x, &a)| *x = self.of(*x, a));
    }
}
