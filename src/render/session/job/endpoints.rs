//! The source and the sink of a job: the named input and output, or those of an analysis or a contact sheet.

use super::JobError;
use grainfield_filters::frame::{Format, Frame, Ranges};
use grainfield_io::disk::PartialOutput;
use grainfield_io::sink::{Encode, Output, Plan, Sink, SinkError};
use grainfield_io::source::{Decode, FrameStamp, Info, Slot, Source, SourceError};
use std::sync::Arc;

/// The source and sink of a job; by default the input and the output named in its request.
pub trait Endpoints: Send {
    /// Receives the open input, and returns the source of the frames. It may change the requested frames.
    ///
    /// # Errors
    /// [`JobError`].
    fn source(
        &mut self,
        opened: Box<dyn Source>,
        _frames: &mut Option<Ranges>,
    ) -> Result<Box<dyn Source>, JobError> {
        Ok(opened)
    }

    /// Makes the sink: by default the request's output, or the shard of it.
    ///
    /// # Errors
    /// [`JobError`].
    fn sink(&mut self, output: &Output, plan: &Plan) -> Result<Box<dyn Sink>, JobError> {
        Ok(output.create(plan)?)
    }

    /// An upper bound of the memory in bytes that the two need for each frame in progress, in addition to the known
    /// parts.
    fn per_frame(&self, _output: &Format) -> usize {
        0
    }

    /// Whether the output contains only pictures, which is then noted to the user.
    fn drops_metadata(&self, _output: &Output) -> bool {
        false
    }
}

/// The input and the output named in a request.
pub(crate) struct NamedEndpoints;

impl Endpoints for NamedEndpoints {
    fn drops_metadata(&self, output: &Output) -> bool {
        output.drops_metadata()
    }
}

/// A source that ends after a number of frames.
pub(crate) struct FirstFrames {
    pub(crate) info: Info,
    pub(crate) source: Box<dyn Source>,
    /// The number of frames still to be delivered, if it is limited here.
    pub(crate) left: Option<i64>,
}

impl Source for FirstFrames {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.source.seek(number)
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        if self.left == Some(0) {
            return Ok(None);
        }
        self.left = self.left.map(|n| n - 1);
        self.source.next(slot)
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        self.source.decoder()
    }
}

/// A sink whose encoder does the work, on many threads; `write` receives the numbers of the frames in order.
pub(crate) struct Collector<F> {
    pub(crate) encoder: Arc<dyn Encode>,
    pub(crate) write: F,
}

impl<F: FnMut(i64) + Send> Sink for Collector<F> {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::clone(&self.encoder)
    }

    fn write(&mut self, stamp: &FrameStamp, _: &Frame, _: &[u8]) -> Result<(), SinkError> {
        (self.write)(stamp.number);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }
}
