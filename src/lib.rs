//! Grainfield: deterministic noise and effects for video and image sequences. [`session`] is the way in.

pub mod analyze;
pub mod batch;
pub mod cli;
pub mod disk;
#[cfg(feature = "ffmpeg")]
pub mod ffmpeg;
pub mod images;
pub mod job;
pub mod join;
pub mod pipeline;
pub mod resume;
pub mod segments;
pub mod session;
pub mod shard;
pub mod sheet;
pub mod sink;
pub mod source;
pub mod store;

pub use session::open;
