//! The structures of the papers that only their tables need: no filter uses them.
//!
//! | module | contents |
//! |---|---|
//! | [`pma`] | the packed memory array in total order |
//! | [`fluid`] | the generic fluid, in 2-D and 3-D, on either packed memory array |
//! | [`morton`] | keys along a Z-curve in three dimensions |
//!
//! `./x bench pma`, `sph`, `fluid_figures`, `settle`, `tiles` and `sand_order` measure them against their rivals.

pub mod fluid;
pub mod morton;
pub mod pma;
mod simd;
