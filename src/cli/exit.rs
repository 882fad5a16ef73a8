//! The exit codes of the program.

use grainfield_render::session::ErrorKind;
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
    /// The exit status of an error before the first frame.
    pub(super) fn of(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Interrupted => Exit::Interrupted,
            _ => Exit::Failed,
        }
    }

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
