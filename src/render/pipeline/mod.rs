//! Reads, filters and writes in parallel, in order, and in bounded memory.
//!
//! Each worker is a thread with its own [`Slot`](grainfield_io::media::Slot) and buffers. It takes a ticket together with the
//! next source frame, completes decoding, runs the chain, encodes, waits until all earlier tickets have been written,
//! and writes. A worker waits only for lower tickets, or for a simulation that another worker is stepping, and owns all
//! resources before it takes a ticket, so some worker always makes progress, and memory is that of the slots for any
//! length.
//!
//! If memory allows fewer slots than threads, or while workers wait for a simulation, the threads of a rayon pool
//! render bands of the frames in progress and share the simulation's steps, as many as are missing to the number that
//! may run. The pool is used through [`Executor`](grainfield_filters::host::Executor) only, and nothing blocks inside it.
//!
//! A cancelled pipeline drops the frames that are being filtered and completes what the sink has, on a thread of its own,
//! however long that takes as long as there is progress. If there is none, or after [`Setup::abort`], the sink is ended from outside
//! ([`Rescue`](grainfield_io::media::Rescue)), and threads that do not return are abandoned. They own their data.

mod error;
mod executor;
mod hold;
mod input;
mod progress;
mod shared;
mod supervise;
mod worker;

pub use error::{Failure, FrameError, LostTime};
pub(crate) use executor::HelperPool;
pub use grainfield_io::journal::FrameList;
pub use hold::Reopen;
pub use input::Plan;
pub use progress::{Event, FrameDone, Note, NoteCode, OnError, Summary};
pub(crate) use worker::guarded;

use grainfield_filters::chain::Chain;
use grainfield_filters::host::{StateCache, lock};
use grainfield_filters::ratio::Ratio;
use grainfield_io::media::Sink;
use shared::Shared;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use supervise::Supervisor;

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
    /// For [`OnError::Hold`]: opens the source once more; `None` if it can be read once.
    pub reopen: Option<Reopen>,
    /// The store of states of simulations.
    pub store: Arc<dyn StateCache + Send + Sync>,
    /// The frame times of a sink with a constant rate.
    pub constant_rate: Option<ConstantRate>,
    /// Set from outside to cancel.
    pub cancelled: Arc<AtomicBool>,
    /// Set from outside to end at once.
    pub abort: Arc<AtomicBool>,
    /// How long a cancelled pipeline waits for a sink that makes no progress: [`PATIENCE`].
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

/// The result of a pipeline.
#[derive(Debug)]
pub struct Outcome {
    /// The work that was done.
    pub summary: Summary,
    /// The reason for an early end.
    pub failure: Option<Failure>,
    /// The finished part of the output, if it is a file or a folder.
    pub partial: Option<PathBuf>,
}

/// How long a cancelled pipeline waits for a sink that makes no progress.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Runs to the end, a failure, or until it is cancelled. The sink is finished or abandoned accordingly. Events are
/// reported on the calling thread.
pub fn run(setup: Setup, on_event: &dyn Fn(Event)) -> Outcome {
    let (slots, abort, patience) = (setup.slots, Arc::clone(&setup.abort), setup.patience);
    let shared = match Shared::new(setup) {
        Ok(shared) => Arc::new(shared),
        Err(error) => {
            let failure = Some(Failure::Frame { number: None, time: None, error: error.into() });
            return Outcome { summary: Summary::default(), failure, partial: None };
        }
    };
    for i in 0..slots {
        let worker_shared = Arc::clone(&shared);
        let spawned = std::thread::Builder::new().name(format!("frame {i}")).spawn(move || {
            let worked = guarded(|| {
                worker::work(&worker_shared);
                Ok(())
            });
            if let Err(error) = worked {
                worker_shared.fail(error);
            }
            lock(&worker_shared.ending).alive -= 1;
            worker_shared.ended.notify_all();
        });
        if spawned.is_err() {
            // The system has no more threads: continue with fewer, and fail only if there is none.
            lock(&shared.ending).alive -= 1;
            if i == 0 {
                shared.fail(FrameError::Panic("the system cannot start another thread".into()));
            }
        }
    }
    Supervisor::new(&shared, on_event).run(&abort, patience)
}
