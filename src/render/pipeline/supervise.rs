//! Watches the workers from the calling thread, reports events, and ends the sink.

use super::shared::{Ending, Shared};
use super::worker::guarded;
use super::{Event, Failure, FrameError, NoteCode, Outcome};
use grainfield_filters::host::lock;
use grainfield_io::disk::{DiskError, PartialOutput};
use grainfield_io::media::SinkError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The interval at which progress is reported and the flag for cancelling is checked.
const TICK: Duration = Duration::from_millis(20);
/// The interval at which a pipeline that was cancelled or has failed reports what it waits for.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Numbers of which one changes whenever a frame is read, filtered or written, or the encoder works.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Progress {
    /// Tickets issued, ready to be written, and written.
    issued: u64,
    ready: u64,
    written: u64,
    /// The sink's own count.
    sink: u64,
}

/// Watches the workers until the sink has ended.
pub(super) struct Supervisor<'a> {
    shared: &'a Arc<Shared>,
    on_event: &'a dyn Fn(Event),
    /// The last progress, and its time.
    progress: Progress,
    moved: Instant,
    /// Since when no new tickets are issued.
    closing: Option<Instant>,
    /// The number of unfinished frames that was reported last, and the time of the report.
    reported: Option<(u64, Instant)>,
    /// Whether the sink is being finished or abandoned.
    concluding: bool,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, on_event: &'a dyn Fn(Event)) -> Supervisor<'a> {
        let (progress, moved) = (Progress::default(), Instant::now());
        Supervisor { shared, on_event, progress, moved, closing: None, reported: None, concluding: false }
    }

    /// Watches until the end. With `abort`, or when nothing moves for longer than `patience` after cancelling, the sink is
    /// ended from outside.
    pub(super) fn run(mut self, abort: &AtomicBool, patience: Duration) -> Outcome {
        loop {
            let (alive, outcome) = self.wait();
            self.shared.report(self.on_event);
            if let Some(outcome) = outcome {
                return outcome;
            }
            let still = self.still();
            if abort.load(Ordering::Relaxed) || still > patience {
                return self.end();
            }
            // All frames that were read have been written, and a reader still holds the input: it is blocked in a read.
            let idle = self.progress.issued == self.progress.written && still > 10 * TICK;
            if !self.concluding && (!alive || idle) {
                self.concluding = true;
                let shared = Arc::clone(self.shared);
                let finish = move || {
                    let outcome = conclude(&shared);
                    lock(&shared.ending).outcome = Some(outcome);
                    shared.ended.notify_all();
                };
                if std::thread::Builder::new().name("finish".into()).spawn(finish).is_err() {
                    return conclude(self.shared);
                }
            }
        }
    }

    /// Waits for the end of the workers or of the sink, at most for a tick. Returns whether workers still run, and the
    /// outcome.
    fn wait(&self) -> (bool, Option<Outcome>) {
        let waits = |ending: &mut Ending| ending.outcome.is_none() && (ending.alive > 0 || self.concluding);
        let waited = self.shared.ended.wait_timeout_while(lock(&self.shared.ending), TICK, waits);
        let mut ending = waited.unwrap_or_else(PoisonError::into_inner).0;
        (ending.alive > 0, ending.outcome.take())
    }

    /// For how long nothing has moved since tickets are no longer issued. Reports the frames that a cancelled pipeline
    /// waits for.
    fn still(&mut self) -> Duration {
        let shared = self.shared;
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let (issued, written) = (load(&shared.issued), load(&shared.written));
        let (held, sink) = shared.rescue.progress();
        let progress = Progress { issued, ready: load(&shared.ready), written, sink };
        if progress != self.progress {
            (self.progress, self.moved) = (progress, Instant::now());
        }
        let cancelled = shared.cancelled.load(Ordering::Relaxed);
        if cancelled {
            shared.closing.store(true, Ordering::Relaxed);
        }
        if !shared.closing.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let closing = *self.closing.get_or_insert_with(Instant::now);
        if cancelled && closing.elapsed() > REPORT_INTERVAL / 2 {
            self.report_unfinished(held + issued.saturating_sub(written));
        }
        self.moved.max(closing).elapsed()
    }

    fn report_unfinished(&mut self, held: u64) {
        if self.reported.is_none_or(|(before, at)| held != before && at.elapsed() > REPORT_INTERVAL) {
            self.reported = Some((held, Instant::now()));
            (self.on_event)(Event::Finishing { held });
        }
    }

    /// Ends the sink although a thread may be in it.
    fn end(&self) -> Outcome {
        let shared = self.shared;
        shared.closing.store(true, Ordering::Relaxed);
        let ended = shared.rescue.end();
        // the sink may have been finished just in time
        let grace = if ended.is_err() { 10 * TICK } else { Duration::ZERO };
        let waits = |ending: &mut Ending| ending.outcome.is_none();
        let waited = shared.ended.wait_timeout_while(lock(&shared.ending), grace, waits);
        if let Some(outcome) = waited.unwrap_or_else(PoisonError::into_inner).0.outcome.take() {
            return outcome;
        }
        let left = shared.remaining(ended);
        let mut summary = lock(&shared.pending).summary.clone();
        if left.frames == Some(0) && summary.frames > 0 {
            let text = "nothing is kept, since no frame had left the encoder";
            lock(&shared.pending).notes.push(NoteCode::Output.note(text));
        }
        shared.report(self.on_event);
        summary.frames = left.frames.unwrap_or(summary.frames);
        let failure = shared.writing.try_lock().ok().and_then(|mut writing| writing.failure.take());
        Outcome { summary, failure: failure.or(Some(Failure::Cancelled)), partial: left.partial }
    }
}

/// Finishes or abandons the sink.
fn conclude(shared: &Shared) -> Outcome {
    // Files that FFmpeg's filters write are complete once the source is closed. A reader that is blocked keeps it.
    if let Ok(mut input) = shared.input.try_lock() {
        input.take();
    }
    let mut writing = lock(&shared.writing);
    if writing.failure.is_none()
        && shared.cancelled.load(Ordering::Relaxed)
        && !shared.finished.load(Ordering::Relaxed)
    {
        writing.failure = Some(Failure::Cancelled);
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
                Ok(abandoned) => shared.remaining(abandoned),
                Err(_) => shared.remaining(shared.rescue.end()),
            }
        }
        Some(sink) => match guarded(|| Ok(sink.finish()?)) {
            Ok(()) => {}
            Err(FrameError::Sink(SinkError::Disk(DiskError::Closed { .. }))) => {
                failure = Some(Failure::Closed)
            }
            Err(FrameError::Sink(SinkError::Unfinished { cause, left: kept })) => {
                left = kept;
                failure = ended((*cause).into());
            }
            Err(error) => {
                if let FrameError::Panic(_) = error {
                    left = shared.remaining(shared.rescue.end());
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
