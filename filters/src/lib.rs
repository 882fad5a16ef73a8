//! Grainfield's filters: no files, no threads, no clocks, no environment. What a filter needs of these is lent
//! ([`lend`]).

pub mod catalog;
pub mod chain;
pub mod curve;
pub mod filter;
pub mod frame;
pub mod gf2;
pub mod lend;
pub mod morton;
pub mod noise;
pub mod particle;
pub mod pixel;
pub mod pma;
pub mod ratio;
pub mod settings;
pub mod simd;
