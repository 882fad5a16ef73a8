//! Reads, filters and writes in parallel, in order, and in bounded memory.
//!
//! Each worker is a thread with its own [`Slot`](grainfield_io::media::Slot) and buffers. It takes a ticket together with the
//! next source frame, completes decoding, runs the chain, encodes, waits until all earlier tickets have been written,
//! and writes. A worker waits only for lower tickets and owns all resources before it takes one, so the lowest ticket
//! always makes progress, and memory is that of the slots for any length.
//!
//! If memory allows fewer slots than threads, or while workers wait for a simulation, the threads of a rayon pool
//! render bands of the frames in progress and share the simulation's steps, as many as are missing to the number that
//! may run. The pool is used through [`Executor`](grainfield_filters::host::Executor) only, and nothing blocks inside it.
//!
//! A stop writes the frames that have been read and finishes the sink, on a thread of its own, however long that takes as
//! long as there is progress. If there is none, or after [`Setup::abort`], the sink is ended from outside
//! ([`Rescue`]), and threads that do not return are abandoned. They own their data.

mod executor;
mod input;
mod progress;
mod worker;

pub(crate) use executor::HelperPool;
pub use grainfield_io::journal::FrameList;
pub use input::Plan;
pub use progress::{Event, FrameDone, Note, NoteCode, OnError, Summary};
pub(crate) use worker::guarded;

use crate::lock;
use grainfield_io::disk::PartialOutput;
use grainfield_io::media::{Decode, Encode, Rescue, Sink, SinkError, SourceError};

use grainfield_filters::chain::{Chain, States};
use grainfield_filters::host::{PrepareError, StateCache};
use grainfield_filters::ratio::Ratio;
use input::Input;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The parts of a pipeline.
pub struct Setup {
    /// The source and its frames.
    pub plan: Plan,
    /// The filters.
    pub chain: Arc<Chain>,
    /// The output.
    pub sink: Box<dyn Sink>,
    /// Frames in progress at the same time: 1 or more.
    pub slots: usize,
    /// Threads that may run at the same time.
    pub threads: usize,
    /// The reaction to a frame that fails.
    pub on_error: OnError,
    /// The store of states of simulations.
    pub store: Arc<dyn StateCache + Send + Sync>,
    /// The frame times of a sink with a constant rate.
    pub constant_rate: Option<ConstantRate>,
    /// Set from outside to end at once.
    pub abort: Arc<AtomicBool>,
    /// How long a stop waits for a sink that makes no progress: [`PATIENCE`].
    pub patience: Duration,
}

/// The frame times of a sink with a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct ConstantRate {
    /// Frames per second.
    pub rate: Ratio,
    /// The source's number of the frame at time zero.
    pub first: i64,
    /// Whether a frame with another time is an error; otherwise there is one warning.
    pub strict: bool,
}

/// The reason why a frame failed.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// It could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A filter failed.
    #[error("{0}")]
    Filter(#[from] PrepareError),
    /// Its time is lost, with `--strict`.
    #[error("{0} (an error because of --strict)")]
    TimeLost(String),
    /// A defect of this program.
    #[error("internal error: {0}. Please report it with the command that led to it")]
    Panic(String),
    /// The source ended too early.
    #[error("{name} ends after frame {last}, but frame {wanted} was requested")]
    Short {
        /// The source.
        name: String,
        /// The last existing frame.
        last: i64,
        /// The requested frame.
        wanted: i64,
    },
    /// The source has no frames.
    #[error("{name} has no frames")]
    Nothing {
        /// The source.
        name: String,
    },
}

/// The reason why a pipeline ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A frame failed.
    #[error("{}{error}", frame_text(*.number, *.time))]
    Frame {
        /// The frame's number, if a frame caused it.
        number: Option<i64>,
        /// Its time in seconds.
        time: Option<Ratio>,
        /// The error.
        #[source]
        error: FrameError,
    },
    /// The user cancelled.
    #[error("interrupted")]
    Stopped,
    /// The reader has closed the pipe.
    #[error("the reader has closed the pipe")]
    Closed,
}

fn frame_text(number: Option<i64>, time: Option<Ratio>) -> String {
    match (number, time) {
        (Some(n), Some(t)) => format!("frame {n} ({:.3} s): ", t.to_f64()),
        (Some(n), None) => format!("frame {n}: "),
        _ => String::new(),
    }
}

/// The result of a pipeline.
#[derive(Debug)]
pub struct Outcome {
    /// The work that was done.
    pub summary: Summary,
    /// The reason for an early end.
    pub failure: Option<Failure>,
    /// The path of a partial result.
    pub partial: Option<PathBuf>,
}

struct Writing {
    /// The next ticket to be written.
    turn: u64,
    sink: Option<Box<dyn Sink>>,
    failure: Option<Failure>,
    out_time: Ratio,
    /// `None` after an uneven frame has been reported.
    constant_rate: Option<ConstantRate>,
}

struct Shared {
    input: Mutex<Option<Input>>,
    writing: Mutex<Writing>,
    turn_changed: Condvar,
    ending: Mutex<Ending>,
    ended: Condvar,
    /// Whether no new tickets are issued.
    closing: AtomicBool,
    /// Whether the source has delivered all frames, or all requested ones.
    finished: AtomicBool,
    /// The number of issued tickets, of those that have been written, and of those that are ready to be written.
    issued: AtomicU64,
    written: AtomicU64,
    ready: AtomicU64,
    /// Set from outside to cancel.
    stop: Arc<AtomicBool>,
    chain: Arc<Chain>,
    states: States,
    decoder: Arc<dyn Decode>,
    encoder: Arc<dyn Encode>,
    rescue: Arc<dyn Rescue>,
    threads: HelperPool,
    store: Arc<dyn StateCache + Send + Sync>,
    on_error: OnError,
    total: Option<u64>,
    offset: i64,
    pending: Mutex<PendingEvents>,
}

/// The workers that still run, and the result.
struct Ending {
    /// The number of running workers.
    alive: usize,
    outcome: Option<Outcome>,
}

/// Events that the caller has not received yet.
#[derive(Default)]
struct PendingEvents {
    frames: Vec<FrameDone>,
    notes: Vec<Note>,
    /// The work that was done.
    summary: Summary,
    /// Progress of stepping, if it was reported after the last frame.
    simulating: Option<(u64, u64)>,
}

/// How long a stop waits for a sink that makes no progress.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The interval at which progress is reported and the stop flag is checked.
const TICK: Duration = Duration::from_millis(20);
/// The interval at which a stop reports what it waits for.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Runs to the end, a failure, or `stop`. The sink is finished or abandoned accordingly. Events are reported on the
/// calling thread.
pub fn run(setup: Setup, tell: &dyn Fn(Event), stop: &Arc<AtomicBool>) -> Outcome {
    let rescue = match setup.sink.rescue() {
        Ok(rescue) => rescue,
        Err(error) => {
            let failure = Some(Failure::Frame { number: None, time: None, error: error.into() });
            return Outcome { summary: Summary::default(), failure, partial: None };
        }
    };
    let decoder = setup.plan.source.decoder();
    let threads = helpers(&setup);
    let (abort, patience) = (setup.abort, setup.patience);
    let shared = Arc::new(Shared {
        decoder,
        encoder: setup.sink.encoder(),
        rescue,
        total: setup.plan.total,
        offset: setup.plan.offset,
        input: Mutex::new(Some(Input::new(setup.plan))),
        writing: Mutex::new(Writing {
            turn: 0,
            sink: Some(setup.sink),
            failure: None,
            out_time: Ratio::ZERO,
            constant_rate: setup.constant_rate,
        }),
        turn_changed: Condvar::new(),
        ending: Mutex::new(Ending { alive: setup.slots, outcome: None }),
        ended: Condvar::new(),
        closing: AtomicBool::new(false),
        finished: AtomicBool::new(false),
        issued: AtomicU64::new(0),
        written: AtomicU64::new(0),
        ready: AtomicU64::new(0),
        stop: Arc::clone(stop),
        chain: setup.chain,
        states: States::default(),
        threads,
        on_error: setup.on_error,
        store: setup.store,
        pending: Mutex::default(),
    });
    for i in 0..setup.slots {
        let own = Arc::clone(&shared);
        let spawned = std::thread::Builder::new().name(format!("frame {i}")).spawn(move || {
            let worked = guarded(|| {
                worker::work(&own);
                Ok(())
            });
            if let Err(error) = worked {
                own.fail(error);
            }
            lock(&own.ending).alive -= 1;
            own.ended.notify_all();
        });
        if spawned.is_err() {
            // The system has no more threads: continue with fewer, and fail only if there is none.
            lock(&shared.ending).alive -= 1;
            if i == 0 {
                shared.fail(FrameError::Panic("the system cannot start another thread".into()));
            }
        }
    }
    let (mut last_progress, mut since) = ((0, 0, 0, 0), Instant::now());
    let (mut stopped, mut reported) = (None, (u64::MAX, Instant::now()));
    let mut concluding = false;
    loop {
        let waits = |ending: &mut Ending| ending.outcome.is_none() && (ending.alive > 0 || concluding);
        let waited = shared.ended.wait_timeout_while(lock(&shared.ending), TICK, waits);
        let mut ending = waited.unwrap_or_else(PoisonError::into_inner).0;
        let (alive, outcome) = (ending.alive > 0, ending.outcome.take());
        drop(ending);
        shared.report(tell);
        if let Some(outcome) = outcome {
            return outcome;
        }
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let (issued, written) = (load(&shared.issued), load(&shared.written));
        let (held, calls) = shared.rescue.progress();
        let now = (issued, written, load(&shared.ready), calls);
        if now != last_progress {
            (last_progress, since) = (now, Instant::now());
        }
        if stop.load(Ordering::Relaxed) {
            shared.closing.store(true, Ordering::Relaxed);
        }
        if shared.closing.load(Ordering::Relaxed) {
            let stopped = *stopped.get_or_insert_with(Instant::now);
            let held = held + issued.saturating_sub(written);
            let due = reported.0 == u64::MAX || reported.1.elapsed() > REPORT_INTERVAL;
            if stop.load(Ordering::Relaxed)
                && stopped.elapsed() > REPORT_INTERVAL / 2
                && due
                && held != reported.0
            {
                reported = (held, Instant::now());
                tell(Event::Finishing { held });
            }
        }
        let still = stopped.map_or(Duration::ZERO, |stopped| since.max(stopped).elapsed());
        // All frames that were read have been written, and a reader still holds the input: it is blocked in a read.
        let idle = issued == written && still > 10 * TICK;
        let hangs = still > patience;
        if abort.load(Ordering::Relaxed) || hangs {
            return shared.end(tell);
        }
        if !concluding && (!alive || idle) {
            concluding = true;
            let own = Arc::clone(&shared);
            let finish = move || {
                let outcome = conclude(&own);
                lock(&own.ending).outcome = Some(outcome);
                own.ended.notify_all();
            };
            if std::thread::Builder::new().name("finish".into()).spawn(finish).is_err() {
                return conclude(&shared);
            }
        }
    }
}

impl Shared {
    /// Ends it because of an error that is not about a frame.
    fn fail(&self, error: FrameError) {
        let mut writing = lock(&self.writing);
        writing.failure.get_or_insert(Failure::Frame { number: None, time: None, error });
        // nobody writes a ticket that is lost
        writing.turn = u64::MAX;
        self.closing.store(true, Ordering::Relaxed);
        self.turn_changed.notify_all();
    }

    /// Passes on the events so far.
    fn report(&self, tell: &dyn Fn(Event)) {
        let (frames, notes, simulating) = {
            let mut pending = lock(&self.pending);
            (
                std::mem::take(&mut pending.frames),
                std::mem::take(&mut pending.notes),
                pending.simulating.take(),
            )
        };
        notes.into_iter().for_each(|note| tell(Event::Note(note)));
        frames.into_iter().for_each(|frame| tell(Event::Frame(frame)));
        if let Some((done, all)) = simulating {
            tell(Event::Simulating { done, all });
        }
    }

    /// Ends the sink although a thread may be in it.
    fn end(&self, tell: &dyn Fn(Event)) -> Outcome {
        self.closing.store(true, Ordering::Relaxed);
        let ended = self.rescue.end();
        // the sink may have been finished just in time
        let most = if ended.is_err() { 10 * TICK } else { Duration::ZERO };
        let waits = |ending: &mut Ending| ending.outcome.is_none();
        let waited = self.ended.wait_timeout_while(lock(&self.ending), most, waits);
        if let Some(outcome) = waited.unwrap_or_else(PoisonError::into_inner).0.outcome.take() {
            return outcome;
        }
        let left = self.left(ended);
        let mut summary = lock(&self.pending).summary.clone();
        if left.frames == Some(0) && summary.frames > 0 {
            let text = "nothing is kept, since no frame had left the encoder";
            lock(&self.pending).notes.push(NoteCode::Output.note(text));
        }
        self.report(tell);
        summary.frames = left.frames.unwrap_or(summary.frames);
        let failure = self.writing.try_lock().ok().and_then(|mut writing| writing.failure.take());
        Outcome { summary, failure: failure.or(Some(Failure::Stopped)), partial: left.partial }
    }

    /// The remaining part, with a note if it is not readable.
    fn left(&self, ended: Result<PartialOutput, SinkError>) -> PartialOutput {
        let (error, left) = match ended {
            Ok(left) => return left,
            Err(SinkError::Unfinished { cause, left }) => (*cause, left),
            Err(error) => (error, PartialOutput { partial: None, frames: Some(0) }),
        };
        lock(&self.pending).notes.push(NoteCode::Output.note(error.to_string()));
        left
    }
}

/// The threads that help the workers.
fn helpers(setup: &Setup) -> HelperPool {
    // While a simulation is stepped, other workers wait.
    let helpers = if setup.chain.is_simulation() {
        setup.threads.saturating_sub(1)
    } else {
        setup.threads.saturating_sub(setup.slots)
    };
    HelperPool::new(helpers, setup.threads as isize - setup.slots as isize)
}

/// Finishes or abandons the sink.
fn conclude(shared: &Shared) -> Outcome {
    // Files that FFmpeg's filters write are complete once the source is closed. A reader that is blocked keeps it.
    if let Ok(mut input) = shared.input.try_lock() {
        input.take();
    }
    let mut writing = lock(&shared.writing);
    if writing.failure.is_none()
        && shared.stop.load(Ordering::Relaxed)
        && !shared.finished.load(Ordering::Relaxed)
    {
        writing.failure = Some(Failure::Stopped);
    }
    let (sink, failed) = (writing.sink.take(), writing.failure.is_some());
    // the sink may take long
    drop(writing);
    let (mut failure, mut left) = (None, PartialOutput::default());
    let ended = |error: FrameError| Some(Failure::Frame { number: None, time: None, error });
    match sink {
        None => {}
        Some(sink) if failed => {
            left = match guarded(|| Ok(sink.abandon())) {
                Ok(abandoned) => shared.left(abandoned),
                Err(_) => shared.left(shared.rescue.end()),
            }
        }
        Some(sink) => match guarded(|| Ok(sink.finish()?)) {
            Ok(()) => {}
            Err(FrameError::Sink(SinkError::Closed { .. })) => failure = Some(Failure::Closed),
            Err(FrameError::Sink(SinkError::Unfinished { cause, left: kept })) => {
                left = kept;
                failure = ended((*cause).into());
            }
            Err(error) => {
                if let FrameError::Panic(_) = error {
                    left = shared.left(shared.rescue.end());
                }
                failure = ended(error);
            }
        },
    }
    let mut summary = lock(&shared.pending).summary.clone();
    // frames that were sent to the output but are not in it do not count
    summary.frames = left.frames.unwrap_or(summary.frames);
    let failure = lock(&shared.writing).failure.take().or(failure);
    Outcome { summary, failure, partial: left.partial }
}
