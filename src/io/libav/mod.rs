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
mod raw;
mod reader;
pub mod side_data;
pub mod sink;
pub mod source;
pub mod still;
mod timeline;
mod unpack;
pub mod versions;

pub use glance::glance;
pub use graph::has_filter;
pub use input_url::protocol;

use std::ffi::OsStr;
use std::sync::Once;

/// Prepares the libraries once per process: redirects their messages.
fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(log::redirect);
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

/// Keeps free memory small: large blocks go back to the system when they are freed, instead of waiting in one of the
/// allocator's heaps, of which each thread may have its own. Only for glibc, which does so.
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a number.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// Gives free memory back to the system.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: has no requirements.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Whether an input's name begins with a protocol that libav has (`http:`, `concat:`).
pub fn is_protocol(input: &OsStr) -> bool {
    protocol(input).is_some()
}
