//! Decoded pictures: what the wrapper's [`frame::Video`] lacks.

use super::error::AvError;
use super::raw::Fields;
use ffmpeg_next::Packet;
use ffmpeg_next::format::Pixel;
use ffmpeg_next::frame::{self, side_data::Type};
use ffmpeg_next::packet::Mut;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::FieldOrder;
use std::marker::PhantomData;

/// The order of its fields, if it consists of two.
pub(crate) fn field_order(picture: &frame::Video) -> Option<FieldOrder> {
    let order = if picture.is_top_first() { FieldOrder::TopFirst } else { FieldOrder::BottomFirst };
    picture.is_interlaced().then_some(order)
}

/// Whether the decoder reports that samples are wrong or guessed.
pub(crate) fn is_damaged(picture: &frame::Video) -> bool {
    picture.is_corrupt() || picture.has_decode_errors()
}

/// Gives a packet a number that the pictures coded in it will have (see [`take_mark`]). Every version of libav passes
/// side data on to the picture without interpreting it; this kind has no meaning in video.
pub(crate) fn mark(packet: &mut Packet, number: u32) -> Result<(), AvError> {
    let kind = sys::AVPacketSideDataType::AV_PKT_DATA_REPLAYGAIN;
    let bytes = number.to_ne_bytes();
    // SAFETY: a valid packet; libav returns this number of bytes, or null.
    unsafe {
        let data = sys::av_packet_new_side_data(packet.as_mut_ptr(), kind, bytes.len()).cast::<[u8; 4]>();
        data.as_mut().ok_or(AvError::MEMORY)?.copy_from_slice(&bytes);
    }
    Ok(())
}

/// Removes and returns the number of the packet in which a picture was coded, if it was marked.
pub(crate) fn take_mark(picture: &mut frame::Video) -> Option<u32> {
    let kind = Type::ReplayGain;
    let number = <[u8; 4]>::try_from(picture.side_data(kind)?.data()).ok().map(u32::from_ne_bytes);
    picture.remove_side_data(kind);
    number
}

/// Its side data.
pub(crate) fn side_data(picture: &frame::Video) -> Vec<(sys::AVFrameSideDataType, &[u8])> {
    let f = picture.av();
    // SAFETY: the array has this number of valid entries, whose data have the specified size.
    let entry = |i| unsafe {
        let entry = &**f.side_data.add(i);
        let data = if entry.size == 0 { &[] } else { std::slice::from_raw_parts(entry.data, entry.size) };
        (entry.type_, data)
    };
    (0..usize::try_from(f.nb_side_data).unwrap_or(0)).map(entry).collect()
}

/// libav's description of a pixel format; `None` for no format.
pub(crate) fn description(format: Pixel) -> Option<&'static sys::AVPixFmtDescriptor> {
    // SAFETY: a static structure.
    format.descriptor().map(|d| unsafe { &*d.as_ptr() })
}

/// The visible rows of a plane. (Those of the wrapper begin at the wrong end if they are stored from the bottom up.)
pub(crate) struct Plane<'a> {
    first: *const u8,
    /// Bytes from a row to the next.
    stride: isize,
    rows: usize,
    /// Visible bytes of a row.
    bytes: usize,
    picture: PhantomData<&'a frame::Video>,
}

impl<'a> Plane<'a> {
    /// Without rows if the picture has no such plane.
    pub(crate) fn new(picture: &'a frame::Video, plane: usize) -> Plane<'a> {
        let f = picture.av();
        let format = picture.format();
        let (rows, bytes) = match description(format) {
            Some(d) if !f.data[plane].is_null() => {
                let palette = d.flags & sys::AV_PIX_FMT_FLAG_PAL as u64 != 0;
                let shift = if plane == 1 || plane == 2 { d.log2_chroma_h } else { 0 };
                // SAFETY: computes a number from the format's static description.
                let bytes = unsafe { sys::av_image_get_linesize(format.into(), f.width, plane as i32) };
                if palette && plane == 1 {
                    (1, 1024)
                } else {
                    ((f.height + (1 << shift) - 1) >> shift, bytes)
                }
            }
            _ => (0, 0),
        };
        let (rows, bytes) = (rows.max(0) as usize, bytes.max(0) as usize);
        Plane { first: f.data[plane], stride: f.linesize[plane] as isize, rows, bytes, picture: PhantomData }
    }

    /// Panics unless `y` is less than the number of rows.
    pub(crate) fn row(&self, y: usize) -> &'a [u8] {
        assert!(y < self.rows, "row {y} of {}", self.rows);
        // SAFETY: the software frame that `self` borrows has this number of rows, `stride` apart, of that length.
        unsafe { std::slice::from_raw_parts(self.first.offset(y as isize * self.stride), self.bytes) }
    }
}

/// A fast checksum of the visible samples, to recognise a picture; not secure against forgery.
pub(crate) fn checksum(picture: &frame::Video) -> u64 {
    let mut sum = (u64::from(picture.width()) << 32 | u64::from(picture.height())) ^ 0x9e37_79b9_7f4a_7c15;
    let mut add = |word: [u8; 8]| {
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        sum ^= sum >> 32;
    };
    for plane in (0..4).map(|plane| Plane::new(picture, plane)) {
        for y in 0..plane.rows {
            let (words, rest) = plane.row(y).as_chunks::<8>();
            words.iter().for_each(|word| add(*word));
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            add(last);
        }
    }
    sum
}
