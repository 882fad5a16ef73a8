//! Files that a page may name: those below the folder in which the studio was started, and below the folders of files
//! named on its command line. `..`, links and protocols are not allowed.

use super::fault::Fault;
use crate::source::sequence;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The largest number of names in a listing.
const MAX_NAMES: usize = 5000;

/// The folders.
#[derive(Clone, Debug)]
pub(super) struct Roots(Vec<PathBuf>);

/// The contents of a folder.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    /// The folder, in the form that the page may use.
    pub(super) folder: String,
    /// Its parent folder, unless that is not accessible.
    pub(super) above: Option<String>,
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<String>,
}

impl Roots {
    /// The current folder, and the folders of files that the user has named.
    pub(super) fn new(named: &[&Path]) -> Result<Roots, String> {
        let here = std::env::current_dir().and_then(fs::canonicalize);
        let mut all = vec![here.map_err(|e| format!("the current folder: {e}"))?];
        for file in named {
            let folder = file.parent().unwrap_or(Path::new(""));
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            if let Ok(folder) = fs::canonicalize(folder) {
                all.push(folder);
            }
        }
        all.dedup();
        Ok(Roots(all))
    }

    /// The folder to which relative names refer.
    pub(super) fn first(&self) -> &Path {
        &self.0[0]
    }

    /// A path below a root, no component of which is a link. The file itself need not exist.
    pub(super) fn within(&self, name: &str) -> Result<PathBuf, Fault> {
        let outside = || Fault::new(format!("{name}: only files below {} can be opened here", self.shown()));
        if name.is_empty() || name.contains('\0') {
            return Err(Fault::new("the file name is missing"));
        }
        // FFmpeg would interpret the text before a colon as a protocol.
        if name.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err(Fault::new(format!("{name}: protocols are not allowed here")));
        }
        let path = self.first().join(name);
        if path.components().any(|c| c == Component::ParentDir) {
            return Err(outside());
        }
        // By components: `/testtest` is not below `/test`.
        let root = self.0.iter().find(|root| path.starts_with(root)).ok_or_else(outside)?;
        let mut at = root.clone();
        for part in path.strip_prefix(root).map_err(|_| outside())?.components() {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(meta) if meta.is_symlink() => {
                    return Err(Fault::new(format!("{name}: {} is a link", at.display())));
                }
                _ => {}
            }
        }
        Ok(if Path::new(name).is_absolute() { path } else { PathBuf::from(name) })
    }

    /// The same for an existing file.
    pub(super) fn existing(&self, name: &str) -> Result<PathBuf, Fault> {
        let path = self.within(name)?;
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(path),
            Ok(_) => Err(Fault::new(format!("{name}: not a file"))),
            Err(e) => Err(Fault::new(format!("{name}: {e}"))),
        }
    }

    /// The name of an input: a file, a folder or pattern of images, or a test signal.
    pub(super) fn input(&self, name: &str) -> Result<OsString, Fault> {
        if name.starts_with("pattern:") {
            return Ok(name.into());
        }
        let path = self.within(name)?;
        let there = path.exists();
        if !there && !sequence::recognises(path.as_os_str()) {
            return Err(Fault::new(format!("{name}: there is no such file")));
        }
        Ok(path.into())
    }

    /// The contents of a folder; `""` is the first root.
    pub(super) fn list(&self, folder: &str) -> Result<Listing, Fault> {
        let path = if folder.is_empty() { PathBuf::from(".") } else { self.within(folder)? };
        let entries = fs::read_dir(&path).map_err(|e| Fault::new(format!("{}: {e}", path.display())))?;
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for entry in entries.take(MAX_NAMES).flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            match entry.file_type() {
                Ok(kind) if name.starts_with('.') || kind.is_symlink() => {}
                Ok(kind) if kind.is_dir() => folders.push(name),
                Ok(kind) if kind.is_file() => files.push(name),
                _ => {}
            }
        }
        folders.sort();
        files.sort();
        let above = Path::new(folder).parent().map(|p| p.to_string_lossy().into_owned());
        let above = above.filter(|a| a.is_empty() || self.within(a).is_ok());
        Ok(Listing { folder: folder.into(), above, folders, files })
    }

    fn shown(&self) -> String {
        self.0.iter().map(|r| r.display().to_string()).collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_outside() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        for name in ["test/deep", "testtest"] {
            fs::create_dir_all(base.join(name)).unwrap();
            fs::write(base.join(name).join("a.toml"), b"").unwrap();
        }
        symlink(base.join("testtest"), base.join("test/link")).unwrap();
        symlink(base.join("testtest/a.toml"), base.join("test/a.toml")).unwrap();
        let roots = Roots(vec![base.join("test")]);
        let name = |tail: &str| base.join(tail).to_string_lossy().into_owned();
        assert!(roots.existing(&name("test/deep/a.toml")).is_ok());
        for bad in [
            name("testtest/a.toml"),
            name("test/../testtest/a.toml"),
            name("test/link/a.toml"),
            name("test/a.toml"),
            "../testtest/a.toml".into(),
            "/etc/passwd".into(),
            String::new(),
        ] {
            assert!(roots.existing(&bad).is_err(), "{bad}");
            assert!(roots.input(&bad).is_err(), "{bad}");
        }
        for bad in ["http://127.0.0.1/x.mp4", "concat:a|b", "file:/etc/passwd", "-", "lavfi:testsrc"] {
            assert!(roots.input(bad).is_err(), "{bad}");
        }
        assert!(roots.input("pattern:bars").is_ok());
        let listing = roots.list(&name("test")).unwrap();
        assert_eq!((listing.folders, listing.files), (vec!["deep".to_owned()], vec![]));
        assert!(roots.list(&name("testtest")).is_err());
    }
}
