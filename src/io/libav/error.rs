//! libav's error codes as text.

use crate::disk::system;
use ffmpeg_sys_next as sys;
use std::ffi::CStr;
use std::fmt;

/// An error code of libav.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AvError(pub i32);

impl AvError {
    /// The end of the stream, which is not an error.
    pub const EOF: AvError = AvError(sys::AVERROR_EOF);
    /// Try again after sending or receiving something else.
    pub const AGAIN: AvError = AvError(-libc::EAGAIN);

    /// Out of memory.
    pub const MEMORY: AvError = AvError(-libc::ENOMEM);

    /// Cancelled by a stop request.
    pub const EXIT: AvError = AvError(sys::AVERROR_EXIT);

    /// The system's error, if it is one, and `Interrupted` for a cancelled operation.
    pub fn io(self) -> Option<std::io::Error> {
        if self == AvError::EXIT {
            return Some(std::io::ErrorKind::Interrupted.into());
        }
        (-4096..0).contains(&self.0).then(|| system::from_errno(-self.0))
    }
}

impl From<ffmpeg_next::Error> for AvError {
    fn from(error: ffmpeg_next::Error) -> AvError {
        AvError(error.into())
    }
}

/// `Err` for negative codes, the value for others.
///
/// # Errors
/// The negative code as an error.
pub fn check(code: i32) -> Result<i32, AvError> {
    if code < 0 { Err(AvError(code)) } else { Ok(code) }
}

impl fmt::Display for AvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; sys::AV_ERROR_MAX_STRING_SIZE];
        // SAFETY: the buffer has the specified size; av_strerror always terminates the text.
        let text = unsafe {
            sys::av_strerror(self.0, text.as_mut_ptr(), text.len());
            CStr::from_ptr(text.as_ptr())
        };
        f.write_str(&text.to_string_lossy())
    }
}

impl std::error::Error for AvError {}
