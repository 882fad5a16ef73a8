//! Text files that recipes name: read whole, within a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a text file that a recipe names cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    /// It cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is no text, or too long.
    #[error("{}: {what} is UTF-8 text of at most {} MiB", path.display(), most >> 20)]
    NoText {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// The most bytes.
        most: usize,
    },
    /// What it says is wrong: the file, the place, and what would be right.
    #[error("{0}")]
    Says(String),
}

impl TextFileError {
    /// Whether writing something else would help, as against the file not being there.
    pub fn is_usage(&self) -> bool {
        !matches!(self, TextFileError::Read { .. })
    }
}

/// The text of a file of at most `most` bytes.
pub(super) fn read_text(path: &Path, what: &'static str, most: usize) -> Result<String, TextFileError> {
    let failed = |cause| TextFileError::Read { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= most);
    text.ok_or_else(|| TextFileError::NoText { path: path.into(), what, most })
}
