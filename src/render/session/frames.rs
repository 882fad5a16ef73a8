//! Decoded frames of an open source.

use super::{Cancel, Error};
use crate::pipeline::guarded;
use crate::session::job::Request;
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::host::lock;
use grainfield_io::source::{Decode, FORWARD_LIMIT, FrameStamp, Slot, Source};
use std::sync::{Arc, Mutex};

/// A decoded frame with the user's number.
#[derive(Debug)]
pub(super) struct SourceFrame {
    pub(super) stamp: FrameStamp,
    pub(super) frame: Frame,
}

/// A source that stays open, with its most recently used frames.
pub(super) struct Frames {
    reader: Mutex<Reader>,
    decoder: Arc<dyn Decode>,
    /// The format, with the user's overrides of tags.
    format: Format,
    offset: i64,
    cache: Mutex<FrameCache>,
}

struct Reader {
    source: Box<dyn Source>,
    /// The source's next frame number, unless reading was interrupted.
    at: Option<i64>,
}

/// The most recently used frames by number, within `limit` bytes.
struct FrameCache {
    limit: usize,
    bytes: usize,
    clock: u64,
    frames: Vec<(u64, Arc<SourceFrame>)>,
}

impl FrameCache {
    fn get(&mut self, number: i64) -> Option<Arc<SourceFrame>> {
        self.clock += 1;
        let found = self.frames.iter_mut().find(|(_, f)| f.stamp.number == number)?;
        found.0 = self.clock;
        Some(Arc::clone(&found.1))
    }

    /// A frame larger than the limit is not kept.
    fn put(&mut self, frame: &Arc<SourceFrame>) {
        let bytes = frame.frame.bytes();
        if bytes > self.limit {
            return;
        }
        while self.bytes + bytes > self.limit {
            let oldest = (0..self.frames.len()).min_by_key(|i| self.frames[*i].0);
            let Some((_, gone)) = oldest.map(|i| self.frames.swap_remove(i)) else { break };
            self.bytes -= gone.frame.bytes();
        }
        self.clock += 1;
        self.bytes += bytes;
        self.frames.push((self.clock, Arc::clone(frame)));
    }
}

impl Frames {
    pub(super) fn new(source: Box<dyn Source>, format: Format, request: &Request, limit: usize) -> Frames {
        let (decoder, at) = (source.decoder(), Some(source.info().first));
        Frames {
            reader: Mutex::new(Reader { source, at }),
            decoder,
            format,
            offset: request.frame_offset,
            cache: Mutex::new(FrameCache { limit, bytes: 0, clock: 0, frames: Vec::new() }),
        }
    }

    /// The size of all kept frames in bytes.
    pub(super) fn kept_bytes(&self) -> usize {
        lock(&self.cache).bytes
    }

    pub(super) fn is_near(&self, number: i64) -> bool {
        if lock(&self.cache).frames.iter().any(|(_, f)| f.stamp.number == number) {
            return true;
        }
        let at = lock(&self.reader).at.unwrap_or(i64::MAX);
        (at..=at.saturating_add(FORWARD_LIMIT)).contains(&(number - self.offset))
    }

    /// [`Source::key_frame`] by the user's numbers.
    pub(super) fn key_frame(&self, number: i64, back: bool) -> Option<i64> {
        let source = &mut lock(&self.reader).source;
        Some(source.key_frame(number.checked_sub(self.offset)?, back)? + self.offset)
    }

    /// A frame by the user's number; `None` if the source has none.
    pub(super) fn get(&self, number: i64, cancel: &Cancel) -> Result<Option<Arc<SourceFrame>>, Error> {
        if let Some(frame) = lock(&self.cache).get(number) {
            return Ok(Some(frame));
        }
        let mut reader = lock(&self.reader);
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        // Another request may have read the same frame.
        if let Some(frame) = lock(&self.cache).get(number) {
            return Ok(Some(frame));
        }
        let read = guarded(|| Ok(self.read(&mut reader, number)?));
        let frame = read.map_err(|cause| Error::Frame { number, cause })?.map(Arc::new);
        frame.iter().for_each(|frame| lock(&self.cache).put(frame));
        Ok(frame)
    }

    fn read(
        &self,
        reader: &mut Reader,
        number: i64,
    ) -> Result<Option<SourceFrame>, grainfield_io::source::SourceError> {
        let Reader { source, at } = reader;
        let source_number = number - self.offset;
        // The position is known again only after a success.
        if at.take() != Some(source_number) {
            source.seek(source_number)?;
        }
        let mut slot = Slot::default();
        let Some(stamp) = source.next(&mut slot)? else { return Ok(None) };
        *at = stamp.number.checked_add(1);
        if stamp.number != source_number {
            return Ok(None);
        }
        self.decoder.decode(&stamp, &mut slot)?;
        let mut frame = slot.frame;
        frame.retag(self.format);
        Ok(Some(SourceFrame { stamp: FrameStamp { number, ..stamp }, frame }))
    }
}
