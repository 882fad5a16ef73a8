//! The judge: measures noise, and says what is wrong with it.
//!
//! It looks at one picture that is more or less flat, or, better, at the difference of a noisy picture and its clean
//! twin. What it measures is in the modules; [`Accumulator`] does it all to frames one after the other, and `grainfield::analyze` to
//! whole inputs. These are reports, not samples: numbers are `f64` with the standard library's functions, sums are
//! made in the order of frames, and what is printed is rounded so that no last bit shows.
//!
//! A crate of its own, so that its transforms are compiled once and at full speed, in tests too.
//!
//! Memory does not grow with the number of frames: beside the frames being worked on there is a limit of about
//! 200 MB for whatever is kept from frame to frame.

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

pub use accumulator::{Accumulator, FramePeak};
pub use field::Field;
pub use measure::{Measures, Tools};
pub use moments::Moments;
pub use report::Report;
