//! The reasons why a job cannot start or did not succeed.

use crate::assets::{AttachError, TextFileError};
use crate::pipeline::{Failure, Note, Summary};
use grainfield_filters::chain::ChainError;
use grainfield_filters::frame::{NameError, Ranges, SpansError};
use grainfield_filters::settings::SettingError;
use grainfield_filters::simd::{Isa, Level};
use grainfield_io::disk::SameFile;
use grainfield_io::journal::resume::ResumeError;
use grainfield_io::sink::SinkError;
use grainfield_io::source::{Info, SourceError};
use std::path::PathBuf;

/// Frame numbers are at most 2^53, so that curves can use them as `f64` and fields can double them.
pub const LAST_NUMBER: i64 = 1 << 53;

/// The reason why a job cannot start.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The request is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The caller's own source or sink does not accept the request.
    #[error(transparent)]
    Endpoints(Box<dyn std::error::Error + Send + Sync>),
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
    /// There is no such pixel format.
    #[error(transparent)]
    PixFmt(#[from] NameError),
    /// A loss, which a strict request does not allow.
    #[error("{0} (an error in a strict render)")]
    Strict(Note),
}

impl From<SpansError> for JobError {
    fn from(error: SpansError) -> JobError {
        RequestError::from(error).into()
    }
}

impl JobError {
    /// Whether the user can fix the error by changing the request.
    pub fn is_usage(&self) -> bool {
        match self {
            JobError::Request(_) | JobError::Endpoints(_) | JobError::PixFmt(_) => true,
            JobError::SameFile(_) | JobError::Chain(_) => true,
            JobError::Source(e) => e.is_usage(),
            JobError::Sink(e) => e.is_usage(),
            JobError::Attach(e) => e.is_usage(),
            JobError::TextFile(e) => e.is_usage(),
            _ => false,
        }
    }
}

/// A setting of a request, or a combination of settings, that is invalid.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The machine does not support the level of instructions.
    #[error("level {wanted}: this machine supports at most {best}")]
    Level {
        /// The requested level.
        wanted: Isa,
        /// The best supported one.
        best: Level,
    },
    /// The output cannot hold the pixel format.
    #[error("{output} cannot hold {wanted}; the nearest pixel format that it can hold is {nearest}")]
    PixFmt {
        /// The output.
        output: String,
        /// The requested pixel format.
        wanted: String,
        /// The nearest one that the output can hold.
        nearest: String,
    },
    /// Frame numbers would become too large.
    #[error("frame offset {0}: frame numbers must stay within 2^53 ({LAST_NUMBER}) of zero")]
    FrameOffset(i64),
    /// The requested times do not fit the source.
    #[error(transparent)]
    Spans(#[from] SpansError),
    /// The source lacks a requested frame.
    #[error(transparent)]
    NoFrame(#[from] NoFrame),
    /// The number of threads is 0.
    #[error("a render needs at least one thread")]
    NoThreads,
    /// The limit on memory is too small.
    #[error("the limit on memory is too small: one frame needs {} MB", .0.div_ceil(1_000_000))]
    Memory(usize),
    /// A video with frames in another order.
    #[error(
        "frames {frames}: {output} is a video, which needs frames in ascending order without repeats; write numbered \
         images or y4m instead"
    )]
    Order {
        /// The requested frames.
        frames: Ranges,
        /// The output.
        output: String,
    },
    /// Segments of an output that is no video.
    #[error(
        "only a video is rendered in segments (NAME.mkv, .mp4 ...); other outputs can be resumed without them"
    )]
    Segments,
    /// Resuming an output that is not a file.
    #[error("{0} is not a file, so there is nothing to resume")]
    ResumeStream(String),
    /// Resuming the render of a pipe.
    #[error("a pipe cannot be compared with the source of the earlier render; name a file to resume it")]
    ResumePipe,
    /// Two passes over a pipe.
    #[error("a pipe cannot be read twice, as two passes do; name a file as the input")]
    TwoPassPipe,
    /// Two passes over a part.
    #[error("two passes measure a whole video: they exclude segments, shards and resuming")]
    TwoPassParts,
    /// No temporary folder.
    #[error("no temporary folder for the measurements of the first pass: {0}")]
    TwoPassFolder(#[source] std::io::Error),
    /// A part of an animated picture.
    #[error("an animated picture (gif, apng, webp) is written as a whole, without segments and shards")]
    Animation,
    /// A shard of a source of unknown length.
    #[error("the length of this input is not known; a shard needs a range of frames with an end")]
    ShardLength,
    /// A value of a filter's setting is invalid.
    #[error("{filter}: {error}")]
    Setting {
        /// The filter.
        filter: &'static str,
        /// The setting, and the reason.
        #[source]
        error: SettingError,
    },
    /// A setting names a frame of the source that cannot be used.
    #[error("{filter}: {setting}={value}: {cause}")]
    SourceFrame {
        /// The filter.
        filter: &'static str,
        /// The id of the setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The reason.
        #[source]
        cause: SourceFrameError,
    },
}

/// The reason why a frame of the source cannot be used by a setting.
#[derive(Debug, thiserror::Error)]
pub enum SourceFrameError {
    /// The input is a pipe.
    #[error(
        "a pipe is read once, so none of its frames can be read in advance: name a file as the input, or use an image"
    )]
    Pipe,
    /// The value is not a number.
    #[error("not a frame number")]
    Number,
    /// There is no such frame.
    #[error(transparent)]
    NoFrame(#[from] NoFrame),
    /// The frame cannot be converted to gray.
    #[error(transparent)]
    Gray(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// A source lacks a frame.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name} has no frame {number}: its frames {}", range_text(*.first, *.last))]
pub struct NoFrame {
    /// The source.
    pub name: String,
    /// The frame.
    pub number: i64,
    /// The first existing frame.
    pub first: i64,
    /// The last existing frame, if it is known.
    pub last: Option<i64>,
}

impl NoFrame {
    /// Frame `number` of a source, both by the user's numbers, which are `offset` more than the source's.
    pub(crate) fn new(info: &Info, number: i64, offset: i64) -> NoFrame {
        let user_number = |n: i64| n.saturating_add(offset);
        NoFrame {
            name: info.name.clone(),
            number,
            first: user_number(info.first),
            last: info.last.map(user_number),
        }
    }
}

fn range_text(first: i64, last: Option<i64>) -> String {
    match last {
        Some(last) => format!("are {first} to {last}"),
        None => format!("start at {first}"),
    }
}

/// The reason why a job did not succeed, and what it has done.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct RunError {
    /// The error, or that the user has cancelled.
    #[source]
    pub failure: Box<Failure>,
    /// The finished part of the output: a file `NAME.partial.EXT`, or the folder of a video's segments. `None` if
    /// nothing is kept, and for numbered images, which keep their names.
    pub partial: Option<PathBuf>,
    /// The work done so far.
    pub summary: Summary,
}
