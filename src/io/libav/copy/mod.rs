//! Copies what is not filtered: sound, subtitles, attachments, data, further pictures, chapters and tags. The input is
//! opened a second time, and its packets are interleaved with those of the filtered picture in order of time.

mod audio;
mod extent;
mod language;
mod packets;
mod route;
mod subtitles;
mod tags;

pub(crate) use extent::{AudioExtent, measure_extents};
pub(crate) use packets::{Span, StreamCopier, fits};
pub(crate) use route::{Planned, plan};
pub(crate) use tags::{TIMECODE, add_chapters, move_timecodes, tags, timecode_after, video_tags};

use crate::libav::dict::{Dict, Tagged};
use crate::libav::error::{AvError, check};
use crate::libav::input_url::confine;
use crate::libav::interrupt::{Interrupt, StopFlag};
use crate::libav::raw::{Fields, streams};
use crate::libav::side_data::SourceFile;
use ffmpeg_next::{Packet, format};
use ffmpeg_sys_next as sys;
use std::ffi::CStr;
use std::ptr;

/// A container whose packets are read.
pub(crate) struct Input {
    context: format::context::Input,
    /// The context calls it; freed after the context.
    interrupt: Option<Interrupt>,
}

impl Input {
    /// Opens the source again; `None` for a pipe.
    pub(crate) fn open(source: &SourceFile) -> Result<Option<Input>, AvError> {
        let Some(url) = &source.url else { return Ok(None) };
        let options = [("protocol_whitelist", &*source.protocols.to_string_lossy())];
        Input::open_with(url, &options, Some(&source.stop)).map(Some)
    }

    /// Opens an address. With `stop`, its reads end after the stop request, and what it opens is confined.
    pub(crate) fn open_with(
        url: &CStr,
        options: &[(&str, &str)],
        stop: Option<&StopFlag>,
    ) -> Result<Input, AvError> {
        let mut own = Dict::new();
        options.iter().for_each(|(key, value)| own.set(key, value));
        // SAFETY: strings live through the calls; on failure libav frees the context. The wrapper opens only names that
        // are UTF-8, and nothing can be set before.
        unsafe {
            let mut context = sys::avformat_alloc_context();
            if context.is_null() {
                return Err(AvError::MEMORY);
            }
            let interrupt = stop.map(|stop| {
                confine(context);
                Interrupt::watch(stop, context)
            });
            check(sys::avformat_open_input(&mut context, url.as_ptr(), ptr::null(), own.as_mut_ptr()))?;
            let mut input = Input { context: format::context::Input::wrap(context), interrupt };
            check(sys::avformat_find_stream_info(input.context.as_mut_ptr(), ptr::null_mut()))?;
            Ok(input)
        }
    }

    /// libav's context.
    pub(crate) fn context(&self) -> &sys::AVFormatContext {
        self.context.av()
    }

    /// Its streams.
    pub(crate) fn streams(&self) -> &[&sys::AVStream] {
        streams(self.context.av())
    }

    /// A stream.
    pub(crate) fn stream(&self, index: usize) -> Option<&sys::AVStream> {
        self.streams().get(index).copied()
    }

    /// Reads the next packet; `false` at the end.
    pub(crate) fn read(&mut self, packet: &mut Packet) -> Result<bool, AvError> {
        *packet = Packet::empty();
        loop {
            self.interrupt.iter().for_each(Interrupt::renew);
            match packet.read(&mut self.context).map_err(AvError::from) {
                Ok(()) => return Ok(true),
                Err(AvError::AGAIN) => {}
                Err(AvError::EOF) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// The time codes of its first picture, from all tags that contain one.
    pub(crate) fn timecodes(&self) -> Vec<String> {
        let of_streams = self.streams().iter().flat_map(|stream| stream.tags());
        let tags = of_streams.chain(self.context().tags());
        tags.filter(|tag| tag.0.eq_ignore_ascii_case(TIMECODE)).map(|tag| tag.1).collect()
    }
}
