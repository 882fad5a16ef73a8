//! Ends reads that wait for a network or a pipe when a job is stopped.
//!
//! A read may complete after the stop request, since the sound for the finished pictures is still needed. Only a
//! read that stands still for a while is cancelled.

use crate::disk::reach;
use ffmpeg_next::util::interrupt::{self, InterruptGuard};
use ffmpeg_sys_next as sys;
use grainfield_filters::host::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a read may continue after the stop request.
const GRACE: Duration = Duration::from_secs(1);
/// The interval at which a silent pipe is polled.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Set when a job is to stop.
pub type StopFlag = Arc<AtomicBool>;

/// Ends the reads of a context; must live as long as it.
pub(crate) struct Interrupt {
    poll: Arc<Poll>,
    _callback: InterruptGuard,
}

/// Polled by libav while it waits.
struct Poll {
    stop: StopFlag,
    /// When the current read first saw the stop request.
    since: Mutex<Option<Instant>>,
    context: AtomicPtr<sys::AVFormatContext>,
    /// The number of bytes after which reading ends.
    limit: i64,
}

impl Interrupt {
    /// Makes the reads of a context end after the stop request, and after a number of bytes. Call it before the context is opened; the returned
    /// value must live as long as the context.
    ///
    /// # Safety
    /// `context` must be valid.
    pub(crate) unsafe fn watch(stop: &StopFlag, limit: i64, context: *mut sys::AVFormatContext) -> Interrupt {
        let poll = Arc::new(Poll {
            stop: Arc::clone(stop),
            since: Mutex::default(),
            context: AtomicPtr::new(context),
            limit,
        });
        let polled = Arc::clone(&poll);
        let callback = interrupt::new(Box::new(move || polled.is_over()));
        // SAFETY: valid as the caller guarantees; everything that the context opens gets a copy of the callback and
        // is closed with it.
        unsafe { (*context).interrupt_callback = callback.interrupt };
        Interrupt { poll, _callback: callback.guard }
    }

    /// Another read begins.
    pub(crate) fn renew(&self) {
        *lock(&self.poll.since) = None;
    }

    /// Whether reading is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.poll.stop.load(Ordering::Relaxed)
    }
}

impl Poll {
    fn is_over(&self) -> bool {
        // SAFETY: the context calls this, so it is valid; its input is null before it is opened.
        let input = unsafe { (*self.context.load(Ordering::Relaxed)).pb.as_ref() };
        if input.map_or(0, |pb| pb.bytes_read) > self.limit {
            return true;
        }
        if !self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let mut since = lock(&self.since);
        since.get_or_insert_with(Instant::now).elapsed() > GRACE
    }
}

/// A named pipe that may not have a writer yet, or any more.
struct Fifo {
    file: File,
    stop: StopFlag,
}

/// Opens a named pipe without waiting for its writer. Its reads wait until there are data or the stop request, which
/// is an error.
///
/// # Errors
/// The pipe cannot be opened.
pub fn fifo(path: &Path, stop: StopFlag) -> io::Result<Box<dyn Read + Send>> {
    let file = reach::open_with(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK), path)?;
    Ok(Box::new(Fifo { file, stop }))
}

impl Read for Fifo {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // A pipe that never had a writer is silent; only one that its writer has closed is at its end.
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&TICK)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => match self.file.read(into) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                    read => return read,
                },
                Err(error) => return Err(error.into()),
            }
            if self.stop.load(Ordering::Relaxed) {
                // not `Interrupted`, after which readers would try again
                return Err(io::Error::from_raw_os_error(libc::ECANCELED));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        (dir, path)
    }

    #[test]
    fn a_pipe_is_read_as_a_file_is() {
        use std::io::Write;
        let (_dir, path) = pipe();
        let mut reader = fifo(&path, StopFlag::default()).unwrap();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(120));
            let mut file = OpenOptions::new().write(true).open(path).unwrap();
            for _ in 0..3 {
                file.write_all(&[7; 100_000]).unwrap();
                std::thread::sleep(Duration::from_millis(60));
            }
        });
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        writer.join().unwrap();
        assert_eq!(all, [7; 300_000]);
    }

    #[test]
    fn a_silent_pipe_ends_with_the_stop() {
        let (_dir, path) = pipe();
        let stop = StopFlag::default();
        let mut reader = fifo(&path, Arc::clone(&stop)).unwrap();
        let reading = std::thread::spawn(move || reader.read_to_end(&mut Vec::new()));
        std::thread::sleep(Duration::from_millis(120));
        assert!(!reading.is_finished(), "nobody has written yet, which is no end");
        stop.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        assert_eq!(reading.join().unwrap().unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
