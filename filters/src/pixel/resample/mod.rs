//! Weighted sums of rows and of neighbours, for blurs and for movement.
//!
//! In integers weights are whole multiples of 2^-14 whose sum is exactly 1 ([`weights`]), sums are made in 32 bits, and
//! what stands between two passes has 16 bits ([`Kernel::Wide`]), so each pass rounds once, halves up. Float samples
//! are summed in f32 in the order of the taps; a sum that is not finite is in the end the source's own sample at that
//! place, to the bit ([`carry`], [`Warp::carry`]), so that what is not finite moves with the picture and does not
//! spread.

mod arch;
mod axis;
mod level;
#[cfg(target_arch = "x86_64")]
mod level_x86;
mod rows;
pub mod smooth;
#[cfg(test)]
mod tests;
mod warp;

pub use axis::{Axis, Windows};
pub use level::{Groups, Octets};
pub use rows::{
    Kernel, Pass, accumulate1, accumulate4, carry, convolve_row, convolve_rows, dot_row, round_saturate,
};
pub use warp::{Edge, InterpolationKernel, PHASES, Patch, Phases, SampleLine, Warp};

/// Fraction bits of integer weights.
pub const BITS: u32 = 14;

/// Weights normalised to a sum of 1, as multiples of 2^-14 whose sum is exactly 2^14: each running sum is rounded, so
/// that errors do not accumulate over many small weights. Weights that sum to 0 or less become one tap in the middle.
pub fn weights(list: &[f64]) -> Vec<i32> {
    let total: f64 = list.iter().sum();
    if list.is_empty() || !(total > 0.0 && total.is_finite()) {
        let mut only = vec![0; list.len().max(1)];
        let middle = only.len() / 2;
        only[middle] = 1 << BITS;
        return only;
    }
    weights_of(list, BITS)
}

/// Weights of a positive sum as multiples of 2^-bits, likewise.
fn weights_of(list: &[f64], bits: u32) -> Vec<i32> {
    let total: f64 = list.iter().sum();
    let one = f64::from(1u32 << bits);
    let (mut sum, mut before) = (0.0, 0i32);
    let mut fixed: Vec<i32> = list
        .iter()
        .map(|w| {
            sum += w;
            let here = libm::floor(sum / total * one + 0.5) as i32;
            here - core::mem::replace(&mut before, here)
        })
        .collect();
    // The last running sum is the total divided by itself: exactly 1, except for rounding of sums.
    if let Some(last) = fixed.last_mut() {
        *last += (1 << bits) - before;
    }
    fixed
}
