//! SIGINT and SIGTERM: the first asks the job to end, the second removes what has no name yet and ends the program,
//! the third ends it at once, whatever it is doing.

use super::exit::Exit;
use crate::disk::remove_unfinished;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals as Told;
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
        let twice = Arc::new(AtomicBool::new(false));
        let mut told = Told::new([SIGINT, SIGTERM])?;
        for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)] {
            flag::register_conditional_shutdown(signal, exit.code().into(), Arc::clone(&twice))?;
            flag::register_usize(signal, Arc::clone(&signals.which), signal.unsigned_abs() as usize)?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        let which = signals.exit_code();
        thread::Builder::new().name("signals".into()).spawn(move || {
            if told.forever().nth(1).is_some() {
                // Before anything that may be waited for: whoever waits presses the keys again.
                twice.store(true, Ordering::SeqCst);
                remove_unfinished();
                signal_hook::low_level::exit(which());
            }
        })?;
        Ok(signals)
    }

    /// The code to end with, to be asked for later.
    fn exit_code(&self) -> impl Fn() -> i32 + Send + 'static {
        let own = Signals { stop: Arc::clone(&self.stop), which: Arc::clone(&self.which) };
        move || own.exit().code().into()
    }

    /// How to end after an interruption.
    pub(super) fn exit(&self) -> Exit {
        if self.which.load(Ordering::SeqCst) == SIGTERM.unsigned_abs() as usize {
            Exit::Terminated
        } else {
            Exit::Interrupted
        }
    }

    /// Does `work`, which may wait for somebody else (a pipe that says nothing) and may not see that it is to
    /// stop. `None` when a signal came before it was done: what it made, if it ever ends, is dropped.
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
                // What failed then may have failed because it was broken off.
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
