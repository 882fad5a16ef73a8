//! The reasons why a job cannot start or did not succeed.

use crate::assets::{AttachError, TextFileError};
use crate::pipeline::{Failure, Summary};
use grainfield_filters::chain::ChainError;
use grainfield_filters::frame::NameError;
use grainfield_io::disk::SameFile;
use grainfield_io::journal::resume::ResumeError;
use grainfield_io::sink::SinkError;
use grainfield_io::source::SourceError;
use std::path::PathBuf;

/// The reason why a job cannot start.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The request is invalid; changing it helps.
    #[error("{0}")]
    Usage(String),
    /// The input cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The output cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A file would be both read and written.
    #[error(transparent)]
    SameFile(#[from] SameFile),
    /// A filter rejects its settings, or a conversion is impossible.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The existing output is not the expected one.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// A setting's curve cannot be read from its file.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// An effect file or a film grain table cannot be read.
    #[error("{0}")]
    TextFile(#[from] TextFileError),
    /// `--pix-fmt` is not a pixel format.
    #[error("--pix-fmt: {0}")]
    PixFmt(#[from] NameError),
    /// A warning, with `--strict`.
    #[error("{0} (an error because of --strict)")]
    Strict(String),
}

impl JobError {
    /// Whether the user can fix the error by changing the command.
    pub fn is_usage(&self) -> bool {
        match self {
            JobError::Usage(_) | JobError::SameFile(_) | JobError::Chain(_) | JobError::PixFmt(_) => true,
            JobError::Source(e) => e.is_usage(),
            JobError::Sink(e) => e.is_usage(),
            JobError::Attach(e) => e.is_usage(),
            JobError::TextFile(e) => e.is_usage(),
            _ => false,
        }
    }
}

/// The reason why a job did not succeed, and what it has done.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct RunError {
    /// The error, or that the user has cancelled.
    #[source]
    pub failure: Box<Failure>,
    /// The path of the partial result.
    pub partial: Option<PathBuf>,
    /// The work done so far.
    pub summary: Summary,
}
