//! Runs the measurements of `grainfield-measure` on whole inputs, and plots the report.

#[cfg(feature = "plots")]
pub mod plot;
mod run;

pub use grainfield_measure::*;
pub use run::{AnalyzeError, DEFAULT_FRAMES, ReportHandle, prepare};
