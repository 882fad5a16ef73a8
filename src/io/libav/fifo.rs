//! Named pipes, whose reads end when a job is stopped.

use super::interrupt::StopFlag;
use crate::disk::{reach, system};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The interval at which a silent pipe is polled.
const TICK: Duration = Duration::from_millis(50);

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
pub fn open(path: &Path, stop: StopFlag) -> io::Result<Box<dyn Read + Send>> {
    let file = reach::open_with(system::without_waiting(OpenOptions::new().read(true)), path)?;
    Ok(Box::new(Fifo { file, stop }))
}

impl Read for Fifo {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // A pipe that never had a writer is silent; only one that its writer has closed is at its end.
            if system::has_data(&self.file, TICK)? {
                match self.file.read(into) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                    read => return read,
                }
            }
            if self.stop.load(Ordering::Relaxed) {
                // not `Interrupted`, after which readers would try again
                return Err(system::from_errno(libc::ECANCELED));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

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
        let mut reader = open(&path, StopFlag::default()).unwrap();
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
        let mut reader = open(&path, Arc::clone(&stop)).unwrap();
        let reading = std::thread::spawn(move || reader.read_to_end(&mut Vec::new()));
        std::thread::sleep(Duration::from_millis(120));
        assert!(!reading.is_finished(), "nobody has written yet, which is no end");
        stop.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        assert_eq!(reading.join().unwrap().unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
