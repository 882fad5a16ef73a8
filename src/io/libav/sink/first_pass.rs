//! The first of two passes: encodes the pictures, and keeps only what the encoder has measured.

use super::av_fault;
use super::encoder::{Encoder, EncoderProgress};
use super::setup::{Setup, prepare_encoder};
use crate::disk::PartialOutput;
use crate::journal::Cuts;
use crate::libav::side_data::FrameSideData;
use crate::media::{Encode, FrameStamp, Plain, Plan, Rescue, Sink, SinkError};
use grainfield_filters::frame::Frame;
use std::ffi::OsStr;
use std::sync::Arc;

/// The encoder of the first pass.
pub(super) struct FirstPass {
    setup: Setup,
    encoder: Encoder,
    cuts: Cuts,
    /// The number of cuts before the last frame, and its end.
    passed: usize,
    end: i64,
    /// The time of the first picture; it grows with each cut, so that both passes have the same times.
    first: Option<i64>,
}

impl FirstPass {
    pub(super) fn create(output: &OsStr, plan: &Plan) -> Result<FirstPass, SinkError> {
        let (setup, encoder) = prepare_encoder(output, plan)?;
        Ok(FirstPass { setup, encoder, cuts: plan.cuts.clone(), passed: 0, end: 0, first: None })
    }

    fn drain(&mut self) -> Result<(), SinkError> {
        self.encoder.drain(&self.setup.name, |_, _| Ok(()))
    }
}

/// Nothing is left of it.
struct Nothing(Arc<EncoderProgress>);

impl Rescue for Nothing {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }

    fn progress(&self) -> (u64, u64) {
        self.0.get()
    }
}

impl Sink for FirstPass {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(Arc::new(Nothing(Arc::clone(&self.setup.progress))))
    }

    fn keeps_times(&self) -> bool {
        self.setup.clock.rounded_from.is_none()
    }

    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let _log = self.setup.log.enter();
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameSideData>());
        let (pts, duration) = self.setup.clock.pts_and_duration(stamp);
        let passed = self.cuts.before(stamp.number);
        if std::mem::replace(&mut self.passed, passed) < passed
            && let Some(first) = &mut self.first
        {
            *first += (pts - self.end).max(0);
        }
        self.end = self.end.max(pts.saturating_add(duration));
        let time = self.encoder.next_time(pts.saturating_sub(*self.first.get_or_insert(pts)));
        let sent = self.encoder.send(frame, time, duration, carried);
        sent.map_err(|e| av_fault(&self.setup.name, "the encoder refused the picture", e))?;
        self.drain()
    }

    fn finish(mut self: Box<Self>) -> Result<(), SinkError> {
        let _log = self.setup.log.enter();
        self.encoder.end().map_err(|e| av_fault(&self.setup.name, "the encoder failed", e))?;
        self.drain()?;
        self.encoder.save_statistics().map_err(|cause| SinkError::io(self.setup.name.clone(), cause))
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }
}
