//! The part of reading video that runs on many threads: extracting the samples of libav's frames.

use super::pixfmt::Layout;
use super::side_data::FrameSideData;
use crate::media::{Decode, FrameStamp, Pending, Slot, SourceError};
use ffmpeg_next::frame;
use grainfield_filters::frame::Format;
use std::sync::Arc;

/// The work that is left to do outside the lock.
pub(crate) struct Decoded {
    pub(crate) picture: frame::Video,
    pub(crate) pts: i64,
    pub(crate) duration: i64,
}

/// Extracts the samples of libav's frames, on any thread.
pub(crate) struct Unpack {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) layout: Layout,
}

impl Decode for Unpack {
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
        let Some(Pending::Opaque(work)) = slot.pending.take() else { return Ok(()) };
        let Ok(work) = work.downcast::<Decoded>() else { return Ok(()) };
        let bad = |problem: String| SourceError::Bad { name: self.name.clone(), problem };
        slot.frame.reset(self.format);
        self.layout.unpack(&work.picture, &mut slot.frame);
        let carried = FrameSideData::new(&work.picture, work.pts, work.duration);
        let carried = carried.ok_or_else(|| bad(format!("frame {}: out of memory", stamp.number)))?;
        slot.carried = Some(Arc::new(carried));
        Ok(())
    }
}
