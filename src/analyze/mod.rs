//! The judge of `grainfield-measure` on whole inputs, and its report as a picture.

pub mod plot;
mod run;

pub use grainfield_measure::*;
pub use run::{DEFAULT_FRAMES, ReportHandle, prepare};
