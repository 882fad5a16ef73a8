//! Copies what is not filtered: sound, subtitles, attachments, data, further pictures, chapters and tags. The input is
//! opened a second time, and its packets are interleaved with those of the filtered picture in order of time.

mod audio;
mod extent;
mod language;
mod packets;
mod pcm;
mod route;
mod span;
mod subtitles;
mod tags;

pub(crate) use extent::{AudioExtent, measure_extents};
pub(crate) use packets::{StreamCopier, container_accepts};
pub(crate) use route::{Planned, plan};
pub(crate) use span::{CutTimes, Span};
pub(crate) use tags::{TIMECODE, add_chapters, move_timecodes, tags, timecode_after, video_tags};
