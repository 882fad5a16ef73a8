//! Sound that a container cannot hold unchanged: decodes it and encodes it in a supported codec.

use super::AvError;
use crate::libav::error::check;
use crate::libav::sink::container::codec_name;
use crate::libav::sink::handles::{AvFrame, Codec, Packet};
use crate::libav::sink::mux::Muxer;
use ffmpeg_sys_next as sys;
use std::ptr;
use sys::{AVCodecID, AVRational, AVSampleFormat};

const MEMORY: AvError = AvError(-libc::ENOMEM);
/// Bits per second per channel; half of it below 32 kHz, where codecs have lower limits.
const RATE: i64 = 96_000;
/// The longest silence inserted in a gap, seconds.
const LONGEST: i64 = 600;

/// The target encoding of sound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) codec: AVCodecID,
    /// Samples per second.
    pub(crate) rate: i32,
    pub(crate) channels: i32,
}

/// The shape of a decoded frame: sample format, rate, channels.
type Shape = (i32, i32, i32);

/// A decoder, a resampler and an encoder.
pub(crate) struct AudioTranscoder {
    decoder: Codec,
    encoder: Codec,
    resampler: Resampler,
    shape: Option<Shape>,
    fifo: Fifo,
    frame: AvFrame,
    out: AvFrame,
    packet: Packet,
    /// Time of the next sample to encode, in ticks of the encoder's rate; unknown before the first.
    next: Option<i64>,
    /// Time of the next sample to decode, in ticks of the decoder's rate.
    expected: Option<i64>,
    /// The time base of the input packets.
    base: AVRational,
    /// Whether to cut off sound before time zero.
    pub(crate) trims: bool,
    /// Whether to start at zero, with silence if the sound begins later.
    fills: bool,
    /// Samples still to be cut off, at the encoder's rate.
    early: i64,
}

struct Resampler(*mut sys::SwrContext);
impl Drop for Resampler {
    fn drop(&mut self) {
        // SAFETY: owned here; null is allowed.
        unsafe { sys::swr_free(&mut self.0) }
    }
}

struct Fifo(*mut sys::AVAudioFifo);
impl Drop for Fifo {
    fn drop(&mut self) {
        // SAFETY: owned here; null is allowed.
        unsafe { sys::av_audio_fifo_free(self.0) }
    }
}

// SAFETY: all pointers are owned here, and used by one thread at a time.
unsafe impl Send for AudioTranscoder {}

impl AudioTranscoder {
    /// Opens decoder and encoder, and fills the stream's parameters. With `fills` there are no times, so it
    /// begins at zero.
    pub(crate) fn new(
        from: &sys::AVStream,
        into: Target,
        global_header: bool,
        fills: bool,
        to: &mut sys::AVStream,
    ) -> Result<AudioTranscoder, AvError> {
        // SAFETY: descriptions are static or null; contexts are fresh and ours; lists end as libav says they do.
        unsafe {
            let par = &*from.codecpar;
            let reader = sys::avcodec_find_decoder(par.codec_id).as_ref().ok_or(AvError(-libc::ENOSYS))?;
            let writer = sys::avcodec_find_encoder(into.codec).as_ref().ok_or(AvError(-libc::ENOSYS))?;
            let decoder = Codec::new(reader).ok_or(MEMORY)?;
            check(sys::avcodec_parameters_to_context(decoder.0, par))?;
            (*decoder.0).pkt_timebase = from.time_base;
            check(sys::avcodec_open2(decoder.0, reader, ptr::null_mut()))?;
            let encoder = Codec::new(writer).ok_or(MEMORY)?;
            let context = &mut *encoder.0;
            context.sample_rate = into.rate;
            context.sample_fmt =
                if writer.sample_fmts.is_null() { (*decoder.0).sample_fmt } else { *writer.sample_fmts };
            let channels = into.channels;
            if into.codec == par.codec_id {
                check(sys::av_channel_layout_copy(&mut context.ch_layout, &par.ch_layout))?;
            }
            if context.ch_layout.nb_channels != channels {
                // encoders require the default order of channels
                sys::av_channel_layout_default(&mut context.ch_layout, channels);
            }
            context.bit_rate = i64::from(channels) * if into.rate < 32_000 { RATE / 2 } else { RATE };
            if codec_name(writer) == "libvorbis" {
                // its bit rates have limits that depend on rate and channels; its quality has none
                context.bit_rate = 0;
                context.flags |= sys::AV_CODEC_FLAG_QSCALE as i32;
                context.global_quality = 6 * sys::FF_QP2LAMBDA;
            }
            context.time_base = AVRational { num: 1, den: context.sample_rate };
            if global_header {
                context.flags |= sys::AV_CODEC_FLAG_GLOBAL_HEADER as i32;
            }
            check(sys::avcodec_open2(encoder.0, writer, ptr::null_mut()))?;
            check(sys::avcodec_parameters_from_context(to.codecpar, encoder.0))?;
            to.time_base = context.time_base;
            let fifo = Fifo(sys::av_audio_fifo_alloc(context.sample_fmt, channels, 4096));
            if fifo.0.is_null() {
                return Err(MEMORY);
            }
            Ok(AudioTranscoder {
                decoder,
                encoder,
                resampler: Resampler(ptr::null_mut()),
                shape: None,
                fifo,
                frame: AvFrame::new().ok_or(MEMORY)?,
                out: AvFrame::new().ok_or(MEMORY)?,
                packet: Packet::new().ok_or(MEMORY)?,
                next: None,
                expected: None,
                base: from.time_base,
                trims: false,
                fills,
                early: 0,
            })
        }
    }

    /// Decodes a packet, and writes the encoded packets.
    pub(crate) fn take(
        &mut self,
        packet: &Packet,
        base: AVRational,
        to: usize,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        self.base = base;
        // SAFETY: our own context and packet. A damaged packet is left out, and the gap becomes silence.
        if check(unsafe { sys::avcodec_send_packet(self.decoder.0, packet.0) }).is_ok() {
            self.decoded(to, muxer)?;
        }
        Ok(())
    }

    /// Writes the remaining packets.
    pub(crate) fn finish(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        // SAFETY: open contexts of ours.
        unsafe {
            if sys::avcodec_send_packet(self.decoder.0, ptr::null()) >= 0 {
                self.decoded(to, muxer)?;
            }
            self.convert(ptr::null())?;
            self.encode(true, to, muxer)?;
            check(sys::avcodec_send_frame(self.encoder.0, ptr::null()))?;
        }
        self.packets(to, muxer)
    }

    fn decoded(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        // SAFETY: open contexts and frames of ours.
        unsafe {
            while sys::avcodec_receive_frame(self.decoder.0, self.frame.0) >= 0 {
                if self.place()? {
                    self.convert(self.frame.0)?;
                    self.encode(false, to, muxer)?;
                }
            }
        }
        Ok(())
    }

    /// Adjusts to the time of the decoded frame: makes the resampler, and silence for a gap. `false` if the whole frame
    /// is cut off.
    ///
    /// # Safety
    /// `self.frame` must contain a decoded frame.
    unsafe fn place(&mut self) -> Result<bool, AvError> {
        // SAFETY: guaranteed by the caller; contexts are ours.
        unsafe {
            let frame = &*self.frame.0;
            let shape = (frame.format, frame.sample_rate, frame.ch_layout.nb_channels);
            if self.shape != Some(shape) {
                self.convert(ptr::null())?;
                self.resampler = Resampler(ptr::null_mut());
                let out = &mut *self.encoder.0;
                let mut layout = frame.ch_layout;
                if layout.order == sys::AVChannelOrder::AV_CHANNEL_ORDER_UNSPEC {
                    sys::av_channel_layout_default(&mut layout, frame.ch_layout.nb_channels);
                }
                check(sys::swr_alloc_set_opts2(
                    &mut self.resampler.0,
                    &mut out.ch_layout,
                    out.sample_fmt,
                    out.sample_rate,
                    &mut layout,
                    std::mem::transmute::<i32, AVSampleFormat>(frame.format),
                    frame.sample_rate,
                    0,
                    ptr::null_mut(),
                ))?;
                check(sys::swr_init(self.resampler.0))?;
                self.shape = Some(shape);
                self.expected = None;
            }
            let rate = i64::from(frame.sample_rate.max(1));
            let tick = |den: i64| AVRational { num: 1, den: den as i32 };
            let own = (frame.pts != crate::libav::timeline::NO_TIME)
                .then(|| sys::av_rescale_q(frame.pts, self.base, tick(rate)));
            if self.next.is_none() {
                let first = own.unwrap_or(0);
                if self.trims && first.saturating_add(frame.nb_samples.into()) <= 0 {
                    return Ok(false);
                }
                let out = tick((*self.encoder.0).sample_rate.into());
                let begins = sys::av_rescale_q(first, tick(rate), out);
                self.early = if self.trims { (-begins).max(0) } else { 0 };
                self.next = Some(if self.fills { 0 } else { begins + self.early });
                if self.fills && first > 0 {
                    check(sys::swr_inject_silence(self.resampler.0, first.min(LONGEST * rate) as i32))?;
                }
            }
            let begins = match (own, self.expected) {
                (Some(own), Some(expected)) if own - expected > rate / 10 => {
                    let gap = (own - expected).min(LONGEST * rate);
                    check(sys::swr_inject_silence(self.resampler.0, gap as i32))?;
                    own
                }
                (own, expected) => expected.or(own).unwrap_or(0),
            };
            self.expected = Some(begins + i64::from(frame.nb_samples));
        }
        Ok(true)
    }

    /// Converts a frame into the queue; null flushes the resampler.
    ///
    /// # Safety
    /// `frame` must be null or a decoded frame of the shape the resampler was made for.
    unsafe fn convert(&mut self, frame: *const sys::AVFrame) -> Result<(), AvError> {
        if self.resampler.0.is_null() {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller; the output frame has room for the number of samples that the
        // resampler reports.
        unsafe {
            let (data, count) = match frame.as_ref() {
                Some(f) => (f.extended_data.cast::<*const u8>(), f.nb_samples),
                None => (ptr::null_mut(), 0),
            };
            let room = check(sys::swr_get_out_samples(self.resampler.0, count))?;
            if room == 0 {
                return Ok(());
            }
            let context = &*self.encoder.0;
            let mut buffer: *mut *mut u8 = ptr::null_mut();
            check(sys::av_samples_alloc_array_and_samples(
                &mut buffer,
                ptr::null_mut(),
                context.ch_layout.nb_channels,
                room,
                context.sample_fmt,
                0,
            ))?;
            let made = sys::swr_convert(self.resampler.0, buffer, room, data, count);
            let queued =
                if made > 0 { sys::av_audio_fifo_write(self.fifo.0, buffer.cast(), made) } else { made };
            sys::av_freep(buffer.cast());
            sys::av_freep((&raw mut buffer).cast());
            check(queued)?;
            let left_out = self.early.min(sys::av_audio_fifo_size(self.fifo.0).into());
            self.early -= left_out;
            check(sys::av_audio_fifo_drain(self.fifo.0, left_out as i32)).map(drop)
        }
    }

    /// Encodes whole frames from the queue, and at the end the remaining samples.
    fn encode(&mut self, last: bool, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        // SAFETY: contexts, queue and frames are ours; the frame has as many samples as are read into it.
        unsafe {
            loop {
                let queued = sys::av_audio_fifo_size(self.fifo.0);
                let whole = (*self.encoder.0).frame_size;
                let take = if whole == 0 { queued.min(4096) } else { whole };
                let take = if last { take.min(queued) } else { take };
                if take == 0 || queued < take {
                    return Ok(());
                }
                let out = self.out.0;
                sys::av_frame_unref(out);
                let context = &*self.encoder.0;
                (*out).nb_samples = take;
                (*out).format = context.sample_fmt as i32;
                (*out).sample_rate = context.sample_rate;
                check(sys::av_channel_layout_copy(&mut (*out).ch_layout, &context.ch_layout))?;
                check(sys::av_frame_get_buffer(out, 0))?;
                check(sys::av_audio_fifo_read(self.fifo.0, (*out).extended_data.cast(), take))?;
                let pts = self.next.unwrap_or(0);
                (*out).pts = pts;
                self.next = Some(pts + i64::from(take));
                check(sys::avcodec_send_frame(self.encoder.0, out))?;
                self.packets(to, muxer)?;
            }
        }
    }

    fn packets(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        loop {
            // SAFETY: contexts and packet are ours.
            let base = unsafe {
                match check(sys::avcodec_receive_packet(self.encoder.0, self.packet.0)) {
                    Ok(_) => {}
                    Err(AvError::AGAIN | AvError::EOF) => return Ok(()),
                    Err(error) => return Err(error),
                }
                (*self.encoder.0).time_base
            };
            muxer.write(&self.packet, base, to)?;
        }
    }
}

/// The lowest rate that the encoder accepts and that is not below the sound's, or else its highest.
pub(crate) fn rate(codec: AVCodecID, own: i32) -> i32 {
    let mut all = Vec::new();
    // SAFETY: the description is static or null, and its list of rates ends with zero, at which the loop
    // ends.
    unsafe {
        let mut list =
            sys::avcodec_find_encoder(codec).as_ref().map_or(ptr::null(), |c| c.supported_samplerates);
        while !list.is_null() && *list != 0 {
            all.push(*list);
            list = list.add(1);
        }
    }
    let above = all.iter().copied().filter(|&r| r >= own).min();
    above.or_else(|| all.iter().copied().max()).unwrap_or(own)
}
