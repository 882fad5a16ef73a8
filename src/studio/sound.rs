//! The sound of a clip, for playback: the browser plays the clip's own file if it can.

use super::error_response::{ErrorResponse, Path};
use super::fault::Fault;
use super::state::{Answer, Shared, spawn_cancellable};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use grainfield_io::disk::reach;
use grainfield_io::source::{Info, VIDEO};
use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};

/// The size of an answer in bytes.
const PART: u64 = 8 << 20;
/// The largest file whose sound is played, in bytes: the browser holds it in memory.
const MAX: u64 = 1 << 30;

/// The size of the file with the sound; `None` if there is no file that a browser might play.
pub(super) fn bytes(info: &Info, input: &OsStr) -> Option<u64> {
    let meta = std::fs::metadata(input).ok().filter(|m| info.kind == VIDEO && m.is_file())?;
    (meta.len() <= MAX).then_some(meta.len())
}

/// A part of the file by its index; the last part is shorter.
pub(super) async fn part(State(studio): Shared, Path((clip, part)): Path<(u32, u64)>) -> Answer {
    let bytes = spawn_cancellable(&studio, move |studio, _| {
        let gone = || ErrorResponse::gone("the clip is no longer open");
        let path = studio.clips.opening(clip).ok_or_else(gone)?.input;
        bytes(studio.clip(clip)?.info(), &path)
            .ok_or_else(|| Fault::new("this clip has no sound that a browser plays"))?;
        let mut file = reach::open(path.as_ref()).map_err(Fault::new)?;
        file.seek(SeekFrom::Start(part.saturating_mul(PART).min(MAX))).map_err(Fault::new)?;
        let mut bytes = Vec::new();
        file.take(PART).read_to_end(&mut bytes).map_err(Fault::new)?;
        Ok(bytes)
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?).into_response())
}
