//! Image files as a source and as a sink.

pub mod sink;
pub mod source;
