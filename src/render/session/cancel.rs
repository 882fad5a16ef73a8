//! Cancellation of requests.

use grainfield_filters::host::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A handle to cancel a request. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A handle that is not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Cancels the request: it returns [`Error::Cancelled`](super::Error::Cancelled) after the bands in progress.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that is set on cancelling.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// A viewer that shows one picture at a time: the newest request cancels earlier ones.
///
/// ```
/// let pane = grainfield_render::session::Newest::default();
/// let first = pane.request();
/// let second = pane.request();
/// assert!(first.is_cancelled() && !second.is_cancelled());
/// ```
#[derive(Debug, Default)]
pub struct Newest(Mutex<Cancel>);

impl Newest {
    /// Cancels the previous request, and returns the handle of a new one.
    pub fn request(&self) -> Cancel {
        let new = Cancel::new();
        std::mem::replace(&mut *lock(&self.0), new.clone()).cancel();
        new
    }
}
