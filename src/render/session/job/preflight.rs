//! Checks for errors of later frames that can be found before the first one: existing files, and gaps in a
//! sequence.

use super::{JobError, OnError, Request};
use crate::pipeline::FrameList;
use grainfield_io::journal::resume::{FrameFiles, Resume};
use grainfield_io::sink::{Files, Output, SinkError};
use grainfield_io::source::{Info, Missing};

/// Returns an error if a file to be written exists and may not be replaced.
pub(super) fn check_existing(
    request: &Request,
    output: &Output,
    info: &Info,
    wanted: Option<&FrameList>,
    read: Option<&FrameFiles>,
) -> Result<(), JobError> {
    let Files::Many(pattern) = output.files() else { return Ok(()) };
    if request.overwrite || request.resume != Resume::No {
        return Ok(());
    }
    // the sink reports a folder that cannot be read
    let mut existing = pattern.scan().unwrap_or_default();
    let offset = request.frame_offset;
    // a number that is left out is not written
    let left_out = |n: i64| request.missing == Missing::Skip && read.is_some_and(|read| read(n).is_none());
    let inside = |n: i64| n >= info.first && info.last.is_none_or(|last| n <= last);
    existing.retain(|n| n.checked_sub(offset).is_some_and(|n| inside(n) && !left_out(n)));
    match wanted {
        Some(list) if list.is_all() => existing.retain(|n| list.numbers.contains(*n)),
        // search each number once: a shard must not scan the files of all others for each of them
        Some(list) if !existing.is_empty() => {
            let mut found: Vec<_> = list.iter().filter(|n| existing.binary_search(n).is_ok()).collect();
            found.sort_unstable();
            existing = found;
        }
        _ => {}
    }
    let Some(first) = existing.first() else { return Ok(()) };
    Err(SinkError::InTheWay { path: pattern.path(*first), more: existing.len() - 1 }.into())
}

/// The first requested frame, by the source's number, whose file is missing, if that ends the render.
pub(super) fn hole(
    request: &Request,
    info: &Info,
    wanted: Option<&FrameList>,
    read: Option<&FrameFiles>,
) -> Option<i64> {
    let read = read.filter(|_| request.missing == Missing::Error && request.on_error == OnError::Stop)?;
    let source_number = |n: i64| n - request.frame_offset;
    let mut numbers: Box<dyn Iterator<Item = i64>> = match wanted {
        None => Box::new(info.first..=info.last?),
        Some(list) => Box::new(list.iter().map(source_number)),
    };
    // there are finitely many files, so a gap is found soon in any range of numbers
    numbers.find(|n| read(*n).is_none())
}
