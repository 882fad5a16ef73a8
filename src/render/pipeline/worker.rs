//! The work of one worker, from ticket to ticket.

use super::input::Next;
use super::shared::{Shared, Writing};
use super::{Failure, FrameDone, FrameError, LostTime, NoteCode, OnError, Summary};
use grainfield_filters::chain::Workspace;
use grainfield_filters::frame::{Frame, FrameTime};
use grainfield_filters::host::{Host, PrepareError, StateCache, lock, panic_text, wait};
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::DiskError;
use grainfield_io::media::SinkError;
use grainfield_io::media::{FrameStamp, Slot};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// The buffers of a worker.
struct WorkerBuffers {
    slot: Slot,
    work: Workspace,
    encoded: Vec<u8>,
}

/// A frame that failed.
struct FailedFrame {
    number: i64,
    time: Option<Ratio>,
    error: FrameError,
    /// Whether leaving the frame out does not help, because the sink cannot write.
    fatal: bool,
}

impl FailedFrame {
    fn new(number: i64, time: Option<Ratio>, error: FrameError) -> FailedFrame {
        FailedFrame { number, time, error, fatal: false }
    }
}

/// The store of the pipeline, which also reports the progress of simulations.
struct NotifyingCache<'a>(&'a Shared);

impl StateCache for NotifyingCache<'_> {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        self.0.store.get(key)
    }
    fn put(&self, key: u128, bytes: &[u8]) {
        self.0.store.put(key, bytes);
    }
    fn simulating(&self, done: u64, all: u64) {
        lock(&self.0.pending).simulating = Some((done, all));
    }
}

/// Takes tickets until there are none.
pub(super) fn work(shared: &Shared) {
    let frame = Frame::new(*shared.chain.input());
    let slot = Slot { frame, ..Slot::default() };
    let mut buffers = WorkerBuffers { slot, work: Workspace::default(), encoded: Vec::new() };
    while let Some((ticket, next)) = take_ticket(shared, &mut buffers.slot) {
        let result = match next {
            Next::End => return,
            Next::Failed(number, error) => Err(FailedFrame::new(number + shared.offset, None, error)),
            Next::Damaged(stamp, error) => match shared.on_error {
                OnError::Stop => Err(FailedFrame::new(stamp.number + shared.offset, Some(stamp.time), error)),
                // with the error concealment of the decoder
                OnError::Skip => finish(shared, &mut buffers, stamp, None),
                OnError::Hold => finish(shared, &mut buffers, stamp, Some(error)),
            },
            Next::Frame(stamp) => finish(shared, &mut buffers, stamp, None),
        };
        if !write(shared, ticket, result, &buffers) {
            return;
        }
    }
}

/// Decodes the frame, or replaces it if it is damaged, and filters it; returns its stamp with the user's number.
fn finish(
    shared: &Shared,
    buffers: &mut WorkerBuffers,
    stamp: FrameStamp,
    damage: Option<FrameError>,
) -> Result<FrameStamp, FailedFrame> {
    let decoded = decode(shared, &mut buffers.slot, &stamp, damage);
    // From here on, numbers are the user's.
    let carried = buffers.slot.carried.take().or(stamp.carried);
    let stamp = FrameStamp { number: stamp.number + shared.offset, carried, ..stamp };
    match decoded.and_then(|()| guarded(|| process(shared, buffers, &stamp))) {
        Ok(()) => Ok(stamp),
        Err(error) => Err(FailedFrame::new(stamp.number, Some(stamp.time), error)),
    }
}

/// Decodes the frame, or replaces it if it is damaged and frames are held.
fn decode(
    shared: &Shared,
    slot: &mut Slot,
    stamp: &FrameStamp,
    damage: Option<FrameError>,
) -> Result<(), FrameError> {
    let decoded = match damage {
        Some(error) => Err(error),
        None => guarded(|| Ok(shared.decoder.decode(stamp, slot)?)),
    };
    let (Err(error), Some(holder)) = (&decoded, &shared.holder) else { return decoded };
    (slot.pending, slot.carried) = (None, None);
    let Some(good) = lock(holder).replace(stamp.number, &mut slot.frame, &shared.cancelled) else {
        // the search may have been stopped
        let cancelled = shared.cancelled.load(Ordering::Relaxed);
        return if cancelled { Err(PrepareError::Cancelled.into()) } else { decoded };
    };
    let (number, good) = (stamp.number + shared.offset, good + shared.offset);
    let mut pending = lock(&shared.pending);
    pending.summary.held += 1;
    pending.notes.push(NoteCode::Held.note(format!("frame {number} is replaced by frame {good}: {error}")));
    Ok(())
}

/// A ticket with the source's result; `None` if there are no more.
fn take_ticket(shared: &Shared, slot: &mut Slot) -> Option<(u64, Next)> {
    let mut input = lock(&shared.input);
    if shared.closing.load(Ordering::Relaxed) || shared.cancelled.load(Ordering::Relaxed) {
        return None;
    }
    let input = input.as_mut()?;
    let mut next = guarded(|| Ok(input.next(slot))).unwrap_or_else(|error| Next::Failed(0, error));
    if let Some(holder) = shared.holder.as_ref().filter(|holder| lock(holder).is_in_order()) {
        next = match next {
            Next::Frame(stamp) => match decode(shared, slot, &stamp, None) {
                Ok(()) => {
                    lock(holder).keep(stamp.number, &slot.frame);
                    Next::Frame(stamp)
                }
                Err(error) => Next::Damaged(stamp, error),
            },
            Next::Damaged(stamp, error) => match decode(shared, slot, &stamp, Some(error)) {
                Ok(()) => Next::Frame(stamp),
                Err(error) => Next::Damaged(stamp, error),
            },
            other => other,
        };
    }
    let mut pending: Vec<_> =
        input.drain_notes().into_iter().map(|text| NoteCode::Input.note(text)).collect();
    if let Next::Damaged(_, error) = &next
        && shared.on_error == OnError::Skip
    {
        pending.push(NoteCode::Patched.note(format!("damaged frame kept with error concealment: {error}")));
    }
    if !pending.is_empty() {
        lock(&shared.pending).notes.extend(pending);
    }
    // A read that was in progress when the pipeline was cancelled has ended early.
    if matches!(next, Next::Failed(..)) && shared.cancelled.load(Ordering::Relaxed) {
        return None;
    }
    if let Next::End = next {
        shared.finished.store(true, Ordering::Relaxed);
        return None;
    }
    Some((shared.issued.fetch_add(1, Ordering::Relaxed), next))
}

/// Converts a panic to an error of this frame.
pub(crate) fn guarded<T>(f: impl FnOnce() -> Result<T, FrameError>) -> Result<T, FrameError> {
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|panic| Err(FrameError::Panic(panic_text(&*panic).into())))
}

/// Filters and encodes: the work that needs no order.
fn process(shared: &Shared, buffers: &mut WorkerBuffers, stamp: &FrameStamp) -> Result<(), FrameError> {
    let frame = &mut buffers.slot.frame;
    // The user may have overridden tags.
    frame.retag(*shared.chain.input());
    let at = FrameTime::of_time(stamp.number, stamp.time);
    let host = Host { executor: &shared.threads, cache: &NotifyingCache(shared), stop: &shared.cancelled };
    shared
        .chain
        .run(&at, stamp.duration, frame, &mut buffers.work, &shared.states, &host)
        .map_err(FrameError::Filter)?;
    buffers.encoded.clear();
    shared.encoder.encode(stamp, frame, &mut buffers.encoded)?;
    shared.ready.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Waits for the ticket's turn and writes; `false` if the pipeline is to end.
fn write(
    shared: &Shared,
    ticket: u64,
    result: Result<FrameStamp, FailedFrame>,
    buffers: &WorkerBuffers,
) -> bool {
    let mut writing = wait(&shared.threads, || {
        let writing = lock(&shared.writing);
        let waits = |w: &mut Writing| w.turn < ticket;
        shared.turn_changed.wait_while(writing, waits).unwrap_or_else(PoisonError::into_inner)
    });
    if writing.turn > ticket || writing.sink.is_none() {
        // the render has ended: nobody else has to wait
        writing.turn = u64::MAX;
        shared.turn_changed.notify_all();
        return false;
    }
    if writing.failure.is_none() {
        match result.and_then(|stamp| send(shared, &mut writing, stamp, buffers)) {
            Ok(stamp) => {
                writing.out_time = writing.out_time + stamp.duration;
                report(shared, writing.out_time, stamp.number, false);
            }
            Err(failed) => leave_out_or_end(shared, &mut writing, failed),
        }
    }
    writing.turn += 1;
    shared.written.fetch_add(1, Ordering::Relaxed);
    let go_on = writing.failure.is_none();
    drop(writing);
    shared.turn_changed.notify_all();
    go_on
}

/// Sends a frame to the sink.
fn send(
    shared: &Shared,
    writing: &mut Writing,
    stamp: FrameStamp,
    buffers: &WorkerBuffers,
) -> Result<FrameStamp, FailedFrame> {
    let sent = check_constant_rate(shared, writing, &stamp).and_then(|()| {
        guarded(|| match &mut writing.sink {
            Some(sink) => Ok(sink.write(&stamp, &buffers.slot.frame, &buffers.encoded)?),
            None => Ok(()),
        })
    });
    match sent {
        Ok(()) => Ok(stamp),
        Err(error) => {
            Err(FailedFrame { fatal: true, ..FailedFrame::new(stamp.number, Some(stamp.time), error) })
        }
    }
}

/// Leaves a failed frame out, or ends the pipeline.
fn leave_out_or_end(shared: &Shared, writing: &mut Writing, failed: FailedFrame) {
    let FailedFrame { number, time, error, fatal } = failed;
    let skip = shared.on_error == OnError::Skip && !fatal && skippable(&error);
    let failure = match error {
        FrameError::Sink(SinkError::Disk(DiskError::Closed { .. })) => Failure::Closed,
        FrameError::Filter(PrepareError::Cancelled) => Failure::Cancelled,
        // the sound for the output could not be read any more
        FrameError::Sink(SinkError::Disk(DiskError::Io { cause, .. }))
            if cause.kind() == ErrorKind::Interrupted && shared.cancelled.load(Ordering::Relaxed) =>
        {
            Failure::Cancelled
        }
        error if about_frame(&error) => Failure::Frame { number: Some(number), time, error },
        error => Failure::Frame { number: None, time: None, error },
    };
    if skip {
        lock(&shared.pending).notes.push(NoteCode::LeftOut.note(format!("left out: {failure}")));
        report(shared, writing.out_time, number, true);
    } else {
        writing.failure = Some(failure);
        shared.closing.store(true, Ordering::Relaxed);
    }
}

/// Reports the first frame whose time is lost in the output.
fn check_constant_rate(shared: &Shared, writing: &mut Writing, stamp: &FrameStamp) -> Result<(), FrameError> {
    let Some(constant_rate) = writing.constant_rate else { return Ok(()) };
    let place = Ratio::whole(stamp.number - shared.offset - constant_rate.first);
    if constant_rate.rate.recip().is_none_or(|step| place * step == stamp.time) {
        return Ok(());
    }
    writing.constant_rate = None;
    let lost = LostTime { number: stamp.number, time: stamp.time, rate: constant_rate.rate };
    if constant_rate.strict {
        return Err(FrameError::TimeLost(lost));
    }
    lock(&shared.pending).notes.push(NoteCode::TimesLost.note(lost.to_string()));
    Ok(())
}

/// Whether other frames may still succeed.
fn skippable(error: &FrameError) -> bool {
    !matches!(
        error,
        FrameError::Filter(PrepareError::Cancelled) | FrameError::Nothing { .. } | FrameError::Short { .. }
    )
}

/// Whether the frame's number helps in the message: other errors contain it.
fn about_frame(error: &FrameError) -> bool {
    !matches!(error, FrameError::Nothing { .. } | FrameError::Short { .. } | FrameError::TimeLost(_))
}

fn report(shared: &Shared, out_time: Ratio, number: i64, left_out: bool) {
    let mut pending = lock(&shared.pending);
    pending.simulating = None;
    if left_out {
        pending.summary.failed += 1;
    } else {
        pending.summary.frames += 1;
    }
    let Summary { frames: done, failed, .. } = pending.summary;
    pending.frames.push(FrameDone { done, failed, total: shared.total, number, out_time, left_out });
}
