//! Checks that a job does not write a file that it reads, under whatever names.
//!
//! Files are compared by device and inode, which resolves links of both kinds, `..`, other mounts of a disk,
//! `/dev/fd/N`, and standard input, output and error. A file that does not exist yet is identified by its folder and
//! name. Devices, pipes, sockets and folders are never the same file.

use super::system::{self, FileId};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A file that is read or written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileRef {
    /// A path.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl From<PathBuf> for FileRef {
    fn from(path: PathBuf) -> FileRef {
        FileRef::Path(path)
    }
}

impl<T: AsRef<OsStr> + ?Sized> From<&T> for FileRef {
    fn from(path: &T) -> FileRef {
        FileRef::Path(path.into())
    }
}

impl FileRef {
    /// Its path, if it has one.
    pub fn path(&self) -> Option<&Path> {
        if let FileRef::Path(path) = self { Some(path) } else { None }
    }

    /// The identity of the file, independent of its name.
    pub fn identity(&self) -> Option<Identity> {
        let stream = match self {
            FileRef::Path(path) => match system::path_id(path, true) {
                Ok(id) => return id.map(Identity::File),
                Err(_) => return Some(Identity::New(parent(path)?, path.file_name()?.to_owned())),
            },
            FileRef::Stdin => system::duplicate(&std::io::stdin()),
            FileRef::Stdout => system::duplicate(&std::io::stdout()),
            FileRef::Stderr => system::duplicate(&std::io::stderr()),
        };
        stream.and_then(|file| system::file_id(&file)).ok().flatten().map(Identity::File)
    }
}

impl fmt::Display for FileRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileRef::Path(path) => path.display().fmt(f),
            FileRef::Stdin => f.write_str("standard input"),
            FileRef::Stdout => f.write_str("standard output"),
            FileRef::Stderr => f.write_str("standard error"),
        }
    }
}

/// The identity of a file, independent of its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Identity {
    /// An existing file.
    File(FileId),
    /// A file that does not exist yet: its folder with links resolved, and its name.
    New(PathBuf, OsString),
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The folder of a file, with links resolved.
fn parent(path: &Path) -> Option<PathBuf> {
    folder_of(path).canonicalize().ok()
}

/// The use of a file by a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It reads the file.
    Read,
    /// It may write the file.
    Write,
    /// A library writes the file, and replaces an existing one, which must be allowed.
    WriteExternal,
    /// It may write the file, which is beside an output: none of several jobs may read it, in any order.
    WriteBeside,
    /// It creates and removes files in this folder.
    Folder,
}

/// A file and its role in a job.
#[derive(Clone, Debug)]
struct FileUse {
    access: Access,
    /// The role in messages: `the input`, `the image of sprites`.
    role: String,
    file: FileRef,
}

impl FileUse {
    fn is_written(&self) -> bool {
        !matches!(self.access, Access::Read | Access::Folder)
    }
}

impl fmt::Display for FileUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            FileRef::Path(path) => write!(f, "{} {}", self.role, path.display()),
            file => write!(f, "{} ({file})", self.role),
        }
    }
}

/// Whether standard error is a file that a job reads. Process-wide, because standard error is:
/// any message, also one about this error, would damage the file.
static MUTE: AtomicBool = AtomicBool::new(false);

/// Whether nothing may be written to standard error, because it is a file that a job of this process was to
/// read.
pub fn is_mute() -> bool {
    MUTE.load(Ordering::SeqCst)
}

/// The files that a job reads and may write.
#[derive(Clone, Debug, Default)]
pub struct FileAccess(Vec<FileUse>);

/// The files that several jobs write.
#[derive(Clone, Debug, Default)]
pub struct WrittenFiles(BTreeMap<Identity, FileUse>);

impl WrittenFiles {
    /// Adds the files that a job leaves beside its output.
    pub fn add_beside(&mut self, job: &FileAccess) {
        for file in job.with(Access::WriteBeside) {
            if let Some(identity) = file.file.identity() {
                self.0.entry(identity).or_insert_with(|| file.clone());
            }
        }
    }
}

/// An error because a file would be both read and written, or written twice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SameFile {
    /// The file is read and written.
    #[error("{written} and {read}{} are the same file: choose another name", also(.place.as_ref()))]
    Read {
        /// The role and name of the written file.
        written: String,
        /// The role of the file that is read.
        read: String,
        /// Its path, if it has another name.
        place: Option<String>,
    },
    /// The file is written in two roles.
    #[error("{0} and {1} are the same file: choose another name")]
    Twice(String, String),
    /// The file exists and may not be replaced.
    #[error("{0} exists and would be replaced: choose another name, or delete it")]
    Exists(String),
    /// The file is in a folder that a job deletes at its end; the folder, and the role and path of the file.
    #[error("{0} contains {1} ({2}), but Grainfield removes files from it: move that file to another folder")]
    Folder(String, String, String),
}

fn also(place: Option<&String>) -> String {
    place.map_or(String::new(), |place| format!(" ({place})"))
}

impl FileAccess {
    /// Adds a file, or a folder. `role` is used in messages: `the input`.
    pub fn add(&mut self, access: Access, role: impl Into<String>, file: impl Into<FileRef>) {
        self.0.push(FileUse { access, role: role.into(), file: file.into() });
    }

    /// Adds a file that the job reads. `role` is used in messages: `the input`.
    pub fn read(&mut self, role: impl Into<String>, file: impl Into<FileRef>) {
        self.add(Access::Read, role, file);
    }

    /// Adds several files that the job reads in the same role.
    pub fn read_all(&mut self, role: &str, files: impl IntoIterator<Item: Into<FileRef>>) {
        files.into_iter().for_each(|file| self.read(role, file));
    }

    /// Adds a file that the job may write. `role` is used in messages: `the output`.
    pub fn write(&mut self, role: impl Into<String>, file: impl Into<FileRef>) {
        self.add(Access::Write, role, file);
    }

    /// Adds the name of a job to the roles, for several jobs.
    #[must_use]
    pub fn in_job(mut self, job: &str) -> FileAccess {
        self.0.iter_mut().for_each(|file| file.role = format!("{} of {job}", file.role));
        self
    }

    /// Adds the files of another job.
    pub fn extend(&mut self, other: FileAccess) {
        self.0.extend(other.0);
    }

    fn with(&self, access: Access) -> impl Iterator<Item = &FileUse> {
        self.0.iter().filter(move |file| file.access == access)
    }

    /// The files that are read.
    pub fn reads(&self) -> impl Iterator<Item = &FileRef> {
        self.with(Access::Read).map(|file| &file.file)
    }

    /// The files that may be written.
    pub fn writes(&self) -> impl Iterator<Item = &FileRef> {
        self.0.iter().filter(|file| file.is_written()).map(|file| &file.file)
    }

    /// Returns an error for a file that exists and that a library would replace.
    ///
    /// # Errors
    /// [`SameFile::Exists`].
    pub fn check_external_writes(&self) -> Result<(), SameFile> {
        let exists = |file: &&FileUse| matches!(file.file.identity(), Some(Identity::File(..)));
        let found = self.with(Access::WriteExternal).find(exists);
        found.map_or(Ok(()), |file| Err(SameFile::Exists(file.to_string())))
    }

    /// Returns an error if standard error is a file that is read, in which case no message can be printed.
    ///
    /// # Errors
    /// [`SameFile::Read`].
    pub fn check_errors(&self) -> Result<(), SameFile> {
        let Some(errors) = FileRef::Stderr.identity() else { return Ok(()) };
        let Some(read) = self.with(Access::Read).find(|r| r.file.identity().as_ref() == Some(&errors)) else {
            return Ok(());
        };
        MUTE.store(true, Ordering::SeqCst);
        let (written, place) = (FileRef::Stderr.to_string(), Some(read.file.to_string()));
        Err(SameFile::Read { written, read: read.role.clone(), place })
    }

    /// Returns an error if a file is read and written, or written in two roles. Creates no files.
    ///
    /// # Errors
    /// [`SameFile`].
    pub fn check(&self) -> Result<(), SameFile> {
        self.check_before(&mut WrittenFiles::default())
    }

    /// The same for one of several jobs, called for the last one first: no job may write a file that it or an earlier
    /// one reads, or that another one writes. `later` contains the files that later jobs write; those of this job are
    /// added.
    ///
    /// # Errors
    /// [`SameFile`].
    pub fn check_before(&self, later: &mut WrittenFiles) -> Result<(), SameFile> {
        self.check_errors()?;
        let written = &mut later.0;
        for file in self.0.iter().filter(|file| file.is_written()) {
            if let Some(identity) = file.file.identity()
                && let Some(other) = written.insert(identity, file.clone())
                && other.role != file.role
            {
                return Err(SameFile::Twice(file.to_string(), other.to_string()));
            }
        }
        let folders: Vec<(PathBuf, &FileUse)> = self
            .with(Access::Folder)
            .filter_map(|f| Some((f.file.path()?.canonicalize().ok()?, f)))
            .collect();
        // most outputs do not exist yet, and then cannot be a file that is read
        if !written.keys().any(|i| matches!(i, Identity::File(..))) && folders.is_empty() {
            return Ok(());
        }
        for read in self.with(Access::Read) {
            let Some(identity @ Identity::File(..)) = read.file.identity() else { continue };
            if let Some(other) = written.get(&identity) {
                let place = (other.file != read.file).then(|| read.file.to_string());
                return Err(SameFile::Read { written: other.to_string(), read: read.role.clone(), place });
            }
            // the file, or a link to it, is in the folder
            let Some(path) = read.file.path().filter(|_| !folders.is_empty()) else { continue };
            let parents = [path.canonicalize().ok().as_deref().and_then(parent), parent(path)];
            if let Some((_, folder)) = folders.iter().find(|(f, _)| parents.iter().flatten().any(|p| p == f))
            {
                let (folder, read) = (folder.to_string(), (read.role.clone(), read.file.to_string()));
                return Err(SameFile::Folder(folder, read.0, read.1));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_itself_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::fs::write(at("b"), "x").unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        std::os::unix::fs::symlink(dir.path(), at("d")).unwrap();
        std::os::unix::fs::symlink("d/a", at("soft")).unwrap();
        let of = |name: &str| FileRef::Path(at(name)).identity();
        for name in ["hard", "soft", "d/a", "d/./hard"] {
            assert_eq!(of(name), of("a"), "{name}");
        }
        assert!(of("a") != of("b") && of("new") == of("d/new") && of("new") != of("d/newer"));
        assert_eq!(of("none/new"), None);
        for device in ["/dev/null", "/dev/zero", "/"] {
            assert_eq!(FileRef::Path(device.into()).identity(), None, "{device}");
        }
        let check = |read: &str, written: &[&str]| {
            let mut access = FileAccess::default();
            access.read("the input", FileRef::Path(at(read)));
            written.iter().enumerate().for_each(|(i, w)| access.write(i.to_string(), FileRef::Path(at(w))));
            access.check()
        };
        assert_eq!(check("a", &["b", "new"]), Ok(()));
        assert_eq!(check("new", &["new"]), Ok(()));
        assert!(matches!(check("a", &["new", "soft"]), Err(SameFile::Read { .. })));
        assert!(matches!(check("b", &["new", "d/new"]), Err(SameFile::Twice(..))));
        let mut access = FileAccess::default();
        access.read("the input", FileRef::Path(at("soft")));
        access.add(Access::Folder, "the folder", at("d"));
        assert!(matches!(access.check(), Err(SameFile::Folder(..))));
    }
}
