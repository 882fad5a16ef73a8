//! Ending what is not wanted any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A request's permission to go on. Clones share it, so any of them ends the request.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the request: it returns [`Error::Cancelled`](super::Error::Cancelled) as soon as the bands that are being
    /// filtered are done.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ended by whoever sets the flag.
    pub(super) fn of(flag: Arc<AtomicBool>) -> Cancel {
        Cancel(flag)
    }

    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// A place that shows one picture at a time, such as a pane: the newest request wins.
///
/// ```
/// let pane = grainfield::session::Newest::default();
/// let first = pane.request();
/// let second = pane.request();
/// assert!(first.is_cancelled() && !second.is_cancelled());
/// ```
#[derive(Debug, Default)]
pub struct Newest(Mutex<Cancel>);

impl Newest {
    /// Cancels the request before, and begins a new one.
    pub fn request(&self) -> Cancel {
        let new = Cancel::new();
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *now, new.clone()).cancel();
        new
    }
}
