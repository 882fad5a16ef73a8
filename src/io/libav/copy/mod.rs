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
pub(crate) use tags::{
    add_chapters, container_tags, move_timecodes, set_timecode, tags, timecode_after, video_tags,
};

use crate::libav::error::{AvError, check};
use crate::libav::input_url::confine;
use crate::libav::interrupt::Interrupt;
use crate::libav::owned::NO_MEMORY;
use crate::libav::side_data::SourceFile;
use crate::libav::sink::handles::{Dict, entries};
use ffmpeg_sys_next as sys;
use std::ptr;
use tags::TIMECODE;

/// The input, opened again.
pub(crate) struct Input {
    pub(crate) context: *mut sys::AVFormatContext,
    /// The context calls it; freed after the context.
    pub(crate) interrupt: Interrupt,
}

// SAFETY: owned by one thread at a time.
unsafe impl Send for Input {}

impl Input {
    /// Opens it like the source; `None` for a pipe.
    pub(crate) fn open(container: &SourceFile) -> Result<Option<Input>, AvError> {
        let Some(url) = &container.url else { return Ok(None) };
        let mut options = Dict::new();
        options.set("protocol_whitelist", &container.protocols.to_string_lossy());
        // SAFETY: strings live through the calls; on failure libav frees the context and leaves null.
        let input = unsafe {
            let context = sys::avformat_alloc_context();
            if context.is_null() {
                return Err(NO_MEMORY);
            }
            confine(context);
            let mut input = Input { context, interrupt: Interrupt::watch(&container.stop, context) };
            check(sys::avformat_open_input(
                &mut input.context,
                url.as_ptr(),
                ptr::null_mut(),
                &mut options.0,
            ))?;
            check(sys::avformat_find_stream_info(input.context, ptr::null_mut()))?;
            input
        };
        Ok(Some(input))
    }

    /// Its streams.
    pub(crate) fn streams(&self) -> &[*mut sys::AVStream] {
        // SAFETY: our own context; libav says how many there are.
        unsafe { std::slice::from_raw_parts((*self.context).streams, (*self.context).nb_streams as usize) }
    }

    /// The time codes of its first picture, from all tags that contain one.
    pub(crate) fn timecodes(&self) -> Vec<String> {
        // SAFETY: streams live as long as the context.
        let of_streams = self.streams().iter().map(|s| unsafe { (**s).metadata });
        // SAFETY: an open context.
        let all = of_streams.chain([unsafe { (*self.context).metadata }]);
        // SAFETY: dictionaries of the open input.
        let tags = all.flat_map(|tags| unsafe { entries(tags) });
        tags.filter(|tag| tag.0.eq_ignore_ascii_case(TIMECODE)).map(|tag| tag.1).collect()
    }

    /// A stream.
    pub(crate) fn stream(&self, index: usize) -> Option<&sys::AVStream> {
        // SAFETY: streams live as long as the context.
        self.streams().get(index).and_then(|s| unsafe { s.as_ref() })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // SAFETY: owned here and closed once; null is allowed.
        unsafe { sys::avformat_close_input(&mut self.context) }
    }
}
