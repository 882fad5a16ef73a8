//! A job: everything a render needs, resolved and checked before the first frame.

mod endpoints;
mod external_files;
mod files;
mod preflight;
mod request;
mod select;

pub use endpoints::Endpoints;
pub(crate) use endpoints::{Collector, FirstFrames, NamedEndpoints};
pub use external_files::files_in_graph;
pub(crate) use files::{check as check_source_frames, load};
pub use files::{files_in_recipe, load_files};
pub use request::{Cache, Fields, OutputTransfer, Request, TransferChoice};

use crate::assets::DiskStateCache;
pub use crate::pipeline::{Event, Failure, FrameDone, Note, NoteCode, OnError, Summary};
use grainfield_io::disk::SameFile;
use grainfield_io::format::images::{Meta, lost_in_video};
use grainfield_io::format::null::Null;
use grainfield_io::journal::SourceEnds;
use grainfield_io::journal::resume::ResumeError;

use crate::pipeline::{self, ConstantRate, Setup};
use grainfield_filters::chain::{self, Chain, ChainError};
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{ColorRange, Depth, Family, Format, NameError, Parity, Ranges};
use grainfield_filters::host::{NoCache, StateCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::{Isa, Level};
use grainfield_io::sink::{self, Files, Output, SinkError};
use grainfield_io::source::{self, Info, Missing, Source, SourceError};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The reason why a job cannot start.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The request is invalid; changing it helps.
    #[error("{0}")]
    Usage(String),
    /// The input cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The output cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A file would be both read and written.
    #[error(transparent)]
    SameFile(#[from] SameFile),
    /// A filter rejects its settings, or a conversion is impossible.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The existing output is not the expected one.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// A setting's curve cannot be read from its file.
    #[error(transparent)]
    Attach(#[from] crate::assets::AttachError),
    /// An effect file or a film grain table cannot be read.
    #[error("{0}")]
    TextFile(#[from] crate::assets::TextFileError),
    /// `--pix-fmt` is not a pixel format.
    #[error("--pix-fmt: {0}")]
    PixFmt(#[from] NameError),
    /// A warning, with `--strict`.
    #[error("{0} (an error because of --strict)")]
    Strict(String),
}

impl JobError {
    /// Whether the user can fix the error by changing the command.
    pub fn is_usage(&self) -> bool {
        match self {
            JobError::Usage(_) | JobError::SameFile(_) | JobError::Chain(_) | JobError::PixFmt(_) => true,
            JobError::Source(e) => e.is_usage(),
            JobError::Sink(e) => e.is_usage(),
            JobError::Attach(e) => e.is_usage(),
            JobError::TextFile(e) => e.is_usage(),
            _ => false,
        }
    }
}

/// The reason why a job did not succeed, and what it has done.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct RunError {
    /// The error, or that the user has cancelled.
    #[source]
    pub failure: Box<Failure>,
    /// The path of the partial result.
    pub partial: Option<PathBuf>,
    /// The work done so far.
    pub summary: Summary,
}

/// A render that is ready to run: input opened, filters bound, output created under a temporary name. Dropping it
/// removes that.
pub struct Job {
    setup: Setup,
    stop: Arc<AtomicBool>,
    output: OsString,
    resumable: bool,
    /// The store of states, if there is one.
    jumps: Option<Arc<DiskStateCache>>,
    notes: Vec<Note>,
    total: Option<u64>,
    skipped: u64,
    rate: Ratio,
}

/// Frame numbers stay below 2^53, so that curves can use them as `f64` and fields can double them.
pub const LAST_NUMBER: i64 = 1 << 53;

/// The default of `--memory`.
pub const DEFAULT_MEMORY: u64 = 2 << 30;

impl Job {
    /// Opens, resolves and checks everything. The output has a temporary name.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn prepare(request: Request) -> Result<Job, JobError> {
        Job::reading(request, None, &mut NamedEndpoints)
    }

    /// The same from an open source, or between others.
    pub(super) fn reading(
        mut request: Request,
        opened: Option<Box<dyn Source>>,
        ends: &mut dyn Endpoints,
    ) -> Result<Job, JobError> {
        // Files that the caller has loaded are not read again.
        crate::assets::attach(&mut request.recipe)?;
        files::check(&request)?;
        request.check_files()?;
        let (input_file, mut output_file) = (request.read(), request.written()?);
        let cache = request.cache.open();
        let options = request.source_options(cache.clone());
        let opened = opened.map_or_else(|| input_file.open(&options), Ok)?;
        let mut source = ends.source(opened, &mut request.frames)?;
        let mut info = source.info().clone();
        if request.shard.is_some() && info.last.is_none() {
            info.last = select::last(&request, &input_file, &options)?;
        }
        let mut notes = Vec::new();
        let mut say =
            |code: NoteCode, texts: &[String]| notes.extend(texts.iter().map(|text| code.note(text)));
        say(NoteCode::Input, &info.notes);
        say(NoteCode::Input, &unused(&request, &info));
        check_numbers(&request, &info)?;

        let input = request.seen(&info.format);
        load::<JobError>(&mut request, &info, &mut |number| {
            let mut source = input_file.open(&options)?;
            source.seek(number)?;
            let mut slot = source::Slot::default();
            let Some(stamp) = source.next(&mut slot)?.filter(|s| s.number == number) else { return Ok(None) };
            source.decoder().decode(&stamp, &mut slot)?;
            slot.frame.retag(input);
            Ok(Some(slot.frame))
        })?;
        let options = chain_options(&request, &info, &input)?;
        let mut natural = input;
        let chain = Chain::bind::<JobError>(&request.recipe.steps, input, &options, |native| {
            natural = *native;
            target(&request, &output_file, native)
        })?;
        say(NoteCode::Filters, chain.notes());
        let mut lost = losses(&natural, chain.output(), request.pix_fmt.is_some());
        if ends.drops_metadata(&output_file) {
            lost.extend(left_behind(&info));
        }
        let frames = match (request.frames.clone(), options.last) {
            (Some(ranges), Some(last)) => Some(ranges.bounded(last)),
            (ranges, _) => ranges,
        };
        let total = match &frames {
            Some(ranges) if ranges.is_unbounded() => None,
            Some(ranges) => Some(ranges.count()),
            None if request.missing == Missing::Skip => None,
            None => info.last.map(|last| last.abs_diff(info.first) + 1),
        };
        let first = info.first + request.frame_offset;
        let since = frames.as_ref().and_then(Ranges::min).map_or(0, |n| n.saturating_sub(first));
        let source_ends = source_ends(frames.as_ref(), first, options.last);
        let given = select::SelectionInput {
            request: &request,
            input: &input_file,
            output: &output_file,
            source: &*source,
            info: &info,
            chain: &chain,
            frames,
            ends: source_ends,
        };
        let selected = select::select(&given)?;
        let (given_files, wanted) = (source.files(), selected.wanted.as_ref());
        preflight::check_existing(&request, &output_file, &info, wanted, given_files.as_ref())?;
        if let Some(hole) = preflight::hole(&request, &info, wanted, given_files.as_ref()) {
            // the source has the best error message
            source.seek(hole)?;
            source.next(&mut source::Slot::default())?;
        }
        say(NoteCode::Kept, &selected.notes);
        let total = selected.total.or(total);
        let threads = threads(&request)?;
        let slots = slots(&request, threads, &output_file, &chain, total, ends.per_frame(chain.output()))?;
        let rate = chain.output().rate;
        let meta = info.carried.as_ref().and_then(|c| c.downcast_ref::<Meta>());
        let plan = sink::Plan {
            format: *chain.output(),
            carried: info.carried.clone(),
            untouched_format: chain.output() == &info.format,
            overwrite: request.overwrite,
            frames: total,
            ends: source_ends,
            encoding: sink::Encoding {
                repeatable: selected.journal.segments.is_some(),
                ..request.encoding.clone()
            },
            journal: selected.journal,
            lost_in_video: meta.map(lost_in_video).unwrap_or_default(),
            timecode: meta.and_then(|m| Some((m.timecode.clone()?, since))),
        };
        if let Some(shard) = request.shard {
            output_file = output_file.sharded(shard);
        }
        let output = output_file.name().to_owned();
        let journal = &plan.journal;
        let manifest_files =
            journal.manifest_files.as_ref().or(journal.segments.as_ref().map(|grid| &grid.manifest_files));
        let resumable = manifest_files.is_some_and(|m| m.source_ids().is_known());
        // before anything is created that would have to be removed again
        strict(&request, &lost)?;
        let sink = if selected.done { Box::new(Null) } else { ends.sink(&output_file, &plan)? };
        say(NoteCode::Output, &sink.notes());
        lost.extend(sink.warnings().into_iter().map(|text| NoteCode::NotHeld.note(text)));
        strict(&request, &lost)?;
        notes.extend(lost);
        let to_end = request.frames.as_ref().is_none_or(Ranges::is_unbounded);
        let wanted = selected.wanted;
        let plan = pipeline::Plan { source, wanted, offset: request.frame_offset, total, to_end };
        let (chain, jumps) = (Arc::new(chain), cache.map(|cache| Arc::new(DiskStateCache::new(cache))));
        let store: Arc<dyn StateCache + Send + Sync> = match &jumps {
            Some(jumps) => Arc::clone(jumps) as _,
            None => Arc::new(NoCache),
        };
        let steady = info.kind == source::VIDEO && !info.variable_rate && !sink.keeps_times();
        let constant_rate = steady.then_some(ConstantRate {
            rate: info.format.rate,
            first: info.first,
            strict: request.strict,
        });
        let setup = Setup {
            plan,
            chain,
            sink,
            slots,
            threads,
            on_error: request.on_error,
            store,
            constant_rate,
            abort: request.abort,
            patience: pipeline::PATIENCE,
        };
        Ok(Job {
            setup,
            stop: request.stop,
            jumps,
            output,
            resumable,
            notes,
            total,
            skipped: selected.skipped,
            rate,
        })
    }

    /// Notes for the user before the first frame: assumptions and conversions, then losses.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The name of the output, or that of its shard.
    pub fn output(&self) -> &OsStr {
        &self.output
    }

    /// Whether a later render can continue from the existing files after an interruption.
    pub fn is_resumable(&self) -> bool {
        self.resumable
    }

    /// The number of frames, if it is known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// The stop flag of its request.
    pub(super) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The frame rate of the output.
    pub fn rate(&self) -> Ratio {
        self.rate
    }

    /// Runs to the end, an error, or `stop`, and reports events on the calling thread.
    ///
    /// # Errors
    /// [`RunError`], with the partial result.
    pub fn run(self, tell: &dyn Fn(Event), stop: &Arc<AtomicBool>) -> Result<Summary, RunError> {
        let pipeline::Outcome { summary, failure, partial } = pipeline::run(self.setup, tell, stop);
        let summary = Summary { skipped: self.skipped, ..summary };
        if let Some(trouble) = self.jumps.as_ref().and_then(|j| j.take_failure()) {
            tell(Event::Note(NoteCode::Cache.note(format!(
                "some states could not be stored in the cache, so seeking may be slow: {trouble}"
            ))));
        }
        match failure {
            None => Ok(summary),
            Some(failure) => Err(RunError { failure: Box::new(failure), partial, summary }),
        }
    }
}

fn strict(request: &Request, lost: &[Note]) -> Result<(), JobError> {
    match lost.first() {
        Some(first) if request.strict => Err(JobError::Strict(first.text.clone())),
        _ => Ok(()),
    }
}

fn source_ends(frames: Option<&Ranges>, first: i64, last: Option<i64>) -> SourceEnds {
    let Some(frames) = frames else { return SourceEnds::BOTH };
    let to_end = frames.is_unbounded() || last.is_some_and(|last| frames.max() == Some(last));
    SourceEnds { first: frames.min() == Some(first), last: to_end }
}

/// The properties of an input, reading no more of it than necessary.
///
/// # Errors
/// [`SourceError`] if the input cannot be opened.
pub fn probe(input: &OsStr, options: &source::Options) -> Result<Info, SourceError> {
    source::open(input, options).map(|source| source.info().clone())
}

/// The options of a chain for an input.
pub(crate) fn chain_options(
    request: &Request,
    info: &Info,
    input: &Format,
) -> Result<chain::Options, JobError> {
    Ok(chain::Options {
        seed: request.recipe.seed.unwrap_or(0),
        level: level(request.level)?,
        last: info.last.map(|n| n + request.frame_offset),
        fields: fields(request.fields, input),
    })
}

fn level(wanted: Option<Isa>) -> Result<Level, JobError> {
    let best = Level::best();
    let Some(isa) = wanted else { return Ok(best) };
    Level::of(isa)
        .ok_or_else(|| JobError::Usage(format!("--level {isa}: this machine supports at most {best}")))
}

fn fields(wanted: Fields, input: &Format) -> chain::Fields {
    match (wanted, chain::Fields::of(input.fields)) {
        (Fields::Frame, _) => chain::Fields::Frame,
        (Fields::Field, chain::Fields::Frame) => chain::Fields::First(Parity::Top),
        (_, fields) => fields,
    }
}

/// The output format for the filters' result, with the user's transfer.
///
/// # Errors
/// [`JobError`] if the output cannot hold the samples.
pub fn target(request: &Request, output: &Output, native: &Format) -> Result<Format, JobError> {
    let format = samples(request, output, native)?;
    Ok(match request.transfer.output {
        OutputTransfer::Auto => format,
        OutputTransfer::Passthrough => Format { transfer: native.transfer, ..format },
        OutputTransfer::As(transfer) => Format { transfer, ..format },
    })
}

fn samples(request: &Request, output: &Output, native: &Format) -> Result<Format, JobError> {
    let Some(name) = &request.pix_fmt else {
        return Ok(output.accepts(native, &request.encoding)?);
    };
    let wanted = retarget(native, name)?;
    let accepted = output.accepts(&wanted, &request.encoding)?;
    if accepted.name() != wanted.name() {
        return Err(JobError::Usage(format!(
            "--pix-fmt {name}: {} cannot hold {}; the nearest it can is {}",
            request.output.to_string_lossy(),
            wanted.name(),
            accepted.name()
        )));
    }
    Ok(accepted)
}

/// Losses between two formats that the user has not chosen.
fn losses(from: &Format, to: &Format, is_chosen: bool) -> Vec<Note> {
    let mut list = Vec::new();
    let range = (from.range, to.range) == (ColorRange::Full, ColorRange::Limited);
    if range && from.family != Family::Rgb && to.family != Family::Rgb {
        list.push(
            NoteCode::RangeLost.note("full range becomes limited: the output cannot signal full range"),
        );
    }
    if is_chosen {
        return list;
    }
    if from.has_alpha() && !to.has_alpha() {
        list.push(NoteCode::AlphaLost.note(format!("alpha is lost: the output is {}", to.name())));
    }
    let shallower = match (from.depth, to.depth) {
        (Depth::Bits(a), Depth::Bits(b)) => b < a,
        (Depth::Float, Depth::Bits(_)) => true,
        (_, Depth::Float) => false,
    };
    if shallower {
        list.push(NoteCode::DepthLost.note(format!("depth is lost: {} becomes {}", from.name(), to.name())));
    }
    list
}

/// Options for inputs that have no effect on this input.
fn unused(request: &Request, info: &Info) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(rate) = request.rate.filter(|rate| *rate != info.format.rate) {
        let own = info.format.rate;
        notes.push(format!("{}: --rate {rate} is not used, because the input has the rate {own}", info.name));
    }
    if request.missing != Missing::Error && !info.kind.starts_with("image") {
        notes.push(format!(
            "{}: --missing is not used, because the input is not a sequence of images",
            info.name
        ));
    }
    notes
}

/// Properties of a video besides its pictures that affect how they are displayed.
fn left_behind(info: &Info) -> Vec<Note> {
    let mut list = Vec::new();
    if let Some((_, turn)) = info.details.iter().find(|d| d.0 == "rotation") {
        list.push(
            NoteCode::RotationLost
                .note(format!("rotation is lost ({turn}): the output stores pictures only")),
        );
    }
    if info.variable_rate {
        list.push(NoteCode::TimesLost.note(format!(
            "timestamps are lost: the frame rate of {} varies, but the output has the constant rate {}",
            info.name, info.format.rate
        )));
    }
    list
}

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

/// The number of frames in progress.
fn slots(
    request: &Request,
    threads: usize,
    output: &Output,
    chain: &Chain,
    total: Option<u64>,
    ends: usize,
) -> Result<usize, JobError> {
    let need = chain.memory();
    // The source's frame, the chain's, and the encoder's data.
    let per_slot = chain.input().frame_bytes() + need.per_frame + chain.output().frame_bytes() + ends;
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
