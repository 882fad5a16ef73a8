//! How a pipeline goes on, told.

use grainfield_filters::ratio::Ratio;
use serde::Serialize;

/// One frame has been written (or left out).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrameDone {
    /// Frames written so far.
    pub done: u64,
    /// Frames left out because they failed.
    pub failed: u64,
    /// How many there will be, if known.
    pub total: Option<u64>,
    /// The frame's number.
    pub number: i64,
    /// Its end in the output: seconds since the output's first frame. Serialized as a fraction's text.
    #[serde(serialize_with = "text")]
    pub out_time: Ratio,
    /// It failed and was left out.
    pub left_out: bool,
}

fn text<S: serde::Serializer>(value: &Ratio, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// What happens while a pipeline runs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Event {
    /// A frame has been written or left out.
    Frame(FrameDone),
    /// No frame comes for a while: one is being stepped to, and `done` frames of `all` have been. Ends with the next
    /// frame.
    Simulating {
        /// Frames stepped.
        done: u64,
        /// Frames to be stepped.
        all: u64,
    },
    /// Something the user should know.
    Note(Note),
}

/// Something the user should know: an assumption, a conversion, a loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// What it is about.
    pub code: NoteCode,
    /// The same in words.
    pub text: String,
}

/// What a note is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteCode {
    /// What is assumed of the input, or done about it.
    Input,
    /// What filters and conversions do.
    Filters,
    /// How the output is written.
    Output,
    /// What is whole already and stays.
    Kept,
    /// The cache could not keep something.
    Cache,
    /// A frame was left out.
    LeftOut,
    /// A frame is as the decoder patched it up.
    Patched,
    /// Full range becomes limited.
    RangeLost,
    /// Alpha is lost.
    AlphaLost,
    /// Depth is lost.
    DepthLost,
    /// Rotation is lost.
    RotationLost,
    /// Times of frames are lost.
    TimesLost,
    /// The container or the encoder cannot hold something.
    NotHeld,
}

impl NoteCode {
    /// Whether something is lost: with `strict` that is an error.
    pub fn is_loss(self) -> bool {
        use NoteCode::{AlphaLost, DepthLost, NotHeld, RangeLost, RotationLost, TimesLost};
        matches!(self, RangeLost | AlphaLost | DepthLost | RotationLost | TimesLost | NotHeld)
    }

    /// A note with this code.
    pub fn note(self, text: impl Into<String>) -> Note {
        Note { code: self, text: text.into() }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// How a job ended, when it ended well.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Frames written.
    pub frames: u64,
    /// Frames left out because they failed (`--on-error skip`).
    pub failed: u64,
    /// Frames that were whole already (`--resume`).
    pub skipped: u64,
}

/// What to do when one frame fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnError {
    /// End the render.
    #[default]
    Stop,
    /// Leave the frame out and go on.
    Skip,
}
