//! Files that are being written. They have no name, or that of a partial result, until they are complete; no file is
//! ever written under its final name, and none under the name of an existing file.

use super::{same::folder_of, system};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The largest number in a name.
const MOST: u32 = 10_000;

/// The remaining part of an incomplete output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartialOutput {
    /// Its path, if it is a file.
    pub partial: Option<PathBuf>,
    /// The number of its whole frames; `None` if all frames that were written are in it.
    pub frames: Option<u64>,
}

/// The name of an incomplete file: `out.partial.y4m` for `out.y4m`, `out.partial` for `out`; with a number from 2 on
/// `out.partial-2.y4m`.
fn partial_name(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(".partial");
    if number > 1 {
        name.push(format!("-{number}"));
    }
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The incomplete files that interrupted runs have left for `target`: those of its names that are files, up to the first
/// that is free.
pub fn unfinished(target: &Path) -> Vec<PathBuf> {
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    (1..=MOST).map(|number| partial_name(target, number)).take_while(is_file).collect()
}

/// Calls `create` with the names for an incomplete file until one is free.
fn with_free_name<T>(target: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    let mut number = 1;
    loop {
        let name = partial_name(target, number);
        match create(&name) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && number < MOST => number += 1,
            created => return created.map(|file| (file, name)),
        }
    }
}

/// A file that is being written. Dropping it removes it.
#[derive(Debug)]
pub struct Partial {
    file: File,
    /// `None` as long as it has no name.
    name: Option<PathBuf>,
    target: PathBuf,
}

impl Partial {
    /// A file for `target` that is visible as `NAME.partial.EXT` from the start, so that a killed program leaves it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn visible(target: &Path) -> io::Result<Partial> {
        Partial::visible_as(target, target)
    }

    /// The same under another name for `target`, which must be on the same disk.
    fn visible_as(name: &Path, target: &Path) -> io::Result<Partial> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let (file, name) = with_free_name(name, |name| options.open(name))?;
        Ok(Partial { file, name: Some(name), target: target.to_path_buf() })
    }

    /// A file for `target` without a name, so that nothing of it is left by a killed program. `folder` is on the same
    /// disk. On file systems that have no such files (network disks) it is visible in that folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn unnamed(target: &Path, folder: &Path) -> io::Result<Partial> {
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(libc::O_TMPFILE);
            if let Ok(file) = options.open(folder) {
                return Ok(Partial { file, name: None, target: target.to_path_buf() });
            }
        }
        Partial::visible_as(&folder.join(target.file_name().unwrap_or_default()), target)
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The folder of the final name.
    pub fn folder(&self) -> &Path {
        folder_of(&self.target)
    }

    /// A path for reading it; for a file without a name one that only this process can use.
    pub fn path(&self) -> PathBuf {
        self.name.clone().unwrap_or_else(|| system::descriptor(&self.file))
    }

    /// Gives it its final name. Fails if a file of that name exists, unless `replace`.
    ///
    /// # Errors
    /// With the file, which has kept its former name.
    pub fn persist(mut self, replace: bool) -> Result<(), (Partial, io::Error)> {
        match self.rename(replace) {
            Ok(()) => {
                // now it is complete
                self.name = None;
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }

    fn rename(&mut self, replace: bool) -> io::Result<()> {
        if self.name.is_none() {
            match system::link(&self.file, &self.target) {
                // a link cannot replace a file
                Err(e) if e.kind() == ErrorKind::AlreadyExists && replace => {
                    let (_, name) = with_free_name(&self.target, |name| system::link(&self.file, name))?;
                    self.name = Some(name);
                }
                linked => return linked,
            }
        }
        let name = self.name()?;
        if !replace {
            // unlike renaming, it never replaces a file; some file systems have no links
            match std::fs::hard_link(name, &self.target) {
                Ok(()) => return std::fs::remove_file(name),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(e),
                Err(_) if self.target.symlink_metadata().is_ok() => {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                Err(_) => {}
            }
        }
        std::fs::rename(name, &self.target)
    }

    /// The name, if the file is still there.
    fn name(&self) -> io::Result<&Path> {
        let name = self.name.as_deref().ok_or(ErrorKind::NotFound)?;
        match still_there(&self.file, name) {
            true => Ok(name),
            false => Err(gone(name)),
        }
    }

    /// Keeps the incomplete file. Returns its name.
    ///
    /// # Errors
    /// If it is no longer there.
    pub fn keep(mut self) -> io::Result<PathBuf> {
        self.name()?;
        self.name.take().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Ok(name) = self.name() {
            let _ = std::fs::remove_file(name);
        }
    }
}

/// Whether the open file has this name.
pub(super) fn still_there(file: &File, name: &Path) -> bool {
    let there = system::path_id(name, false).ok().flatten();
    there.is_some() && there == system::file_id(file).ok().flatten()
}

/// The error about a file that the user has removed.
pub(super) fn gone(name: &Path) -> io::Error {
    let text = format!("{} was deleted or moved while it was written", name.display());
    io::Error::new(ErrorKind::NotFound, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn no_existing_file_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.b.c");
        let (first, second) = (dir.path().join("a.b.partial.c"), dir.path().join("a.b.partial-2.c"));
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &first).unwrap();
        std::fs::write(&second, "mine").unwrap();
        for unnamed in [false, true] {
            let make = || {
                let made =
                    if unnamed { Partial::unnamed(&target, dir.path()) } else { Partial::visible(&target) };
                let made = made.unwrap();
                made.file().write_all(b"new").unwrap();
                made
            };
            assert_eq!(std::fs::read(make().path()).unwrap(), b"new");
            assert_eq!(names(dir.path()), ["a.b.partial-2.c", "a.b.partial.c"], "nothing is left");
            make().persist(false).unwrap();
            assert_eq!(make().persist(false).unwrap_err().1.kind(), ErrorKind::AlreadyExists);
            make().persist(true).unwrap();
            assert_eq!(names(dir.path()), ["a.b.c", "a.b.partial-2.c", "a.b.partial.c"]);
            assert_eq!(std::fs::read(&target).unwrap(), b"new");
            std::fs::remove_file(&target).unwrap();
        }
        let kept = Partial::visible(&target).unwrap().keep().unwrap();
        assert_eq!(kept, dir.path().join("a.b.partial-3.c"));
        assert_eq!(std::fs::read(&second).unwrap(), b"mine");
        assert!(first.is_symlink() && !dir.path().join("elsewhere").exists());
    }

    #[test]
    fn a_deleted_or_replaced_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.mkv");
        for theirs in [false, true] {
            let partial = Partial::visible(&target).unwrap();
            let name = partial.path();
            std::fs::remove_file(&name).unwrap();
            if theirs {
                std::fs::write(&name, "theirs").unwrap();
            }
            let (partial, error) = partial.persist(true).unwrap_err();
            assert!(error.to_string().contains("out.partial.mkv was deleted or moved"), "{error}");
            assert!(partial.keep().is_err() && !target.exists());
            assert_eq!(name.exists(), theirs, "a file of somebody else stays");
        }
    }
}
