//! Ends reads of libav that wait for a network or a pipe when a job is stopped.
//!
//! A read may complete after the stop request, since the sound for the finished pictures is still needed. Only a
//! read that stands still for a while is cancelled.

use ffmpeg_next::util::interrupt::{self, InterruptGuard};
use ffmpeg_sys_next as sys;
use grainfield_filters::host::lock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a read may continue after the stop request.
const GRACE: Duration = Duration::from_secs(1);

/// Set when a job is to stop.
pub type StopFlag = Arc<AtomicBool>;

/// Ends the reads of a context; must live as long as it.
pub(crate) struct Interrupt {
    poll: Arc<Poll>,
    _callback: InterruptGuard,
}

/// Polled by libav while it waits.
struct Poll {
    stop: StopFlag,
    /// When the current read first saw the stop request.
    since: Mutex<Option<Instant>>,
    context: AtomicPtr<sys::AVFormatContext>,
    /// The number of bytes after which reading ends.
    limit: i64,
}

impl Interrupt {
    /// Ends the reads of a context at the stop request or after a number of bytes. Call it before the context is opened;
    /// the returned value must live as long as the context.
    ///
    /// # Safety
    /// `context` must be valid.
    pub(crate) unsafe fn watch(stop: &StopFlag, limit: i64, context: *mut sys::AVFormatContext) -> Interrupt {
        let poll = Arc::new(Poll {
            stop: Arc::clone(stop),
            since: Mutex::default(),
            context: AtomicPtr::new(context),
            limit,
        });
        let polled = Arc::clone(&poll);
        let callback = interrupt::new(Box::new(move || polled.is_over()));
        // SAFETY: valid as the caller guarantees; everything that the context opens gets a copy of the callback and
        // is closed with it.
        unsafe { (*context).interrupt_callback = callback.interrupt };
        Interrupt { poll, _callback: callback.guard }
    }

    /// Another read begins.
    pub(crate) fn renew(&self) {
        *lock(&self.poll.since) = None;
    }

    /// Whether reading is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.poll.stop.load(Ordering::Relaxed)
    }
}

impl Poll {
    fn is_over(&self) -> bool {
        // SAFETY: the context calls this, so it is valid; its input is null before it is opened.
        let input = unsafe { (*self.context.load(Ordering::Relaxed)).pb.as_ref() };
        if input.map_or(0, |pb| pb.bytes_read) > self.limit {
            return true;
        }
        if !self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let mut since = lock(&self.since);
        since.get_or_insert_with(Instant::now).elapsed() > GRACE
    }
}
