//! Image sequences, in and out, against ffmpeg and against themselves.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests are tests

mod images;

#[path = "fuzz/src/bound.rs"]
#[allow(unsafe_code, unreachable_pub, missing_docs)] // an allocator is unsafe by its nature
mod bound;

#[global_allocator]
static COUNTED: bound::Counted = bound::Counted;
mod util;
