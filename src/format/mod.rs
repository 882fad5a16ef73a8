//! File formats, one file a format.

pub mod images;
