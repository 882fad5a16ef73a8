//! Image sequences, in and out, against ffmpeg and against themselves.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests are tests

mod images;
mod util;
