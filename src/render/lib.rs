//! Renders clips through chains of filters: sessions, batches, analysis, contact sheets, matched grain.
//!
//! Start with [`session`].

pub mod analyze;
pub mod assets;
pub mod batch;
pub mod join;
pub mod matching;
pub mod pipeline;
pub mod session;
#[cfg(feature = "plots")]
pub mod sheet;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a thread has panicked while holding the lock.
pub(crate) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}
