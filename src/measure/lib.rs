//! Measures noise and reports its defects.
//!
//! It measures a uniform picture or, better, the difference between a noisy picture and its clean version. The modules
//! contain the measurements; [`Accumulator`] applies them to a series of frames, and `grainfield::analyze` to whole
//! inputs. Reports need not be bit-exact like samples: they use `f64` with the standard library's functions, sums are
//! made in the order of frames, and printed numbers are rounded so that they agree between machines.
//!
//! It is a separate crate, so that its transforms are compiled once with full optimisation, also for tests.
//!
//! Memory does not grow with the number of frames: in addition to the frames in progress, at most about 200 MB are kept
//! from frame to frame.

mod accumulator;
pub mod bands;
pub mod blind;
mod blocks;
pub mod boxes;
mod cluster;
pub mod correlation;
pub mod fft;
mod field;
pub mod measure;
mod moments;
mod motion;
pub mod normal;
pub mod peak;
pub mod phases;
pub mod report;
pub mod residual;
pub mod spectrum;
#[cfg(test)]
mod testing;

pub use accumulator::Accumulator;
pub use field::Field;
pub use measure::{Measures, Tools};
pub use moments::Moments;
pub use report::Report;
