//! A job: everything a render needs, resolved and checked before the first frame.

mod bind;
mod endpoints;
mod error;
mod external_files;
mod files;
mod limits;
mod losses;
mod opened;
mod preflight;
mod request;
mod select;

pub(crate) use bind::chain_options;
pub use bind::target;
pub use endpoints::Endpoints;
pub(crate) use endpoints::{Collector, FirstFrames, NamedEndpoints};
pub use error::{JobError, LAST_NUMBER, NoFrame, RequestError, RunError, SourceFrameError};
pub use external_files::files_in_graph;
pub(crate) use files::{check as check_source_frames, load};
pub use files::{files_in_recipe, load_files};
pub use limits::DEFAULT_MEMORY;
pub(crate) use limits::{check_numbers, threads};
pub use request::{Cache, Fields, OutputTransfer, Request, TransferChoice};

use crate::assets::DiskStateCache;
use crate::pipeline::{self, ConstantRate, Setup};
pub use crate::pipeline::{Event, Failure, FrameDone, Note, NoteCode, OnError, Summary};
use crate::session::Cancel;
use grainfield_filters::chain::Chain;
use grainfield_filters::frame::{Ranges, Timecode};
use grainfield_filters::host::{NoCache, StateCache};
use grainfield_filters::ratio::Ratio;
use grainfield_io::format::images::{Meta, lost_in_video};
use grainfield_io::format::null::Null;
use grainfield_io::journal::resume::Resume;
use grainfield_io::journal::{Cuts, JournalConfig};
use grainfield_io::sink::encoding::Pass;
use grainfield_io::sink::{self, Sink};
use grainfield_io::source::{self, Info};
use opened::{BoundRequest, Opened, RequestedFrames};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use tempfile::TempDir;

/// A render that is ready to run: input opened, filters bound, output created under a temporary name. Dropping it
/// removes that.
pub struct Job {
    setup: Setup,
    cancel: Cancel,
    output: OsString,
    resumable: bool,
    /// The first of two passes, and the folder of its measurements.
    first_pass: Option<(Box<Job>, TempDir)>,
    /// The store of states, if there is one.
    states: Option<Arc<DiskStateCache>>,
    notes: Vec<Note>,
    total: Option<u64>,
    skipped: u64,
    rate: Ratio,
}

impl Job {
    /// Opens, resolves and checks everything. The output has a temporary name.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn prepare(request: Request) -> Result<Job, JobError> {
        Job::prepare_with(request, &mut NamedEndpoints)
    }

    /// The same with another source and sink.
    pub(super) fn prepare_with(mut request: Request, endpoints: &mut dyn Endpoints) -> Result<Job, JobError> {
        let first_pass =
            request.encoding.two_pass.then(|| first_pass(&mut request, endpoints)).transpose()?;
        // Files that the caller has loaded are not read again.
        crate::assets::attach(&mut request.recipe)?;
        files::check(&request)?;
        request.check_files()?;
        let cache = request.cache.open();
        let mut opened = Opened::new(&request, cache.clone(), endpoints)?;
        let (chain, native_format) = opened.bind(&mut request)?;
        let frames = RequestedFrames::new(&request, &opened);
        let bound = BoundRequest { request: &request, opened: &opened, chain: &chain, frames: &frames };
        let selection = select::select(&bound)?;
        let total = selection.total.or(frames.total);
        let resumable = selection.is_resumable();
        let plan = sink_plan(&bound, selection.journal, total);
        opened.check_files(&request, selection.wanted.as_ref())?;
        let threads = threads(&request)?;
        let endpoint_bytes = endpoints.per_frame(chain.output());
        let slots = limits::slots(&request, threads, &opened.output, &chain, total, endpoint_bytes)?;
        let mut lost = losses::between_formats(&native_format, chain.output(), request.pix_fmt.is_some());
        if endpoints.drops_metadata(&opened.output) {
            lost.extend(losses::without_metadata(&opened.info));
        }
        // before anything is created that would have to be removed again
        losses::check(&request, &lost)?;
        let reopen = opened.reopen();
        let output = match request.shard {
            Some(shard) => opened.output.sharded(shard),
            None => opened.output,
        };
        let sink = if selection.done { Box::new(Null) } else { endpoints.sink(&output, &plan)? };
        lost.extend(sink.warnings().into_iter().map(|text| NoteCode::NotHeld.note(text)));
        losses::check(&request, &lost)?;
        let mut notes = notes(&request, &opened.info, &chain, &selection.notes, &*sink);
        notes.extend(lost);
        let states = cache.map(|cache| Arc::new(DiskStateCache::new(cache)));
        let store: Arc<dyn StateCache + Send + Sync> = match &states {
            Some(states) => Arc::clone(states) as _,
            None => Arc::new(NoCache),
        };
        Ok(Job {
            cancel: request.cancel.clone(),
            output: output.name().to_owned(),
            resumable,
            first_pass,
            states,
            notes,
            total,
            skipped: selection.skipped,
            rate: chain.output().rate,
            setup: Setup {
                plan: pipeline::Plan {
                    source: opened.source,
                    wanted: selection.wanted,
                    offset: request.frame_offset,
                    total,
                    to_end: opened.frames.as_ref().is_none_or(Ranges::is_unbounded),
                    may_end_early: opened.may_end_early,
                },
                constant_rate: constant_rate(&opened.info, &*sink, request.strict),
                chain: Arc::new(chain),
                sink,
                slots,
                threads,
                on_error: request.on_error,
                reopen,
                store,
                cancelled: Arc::clone(request.cancel.flag()),
                abort: request.abort,
                patience: pipeline::PATIENCE,
            },
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

    /// The handle of its request.
    pub(super) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The frame rate of the output.
    pub fn rate(&self) -> Ratio {
        self.rate
    }

    /// Runs to the end, an error, or [`Request::cancel`], and reports events on the calling thread.
    ///
    /// # Errors
    /// [`RunError`], with the partial result.
    pub fn run(mut self, on_event: &dyn Fn(Event)) -> Result<Summary, RunError> {
        let first_pass = self.first_pass.take();
        let folder = match first_pass {
            Some((first, folder)) => {
                on_event(Event::Pass { number: 1, of: 2 });
                first.run(on_event)?;
                on_event(Event::Pass { number: 2, of: 2 });
                Some(folder)
            }
            None => None,
        };
        let pipeline::Outcome { summary, failure, partial } = pipeline::run(self.setup, on_event);
        drop(folder);
        let summary = Summary { skipped: self.skipped, ..summary };
        if let Some(failure) = self.states.as_ref().and_then(|states| states.failure()) {
            on_event(Event::Note(NoteCode::Cache.note(format!(
                "some states could not be stored in the cache, so seeking may be slow: {failure}"
            ))));
        }
        match failure {
            None => Ok(summary),
            Some(failure) => Err(RunError { failure: Box::new(failure), partial, summary }),
        }
    }
}

/// Prepares the first of two passes, and makes the request that of the second.
fn first_pass(request: &mut Request, endpoints: &mut dyn Endpoints) -> Result<(Box<Job>, TempDir), JobError> {
    request.encoding.two_pass = false;
    if request.parse_input().is_pipe() {
        return Err(RequestError::TwoPassPipe.into());
    }
    if request.shard.is_some() || request.segments.is_some() || request.resume != Resume::No {
        return Err(RequestError::TwoPassParts.into());
    }
    let folder = tempfile::tempdir().map_err(RequestError::TwoPassFolder)?;
    let file = folder.path().join("statistics");
    let mut first = request.clone();
    first.encoding.pass = Some(Pass::First(file.clone()));
    request.encoding.pass = Some(Pass::Second(file));
    Ok((Box::new(Job::prepare_with(first, endpoints)?), folder))
}

/// Notes for the user without losses.
fn notes(request: &Request, info: &Info, chain: &Chain, kept: &[String], sink: &dyn Sink) -> Vec<Note> {
    let texts = [
        (NoteCode::Input, &*info.notes),
        (NoteCode::Input, &losses::unused_options(request, info)),
        (NoteCode::Filters, chain.notes()),
        (NoteCode::Kept, kept),
        (NoteCode::Output, &sink.notes()),
    ];
    texts.iter().flat_map(|(code, texts)| texts.iter().map(|text| code.note(text))).collect()
}

/// What the sink has to know.
fn sink_plan(bound: &BoundRequest<'_>, journal: JournalConfig, total: Option<u64>) -> sink::Plan {
    let BoundRequest { request, opened: Opened { info, .. }, chain, frames } = bound;
    let meta = info.carried.as_ref().and_then(|c| c.downcast_ref::<Meta>());
    sink::Plan {
        format: *chain.output(),
        carried: info.carried.clone(),
        untouched_format: chain.output() == &info.format,
        overwrite: request.overwrite,
        frames: total,
        pix_fmt: request.pix_fmt.clone(),
        ends: frames.ends,
        // the times of a shard are those of the source: what is cut is known when shards are joined
        cuts: request.shard.map_or_else(|| frames.cuts.clone(), |_| Cuts::default()),
        encoding: sink::Encoding { repeatable: journal.segments.is_some(), ..request.encoding.clone() },
        journal,
        lost_in_video: meta.map(lost_in_video).unwrap_or_default(),
        timecode: meta.and_then(|m| Some((m.timecode.clone()?, frames.since_first))),
        clock: (meta.is_none() && !info.variable_rate)
            .then(|| frame_clock(request, info, chain.output().rate)),
    }
}

/// At another rate than the source's, frames have other numbers than its timecode.
fn frame_clock(request: &Request, info: &Info, rate: Ratio) -> sink::FrameClock {
    let code =
        info.timecode().filter(|_| rate == info.format.rate).and_then(|code| code.parse::<Timecode>().ok());
    let start =
        code.and_then(|code| Some((code.frames(rate)? - info.first - request.frame_offset, code.is_drop())));
    sink::FrameClock { rate, start }
}

/// The times that frames have in a sink with a constant rate, if the source has a constant rate too.
fn constant_rate(info: &Info, sink: &dyn Sink, strict: bool) -> Option<ConstantRate> {
    let constant = info.kind == source::VIDEO && !info.variable_rate && !sink.keeps_times();
    constant.then_some(ConstantRate { rate: info.format.rate, first: info.first, strict })
}
