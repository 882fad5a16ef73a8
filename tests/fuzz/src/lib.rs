//! What may be thrown at the program: one function a target, which cargo-fuzz, the driver of this package and an
//! ordinary test of the program call alike.
//!
//! A function gets any bytes and must neither panic, nor take longer than [`PATIENCE`], nor hold more than
//! [`MEMORY`] at a time. It says whether it understood them, so that a campaign can go on from there.

#[allow(unsafe_code)] // an allocator is unsafe by its nature
pub mod bound;
pub mod campaign;
pub mod mutate;
pub mod targets;

use std::time::Duration;

/// The longest input, in bytes.
pub const LONGEST: usize = 4096;
/// The most memory that an input may take at a time, in bytes. A frame of [`targets::FRAME`] bytes may be one sample
/// wide; its rows stand on cache lines of their own, which makes 16 MiB of four such planes.
pub const MEMORY: usize = 32 << 20;
/// An input that takes longer than this hangs. (A thousandth of it is much.)
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Something to throw bytes at.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it is called; its corpus stands in the folder of that name.
    pub name: &'static str,
    /// Takes bytes; says whether they were understood. Panics when something is wrong.
    pub run: fn(&[u8]) -> bool,
    /// Words that mean something to it.
    pub words: &'static [&'static str],
    /// Inputs to start from.
    pub seeds: &'static [&'static str],
}

/// All targets.
pub const TARGETS: [Target; 16] = [
    targets::y4m::TARGET,
    targets::recipe::CHAIN,
    targets::recipe::TOML,
    targets::curve::TARGET,
    targets::ranges::TARGET,
    targets::pattern::TARGET,
    targets::pma::TARGET,
    targets::files::TRACKS,
    targets::files::STATE,
    targets::files::LOTTIE,
    targets::files::SAMPLES,
    targets::files::MANIFEST,
    targets::files::JOBS,
    targets::files::STATUS,
    targets::effect::TARGET,
    targets::film_grain::TARGET,
];

/// The target of a name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|t| t.name == name)
}
