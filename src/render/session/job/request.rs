//! The request for a job.

use crate::pipeline::OnError;
use crate::session::Cancel;
use grainfield_filters::frame::{ColorRange, Format, Matrix, Spans, Transfer};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Isa;
use grainfield_io::disk::cache::DEFAULT_LIMIT;
use grainfield_io::disk::{self, FileAccess};
use grainfield_io::format::Formats;
use grainfield_io::format::raw::RawVideo;
use grainfield_io::journal::resume::Resume;
use grainfield_io::journal::shard::Shard;
use grainfield_io::sink::{self, Output, SinkError};
use grainfield_io::source::{self, Input, Length, Missing};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A request for a render: the input, the output, the filters and all settings.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// File, pattern, `-` or `pattern:...`.
    pub input: OsString,
    /// File, pattern, `-`, `nut:`, `raw:`, `raw:FILE`, `hash:`, `hash:FILE` or `null:`.
    pub output: OsString,
    /// The filters, and the seed (0 if it has none).
    pub recipe: grainfield_filters::recipe::Recipe,
    /// The frames to render, in this order, by the user's numbers, which include
    /// [`frame_offset`](Request::frame_offset); `None` for all.
    pub frames: Option<Spans>,
    /// Added to the source's frame numbers. Noise depends on the number, so shots with different offsets have different
    /// noise.
    pub frame_offset: i64,
    /// The frame rate of an input that has none of its own: images, or a stream without one.
    pub rate: Option<Ratio>,
    /// The number of threads, by default as many as the machine has, at most 64.
    pub threads: Option<usize>,
    /// The limit on the memory of frames in progress in bytes, by default
    /// [`DEFAULT_MEMORY`](super::DEFAULT_MEMORY). A clip keeps decoded frames within it.
    pub memory: Option<u64>,
    /// The instruction set, by default the best of the machine. It never affects samples.
    pub level: Option<Isa>,
    /// Whether interlaced frames are filtered as fields.
    pub fields: Fields,
    /// Whether existing outputs are replaced.
    pub overwrite: bool,
    /// The pixel format of the output by FFmpeg's name, as `yuv420p10`; by default the nearest to the source's that the
    /// output can hold. A packed one, as `rgb24`, is stored as such in an output without a header; elsewhere it means the
    /// planar one with the same samples.
    pub pix_fmt: Option<String>,
    /// The YUV matrix of the input, instead of its tag.
    pub matrix: Option<Matrix>,
    /// The range of the input, instead of its tag.
    pub range: Option<ColorRange>,
    /// The transfers of input and output, instead of the input's tag and the output's convention.
    pub transfer: TransferChoice,
    /// What stands for a missing image of a sequence.
    pub missing: Missing,
    /// How much is read to know the number of frames.
    pub length: Length,
    /// Protocols of FFmpeg, as `https`, by which inputs may be read; by default only files are.
    pub allow_protocol: Vec<String>,
    /// The format of an input that consists of samples without a header.
    pub raw: Option<RawVideo>,
    /// A graph of FFmpeg's filters that runs before the filters of the recipe.
    pub lavfi: Option<String>,
    /// The reaction to a frame that fails.
    pub on_error: OnError,
    /// Whether losses are errors instead of warnings.
    pub strict: bool,
    /// The codec of a video file, its quality, and all other encoding options.
    pub encoding: sink::Encoding,
    /// Renders only this part of the frames, which [`join`](crate::join::join) joins with the others.
    pub shard: Option<Shard>,
    /// Whether frames that an earlier render has completed are kept, and whether their bytes are checked.
    pub resume: Resume,
    /// Renders a video in segments of so many frames, so that an interrupted render can be resumed.
    pub segments: Option<u64>,
    /// The cache folder: states of simulations, and indexes of videos, between runs.
    pub cache: Cache,
    /// Other files that are read or written for this job: the recipe's file, a plot. A file that is read must not be
    /// written.
    pub beside: FileAccess,
    /// The formats for inputs and outputs: by default all.
    pub formats: Formats,
    /// Cancels the job; a blocked read ends, also before the first frame.
    pub cancel: Cancel,
    /// Set to end a cancelled job at once, without the frames that an encoder holds.
    pub abort: Arc<AtomicBool>,
}

impl Request {
    /// A request from input to output without filters, with all other options at their defaults.
    pub fn new(input: impl Into<OsString>, output: impl Into<OsString>) -> Request {
        Request { input: input.into(), output: output.into(), ..Request::default() }
    }
}

/// A request that reads this input with default options and prints hashes.
impl<I: AsRef<OsStr>> From<I> for Request {
    fn from(input: I) -> Request {
        Request::new(input.as_ref(), "hash:")
    }
}

impl Request {
    /// The parsed input.
    pub(crate) fn parse_input(&self) -> Input {
        Input::parse(&self.input, self.formats)
    }

    /// The parsed output.
    pub(crate) fn parse_output(&self) -> Result<Output, SinkError> {
        Output::parse(&self.output, self.formats)
    }

    /// The options for opening the input.
    pub(crate) fn source_options(&self, cache: Option<Arc<disk::cache::Cache>>) -> source::Options {
        source::Options {
            rate: self.rate,
            missing: match (self.missing, self.on_error) {
                (Missing::Error, OnError::Hold) => Missing::Hold,
                (missing, _) => missing,
            },
            range: self.range,
            matrix: self.matrix,
            allow_protocol: self.allow_protocol.clone(),
            raw: self.raw.clone(),
            lavfi: self.lavfi.clone(),
            threads: self.threads,
            length: if self.shard.is_some() { Length::Exact } else { self.length },
            stop: Arc::clone(self.cancel.flag()),
            cache,
        }
    }

    /// The format of the input with the user's overrides of tags.
    pub(crate) fn tagged_format(&self, format: &Format) -> Format {
        Format {
            matrix: self.matrix.unwrap_or(format.matrix),
            range: self.range.unwrap_or(format.range),
            transfer: self.transfer.input.unwrap_or(format.transfer),
            ..*format
        }
    }
}

/// The cache between runs. It never affects samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// The folder; `None` for no cache.
    pub folder: Option<PathBuf>,
    /// The limit in bytes; `None` is [`DEFAULT_LIMIT`].
    pub limit: Option<u64>,
}

impl Cache {
    /// Opens it.
    pub fn open(&self) -> Option<Arc<disk::cache::Cache>> {
        let folder = self.folder.as_ref()?;
        Some(Arc::new(disk::cache::Cache::new(folder, self.limit.unwrap_or(DEFAULT_LIMIT))))
    }
}

/// The transfer of samples: overrides for input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferChoice {
    /// Overrides the tag of the input.
    pub input: Option<Transfer>,
    /// The transfer of the output.
    pub output: OutputTransfer,
}

/// The transfer of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputTransfer {
    /// The convention of the format: linear in OpenEXR and float TIFF, display-referred in integers.
    #[default]
    Auto,
    /// That of the input: values are not converted.
    Passthrough,
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
    /// As fields; top first unless the source is tagged as bottom first.
    Field,
}
