//! Grainfield: deterministic noise and effects for video and image sequences.

pub mod analyze;
pub mod cli;
pub mod images;
pub mod job;
pub mod pipeline;
pub mod recipe;
pub mod sink;
pub mod source;
