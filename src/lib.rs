//! Grainfield: deterministic noise and effects for video and image sequences.
//!
//! ```no_run
//! use grainfield::{Clip, Recipe, session};
//!
//! fn main() -> grainfield::Result<()> {
//!     let clip = Clip::open("in.mp4")?; // indexed once, kept open
//!     let look: Recipe = "grain=preset=35mm,vignette".parse()?;
//!     clip.frame(1200, &look)?.overwrite("still.png")?; // any frame, now
//!     for picture in clip.frames(0..100, &session::recipe("super8")?) {
//!         println!("{}", picture?.digest());
//!     }
//!     clip.render(&look).frames(0..100).to("out.mp4").overwrite().run(|_| ())?;
//!     Ok(())
//! }
//! ```
//!
//! Most programs need [`Clip`], [`Recipe`] and [`session`] alone. [`analyze`], [`batch`], [`join`], [`matching`] and `sheet`
//! are the other commands of the program. [`format`](mod@format), [`media`], [`source`] and [`sink`] are for formats of
//! your own, [`disk`], [`encoding`], [`journal`] and [`pipeline`] for tools around renders.

#[cfg(feature = "cli")]
pub mod cli;

pub use grainfield_filters::chain::Step;
pub use grainfield_filters::frame::{
    ColorRange, Depth, Family, Format, Frame, Matrix, PlaneRef, Ranges, Spans, Transfer,
};
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
