//! SIGINT, SIGTERM and SIGHUP. The first signal asks the job to end; the job completes the part that is written.
//! The second, at least [`APART`] later, asks it to end at once; after [`GRACE`], or at a third signal, the program ends
//! whatever it does. A file that is being written then stays under its partial name. The records that `--resume` needs
//! are on the disk before the next frame starts.

use super::exit::{Exit, Failure};
use grainfield_render::session::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level;
#[cfg(unix)]
use signal_hook::{
    consts::{SIGHUP, SIGXFSZ},
    flag,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Signals that follow the first one sooner count as the first: `timeout` and a closed terminal signal the program and
/// then its group.
const APART: Duration = Duration::from_millis(500);
/// The time that a job has after the second signal.
const GRACE: Duration = Duration::from_secs(3);
/// The grace period of work that does not check for it.
const LAST: Duration = Duration::from_secs(1);

/// Handles signals from its creation to the end of the program.
#[derive(Debug)]
pub(super) struct Signals {
    /// Set by the first signal.
    pub(super) cancel: Cancel,
    /// Set by the second.
    pub(super) abort: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

/// How a signal ends the program.
const EXITS: &[(i32, Exit)] = &[
    (SIGINT, Exit::Interrupted),
    (SIGTERM, Exit::Terminated),
    #[cfg(unix)]
    (SIGHUP, Exit::HungUp),
];

impl Signals {
    /// Installs the handlers; not for SIGHUP if it is ignored, as under `nohup`.
    pub(super) fn watch() -> Result<Signals, Failure> {
        Signals::install().map_err(|error| Failure::failed(format!("signals cannot be watched: {error}")))
    }

    fn install() -> io::Result<Signals> {
        let signals = Signals { cancel: Cancel::new(), abort: Arc::default(), which: Arc::default() };
        let mut all = signals.arrivals()?;
        let (which, abort) = (Arc::clone(&signals.which), Arc::clone(&signals.abort));
        thread::Builder::new().name("signals".into()).spawn(move || {
            let first = all.next().map(|_| Instant::now());
            if first.is_some_and(|first| all.any(|_| first.elapsed() >= APART)) {
                abort.store(true, Ordering::SeqCst);
                thread::sleep(GRACE);
                low_level::exit(exit_of(&which).code().into());
            }
        })?;
        Ok(signals)
    }

    /// Handles signals, and waits for each.
    #[cfg(unix)]
    fn arrivals(&self) -> io::Result<impl Iterator<Item = ()> + Send + use<>> {
        let taken =
            || EXITS.iter().copied().filter(|(signal, exit)| *exit != Exit::HungUp || !is_ignored(*signal));
        // With a handler, a write beyond the limit for the size of files is an error instead of the end of the program.
        flag::register(SIGXFSZ, Arc::default())?;
        for (signal, exit) in taken() {
            flag::register_conditional_shutdown(signal, exit.code().into(), Arc::clone(&self.abort))?;
            flag::register_usize(signal, Arc::clone(&self.which), signal.unsigned_abs() as usize)?;
            flag::register(signal, Arc::clone(self.cancel.flag()))?;
        }
        // after the others, in whose order a signal is handled: the second one must not find the flag that it sets
        let mut come = signal_hook::iterator::Signals::new(taken().map(|(signal, _)| signal))?;
        Ok(std::iter::from_fn(move || come.forever().next().map(|_| ())))
    }

    /// The same with the events of a console, which stand for SIGINT.
    #[cfg(windows)]
    fn arrivals(&self) -> io::Result<impl Iterator<Item = ()> + Send + use<>> {
        let (cancel, abort) = (Arc::clone(self.cancel.flag()), Arc::clone(&self.abort));
        let (send, receive) = mpsc::channel();
        let handle = move || {
            if abort.load(Ordering::SeqCst) {
                low_level::exit(Exit::Interrupted.code().into());
            }
            cancel.store(true, Ordering::SeqCst);
            let _ = send.send(()); // nobody waits at the end of the program
        };
        ctrlc::set_handler(handle).map_err(io::Error::other)?;
        Ok(receive.into_iter())
    }

    /// Ends the program after an interruption. Threads may still be in an encoder, which must not be taken down under
    /// them, as the usual end of a program does.
    pub(super) fn leave(&self, exit: Exit) -> Exit {
        if self.cancel.is_cancelled() {
            low_level::exit(exit.code().into());
        }
        exit
    }

    /// How to end after an interruption.
    pub(super) fn exit(&self) -> Exit {
        exit_of(&self.which)
    }

    /// Does `work`, which may wait for somebody else (a pipe that says nothing) and may not see that it is to
    /// stop. `None` when a signal came before it was done: what it made, if it ends soon, is dropped.
    pub(super) fn unless_cancelled<T: Send + 'static>(
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
                Ok(_) if self.cancel.is_cancelled() => return None,
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => {
                    // It may have created a file, which it removes.
                    let _ = receive.recv_timeout(LAST);
                    return None;
                }
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

/// Whether the program was started with this signal ignored. False if unknown.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Signals {
        Signals { cancel: Cancel::new(), abort: Arc::default(), which: Arc::default() }
    }

    #[test]
    fn work_is_done_or_left() {
        assert_eq!(quiet().unless_cancelled(|| 7), Some(7));
        let cancelled = quiet();
        cancelled.cancel.cancel();
        let (send, receive) = mpsc::channel::<()>();
        assert_eq!(cancelled.unless_cancelled(move || receive.recv().is_ok()), None);
        drop(send);
    }

    #[test]
    fn the_signal_decides_the_exit() {
        let s = quiet();
        assert_eq!(s.exit(), Exit::Interrupted);
        for (signal, exit) in EXITS.iter().copied() {
            s.which.store(signal as usize, Ordering::SeqCst);
            assert_eq!(s.exit(), exit);
        }
    }
}
