//! Functions of nominal values, where colour is multiplied by alpha: divided by it first, and multiplied again.

use super::Power;
use crate::pixel::f32_rows::ConvertF32;

/// What is done to a nominal value that is not multiplied by alpha.
#[derive(Clone, Debug)]
pub enum Nominal {
    /// `v * gain + offset`.
    Line {
        /// What a value is multiplied by.
        gain: f32,
        /// What is added then.
        offset: f32,
    },
    /// Along a line, a power, and a line.
    Power(Power),
}

/// Where nominal 0 is, how far nominal 1 is from it, and what integers are kept to.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The code of nominal 0.
    pub zero: f32,
    /// Codes from there to nominal 1.
    pub span: f32,
    /// The highest code; nothing for float.
    pub top: Option<f32>,
    /// What values are kept to before, and what results are kept to.
    pub limits: Option<[(f32, f32); 2]>,
}

impl Nominal {
    /// A value without alpha.
    fn of(&self, v: f32) -> f32 {
        match self {
            Nominal::Line { gain, offset } => v * gain + offset,
            Nominal::Power(power) => power.of(v),
        }
    }

    /// A sample that was multiplied by `alpha`: divided by it, changed, multiplied by it. Where nothing covers, or what
    /// comes out is no finite number, it stays.
    pub fn premultiplied<T: ConvertF32>(&self, x: T, alpha: f32, by: Scale) -> T {
        let v = (x.number() - by.zero) / by.span / alpha;
        if !(alpha > 0.0 && v.is_finite()) {
            return x;
        }
        let keep = |v: f32, which: usize| by.limits.map_or(v, |l| v.max(l[which].0).min(l[which].1));
        let sum = by.zero + keep(self.of(keep(v, 0)), 1) * alpha * by.span;
        match by.top {
            _ if !sum.is_finite() => x,
            Some(top) => T::of(sum.min(top)),
            None => T::of(sum),
        }
    }
}
