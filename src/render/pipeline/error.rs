//! The reasons why a frame failed, or a pipeline ended early.

use grainfield_filters::host::PrepareError;
use grainfield_filters::ratio::Ratio;
use grainfield_io::media::{SinkError, SourceError};

/// The reason why a frame failed.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// It could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A filter failed.
    #[error("{0}")]
    Filter(#[from] PrepareError),
    /// Its time is lost, which a strict render does not allow.
    #[error("{0} (an error in a strict render)")]
    TimeLost(LostTime),
    /// A defect of this program.
    #[error("internal error: {0}. Please report it with the request that led to it")]
    Panic(String),
    /// The source ended too early.
    #[error("{name} ends after frame {last}, but frame {wanted} was requested")]
    Short {
        /// The source.
        name: String,
        /// The last existing frame.
        last: i64,
        /// The requested frame.
        wanted: i64,
    },
    /// The source has no frames.
    #[error("{name} has no frames")]
    Nothing {
        /// The source.
        name: String,
    },
}

/// A frame whose time the output does not keep.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error(
    "timestamps are lost: the input shows frame {number} at {:.3} s, but the output has the constant rate {rate}",
    .time.to_f64()
)]
pub struct LostTime {
    /// The frame.
    pub number: i64,
    /// Its time in seconds.
    pub time: Ratio,
    /// The frame rate of the output.
    pub rate: Ratio,
}

/// The reason why a pipeline ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A frame failed.
    #[error("{}{error}", frame_text(*.number, *.time))]
    Frame {
        /// The frame's number, if a frame caused it.
        number: Option<i64>,
        /// Its time in seconds.
        time: Option<Ratio>,
        /// The error.
        #[source]
        error: FrameError,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The reader has closed the pipe.
    #[error("the reader has closed the pipe")]
    Closed,
}

fn frame_text(number: Option<i64>, time: Option<Ratio>) -> String {
    match (number, time) {
        (Some(n), Some(t)) => format!("frame {n} ({:.3} s): ", t.to_f64()),
        (Some(n), None) => format!("frame {n}: "),
        _ => String::new(),
    }
}
