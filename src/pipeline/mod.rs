//! Reading, filtering and writing at the same time, in order, in bounded memory.
//!
//! Each worker is a plain thread with a [`Slot`](crate::media::Slot) and buffers of its own. It takes a ticket together with the next
//! source frame, finishes decoding, runs the chain, encodes, waits until every earlier ticket has been written, and
//! writes. A worker waits only for lower tickets and holds all it needs before it takes one, so the lowest always
//! goes on, and memory is that of the slots whatever the length.
//!
//! Where memory allows fewer slots than threads, the rest become a rayon pool that takes bands of the frames being
//! worked on; it stands behind [`Executor`](grainfield_filters::lend::Executor) alone, and nothing blocks inside it.
//!
//! Stopping never joins a thread that may be stuck in a read or a write: workers own what they use, and are left
//! behind if they do not come back.

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

/// What a pipeline is made of.
pub struct Setup {
    /// Which frames, and where from.
    pub plan: Plan,
    /// What is done to them.
    pub chain: Arc<Chain>,
    /// Where they go.
    pub sink: Box<dyn Sink>,
    /// Frames worked on at the same time: 1 or more.
    pub slots: usize,
    /// Threads beside the slots' own, for bands.
    pub helpers: usize,
    /// What to do when one frame fails.
    pub on_error: OnError,
    /// Where states of what must be stepped are kept.
    pub store: Arc<dyn StateCache + Send + Sync>,
    /// Where frames have to be even because the sink has one rate.
    pub even: Option<EvenTimes>,
}

/// The times that a sink of one rate shows frames at.
#[derive(Clone, Copy, Debug)]
pub struct EvenTimes {
    /// Frames a second.
    pub rate: Ratio,
    /// The source's number of the frame at zero.
    pub first: i64,
    /// A frame shown at another time is an error, as against told once.
    pub strict: bool,
}

/// Why one frame failed.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// It could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A filter gave up.
    #[error("{0}")]
    Filter(#[from] PrepareError),
    /// Its time is lost, with `--strict`.
    #[error("{0} (an error because of --strict)")]
    Uneven(String),
    /// A fault of ours.
    #[error("internal error: {0}. Please report it with the command that led to it")]
    Panic(String),
    /// The source ended too early.
    #[error("{name} ends after frame {last}, but frame {wanted} was requested")]
    Short {
        /// The source.
        name: String,
        /// The last frame there was.
        last: i64,
        /// The frame wanted.
        wanted: i64,
    },
    /// Nothing was there at all.
    #[error("{name} has no frames")]
    Nothing {
        /// The source.
        name: String,
    },
}

/// Why a pipeline ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A frame failed.
    #[error("{}{error}", frame_text(*.number, *.time))]
    Frame {
        /// The frame's number, where one is to blame.
        number: Option<i64>,
        /// Its time, seconds.
        time: Option<Ratio>,
        /// What happened.
        #[source]
        error: FrameError,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Stopped,
    /// The reader of our pipe has gone.
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

/// How a pipeline ended.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub summary: Summary,
    /// Why it ended early, if it did.
    pub failure: Option<Failure>,
    /// Where an unfinished result was left.
    pub partial: Option<PathBuf>,
}

struct Writing {
    /// The ticket whose turn it is.
    turn: u64,
    sink: Option<Box<dyn Sink>>,
    summary: Summary,
    failure: Option<Failure>,
    out_time: Ratio,
    /// `None` once an uneven frame has been told.
    even: Option<EvenTimes>,
}

struct Shared {
    input: Mutex<Input>,
    writing: Mutex<Writing>,
    moved: Condvar,
    /// Workers that have not ended.
    alive: Mutex<usize>,
    ended: Condvar,
    /// No new tickets.
    closing: AtomicBool,
    /// The source has given all its frames, or all that were asked for.
    finished: AtomicBool,
    /// Tickets given out.
    issued: AtomicU64,
    /// Someone outside wants an end.
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

/// What the caller has not been told yet.
#[derive(Default)]
struct News {
    frames: Vec<FrameDone>,
    notes: Vec<Note>,
    /// How far stepping has come, if it has been told after the last frame.
    simulating: Option<(u64, u64)>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long workers may take to come back after a stop before they are left behind.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often progress is passed on and the stop flag is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Runs to the end, a failure, or `stop`. The sink is finished or abandoned accordingly. What happens is told on the
/// calling thread.
pub fn run(setup: Setup, tell: &dyn Fn(Event), stop: &Arc<AtomicBool>) -> Outcome {
    let decoder = setup.plan.source.decoder();
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
        threads: HelperPool::new(setup.helpers),
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
            // The system has no more threads to give: go on with fewer, and fail only when there is none.
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

/// Passes events on until all workers have ended, or have been asked to and do not come back.
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
            // Writing goes on while it moves; only standing still uses up patience.
            let since = since.get_or_insert_with(Instant::now);
            // All that was read has been written, and a reader still holds the input: it is stuck in a read.
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
    // A worker stuck in a write holds this lock for good; then there is nothing more to be done about the output.
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
    // what was given to the output and is not in it has not been done
    summary.frames = left.frames.unwrap_or(summary.frames);
    Outcome { summary, failure, partial: left.partial }
}
