//! Tests of the library: the same pictures for every order, number of threads, bands and levels; statistics of noise;
//! sources and sinks; and rules for the sources.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

mod support;
mod video;

mod banding;
mod combinations;
mod determinism;
mod ffmpeg_damage;
mod ffmpeg_logs;
mod ffmpeg_source;
mod fixture;
mod fluid;
mod formats;
mod fuzz_corpus;
mod golden;
mod golden_levels;
mod layers;
mod pipeline;
mod resolution;
mod session;
mod statistics;
mod statistics_grain;
mod statistics_plate;
mod walk;
mod walk_recipes;
mod y4m;

#[global_allocator]
static COUNTED: fuzz_corpus::fuzz::bound::Counted = fuzz_corpus::fuzz::bound::Counted;
