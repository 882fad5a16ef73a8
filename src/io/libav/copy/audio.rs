//! Sound that a container cannot hold unchanged: decodes it and encodes it in a supported codec.

use crate::libav::dict::Dict;
use crate::libav::error::{AvError, check};
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, open, open_decoder, parameters, received, set_channels, set_parameters};
use ffmpeg_next::codec::{Context, Parameters};
use ffmpeg_next::decoder::Opened;
use ffmpeg_next::encoder::{self, Encoder};
use ffmpeg_next::{Codec, Packet, Rescale, frame};
use ffmpeg_sys_next as sys;
use std::ptr;
use sys::{AVCodecID, AVRational, AVSampleFormat};

/// Bits per second per channel; half of it below 32 kHz, where codecs have lower limits.
const BITS_PER_CHANNEL: i64 = 96_000;
/// The longest silence inserted in a gap, seconds.
const MAX_SILENCE: i64 = 600;

/// The target encoding of sound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) codec: AVCodecID,
    /// libav's name of the encoder, if it was chosen.
    pub(crate) encoder: Option<&'static str>,
    /// Bits per second, if they were chosen.
    pub(crate) bit_rate: Option<i64>,
    /// Samples per second.
    pub(crate) rate: i32,
    pub(crate) channels: i32,
}

/// The shape of a decoded frame: sample format, rate, channels.
type Shape = (i32, i32, i32);

/// A decoder, a resampler and an encoder.
pub(crate) struct AudioTranscoder {
    decoder: Opened,
    encoder: Encoder,
    resampler: Option<Resampler>,
    shape: Option<Shape>,
    fifo: Fifo,
    packet: Packet,
    /// Time of the next sample to encode, in ticks of the encoder's rate; unknown before the first.
    next: Option<i64>,
    /// Time of the next sample to decode, in ticks of the decoder's rate.
    expected: Option<i64>,
    /// The time base of the input packets.
    base: AVRational,
    /// Whether to cut off sound before time zero.
    pub(crate) cuts_before_zero: bool,
    /// Whether the next decoded frame is the first after a cut: it begins at its own time.
    pub(crate) after_cut: bool,
    /// Whether to start at zero, with silence if the sound begins later.
    pads_start: bool,
    /// Samples still to be cut off, at the encoder's rate.
    to_cut: i64,
}

/// A resampler. The wrapper's has only layouts of channels that are sets of known ones, and no silence.
struct Resampler(*mut sys::SwrContext);

// SAFETY: owned by one thread at a time.
unsafe impl Send for Resampler {}

impl Resampler {
    /// From decoded frames to those of an encoder.
    fn new(from: &sys::AVFrame, to: &sys::AVCodecContext) -> Result<Resampler, AvError> {
        let mut layout = from.ch_layout;
        if layout.order == sys::AVChannelOrder::AV_CHANNEL_ORDER_UNSPEC {
            set_channels(&mut layout, from.ch_layout.nb_channels);
        }
        let mut resampler = Resampler(ptr::null_mut());
        // SAFETY: libav copies the layouts; the format is that of a decoded frame.
        unsafe {
            check(sys::swr_alloc_set_opts2(
                &mut resampler.0,
                (&raw const to.ch_layout).cast_mut(),
                to.sample_fmt,
                to.sample_rate,
                &mut layout,
                std::mem::transmute::<i32, AVSampleFormat>(from.format),
                from.sample_rate,
                0,
                ptr::null_mut(),
            ))?;
            check(sys::swr_init(resampler.0))?;
        }
        Ok(resampler)
    }

    /// Inserts silence before the next sample.
    fn silence(&mut self, samples: i64) -> Result<(), AvError> {
        // SAFETY: an open resampler.
        check(unsafe { sys::swr_inject_silence(self.0, samples as i32) }).map(drop)
    }
}

impl Drop for Resampler {
    fn drop(&mut self) {
        // SAFETY: owned here; null is allowed.
        unsafe { sys::swr_free(&mut self.0) }
    }
}

/// A queue of samples, which the wrapper lacks.
struct Fifo(*mut sys::AVAudioFifo);

// SAFETY: owned by one thread at a time.
unsafe impl Send for Fifo {}

impl Fifo {
    fn new(format: AVSampleFormat, channels: i32) -> Result<Fifo, AvError> {
        // SAFETY: returns a new queue or null.
        let fifo = unsafe { sys::av_audio_fifo_alloc(format, channels, 4096) };
        if fifo.is_null() { Err(AvError::MEMORY) } else { Ok(Fifo(fifo)) }
    }

    fn len(&self) -> i32 {
        // SAFETY: a valid queue.
        unsafe { sys::av_audio_fifo_size(self.0) }
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        // SAFETY: owned here, freed once.
        unsafe { sys::av_audio_fifo_free(self.0) }
    }
}

impl AudioTranscoder {
    /// Opens decoder and encoder, and fills the stream's parameters. With `pads_start` there are no times, so it
    /// begins at zero.
    pub(crate) fn new(
        from: &sys::AVStream,
        into: Target,
        global_header: bool,
        pads_start: bool,
        to: &mut sys::AVStream,
    ) -> Result<AudioTranscoder, AvError> {
        let writer = into.writer().ok_or(AvError(-libc::ENOSYS))?;
        let mut decoder = open_decoder(from)?;
        let mut encoder = Context::new_with_codec(writer);
        let context = encoder.av_mut();
        context.sample_rate = into.rate;
        let own = decoder.av_mut().sample_fmt;
        let formats = writer.audio().ok().and_then(|codec| codec.formats());
        let formats: Vec<AVSampleFormat> = formats.into_iter().flatten().map(Into::into).collect();
        let first = formats.first().copied().unwrap_or(own);
        // SAFETY: returns a number.
        let bytes = |format| unsafe { sys::av_get_bytes_per_sample(format) };
        // the first with all bits
        let whole = formats.into_iter().find(|&format| bytes(format) >= bytes(own));
        context.sample_fmt = whole.unwrap_or(first);
        let own = parameters(from);
        if into.codec == own.codec_id && own.ch_layout.nb_channels == into.channels {
            // SAFETY: both are valid layouts; the encoder's is overwritten.
            check(unsafe { sys::av_channel_layout_copy(&mut context.ch_layout, &own.ch_layout) })?;
        } else {
            // encoders require the default order of channels
            set_channels(&mut context.ch_layout, into.channels);
        }
        let usual = if into.rate < 32_000 { BITS_PER_CHANNEL / 2 } else { BITS_PER_CHANNEL };
        context.bit_rate = into.bit_rate.unwrap_or(i64::from(into.channels) * usual);
        if writer.name() == "libvorbis" && into.bit_rate.is_none() {
            // its bit rates have limits that depend on rate and channels; its quality has none
            context.bit_rate = 0;
            context.flags |= sys::AV_CODEC_FLAG_QSCALE as i32;
            context.global_quality = 6 * sys::FF_QP2LAMBDA;
        }
        context.time_base = AVRational { num: 1, den: context.sample_rate };
        if global_header {
            context.flags |= sys::AV_CODEC_FLAG_GLOBAL_HEADER as i32;
        }
        open(&mut encoder, &mut Dict::new())?;
        let encoder = encoder.encoder();
        set_parameters(to, Parameters::from(&encoder).av())?;
        to.time_base = encoder.av().time_base;
        let fifo = Fifo::new(encoder.av().sample_fmt, into.channels)?;
        Ok(AudioTranscoder {
            decoder,
            encoder,
            resampler: None,
            shape: None,
            fifo,
            packet: Packet::empty(),
            next: None,
            expected: None,
            base: from.time_base,
            cuts_before_zero: false,
            after_cut: false,
            pads_start,
            to_cut: 0,
        })
    }

    /// Decodes a packet, and writes the encoded packets.
    pub(crate) fn convert(
        &mut self,
        packet: &Packet,
        base: AVRational,
        to: usize,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        self.base = base;
        // a damaged packet is left out, and the gap becomes silence
        match self.decoder.send_packet(packet) {
            Ok(()) => self.drain_decoder(to, muxer),
            Err(_) => Ok(()),
        }
    }

    /// Writes the remaining packets.
    pub(crate) fn finish(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        if self.decoder.send_eof().is_ok() {
            self.drain_decoder(to, muxer)?;
        }
        self.resample(None)?;
        self.encode(true, to, muxer)?;
        self.encoder.send_eof()?;
        self.drain_encoder(to, muxer)
    }

    fn drain_decoder(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        let mut frame = frame::Audio::empty();
        while self.decoder.receive_frame(&mut frame).is_ok() {
            if self.align(frame.av())? {
                self.resample(Some(frame.av()))?;
                self.encode(false, to, muxer)?;
            }
        }
        Ok(())
    }

    /// Prepares the resampler for a decoded frame, and inserts silence if there is a gap before it. `false` if the frame is
    /// before the start and is cut off.
    fn align(&mut self, frame: &sys::AVFrame) -> Result<bool, AvError> {
        let shape = (frame.format, frame.sample_rate, frame.ch_layout.nb_channels);
        if self.shape != Some(shape) {
            self.resample(None)?;
            self.resampler = Some(Resampler::new(frame, self.encoder.av())?);
            self.shape = Some(shape);
            self.expected = None;
        }
        let Some(resampler) = &mut self.resampler else { return Ok(false) };
        let rate = i64::from(frame.sample_rate.max(1));
        let tick = AVRational { num: 1, den: rate as i32 };
        let own = (frame.pts != crate::libav::timeline::NO_TIME).then(|| frame.pts.rescale(self.base, tick));
        if self.next.is_none() {
            let first = own.unwrap_or(0);
            if self.cuts_before_zero && first.saturating_add(frame.nb_samples.into()) <= 0 {
                return Ok(false);
            }
            let out = AVRational { num: 1, den: self.encoder.av().sample_rate };
            let begins = first.rescale(tick, out);
            self.to_cut = if self.cuts_before_zero { (-begins).max(0) } else { 0 };
            self.next = Some(if self.pads_start { 0 } else { begins + self.to_cut });
            if self.pads_start && first > 0 {
                resampler.silence(first.min(MAX_SILENCE * rate))?;
            }
        }
        let begins = match (own, self.expected) {
            (Some(own), Some(expected))
                if own - expected > if std::mem::take(&mut self.after_cut) { 0 } else { rate / 10 } =>
            {
                resampler.silence((own - expected).min(MAX_SILENCE * rate))?;
                own
            }
            (own, expected) => expected.or(own).unwrap_or(0),
        };
        self.expected = Some(begins + i64::from(frame.nb_samples));
        Ok(true)
    }

    /// Converts a decoded frame of the resampler's shape into the queue; `None` flushes the resampler.
    fn resample(&mut self, frame: Option<&sys::AVFrame>) -> Result<(), AvError> {
        let Some(Resampler(resampler)) = self.resampler else { return Ok(()) };
        let context = self.encoder.av();
        let fifo = self.fifo.0;
        // SAFETY: the resampler was made for such frames; the buffer has room for the number of samples that it reports.
        unsafe {
            let (data, count) = match frame {
                Some(f) => (f.extended_data.cast::<*const u8>(), f.nb_samples),
                None => (ptr::null_mut(), 0),
            };
            let room = check(sys::swr_get_out_samples(resampler, count))?;
            if room == 0 {
                return Ok(());
            }
            let mut buffer: *mut *mut u8 = ptr::null_mut();
            check(sys::av_samples_alloc_array_and_samples(
                &mut buffer,
                ptr::null_mut(),
                context.ch_layout.nb_channels,
                room,
                context.sample_fmt,
                0,
            ))?;
            let converted = sys::swr_convert(resampler, buffer, room, data, count);
            let queued = if converted > 0 {
                sys::av_audio_fifo_write(fifo, buffer.cast(), converted)
            } else {
                converted
            };
            sys::av_freep(buffer.cast());
            sys::av_freep((&raw mut buffer).cast());
            check(queued)?;
            let cut = self.to_cut.min(self.fifo.len().into());
            self.to_cut -= cut;
            check(sys::av_audio_fifo_drain(fifo, cut as i32)).map(drop)
        }
    }

    /// Encodes whole frames from the queue, and at the end the remaining samples.
    fn encode(&mut self, last: bool, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        loop {
            let context = self.encoder.av();
            let (queued, frame_size) = (self.fifo.len(), context.frame_size);
            let take = if frame_size == 0 { queued.min(4096) } else { frame_size };
            let take = if last { take.min(queued) } else { take };
            if take == 0 || queued < take {
                return Ok(());
            }
            let mut frame = frame::Audio::empty();
            let out = frame.av_mut();
            (out.nb_samples, out.format) = (take, context.sample_fmt as i32);
            out.sample_rate = context.sample_rate;
            // SAFETY: a blank frame of ours, which gets room for the samples that are read from the queue.
            unsafe {
                check(sys::av_channel_layout_copy(&mut out.ch_layout, &context.ch_layout))?;
                check(sys::av_frame_get_buffer(out, 0))?;
                check(sys::av_audio_fifo_read(self.fifo.0, out.extended_data.cast(), take))?;
            }
            let pts = self.next.unwrap_or(0);
            out.pts = pts;
            self.next = Some(pts + i64::from(take));
            self.encoder.send_frame(&frame)?;
            self.drain_encoder(to, muxer)?;
        }
    }

    fn drain_encoder(&mut self, to: usize, muxer: &mut Muxer) -> Result<(), AvError> {
        while received(self.encoder.receive_packet(&mut self.packet))? {
            muxer.write(&mut self.packet, self.encoder.av().time_base, to)?;
        }
        Ok(())
    }
}

impl Target {
    /// The encoder.
    fn writer(&self) -> Option<Codec> {
        self.encoder.map_or_else(|| encoder::find(self.codec.into()), encoder::find_by_name)
    }
}

/// The lowest rate that the encoder accepts and that is not below the sound's, or else its highest.
pub(crate) fn supported_rate(target: &Target, own: i32) -> i32 {
    let codec = target.writer().and_then(|codec| codec.audio().ok());
    let all: Vec<i32> = codec.and_then(|codec| codec.rates()).into_iter().flatten().collect();
    let above = all.iter().copied().filter(|&r| r >= own).min();
    above.or_else(|| all.iter().copied().max()).unwrap_or(own)
}
