//! Text files that recipes name: read whole, up to a limit.

use grainfield_io::disk::reach;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An error while reading a text file that a recipe names.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    /// It cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The file is not text.
    #[error("{}: {what} is UTF-8 text", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
        /// The expected kind of file.
        what: &'static str,
    },
    /// The file is too long.
    #[error("{}: {what} has at most {most} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The expected kind of file.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The content is invalid: the file, the position, and what would be right.
    #[error("{0}")]
    Says(String),
}

impl TextFileError {
    /// Whether the user can fix the error by changing the text, as opposed to a missing file.
    pub fn is_usage(&self) -> bool {
        !matches!(self, TextFileError::Read { .. })
    }
}

/// Reads the text of a file of at most `most` bytes, which is `what`.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, is not UTF-8, or is larger.
pub fn read_text(path: &Path, what: &'static str, most: usize) -> Result<String, TextFileError> {
    let text = String::from_utf8(read_bytes(path, what, most)?);
    text.map_err(|_| TextFileError::NoText { path: path.into(), what })
}

/// Reads a file of at most `most` bytes, which is `what`, for text that may have any encoding.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, or is larger.
pub(super) fn read_bytes(path: &Path, what: &'static str, most: usize) -> Result<Vec<u8>, TextFileError> {
    let failed = |cause| TextFileError::Read { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = reach::open(path).map_err(failed)?;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(TextFileError::TooLong { path: path.into(), what, most });
    }
    Ok(bytes)
}
