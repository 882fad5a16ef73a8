//! The file that sinks write to; only a complete result gets the final name.
//!
//! A file is written as `NAME.partial.EXT`, or `NAME.partial-2.EXT` if that exists, and is renamed atomically when it is
//! complete ([`OutputFile::finish`]). If it cannot be completed, the part up to the last whole frame keeps that name
//! ([`OutputFile::abandon`]). An output that is dropped without either is abandoned. Devices, named pipes and standard output
//! are written directly.

use super::error::DiskError;
use super::partial::{Partial, PartialOutput};
use super::rescue::{OutputRescue, WrittenFrames};
use super::same::folder_of;
use super::system;
use grainfield_filters::host::lock;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The size of the write buffer.
const BUFFER: usize = 256 << 10;
/// Rows shorter than this are copied to the buffer: the system handles few large pieces faster than many
/// small ones.
const SMALL: usize = 1 << 10;

enum Target {
    /// Standard output, a pipe or a device.
    Stream(File),
    File {
        partial: Partial,
        overwrite: bool,
    },
}

/// A function that is called with a complete file before it gets its name: with the file, its path and the number of
/// its frames.
pub type BeforeCommit = Box<dyn FnOnce(&File, &Path, u64) -> io::Result<()> + Send>;

/// A file being written, a device, a pipe or standard output.
pub struct OutputFile {
    name: String,
    /// `None` after it has been finished or abandoned.
    target: Option<Target>,
    buf: Vec<u8>,
    /// Bytes that the system has accepted.
    written: u64,
    /// Positions of ends of frames: the last one that has been written, and all later ones.
    marks: VecDeque<u64>,
    /// The function to call before the file gets its name.
    before_commit: Option<BeforeCommit>,
    /// Number of ends of frames so far.
    frames: u64,
    complete: Arc<Mutex<WrittenFrames>>,
}

impl std::fmt::Debug for OutputFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputFile")
            .field("name", &self.name)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl OutputFile {
    /// Opens `output` for writing; `-` is standard output. Returns an error if the file exists and `overwrite` is
    /// false, if it is a folder, or if its folder does not exist or is not writable.
    ///
    /// # Errors
    /// See [`DiskError`].
    pub fn create(output: &OsStr, overwrite: bool) -> Result<OutputFile, DiskError> {
        OutputFile::create_by(output, overwrite, None)
    }

    /// As `create`. With a folder on the same disk, the incomplete file has no name, so nothing of it is left.
    ///
    /// # Errors
    /// See [`DiskError`].
    pub fn create_by(output: &OsStr, overwrite: bool, by: Option<&Path>) -> Result<OutputFile, DiskError> {
        if output == "-" {
            // without the line buffering of `std::io::stdout`
            let name = "standard output".to_owned();
            return match system::duplicate(&io::stdout()) {
                Ok(stream) => Ok(OutputFile::new(name, Target::Stream(stream))),
                Err(cause) => Err(DiskError::Io { name, cause }),
            };
        }
        let path = Path::new(output);
        let name = path.display().to_string();
        let io = |cause| DiskError::Io { name: name.clone(), cause };
        if output.is_empty() {
            let problem = "the name of the file is empty".into();
            return Err(DiskError::Name { name: "output".into(), problem });
        }
        let meta = std::fs::metadata(path).ok();
        if meta.as_ref().is_some_and(|m| m.is_dir()) || ends_in_separator(output) {
            return Err(DiskError::Name { name, problem: "is a folder; name a file in it".into() });
        }
        if is_descriptor(path) || meta.as_ref().is_some_and(|m| !m.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(io)?;
            return Ok(OutputFile::new(name, Target::Stream(file)));
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(DiskError::Exists(path.into()));
        }
        let path = resolve_symlink(path).map_err(io)?;
        let folder = folder_of(&path);
        check_folder(&name, folder)?;
        let created = by.map_or_else(|| Partial::visible(&path), |by| Partial::unnamed(&path, by));
        let partial = created.map_err(|e| match e.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                let problem = format!("cannot create files in the folder {}: {e}", folder.display());
                DiskError::Bad { name: name.clone(), problem }
            }
            _ => io(e),
        })?;
        Ok(OutputFile::new(name, Target::File { partial, overwrite }))
    }

    fn new(name: String, target: Target) -> OutputFile {
        OutputFile {
            name,
            target: Some(target),
            buf: Vec::with_capacity(BUFFER),
            written: 0,
            marks: VecDeque::new(),
            before_commit: None,
            frames: 0,
            complete: Arc::default(),
        }
    }

    /// Sets a function to be called when the file is complete, before it gets its name.
    pub fn before_commit(&mut self, hook: BeforeCommit) {
        self.before_commit = Some(hook);
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The incomplete file, for writers that write to it themselves; `None` if the output is not a file.
    pub fn partial(&self) -> Option<&Partial> {
        match &self.target {
            Some(Target::File { partial, .. }) => Some(partial),
            _ => None,
        }
    }

    /// The pipe, for writers that write to it themselves; `None` if the output is a file.
    pub fn stream(&self) -> Option<&File> {
        match &self.target {
            Some(Target::Stream(file)) => Some(file),
            _ => None,
        }
    }

    /// A handle that ends it from another thread.
    ///
    /// # Errors
    /// If the system has no more handles of files.
    pub fn rescue(&self) -> io::Result<OutputRescue> {
        let file =
            self.partial().map(|p| Ok::<_, io::Error>((p.file().try_clone()?, p.path()))).transpose()?;
        Ok(OutputRescue { file, complete: Arc::clone(&self.complete) })
    }

    /// Declares that another writer has written a file, of which `bytes` bytes with this number of frames are worth
    /// keeping.
    pub fn keep_foreign_bytes(&mut self, bytes: u64, frames: u64) {
        (self.written, self.frames) = (u64::MAX, frames);
        self.marks = VecDeque::from([bytes]);
    }

    fn error(&self, cause: io::Error) -> DiskError {
        let name = self.name.clone();
        match cause.kind() {
            ErrorKind::BrokenPipe => DiskError::Closed { name },
            _ => DiskError::Io { name, cause },
        }
    }

    /// Writes pieces completely. Counts the bytes that were written even if it fails.
    fn send(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut rest = pieces;
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let group = &rest[..rest.len().min(1024)];
            if lock(&self.complete).ended {
                return Err(system::from_errno(libc::ECANCELED));
            }
            let took = match &mut self.target {
                Some(Target::Stream(file)) => file.write_vectored(group),
                Some(Target::File { partial, .. }) => partial.file().write_vectored(group),
                None => return Err(ErrorKind::InvalidInput.into()),
            };
            match took {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => {
                    self.written += n as u64;
                    IoSlice::advance_slices(&mut rest, n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            self.advance_frame_end();
        }
        Ok(())
    }

    /// Drops all ends of frames that have been written, except the last.
    fn advance_frame_end(&mut self) {
        while self.marks.len() > 1 && self.marks[1] <= self.written {
            self.marks.pop_front();
        }
        if let Some(&bytes) = self.marks.front().filter(|&&m| m <= self.written) {
            let mut complete = lock(&self.complete);
            (complete.bytes, complete.frames) = (bytes, self.frames + 1 - self.marks.len() as u64);
        }
    }

    fn empty_buffer(&mut self) -> io::Result<()> {
        let buf = std::mem::take(&mut self.buf);
        let sent = self.send(&mut [IoSlice::new(&buf)]);
        self.buf = buf;
        self.buf.clear();
        sent
    }

    /// Writes bytes, possibly through the buffer.
    ///
    /// # Errors
    /// [`DiskError::Closed`] if the reader has closed the pipe, else [`DiskError::Io`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        if self.buf.len() + bytes.len() > BUFFER {
            self.empty_buffer().map_err(|e| self.error(e))?;
        }
        if bytes.len() < BUFFER {
            self.buf.extend_from_slice(bytes);
            return Ok(());
        }
        self.send(&mut [IoSlice::new(bytes)]).map_err(|e| self.error(e))
    }

    /// Writes several pieces in order, without copying large ones.
    ///
    /// # Errors
    /// As [`put`](OutputFile::put).
    pub fn put_all(&mut self, pieces: &mut [IoSlice<'_>]) -> Result<(), DiskError> {
        let total: usize = pieces.iter().map(|p| p.len()).sum();
        if total < BUFFER || total / pieces.len().max(1) < SMALL {
            return pieces.iter().try_for_each(|p| self.put(p));
        }
        self.empty_buffer().and_then(|()| self.send(pieces)).map_err(|e| self.error(e))
    }

    /// Marks the end of a frame: an abandoned file is kept up to the last mark that was written. On standard
    /// output, a pipe or a device the frame is flushed.
    ///
    /// # Errors
    /// As [`put`](OutputFile::put).
    pub fn mark(&mut self) -> Result<(), DiskError> {
        self.frames += 1;
        self.marks.push_back(self.written + self.buf.len() as u64);
        self.advance_frame_end();
        match self.target {
            Some(Target::File { .. }) => Ok(()),
            _ => self.empty_buffer().map_err(|e| self.error(e)),
        }
    }

    /// Completes the file: syncs it to the disk and gives it its name.
    ///
    /// # Errors
    /// [`DiskError::Unfinished`] with the remaining part; other errors if there is none.
    pub fn finish(mut self) -> Result<(), DiskError> {
        self.commit().map_err(|cause| match self.give_up() {
            Ok(left) => DiskError::Unfinished { cause: Box::new(cause), left },
            Err(_) => cause,
        })
    }

    fn commit(&mut self) -> Result<(), DiskError> {
        self.empty_buffer().map_err(|e| self.error(e))?;
        if let Some(Target::File { partial, .. }) = &self.target {
            partial.file().sync_all().map_err(|e| self.error(e))?;
            let hook = self.before_commit.take();
            hook.map_or(Ok(()), |hook| hook(partial.file(), &partial.path(), self.frames))
                .map_err(|e| self.error(e))?;
        }
        // not while it is ended from another thread
        let state = Arc::clone(&self.complete);
        let written = lock(&state);
        if written.ended {
            return Err(self.error(system::from_errno(libc::ECANCELED)));
        }
        let Some(Target::File { partial, overwrite }) = self.target.take() else { return Ok(()) };
        let folder = partial.folder().to_path_buf();
        let Err((partial, cause)) = partial.persist(overwrite) else {
            let _ = system::sync_folder(&folder);
            return Ok(());
        };
        let kept = partial.keep().map_err(|e| self.error(e))?;
        let why = match cause.kind() {
            ErrorKind::AlreadyExists => "another process created a file with this name".into(),
            _ => format!("it could not be renamed: {cause}"),
        };
        let problem = format!("{why}; the complete result is in {}", kept.display());
        Err(DiskError::Bad { name: self.name.clone(), problem })
    }

    /// Abandons the file. The part up to the last whole frame is kept under the returned name; without a whole
    /// frame nothing is kept. It works on a full disk.
    ///
    /// # Errors
    /// If the file is no longer there, or cannot be cut.
    pub fn abandon(mut self) -> Result<PartialOutput, DiskError> {
        self.give_up()
    }

    fn give_up(&mut self) -> Result<PartialOutput, DiskError> {
        let _ = self.empty_buffer();
        self.advance_frame_end();
        let WrittenFrames { bytes, frames, ended } = *lock(&self.complete);
        let frames = Some(frames);
        match self.target.take() {
            // the file is no longer ours
            Some(Target::File { partial, .. }) if ended => drop(partial.keep()),
            Some(Target::File { partial, .. }) if self.marks.front().is_some_and(|&m| m <= self.written) => {
                if bytes < partial.file().metadata().map_or(0, |meta| meta.len()) {
                    partial.file().set_len(bytes).map_err(|e| self.error(e))?;
                }
                let partial = partial.keep().map_err(|e| self.error(e))?;
                return Ok(PartialOutput { partial: Some(partial), frames });
            }
            _ => {}
        }
        Ok(PartialOutput { partial: None, frames })
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        let _ = self.give_up();
    }
}

/// Returns an error if the folder of the output `name` is not one.
///
/// # Errors
/// See [`DiskError`].
pub fn check_folder(name: &str, folder: &Path) -> Result<(), DiskError> {
    let name = name.to_owned();
    let problem = match std::fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => format!("{} is not a folder", folder.display()),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            format!("the folder {} does not exist; create it first", folder.display())
        }
        Err(cause) => return Err(DiskError::Io { name, cause }),
    };
    Err(DiskError::Bad { name, problem })
}

/// Whether this is `/dev/stdout`, `/dev/fd/3` or the like, which may refer to any kind of file.
pub fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"].iter().any(|p| path.starts_with(p))
}

fn ends_in_separator(path: &OsStr) -> bool {
    path.as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into()))
}

/// The path that is written for an output of this name: for a link, its target is replaced, not the link.
fn resolve_symlink(path: &Path) -> io::Result<PathBuf> {
    if path.exists() { path.canonicalize() } else { Ok(path.to_path_buf()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    #[test]
    fn the_name_appears_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.y4m");
        let mut out = OutputFile::create(path.as_os_str(), false).unwrap();
        let big = vec![7; 2 * BUFFER];
        out.put(b"abc").unwrap();
        out.put_all(&mut [IoSlice::new(&big), IoSlice::new(&[]), IoSlice::new(b"d")]).unwrap();
        out.put(b"e").unwrap();
        assert!(!path.exists() && names(dir.path()).len() == 1);
        out.finish().unwrap();
        assert_eq!(names(dir.path()), ["out.y4m"]);
        let all = fs::read(&path).unwrap();
        assert_eq!(
            (all.len(), &all[..4], &all[all.len() - 3..]),
            (2 * BUFFER + 5, &b"abc\x07"[..], &b"\x07de"[..])
        );
        {
            use std::os::unix::fs::PermissionsExt;
            let plain = dir.path().join("plain");
            fs::write(&plain, b"").unwrap();
            let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode();
            assert_eq!(mode(&path), mode(&plain));
        }
    }

    #[test]
    fn nothing_is_replaced_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, b"old").unwrap();
        assert!(
            matches!(OutputFile::create(path.as_os_str(), false), Err(DiskError::Exists(p)) if p == path)
        );
        let mut out = OutputFile::create(path.as_os_str(), true).unwrap();
        out.put(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // the file appears during the write: the result is kept under the other name
        let late = dir.path().join("late");
        let mut out = OutputFile::create(late.as_os_str(), false).unwrap();
        out.put(b"mine").unwrap();
        fs::write(&late, b"theirs").unwrap();
        let e = out.finish().unwrap_err().to_string();
        assert!(e.contains("late.partial"), "{e}");
        assert_eq!(fs::read(&late).unwrap(), b"theirs");
        assert_eq!(names(dir.path()), ["a.txt", "late", "late.partial"]);
    }

    #[test]
    fn an_abandoned_file_ends_with_a_complete_frame() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.y.z");
        let partial = dir.path().join("x.y.partial.z");
        for drop_it in [false, true] {
            let mut out = OutputFile::create(path.as_os_str(), true).unwrap();
            let two = vec![b'2'; 3 * BUFFER];
            for text in [&b"head"[..], b"one", &two] {
                out.put(text).unwrap();
                if text != b"head" {
                    out.mark().unwrap();
                }
            }
            out.put(b"thr").unwrap();
            if drop_it {
                drop(out);
            } else {
                let left = out.abandon().unwrap();
                assert_eq!((left.partial, left.frames), (Some(partial.clone()), Some(2)));
            }
            assert_eq!(fs::read(&partial).unwrap(), [b"headone", &two[..]].concat());
            assert_eq!(names(dir.path()), ["x.y.partial.z"]);
            fs::remove_file(&partial).unwrap();
        }
        // an earlier one is never replaced
        fs::write(&partial, b"older").unwrap();
        for n in [2, 3] {
            let mut out = OutputFile::create(path.as_os_str(), true).unwrap();
            out.put(b"one").unwrap();
            out.mark().unwrap();
            let name = dir.path().join(format!("x.y.partial-{n}.z"));
            assert_eq!(out.abandon().unwrap(), PartialOutput { partial: Some(name), frames: Some(1) });
        }
        assert_eq!(fs::read(&partial).unwrap(), b"older");
        let left = names(dir.path());
        let mut out = OutputFile::create(path.as_os_str(), false).unwrap();
        out.put(b"head").unwrap();
        assert_eq!(out.abandon().unwrap(), PartialOutput { partial: None, frames: Some(0) });
        assert_eq!(names(dir.path()), left);
    }

    /// As if the thread that writes were blocked.
    #[test]
    fn another_thread_can_end_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.y4m");
        for frames in [0, 2] {
            let mut out = OutputFile::create(path.as_os_str(), false).unwrap();
            for _ in 0..frames {
                out.put(&[7; BUFFER]).unwrap();
                out.mark().unwrap();
            }
            out.put(&[8; 2 * BUFFER]).unwrap();
            let partial = (frames > 0).then(|| dir.path().join("out.partial.y4m"));
            assert_eq!(out.rescue().unwrap().end().unwrap(), PartialOutput { partial, frames: Some(frames) });
            assert!(out.put(&[8; 2 * BUFFER]).is_err(), "nothing is written any more");
            out.finish().unwrap_err();
            assert_eq!(names(dir.path()).len(), usize::from(frames > 0));
        }
        assert_eq!(fs::read(dir.path().join("out.partial.y4m")).unwrap(), [7; 2 * BUFFER]);
    }

    #[test]
    fn errors_name_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let text = |p: &Path| OutputFile::create(p.as_os_str(), false).unwrap_err().to_string();
        assert!(text(dir.path()).contains("is a folder"));
        assert!(text(&dir.path().join("no/out.y4m")).contains("no does not exist"));
        fs::write(dir.path().join("file"), b"").unwrap();
        assert!(text(&dir.path().join("file/out.y4m")).contains("is not a folder"));
        assert!(text(Path::new("")).contains("empty"));
        assert!(text(&dir.path().join("no/")).contains("is a folder"));
    }

    #[test]
    fn links_are_followed_and_devices_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let mut out = OutputFile::create(link.as_os_str(), true).unwrap();
        out.put(b"new").unwrap();
        out.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        let mut out = OutputFile::create(OsStr::new("/dev/null"), false).unwrap();
        out.put(b"new").unwrap();
        out.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_and_a_closed_pipe_are_reported() {
        let mut out = OutputFile::create(OsStr::new("/dev/full"), false).unwrap();
        out.put(b"x").unwrap();
        let e = out.mark().unwrap_err();
        assert!(matches!(&e, DiskError::Io { cause, .. } if cause.kind() == ErrorKind::StorageFull), "{e}");
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut out =
            OutputFile::new("pipe".into(), Target::Stream(std::os::fd::OwnedFd::from(writer).into()));
        out.put(b"x").unwrap();
        assert!(matches!(out.mark(), Err(DiskError::Closed { .. })));
    }
}
