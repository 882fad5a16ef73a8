//! Row kernels.

pub mod add;
