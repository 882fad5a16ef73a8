//! The mean along a line.

use super::{Job, pad};
use crate::frame::Scratch;
use crate::pixel::resample::{Kernel, Pass, accumulate1, accumulate4, round_saturate};
use std::collections::BTreeMap;

/// Blurs the rows of the output in this band.
pub(super) fn render<T: Kernel>(job: Job<'_, '_>, vector: [f64; 2], scratch: &mut Scratch) {
    let taps = taps(vector);
    let list: Vec<f64> = taps.iter().map(|t| t.1).collect();
    let w = T::weights(&list);
    let side = taps.iter().map(|t| t.0.1.unsigned_abs() as usize).max().unwrap_or(0);
    let width = job.width;
    let last = job.input.height() as i64 - 1;
    let [acc, padded] = scratch.buffers::<u32, 2>([width, width + 2 * side]);
    let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
    let padded = &mut bytemuck::cast_slice_mut::<u32, T>(padded)[..width + 2 * side];
    for y in job.output.rows() {
        let mut next = 0;
        while next < taps.len() {
            // Sum all taps of one row, four at a time.
            let dy = taps[next].0.0;
            let row = job.input.row::<T>((y as i64 + i64::from(dy)).clamp(0, last) as usize);
            pad(padded, row, side);
            let end = next + taps[next..].iter().take_while(|t| t.0.0 == dy).count();
            let shifted = |i: usize| {
                let from = (side as i64 + i64::from(taps[i].0.1)) as usize;
                &padded[from..from + width]
            };
            while next < end {
                let add = next > 0;
                if end - next >= 4 {
                    let rows = [shifted(next), shifted(next + 1), shifted(next + 2), shifted(next + 3)];
                    let four = [w[next], w[next + 1], w[next + 2], w[next + 3]];
                    accumulate4(job.level, acc, rows, four, add);
                    next += 4;
                } else {
                    accumulate1(job.level, acc, shifted(next), w[next], add);
                    next += 1;
                }
            }
        }
        round_saturate(job.level, job.output.row_mut::<T>(y), acc, job.bits, Pass::Direct);
    }
}

/// The taps: (row, column) and weight, in that order.
pub(super) fn taps([dx, dy]: [f64; 2]) -> Vec<((i32, i32), f64)> {
    let far = (dx * dx + dy * dy).sqrt();
    let count = (libm::ceil(far * 2.0) as i32).max(1);
    let mut taps = BTreeMap::new();
    for i in 0..count {
        let t = (f64::from(i) + 0.5) / f64::from(count) - 0.5;
        let (x, y) = (t * dx, t * dy);
        let (left, top) = (libm::floor(x), libm::floor(y));
        let (fx, fy) = (x - left, y - top);
        for (j, wy) in [1.0 - fy, fy].into_iter().enumerate() {
            for (k, wx) in [1.0 - fx, fx].into_iter().enumerate() {
                if wx * wy > 0.0 {
                    *taps.entry((top as i32 + j as i32, left as i32 + k as i32)).or_insert(0.0) += wx * wy;
                }
            }
        }
    }
    taps.into_iter().collect()
}
