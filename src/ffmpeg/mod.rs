//! All contact with FFmpeg's libraries, and all `unsafe` outside the filters' kernels.
//!
//! The safe wrapper (`ffmpeg-next`) is used where it is right; where it lacks something or fails (side data, chroma
//! location, seeking by a stream's own clock, paths that are not UTF-8, negative strides), the functions of
//! `ffmpeg-sys-next` are called here, each `unsafe` block with its reason.
#![allow(unsafe_code)] // the one room for calls into libav

pub mod carry;
pub mod color;
pub mod copy;
pub mod error;
pub mod log;
pub mod pixfmt;
pub mod sink;
pub mod versions;

use std::sync::Once;

/// Prepares the libraries once a process: registers what they need and takes over their messages.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(log::take_over);
}
