//! Colour of pictures that are multiplied by alpha: what is added is multiplied too, and limits are those of the straight
//! colour.

use super::{Color, Map};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::ConvertF32;

/// The map of nominal values in f32.
pub(super) struct PremultipliedMap {
    rows: [([f32; 3], f32); 3],
    /// The code of nominal 0, and codes from there to nominal 1.
    codes: [(f32, f32); 3],
    /// The lowest and highest nominal value of each plane; nothing for float.
    limits: Option<[(f32, f32); 3]>,
    /// The highest code; for float none.
    top: f32,
}

impl PremultipliedMap {
    pub(super) fn new(color: &Color, (m, offset): Map) -> PremultipliedMap {
        let plane = |i: usize| i.min(color.format.planes() - 1);
        let codes = [0, 1, 2].map(|i| {
            let code = Code::of(&color.format, plane(i));
            (code.zero as f32, code.span as f32)
        });
        let limit = |i| if color.format.is_chroma(plane(i)) { 0.5 } else { 0.0 };
        PremultipliedMap {
            rows: [0, 1, 2].map(|i: usize| (m[i].map(|v| v as f32), offset[i] as f32)),
            codes,
            top: color.format.depth.bits().map_or(f32::INFINITY, |_| color.format.codes().1.into()),
            limits: color.format.depth.bits().map(|_| [0, 1, 2].map(|i| (-limit(i), 1.0 - limit(i)))),
        }
    }

    /// Plane `p` of samples that were multiplied by `alpha`; where nothing covers it stays.
    fn of<T: ConvertF32>(&self, p: usize, x: [T; 3], own: T, alpha: f32) -> T {
        let (m, offset) = &self.rows[p];
        let v = [0, 1, 2].map(|j: usize| (x[j].number() - self.codes[j].0) / self.codes[j].1);
        let sum = v[0] * m[0] + v[1] * m[1] + v[2] * m[2] + offset * alpha;
        if !(alpha > 0.0 && sum.is_finite() && own.number().is_finite()) {
            return own;
        }
        let sum = self.limits.map_or(sum, |l| sum.max(l[p].0 * alpha).min(l[p].1 * alpha));
        T::of((self.codes[p].0 + sum * self.codes[p].1).min(self.top))
    }

    /// A row of plane `p`.
    pub(super) fn row<T: ConvertF32>(&self, out: &mut [T], p: usize, rows: [&[T]; 3], alpha: &[f32]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.of(p, [rows[0][i], rows[1][i], rows[2][i]], *out, alpha[i]);
        }
    }
}
