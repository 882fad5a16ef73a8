//! Decoded frames of an open source.

use crate::pipeline::{FrameError, guarded};
use grainfield_filters::frame::{Format, Frame, SourceFrames};
use grainfield_filters::host::{PrepareError, lock};
use grainfield_filters::ratio::Ratio;
use grainfield_io::source::{Decode, FORWARD_LIMIT, FrameStamp, Info, Pending, Slot, Source, SourceError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The limit on decoded frames that are kept for filters, in bytes, unless threads and neighbours need more.
const AROUND_BYTES: usize = 128 << 20;

/// The largest distance at which a filter reads frames.
const NEIGHBOURS: usize = 3;

/// Requests of a viewer arrive out of order: so many frames before the one that is read are kept, too.
const SKIPPED: i64 = 12;

/// A decoded frame with the user's number.
#[derive(Debug)]
pub(crate) struct SourceFrame {
    pub(crate) stamp: FrameStamp,
    pub(crate) frame: Frame,
}

/// A source that stays open, with its most recently used frames.
pub(crate) struct Frames {
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
    /// The frames of a source, numbered with an offset, with the tags of `format`. The most recently used are kept up to
    /// `limit` bytes.
    pub(crate) fn new(source: Box<dyn Source>, format: Format, offset: i64, limit: usize) -> Frames {
        let (decoder, first) = (source.decoder(), source.info().first);
        Frames {
            reader: Mutex::new(Reader { source, at: Some(first) }),
            decoder,
            format,
            offset,
            cache: Mutex::new(FrameCache { limit, bytes: 0, clock: 0, frames: Vec::new() }),
        }
    }

    /// The size of all kept frames in bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        lock(&self.cache).bytes
    }

    /// Whether a frame is kept, or among so many that follow the one that was read last.
    pub(crate) fn is_near(&self, number: i64, ahead: i64) -> bool {
        if lock(&self.cache).frames.iter().any(|(_, f)| f.stamp.number == number) {
            return true;
        }
        let at = lock(&self.reader).at.unwrap_or(i64::MAX);
        (at..=at.saturating_add(ahead)).contains(&(number - self.offset))
    }

    /// [`Source::key_frame`] by the user's numbers.
    pub(crate) fn key_frame(&self, number: i64, back: bool) -> Option<i64> {
        let source = &mut lock(&self.reader).source;
        Some(source.key_frame(number.checked_sub(self.offset)?, back)? + self.offset)
    }

    /// [`Source::frame_from`] by the user's numbers.
    pub(crate) fn frame_from(&self, time: Ratio, after: bool) -> Result<i64, SourceError> {
        Ok(lock(&self.reader).source.frame_from(time, after)?.saturating_add(self.offset))
    }

    /// [`Source::frame_times`].
    pub(crate) fn frame_times(&self) -> Option<Vec<Ratio>> {
        lock(&self.reader).source.frame_times()
    }

    /// A frame by the user's number; `None` if the source has none. Setting `stop` cancels it before it reads.
    ///
    /// # Errors
    /// The frame cannot be read, or it was cancelled.
    pub(crate) fn get(&self, number: i64, stop: &AtomicBool) -> Result<Option<Arc<SourceFrame>>, FrameError> {
        if let Some(frame) = lock(&self.cache).get(number) {
            return Ok(Some(frame));
        }
        let mut reader = lock(&self.reader);
        if stop.load(Ordering::Relaxed) {
            return Err(PrepareError::Cancelled.into());
        }
        // Another request may have read the same frame.
        if let Some(frame) = lock(&self.cache).get(number) {
            return Ok(Some(frame));
        }
        let begin = self.begin(&mut reader, number);
        self.approach(&mut reader, begin, stop)?;
        for before in begin..number {
            if stop.load(Ordering::Relaxed) {
                return Err(PrepareError::Cancelled.into());
            }
            // An error of another frame is no error of this one.
            if !matches!(self.keep(&mut reader, before, true), Ok(Some(_))) {
                break;
            }
        }
        self.keep(&mut reader, number, false)
    }

    /// Reads and keeps a key frame for a viewer who does not go on from there. Errors are left to whoever gets it.
    pub(crate) fn read_alone(&self, number: i64) {
        let mut reader = lock(&self.reader);
        if lock(&self.cache).get(number).is_some() {
            return;
        }
        // Whoever reads next has to seek, whatever becomes of this.
        reader.at = None;
        if guarded(|| Ok(reader.source.seek_alone(number - self.offset)?)).is_ok() {
            reader.at = Some(number - self.offset);
            let _ = self.keep(&mut reader, number, false);
            reader.at = None;
        }
    }

    /// Decodes up to a frame that is far from the last one, a picture at a time from the key frame before it: unlike a
    /// seek, this can be cancelled. Errors are left to the seek that follows where this has not arrived.
    fn approach(&self, reader: &mut Reader, number: i64, stop: &AtomicBool) -> Result<(), FrameError> {
        let Some(target) = number.checked_sub(self.offset) else { return Ok(()) };
        let ahead = |at: i64| (0..=FORWARD_LIMIT).contains(&target.saturating_sub(at));
        let entry = if reader.at.is_some_and(ahead) {
            return Ok(()); // soon, and its source may have no index yet
        } else {
            reader.source.key_frame(target.saturating_add(1), true)
        };
        let Some(entry) = entry.filter(|entry| *entry < target) else { return Ok(()) };
        let mut at = match reader.at.take().filter(|at| (entry..target).contains(at)) {
            Some(at) => at,
            None if reader.source.seek(entry).is_err() => return Ok(()),
            None => entry,
        };
        let mut slot = Slot::default();
        while at < target {
            if stop.load(Ordering::Relaxed) {
                reader.at = Some(at);
                return Err(PrepareError::Cancelled.into());
            }
            match guarded(|| Ok(reader.source.next(&mut slot)?)) {
                Ok(Some(stamp)) if stamp.number == at => at += 1,
                _ => return Ok(()),
            }
        }
        reader.at = Some(at);
        Ok(())
    }

    /// Reads a frame, and keeps it. One that is only on the way to another is `None` where that one does not need it.
    fn keep(
        &self,
        reader: &mut Reader,
        number: i64,
        on_the_way: bool,
    ) -> Result<Option<Arc<SourceFrame>>, FrameError> {
        let frame = guarded(|| Ok(self.read(reader, number, on_the_way)?))?.map(Arc::new);
        frame.iter().for_each(|frame| lock(&self.cache).put(frame));
        Ok(frame)
    }

    /// The first frame that is worth keeping on the way to another one: all that are skipped by a few, and after a step
    /// back those since the last key frame, as all of these are decoded anyway, and further steps back follow.
    fn begin(&self, reader: &mut Reader, number: i64) -> i64 {
        let (kept, is_step_back) = {
            let cache = lock(&self.cache);
            let later = |f: &(u64, Arc<SourceFrame>)| {
                (1..=SKIPPED).contains(&f.1.stamp.number.saturating_sub(number))
            };
            (cache.limit / self.format.frame_bytes().max(1), cache.frames.iter().any(later))
        };
        let kept = i64::try_from(kept).unwrap_or(i64::MAX).saturating_sub(1);
        if let Some(at) = reader.at.map(|at| at.saturating_add(self.offset))
            && number.saturating_sub(at).clamp(0, SKIPPED) == number.saturating_sub(at)
        {
            return at.max(number.saturating_sub(kept));
        }
        // A key frame itself needs no other.
        let entry = is_step_back
            .then(|| reader.source.key_frame(number.checked_sub(self.offset)?.checked_add(1)?, true));
        let entry = entry.flatten().map(|entry| entry.saturating_add(self.offset));
        entry.map_or(number, |entry| entry.max(number.saturating_sub(kept)).min(number))
    }

    fn read(
        &self,
        reader: &mut Reader,
        number: i64,
        on_the_way: bool,
    ) -> Result<Option<SourceFrame>, SourceError> {
        let Reader { source, at, .. } = reader;
        let source_number = number - self.offset;
        // The position is known again only after a success.
        if at.take() != Some(source_number) {
            source.seek(source_number)?;
        }
        let mut slot = Slot::default();
        let Some(stamp) = source.next(&mut slot)? else { return Ok(None) };
        *at = stamp.number.checked_add(1);
        // What is not decoded by now does not depend on other frames.
        if stamp.number != source_number || on_the_way && !matches!(slot.pending, Some(Pending::Opaque(_))) {
            return Ok(None);
        }
        self.decoder.decode(&stamp, &mut slot)?;
        let mut frame = slot.frame;
        frame.retag(self.format);
        Ok(Some(SourceFrame { stamp: FrameStamp { number, ..stamp }, frame }))
    }
}

/// An open source whose frames filters read, by the user's numbers.
pub(crate) struct FramesAround {
    frames: Frames,
    info: Info,
    stop: Arc<AtomicBool>,
}

impl FramesAround {
    /// The frames of a source, numbered with an offset, with the tags of `format`. Enough of them are kept for `readers`
    /// that each read the frames around their own, in any order. Setting `stop` cancels reading.
    pub(crate) fn new(
        source: Box<dyn Source>,
        format: Format,
        offset: i64,
        readers: usize,
        stop: Arc<AtomicBool>,
    ) -> FramesAround {
        let info = Info { format, ..source.info().clone() };
        let limit = AROUND_BYTES.max(2 * (readers + NEIGHBOURS) * format.frame_bytes());
        FramesAround { frames: Frames::new(source, format, offset, limit), info, stop }
    }
}

impl SourceFrames for FramesAround {
    fn format(&self) -> &Format {
        &self.info.format
    }

    /// Frames that a sequence lacks are as those beyond its ends.
    fn frame(&self, number: i64) -> Result<Option<Arc<Frame>>, PrepareError> {
        let source_number = number.saturating_sub(self.frames.offset);
        if source_number < self.info.first || self.info.last.is_some_and(|last| source_number > last) {
            return Ok(None);
        }
        match self.frames.get(number, &self.stop) {
            Ok(found) => Ok(found.map(|found| Arc::new(found.frame.clone()))),
            Err(FrameError::Source(SourceError::Missing { .. })) => Ok(None),
            Err(_) if self.stop.load(Ordering::Relaxed) => Err(PrepareError::Cancelled),
            Err(e) => Err(PrepareError::Failed(e.to_string())),
        }
    }
}

impl std::fmt::Debug for FramesAround {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FramesAround").field("info", &self.info).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_io::source::{Options, open};
    use std::sync::atomic::AtomicI64;

    /// A pattern with a key frame every hundred frames, which stops its reader at a frame.
    struct Groups {
        pattern: Box<dyn Source>,
        at: i64,
        halt: Arc<AtomicI64>,
        stop: Arc<AtomicBool>,
        seeks: Arc<Mutex<Vec<i64>>>,
    }

    struct Blank(Format);

    impl Decode for Blank {
        fn decode(&self, _: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
            slot.frame.reset(self.0);
            Ok(())
        }
    }

    impl Source for Groups {
        fn info(&self) -> &Info {
            self.pattern.info()
        }
        fn seek(&mut self, number: i64) -> Result<(), SourceError> {
            lock(&self.seeks).push(number);
            self.at = number;
            Ok(())
        }
        fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
            slot.pending = Some(Pending::Opaque(Box::new(())));
            let number = self.at;
            self.at += 1;
            self.stop.fetch_or(number == self.halt.load(Ordering::Relaxed), Ordering::Relaxed);
            let time = Ratio::new(number, 25).unwrap();
            Ok(Some(FrameStamp { number, time, duration: Ratio::new(1, 25).unwrap(), carried: None }))
        }
        fn decoder(&self) -> Arc<dyn Decode> {
            Arc::new(Blank(self.info().format))
        }
        fn key_frame(&mut self, number: i64, back: bool) -> Option<i64> {
            Some(if back { (number - 1) / 100 * 100 } else { (number / 100 + 1) * 100 })
        }
    }

    /// A seek cannot be interrupted, so none follows where a step back was.
    #[test]
    fn an_interrupted_step_back_ends_at_once() {
        let (halt, stop) = (Arc::new(AtomicI64::new(-1)), Arc::new(AtomicBool::new(false)));
        let seeks = Arc::new(Mutex::new(Vec::new()));
        let pattern =
            open("pattern:bars:size=160x90:frames=500:format=yuv420p".as_ref(), &Options::default()).unwrap();
        let format = pattern.info().format;
        let (own_halt, own_stop, own_seeks) = (Arc::clone(&halt), Arc::clone(&stop), Arc::clone(&seeks));
        let source = Groups { pattern, at: 0, halt: own_halt, stop: own_stop, seeks: own_seeks };
        let frames = Frames::new(Box::new(source), format, 0, 1 << 20);
        for number in [480, 260] {
            assert_eq!(frames.get(number, &stop).unwrap().unwrap().stamp.number, number);
        }
        lock(&seeks).clear();
        halt.store(230, Ordering::Relaxed);
        assert!(frames.get(259, &stop).is_err());
        assert_eq!(*lock(&seeks), [200]);
    }
}
