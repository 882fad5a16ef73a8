//! The program as users run it: command lines in separate folders, and their results.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

#[path = "../fuzz/src/bound.rs"]
#[allow(unsafe_code, unreachable_pub, missing_docs)] // an allocator is unsafe by its nature
mod bound;
mod util;

mod absurd;
mod acceptance;
mod advice;
mod analyze;
mod animations;
mod cli;
mod containers;
mod curve;
mod deleted;
mod encoding;
mod faults;
mod ffmpeg_clocks;
mod ffmpeg_odds;
mod ffmpeg_sink;
mod ffmpeg_sound;
mod ffmpeg_time;
mod film_grain;
mod hold;
mod images;
mod jobs;
mod lavfi;
mod looks;
mod losses;
mod masks;
mod matching;
mod matching_blind;
mod plates;
mod preflight;
mod queue;
mod raw;
mod readme;
mod same_file;
mod same_file_more;
mod settings_cli;
mod shards;
mod signals;
mod times;
mod tracks;
mod without_ffmpeg;

#[global_allocator]
static COUNTED: bound::Counted = bound::Counted;
