//! How commands end: exit codes, and errors with their messages.

use super::advice::advice;
use super::bound::BoundError;
use grainfield_filters::recipe::RecipeError;
use grainfield_io::disk::{DiskError, SameFile};
use grainfield_io::sink::SinkError;
use grainfield_io::source::SourceError;
use grainfield_render::analyze::plot::PlotError;
use grainfield_render::assets::{AttachError, TextFileError, TrackFileError};
use grainfield_render::join::JoinError;
use grainfield_render::matching::MatchError;
use grainfield_render::session::job::JobError;
use grainfield_render::session::{self, ErrorKind};
use std::error::Error;
use std::process::ExitCode;

/// Exit statuses. The numbers are part of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// 0: done; also when the reader of our output has closed the pipe.
    Done,
    /// 1: the job failed.
    Failed,
    /// 2: wrong usage.
    Usage,
    /// 129: the terminal was closed (SIGHUP).
    HungUp,
    /// 130: interrupted (SIGINT, Ctrl-C).
    Interrupted,
    /// 143: terminated (SIGTERM).
    Terminated,
}

impl Exit {
    /// The number of the status.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::HungUp => 129,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The error that ends a command.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    /// The message.
    pub(super) text: String,
}

impl Failure {
    /// Wrong usage.
    pub(super) fn usage(text: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, text: text.into() }
    }

    /// Any other error.
    pub(super) fn failed(text: impl Into<String>) -> Failure {
        Failure { exit: Exit::Failed, text: text.into() }
    }

    /// An error with its causes.
    pub(super) fn from_error(exit: Exit, error: &(dyn Error + 'static)) -> Failure {
        Failure { exit, text: with_causes(error) }
    }
}

/// An error with its causes, one per line, without those that the text above contains, and advice.
pub(super) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let reason = cause.to_string();
        if !text.contains(&reason) {
            text += "\n  because: ";
            text += &reason;
        }
        next = cause.source();
    }
    if let Some(advice) = advice(error) {
        text += "\n  ";
        text += advice;
    }
    text
}

/// Errors, and whether changing the command helps.
macro_rules! failures {
    ($($error:ty: $is_usage:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                let is_usage: fn(&$error) -> bool = $is_usage;
                Failure::from_error(if is_usage(&error) { Exit::Usage } else { Exit::Failed }, &error)
            }
        }
    )*};
}
failures! {
    AttachError: AttachError::is_usage;
    BoundError: BoundError::is_usage;
    DiskError: |e| matches!(e, DiskError::Name { .. });
    JobError: JobError::is_usage;
    JoinError: JoinError::is_usage;
    MatchError: MatchError::is_usage;
    PlotError: |_| false;
    RecipeError: |_| true;
    SameFile: |_| true;
    SinkError: SinkError::is_usage;
    SourceError: SourceError::is_usage;
    TextFileError: TextFileError::is_usage;
    TrackFileError: |_| false;
}

impl From<session::Error> for Failure {
    fn from(error: session::Error) -> Failure {
        let exit = match error.kind() {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Cancelled => Exit::Interrupted,
            _ => Exit::Failed,
        };
        Failure::from_error(exit, &error)
    }
}
