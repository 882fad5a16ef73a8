//! What a sink is.

use crate::disk::{DiskError, Left, Output};
use crate::encoding::Encoding;
use crate::journal::keep::Keep;
use crate::media::source::{Carried, FrameStamp};
use grainfield_filters::frame::{Format, Frame};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// What a sink is told before the first frame.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What every frame will be. Made from `sink::accepts` of what the chain gives.
    pub format: Format,
    /// What the source wants carried (a y4m header line), for a sink of the same kind.
    pub carried: Carried,
    /// Whether frames are the source's, samples untouched and format unchanged: then a header may be repeated.
    pub untouched_format: bool,
    /// Whether something that exists may be replaced (`-y`).
    pub overwrite: bool,
    /// How many frames will come, if that is known.
    pub frames: Option<u64>,
    /// Whether the first frame will be the source's first, and the last its last: otherwise sound, subtitles and
    /// chapters are cut to what is shown.
    pub whole: (bool, bool),
    /// How a video file is written.
    pub encoding: Encoding,
    /// What is done so that a job can be resumed or joined.
    pub keep: Keep,
    /// What of the file that a frame comes from is lost in a video, in a few words each.
    pub lost_in_video: Vec<String>,
}

/// What went wrong in a sink.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The system said no.
    #[error("{name}: {cause}")]
    Io {
        /// What was written.
        name: String,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// The reader of our pipe has gone: not an error to be shouted about.
    #[error("{name}: the reader has closed the pipe")]
    Closed {
        /// What was written.
        name: String,
    },
    /// Something is there already, and `-y` was not said.
    #[error("{} exists; use -y to replace it", .0.display())]
    Exists(PathBuf),
    /// Files of a sequence exist.
    #[error("{} exists{}; use -y to replace existing files, or --resume to keep them and render the rest",
        path.display(), others(*more))]
    InTheWay {
        /// The first of them.
        path: PathBuf,
        /// How many more there are.
        more: usize,
    },
    /// It is asked for in a way that cannot be right. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Usage {
        /// What was to be written.
        name: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// It cannot be written as asked. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Bad {
        /// What was to be written.
        name: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// All frames came, and the result could not be finished.
    #[error("{cause}")]
    Unfinished {
        /// Why not.
        cause: Box<SinkError>,
        /// What there is of it.
        left: Left,
    },
}

impl SinkError {
    /// With what is left of the output.
    pub(crate) fn leaving(self, left: Left) -> SinkError {
        SinkError::Unfinished { cause: Box::new(self), left }
    }

    /// Whether asking differently would help, as against the world being otherwise.
    pub fn is_usage(&self) -> bool {
        matches!(self, SinkError::Usage { .. })
    }
}

impl From<DiskError> for SinkError {
    fn from(error: DiskError) -> SinkError {
        match error {
            DiskError::Io { name, cause } => SinkError::Io { name, cause },
            DiskError::Closed { name } => SinkError::Closed { name },
            DiskError::Exists(path) => SinkError::Exists(path),
            DiskError::Name { name, problem } => SinkError::Usage { name, problem },
            DiskError::Bad { name, problem } => SinkError::Bad { name, problem },
            DiskError::Unfinished { cause, left } => SinkError::from(*cause).leaving(left),
        }
    }
}

/// Where frames go. Frames come in order of time.
pub trait Sink: Send {
    /// The part of writing that many threads may do at the same time.
    fn encoder(&self) -> Arc<dyn Encode>;

    /// Takes the next frame: its picture, and what the encoder made of it.
    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, encoded: &[u8]) -> Result<(), SinkError>;

    /// Whether frames are shown when the source shows them, however unevenly; else there is one rate.
    fn keeps_times(&self) -> bool {
        true
    }

    /// What the source has and this output cannot hold, one line a warning. Asked before the first frame.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the user should know of how it is written. Asked before the first frame.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// All frames have come: the result gets its final name.
    fn finish(self: Box<Self>) -> Result<(), SinkError>;

    /// No more frames will come, and some are missing. What there is is made playable and gets the name
    /// `NAME.partial.EXT`, where it is one file.
    fn abandon(self: Box<Self>) -> Result<Left, SinkError>;
}

/// The part of writing that many threads may do at the same time, and without the sink.
pub trait Encode: Send + Sync {
    /// Appends to `out` (empty when called) what [`Sink::write`] will want.
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError>;
}

/// Nothing to do beforehand: for sinks that write a frame's rows as they are.
#[derive(Debug)]
pub struct Plain;

impl Encode for Plain {
    fn encode(&self, _: &FrameStamp, _: &Frame, _: &mut Vec<u8>) -> Result<(), SinkError> {
        Ok(())
    }
}

impl Plan {
    /// Opens the one file that an output is.
    ///
    /// # Errors
    /// Where it exists and may not be replaced, or cannot be created.
    pub fn open(&self, output: &OsStr) -> Result<Output, SinkError> {
        let mut out = Output::create(output, self.overwrite)?;
        if let Some(seal) = self.keep.seal.clone() {
            out.seal(seal.boxed());
        }
        Ok(out)
    }
}

fn others(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}
