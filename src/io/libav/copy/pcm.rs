//! PCM sound: its packets are split, so that what is left out is exact to the sample.

use super::span::Span;
use ffmpeg_next::codec::packet::Flags;
use ffmpeg_next::{Packet, Rescale};
use ffmpeg_sys_next as sys;
use std::ffi::CStr;
use sys::AVRational;

/// Sound whose packets can be split between any two samples.
pub(super) struct Pcm {
    /// The bytes of a sample of all channels.
    bytes: usize,
    tick: AVRational,
    /// Where the next packet begins, in samples of the input.
    next: i64,
}

impl Pcm {
    /// `None` for other codecs.
    pub(super) fn new(par: &sys::AVCodecParameters) -> Option<Pcm> {
        // SAFETY: a static string that ends with 0; a function of a number.
        let (name, bits) = unsafe {
            (
                CStr::from_ptr(sys::avcodec_get_name(par.codec_id)).to_bytes(),
                sys::av_get_exact_bits_per_sample(par.codec_id),
            )
        };
        let bytes = bits / 8 * par.ch_layout.nb_channels;
        // in a planar packet, each channel is a piece by itself
        let is_pcm = name.starts_with(b"pcm_") && !name.ends_with(b"_planar");
        let is_whole = bits % 8 == 0 && bytes > 0 && [0, bytes].contains(&par.block_align);
        (is_pcm && is_whole && par.sample_rate > 0).then_some(Pcm {
            bytes: bytes as usize,
            tick: AVRational { num: 1, den: par.sample_rate },
            next: 0,
        })
    }

    /// The ticks of the packets that `split` makes: samples.
    pub(super) fn tick(&self) -> AVRational {
        self.tick
    }

    /// The parts of a packet that are written, with their times in the output. `None` if it is after the end.
    pub(super) fn split(&mut self, packet: &Packet, base: AVRational, span: &Span) -> Option<Vec<Packet>> {
        let data = packet.data().unwrap_or_default();
        let time = packet.pts().or(packet.dts()).unwrap_or(0).rescale(base, self.tick);
        // times that are rounded to more than a sample: the samples follow each other
        let rounding = 1.rescale(base, self.tick).max(1);
        let begin = if (time - self.next).abs() <= rounding { self.next } else { time };
        let end = begin.saturating_add((data.len() / self.bytes) as i64);
        self.next = end;
        if span.end_in(self.tick).is_some_and(|last| begin >= last) {
            return None;
        }
        let part = |(from, to): (i64, i64)| {
            let at = |sample: i64| (sample - begin) as usize * self.bytes;
            let mut part = Packet::copy(&data[at(from)..at(to)]);
            part.set_stream(packet.stream());
            part.set_flags(packet.flags() | Flags::KEY);
            let time = Some(span.output_time(from, self.tick));
            part.set_pts(time);
            part.set_dts(time);
            part.set_duration(to - from);
            part
        };
        Some(span.kept(begin, end, self.tick).into_iter().map(part).collect())
    }
}
