//! Converts packets to and from files of segments.

use crate::journal::segments::file::{self, Side};
use crate::libav::error::AvError;
use crate::libav::raw::Fields;
use ffmpeg_next::Packet;
use ffmpeg_next::packet::Mut;
use ffmpeg_sys_next as sys;
use sys::AVPacketSideDataType;

/// The kinds of side data that are kept, with fixed numbers that do not depend on libav's.
const KINDS: [(u32, AVPacketSideDataType); 9] = [
    (1, AVPacketSideDataType::AV_PKT_DATA_NEW_EXTRADATA),
    (2, AVPacketSideDataType::AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL),
    (3, AVPacketSideDataType::AV_PKT_DATA_PALETTE),
    (4, AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA),
    (5, AVPacketSideDataType::AV_PKT_DATA_CONTENT_LIGHT_LEVEL),
    (6, AVPacketSideDataType::AV_PKT_DATA_A53_CC),
    (7, AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX),
    (8, AVPacketSideDataType::AV_PKT_DATA_STEREO3D),
    (9, AVPacketSideDataType::AV_PKT_DATA_SPHERICAL),
];

/// Our number of a kind.
fn number(kind: AVPacketSideDataType) -> Option<u32> {
    KINDS.iter().find(|k| k.1 == kind).map(|k| k.0)
}

/// libav's kind of our number.
pub(super) fn kind(number: u32) -> Option<AVPacketSideDataType> {
    KINDS.iter().find(|k| k.0 == number).map(|k| k.1)
}

/// The stored form of a packet.
pub(super) fn to_stored(packet: &Packet) -> file::Packet {
    let p = packet.av();
    file::Packet {
        pts: p.pts,
        duration: p.duration,
        flags: p.flags as u32,
        data: packet.data().unwrap_or_default().to_vec(),
        side: stored_side_data(packet.side_data().map(|side| (side.kind().into(), side.data().to_vec()))),
    }
}

/// Restores the data, flags and side data of a packet; its times are set by the caller.
pub(super) fn from_stored(stored: &file::Packet) -> Result<Packet, AvError> {
    let mut packet = Packet::copy(&stored.data);
    packet.av_mut().flags = stored.flags as i32;
    for (number, bytes) in &stored.side {
        let Some(kind) = kind(*number) else { continue };
        // SAFETY: our own packet; libav returns this number of bytes, or null. The wrapper only reads side data.
        unsafe {
            let data = sys::av_packet_new_side_data(packet.as_mut_ptr(), kind, bytes.len());
            if data.is_null() {
                return Err(AvError::MEMORY);
            }
            data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }
    Ok(packet)
}

/// The stored form of a stream's side data.
pub(super) fn stored_side_data(all: impl IntoIterator<Item = (AVPacketSideDataType, Vec<u8>)>) -> Vec<Side> {
    all.into_iter().filter_map(|(kind, bytes)| Some((number(kind)?, bytes))).collect()
}
