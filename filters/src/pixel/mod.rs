//! Row kernels: each an obvious reference and a plain body compiled for every level.

pub mod add;
pub mod blend;
pub mod convert;
pub mod dither;
pub mod f32_rows;
pub mod field;
pub mod grain;
pub mod matrix;
pub mod resample;
pub mod tone;
pub mod transfer;
pub mod vignette;
