//! `null:`: frames are discarded.

use super::{Files, OutputRow, Row, only_for_videos};
use crate::disk::Left;
use crate::media::{Encode, FrameStamp, Plain, Sink, SinkError};
use grainfield_filters::frame::Frame;
use std::sync::Arc;

/// Discards every frame.
#[derive(Debug)]
pub struct Null;

/// The output format.
pub const ROW: Row = Row {
    name: "null",
    input: None,
    output: Some(OutputRow {
        takes: |name| name == "null:",
        accepts: |_, format, _| Ok(*format),
        create: |_, _| Ok(Box::new(Null)),
        files: |_| Files::Nothing,
        prefix: "",
        bare: false,
        allows: only_for_videos,
    }),
};

impl Sink for Null {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn write(&mut self, _: &FrameStamp, _: &Frame, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(self: Box<Self>) -> Result<Left, SinkError> {
        Ok(Left::default())
    }
}
