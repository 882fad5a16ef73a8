//! Grainfield: deterministic noise and effects for video and image sequences. Start with [`session`].

#[cfg(feature = "cli")]
pub mod cli;

pub use grainfield_filters::frame::{ColorRange, Format, Frame, Matrix, Ranges, Transfer};
pub use grainfield_filters::ratio::Ratio;
pub use grainfield_filters::recipe::Recipe;
pub use grainfield_filters::simd::Isa;
#[cfg(feature = "ffmpeg")]
pub use grainfield_io::libav;
pub use grainfield_io::{disk, encoding, format, journal, media, sink, source};
pub use grainfield_render::session::job::Request;
pub use grainfield_render::session::{Clip, Error, Result};
#[cfg(feature = "cli")]
pub use grainfield_render::sheet;
pub use grainfield_render::{analyze, assets, batch, join, matching, pipeline, session};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Compiles the example of the handbook.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/library.md")]
pub struct LibraryPage;
