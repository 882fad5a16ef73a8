//! Pictures: their [`Format`], their [`FrameTime`], and their samples, owned ([`Frame`]) or borrowed ([`FrameRef`],
//! [`FrameMut`]).
//!
//! Samples are planar. Planes are in FFmpeg's order: `Y U V A`, `G B R A`, or `Y A` for grey. A sample is `u8` for 8
//! bits, `u16` for 9 to 16 bits (value in the low bits, native order), or `f32`. Strides are in bytes.

mod buffer;
mod clip_details;
mod color;
mod digest;
mod external;
mod format;
mod names;
mod plane;
mod range_text;
mod ranges;
mod scratch;
mod second_input;
mod siting;
mod source_frames;
mod spans;
mod time;
mod timecode;

pub use buffer::{CacheLine, Frame};
pub use clip_details::ClipDetails;
pub use color::{ColorRange, FieldOrder, Matrix, Primaries, Transfer};
pub use digest::md5;
pub use external::{ExternalFilter, FilterLibrary};
pub use format::{Alpha, Depth, Family, Format, FormatError, MAX_SIDE, Parity, PictureStructure, PlaneSet};
pub use names::NameError;
pub use plane::{FrameMut, FrameRef, PlaneMut, PlaneRef, Sample};
pub use ranges::{MAX_RANGES, Ranges, RangesError, RangesProblem};
pub use scratch::Scratch;
pub use second_input::SecondInput;
pub use siting::Siting;
#[cfg(test)]
pub(crate) use siting::tests as sites;
pub use source_frames::SourceFrames;
pub use spans::{ClipFrames, Spans, SpansError};
pub use time::FrameTime;
pub use timecode::Timecode;
