//! Grainfield: deterministic noise and effects for video and image sequences. Start with [`session`].

pub mod analyze;
pub mod assets;
pub mod batch;
pub mod cli;
pub mod disk;
pub mod encoding;
pub mod format;
pub mod join;
pub mod journal;
#[cfg(feature = "ffmpeg")]
pub mod libav;
pub mod matching;
pub mod media;
pub mod pipeline;
pub mod session;
pub mod sheet;
pub mod sink;
pub mod source;
#[cfg(feature = "studio")]
pub mod studio;

pub use grainfield_filters::frame::{Format, Frame, Ranges};
pub use grainfield_filters::ratio::Ratio;
pub use grainfield_filters::recipe::Recipe;
pub use session::open;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
