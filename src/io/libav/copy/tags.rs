//! Tags and chapters.

use super::language::language_in;
use super::{Input, Span};
use crate::libav::error::{AvError, check};
use crate::libav::sink::container::{Container, ContainerFamily};
use crate::libav::sink::handles::{Dict, entries};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString};
use std::mem::size_of;

/// Copies the tags of the whole input, except for those about the old file.
///
/// # Safety
/// The output must be valid.
pub(crate) unsafe fn container_tags(input: &Input, output: *mut sys::AVFormatContext) {
    // SAFETY: guaranteed by the caller; the dictionary is replaced as a whole.
    unsafe { replace(&mut (*output).metadata, tags(input).into_iter()) };
}

/// The tags of the whole input, except for those about the old file.
pub(crate) fn tags(input: &Input) -> Vec<(String, String)> {
    const OLD: [&str; 6] =
        ["major_brand", "minor_version", "compatible_brands", "encoder", "DURATION", "iTunSMPB"];
    // SAFETY: an open context.
    let mut tags = unsafe { entries((*input.context).metadata) };
    tags.retain(|tag| !OLD.iter().any(|old| old.eq_ignore_ascii_case(&tag.0)));
    // libav repeats tags of mp4 with their language after the name
    let all = tags.clone();
    tags.retain(|(name, value)| {
        let repeated = |other: &(String, String)| {
            let language = name.strip_prefix(&other.0).and_then(|rest| rest.strip_prefix('-'));
            other.1 == *value && language.is_some_and(|language| language.len() == 3)
        };
        !all.iter().any(repeated)
    });
    tags
}

/// Sets the time code of the first picture as a tag of the whole output.
///
/// # Safety
/// The output must be valid.
pub(crate) unsafe fn set_timecode(output: *mut sys::AVFormatContext, code: &str) {
    // SAFETY: guaranteed by the caller; the dictionary is replaced as a whole.
    unsafe {
        let all = entries((*output).metadata).into_iter();
        replace(&mut (*output).metadata, all.chain([(TIMECODE.into(), code.into())]));
    }
}

/// Copies the tags of a copied stream.
///
/// # Safety
/// Both streams must be valid.
pub(crate) unsafe fn stream_tags(
    from: &sys::AVStream,
    to: &mut sys::AVStream,
    container: Container,
    cut: bool,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_tags(from, to, container, |key| cut && is_statistic(key)) }
}

/// Copies a stream's tags except for old ones, with the language in the code of the container.
///
/// # Safety
/// Both streams must be valid.
unsafe fn copy_tags(
    from: &sys::AVStream,
    to: &mut sys::AVStream,
    container: Container,
    old: impl Fn(&str) -> bool,
) {
    // SAFETY: guaranteed by the caller.
    let mut tags = unsafe { entries(from.metadata) };
    tags.retain(|tag| !old(&tag.0));
    for tag in tags.iter_mut().filter(|tag| tag.0.eq_ignore_ascii_case("language")) {
        tag.1 = language_in(container, &tag.1).unwrap_or(&tag.1).to_owned();
    }
    // SAFETY: likewise.
    unsafe { replace(&mut to.metadata, tags.into_iter()) };
}

/// Copies the tags of the filtered stream, except for those about the old encoding.
///
/// # Safety
/// Both streams must be valid.
pub(crate) unsafe fn video_tags(from: &sys::AVStream, to: &mut sys::AVStream, container: Container) {
    // in QuickTime and related containers the rotation is a matrix; the tag only repeats it
    let matrix = matches!(container.family(), ContainerFamily::Mp4 | ContainerFamily::Mov);
    let old = |key: &str| is_statistic(key) || key == "encoder" || (matrix && key == "rotate");
    // SAFETY: guaranteed by the caller.
    unsafe { copy_tags(from, to, container, old) }
}

/// The tag with the time code of the first picture.
pub(super) const TIMECODE: &str = "timecode";

/// The time code so many frames after another; `None` if it is invalid, or not valid at such a rate (drop frame at a
/// rate that needs none).
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
///
/// # Safety
/// The context must be valid.
pub(crate) unsafe fn move_timecodes(output: *mut sys::AVFormatContext, rate: sys::AVRational, frames: i32) {
    // SAFETY: guaranteed by the caller; streams and dictionaries live as long as the context, and libav
    // copies the strings.
    unsafe {
        let mut all = vec![&raw mut (*output).metadata];
        for i in 0..(*output).nb_streams as usize {
            all.push(&raw mut (**(*output).streams.add(i)).metadata);
        }
        for dict in all {
            for (key, value) in entries(*dict).iter().filter(|tag| tag.0.eq_ignore_ascii_case(TIMECODE)) {
                let moved = timecode_after(value, rate, frames).and_then(|text| CString::new(text).ok());
                if let (Ok(key), Some(moved)) = (CString::new(key.as_str()), moved) {
                    sys::av_dict_set(dict, key.as_ptr(), moved.as_ptr(), 0);
                }
            }
        }
    }
}

/// Whether it is one of mkvmerge's tags about a stream's size and duration.
pub(super) fn is_statistic(key: &str) -> bool {
    let of = |name: &str| key == name || key.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    key.starts_with("_STATISTICS_")
        || ["BPS", "DURATION", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES"].iter().any(|&name| of(name))
}

/// # Safety
/// The dictionary must be null or valid, and owned by nobody else.
unsafe fn replace(dict: &mut *mut sys::AVDictionary, tags: impl Iterator<Item = (String, String)>) {
    let mut own = Dict(std::mem::replace(dict, std::ptr::null_mut()));
    tags.for_each(|(key, value)| own.set(&key, &value));
    *dict = std::mem::replace(&mut own.0, std::ptr::null_mut());
}

/// Adds the input's chapters, cut to the span and shifted with it.
///
/// # Safety
/// The output must be valid.
pub(crate) unsafe fn add_chapters(
    input: &Input,
    span: &Span,
    output: *mut sys::AVFormatContext,
) -> Result<(), AvError> {
    // SAFETY: guaranteed by the caller; the list and its chapters come from libav's allocator, as the context that
    // frees them requires, and are counted only when they are complete.
    unsafe {
        let count = (*input.context).nb_chapters as usize;
        for i in 0..count {
            let from = &**(*input.context).chapters.add(i);
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
            let shift = span.shift_in(base);
            let chapter = sys::av_mallocz(size_of::<sys::AVChapter>()).cast::<sys::AVChapter>();
            let list = sys::av_realloc_array(
                (*output).chapters.cast(),
                (*output).nb_chapters as usize + 1,
                size_of::<*mut sys::AVChapter>(),
            );
            if chapter.is_null() || list.is_null() {
                sys::av_free(chapter.cast());
                return Err(AvError(-libc::ENOMEM));
            }
            (*output).chapters = list.cast();
            (*chapter).id = from.id;
            (*chapter).time_base = base;
            (*chapter).start = start.saturating_sub(shift);
            (*chapter).end = end.saturating_sub(shift);
            replace(&mut (*chapter).metadata, entries(from.metadata).into_iter());
            *(*output).chapters.add((*output).nb_chapters as usize) = chapter;
            (*output).nb_chapters += 1;
        }
    }
    Ok(())
}
