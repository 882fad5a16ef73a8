//! Converts text subtitles to another format: decodes them to lines and encodes them again.

use crate::libav::dict::Dict;
use crate::libav::error::AvError;
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, duplicate, open, open_decoder, set_parameters};
use ffmpeg_next::codec::{Context, Parameters};
use ffmpeg_next::encoder::{self, Encoder};
use ffmpeg_next::{Packet, Rescale, Subtitle, decoder, packet, rescale};
use ffmpeg_sys_next as sys;
use sys::AVCodecID;

/// The buffer for one subtitle: far more than a readable one needs.
const ROOM: usize = 1 << 20;

/// A decoder and an encoder.
pub(crate) struct Text {
    decoder: decoder::Subtitle,
    encoder: Encoder,
}

impl Text {
    /// Opens decoder and encoder, and fills the stream's parameters.
    pub(crate) fn new(
        from: &sys::AVStream,
        codec: AVCodecID,
        to: &mut sys::AVStream,
    ) -> Result<Text, AvError> {
        let writer = encoder::find(codec.into()).ok_or(AvError(-libc::ENOSYS))?;
        let decoder = decoder::Subtitle(open_decoder(from)?);
        let mut encoder = Context::new_with_codec(writer);
        encoder.set_time_base(rescale::TIME_BASE);
        let (from, context) = (decoder.av(), encoder.av_mut());
        if !from.subtitle_header.is_null() {
            let size = from.subtitle_header_size;
            // SAFETY: the decoder's header has this number of bytes.
            let header = unsafe { std::slice::from_raw_parts(from.subtitle_header, size as usize) };
            (context.subtitle_header, context.subtitle_header_size) = (duplicate(header)?, size);
        }
        open(&mut encoder, &mut Dict::new())?;
        let encoder = encoder.encoder();
        set_parameters(to, Parameters::from(&encoder).av())?;
        Ok(Text { decoder, encoder })
    }

    /// Converts a packet.
    pub(crate) fn convert(
        &mut self,
        packet: &Packet,
        base: sys::AVRational,
        to: usize,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        let mut subtitle = Subtitle::new();
        if !matches!(self.decoder.decode(packet, &mut subtitle), Ok(true)) {
            return Ok(()); // a damaged line is left out
        }
        let pts = packet.av().pts.rescale(base, rescale::TIME_BASE);
        subtitle.set_pts(Some(pts));
        let pts = Some(pts.saturating_add(i64::from(subtitle.start()) * 1000));
        let shown = i64::from(subtitle.end().wrapping_sub(subtitle.start())) * 1000;
        let own = packet.duration().rescale(base, rescale::TIME_BASE);
        let mut room = vec![0u8; ROOM];
        // SAFETY: an open encoder, which writes no more than the size of the buffer; a subtitle that was filled is freed
        // once. The wrapper returns no size, and does not free.
        let size = unsafe {
            let (encoder, subtitle) = (self.encoder.as_mut_ptr(), subtitle.as_mut_ptr());
            let size = sys::avcodec_encode_subtitle(encoder, room.as_mut_ptr(), ROOM as i32, subtitle);
            sys::avsubtitle_free(subtitle);
            size
        };
        let Ok(size @ 1..) = usize::try_from(size) else { return Ok(()) };
        let mut out = Packet::copy(&room[..size]);
        out.set_pts(pts);
        out.set_dts(pts);
        out.set_duration(if own > 0 { own } else { shown });
        out.set_flags(packet::Flags::KEY);
        muxer.write(&mut out, rescale::TIME_BASE.into(), to)
    }
}
