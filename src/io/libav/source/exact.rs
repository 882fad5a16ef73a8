//! Makes an exact index, and seeks with it.

use crate::libav::error::AvError;
use crate::libav::index::exact::{ExactIndex, FrameRecord, MAX_FAILURES, MAX_FRAMES, SeekPoint, durations};
use crate::libav::picture::{self, take_mark};
use crate::libav::raw::Fields;
use crate::libav::reader::{Item, Reader};
use crate::libav::versions;
use ffmpeg_next::frame;

/// The smallest useful distance of seek points in packets.
const SPACING: u32 = 8;
/// The number of points that are tried before decoding from the start.
const TRIES: usize = 6;
/// The largest number of packets between a packet and its decoded picture: reordering, and one frame per decoder
/// thread.
const DELAY: u32 = 160;

impl ExactIndex {
    /// Decodes everything from a new reader. `step` is the duration in ticks of a frame without one, and `guess` the
    /// timestamp, from the frame's number and the timestamp before. `None` if the decoder does not pass marks on, there
    /// are too many frames, or reading was cancelled.
    pub(super) fn make(
        reader: &mut Reader,
        step: i64,
        guess: impl Fn(i64, Option<i64>) -> i64,
    ) -> Option<ExactIndex> {
        reader.mark();
        reader.record_seek_points();
        let mut exact = ExactIndex::default();
        let mut last: Option<i64> = None;
        loop {
            if reader.demuxer.input.is_stopped() {
                return None;
            }
            let mut picture = match reader.next() {
                Ok(Some(Item::Picture(picture))) => picture,
                Ok(Some(Item::Damage(_) | Item::Restart)) => continue,
                // Cancelled: an incomplete index must be neither used nor stored.
                Ok(Some(Item::Broken(AvError::EXIT, _))) => return None,
                // Decoding from the start gives no more frames than those so far.
                Ok(Some(Item::Broken(..))) | Err(_) => break,
                Ok(None) => break,
            };
            if exact.frames.len() == MAX_FRAMES {
                return None;
            }
            let timestamp = picture.timestamp();
            let pts = timestamp.unwrap_or_else(|| guess(exact.frames.len() as i64, last));
            if let Some(before) = exact.frames.last_mut() {
                let gap = timestamp.map(|t| t.saturating_sub(before.pts)).filter(|d| *d > 0);
                before.durations = durations(before.durations.1, gap, step);
            }
            exact.frames.push(FrameRecord {
                mark: take_mark(&mut picture)?,
                damaged: picture::is_damaged(&picture),
                pts,
                durations: (0, versions::duration(picture.av()).max(0)),
                sum: picture::checksum(&picture),
            });
            last = Some(pts);
        }
        if let Some(before) = exact.frames.last_mut() {
            before.durations = durations(before.durations.1, None, step);
        }
        exact.seek_points = reader.take_seek_points();
        let mut at = 0;
        exact.seek_points.retain(|s| {
            let keep = s.rank >= at && s.pos >= 0;
            if keep {
                at = s.rank + SPACING;
            }
            keep
        });
        (!exact.frames.is_empty()).then_some(exact)
    }

    /// Seeks to a point from which frame `n` can be decoded, and decodes up to it; `None` if only decoding from the
    /// start works.
    pub(super) fn seek(&mut self, reader: &mut Reader, n: i64) -> Option<(frame::Video, u32)> {
        let record = *self.get(n)?;
        let end = self.seek_points.partition_point(|s| s.rank <= record.mark);
        let is_usable = |s: &&mut SeekPoint| s.rank > 0 && s.failures < MAX_FAILURES;
        for seek_point in self.seek_points[..end].iter_mut().rev().filter(is_usable).take(TRIES) {
            if reader.seek_to_point(seek_point)
                && let Some(picture) = decode_to(reader, &record)
            {
                seek_point.failures = 0;
                return Some((picture, record.mark));
            }
            seek_point.failures += 1;
        }
        None
    }
}

/// Decodes up to a frame, if it appears and is identical.
fn decode_to(reader: &mut Reader, record: &FrameRecord) -> Option<frame::Video> {
    loop {
        match reader.next() {
            Ok(Some(Item::Picture(mut p))) => {
                if take_mark(&mut p) == Some(record.mark) {
                    let same = record.matches(&p);
                    reader.reset_error_baseline();
                    return same.then_some(p);
                }
                if reader.packets() > record.mark.saturating_add(DELAY) {
                    return None;
                }
            }
            Ok(Some(Item::Damage(_))) => {}
            Ok(Some(Item::Broken(..) | Item::Restart) | None) | Err(_) => return None,
        }
    }
}
