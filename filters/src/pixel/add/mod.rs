//! Adding noise to rows of samples.
//!
//! # The definition
//!
//! A pixel's noise is a centred number c of 16 bits (see [`crate::noise::distribution`]). For integer samples it is
//! converted to whole code values by one multiplication and one rounding,
//!
//! `n = floor((c * gain + 2^(shift-1)) / 2^shift)`,
//!
//! with the 15-bit `gain` and the `shift` of a [`Scale`]. The sum is clamped to the legal codes, but samples that were
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
//! of 8 to 13 bits; stronger noise of deeper samples goes through 32 bits.

mod arch;
mod rows;
mod scale;
#[cfg(test)]
mod tests;

pub use arch::{add_lfsr31_u8, add_lfsr31_u16};
pub use rows::{Noise, add_constant_u8, add_constant_u16, add_f32, add_u8, add_u16, reference};
pub use scale::Scale;
