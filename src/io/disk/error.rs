//! Errors of writing files.

use super::partial::PartialOutput;
use std::io;
use std::path::PathBuf;

/// An error while writing a file.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// An error of the system.
    #[error("{name}: {cause}")]
    Io {
        /// The file.
        name: String,
        /// The error.
        #[source]
        cause: io::Error,
    },
    /// The reader has closed the pipe.
    #[error("{name}: the reader has closed the pipe")]
    Closed {
        /// The file.
        name: String,
    },
    /// The file exists and may not be replaced.
    #[error("{} exists, and overwriting is not allowed", .0.display())]
    Exists(PathBuf),
    /// The name is invalid. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Name {
        /// The file.
        name: String,
        /// The problem, and what would be right.
        problem: String,
    },
    /// The file cannot be written there. The text says why.
    #[error("{name}: {problem}")]
    Bad {
        /// The file.
        name: String,
        /// The problem.
        problem: String,
    },
    /// All frames were written, but the file could not be completed.
    #[error("{cause}")]
    Unfinished {
        /// The reason.
        cause: Box<DiskError>,
        /// The remaining part.
        left: PartialOutput,
    },
}
