//! What the program lends to filters: threads, stored states, tracks read piece by piece, a way to stop.
//!
//! The filters crate has no files, threads or clocks of its own; whoever hosts it (the program, a plugin shell, a
//! test) hands these in. [`Alone`] and [`NoStore`] are the poorest hosts that are still right.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

/// Threads, lent.
pub trait Spread: Sync {
    /// Calls `task(0)` to `task(count - 1)`, each exactly once, in any order and possibly at the same time, and
    /// returns when all are done. A task must not block or wait for another.
    fn spread(&self, count: usize, task: &(dyn Fn(usize) + Sync));

    /// How many tasks may run at the same time: a hint for choosing `count`, never a part of a result.
    fn width(&self) -> usize;
}

/// Stored states (jump frames) by key, lent. Best effort: what was put may be gone, so a reader must be able to
/// make the state again.
pub trait Store: Sync {
    /// The bytes stored under `key`, verified whole, or `None`.
    fn get(&self, key: u128) -> Option<Vec<u8>>;
    /// Keeps `bytes` under `key`, if there is room.
    fn put(&self, key: u128, bytes: &[u8]);
    /// Told on the way to a state that was not stored: `done` of `all` frames have been stepped. Only to be shown to
    /// whoever waits; a store need not listen.
    fn stepping(&self, done: u64, all: u64) {
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
pub enum Stop {
    /// The host asked for it.
    Cancelled,
    /// It cannot be done; the text says what and what would be right.
    Failed(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Cancelled => f.write_str("stopped on request"),
            Stop::Failed(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for Stop {}

/// Lent to `prepare`, and only there.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Threads.
    pub spread: &'a dyn Spread,
    /// Jump frames.
    pub store: &'a dyn Store,
    /// Set by the host when work should end; asked now and then by whatever takes long.
    pub stop: &'a AtomicBool,
}

impl Host<'_> {
    /// `Err(Stop::Cancelled)` once the host wants to stop.
    pub fn check(&self) -> Result<(), Stop> {
        if self.stop.load(Ordering::Relaxed) { Err(Stop::Cancelled) } else { Ok(()) }
    }
}

/// No threads but the caller's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Spread for Alone {
    fn spread(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
    fn width(&self) -> usize {
        1
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl Store for NoStore {
    fn get(&self, _: u128) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, _: u128, _: &[u8]) {}
}
