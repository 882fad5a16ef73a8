//! All contact with FFmpeg's libraries, and all `unsafe` outside the filters' kernels.
//!
//! Inputs, outputs, codecs, filter graphs, packets and frames are owned by the safe wrapper (`ffmpeg-next`). Where it
//! lacks something or fails (fields without accessors, tags and names that are not UTF-8, seeking by a stream's own
//! clock, negative strides), the functions of `ffmpeg-sys-next` are called here, each `unsafe` block with its reason.
#![allow(unsafe_code)] // the only module that calls libav

mod capabilities;
pub mod color;
mod container;
pub mod copy;
mod decoder;
mod demux;
mod details;
mod dict;
pub mod error;
mod external;
pub mod fifo;
mod glance;
mod graph;
mod hdr;
mod index;
mod input;
mod input_url;
pub mod interrupt;
mod log;
mod mux;
pub mod packed;
mod picture;
pub mod pixfmt;
pub mod process;
mod raw;
mod reader;
pub mod side_data;
pub mod sink;
pub mod source;
mod stage;
pub mod still;
mod timeline;
mod unpack;
pub mod versions;

pub use external::FfmpegFilters;
pub use glance::glance;
pub use graph::{has_filter, is_frame_by_frame};
pub use input_url::protocol;

use std::ffi::OsStr;
use std::sync::Once;

/// Prepares the libraries once per process: redirects their messages.
fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(log::redirect);
}

/// Whether an input's name begins with a protocol that libav has (`http:`, `concat:`).
pub fn is_protocol(input: &OsStr) -> bool {
    protocol(input).is_some()
}
