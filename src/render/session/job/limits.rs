//! Numbers of frames, threads and frames in progress.

use super::error::{LAST_NUMBER, NoFrame, RequestError};
use super::{JobError, Request};
use grainfield_filters::chain::Chain;
use grainfield_filters::frame::Ranges;
use grainfield_io::sink::{Files, Output};
use grainfield_io::source::Info;

/// The default limit on memory in bytes.
pub const DEFAULT_MEMORY: u64 = 2 << 30;

/// `frames`: the requested ones, by the user's numbers.
pub(crate) fn check_numbers(request: &Request, frames: Option<&Ranges>, info: &Info) -> Result<(), JobError> {
    let offset = request.frame_offset;
    let inside = |n: i64| n.unsigned_abs() <= LAST_NUMBER as u64;
    let numbers = [Some(offset), Some(info.first), info.last];
    let sums = [info.first.checked_add(offset), info.last.map_or(Some(0), |l| l.checked_add(offset))];
    if numbers.into_iter().flatten().any(|n| !inside(n)) || sums.iter().any(|n| n.is_none_or(|n| !inside(n)))
    {
        return Err(RequestError::FrameOffset(offset).into());
    }
    let Some(ranges) = frames else { return Ok(()) };
    let last = info.last.map(|last| last + offset);
    let within = last.map_or_else(|| ranges.clone(), |last| ranges.bounded(last));
    let (Some(min), Some(max)) = (within.min(), within.max()) else {
        let number = ranges.min().unwrap_or_default();
        return Err(RequestError::from(NoFrame::new(info, number, offset)).into());
    };
    let before = Some(min).filter(|min| *min < info.first + offset);
    let outside = before.or(Some(max).filter(|max| last.is_some_and(|last| *max > last)));
    match outside {
        Some(number) => Err(RequestError::from(NoFrame::new(info, number, offset)).into()),
        None => Ok(()),
    }
}

/// The number of threads.
pub(crate) fn threads(request: &Request) -> Result<usize, JobError> {
    match request.threads {
        Some(0) => Err(RequestError::NoThreads.into()),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from).min(64)),
    }
}

/// The number of frames in progress; source and sink need `endpoint_bytes` more bytes for each.
pub(super) fn slots(
    request: &Request,
    threads: usize,
    output: &Output,
    chain: &Chain,
    total: Option<u64>,
    endpoint_bytes: usize,
) -> Result<usize, JobError> {
    let need = chain.memory();
    // The source's frame, the chain's, and the encoder's data.
    let per_slot =
        chain.input().frame_bytes() + need.per_frame + chain.output().frame_bytes() + endpoint_bytes;
    let budget = request.memory.unwrap_or(DEFAULT_MEMORY);
    let room = budget.saturating_sub(need.fixed as u64) / (per_slot as u64).max(1);
    if room == 0 && request.memory.is_some() {
        return Err(RequestError::Memory(need.fixed + per_slot).into());
    }
    let max_slots = room.max(1).min(total.unwrap_or(u64::MAX).max(1));
    // A thread that waits for the disk leaves a core idle, so use one more frame.
    let files = matches!(output.files(), Files::Many(_));
    let wanted = threads + usize::from(files && threads > 1);
    Ok(wanted.min(usize::try_from(max_slots).unwrap_or(usize::MAX)).max(1))
}
