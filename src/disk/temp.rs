//! Temporary files. The process tracks each one until it is renamed or removed, so that a program that has to end at
//! once leaves only files with whole frames (`Temporary::keep_as`), under a name for partial results. A killed program
//! leaves its files; their locks are released, so the next writer of the same output recognises and [removes](sweep)
//! them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, PersistError};

/// The ending of names of temporary files.
pub const TEMPORARY: &str = ".tmp";
/// The number of random characters in their names.
const RANDOM: usize = 12;

/// Temporary files of this process, with the parts worth keeping. Locked while a file is created, renamed or
/// removed.
static UNNAMED: Mutex<BTreeMap<PathBuf, Option<Worth>>> = Mutex::new(BTreeMap::new());

/// The number of bytes in whole frames, and the names for them.
type Worth = (Arc<AtomicU64>, Names);
/// Names for the remaining part of a file, and whether an existing file of the first name may be replaced.
pub(super) type Names = (Vec<PathBuf>, bool);

fn unnamed() -> MutexGuard<'static, BTreeMap<PathBuf, Option<Worth>>> {
    UNNAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files of the process, which is about to end; files with whole frames are renamed. No thread
/// can create or rename a file afterwards; a thread that tries waits for the end.
pub fn leave_unfinished() {
    let mut all = unnamed();
    while let Some((path, worth)) = all.pop_first() {
        leave(&path, worth);
    }
    std::mem::forget(all);
}

fn leave(path: &Path, worth: Option<Worth>) {
    let (whole, (names, replace)) = worth.unwrap_or_default();
    let whole = whole.load(Ordering::SeqCst);
    let cut = || {
        let file = OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
        let whole = whole.min(file.metadata()?.len());
        file.set_len(whole).map(|()| whole)
    };
    let named = |name: &PathBuf| {
        // a link never replaces a file; if links are not supported, check the name first
        let linked =
            if replace { Err(ErrorKind::Unsupported.into()) } else { std::fs::hard_link(path, name) };
        let free = || replace || name.symlink_metadata().is_err();
        linked.is_ok() || (free() && std::fs::rename(path, name).is_ok())
    };
    // a file that cannot be renamed stays: the frames are more important than a tidy folder
    if whole == 0 || cut().is_ok_and(|whole| whole == 0 || names.iter().any(named)) {
        let _ = std::fs::remove_file(path);
    }
}

/// Runs a function that opens a temporary file by its path again, and would recreate it if it had been
/// removed.
pub fn reopening<T>(open: impl FnOnce() -> T) -> T {
    let _held = unnamed();
    open()
}

/// Removes temporary files in `folder` whose names begin with `prefix` and whose writers are gone, so that they are
/// not locked. Without support for locks, files are kept.
pub fn sweep(folder: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|n| n.strip_prefix(prefix)?.strip_suffix(TEMPORARY));
        if !random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric())) {
            continue;
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let Ok(file) = options.open(entry.path()) else { continue };
        if file.metadata().is_ok_and(|m| m.is_file()) && file.try_lock().is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A locked file with an unpredictable name, removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    /// `None` only while it is renamed or dropped.
    file: Option<NamedTempFile>,
}

impl Temporary {
    /// A new file in `folder` whose name begins with `prefix`, with default permissions.
    pub fn create(folder: &Path, prefix: &str) -> io::Result<Temporary> {
        Temporary::create_with(folder, prefix, 0o666)
    }

    /// The same with other permissions, less the user's mask.
    pub fn create_with(folder: &Path, prefix: &str, mode: u32) -> io::Result<Temporary> {
        let mut all = unnamed();
        let mut builder = Builder::new();
        builder.prefix(prefix).suffix(TEMPORARY).rand_bytes(RANDOM).permissions(Permissions::from_mode(mode));
        let file = loop {
            let file = builder.tempfile_in(folder)?;
            let swept = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
            // another program may have removed it before it was locked
            if !swept && file.path().symlink_metadata().is_ok() {
                break file;
            }
        };
        all.insert(file.path().to_path_buf(), None);
        Ok(Temporary { file: Some(file) })
    }

    /// A new file for `path`, in `folder`. Removes files that killed writers of the same output left there.
    pub fn for_file(path: &Path, folder: &Path) -> io::Result<Temporary> {
        let stem: String = path.file_stem().unwrap_or_default().to_string_lossy().chars().take(40).collect();
        let prefix = format!(".{stem}.grainfield-");
        sweep(folder, &prefix);
        Temporary::create(folder, &prefix)
    }

    /// Sets what happens if the process has to end immediately: the number of bytes in the returned counter is kept
    /// under the first of the names that is free or may be replaced.
    pub(super) fn keep_as(&self, names: Names) -> Arc<AtomicU64> {
        let whole = Arc::new(AtomicU64::new(0));
        unnamed().insert(self.path().to_path_buf(), Some((Arc::clone(&whole), names)));
        whole
    }

    fn inner(&self) -> io::Result<&NamedTempFile> {
        self.file.as_ref().ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// The path.
    pub fn path(&self) -> &Path {
        self.file.as_ref().map_or(Path::new(""), NamedTempFile::path)
    }

    /// The open file.
    pub fn file(&self) -> io::Result<&File> {
        Ok(self.inner()?.as_file())
    }

    /// Renames it, replacing an existing file.
    pub fn persist(self, path: &Path) -> Result<(), (Temporary, io::Error)> {
        self.named(|file| file.persist(path))
    }

    /// Renames it, unless a file of that name exists.
    pub fn persist_new(self, path: &Path) -> Result<(), (Temporary, io::Error)> {
        self.named(|file| file.persist_noclobber(path))
    }

    fn named(
        mut self,
        persist: impl FnOnce(NamedTempFile) -> Result<File, PersistError>,
    ) -> Result<(), (Temporary, io::Error)> {
        let mut all = unnamed();
        let Some(file) = self.file.take() else {
            drop(all);
            return Err((self, ErrorKind::NotFound.into()));
        };
        let before = file.path().to_path_buf();
        match persist(file) {
            Ok(_) => {
                all.remove(&before);
                Ok(())
            }
            Err(e) => {
                self.file = Some(e.file);
                drop(all);
                Err((self, e.error))
            }
        }
    }

    /// Keeps it under its temporary name without the ending, so that it is not swept. Returns the path.
    pub fn keep(mut self) -> io::Result<PathBuf> {
        let mut all = unnamed();
        let file = self.file.take().ok_or(ErrorKind::NotFound)?;
        let (_, path) = file.keep().map_err(|e| e.error)?;
        all.remove(&path);
        let kept = path.with_extension("");
        Ok(std::fs::rename(&path, &kept).map_or(path, |()| kept))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut all = unnamed();
            all.remove(file.path());
            drop(file);
        }
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.file()?.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_frames_remain() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("taken"), "mine").unwrap();
        for (whole, replace, want) in [
            (0, false, vec![("taken", "mine")]),
            (3, false, vec![("second", "one"), ("taken", "mine")]),
            (u64::MAX, true, vec![("second", "one"), ("taken", "one and a bit")]),
        ] {
            let mut file = Temporary::create(dir.path(), ".x-").unwrap();
            file.write_all(b"one and a bit").unwrap();
            file.keep_as((vec![at("taken"), at("second")], replace)).store(whole, Ordering::SeqCst);
            let worth = unnamed().remove(file.path()).unwrap();
            leave(file.path(), worth);
            let _ = file.keep();
            let mut left: Vec<_> =
                std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
            left.sort();
            let left: Vec<_> =
                left.into_iter().map(|p| (p.clone(), std::fs::read_to_string(p).unwrap())).collect();
            let want: Vec<_> = want.into_iter().map(|(name, text)| (at(name), text.to_owned())).collect();
            assert_eq!(left, want);
        }
    }

    #[test]
    fn files_are_known_until_they_have_a_name_or_go() {
        let dir = tempfile::tempdir().unwrap();
        let known = || unnamed().keys().filter(|p| p.starts_with(dir.path())).count();
        let make = || Temporary::create(dir.path(), ".x-").unwrap();
        let (a, b, c, d) = (make(), make(), make(), make());
        assert_eq!(known(), 4);
        a.persist(&dir.path().join("a")).unwrap();
        assert_eq!(known(), 3);
        let (b, error) = b.persist_new(&dir.path().join("a")).unwrap_err();
        assert_eq!((error.kind(), known()), (ErrorKind::AlreadyExists, 3));
        assert!(b.path().exists());
        drop(b);
        let kept = c.keep().unwrap();
        assert_eq!((known(), kept.exists()), (1, true));
        drop(d);
        let left = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!((known(), left), (0, 2));
    }

    #[test]
    fn files_of_a_killed_writer_are_removed_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let (out, other) = (Path::new("out.mkv"), Path::new("outer.mkv"));
        let live = Temporary::for_file(out, dir.path()).unwrap();
        let left = live.path().to_str().unwrap().strip_suffix(".tmp").unwrap();
        let left = |cut: usize, end: &str| PathBuf::from(format!("{}{end}", &left[..left.len() - cut]));
        // the first two are of dead writers, the others of someone with similar names
        let names = [
            left(1, "A.tmp"),
            left(1, "B.tmp"),
            left(1, ".tmp"),
            left(1, "-.tmp"),
            left(0, ".part"),
            left(0, "x.tmp"),
        ];
        names.iter().for_each(|name| std::fs::write(name, "x").unwrap());
        let link = left(2, "LL.tmp");
        std::os::unix::fs::symlink(&names[4], &link).unwrap();
        let foreign = Temporary::for_file(other, dir.path()).unwrap();
        let kept = Temporary::for_file(other, dir.path()).unwrap().keep().unwrap();
        let there = |path: &Path| path.symlink_metadata().is_ok();
        assert!(names.iter().all(|n| there(n)), "those of another output stay");
        let again = Temporary::for_file(out, dir.path()).unwrap();
        drop(Temporary::for_file(other, dir.path()).unwrap());
        assert_eq!(names.each_ref().map(|n| there(n)), [false, false, true, true, true, true]);
        assert!([live.path(), again.path(), foreign.path(), &kept, &link].into_iter().all(there));
    }
}
