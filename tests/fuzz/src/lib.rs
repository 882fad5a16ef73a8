//! Fuzz targets: one function each, which cargo-fuzz, the driver of this package and an ordinary test of the
//! program call.
//!
//! A function accepts any bytes and must not panic, take longer than [`PATIENCE`], or hold more than [`MEMORY`]
//! at a time. It returns whether it understood them, so that a campaign can build on them.

#[allow(unsafe_code)] // an allocator is unsafe by its nature
pub mod bound;
pub mod campaign;
pub mod mutate;
pub mod targets;

use std::time::Duration;

/// The longest input in bytes.
pub const LONGEST: usize = 4096;
/// The largest memory of an input in bytes. A frame of [`targets::FRAME`] bytes may be one sample wide; its rows are
/// aligned to cache lines, which makes 16 MiB for four such planes.
pub const MEMORY: usize = 32 << 20;
/// An input that takes longer than this hangs; a thousandth of it is a lot.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus folder.
    pub name: &'static str,
    /// Runs bytes; returns whether they were understood. Panics on a fault.
    pub run: fn(&[u8]) -> bool,
    /// Words with a meaning for it.
    pub words: &'static [&'static str],
    /// Inputs to start from.
    pub seeds: &'static [&'static str],
}

/// All targets.
pub const TARGETS: [Target; 15] = [
    targets::y4m::TARGET,
    targets::recipe::CHAIN,
    targets::recipe::TOML,
    targets::curve::TARGET,
    targets::ranges::TARGET,
    targets::pattern::TARGET,
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

/// Finds a target by name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|t| t.name == name)
}
