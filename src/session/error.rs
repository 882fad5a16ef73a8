//! What can go wrong, and where.

use crate::pipeline::{Failure, FrameError};
use crate::session::job::{JobError, RunError};
use grainfield_filters::chain::ChainError;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::RecipeError;
use std::ops::Range;

/// Why something could not be done. [`kind`](Error::kind) says who can mend it, [`position`](Error::position) where it
/// is, and [`source`](std::error::Error::source) what led to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A recipe's text is not right.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// It cannot begin.
    #[error(transparent)]
    Begin(#[from] JobError),
    /// The source has no such frame.
    #[error("{name} has no frame {number}{}", there(*.first, *.last))]
    NoFrame {
        /// The source.
        name: String,
        /// The frame that was asked for.
        number: i64,
        /// The first there is.
        first: i64,
        /// The last there is, if it is known.
        last: Option<i64>,
    },
    /// One frame failed.
    #[error("frame {number}: {cause}")]
    Frame {
        /// Which.
        number: i64,
        /// Why.
        #[source]
        cause: FrameError,
    },
    /// A render failed after its begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

fn there(first: i64, last: Option<i64>) -> String {
    match last {
        Some(last) => format!(": its frames are {first} to {last}"),
        None => format!(": its frames start at {first}"),
    }
}

/// Who can mend an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Asking differently helps: a setting, a name, a combination.
    Usage,
    /// The input, or a file that the recipe names, cannot be read.
    Input,
    /// The output cannot be written.
    Output,
    /// A filter gave up on a frame.
    Filter,
    /// It was asked to stop.
    Interrupted,
    /// A fault of this program.
    Internal,
}

/// Where an error is, as far as that is known.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Position {
    /// The frame's number.
    pub frame: Option<i64>,
    /// Its time, seconds.
    pub time: Option<Ratio>,
    /// The filter's place in the recipe, from 1.
    pub filter: Option<usize>,
    /// The id of its setting.
    pub setting: Option<&'static str>,
    /// Bytes of the recipe's text.
    pub span: Option<Range<usize>>,
}

impl Error {
    /// Who can mend it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Recipe(_) | Error::NoFrame { .. } => ErrorKind::Usage,
            Error::Begin(e) => of_begin(e),
            Error::Frame { cause, .. } => of_frame(cause),
            Error::Run(RunError::Failed { failure, .. }) => match &**failure {
                Failure::Frame { error, .. } => of_frame(error),
                Failure::Stopped => ErrorKind::Interrupted,
                Failure::Closed => ErrorKind::Output,
            },
            Error::Run(RunError::Interrupted { .. }) | Error::Cancelled => ErrorKind::Interrupted,
            Error::Run(RunError::ClosedPipe) => ErrorKind::Output,
        }
    }

    /// Where it is.
    pub fn position(&self) -> Position {
        let mut position = Position::default();
        match self {
            Error::Recipe(e) => position.span = Some(e.parts().span.clone()),
            Error::Begin(JobError::Chain(ChainError::Setting { place, error, .. })) => {
                position.filter = Some(*place);
                position.setting = Some(error.setting).filter(|id| !id.is_empty());
            }
            Error::NoFrame { number, .. } | Error::Frame { number, .. } => position.frame = Some(*number),
            Error::Run(RunError::Failed { failure, .. }) => {
                if let Failure::Frame { number, time, .. } = &**failure {
                    (position.frame, position.time) = (*number, *time);
                }
            }
            _ => {}
        }
        position
    }
}

fn of_begin(error: &JobError) -> ErrorKind {
    match error {
        e if e.is_usage() => ErrorKind::Usage,
        JobError::Source(_) | JobError::Attach(_) | JobError::TextFile(_) => ErrorKind::Input,
        _ => ErrorKind::Output,
    }
}

fn of_frame(error: &FrameError) -> ErrorKind {
    match error {
        FrameError::Source(_) | FrameError::Short { .. } | FrameError::Nothing { .. } => ErrorKind::Input,
        FrameError::Sink(_) | FrameError::Uneven(_) => ErrorKind::Output,
        FrameError::Filter(_) => ErrorKind::Filter,
        FrameError::Panic(_) => ErrorKind::Internal,
    }
}

impl From<grainfield_filters::chain::ChainError> for Error {
    fn from(error: ChainError) -> Error {
        Error::Begin(error.into())
    }
}

impl From<crate::source::SourceError> for Error {
    fn from(error: crate::source::SourceError) -> Error {
        Error::Begin(error.into())
    }
}
