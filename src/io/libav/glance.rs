//! The size and duration of a video as its header says them, for listings.

use super::demux::{ByteSource, Demuxer, Purpose};
use super::details;
use super::input_url::input_url;
use super::log::Log;
use crate::media::Options;
use ffmpeg_sys_next as sys;
use std::ffi::OsStr;

/// Bytes that are read at most, apart from a buffer.
const MOST: i64 = 700 << 10;

/// Width and height as shown, and seconds of a file's video, without decoding; `None` if that is not known from its header.
pub fn glance(input: &OsStr, options: &Options) -> Option<(u32, u32, Option<f64>)> {
    let _log = Log::new().enter();
    let address = input_url(input, &options.allow_protocol, &options.stop).ok()?;
    let demuxer = Demuxer::open(ByteSource::Address(address), Purpose::Head(MOST)).ok()?;
    let p = demuxer.parameters();
    let (mut width, mut height) = (u32::try_from(p.width).ok()?, u32::try_from(p.height).ok()?);
    if details::turn(&demuxer).is_some_and(|filters| filters.starts_with("transpose")) {
        (width, height) = (height, width);
    }
    let ticks = demuxer.input.context().duration;
    let seconds = (ticks > 0).then(|| ticks as f64 / f64::from(sys::AV_TIME_BASE));
    (width > 0 && height > 0).then_some((width, height, seconds))
}
