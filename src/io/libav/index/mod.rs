//! The frames of a stream, and the points where decoding may begin, found by reading every packet once without
//! decoding.
//!
//! The number of a frame is the rank of its timestamp among those of decoding from the start. In ordinary streams
//! they follow from the packets; the first ones are verified with a decoder, since the first pictures of a cut
//! stream may not be decodable. If anything is inconsistent there is no index: then frames are counted by decoding
//! from the start, which is always right.

pub(crate) mod cache;
pub(crate) mod entry;
pub(crate) mod exact;

use super::demux::Demuxer;
use super::error::AvError;
use super::log::Log;
use super::raw::{self, Fields};
use entry::Syntax;
use ffmpeg_next::Packet;
use ffmpeg_sys_next as sys;
use serde::{Deserialize, Serialize};

/// A point from which decoding gives the same as decoding from the start, from its own timestamp on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) pts: i64,
    /// The timestamp to seek to: the smaller of the two timestamps.
    pub(crate) seek: i64,
    /// The index of its packet in decoding order.
    pub(crate) order: u32,
    /// The size of the packet, to recognise it.
    pub(crate) size: u32,
}

/// The index from the packets of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Index {
    /// Timestamps of the frames, ascending, indexed by frame number.
    pub(crate) frames: Vec<i64>,
    /// Timestamp and index in decoding order of every packet, sorted by timestamp.
    pub(crate) packets: Vec<(i64, u32)>,
    /// In decoding order.
    pub(crate) entries: Vec<Entry>,
    /// Whether the first frames have been compared with those of a decoder.
    pub(crate) checked: bool,
}

/// The reason why the frames do not follow from the packets; for `probe`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("this codec's packets are not frames")]
    Codec,
    #[error("packets without timestamps")]
    Timestamps,
    #[error("packets with equal timestamps")]
    Equal,
    #[error("timestamps that restart")]
    Jump,
    #[error("damaged packets")]
    Damaged,
    #[error("packets with no frame, several frames or a part of one")]
    Odd,
    #[error("the first frames differ from those that the packets announce")]
    Head,
    #[error("too many frames")]
    Many,
}

/// The number of packets after a first keyframe that may be left over from a cut.
const CUT: usize = 64;
/// The largest number of packets.
const MAX_PACKETS: usize = 1 << 26;

/// Reads every packet of a new input. Also returns whether the stream has a clean beginning: a picture that no other
/// precedes and that resets the decoder. `Ok(Err(_))`: the input is readable, but the frames do not follow from the
/// packets.
pub(crate) fn scan(demuxer: &mut Demuxer) -> Result<Result<(Index, bool), IndexError>, AvError> {
    let parameters = demuxer.parameters();
    let Some(syntax) = Syntax::new(parameters.codec_id, raw::extra(parameters)) else {
        return Ok(Err(IndexError::Codec));
    };
    // Fields may be separate packets if libav's parser splits the stream.
    let divided = matches!(demuxer.input.container().as_str(), "mpegts" | "mpeg" | "h264");
    let progressive = parameters.field_order == sys::AVFieldOrder::AV_FIELD_PROGRESSIVE;
    if divided && !progressive && matches!(syntax, Syntax::Avc(_)) {
        return Ok(Err(IndexError::Odd));
    }
    let mut packet = Packet::empty();
    let mut index = Index { frames: Vec::new(), packets: Vec::new(), entries: Vec::new(), checked: false };
    let mut clean = false;
    let mut ended = false;
    let mut order = 0;
    let log = Log::here();
    let mut errors = log.parser_errors();
    while demuxer.read(&mut packet)? {
        if demuxer.input.is_stopped() {
            return Err(AvError::EXIT);
        }
        // libav's parsers read the headers of pictures. References missing before the first entry are missing
        // because the stream was cut there.
        let reported = log.parser_errors();
        if std::mem::replace(&mut errors, reported) != reported && index.entries.len() > 1 {
            return Ok(Err(IndexError::Damaged));
        }
        let p = packet.av();
        if order == MAX_PACKETS {
            return Ok(Err(IndexError::Many));
        }
        if p.pts == sys::AV_NOPTS_VALUE {
            // Matroska drops timestamps before zero, which pictures have that cannot be decoded after a cut.
            if (1..CUT).contains(&order) && index.entries.len() == 1 {
                order += 1;
                continue;
            }
            return Ok(Err(IndexError::Timestamps));
        }
        if packet.is_corrupt() || p.size <= 0 {
            return Ok(Err(IndexError::Damaged));
        }
        let data = packet.data().unwrap_or_default();
        let info = syntax.inspect(data, packet.is_key());
        // A broken link in the first packet has no effect, and a sequence may end with the last one.
        if ended || (info.ambiguous && (order > 0 || !matches!(syntax, Syntax::Hevc(_)))) {
            return Ok(Err(IndexError::Odd));
        }
        ended = info.ends;
        if order == 0 {
            clean = syntax.begins(data) && p.flags & sys::AV_PKT_FLAG_DISCARD == 0;
        }
        let rank = order as u32;
        order += 1;
        index.packets.push((p.pts, rank));
        if !info.hidden && p.flags & sys::AV_PKT_FLAG_DISCARD == 0 {
            index.frames.push(p.pts);
        }
        if info.entry {
            let seek = packet.dts().map_or(p.pts, |dts| dts.min(p.pts));
            index.entries.push(Entry { pts: p.pts, seek, order: rank, size: p.size as u32 });
        }
    }
    if demuxer.jumped() {
        return Ok(Err(IndexError::Jump));
    }
    index.packets.sort_unstable();
    index.frames.sort_unstable();
    if index.packets.windows(2).any(|w| w[0].0 == w[1].0) {
        return Ok(Err(IndexError::Equal));
    }
    clean &= index.packets.first().is_some_and(|p| p.1 == 0) && index.frames.len() == index.packets.len();
    Ok(Ok((index, clean)))
}

impl Index {
    /// Verifies that `decoded`, the first timestamps from decoding from the start, match the packets; frames that
    /// did not appear are removed. `all`: there were no more.
    pub(crate) fn verify(&mut self, decoded: &[i64], all: bool) -> Result<(), IndexError> {
        let (Some(&first), Some(&last)) = (decoded.first(), decoded.last()) else {
            return Err(IndexError::Head);
        };
        if decoded.windows(2).any(|w| w[0] >= w[1])
            || decoded.iter().any(|t| self.frames.binary_search(t).is_err())
        {
            return Err(IndexError::Head);
        }
        self.frames.retain(|t| {
            if all { decoded.binary_search(t).is_ok() } else { *t > last || decoded.binary_search(t).is_ok() }
        });
        // Nothing is known before the first frame: a packet there is not an entry.
        self.entries.retain(|e| e.pts >= first || e.order == 0);
        Ok(())
    }

    /// The index in decoding order of the packet with that timestamp.
    pub(crate) fn order(&self, pts: i64) -> Option<u32> {
        self.packets.binary_search_by_key(&pts, |p| p.0).ok().map(|i| self.packets[i].1)
    }

    /// Whether pictures that are decoded after entry `i` are shown before it.
    pub(crate) fn has_leading(&self, i: usize) -> bool {
        let entry = self.entries[i];
        let place = self.packets.partition_point(|p| p.0 < entry.pts);
        // decoders reorder less than this
        self.packets[place.saturating_sub(CUT)..place].iter().any(|p| p.1 > entry.order)
    }

    /// The last entry for the frame of that timestamp, among the first `limit` entries.
    pub(crate) fn entry_before(&self, pts: i64, limit: usize) -> Option<usize> {
        let order = self.order(pts)?;
        self.entries[..limit.min(self.entries.len())].iter().rposition(|e| e.pts <= pts && e.order <= order)
    }
}
