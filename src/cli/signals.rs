//! SIGINT, SIGTERM and SIGHUP. The first signal asks the job to end; the job finishes the frames that it has started.
//! After a second signal, at least [`APART`] later, the job has [`GRACE`] left. After that time, or at a third signal,
//! temporary files are removed and the program ends; complete frames of an output that is one file stay as its partial
//! result. A fourth signal ends the program at once. The records that `--resume` needs (names of complete frames and
//! segments, and their properties) are on the disk before the next frame starts, so that none of them is lost.

use super::exit::Exit;
use crate::disk::leave_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals as Told;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Signals that follow the first one sooner count as the first: `timeout` and a closed terminal signal the program and
/// then its group.
const APART: Duration = Duration::from_millis(500);
/// The time that a job has after the second signal to finish its output.
const GRACE: Duration = Duration::from_secs(2);

/// Handles signals from its creation to the end of the program.
#[derive(Debug)]
pub(super) struct Signals {
    /// Set by the first signal.
    pub(super) stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

/// How a signal ends the program.
const EXITS: [(i32, Exit); 3] =
    [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::HungUp)];

impl Signals {
    /// Installs the handlers; not for SIGHUP if it is ignored, as under `nohup`.
    pub(super) fn watch() -> io::Result<Signals> {
        let signals = Signals { stop: Arc::default(), which: Arc::default() };
        let hurried = Arc::new(AtomicBool::new(false));
        let taken = || EXITS.into_iter().filter(|(signal, _)| *signal != SIGHUP || !is_ignored(SIGHUP));
        let mut told = Told::new(taken().map(|(signal, _)| signal))?;
        for (signal, exit) in taken() {
            flag::register_conditional_shutdown(signal, exit.code().into(), Arc::clone(&hurried))?;
            flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize)?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        let which = Arc::clone(&signals.which);
        let end = move || -> ! {
            leave_unfinished();
            signal_hook::low_level::exit(exit_of(&which).code().into())
        };
        thread::Builder::new().name("signals".into()).spawn(move || {
            let mut all = told.forever();
            if all.next().is_none() {
                return;
            }
            let first = Instant::now();
            if !all.any(|_| first.elapsed() >= APART) {
                return;
            }
            let late = end.clone();
            let _ = thread::Builder::new().name("grace".into()).spawn(move || {
                thread::sleep(GRACE);
                late();
            });
            if all.next().is_some() {
                // Before any wait: a user who waits presses the keys again.
                hurried.store(true, Ordering::SeqCst);
                end();
            }
        })?;
        Ok(signals)
    }

    /// How to end after an interruption.
    pub(super) fn exit(&self) -> Exit {
        exit_of(&self.which)
    }

    /// Does `work`, which may wait for somebody else (a pipe that says nothing) and may not see that it is to
    /// stop. `None` when a signal came before it was done: what it made, if it ever ends, is dropped.
    pub(super) fn unless_stopped<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (send, receive) = mpsc::sync_channel(1);
        let worker = thread::spawn(move || {
            let _ = send.send(work()); // after a signal there is no receiver
        });
        loop {
            match receive.recv_timeout(Duration::from_millis(50)) {
                // A failure at that time may be due to the interruption.
                Ok(_) if self.stop.load(Ordering::SeqCst) => return None,
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::SeqCst) => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => return None, // not reached: a worker that ended well has sent
                },
            }
        }
    }
}

fn exit_of(which: &AtomicUsize) -> Exit {
    let which = which.load(Ordering::SeqCst);
    let exit = EXITS.iter().find(|(signal, _)| signal.unsigned_abs() as usize == which);
    exit.map_or(Exit::Interrupted, |(_, exit)| *exit)
}

/// Whether the program was started with this signal ignored. Where that cannot be told it was not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Signals {
        Signals { stop: Arc::default(), which: Arc::default() }
    }

    #[test]
    fn work_is_done_or_left() {
        assert_eq!(quiet().unless_stopped(|| 7), Some(7));
        let stopped = quiet();
        stopped.stop.store(true, Ordering::SeqCst);
        let (send, receive) = mpsc::channel::<()>();
        assert_eq!(stopped.unless_stopped(move || receive.recv().is_ok()), None);
        drop(send);
    }

    #[test]
    fn the_signal_decides_the_exit() {
        let s = quiet();
        assert_eq!(s.exit(), Exit::Interrupted);
        for (signal, exit) in EXITS {
            s.which.store(signal as usize, Ordering::SeqCst);
            assert_eq!(s.exit(), exit);
        }
    }
}
