//! Renders clips through chains of filters: sessions, batches, analysis, contact sheets, matched grain.
//!
//! Start with [`session`].

pub mod analyze;
pub mod assets;
pub mod batch;
pub mod join;
pub mod matching;
pub mod pipeline;
pub mod session;
#[cfg(feature = "plots")]
pub mod sheet;
mod source_frames;
