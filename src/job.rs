//! A job: everything a render needs, resolved and checked before the first frame.

use crate::source::Missing;
use grainfield_filters::frame::{ColorRange, Matrix};
use grainfield_filters::ratio::Ratio;
use std::ffi::OsString;

/// What is wanted, as said.
#[derive(Clone, Debug)]
pub struct Request {
    /// File, pattern, `-` or `pattern:...`.
    pub input: OsString,
    /// File, pattern, `-`, `hash:`, `hash:FILE` or `null:`.
    pub output: OsString,
    /// The filters.
    pub recipe: crate::recipe::Recipe,
    /// `--seed`, default 0.
    pub seed: u64,
    /// `--frames`, after the offset; `None` is everything.
    pub frames: Option<grainfield_filters::frame::Ranges>,
    /// `--frame-offset`.
    pub frame_offset: i64,
    /// `--rate`.
    pub rate: Option<Ratio>,
    /// `--threads`, default all the machine has.
    pub threads: Option<usize>,
    /// `--memory` in bytes.
    pub memory: Option<u64>,
    /// `--level` or `GRAINFIELD_LEVEL`.
    pub level: Option<grainfield_filters::simd::Isa>,
    /// `--fields`.
    pub fields: Fields,
    /// `-y`.
    pub overwrite: bool,
    /// `--pix-fmt`.
    pub pix_fmt: Option<String>,
    /// `--matrix`: overrides the tag of the input.
    pub matrix: Option<Matrix>,
    /// `--range`: overrides the tag of the input.
    pub range: Option<ColorRange>,
    /// `--missing`.
    pub missing: Missing,
    /// `--on-error`.
    pub on_error: OnError,
    /// `--strict`: what would be a warning is an error.
    pub strict: bool,
}

/// Whether interlaced frames are filtered as fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fields {
    /// As the source is tagged.
    #[default]
    Auto,
    /// Whole frames.
    Frame,
    /// Fields; top first unless the source says bottom first.
    Field,
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

/// One frame has been written (or left out).
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Frames written so far.
    pub done: u64,
    /// Frames left out because they failed.
    pub failed: u64,
    /// How many there will be, if known.
    pub total: Option<u64>,
    /// The frame's number.
    pub number: i64,
    /// Its end in the output: seconds since the output's first frame.
    pub out_time: Ratio,
}

/// Is told how a job goes on. Called from worker threads, one call at a time.
pub trait Watch: Sync {
    /// A frame has been written or left out.
    fn step(&self, step: &Step);
    /// Something the user should know (an assumption, a frame left out).
    fn note(&self, text: &str);
}

/// How a job ended, when it ended well.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Frames written.
    pub frames: u64,
    /// Frames left out because they failed (`--on-error skip`).
    pub failed: u64,
}

// Stand-in until the real job is merged.

/// Everything a render needs, checked.
#[derive(Debug)]
pub struct Job {}

/// Why a job cannot start.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// It was asked for in a way that cannot be right.
    #[error("{0}")]
    Usage(String),
    /// It cannot be done.
    #[error("{0}")]
    Failed(String),
}

/// How a job ended before its end.
#[derive(Debug)]
pub enum RunError {
    /// Something went wrong.
    Failed {
        /// What.
        message: String,
        /// What is left.
        partial: Option<std::path::PathBuf>,
        /// How far it came.
        summary: Summary,
    },
    /// `stop` was set.
    Interrupted {
        /// What is left.
        partial: Option<std::path::PathBuf>,
        /// How far it came.
        summary: Summary,
    },
    /// The reader of the output has gone.
    ClosedPipe,
}

impl Job {
    /// Checks everything.
    pub fn prepare(request: Request) -> Result<Job, JobError> {
        let name = request.input.to_string_lossy().into_owned();
        std::fs::File::open(&request.input).map_err(|e| JobError::Failed(format!("{name}: {e}")))?;
        Err(JobError::Failed(format!("{name}: jobs cannot be run yet")))
    }

    /// What the user should be told.
    pub fn notes(&self) -> &[String] {
        &[]
    }

    /// How many frames there will be.
    pub fn total(&self) -> Option<u64> {
        None
    }

    /// Frames a second of the output.
    pub fn output_rate(&self) -> Ratio {
        Ratio::whole(24)
    }

    /// Does it.
    pub fn run(
        self,
        _: &dyn Watch,
        _: &std::sync::Arc<std::sync::atomic::AtomicBool>,
    ) -> Result<Summary, RunError> {
        Ok(Summary::default())
    }
}

/// What an input is.
pub fn probe(
    input: &std::ffi::OsStr,
    _: &crate::source::Options,
) -> Result<crate::source::Info, crate::source::SourceError> {
    let name = input.to_string_lossy().into_owned();
    match std::fs::File::open(input) {
        Err(cause) => Err(crate::source::SourceError::Io { name, cause }),
        Ok(_) => Err(crate::source::SourceError::Bad { name, problem: "cannot be read yet".into() }),
    }
}
