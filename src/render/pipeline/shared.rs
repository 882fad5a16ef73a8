//! The state that the workers and the supervisor share.

use super::executor::HelperPool;
use super::hold::Holder;
use super::input::Input;
use super::{
    ConstantRate, Event, Failure, FrameDone, FrameError, Note, NoteCode, OnError, Outcome, Setup, Summary,
};
use grainfield_filters::chain::{Chain, States};
use grainfield_filters::host::{StateCache, lock};
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::PartialOutput;
use grainfield_io::media::{Decode, Encode, Rescue, Sink, SinkError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

pub(super) struct Writing {
    /// The next ticket to be written.
    pub(super) turn: u64,
    pub(super) sink: Option<Box<dyn Sink>>,
    pub(super) failure: Option<Failure>,
    pub(super) out_time: Ratio,
    /// `None` after an uneven frame has been reported.
    pub(super) constant_rate: Option<ConstantRate>,
}

/// The state that the workers and the supervisor share.
pub(super) struct Shared {
    pub(super) input: Mutex<Option<Input>>,
    pub(super) writing: Mutex<Writing>,
    pub(super) turn_changed: Condvar,
    pub(super) ending: Mutex<Ending>,
    pub(super) ended: Condvar,
    /// Whether no new tickets are issued.
    pub(super) closing: AtomicBool,
    /// Whether the source has delivered all frames, or all requested ones.
    pub(super) finished: AtomicBool,
    /// The number of issued tickets, of those that have been written, and of those that are ready to be written.
    pub(super) issued: AtomicU64,
    pub(super) written: AtomicU64,
    pub(super) ready: AtomicU64,
    /// Set from outside to cancel.
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) chain: Arc<Chain>,
    pub(super) states: States,
    pub(super) decoder: Arc<dyn Decode>,
    pub(super) encoder: Arc<dyn Encode>,
    pub(super) rescue: Arc<dyn Rescue>,
    pub(super) threads: HelperPool,
    pub(super) store: Arc<dyn StateCache + Send + Sync>,
    pub(super) on_error: OnError,
    /// Replaces damaged frames.
    pub(super) holder: Option<Mutex<Holder>>,
    pub(super) total: Option<u64>,
    pub(super) offset: i64,
    pub(super) pending: Mutex<PendingEvents>,
}

/// The workers that still run, and the result.
pub(super) struct Ending {
    /// The number of running workers.
    pub(super) alive: usize,
    pub(super) outcome: Option<Outcome>,
}

/// Events that the caller has not received yet.
#[derive(Default)]
pub(super) struct PendingEvents {
    pub(super) frames: Vec<FrameDone>,
    pub(super) notes: Vec<Note>,
    /// The work that was done.
    pub(super) summary: Summary,
    /// Progress of stepping, if it was reported after the last frame.
    pub(super) simulating: Option<(u64, u64)>,
}

impl Shared {
    pub(super) fn new(setup: Setup) -> Result<Shared, SinkError> {
        Ok(Shared {
            threads: helpers(&setup),
            decoder: setup.plan.source.decoder(),
            encoder: setup.sink.encoder(),
            rescue: setup.sink.rescue()?,
            total: setup.plan.total,
            offset: setup.plan.offset,
            input: Mutex::new(Some(Input::new(setup.plan, setup.on_error, setup.cancelled.clone()))),
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
            cancelled: setup.cancelled,
            chain: setup.chain,
            states: States::default(),
            on_error: setup.on_error,
            holder: (setup.on_error == OnError::Hold).then(|| Mutex::new(Holder::new(setup.reopen))),
            store: setup.store,
            pending: Mutex::default(),
        })
    }

    /// Ends it because of an error that is not about a frame.
    pub(super) fn fail(&self, error: FrameError) {
        let mut writing = lock(&self.writing);
        writing.failure.get_or_insert(Failure::Frame { number: None, time: None, error });
        // nobody writes a ticket that is lost
        writing.turn = u64::MAX;
        self.closing.store(true, Ordering::Relaxed);
        self.turn_changed.notify_all();
    }

    /// Passes on the events so far.
    pub(super) fn report(&self, on_event: &dyn Fn(Event)) {
        let (frames, notes, simulating) = {
            let mut pending = lock(&self.pending);
            (
                std::mem::take(&mut pending.frames),
                std::mem::take(&mut pending.notes),
                pending.simulating.take(),
            )
        };
        notes.into_iter().for_each(|note| on_event(Event::Note(note)));
        frames.into_iter().for_each(|frame| on_event(Event::Frame(frame)));
        if let Some((done, all)) = simulating {
            on_event(Event::Simulating { done, all });
        }
    }

    /// The remaining part, with a note if it is not readable.
    pub(super) fn remaining(&self, ended: Result<PartialOutput, SinkError>) -> PartialOutput {
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
