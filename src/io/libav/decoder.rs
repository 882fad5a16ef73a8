//! The decoder of a stream.

use super::error::AvError;
use super::log::Log;
use super::raw::{self, Fields};
use ffmpeg_next::codec::Id;
use ffmpeg_next::{Codec, Packet, decoder, frame};
use ffmpeg_sys_next as sys;

/// The largest number of samples in a plane of a video's picture.
const MAX_PIXELS: i64 = 1 << 28;

/// An open decoder.
pub(crate) struct Decoder {
    opened: decoder::Opened,
    /// Outlives the context.
    log: Log,
    /// The number of errors that had been reported when it was opened.
    before: u32,
}

/// The result of receiving a frame from a decoder or a filter graph.
pub(crate) enum NextFrame {
    /// A frame was received.
    Frame,
    /// Another frame or packet has to be sent first.
    NeedsInput,
    /// There are no more frames.
    End,
}

impl NextFrame {
    pub(crate) fn new(result: Result<(), ffmpeg_next::Error>) -> Result<NextFrame, AvError> {
        match result.map_err(AvError::from) {
            Ok(()) => Ok(NextFrame::Frame),
            Err(AvError::AGAIN) => Ok(NextFrame::NeedsInput),
            Err(AvError::EOF) => Ok(NextFrame::End),
            Err(error) => Err(error),
        }
    }
}

impl Decoder {
    /// Opens a decoder for a stream. `threads` 0 means as many as the machine has.
    pub(crate) fn open(stream: &sys::AVStream, codec: Codec, threads: usize) -> Result<Decoder, AvError> {
        let mut decoder = raw::decoder(stream, codec)?;
        let log = Log::here();
        let before = log.decoder_errors();
        let context = decoder.av_mut();
        // SAFETY: the log outlives the context. The contexts of its threads are copies.
        unsafe { log.adopt(context) };
        context.thread_count = i32::try_from(threads).unwrap_or(0).min(64);
        context.thread_type = match codec.id() {
            // One frame at a time, so that messages can be assigned to frames: see `decoder_messages`.
            Id::FFV1 => sys::FF_THREAD_SLICE,
            _ => sys::FF_THREAD_FRAME | sys::FF_THREAD_SLICE,
        };
        // Without this, libav rounds a crop from the left down to what its own filters need.
        context.flags |= sys::AV_CODEC_FLAG_UNALIGNED as i32;
        // A damaged header must not cause an allocation larger than any picture needs.
        context.max_pixels = MAX_PIXELS;
        Ok(Decoder { opened: decoder.open_as(codec)?, log, before })
    }

    /// Sends a packet, or `None` at the end.
    pub(crate) fn send(&mut self, packet: Option<&Packet>) -> Result<(), AvError> {
        let sent = match packet {
            Some(packet) => self.opened.send_packet(packet),
            None => self.opened.send_eof(),
        };
        Ok(sent?)
    }

    /// Receives a frame.
    pub(crate) fn receive(&mut self, into: &mut frame::Video) -> Result<NextFrame, AvError> {
        NextFrame::new(self.opened.receive_frame(into))
    }

    /// The messages about the last frame, for a codec that reports damage only by messages: FFV1 verifies checksums
    /// and returns a frame patched from the one before, without a mark.
    pub(crate) fn decoder_messages(&self) -> Vec<String> {
        match self.opened.id() {
            Id::FFV1 => self.log.drain_decoders(),
            _ => Vec::new(),
        }
    }

    /// The number of errors that it has reported, on any of its threads.
    pub(crate) fn errors(&self) -> u32 {
        self.log.decoder_errors().wrapping_sub(self.before)
    }

    /// Drops all data that were sent, before reading continues elsewhere.
    pub(crate) fn flush(&mut self) {
        self.opened.flush();
    }
}
