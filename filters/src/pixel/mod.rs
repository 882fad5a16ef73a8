//! Row kernels: one row of samples in, one row out; each with an obvious reference.

pub mod add;
pub mod blend;
pub mod convert;
