//! Notices that an input file is changed while it is read.

use super::system::{self, FileId};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A file as it was when it was opened.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    path: PathBuf,
    before: Metadata,
    id: Option<FileId>,
}

impl OpenedFile {
    /// The present state of a file; `None` for anything but an ordinary file.
    pub(crate) fn new(path: &Path) -> Option<OpenedFile> {
        let before = path.metadata().ok().filter(Metadata::is_file)?;
        let id = system::path_id(path, true).ok()?;
        Some(OpenedFile { path: path.to_owned(), before, id })
    }

    /// How the file has changed since it was opened. A file may grow, as recordings do, and one that was removed remains
    /// readable.
    pub(crate) fn change(&self) -> Option<String> {
        let now = self.path.metadata().ok()?;
        let (size, before) = (now.len(), self.before.len());
        let changed = now.modified().ok() != self.before.modified().ok();
        let what = if system::path_id(&self.path, true).ok()? != self.id {
            "replaced by another file"
        } else if size < before {
            "truncated"
        } else if size == before && changed {
            "written to"
        } else {
            return None;
        };
        Some(format!(
            "the file was {what} while it was read: it had {before} bytes when it was opened, and has {size} now. \
             Render again from a complete file"
        ))
    }
}
