//! Interfaces that the host implements for filters: threads, stored states, track data, cancellation.
//!
//! The filters crate does not use files, threads or clocks itself; its host (the program, a plugin, a test)
//! provides them. [`CurrentThread`] and [`NoCache`] are minimal implementations.

use core::any::Any;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs tasks on threads of the host.
pub trait Executor: Sync {
    /// Calls `task(0)` to `task(count - 1)`, each exactly once, in any order and possibly at the same time, and
    /// returns when all are done. A task must not block or wait for another.
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync));

    /// The number of tasks that may run at the same time: a hint for choosing `count`, which must not affect
    /// results.
    fn width(&self) -> usize;

    /// Calls `until`, which waits for another thread; meanwhile one more thread may take tasks.
    fn wait(&self, until: &mut dyn FnMut()) {
        until();
    }
}

/// The result of `until`, which waits for another thread: see [`Executor::wait`].
pub fn wait<T>(executor: &dyn Executor, until: impl FnOnce() -> T) -> T {
    let (mut until, mut got) = (Some(until), None);
    executor.wait(&mut || got = until.take().map(|f| f()));
    match got {
        Some(got) => got,
        None => unreachable!("an executor calls what it is given"),
    }
}

/// Locks, also after a thread has panicked while holding the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tasks of 0 to `count - 1` that no other thread has taken from `next`, until none is left. Each thread of
/// an [`Executor`] calls it. `next` begins at 0.
pub fn take_tasks(next: &AtomicUsize, count: usize, task: &(dyn Fn(usize) + Sync)) {
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= count {
            return;
        }
        task(i);
    }
}

/// Stores states (jump frames) by key, best effort: an entry may disappear, so its user must be able to compute
/// it again.
pub trait StateCache: Sync {
    /// The bytes stored under `key` if they are complete and intact, else `None`.
    fn get(&self, key: u128) -> Option<Vec<u8>>;
    /// Stores `bytes` under `key` if there is room.
    fn put(&self, key: u128, bytes: &[u8]);
    /// Reports progress while a missing state is computed: `done` of `all` frames have been stepped. It is meant for
    /// display; the default does nothing.
    fn simulating(&self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// Random access to the bytes of a track file.
pub trait ReadAt: Send + Sync {
    /// Fills `buf` from `offset`, or returns an error.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> u64;
    /// Whether there is nothing at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes in memory.
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

/// The reason why `prepare` stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The host cancelled it.
    #[error("stopped on request")]
    Cancelled,
    /// An error; the text says what is wrong and what would be right.
    #[error("{0}")]
    Failed(String),
}

/// The host's services during `prepare`.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Runs tasks on threads.
    pub executor: &'a dyn Executor,
    /// Stores jump frames.
    pub cache: &'a dyn StateCache,
    /// The host sets it to cancel; long operations check it regularly.
    pub stop: &'a AtomicBool,
}

impl Host<'_> {
    /// `Err(PrepareError::Cancelled)` after the host has cancelled.
    ///
    /// # Errors
    /// The host has cancelled.
    pub fn check(&self) -> Result<(), PrepareError> {
        if self.stop.load(Ordering::Relaxed) { Err(PrepareError::Cancelled) } else { Ok(()) }
    }
}

/// Runs all tasks on the calling thread.
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

/// Stores nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl StateCache for NoCache {
    fn get(&self, _: u128) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, _: u128, _: &[u8]) {}
}

/// The message of a panic that was caught.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
