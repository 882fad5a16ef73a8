//! All contact with FFmpeg's libraries, and all `unsafe` outside the filters' kernels.
//!
//! The safe wrapper (`ffmpeg-next`) is used where it works; where it lacks something or fails (side data, chroma
//! location, seeking by a stream's own clock, paths that are not UTF-8, negative strides), the functions of
//! `ffmpeg-sys-next` are called here, each `unsafe` block with its reason.
#![allow(unsafe_code)] // the only module that calls libav

pub mod carry;
pub mod color;
pub mod copy;
mod demux;
mod details;
pub mod error;
mod graph;
mod index;
mod input_url;
pub mod interrupt;
mod log;
mod owned;
pub mod pixfmt;
mod reader;
pub mod sink;
pub mod source;
pub mod still;
mod timeline;
mod unpack;
pub mod versions;

pub use graph::has_filter;
pub use input_url::protocol;

use std::ffi::OsStr;
use std::sync::Once;

/// Prepares the libraries once per process: redirects their messages.
fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(log::take_over);
}

/// Keeps SVT-AV1 from printing to standard error, which it does unless a variable of the environment is set. Call
/// it at the start of the program: with a second thread it does nothing.
pub fn silence() {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads == 1 && std::env::var_os("SVT_LOG").is_none() {
        // SAFETY: the system has just reported that this is the only thread of the process, so no other one accesses
        // the environment.
        unsafe { std::env::set_var("SVT_LOG", "1") };
    }
}

/// Whether an input's name begins with a protocol that libav has (`http:`, `concat:`).
pub fn is_protocol(input: &OsStr) -> bool {
    protocol(input).is_some()
}
