//! File formats, one file or folder a format.

pub mod hash;
pub mod images;
pub mod null;
pub mod pattern;
pub mod sequence;
#[cfg(feature = "ffmpeg")]
pub mod video;
pub mod y4m;
