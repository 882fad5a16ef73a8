//! The index of streams whose frames cannot be determined from their packets: everything is decoded once, and the
//! index keeps enough of each frame to recognise it.
//!
//! A mark that passes through the decoder with the packet ([`picture::mark`], [`picture::take_mark`]) tells in which
//! packet a picture was coded, since such streams have no timestamps, equal ones, or wrong ones. No seek point is
//! trusted: a picture found by seeking is used if its mark and samples are those of decoding from the start, and
//! otherwise sought from an earlier point, in the end from the start.

use crate::libav::picture;
use ffmpeg_next::frame;
use serde::{Deserialize, Serialize};

/// A frame as decoded from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FrameRecord {
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

impl FrameRecord {
    /// Whether a picture with the same mark is this frame.
    pub(crate) fn matches(&self, picture: &frame::Video) -> bool {
        picture::checksum(picture) == self.sum && (self.damaged || !picture::is_damaged(picture))
    }
}

/// A packet at which decoding may be able to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SeekPoint {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Its position in the file, by which it is recognised.
    pub(crate) pos: i64,
    /// The timestamp to seek to; `AV_NOPTS_VALUE` if it has none.
    pub(crate) seek: i64,
    /// The number of failures since it was last used with success.
    #[serde(skip)]
    pub(crate) failures: u8,
}

/// All frames, and the seek points.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExactIndex {
    pub(crate) frames: Vec<FrameRecord>,
    /// Ascending.
    pub(crate) seek_points: Vec<SeekPoint>,
}

/// The largest number of frames in an index, of 48 bytes each. In longer streams, frames are counted from the
/// start.
pub(crate) const MAX_FRAMES: usize = 1 << 22;
/// A point that failed this often in a row is not tried any more.
pub(crate) const MAX_FAILURES: u8 = 4;

impl ExactIndex {
    pub(crate) fn get(&self, n: i64) -> Option<&FrameRecord> {
        self.frames.get(usize::try_from(n).ok()?)
    }

    /// The nearest seek point before frame `n`: index of its packet.
    pub(crate) fn seek_point_before(&self, n: i64) -> u32 {
        let Some(record) = self.get(n) else { return 0 };
        self.seek_points
            .iter()
            .rev()
            .find(|s| s.rank <= record.mark && s.failures < MAX_FAILURES)
            .map_or(0, |s| s.rank)
    }
}

/// Duration in ticks of a frame, and that of its packet, as for frames that are counted.
pub(crate) fn durations(packet: i64, gap: Option<i64>, step: i64) -> (i64, i64) {
    let frame = gap.unwrap_or(if packet > 0 { packet } else { step });
    (frame, if packet > 0 { packet } else { gap.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_rank_and_given_up_when_hopeless() {
        let record = |mark| FrameRecord { mark, damaged: false, pts: 0, durations: (1, 1), sum: 0 };
        let seek_point =
            |rank, failures| SeekPoint { rank, size: 1, pos: i64::from(rank), seek: 0, failures };
        let exact = ExactIndex {
            frames: [0, 9, 12, 30].map(record).into(),
            seek_points: vec![seek_point(0, 0), seek_point(10, 0), seek_point(25, MAX_FAILURES)],
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
