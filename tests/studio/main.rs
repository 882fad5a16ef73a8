//! The studio: its server by raw sockets, and its page in a headless Chromium. `./x test-studio` installs what it
//! takes.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests are tests

mod browser;
mod compare;
mod cutting;
mod deinterlace;
mod deliveries;
mod drawings;
mod effects;
mod gallery;
#[path = "../program/util.rs"]
mod util;

mod frames;
mod interpret;
mod jobs;
mod keys;
mod look;
mod opening;
mod page;
mod playing;
mod queue;
mod reach;
mod recovery;
mod security;
mod server;
mod shots;
mod speed;
mod windows;
mod work;
