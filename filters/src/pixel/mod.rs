//! Row kernels: the operations of filters on samples, one row at a time.
//!
//! | to | go to |
//! |---|---|
//! | change every sample by itself, of any format, premultiplied ones too | [`tone`] |
//! | work in `f32` and round once | [`f32_rows`] |
//! | add noise; smooth it or correlate it in time; add film grain | [`add`], [`field`], [`grain`] |
//! | blur, or take samples from between samples | [`resample`] |
//! | average similar samples | [`denoise`] |
//! | darken by the distance from a point | [`vignette`] |
//! | mix three planes into one by a matrix | [`matrix`] |
//! | change depth, range, family or chroma grid | [`convert`] |
//! | round to fewer bits with dither | [`dither`] |
//! | go to light and back | [`transfer`] |
//! | mix two results | [`blend`] |
//!
//! All kernels keep to the same habits:
//!
//! - The first argument is the [`Level`](crate::simd::Level) to run at. Every level gives the same bits; tests walk
//!   over [`Level::available`](crate::simd::Level::available).
//! - Rows are slices of `u8`, `u16` (9 to 16 bits, codes from 0 on) or `f32`. They may begin anywhere and have any
//!   length; a kernel works on as many samples as its shortest row has, or panics where lengths must agree.
//! - Constants that follow from format and settings (gains, weights, limits) are bound once into a small type, such as
//!   [`tone::Affine`] or [`add::NoiseGain`], whose documentation states the arithmetic. It is exact: integers, or `f32`
//!   sums in one order.
//! - Results are kept to the legal codes, or as far outside of them as the sample was. Float samples that are not
//!   finite stay, to the bit.

pub mod add;
pub mod blend;
pub mod convert;
pub mod denoise;
pub mod dither;
pub mod f32_rows;
pub mod field;
pub mod grain;
pub mod lut;
pub mod matrix;
pub mod resample;
pub mod tone;
pub mod transfer;
pub mod vignette;
