//! The targets, one file per subject.

pub mod curve;
pub mod effect;
pub mod files;
pub mod film_grain;
pub mod pattern;
pub mod ranges;
pub mod recipe;
pub mod y4m;

/// The size limit of a frame in bytes; a header may declare larger ones, which are not read.
pub const FRAME: usize = 1 << 20;

/// FNV-1a: selects the inputs that get additional work, always the same ones.
fn hash(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}
