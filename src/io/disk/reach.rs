//! Which files this process may read as inputs: all, or those below the folders of a studio.
//!
//! Names come from a page, from patterns, and from files that name others. Whatever the name, the file that it leads to
//! is checked after it was opened, so that no link can be exchanged in between.

use super::system;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The variable that passes the folders on to child processes, with `:` between them.
pub const VARIABLE: &str = "GRAINFIELD_READ_BELOW";

/// The limit belongs to the process instead of being passed as a value, so that no way of opening a file can bypass it.
static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Limits this process to files below these folders, whose names have no links. Later calls have no effect.
pub fn limit(folders: Vec<PathBuf>) {
    let _ = FOLDERS.set(folders);
}

/// Limits this process as its parent is limited.
pub fn inherit() {
    if let Some(folders) = std::env::var_os(VARIABLE) {
        limit(std::env::split_paths(&folders).collect());
    }
}

/// Whether there is a limit.
pub fn is_limited() -> bool {
    FOLDERS.get().is_some()
}

/// The variable and its value for a child process.
pub fn inherited() -> Option<(&'static str, std::ffi::OsString)> {
    Some((VARIABLE, std::env::join_paths(FOLDERS.get()?).ok()?))
}

/// Opens a file for reading.
///
/// # Errors
/// `PermissionDenied` for a file outside the folders, else those of the system.
pub fn open(path: &Path) -> io::Result<File> {
    // A named pipe among the files of a page must not wait for its writer.
    let mut options = OpenOptions::new();
    options.read(true);
    if is_limited() {
        system::without_waiting(&mut options);
    }
    open_with(&options, path)
}

/// The same with other options.
///
/// # Errors
/// As [`open`].
pub fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    FOLDERS.get().map_or(Ok(()), |folders| check(folders, &file, path))?;
    Ok(file)
}

fn check(folders: &[PathBuf], file: &File, path: &Path) -> io::Result<()> {
    // The name that the system has for the open file; systems without /proc resolve the path again.
    let real = std::fs::read_link(system::descriptor(file)).or_else(|_| path.canonicalize())?;
    if folders.iter().any(|folder| real.starts_with(folder)) {
        return Ok(());
    }
    let shown = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" and ");
    let text = format!("{} leads outside: only files below {shown} are read", path.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_file_that_a_name_leads_to_counts() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["in/deep", "inside"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
            std::fs::write(base.join(name).join("a"), b"").unwrap();
        }
        symlink(base.join("inside/a"), base.join("in/out")).unwrap();
        symlink(base.join("inside"), base.join("in/folder")).unwrap();
        symlink(base.join("in/deep/a"), base.join("in/link")).unwrap();
        let ask = |name: &str| {
            let path = base.join(name);
            check(&[base.join("in")], &File::open(&path).unwrap(), &path)
        };
        for good in ["in/deep/a", "in/link", "inside/../in/deep/a"] {
            assert!(ask(good).is_ok(), "{good}");
        }
        // By components: `inside` is not below `in`.
        for bad in ["inside/a", "in/out", "in/folder/a", "in/../inside/a"] {
            let error = ask(bad).unwrap_err();
            assert!(
                error.kind() == ErrorKind::PermissionDenied && error.to_string().contains(bad),
                "{error}"
            );
        }
    }
}
