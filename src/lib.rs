//! Grainfield: deterministic noise and effects for video and image sequences. Start with [`session`].

pub mod cli;

pub use grainfield_filters::frame::{Format, Frame, Ranges};
pub use grainfield_filters::ratio::Ratio;
pub use grainfield_filters::recipe::Recipe;
#[cfg(feature = "ffmpeg")]
pub use grainfield_io::libav;
pub use grainfield_io::{disk, encoding, format, journal, media, sink, source};
pub use grainfield_render::session::open;
pub use grainfield_render::{analyze, assets, batch, join, matching, pipeline, session, sheet};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Compiles the example of the handbook.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/library.md")]
pub struct LibraryPage;
