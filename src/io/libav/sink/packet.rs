//! Converts packets to and from files of segments.

use super::handles::Packet;
use crate::journal::segments::file::{self, Side};
use crate::libav::error::{AvError, check};
use ffmpeg_sys_next as sys;
use std::ptr;
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
pub(super) fn number(kind: AVPacketSideDataType) -> Option<u32> {
    KINDS.iter().find(|k| k.1 == kind).map(|k| k.0)
}

/// libav's kind of our number.
pub(super) fn kind(number: u32) -> Option<AVPacketSideDataType> {
    KINDS.iter().find(|k| k.0 == number).map(|k| k.1)
}

/// Bytes of libav.
///
/// # Safety
/// `data` must be null or point to `size` bytes that live as long as the slice is used.
unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    // SAFETY: guaranteed by the caller.
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data, size) } }
}

/// The stored form of a packet.
pub(super) fn kept(packet: &Packet) -> file::Packet {
    // SAFETY: our own packet, with the specified number of bytes and pieces of side data.
    unsafe {
        let p = &*packet.0;
        let count = usize::try_from(p.side_data_elems).unwrap_or(0);
        let side = (0..count).filter_map(|i| {
            let s = &*p.side_data.add(i);
            Some((number(s.type_)?, bytes(s.data, s.size).to_vec()))
        });
        file::Packet {
            pts: p.pts,
            dts: p.dts,
            duration: p.duration,
            flags: p.flags as u32,
            data: bytes(p.data, usize::try_from(p.size).unwrap_or(0)).to_vec(),
            side: side.collect(),
        }
    }
}

/// Restores a packet.
pub(super) fn fill(packet: &Packet, from: &file::Packet) -> Result<(), AvError> {
    let size = i32::try_from(from.data.len()).map_err(|_| AvError(-libc::ENOMEM))?;
    // SAFETY: our own packet; memory from libav has the requested size.
    unsafe {
        sys::av_packet_unref(packet.0);
        check(sys::av_new_packet(packet.0, size))?;
        let p = &mut *packet.0;
        ptr::copy_nonoverlapping(from.data.as_ptr(), p.data, from.data.len());
        p.flags = from.flags as i32;
        for (number, bytes) in &from.side {
            let Some(kind) = kind(*number) else { continue };
            let data = sys::av_packet_new_side_data(packet.0, kind, bytes.len());
            if data.is_null() {
                return Err(AvError(-libc::ENOMEM));
            }
            ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
        }
    }
    Ok(())
}

/// The stored form of a stream's side data.
pub(super) fn sides(all: Vec<(AVPacketSideDataType, Vec<u8>)>) -> Vec<Side> {
    all.into_iter().filter_map(|(kind, bytes)| Some((number(kind)?, bytes))).collect()
}
