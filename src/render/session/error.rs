//! Errors and their positions.

use crate::pipeline::{Failure, FrameError};
use crate::session::job::{JobError, NoFrame, RunError};
use grainfield_filters::chain::ChainError;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::RecipeError;
use std::ops::Range;

/// An error. [`kind`](Error::kind) shows who can fix it, [`position`](Error::position) is its position, and
/// [`source`](std::error::Error::source) its cause.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error in the text of a recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The job cannot start.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The source has no such frame.
    #[error(transparent)]
    NoFrame(#[from] NoFrame),
    /// A frame failed.
    #[error("frame {number}: {cause}")]
    Frame {
        /// The frame.
        number: i64,
        /// The reason.
        #[source]
        cause: FrameError,
    },
    /// A render failed after its start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A request for a frame was cancelled. A cancelled render is a [`RunError`], as it has a partial result.
    #[error("cancelled")]
    Cancelled,
}

/// The message, which a program shows whose `main` returns the error.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The kind of an error, by who can fix it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The user, by changing a setting, a name or a combination.
    Usage,
    /// The input, or a file that the recipe names, cannot be read.
    Input,
    /// The output cannot be written.
    Output,
    /// A filter failed for a frame.
    Filter,
    /// It was cancelled.
    Cancelled,
    /// A defect of this program.
    Internal,
}

/// The position of an error, as far as it is known.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Position {
    /// The frame's number.
    pub frame: Option<i64>,
    /// Its time in seconds.
    pub time: Option<Ratio>,
    /// The filter's position in the recipe, from 1.
    pub filter: Option<usize>,
    /// The id of its setting.
    pub setting: Option<&'static str>,
    /// Byte range in the recipe's text.
    pub span: Option<Range<usize>>,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Recipe(_) | Error::NoFrame(_) => ErrorKind::Usage,
            Error::Job(e) => job_error_kind(e),
            Error::Frame { cause, .. } => frame_error_kind(cause),
            Error::Run(e) => e.kind(),
            Error::Cancelled => ErrorKind::Cancelled,
        }
    }

    /// The position.
    pub fn position(&self) -> Position {
        let mut position = Position::default();
        match self {
            Error::Recipe(e) => position.span = Some(e.parts().span.clone()),
            Error::Job(JobError::Chain(ChainError::Setting { place, error, .. })) => {
                position.filter = Some(*place);
                position.setting = Some(error.setting).filter(|id| !id.is_empty());
            }
            Error::NoFrame(NoFrame { number, .. }) | Error::Frame { number, .. } => {
                position.frame = Some(*number)
            }
            Error::Run(RunError { failure, .. }) => {
                if let Failure::Frame { number, time, .. } = &**failure {
                    (position.frame, position.time) = (*number, *time);
                }
            }
            _ => {}
        }
        position
    }
}

impl RunError {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match &*self.failure {
            Failure::Frame { error, .. } => frame_error_kind(error),
            Failure::Cancelled => ErrorKind::Cancelled,
            Failure::Closed => ErrorKind::Output,
        }
    }
}

fn job_error_kind(error: &JobError) -> ErrorKind {
    match error {
        e if e.is_usage() => ErrorKind::Usage,
        JobError::Source(_) | JobError::Attach(_) | JobError::TextFile(_) => ErrorKind::Input,
        _ => ErrorKind::Output,
    }
}

fn frame_error_kind(error: &FrameError) -> ErrorKind {
    match error {
        FrameError::Source(_) | FrameError::Short { .. } | FrameError::Nothing { .. } => ErrorKind::Input,
        FrameError::Sink(_) | FrameError::TimeLost(_) => ErrorKind::Output,
        FrameError::Filter(_) => ErrorKind::Filter,
        FrameError::Panic(_) => ErrorKind::Internal,
    }
}

impl From<grainfield_filters::chain::ChainError> for Error {
    fn from(error: ChainError) -> Error {
        Error::Job(error.into())
    }
}

impl From<grainfield_io::source::SourceError> for Error {
    fn from(error: grainfield_io::source::SourceError) -> Error {
        Error::Job(error.into())
    }
}
