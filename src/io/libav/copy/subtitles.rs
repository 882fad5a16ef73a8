//! Converts text subtitles to another format: decodes them to lines and encodes them again.

use super::AvError;
use crate::libav::error::check;
use crate::libav::sink::handles::{Codec, Packet};
use crate::libav::sink::mux::Muxer;
use ffmpeg_sys_next as sys;
use std::ptr;
use sys::{AVCodecID, AVRational};

/// The buffer for one subtitle: far more than a readable one needs.
const ROOM: usize = 1 << 20;

/// A decoder and an encoder.
pub(crate) struct Text {
    decoder: Codec,
    encoder: Codec,
}

/// Microseconds, libav's clock of subtitles.
const MICRO: AVRational = AVRational { num: 1, den: 1_000_000 };

impl Text {
    /// Opens decoder and encoder, and fills the stream's parameters.
    pub(crate) fn new(
        from: &sys::AVStream,
        codec: AVCodecID,
        to: &mut sys::AVStream,
    ) -> Result<Text, AvError> {
        let none = AvError(-libc::ENOSYS);
        let memory = AvError(-libc::ENOMEM);
        // SAFETY: descriptions are static or null; contexts are fresh and ours; the header is copied with libav's
        // allocator, which the context's owner frees.
        unsafe {
            let reader = sys::avcodec_find_decoder((*from.codecpar).codec_id);
            let writer = sys::avcodec_find_encoder(codec);
            if reader.is_null() || writer.is_null() {
                return Err(none);
            }
            let decoder = Codec::new(reader).ok_or(memory)?;
            check(sys::avcodec_parameters_to_context(decoder.0, from.codecpar))?;
            (*decoder.0).pkt_timebase = from.time_base;
            check(sys::avcodec_open2(decoder.0, reader, ptr::null_mut()))?;
            let encoder = Codec::new(writer).ok_or(memory)?;
            (*encoder.0).time_base = MICRO;
            let (header, size) = ((*decoder.0).subtitle_header, (*decoder.0).subtitle_header_size as usize);
            if !header.is_null() {
                let copy = sys::av_mallocz(size + 1).cast::<u8>();
                if copy.is_null() {
                    return Err(memory);
                }
                ptr::copy_nonoverlapping(header.cast_const(), copy, size);
                (*encoder.0).subtitle_header = copy;
                (*encoder.0).subtitle_header_size = size as i32;
            }
            check(sys::avcodec_open2(encoder.0, writer, ptr::null_mut()))?;
            check(sys::avcodec_parameters_from_context(to.codecpar, encoder.0))?;
            Ok(Text { decoder, encoder })
        }
    }

    /// Converts a packet.
    pub(crate) fn take(
        &mut self,
        packet: &Packet,
        base: AVRational,
        to: usize,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        // SAFETY: contexts and packet are ours; the subtitle is freed after it was filled; the encoder writes no more
        // than the size of the buffer.
        unsafe {
            let mut subtitle: sys::AVSubtitle = std::mem::zeroed();
            let mut got = 0;
            let decoded = sys::avcodec_decode_subtitle2(self.decoder.0, &mut subtitle, &mut got, packet.0);
            if decoded < 0 || got == 0 {
                return Ok(()); // a damaged line is left out
            }
            let mut room = vec![0u8; ROOM];
            subtitle.pts = sys::av_rescale_q((*packet.0).pts, base, MICRO);
            let size =
                sys::avcodec_encode_subtitle(self.encoder.0, room.as_mut_ptr(), ROOM as i32, &subtitle);
            let start = i64::from(subtitle.start_display_time) * 1000;
            let shown = i64::from(subtitle.end_display_time.wrapping_sub(subtitle.start_display_time)) * 1000;
            let pts = subtitle.pts.saturating_add(start);
            sys::avsubtitle_free(&mut subtitle);
            if size <= 0 {
                return Ok(());
            }
            let out = Packet::new().ok_or(AvError(-libc::ENOMEM))?;
            check(sys::av_new_packet(out.0, size))?;
            ptr::copy_nonoverlapping(room.as_ptr(), (*out.0).data, size as usize);
            let own = sys::av_rescale_q((*packet.0).duration, base, MICRO);
            (*out.0).pts = pts;
            (*out.0).dts = pts;
            (*out.0).duration = if own > 0 { own } else { shown };
            (*out.0).flags |= sys::AV_PKT_FLAG_KEY;
            muxer.write(&out, MICRO, to)
        }
    }
}
