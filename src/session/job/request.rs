//! What is asked of a job.

use crate::disk::cache::DEFAULT_LIMIT;
use crate::disk::{self, Uses};
use crate::format::Formats;
use crate::journal::resume::Resume;
use crate::journal::shard::Shard;
use crate::pipeline::OnError;
use crate::sink::{self, Output, SinkError};
use crate::source::{self, Input, Missing};
use grainfield_filters::frame::{ColorRange, Format, Matrix, Ranges, Transfer};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Isa;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is wanted, as said.
#[derive(Clone, Debug)]
pub struct Request {
    /// File, pattern, `-` or `pattern:...`.
    pub input: OsString,
    /// File, pattern, `-`, `hash:`, `hash:FILE` or `null:`.
    pub output: OsString,
    /// The filters, and the seed (0 where it has none).
    pub recipe: grainfield_filters::recipe::Recipe,
    /// `--frames`, after the offset; `None` is everything.
    pub frames: Option<Ranges>,
    /// `--frame-offset`.
    pub frame_offset: i64,
    /// `--rate`.
    pub rate: Option<Ratio>,
    /// `--threads`, default all the machine has.
    pub threads: Option<usize>,
    /// `--memory` in bytes.
    pub memory: Option<u64>,
    /// `--level` or `GRAINFIELD_LEVEL`.
    pub level: Option<Isa>,
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
    /// `--transfer`.
    pub transfer: TransferChoice,
    /// `--missing`.
    pub missing: Missing,
    /// `--allow-protocol`.
    pub allow_protocol: Vec<String>,
    /// `--lavfi`.
    pub lavfi: Option<String>,
    /// `--on-error`.
    pub on_error: OnError,
    /// `--strict`: what would be a warning is an error.
    pub strict: bool,
    /// `--codec`, `--crf` and all else about how a video file is written.
    pub encoding: sink::Encoding,
    /// `--shard`.
    pub shard: Option<Shard>,
    /// `--resume` and `--verify`.
    pub resume: Resume,
    /// `--segments`, with `--segment-frames`.
    pub segments: Option<u64>,
    /// `--cache` and `--cache-limit`: where states of what must be stepped are kept between runs.
    pub cache: Cache,
    /// Files that are read or written for this job beside those that the request itself names: the recipe's own file,
    /// a plot. A file that is read is never one that is written.
    pub beside: Uses,
    /// The formats that inputs and outputs may have: all there are.
    pub formats: Formats,
    /// What [`Job::run`](super::Job::run) will be given: a read that stands still, be it before the first frame, ends
    /// when it is set.
    pub stop: Arc<AtomicBool>,
}

impl Request {
    /// Input to output, with no filter and everything else as when nothing is said.
    pub fn new(input: impl Into<OsString>, output: impl Into<OsString>) -> Request {
        Request {
            input: input.into(),
            output: output.into(),
            recipe: grainfield_filters::recipe::Recipe::default(),
            frames: None,
            frame_offset: 0,
            rate: None,
            threads: None,
            memory: None,
            level: None,
            fields: Fields::Auto,
            overwrite: false,
            pix_fmt: None,
            matrix: None,
            range: None,
            transfer: TransferChoice::default(),
            missing: Missing::Error,
            allow_protocol: Vec::new(),
            lavfi: None,
            on_error: OnError::Stop,
            strict: false,
            encoding: sink::Encoding::default(),
            shard: None,
            resume: Resume::No,
            segments: None,
            cache: Cache::default(),
            beside: Uses::default(),
            formats: Formats::default(),
            stop: Arc::default(),
        }
    }
}

impl Request {
    /// What its input means.
    pub(crate) fn read(&self) -> Input {
        Input::parse(&self.input, self.formats)
    }

    /// What its output means.
    pub(crate) fn written(&self) -> Result<Output, SinkError> {
        Output::parse(&self.output, self.formats)
    }

    /// How its input is opened.
    pub(crate) fn source_options(&self, cache: Option<Arc<disk::cache::Cache>>) -> source::Options {
        source::Options {
            rate: self.rate,
            missing: self.missing,
            range: self.range,
            matrix: self.matrix,
            allow_protocol: self.allow_protocol.clone(),
            lavfi: self.lavfi.clone(),
            threads: self.threads,
            length: self.shard.is_some(),
            stop: Arc::clone(&self.stop),
            cache,
        }
    }

    /// What the samples of the input mean: what it says, unless the user says otherwise.
    pub(crate) fn seen(&self, format: &Format) -> Format {
        Format {
            matrix: self.matrix.unwrap_or(format.matrix),
            range: self.range.unwrap_or(format.range),
            transfer: self.transfer.input.unwrap_or(format.transfer),
            ..*format
        }
    }
}

/// Where what can be made again is kept between runs. Never changes a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// The folder; `None` keeps nothing.
    pub folder: Option<PathBuf>,
    /// At most so many bytes; `None` is [`DEFAULT_LIMIT`].
    pub limit: Option<u64>,
}

impl Cache {
    /// Ready to be used.
    pub fn open(&self) -> Option<Arc<disk::cache::Cache>> {
        let folder = self.folder.as_ref()?;
        Some(Arc::new(disk::cache::Cache::new(folder, self.limit.unwrap_or(DEFAULT_LIMIT))))
    }
}

/// What light samples stand for: what the input's tag says unless it is said otherwise, and what the output gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferChoice {
    /// Overrides the tag of the input.
    pub input: Option<Transfer>,
    /// What the output holds.
    pub output: Light,
}

/// The transfer of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Light {
    /// What is customary for it: linear in OpenEXR and float TIFF, of a display in integers.
    #[default]
    Fitting,
    /// That of the input: values stay.
    Kept,
    /// This one.
    As(Transfer),
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
