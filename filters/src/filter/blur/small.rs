//! A Gaussian of small sigma: vertical, then horizontal.

use super::{Job, gaussian, pad};
use crate::frame::Scratch;
use crate::pixel::resample::{Kernel, Pass, convolve_row, convolve_rows};

/// Blurs the rows of the output in this band.
pub(super) fn render<T: Kernel>(job: Job<'_, '_>, sigmas: [f64; 2], scratch: &mut Scratch) {
    let [across, down] = sigmas.map(|s| T::weights(&gaussian(s)));
    let [left, up] = [across.len() / 2, down.len() / 2];
    let width = job.width;
    let last = job.input.height() - 1;
    // One element size for all buffers, that of the widest type: 4 bytes.
    let [acc, wide, padded] = scratch.buffers::<u32, 3>([width, width, width + 2 * left]);
    let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
    let wide = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(wide)[..width];
    let padded = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(padded)[..width + 2 * left];
    for y in job.output.rows() {
        let row = |k: usize| job.input.row::<T>((y + k).saturating_sub(up).min(last));
        convolve_rows(job.level, (wide, acc), &down, row, (job.bits, Pass::Widen));
        pad(padded, wide, left);
        let out = job.output.row_mut::<T>(y);
        convolve_row(job.level, (out, acc), padded, &across, (job.bits, Pass::Narrow));
    }
}
