//! The interface of sinks.

use crate::disk::{DiskError, OutputFile, OutputRescue, PartialOutput};
use crate::encoding::Encoding;
use crate::journal::{Cuts, JournalConfig, SourceEnds};
use crate::media::source::{Carried, FrameStamp};
use grainfield_filters::frame::{Format, Frame, Timecode};
use grainfield_filters::ratio::Ratio;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// The properties that a sink knows before the first frame.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The format of every frame, from `sink::accepts` of the chain's output.
    pub format: Format,
    /// Data from the source (such as a y4m header line) for a sink of the same kind.
    pub carried: Carried,
    /// Whether frames have the samples and format of the source, so that a header may be repeated.
    pub untouched_format: bool,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
    /// The number of frames, if it is known.
    pub frames: Option<u64>,
    /// The ends of the source that are rendered.
    pub ends: SourceEnds,
    /// Where frames are left out, so that a video goes on without them.
    pub cuts: Cuts,
    /// FFmpeg's name of the pixel format, if it was chosen: its samples may be packed in ways that `format` does not
    /// tell.
    pub pix_fmt: Option<String>,
    /// Encoding options for video files.
    pub encoding: Encoding,
    /// Records for resuming or joining jobs.
    pub journal: JournalConfig,
    /// Properties of a frame's source file that a video loses, in a few words each.
    pub lost_in_video: Vec<String>,
    /// The time code in the header of the source's first file, and the number of frames from there to the first
    /// rendered one.
    pub timecode: Option<(String, i64)>,
    /// What files of single pictures can state of frames whose source has no such files.
    pub clock: Option<FrameClock>,
}

/// The rate of frames, and where their timecode begins.
#[derive(Debug, Clone, Copy)]
pub struct FrameClock {
    /// Frames a second.
    pub rate: Ratio,
    /// The number of frames from 00:00:00:00 to the frame 0, and whether it is drop frame.
    pub start: Option<(i64, bool)>,
}

impl FrameClock {
    /// The timecode of a frame.
    pub fn timecode(&self, number: i64) -> Option<Timecode> {
        let (start, drop) = self.start?;
        Timecode::of_frames(start + number, self.rate, drop)
    }
}

/// An error of a sink.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// An error of the output's file. A closed pipe is not shown as an error.
    #[error(transparent)]
    Disk(DiskError),
    /// Files of a sequence exist.
    #[error("{} exists{}, and overwriting is not allowed", path.display(), others(*more))]
    InTheWay {
        /// The first one.
        path: PathBuf,
        /// The number of further ones.
        more: usize,
    },
    /// The settings for encoding fit neither the picture nor the container, or each other. The text says what is wrong
    /// and what would be right.
    #[error("{name}: {problem}")]
    Encoding {
        /// The output.
        name: String,
        /// The problem, and what would be right.
        problem: String,
    },
    /// The container shows every frame for the same time, but the frame rate of the source varies.
    #[error(
        "{name}: {container} shows every frame for the same time, but the frame rate of the input varies: FFmpeg's \
         filter fps={rate} repeats frames where they last longer, or name the output NAME.mov"
    )]
    VaryingRate {
        /// The output.
        name: String,
        /// The container.
        container: &'static str,
        /// The nominal rate of the source.
        rate: Ratio,
    },
    /// All frames were written, but the output could not be completed.
    #[error("{cause}")]
    Unfinished {
        /// The reason.
        cause: Box<SinkError>,
        /// The remaining part.
        left: PartialOutput,
    },
}

impl SinkError {
    /// An error of the system.
    pub fn io(name: String, cause: std::io::Error) -> SinkError {
        SinkError::Disk(DiskError::Io { name, cause })
    }

    /// An invalid request; the text says what is wrong and what would be right.
    pub fn usage(name: String, problem: String) -> SinkError {
        SinkError::Disk(DiskError::Name { name, problem })
    }

    /// An output that cannot be written as requested; the text says what is wrong and what would be right.
    pub fn bad(name: String, problem: String) -> SinkError {
        SinkError::Disk(DiskError::Bad { name, problem })
    }

    /// Adds the remaining part of the output.
    pub(crate) fn leaving(self, left: PartialOutput) -> SinkError {
        SinkError::Unfinished { cause: Box::new(self), left }
    }

    /// Whether the user can fix the error by changing the command.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            SinkError::Disk(DiskError::Name { .. })
                | SinkError::Encoding { .. }
                | SinkError::VaryingRate { .. }
        )
    }
}

impl From<DiskError> for SinkError {
    fn from(error: DiskError) -> SinkError {
        match error {
            DiskError::Unfinished { cause, left } => SinkError::from(*cause).leaving(left),
            error => SinkError::Disk(error),
        }
    }
}

/// An output for frames, which arrive in order of time.
pub trait Sink: Send {
    /// The part of writing that runs on many threads: by default none.
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    /// A handle that ends the output while a thread is in one of the other functions and may not return.
    ///
    /// # Errors
    /// If the system has no more handles of files.
    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(Arc::new(Plain))
    }

    /// Writes the next frame: its picture, and the result of the encoder.
    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, encoded: &[u8]) -> Result<(), SinkError>;

    /// Whether it keeps the source's times of frames; otherwise it has a constant rate.
    fn keeps_times(&self) -> bool {
        true
    }

    /// Properties of the source that this output loses, one line per warning. Called before the first frame.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Notes for the user about the output. Called before the first frame.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Completes the output after all frames: it gets its final name.
    fn finish(self: Box<Self>) -> Result<(), SinkError>;

    /// Ends the output although frames are missing. The remaining part is made playable and, if it is one
    /// file, gets the name `NAME.partial.EXT`.
    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError>;
}

/// The part of writing that runs on many threads, without the sink.
pub trait Encode: Send + Sync {
    /// Appends the data for [`Sink::write`] to `out`, which is empty at first.
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError>;
}

/// A file, or a pipe, of encoded frames one after the other.
pub(crate) struct EncodedFile {
    pub(crate) out: OutputFile,
    pub(crate) encoder: Arc<dyn Encode>,
    /// See [`Sink::keeps_times`].
    pub(crate) keeps_times: bool,
    /// See [`Sink::warnings`].
    pub(crate) warnings: Vec<String>,
    /// See [`Sink::notes`].
    pub(crate) notes: Vec<String>,
}

impl Sink for EncodedFile {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::clone(&self.encoder)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        rescue(&self.out)
    }

    fn keeps_times(&self) -> bool {
        self.keeps_times
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn write(&mut self, _: &FrameStamp, _: &Frame, encoded: &[u8]) -> Result<(), SinkError> {
        self.out.put(encoded)?;
        Ok(self.out.mark()?)
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(self.out.finish()?)
    }

    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(self.out.abandon()?)
    }
}

/// The warning about properties of the source that an output cannot store; none without such properties.
pub(crate) fn not_stored(output: &str, lost: &[String]) -> Vec<String> {
    let warning = || format!("{output} cannot store this information of the source: {}", lost.join(", "));
    (!lost.is_empty()).then(warning).into_iter().collect()
}

/// Ends a sink from outside, at once.
pub trait Rescue: Send + Sync {
    /// Keeps what is finished, and makes it readable without the frames that an encoder holds. Takes about a second at
    /// most. Functions of the sink that return later do not write any more.
    ///
    /// # Errors
    /// [`SinkError::Unfinished`] if the remaining part cannot be made readable; other errors if there is none.
    fn end(&self) -> Result<PartialOutput, SinkError>;

    /// The number of frames that the sink has received and not finished yet, and a number that changes whenever it
    /// makes progress.
    fn progress(&self) -> (u64, u64) {
        (0, 0)
    }
}

impl Rescue for OutputRescue {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        Ok(OutputRescue::end(self)?)
    }
}

/// An encoder that does nothing, for sinks that write a frame's rows directly; and the rescue of a sink that leaves
/// nothing.
#[derive(Debug)]
pub struct Plain;

impl Rescue for Plain {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }
}

impl Encode for Plain {
    fn encode(&self, _: &FrameStamp, _: &Frame, _: &mut Vec<u8>) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The rescue of an output that is one file.
pub(crate) fn rescue(out: &OutputFile) -> Result<Arc<dyn Rescue>, SinkError> {
    let rescue = out.rescue().map_err(|cause| SinkError::io(out.name().into(), cause))?;
    Ok(Arc::new(rescue))
}

impl Plan {
    /// Opens the file of an output.
    ///
    /// # Errors
    /// If it exists and may not be replaced, or cannot be created.
    pub fn open(&self, output: &OsStr) -> Result<OutputFile, SinkError> {
        let mut out = OutputFile::create(output, self.overwrite)?;
        if let Some(hook) = self.journal.commit_hook.clone() {
            out.before_commit(hook.boxed());
        }
        Ok(out)
    }
}

fn others(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}
