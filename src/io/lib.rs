//! Sources and sinks of frames: videos through FFmpeg, y4m, image sequences, pipes and test signals; files that are
//! committed atomically; the journal of a render.
//!
//! Start with [`source::open`] and [`sink::create`].

pub mod disk;
pub mod encoding;
pub mod format;
pub mod journal;
#[cfg(feature = "ffmpeg")]
pub mod libav;
pub mod media;
pub mod sink;
pub mod source;
