//! The structures of the papers that only their tables need: no filter uses them.
//!
//! | module | contents |
//! |---|---|
//! | [`pma`] | packed memory arrays, in total order and by cell |
//! | [`fluid`] | the generic fluid, in 2-D and 3-D, on a packed memory array |
//! | [`morton`] | keys along a Z-curve |
//!
//! `./x bench pma`, `sph`, `fluid_figures`, `settle` and `tiles` measure them against their rivals.

pub mod fluid;
pub mod morton;
pub mod pma;
mod simd;
