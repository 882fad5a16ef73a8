//! Grainfield's filters. The crate uses no files, threads, clocks or environment; a host provides what a filter needs
//! of these ([`host`]). Any frame is a pure function of the source frame, the steps, the seed and the frame number:
//!
//! ```
//! use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
//! use grainfield_filters::host::{CurrentThread, Host, NoCache};
//! use grainfield_filters::{frame, ratio::Ratio, recipe::Recipe, simd::Level};
//! use std::sync::atomic::AtomicBool;
//!
//! let recipe = "grain=preset=35mm:strength=6,vignette".parse::<Recipe>()?;
//! let format = frame::Format::from_name("yuv420p", 1920, 1080)?;
//! let options = Options { seed: 1, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
//! let chain = Chain::bind::<ChainError>(&recipe.steps, format, &options, |made| Ok(*made))?;
//!
//! let mut picture = frame::Frame::new(format);
//! let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
//! let at = frame::FrameTime::of_frame(1200, Ratio::whole(24));
//! chain.run(&at, Ratio::ZERO, &mut picture, &mut Workspace::default(), &States::default(), &host)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | go to |
//! |---|---|
//! | read and write recipes as text | [`recipe`] |
//! | list filters and their settings | [`catalog`], [`mod@settings`] |
//! | hold pictures, or borrow them from a host | [`frame`] |
//! | run filters over frames | [`chain`], with the services of the host in [`host`] |
//! | write a filter | [`mod@filter`], whose page has a complete example; [`pixel`] has row operations, [`noise`] random numbers |
//! | draw particles or a liquid | [`particle`] |
//! | keep many elements in the order of their cells | [`pma`], with the cells of a picture in [`zorder`] |
//! | animate values | [`curve`] |
//! | show all of this in a page | [`forms`] |

// Kernels over registers, which only the levels of x86-64 and of little-endian ARM64 have.
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, unused_imports)
)]

pub mod catalog;
pub mod chain;
pub mod curve;
pub mod film_grain;
pub mod filter;
pub mod font;
pub mod forms;
pub mod frame;
pub mod host;
pub mod lut;
mod math;
pub mod noise;
pub mod particle;
pub mod pixel;
pub mod plate;
pub mod pma;
pub mod ratio;
pub mod recipe;
pub mod settings;
pub mod simd;
pub mod zorder;

/// The configuration of random tests: the same values in each run, and no files about failures.
#[cfg(test)]
pub(crate) fn fixed(seed: u64) -> proptest::test_runner::Config {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(seed);
    proptest::test_runner::Config { rng_seed, failure_persistence: None, cases: 64, ..Default::default() }
}
