//! Reads, filters and writes in parallel, in order, and in bounded memory.
//!
//! Each worker is a thread with its own [`Slot`](crate::media::Slot) and buffers. It takes a ticket together with the
//! next source frame, completes decoding, runs the chain, encodes, waits until all earlier tickets have been written,
//! and writes. A worker waits only for lower tickets and owns all resources before it takes one, so the lowest ticket
//! always makes progress, and memory is that of the slots for any length.
//!
//! If memory allows fewer slots than threads, or while workers wait for a simulation, the threads of a rayon pool
//! render bands of the frames in progress and share the simulation's steps, as many as are missing to the number that
//! may run. The pool is used through [`Executor`](grainfield_filters::lend::Executor) only, and nothing blocks inside it.
//!
//! Stopping never joins a thread that may be blocked in a read or a write: workers own their data, and are abandoned if
//! they do not return.

mod executor;
mod input;
mod progress;
mod worker;

pub use crate::journal::FrameList;
pub(crate) use executor::HelperPool;
pub use input::{FrameSelection, Plan};
pub use progress::{Event, FrameDone, Note, NoteCode, OnError, Summary};
pub(crate) use worker::guarded;

use crate::disk::Left;
use crate::media::{Decode, SourceError};
use crate::media::{Encode, Sink, SinkError};

use grainfield_filters::chain::{Chain, States};
use grainfield_filters::lend::{PrepareError, StateCache};
use grainfield_filters::ratio::Ratio;
use input::Input;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
    /// What to do when a frame fails.
    pub on_error: OnError,
    /// The store of states of simulations.
    pub store: Arc<dyn StateCache + Send + Sync>,
    /// The frame times of a sink with a constant rate.
    pub even: Option<EvenTimes>,
}

/// The frame times of a sink with a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct EvenTimes {
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
    Uneven(String),
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
    summary: Summary,
    failure: Option<Failure>,
    out_time: Ratio,
    /// `None` after an uneven frame has been reported.
    even: Option<EvenTimes>,
}

struct Shared {
    input: Mutex<Input>,
    writing: Mutex<Writing>,
    moved: Condvar,
    /// The number of running workers.
    alive: Mutex<usize>,
    ended: Condvar,
    /// Whether no new tickets are issued.
    closing: AtomicBool,
    /// Whether the source has delivered all frames, or all requested ones.
    finished: AtomicBool,
    /// The number of issued tickets.
    issued: AtomicU64,
    /// Set from outside to cancel.
    stop: Arc<AtomicBool>,
    chain: Arc<Chain>,
    states: States,
    decoder: Arc<dyn Decode>,
    encoder: Arc<dyn Encode>,
    threads: HelperPool,
    store: Arc<dyn StateCache + Send + Sync>,
    on_error: OnError,
    total: Option<u64>,
    offset: i64,
    news: Mutex<News>,
}

/// Events that the caller has not received yet.
#[derive(Default)]
struct News {
    frames: Vec<FrameDone>,
    notes: Vec<Note>,
    /// Progress of stepping, if it was reported after the last frame.
    simulating: Option<(u64, u64)>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long workers may take to return after a stop before they are abandoned.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval at which progress is reported and the stop flag is checked.
const TICK: Duration = Duration::from_millis(20);

/// Runs to the end, a failure, or `stop`. The sink is finished or abandoned accordingly. Events are reported on the
/// calling thread.
pub fn run(setup: Setup, tell: &dyn Fn(Event), stop: &Arc<AtomicBool>) -> Outcome {
    let decoder = setup.plan.source.decoder();
    let threads = helpers(&setup);
    let shared = Arc::new(Shared {
        decoder,
        encoder: setup.sink.encoder(),
        total: setup.plan.total,
        offset: setup.plan.offset,
        input: Mutex::new(Input::new(setup.plan)),
        writing: Mutex::new(Writing {
            turn: 0,
            sink: Some(setup.sink),
            summary: Summary::default(),
            failure: None,
            out_time: Ratio::ZERO,
            even: setup.even,
        }),
        moved: Condvar::new(),
        alive: Mutex::new(setup.slots),
        ended: Condvar::new(),
        closing: AtomicBool::new(false),
        finished: AtomicBool::new(false),
        issued: AtomicU64::new(0),
        stop: Arc::clone(stop),
        chain: setup.chain,
        states: States::default(),
        threads,
        on_error: setup.on_error,
        store: setup.store,
        news: Mutex::default(),
    });
    for i in 0..setup.slots {
        let own = Arc::clone(&shared);
        let spawned = std::thread::Builder::new().name(format!("frame {i}")).spawn(move || {
            worker::work(&own);
            *lock(&own.alive) -= 1;
            own.ended.notify_all();
        });
        if spawned.is_err() {
            // The system has no more threads: continue with fewer, and fail only if there is none.
            *lock(&shared.alive) -= 1;
            if i == 0 {
                lock(&shared.writing).failure = Some(Failure::Frame {
                    number: None,
                    time: None,
                    error: FrameError::Panic("the system cannot start another thread".into()),
                });
            }
        }
    }
    wait(&shared, tell);
    conclude(&shared)
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

/// Reports events until all workers have ended, or have been stopped and do not return.
fn wait(shared: &Shared, tell: &dyn Fn(Event)) {
    let mut since: Option<Instant> = None;
    loop {
        let mut alive = lock(&shared.alive);
        if *alive > 0 {
            alive = shared.ended.wait_timeout(alive, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        let done = *alive == 0;
        drop(alive);
        let news = std::mem::take(&mut *lock(&shared.news));
        news.notes.into_iter().for_each(|note| tell(Event::Note(note)));
        news.frames.into_iter().for_each(|frame| tell(Event::Frame(frame)));
        if let Some((done, all)) = news.simulating {
            tell(Event::Simulating { done, all });
        }
        if done {
            return;
        }
        if shared.stop.load(Ordering::Relaxed) {
            shared.closing.store(true, Ordering::Relaxed);
            // Writing continues while it makes progress; only standing still uses up the time.
            let since = since.get_or_insert_with(Instant::now);
            // All frames that were read have been written, and a reader still holds the input: it is blocked
            // in a read.
            let idle =
                shared.writing.try_lock().is_ok_and(|w| w.turn == shared.issued.load(Ordering::Relaxed));
            if since.elapsed() > PATIENCE || (idle && since.elapsed() > 10 * TICK) {
                return;
            }
        }
    }
}

/// Finishes or abandons the sink.
fn conclude(shared: &Shared) -> Outcome {
    // A worker blocked in a write never releases this lock; then the output can be neither finished nor
    // abandoned.
    let Ok(mut writing) = shared.writing.try_lock() else {
        return Outcome { summary: Summary::default(), failure: Some(Failure::Stopped), partial: None };
    };
    let mut summary = writing.summary.clone();
    let mut failure = writing.failure.take();
    let stopped = shared.stop.load(Ordering::Relaxed) && !shared.finished.load(Ordering::Relaxed);
    if failure.is_none() && stopped {
        failure = Some(Failure::Stopped);
    }
    let Some(sink) = writing.sink.take() else {
        return Outcome { summary, failure, partial: None };
    };
    let sink_failure = |error: SinkError| match error {
        SinkError::Closed { .. } => Failure::Closed,
        error => Failure::Frame { number: None, time: None, error: error.into() },
    };
    let left = if failure.is_some() {
        sink.abandon().unwrap_or_default()
    } else {
        let (error, left) = match sink.finish() {
            Err(SinkError::Unfinished { cause, left }) => (Some(*cause), left),
            result => (result.err(), Left::default()),
        };
        failure = error.map(sink_failure);
        left
    };
    // frames that were sent to the output but are not in it do not count
    summary.frames = left.frames.unwrap_or(summary.frames);
    Outcome { summary, failure, partial: left.partial }
}
