//! The index of streams whose frames cannot be determined from their packets: everything is decoded once, and the
//! index keeps enough of each frame to recognise it.
//!
//! A mark that passes through the decoder with the packet ([`picture::mark`], [`take_mark`]) tells in which
//! packet a picture was coded, since such streams have no timestamps, equal ones, or wrong ones. No seek point is
//! trusted: a picture found by seeking is used if its mark and samples are those of decoding from the start, and
//! otherwise sought from an earlier point, in the end from the start.

use crate::libav::error::AvError;
use crate::libav::picture::{self, take_mark};
use crate::libav::raw::Fields;
use crate::libav::reader::{Item, Reader};
use crate::libav::versions;
use ffmpeg_next::frame;

/// A frame as decoded from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    /// The index of the packet in which it was coded, in reading order.
    pub(crate) mark: u32,
    /// Whether the decoder reported damage.
    pub(crate) damaged: bool,
    /// Its timestamp, in the order of frames.
    pub(crate) pts: i64,
    /// Duration in ticks, of the frame and of its packet.
    pub(crate) durations: (i64, i64),
    /// The checksum of its samples.
    pub(crate) sum: u64,
}

/// A packet at which decoding may be able to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SeekPoint {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Its position in the file, by which it is recognised.
    pub(crate) pos: i64,
    /// The timestamp to seek to; `AV_NOPTS_VALUE` if it has none.
    pub(crate) seek: i64,
    /// The number of failures since it was last used with success.
    pub(crate) doubt: u8,
}

/// All frames, and the seek points.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ExactIndex {
    pub(crate) frames: Vec<Shown>,
    /// Ascending.
    pub(crate) seek_points: Vec<SeekPoint>,
}

/// The largest number of frames in an index, of 48 bytes each. In longer streams, frames are counted from the
/// start.
pub(crate) const MAX_FRAMES: usize = 1 << 22;
/// The smallest useful distance of seek points in packets.
const SPACING: u32 = 8;
/// The number of points that are tried before decoding from the start.
const TRIES: usize = 6;
/// A point that failed this often in a row is not tried any more.
const HOPELESS: u8 = 4;
/// The largest number of packets between a packet and its decoded picture: reordering, and one frame per decoder
/// thread.
const DELAY: u32 = 160;

impl ExactIndex {
    /// Decodes everything from a new reader. `step` is the duration in ticks of a frame without one, and `guess` the
    /// timestamp, from the frame's number and the timestamp before. `None` if the decoder does not pass marks on, there are too many frames, or reading was cancelled.
    pub(crate) fn make(
        reader: &mut Reader,
        step: i64,
        guess: impl Fn(i64, Option<i64>) -> i64,
    ) -> Option<ExactIndex> {
        reader.mark();
        reader.record_seek_points();
        let mut exact = ExactIndex::default();
        let mut last: Option<i64> = None;
        loop {
            if reader.demuxer.is_stopped() {
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
            let said = picture.timestamp();
            let pts = said.unwrap_or_else(|| guess(exact.frames.len() as i64, last));
            if let Some(before) = exact.frames.last_mut() {
                let gap = said.map(|t| t.saturating_sub(before.pts)).filter(|d| *d > 0);
                before.durations = durations(before.durations.1, gap, step);
            }
            exact.frames.push(Shown {
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

    /// Whether a picture is frame `n`.
    pub(crate) fn is(&self, n: i64, mark: Option<u32>, picture: &frame::Video) -> bool {
        self.get(n).is_some_and(|f| {
            mark == Some(f.mark)
                && picture::checksum(picture) == f.sum
                && (f.damaged || !picture::is_damaged(picture))
        })
    }

    pub(crate) fn get(&self, n: i64) -> Option<&Shown> {
        self.frames.get(usize::try_from(n).ok()?)
    }

    /// The nearest seek point before frame `n`: index of its packet.
    pub(crate) fn seek_point_before(&self, n: i64) -> u32 {
        let Some(shown) = self.get(n) else { return 0 };
        self.seek_points
            .iter()
            .rev()
            .find(|s| s.rank <= shown.mark && s.doubt < HOPELESS)
            .map_or(0, |s| s.rank)
    }

    /// Seeks to a point from which frame `n` can be decoded, and decodes up to it; `None` if only decoding from the
    /// start works.
    pub(crate) fn seek(&mut self, reader: &mut Reader, n: i64) -> Option<(frame::Video, u32)> {
        let shown = *self.get(n)?;
        let end = self.seek_points.partition_point(|s| s.rank <= shown.mark);
        let hopeful = |s: &&mut SeekPoint| s.rank > 0 && s.doubt < HOPELESS;
        for seek_point in self.seek_points[..end].iter_mut().rev().filter(hopeful).take(TRIES) {
            if reader.seek_to_point(seek_point)
                && let Some(picture) = until(reader, &shown)
            {
                seek_point.doubt = 0;
                return Some((picture, shown.mark));
            }
            seek_point.doubt += 1;
        }
        None
    }
}

/// Duration in ticks of a frame, and that of its packet, as for frames that are counted.
pub(crate) fn durations(said: i64, gap: Option<i64>, step: i64) -> (i64, i64) {
    let shown = gap.unwrap_or(if said > 0 { said } else { step });
    (shown, if said > 0 { said } else { gap.unwrap_or(0) })
}

/// Decodes up to a frame, if it appears and is identical.
fn until(reader: &mut Reader, shown: &Shown) -> Option<frame::Video> {
    loop {
        match reader.next() {
            Ok(Some(Item::Picture(mut p))) => {
                if take_mark(&mut p) == Some(shown.mark) {
                    let same =
                        picture::checksum(&p) == shown.sum && (shown.damaged || !picture::is_damaged(&p));
                    reader.reset_error_baseline();
                    return same.then_some(p);
                }
                if reader.packets() > shown.mark.saturating_add(DELAY) {
                    return None;
                }
            }
            Ok(Some(Item::Damage(_))) => {}
            Ok(Some(Item::Broken(..) | Item::Restart) | None) | Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_rank_and_given_up_when_hopeless() {
        let shown = |mark| Shown { mark, damaged: false, pts: 0, durations: (1, 1), sum: 0 };
        let seek_point = |rank, doubt| SeekPoint { rank, size: 1, pos: i64::from(rank), seek: 0, doubt };
        let exact = ExactIndex {
            frames: [0, 9, 12, 30].map(shown).into(),
            seek_points: vec![seek_point(0, 0), seek_point(10, 0), seek_point(25, HOPELESS)],
        };
        assert_eq!([0, 1, 2, 3, 4].map(|n| exact.seek_point_before(n)), [0, 0, 10, 10, 0]);
    }

    #[test]
    fn durations_of_counted_frames() {
        assert_eq!(durations(0, Some(3), 5), (3, 3));
        assert_eq!(durations(4, Some(3), 5), (3, 4));
        assert_eq!(durations(4, None, 5), (4, 4));
        assert_eq!(durations(0, None, 5), (5, 0));
    }
}
