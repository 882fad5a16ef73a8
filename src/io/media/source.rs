//! The interface of sources.

use crate::disk::cache::Cache;
use crate::journal::resume::FrameFiles;
use grainfield_filters::frame::{
    ClipFrames, ColorRange, Depth, Family, Format, Frame, Matrix, Ranges, Spans, SpansError,
};
use grainfield_filters::ratio::Ratio;
use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The properties that a source knows before its first frame.
#[derive(Clone, Debug)]
pub struct Info {
    /// The name in messages: the path, `standard input`, the pattern.
    pub name: String,
    /// The kind: `y4m`, `image sequence`, `pattern`.
    pub kind: &'static str,
    /// The format of every frame.
    pub format: Format,
    /// Number of the first frame: 0, or the first file's of a sequence.
    pub first: i64,
    /// Number of the last frame, if it is known.
    pub last: Option<i64>,
    /// Whether any frame can be read next; otherwise only later ones, and those in between are read and dropped.
    pub seekable: bool,
    /// Whether frame durations vary.
    pub variable_rate: bool,
    /// Assumptions about properties that the input does not specify, to show to the user.
    pub notes: Vec<String>,
    /// Further properties as names and values, for `probe`.
    pub details: Vec<(String, String)>,
    /// Data for a sink of the same kind (a y4m header line, image metadata).
    pub carried: Carried,
}

impl Info {
    /// Returns an error for a frame outside `first..=last`.
    ///
    /// # Errors
    /// [`SourceError::Bad`].
    pub(crate) fn check_number(&self, number: i64) -> Result<(), SourceError> {
        if number >= self.first && self.last.is_none_or(|last| number <= last) {
            return Ok(());
        }
        let range = match self.last {
            Some(last) if last < self.first => "none".into(),
            Some(last) => format!("{} to {last}", self.first),
            None => format!("from {}", self.first),
        };
        let problem = format!("frame {number} was requested; the frames are {range}");
        Err(SourceError::Bad { name: self.name.clone(), problem })
    }
}

impl Info {
    /// [`Source::frame_from`] for frames at a constant rate.
    pub(crate) fn frame_at_constant_rate(&self, time: Ratio, after: bool) -> i64 {
        let frames = time * self.format.rate;
        let steps = if after { frames.floor().saturating_add(1) } else { -(Ratio::ZERO - frames).floor() };
        let end = self.last.map_or(i64::MAX, |last| last.saturating_add(2));
        self.first.saturating_add(steps).min(end)
    }

    /// The timecode of the first frame.
    pub fn timecode(&self) -> Option<&str> {
        self.details.iter().find(|detail| detail.0 == TIMECODE).map(|detail| &*detail.1)
    }
}

/// The number of frames up to which decoding forward is faster than seeking: a seek decodes from a key frame on, and may
/// need an index, which has to be made first.
pub const FORWARD_LIMIT: i64 = 48;

/// The name of the first frame's timecode among the details of a source.
pub(crate) const TIMECODE: &str = "timecode";

/// The numbers of requested frames, all after adding `offset`, and whether the source may end before the last: see
/// [`Spans::resolve`].
///
/// # Errors
/// The spans do not fit the source, or it cannot be read.
pub fn frame_numbers<E: From<SpansError> + From<SourceError>>(
    spans: &Spans,
    source: &mut dyn Source,
    offset: i64,
) -> Result<(Ranges, bool), E> {
    let info = source.info();
    let clip = ClipFrames {
        first: info.first.saturating_add(offset),
        last: info.last.map(|last| last.saturating_add(offset)),
        rate: info.format.rate,
        timecode: info.timecode().map(str::to_owned),
    };
    spans.resolve(&clip, &mut |time, after| Ok(source.frame_from(time, after)?.saturating_add(offset)))
}

/// Data that pass from source to sink without affecting filters.
pub type Carried = Option<Arc<dyn Any + Send + Sync>>;

/// The position of a frame in its source.
#[derive(Clone, Debug)]
pub struct FrameStamp {
    /// The frame's number in the source.
    pub number: i64,
    /// Exact seconds since the source's first frame.
    pub time: Ratio,
    /// Duration in seconds.
    pub duration: Ratio,
    /// Data of this frame (per-frame parameters, an ICC profile).
    pub carried: Carried,
}

/// A frame in progress, which a worker owns and reuses.
#[derive(Debug)]
pub struct Slot {
    /// The picture.
    pub frame: Frame,
    /// Work that [`Source::next`] left for [`Decode::decode`], outside the lock.
    pub pending: Option<Pending>,
    /// Data that [`Decode::decode`] found, to be moved to [`FrameStamp::carried`]; `None` leaves the stamp unchanged.
    pub carried: Carried,
}

impl Default for Slot {
    /// A slot with a picture of one sample, which the first frame replaces.
    fn default() -> Slot {
        let frame = Frame::new(Format::new(1, 1, Family::Gray, Depth::Bits(8), (0, 0)));
        Slot { frame, pending: None, carried: None }
    }
}

/// Work for [`Decode`].
#[derive(Debug)]
pub enum Pending {
    /// Read and decode a file.
    File {
        /// Its name.
        path: PathBuf,
        /// Whether it stands for a missing one: then its time code and the like are those of another frame.
        held: bool,
    },
    /// Compute the picture of this number.
    Number(i64),
    /// The picture is black (a missing frame in a sequence).
    Black,
    /// Data of the source.
    Opaque(Box<dyn Any + Send>),
}

/// An error of a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// An error of the system.
    #[error("{name}: {cause}")]
    Io {
        /// The input.
        name: String,
        /// The error.
        #[source]
        cause: std::io::Error,
    },
    /// The request is invalid. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Usage {
        /// The input.
        name: String,
        /// The problem, and what would be right.
        problem: String,
    },
    /// The input is invalid. The text says what is wrong, where, and what would be right.
    #[error("{name}: {problem}")]
    Bad {
        /// The input.
        name: String,
        /// The problem, its position, and what would be right.
        problem: String,
    },
    /// Damaged data from which no frame could be made. It has no number: the next frame has the one that is due.
    #[error("{name}: {problem}")]
    NoFrame {
        /// The input.
        name: String,
        /// The position, and the decoder's message.
        problem: String,
    },
    /// Files of a sequence are missing, which [`Options::missing`] does not allow.
    #[error("{name}: {problem}; missing frames can be repeated, black or skipped instead")]
    Missing {
        /// The input.
        name: String,
        /// The first missing frame, and the others.
        problem: String,
    },
    /// The input's protocol is not in [`Options::allow_protocol`].
    #[error("{name}: '{protocol}:' is a protocol, and only files and allowed protocols are read")]
    Protocol {
        /// The input.
        name: String,
        /// The protocol.
        protocol: String,
    },
    /// The decoder reports a damaged frame. Its result is in the slot, for callers that accept it.
    #[error("{name}: {problem}")]
    Damaged {
        /// The input.
        name: String,
        /// The frame, and the decoder's message.
        problem: String,
        /// The position of the frame.
        stamp: Box<FrameStamp>,
    },
    /// The frame is intact but cannot be used, because it differs from the first in size or format. Nothing is in the
    /// slot.
    #[error("{name}: {problem}")]
    Unusable {
        /// The input.
        name: String,
        /// The frame, the problem, and what would be right.
        problem: String,
        /// The position of the frame.
        stamp: Box<FrameStamp>,
    },
    /// The input is raw samples, whose format is not given.
    #[error("{0}: raw samples have no header; their size, pixel format and frame rate must be given")]
    NoHeader(
        /// The input.
        String,
    ),
    /// The input ended inside a frame.
    #[error("{name}: ends inside frame {number}, after {got} of {want} bytes")]
    Truncated {
        /// The input.
        name: String,
        /// The incomplete frame.
        number: i64,
        /// Number of bytes found.
        got: u64,
        /// Number of bytes of a frame.
        want: u64,
    },
}

impl SourceError {
    /// Whether the user can fix the error by changing the command.
    pub fn is_usage(&self) -> bool {
        matches!(self, SourceError::Usage { .. } | SourceError::NoHeader(_))
    }
}

/// An input of frames.
pub trait Source: Send {
    /// The properties known before the first frame.
    fn info(&self) -> &Info;

    /// Makes `number` the next frame to be read. Returns an error for an earlier frame if it is not seekable, and
    /// outside `first..=last`.
    fn seek(&mut self, number: i64) -> Result<(), SourceError>;

    /// The same for a frame after which reading does not go on without another seek: a key frame is there sooner then.
    fn seek_alone(&mut self, number: i64) -> Result<(), SourceError> {
        self.seek(number)
    }

    /// Reads the next frame into the slot, or leaves the rest to [`Decode`]. `Ok(None)` is the end. Whoever fills
    /// the slot resets its frame to the source's format.
    ///
    /// After an error the source continues after the faulty frame if possible; otherwise it has ended.
    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError>;

    /// The part of reading that runs on many threads.
    fn decoder(&self) -> Arc<dyn Decode>;

    /// The next frame after `number`, or the last one before it, at which decoding may begin: its neighbour where
    /// each frame is independent. `None` where there is none or it is not known.
    fn key_frame(&mut self, number: i64, back: bool) -> Option<i64> {
        let next = number.checked_add(if back { -1 } else { 1 })?;
        let info = self.info();
        (next >= info.first && info.last.is_none_or(|last| next <= last)).then_some(next)
    }

    /// The number of the first frame whose time is at least `time`, or if `after`, more than that. After the last frame
    /// it counts one that begins where the source ends.
    ///
    /// # Errors
    /// The times of the frames cannot be known.
    fn frame_from(&mut self, time: Ratio, after: bool) -> Result<i64, SourceError> {
        Ok(self.info().frame_at_constant_rate(time, after))
    }

    /// When each frame begins, and last when the source ends, in seconds; `None` at a constant rate, or where times are
    /// known only when frames have been read.
    fn frame_times(&mut self) -> Option<Vec<Ratio>> {
        None
    }

    /// The file of each frame, if frames are separate files, by the source's frame number; `None` for a frame without
    /// a file.
    fn files(&self) -> Option<FrameFiles> {
        None
    }

    /// New notes since the last call, in addition to [`Info::notes`].
    fn drain_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The part of reading that runs on many threads, without the source.
pub trait Decode: Send + Sync {
    /// Completes the work in `slot.pending`; does nothing if it is `None`.
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError>;
}

/// A decoder that does nothing, for sources whose `next` does all the work.
#[derive(Debug)]
pub struct Done;

impl Decode for Done {
    fn decode(&self, _: &FrameStamp, _: &mut Slot) -> Result<(), SourceError> {
        Ok(())
    }
}

/// The user's options for opening a source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Frames per second for inputs without a rate; the default is that of the format.
    pub rate: Option<Ratio>,
    /// The treatment of missing frames in a sequence.
    pub missing: Missing,
    /// The range of the samples, which overrides the tag.
    pub range: Option<ColorRange>,
    /// The matrix, likewise.
    pub matrix: Option<Matrix>,
    /// Protocols other than files that an input may use.
    pub allow_protocol: Vec<String>,
    /// The format of an input that consists of samples without a header.
    pub raw: Option<RawVideo>,
    /// FFmpeg's filters, which run first.
    pub lavfi: Option<String>,
    /// Threads of a decoder; by default as many as the machine has.
    pub threads: Option<usize>,
    /// How much is read to know the number of frames.
    pub length: Length,
    /// Set to cancel: reads of a network or a named pipe that stand still then end with an error.
    pub stop: Arc<AtomicBool>,
    /// The cache of indexes of large files; `None` for no cache.
    pub cache: Option<Arc<Cache>>,
}

/// The format of samples without a header, as text `1920x1080:yuv420p10le:25`. The rate may be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawVideo {
    /// Samples per row, and rows.
    pub size: (u32, u32),
    /// FFmpeg's name of the pixel format.
    pub pix_fmt: String,
    /// Frames per second; by default [`Options::rate`], else 24.
    pub rate: Option<Ratio>,
}

impl fmt::Display for RawVideo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}:{}", self.size.0, self.size.1, self.pix_fmt)?;
        self.rate.map_or(Ok(()), |rate| write!(f, ":{rate}"))
    }
}

/// How much of a video is read to know the number of its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Length {
    /// Only its header, and small files: the number may remain unknown.
    Header,
    /// All of it, unless it is large.
    #[default]
    Cheap,
    /// All of it.
    Exact,
}

/// The treatment of missing frames in a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// An error.
    #[default]
    Error,
    /// Repeat the picture before it.
    Hold,
    /// A black picture (alpha transparent).
    Black,
    /// No frame.
    Skip,
}

/// The value of [`Info::kind`] for inputs that FFmpeg reads.
pub const VIDEO: &str = "video";

/// The [kind](Info::kind) of a source of numbered images.
pub const SEQUENCE: &str = "image sequence";
