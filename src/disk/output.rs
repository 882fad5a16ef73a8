//! The file that every sink of one file writes to: its final name is only ever borne by a whole result.
//!
//! A file is written under an unpredictable name in the folder where it will stay, and gets its own name when it is
//! whole ([`Output::finish`]), in one step. When it cannot be completed, what there is up to the last whole frame gets
//! the name `NAME.partial.EXT` ([`Output::abandon`]), or `NAME.partial-2.EXT` where that is taken and may not be
//! replaced. An output that is dropped without either is abandoned. Devices, named pipes and standard output are written to directly.

use super::partial::{Left, partial_names};
use super::temp::Temporary;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is gathered before it goes to the system.
const BUFFER: usize = 256 << 10;
/// Rows shorter than this are gathered: the system handles a few large pieces faster than many small ones.
const SMALL: usize = 1 << 10;

enum Target {
    Standard(Box<dyn Write + Send>),
    Direct(File),
    File { temp: Temporary, path: PathBuf, overwrite: bool },
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The system said no.
    #[error("{name}: {cause}")]
    Io {
        /// What was written.
        name: String,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// The reader of our pipe has gone.
    #[error("{name}: the reader has closed the pipe")]
    Closed {
        /// What was written.
        name: String,
    },
    /// Something is there already and may not be replaced.
    #[error("{} exists; use -y to replace it", .0.display())]
    Exists(PathBuf),
    /// No file can have this name. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Name {
        /// What was to be written.
        name: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// It cannot be written there. The text says what is wrong.
    #[error("{name}: {problem}")]
    Bad {
        /// What was to be written.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// All was there, and could not be finished.
    #[error("{cause}")]
    Unfinished {
        /// Why not.
        cause: Box<DiskError>,
        /// What there is of it.
        left: Left,
    },
}

/// What is done with a file that is whole, before it gets its name: it is given the file, its path and how many frames
/// it holds.
pub type Seal = Box<dyn FnOnce(&File, &Path, u64) -> io::Result<()> + Send>;

/// A file on its way, a device, a pipe or standard output.
pub struct Output {
    name: String,
    /// `None` once it has been finished or abandoned.
    target: Option<Target>,
    buf: Vec<u8>,
    /// Bytes the system has taken.
    written: u64,
    /// Where frames end: the last end that is surely written, and all later ones.
    marks: VecDeque<u64>,
    /// What is written down before the file gets its name.
    seal: Option<Seal>,
    /// Ends of frames so far.
    frames: u64,
    /// The bytes that stay when the process has to end at once.
    whole: Arc<AtomicU64>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("name", &self.name)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl Output {
    /// Opens `output` for writing; `-` is standard output. Refuses a file that exists, unless `overwrite`, a folder,
    /// and a folder that does not exist or cannot be written to.
    pub fn create(output: &OsStr, overwrite: bool) -> Result<Output, DiskError> {
        Output::create_by(output, overwrite, None)
    }

    /// Where the temporary file is to be: in another folder of the same disk.
    pub fn create_by(output: &OsStr, overwrite: bool, by: Option<&Path>) -> Result<Output, DiskError> {
        if output == "-" {
            return Ok(Output::new("standard output".into(), Target::Standard(standard_output())));
        }
        let path = Path::new(output);
        let name = path.display().to_string();
        let io = |cause| DiskError::Io { name: name.clone(), cause };
        let bad = |problem| DiskError::Bad { name: name.clone(), problem };
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
            return Ok(Output::new(name, Target::Direct(file)));
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(DiskError::Exists(path.into()));
        }
        let path = behind(path).map_err(io)?;
        let folder = match path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        match std::fs::metadata(folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(bad(format!("the folder {} does not exist", folder.display())));
            }
            Ok(m) if !m.is_dir() => return Err(bad(format!("{} is not a folder", folder.display()))),
            Err(e) => return Err(io(e)),
            Ok(_) => {}
        }
        let temp = Temporary::for_file(&path, by.unwrap_or(folder)).map_err(|e| match e.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                bad(format!("cannot create files in the folder {}: {e}", folder.display()))
            }
            _ => io(e),
        })?;
        let whole = temp.keep_as(partial_names(&path, overwrite));
        let mut output = Output::new(name, Target::File { temp, path, overwrite });
        output.whole = whole;
        Ok(output)
    }

    fn new(name: String, target: Target) -> Output {
        Output {
            name,
            target: Some(target),
            buf: Vec::with_capacity(BUFFER),
            written: 0,
            marks: VecDeque::new(),
            seal: None,
            frames: 0,
            whole: Arc::default(),
        }
    }

    /// What is to be written down when the file is whole, before it gets its name.
    pub fn seal(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the file is while it has no name, for writers that open it themselves; `None` for what is no file.
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Some(Target::File { temp, .. }) => Some(temp.path()),
            _ => None,
        }
    }

    /// Bytes of the file so far, whoever has written them.
    pub fn size(&self) -> u64 {
        let meta = match &self.target {
            Some(Target::File { temp, .. }) => temp.file().and_then(File::metadata),
            _ => Err(ErrorKind::NotFound.into()),
        };
        meta.map_or(0, |meta| meta.len())
    }

    /// A writer that opened [`path`](Output::path) itself writes frames there: what there is of them stays when the
    /// process has to end at once.
    pub fn written_elsewhere(&self) {
        self.whole.store(u64::MAX, Ordering::SeqCst);
    }

    /// A writer that opened [`path`](Output::path) itself has left a file that is worth keeping as it is. Only the writer
    /// knows how many frames are in it.
    pub fn left_elsewhere(&mut self) {
        self.written = self.size();
        self.marks = VecDeque::from([self.written]);
    }

    fn error(&self, cause: io::Error) -> DiskError {
        let name = self.name.clone();
        match cause.kind() {
            ErrorKind::BrokenPipe => DiskError::Closed { name },
            _ => DiskError::Io { name, cause },
        }
    }

    /// Hands pieces to the system until it has taken all. Counts what it took even when it fails.
    fn send(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut rest = pieces;
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let group = &rest[..rest.len().min(1024)];
            let took = match &mut self.target {
                Some(Target::Standard(out)) => out.write_vectored(group),
                Some(Target::Direct(file)) => file.write_vectored(group),
                Some(Target::File { temp, .. }) => temp.write_vectored(group),
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
            self.settle_marks();
        }
        Ok(())
    }

    /// Forgets all ends of frames that are surely written, but for the last.
    fn settle_marks(&mut self) {
        while self.marks.len() > 1 && self.marks[1] <= self.written {
            self.marks.pop_front();
        }
        if let Some(&whole) = self.marks.front().filter(|&&m| m <= self.written) {
            self.whole.store(whole, Ordering::SeqCst);
        }
    }

    fn empty_buffer(&mut self) -> io::Result<()> {
        let buf = std::mem::take(&mut self.buf);
        let sent = self.send(&mut [IoSlice::new(&buf)]);
        self.buf = buf;
        self.buf.clear();
        sent
    }

    /// Writes bytes, now or later.
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

    /// Writes pieces one behind the other, without copying them where they are large.
    pub fn put_all(&mut self, pieces: &mut [IoSlice<'_>]) -> Result<(), DiskError> {
        let total: usize = pieces.iter().map(|p| p.len()).sum();
        if total < BUFFER || total / pieces.len().max(1) < SMALL {
            return pieces.iter().try_for_each(|p| self.put(p));
        }
        self.empty_buffer().and_then(|()| self.send(pieces)).map_err(|e| self.error(e))
    }

    /// A frame ends here: what is abandoned later goes at least so far, if the disk took it. Whoever reads standard
    /// output, a pipe or a device gets the frame now.
    pub fn mark(&mut self) -> Result<(), DiskError> {
        self.frames += 1;
        self.marks.push_back(self.written + self.buf.len() as u64);
        self.settle_marks();
        match self.target {
            Some(Target::File { .. }) => Ok(()),
            _ => self.empty_buffer().map_err(|e| self.error(e)),
        }
    }

    /// All has been written: it is made sure that the disk has it, and it gets its name.
    pub fn finish(mut self) -> Result<(), DiskError> {
        self.complete().map_err(|cause| match self.give_up() {
            Ok(left) => DiskError::Unfinished { cause: Box::new(cause), left },
            Err(_) => cause,
        })
    }

    fn complete(&mut self) -> Result<(), DiskError> {
        self.empty_buffer().map_err(|e| self.error(e))?;
        let flushed = match &mut self.target {
            Some(Target::Standard(out)) => out.flush(),
            Some(Target::File { temp, .. }) => temp.file().and_then(File::sync_all),
            _ => Ok(()),
        };
        flushed.map_err(|e| self.error(e))?;
        if let (Some(seal), Some(Target::File { temp, .. })) = (self.seal.take(), &self.target) {
            temp.file().and_then(|f| seal(f, temp.path(), self.frames)).map_err(|e| self.error(e))?;
        }
        match self.target.take() {
            Some(Target::File { temp, path, overwrite }) => {
                let Err((temp, cause)) = place(temp, &path, overwrite) else { return Ok(()) };
                let kept = keep_partial(temp, &path, overwrite).map_err(|e| self.error(e))?;
                let why = match cause.kind() {
                    ErrorKind::AlreadyExists => "another process created a file with this name".into(),
                    _ => format!("it could not be renamed: {cause}"),
                };
                let problem = format!("{why}; the complete result is in {}", kept.display());
                Err(DiskError::Bad { name: self.name.clone(), problem })
            }
            _ => Ok(()),
        }
    }

    /// It will never be whole. What there is, up to the last whole frame, gets the name that is returned; nothing
    /// stays when there is no whole frame. The disk being full does not hinder it.
    pub fn abandon(mut self) -> Result<Left, DiskError> {
        self.give_up()
    }

    fn give_up(&mut self) -> Result<Left, DiskError> {
        let _ = self.empty_buffer();
        self.settle_marks();
        let ends = self.marks.iter().filter(|&&m| m > self.written).count();
        let frames = Some(self.frames - ends as u64);
        let Some(Target::File { temp, path, overwrite }) = self.target.take() else {
            return Ok(Left { partial: None, frames });
        };
        let Some(&whole) = self.marks.front().filter(|&&m| m <= self.written) else {
            return Ok(Left { partial: None, frames });
        };
        if whole < self.written {
            temp.file().and_then(|f| f.set_len(whole)).map_err(|e| self.error(e))?;
        }
        let partial = keep_partial(temp, &path, overwrite).map_err(|e| self.error(e))?;
        Ok(Left { partial: Some(partial), frames })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.give_up();
    }
}

/// Standard output without the line buffering of [`std::io::stdout`] where the system lets us.
fn standard_output() -> Box<dyn Write + Send> {
    {
        use std::os::fd::AsFd;
        if let Ok(fd) = io::stdout().as_fd().try_clone_to_owned() {
            return Box::new(File::from(fd));
        }
    }
    Box::new(io::stdout())
}

/// `/dev/stdout`, `/dev/fd/3` and their like, behind which anything may be.
pub fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"].iter().any(|p| path.starts_with(p))
}

fn ends_in_separator(path: &OsStr) -> bool {
    path.as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into()))
}

/// Gives the file its name, and makes the disk remember the name.
fn place(temp: Temporary, path: &Path, overwrite: bool) -> Result<(), (Temporary, io::Error)> {
    if overwrite {
        temp.persist(path)?;
    } else {
        match temp.persist_new(path) {
            // some file systems cannot rename without replacing
            Err((temp, e)) if e.kind() != ErrorKind::AlreadyExists && path.symlink_metadata().is_err() => {
                temp.persist(path)?;
            }
            other => other?,
        }
    }
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|f| f.sync_all());
    }
    Ok(())
}

/// Gives a file that is not whole its name, which is returned. What bears it is replaced only if `overwrite`.
fn keep_partial(mut temp: Temporary, path: &Path, overwrite: bool) -> io::Result<PathBuf> {
    let (names, replace) = partial_names(path, overwrite);
    for name in names {
        match place(temp, &name, replace) {
            Ok(()) => return Ok(name),
            Err((back, e)) if e.kind() == ErrorKind::AlreadyExists => temp = back,
            // the frames are worth more than their name
            Err((back, _)) => return back.keep(),
        }
    }
    temp.keep()
}

/// What is written for an output of this name: what a link points to is replaced, not the link.
pub fn behind(path: &Path) -> io::Result<PathBuf> {
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
        let mut out = Output::create(path.as_os_str(), false).unwrap();
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
        assert!(matches!(Output::create(path.as_os_str(), false), Err(DiskError::Exists(p)) if p == path));
        let mut out = Output::create(path.as_os_str(), true).unwrap();
        out.put(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // it appears while we write: the result is kept under the other name
        let late = dir.path().join("late");
        let mut out = Output::create(late.as_os_str(), false).unwrap();
        out.put(b"mine").unwrap();
        fs::write(&late, b"theirs").unwrap();
        let e = out.finish().unwrap_err().to_string();
        assert!(e.contains("late.partial"), "{e}");
        assert_eq!(fs::read(&late).unwrap(), b"theirs");
        assert_eq!(names(dir.path()), ["a.txt", "late", "late.partial"]);
    }

    #[test]
    fn what_is_abandoned_ends_with_a_whole_frame() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.y.z");
        let partial = dir.path().join("x.y.partial.z");
        for drop_it in [false, true] {
            fs::write(&partial, b"older").unwrap();
            let mut out = Output::create(path.as_os_str(), true).unwrap();
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
        }
        // unasked it gets another name
        fs::write(&partial, b"older").unwrap();
        for n in [2, 3] {
            let mut out = Output::create(path.as_os_str(), false).unwrap();
            out.put(b"one").unwrap();
            out.mark().unwrap();
            let name = dir.path().join(format!("x.y.partial-{n}.z"));
            assert_eq!(out.abandon().unwrap(), Left { partial: Some(name), frames: Some(1) });
        }
        assert_eq!(fs::read(&partial).unwrap(), b"older");
        let left = names(dir.path());
        let mut out = Output::create(path.as_os_str(), false).unwrap();
        out.put(b"head").unwrap();
        assert_eq!(out.abandon().unwrap(), Left { partial: None, frames: Some(0) });
        assert_eq!(names(dir.path()), left);
    }

    /// Twelve characters that nothing known decides: of many names no two agree in more places than chance allows, and
    /// each letter moves.
    #[test]
    fn temporary_names_cannot_be_foretold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.mkv");
        let files: Vec<Temporary> =
            (0..200).map(|_| Temporary::for_file(&path, dir.path()).unwrap()).collect();
        let middle = |f: &Temporary| {
            let name = f.path().file_name().unwrap().to_str().unwrap().to_owned();
            let random =
                name.strip_prefix(".out.grainfield-").and_then(|n| n.strip_suffix(".tmp")).map(str::to_owned);
            random.filter(|r| r.len() == 12 && r.bytes().all(|b| b.is_ascii_alphanumeric())).unwrap()
        };
        let random: Vec<String> = files.iter().map(middle).collect();
        let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).filter(|(a, b)| a == b).count();
        for (i, a) in random.iter().enumerate() {
            assert!(random[..i].iter().all(|b| same(a, b) < 8), "{random:?}");
        }
        for at in 0..12 {
            let letters: std::collections::BTreeSet<u8> = random.iter().map(|r| r.as_bytes()[at]).collect();
            assert!(letters.len() > 30, "place {at}: {letters:?}");
        }
        // a file that is there is never opened
        use tempfile::Builder;
        let taken = Builder::new().prefix("taken").rand_bytes(0).tempfile_in(dir.path()).unwrap();
        let again = Builder::new().prefix("taken").rand_bytes(0).tempfile_in(dir.path());
        assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists, "{}", taken.path().display());
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let text = |p: &Path| Output::create(p.as_os_str(), false).unwrap_err().to_string();
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
        let mut out = Output::create(link.as_os_str(), true).unwrap();
        out.put(b"new").unwrap();
        out.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        let mut out = Output::create(OsStr::new("/dev/null"), false).unwrap();
        out.put(b"new").unwrap();
        out.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_and_a_closed_pipe_are_told() {
        let mut out = Output::create(OsStr::new("/dev/full"), false).unwrap();
        out.put(b"x").unwrap();
        let e = out.mark().unwrap_err();
        assert!(matches!(&e, DiskError::Io { cause, .. } if cause.kind() == ErrorKind::StorageFull), "{e}");
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut out = Output::new("pipe".into(), Target::Standard(Box::new(writer)));
        out.put(b"x").unwrap();
        assert!(matches!(out.mark(), Err(DiskError::Closed { .. })));
    }
}
