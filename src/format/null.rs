//! `null:`: frames are taken and forgotten.

use crate::media::FrameStamp;
use crate::media::{Encode, Plain, Sink, SinkError};
use grainfield_filters::frame::Frame;
use std::path::PathBuf;
use std::sync::Arc;

/// Forgets every frame.
#[derive(Debug)]
pub struct Null;

/// A sink that forgets every frame.
pub fn create() -> Box<dyn Sink> {
    Box::new(Null)
}

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

    fn abandon(self: Box<Self>) -> Result<Option<PathBuf>, SinkError> {
        Ok(None)
    }
}
