//! Temporary files. Each is known to the process from its making until it gets its name or goes, so that a program
//! which has to end at once leaves none behind.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, PersistError};

/// What the names of temporary files end with.
pub const TEMPORARY: &str = ".tmp";

/// Temporary files of this process. Held while one is made, named or removed.
static UNNAMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unnamed() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNNAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file of the process: it is about to end in the middle of its work. No thread can make or
/// name another one afterwards; a thread that tries waits for the end.
pub fn remove_unfinished() {
    let mut all = unnamed();
    while let Some(path) = all.pop_first() {
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(all);
}

/// Does what opens a temporary file by its path once more, and would make it anew if it was removed meanwhile.
pub fn reopening<T>(open: impl FnOnce() -> T) -> T {
    let _held = unnamed();
    open()
}

/// A file under a name that nobody can foresee; removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    /// `None` only while it is named or dropped.
    file: Option<NamedTempFile>,
}

impl Temporary {
    /// A new file in `folder`, its name beginning with `prefix`, with the rights of any new file.
    pub fn create(folder: &Path, prefix: &str) -> io::Result<Temporary> {
        Temporary::create_with(folder, prefix, 0o666)
    }

    /// The same, with other rights, less what the user's mask takes away.
    pub fn create_with(folder: &Path, prefix: &str, mode: u32) -> io::Result<Temporary> {
        let mut all = unnamed();
        let mut builder = Builder::new();
        builder.prefix(prefix).suffix(TEMPORARY).rand_bytes(12).permissions(Permissions::from_mode(mode));
        let file = builder.tempfile_in(folder)?;
        all.insert(file.path().to_path_buf());
        Ok(Temporary { file: Some(file) })
    }

    /// A new file for `path`, in `folder`.
    pub fn for_file(path: &Path, folder: &Path) -> io::Result<Temporary> {
        let stem: String = path.file_stem().unwrap_or_default().to_string_lossy().chars().take(40).collect();
        Temporary::create(folder, &format!(".{stem}-"))
    }

    fn inner(&self) -> io::Result<&NamedTempFile> {
        self.file.as_ref().ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.file.as_ref().map_or(Path::new(""), NamedTempFile::path)
    }

    /// The open file.
    pub fn file(&self) -> io::Result<&File> {
        Ok(self.inner()?.as_file())
    }

    /// Gives it its name, replacing what bears it.
    pub fn persist(self, path: &Path) -> Result<(), (Temporary, io::Error)> {
        self.named(|file| file.persist(path))
    }

    /// Gives it its name, unless something bears it.
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

    /// Leaves it under its temporary name, which is returned.
    pub fn keep(mut self) -> io::Result<PathBuf> {
        let mut all = unnamed();
        let file = self.file.take().ok_or(ErrorKind::NotFound)?;
        let (_, path) = file.keep().map_err(|e| e.error)?;
        all.remove(&path);
        Ok(path)
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
    fn files_are_known_until_they_have_a_name_or_go() {
        let dir = tempfile::tempdir().unwrap();
        let known = || unnamed().iter().filter(|p| p.starts_with(dir.path())).count();
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
}
