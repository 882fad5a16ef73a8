//! Tags and chapters.

use super::language::language_in;
use super::span::Span;
use crate::libav::container::{Container, ContainerFamily};
use crate::libav::dict::{Tag, Tagged};
use crate::libav::error::{AvError, check};
use crate::libav::input::Input;
use crate::libav::raw::stream_mut;
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString};
use std::mem::size_of;

/// The tags of the whole input, except for those about the old file.
pub(crate) fn tags(input: &Input) -> Vec<Tag> {
    const OLD: [&str; 6] =
        ["major_brand", "minor_version", "compatible_brands", "encoder", "DURATION", "iTunSMPB"];
    let mut tags = input.context().tags();
    tags.retain(|tag| !OLD.iter().any(|old| old.eq_ignore_ascii_case(&tag.0)));
    // libav repeats tags of mp4 with their language after the name
    let all = tags.clone();
    tags.retain(|(name, value)| {
        let repeated = |other: &Tag| {
            let language = name.strip_prefix(&other.0).and_then(|rest| rest.strip_prefix('-'));
            other.1 == *value && language.is_some_and(|language| language.len() == 3)
        };
        !all.iter().any(repeated)
    });
    tags
}

/// Copies the tags of a copied stream.
pub(super) fn stream_tags(from: &sys::AVStream, to: &mut sys::AVStream, container: Container, cut: bool) {
    copy_tags(from, to, container, |key| cut && is_statistic(key));
}

/// Copies a stream's tags except for old ones, with the language in the code of the container.
fn copy_tags(from: &sys::AVStream, to: &mut sys::AVStream, container: Container, old: impl Fn(&str) -> bool) {
    let mut tags = from.tags();
    tags.retain(|tag| !old(&tag.0));
    for tag in tags.iter_mut().filter(|tag| tag.0.eq_ignore_ascii_case("language")) {
        tag.1 = language_in(container, &tag.1).unwrap_or(&tag.1).to_owned();
    }
    to.add_tags(tags);
}

/// Copies the tags of the filtered stream, except for those about the old encoding.
pub(crate) fn video_tags(from: &sys::AVStream, to: &mut sys::AVStream, container: Container) {
    // in QuickTime and related containers the rotation is a matrix; the tag only repeats it
    let matrix = matches!(container.family(), ContainerFamily::Mp4 | ContainerFamily::Mov);
    let old = |key: &str| is_statistic(key) || key == "encoder" || (matrix && key == "rotate");
    copy_tags(from, to, container, old);
}

pub(crate) use crate::media::TIMECODE;

impl Input {
    /// The time codes of its first picture, from all tags that contain one.
    pub(crate) fn timecodes(&self) -> Vec<String> {
        let of_streams = self.streams().iter().flat_map(|stream| stream.tags());
        let tags = of_streams.chain(self.context().tags());
        tags.filter(|tag| tag.0.eq_ignore_ascii_case(TIMECODE)).map(|tag| tag.1).collect()
    }
}

/// The time code `frames` frames after `first`; `None` if `first` is invalid, also at this rate (drop frame at a rate that
/// needs none).
pub(crate) fn timecode_after(first: &str, rate: sys::AVRational, frames: i32) -> Option<String> {
    let first = CString::new(first).ok()?;
    // SAFETY: a plain structure that libav fills; it writes a string no longer than the specified buffer.
    unsafe {
        let mut timecode: sys::AVTimecode = std::mem::zeroed();
        let read =
            sys::av_timecode_init_from_string(&mut timecode, rate, first.as_ptr(), std::ptr::null_mut());
        let mut buffer = [0; sys::AV_TIMECODE_STR_SIZE as usize];
        check(read).ok()?;
        sys::av_timecode_make_string(&timecode, buffer.as_mut_ptr(), frames);
        Some(CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned())
    }
}

/// Advances all time codes of an output by a number of frames, before its header is written.
pub(crate) fn move_timecodes(output: &mut sys::AVFormatContext, rate: sys::AVRational, frames: i32) {
    let moved = |tags: Vec<Tag>| {
        let codes = tags.into_iter().filter(|tag| tag.0.eq_ignore_ascii_case(TIMECODE));
        let moved = codes.filter_map(|(key, code)| Some((key, timecode_after(&code, rate, frames)?)));
        moved.collect::<Vec<_>>()
    };
    output.add_tags(moved(output.tags()));
    for i in 0..output.nb_streams as usize {
        if let Some(stream) = stream_mut(output, i) {
            stream.add_tags(moved(stream.tags()));
        }
    }
}

/// Whether it is one of mkvmerge's tags about a stream's size and duration.
pub(super) fn is_statistic(key: &str) -> bool {
    let is_or_begins =
        |name: &str| key == name || key.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    key.starts_with("_STATISTICS_")
        || ["BPS", "DURATION", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES"].iter().any(|&name| is_or_begins(name))
}

/// Adds the input's chapters, cut to the span and shifted with it.
pub(crate) fn add_chapters(
    input: &Input,
    span: &Span,
    output: &mut sys::AVFormatContext,
) -> Result<(), AvError> {
    for from in input.chapters() {
        let base = from.time_base;
        let (mut start, mut end) = (from.start, from.end);
        if let Some(first) = span.first_in(base) {
            if end <= first {
                continue;
            }
            start = start.max(first);
        }
        if let Some(last) = span.end_in(base) {
            if start >= last {
                continue;
            }
            end = end.min(last);
        }
        (start, end) = (span.output_time(start, base), span.output_time(end, base));
        if start >= end && from.start < from.end {
            continue;
        }
        let chapter = add_chapter(output)?;
        (chapter.id, chapter.time_base) = (from.id, base);
        (chapter.start, chapter.end) = (start, end);
        chapter.add_tags(from.tags());
    }
    Ok(())
}

/// Adds a blank chapter. The wrapper's function takes chapters of the same number for one.
fn add_chapter(output: &mut sys::AVFormatContext) -> Result<&mut sys::AVChapter, AvError> {
    let count = output.nb_chapters as usize;
    // SAFETY: the list and the chapter come from libav's allocator, as the context that frees them requires.
    unsafe {
        let each = size_of::<*mut sys::AVChapter>();
        let list = sys::av_realloc_array(output.chapters.cast(), count + 1, each);
        if list.is_null() {
            return Err(AvError::MEMORY);
        }
        output.chapters = list.cast();
        let chapter = sys::av_mallocz(size_of::<sys::AVChapter>()).cast::<sys::AVChapter>();
        *output.chapters.add(count) = chapter;
        output.nb_chapters += u32::from(!chapter.is_null());
        chapter.as_mut().ok_or(AvError::MEMORY)
    }
}
