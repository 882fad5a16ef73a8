//! SIGINT and SIGTERM: the first asks the job to end, the second ends the program at once.

use super::exit::Exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Watches for signals from its making to the end of the program.
#[derive(Debug)]
pub(super) struct Signals {
    /// Set by the first signal.
    pub(super) stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Takes the signals over.
    pub(super) fn watch() -> io::Result<Signals> {
        let signals = Signals { stop: Arc::default(), which: Arc::default() };
        for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)] {
            // Order matters: the shutdown looks at the flag before the line after it sets the flag.
            flag::register_conditional_shutdown(signal, exit.code().into(), Arc::clone(&signals.stop))?;
            flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize)?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        Ok(signals)
    }

    /// How to end after an interruption.
    pub(super) fn exit(&self) -> Exit {
        if self.which.load(Ordering::SeqCst) == SIGTERM.unsigned_abs() as usize {
            Exit::Terminated
        } else {
            Exit::Interrupted
        }
    }

    /// Does `work`, which may wait for somebody else (a pipe that says nothing) and cannot be told to stop. `None`
    /// when a signal came before it was done: what it made, if it ever ends, is dropped.
    pub(super) fn unless_stopped<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (send, receive) = mpsc::sync_channel(1);
        let worker = thread::spawn(move || {
            let _ = send.send(work()); // nobody listens any more after a signal
        });
        loop {
            match receive.recv_timeout(Duration::from_millis(50)) {
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
        s.which.store(SIGTERM as usize, Ordering::SeqCst);
        assert_eq!(s.exit(), Exit::Terminated);
    }
}
