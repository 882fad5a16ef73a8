//! `null:`: frames are discarded.

use super::{Files, FormatDescriptor, OutputDescriptor, only_for_videos};
use crate::disk::PartialOutput;
use crate::media::{FrameStamp, Sink, SinkError};
use grainfield_filters::frame::Frame;

/// Discards every frame.
#[derive(Debug)]
pub struct Null;

/// The output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "null",
    input: None,
    output: Some(OutputDescriptor {
        matches: |name| name == "null:",
        accepts: |_, format, _| Ok(*format),
        create: |_, _| Ok(Box::new(Null)),
        files: |_| Files::Nothing,
        prefix: "",
        drops_metadata: false,
        allows: only_for_videos,
    }),
};

impl Sink for Null {
    fn write(&mut self, _: &FrameStamp, _: &Frame, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }
}
