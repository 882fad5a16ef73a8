//! Numbers of frames, threads and frames in progress.

use super::{JobError, Request};
use grainfield_filters::chain::Chain;
use grainfield_io::sink::{Files, Output};
use grainfield_io::source::Info;

/// Frame numbers stay below 2^53, so that curves can use them as `f64` and fields can double them.
pub const LAST_NUMBER: i64 = 1 << 53;

/// The default of `--memory`.
pub const DEFAULT_MEMORY: u64 = 2 << 30;

pub(crate) fn check_numbers(request: &Request, info: &Info) -> Result<(), JobError> {
    let offset = request.frame_offset;
    let inside = |n: i64| n.unsigned_abs() <= LAST_NUMBER as u64;
    let numbers = [Some(offset), Some(info.first), info.last];
    let sums = [info.first.checked_add(offset), info.last.map_or(Some(0), |l| l.checked_add(offset))];
    if numbers.into_iter().flatten().any(|n| !inside(n)) || sums.iter().any(|n| n.is_none_or(|n| !inside(n)))
    {
        return Err(JobError::Usage(format!(
            "--frame-offset {offset}: frame numbers must stay within 2^53 ({LAST_NUMBER}) of zero"
        )));
    }
    let Some(ranges) = &request.frames else { return Ok(()) };
    let ranges = info.last.map_or_else(|| ranges.clone(), |last| ranges.bounded(last + offset));
    let (Some(min), Some(max)) = (ranges.min(), ranges.max()) else {
        return Err(JobError::Usage(format!("--frames: {} has none of these frames", info.name)));
    };
    let first = info.first + offset;
    if min < first {
        return Err(JobError::Usage(format!(
            "frame {min} was requested, but {} starts at {first}",
            info.name
        )));
    }
    if let Some(last) = info.last.map(|l| l + offset)
        && max > last
    {
        return Err(JobError::Usage(format!("frame {max} was requested, but {} ends at {last}", info.name)));
    }
    Ok(())
}

/// The number of threads.
pub(crate) fn threads(request: &Request) -> Result<usize, JobError> {
    match request.threads {
        Some(0) => Err(JobError::Usage("--threads: at least one thread is needed".into())),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from).min(64)),
    }
}

/// The number of frames in progress; source and sink need `of_ends` more bytes for each.
pub(super) fn slots(
    request: &Request,
    threads: usize,
    output: &Output,
    chain: &Chain,
    total: Option<u64>,
    of_ends: usize,
) -> Result<usize, JobError> {
    let need = chain.memory();
    // The source's frame, the chain's, and the encoder's data.
    let per_slot = chain.input().frame_bytes() + need.per_frame + chain.output().frame_bytes() + of_ends;
    let budget = request.memory.unwrap_or(DEFAULT_MEMORY);
    let room = budget.saturating_sub(need.fixed as u64) / (per_slot as u64).max(1);
    if room == 0 && request.memory.is_some() {
        return Err(JobError::Usage(format!(
            "--memory: one frame needs {} MB",
            (need.fixed + per_slot).div_ceil(1_000_000)
        )));
    }
    let most = room.max(1).min(total.unwrap_or(u64::MAX).max(1));
    // A thread that waits for the disk leaves a core idle, so use one more frame.
    let files = matches!(output.files(), Files::Many(_));
    let wanted = threads + usize::from(files && threads > 1);
    Ok(wanted.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1))
}
