//! What the program lends to filters: threads, stored states, tracks read piece by piece, a way to stop.
//!
//! The filters crate has no files, threads or clocks of its own; whoever hosts it (the program, a plugin shell, a
//! test) hands these in. [`CurrentThread`] and [`NoCache`] are the poorest hosts that are still right.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::io;

/// Threads, lent.
pub trait Executor: Sync {
    /// Calls `task(0)` to `task(count - 1)`, each exactly once, in any order and possibly at the same time, and
    /// returns when all are done. A task must not block or wait for another.
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync));

    /// How many tasks may run at the same time: a hint for choosing `count`, never a part of a result.
    fn width(&self) -> usize;
}

/// Runs those of the tasks 0 to `count - 1` that no other thread has taken from `next`, one after the other, until
/// none is left: what each thread of an [`Executor`] does. `next` begins at 0.
pub fn take_tasks(next: &AtomicUsize, count: usize, task: &(dyn Fn(usize) + Sync)) {
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= count {
            return;
        }
        task(i);
    }
}

/// Stored states (jump frames) by key, lent. Best effort: what was put may be gone, so a reader must be able to
/// make the state again.
pub trait StateCache: Sync {
    /// The bytes stored under `key`, verified whole, or `None`.
    fn get(&self, key: u128) -> Option<Vec<u8>>;
    /// Keeps `bytes` under `key`, if there is room.
    fn put(&self, key: u128, bytes: &[u8]);
    /// Told on the way to a state that was not stored: `done` of `all` frames have been stepped. Only to be shown to
    /// whoever waits; a store need not listen.
    fn simulating(&self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// Unpacked bytes at any place, lent (track files).
pub trait ReadAt: Send + Sync {
    /// Fills `buf` from `offset`, or fails.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> u64;
    /// Whether there is nothing at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes in memory are as good as a file.
impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|o| self.get(o..)?.get(..buf.len()));
        buf.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }
}

impl<T: ReadAt + ?Sized> ReadAt for std::sync::Arc<T> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, buf)
    }

    fn len(&self) -> u64 {
        (**self).len()
    }
}

/// Why `prepare` gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareError {
    /// The host asked for it.
    Cancelled,
    /// It cannot be done; the text says what and what would be right.
    Failed(String),
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrepareError::Cancelled => f.write_str("stopped on request"),
            PrepareError::Failed(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for PrepareError {}

/// Lent to `prepare`, and only there.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Threads.
    pub executor: &'a dyn Executor,
    /// Jump frames.
    pub cache: &'a dyn StateCache,
    /// Set by the host when work should end; asked now and then by whatever takes long.
    pub stop: &'a AtomicBool,
}

impl Host<'_> {
    /// `Err(PrepareError::Cancelled)` once the host wants to stop.
    pub fn check(&self) -> Result<(), PrepareError> {
        if self.stop.load(Ordering::Relaxed) { Err(PrepareError::Cancelled) } else { Ok(()) }
    }
}

/// No threads but the caller's.
#[derive(Clone, Copy, Debug, Default)]
pub struct CurrentThread;

impl Executor for CurrentThread {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
    fn width(&self) -> usize {
        1
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl StateCache for NoCache {
    fn get(&self, _: u128) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, _: u128, _: &[u8]) {}
}
