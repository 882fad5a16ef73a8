//! Events about the progress of a pipeline.

use grainfield_filters::ratio::Ratio;
use serde::Serialize;

/// A frame has been written (or left out).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrameDone {
    /// Frames written so far.
    pub done: u64,
    /// Frames left out because they failed.
    pub failed: u64,
    /// The total number, if it is known.
    pub total: Option<u64>,
    /// The frame's number.
    pub number: i64,
    /// The end of the frame in the output: seconds since the output's first frame. Serialized as the text of
    /// a fraction.
    #[serde(serialize_with = "text")]
    pub out_time: Ratio,
    /// Whether it failed and was left out.
    pub left_out: bool,
}

fn text<S: serde::Serializer>(value: &Ratio, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// An event of a running pipeline.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// A frame has been written or left out.
    Frame(FrameDone),
    /// The next frame takes long, because a simulation is stepped towards it: `done` of `all` frames so far. Ends
    /// with the next frame.
    Simulating {
        /// Frames stepped.
        done: u64,
        /// Frames to step.
        all: u64,
    },
    /// One of several passes over the video begins.
    Pass {
        /// Its number, from 1.
        number: u32,
        /// The number of passes.
        of: u32,
    },
    /// The render is ending before the last frame, and waits for frames that are not finished, mostly in an encoder.
    Finishing {
        /// The number of these frames.
        held: u64,
    },
    /// A note for the user.
    Note(Note),
}

/// A note for the user: an assumption, a conversion, a loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// The subject.
    pub code: NoteCode,
    /// The text.
    pub text: String,
}

/// The subject of a note.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteCode {
    /// An assumption about the input, or a correction of it.
    Input,
    /// Filters and conversions.
    Filters,
    /// How the output is written.
    Output,
    /// Existing frames that are kept.
    Kept,
    /// The cache could not store something.
    Cache,
    /// A frame was left out.
    LeftOut,
    /// A frame that cannot be decoded is replaced by the last good one.
    Held,
    /// A damaged frame is used with the error concealment of the decoder.
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
    /// A property that the container or the encoder cannot hold.
    NotHeld,
}

impl NoteCode {
    /// Whether something is lost, which is an error with `strict`.
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

/// What a job has done, whether it succeeded, was stopped or failed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Frames written.
    pub frames: u64,
    /// Frames left out because they failed ([`OnError::Skip`]).
    pub failed: u64,
    /// Frames of the source that could not be decoded and were replaced ([`OnError::Hold`]); serialized if there are
    /// any.
    #[serde(skip_serializing_if = "is_zero")]
    pub held: u64,
    /// Frames that were complete before and were kept; serialized if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for it
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The reaction to a frame that fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnError {
    /// End the render.
    #[default]
    Stop,
    /// Leave the frame out and continue.
    Skip,
    /// Replace a frame that cannot be decoded by the nearest good one before it, and continue.
    Hold,
}
