//! What a source is.

use crate::disk::cache::Cache;
use crate::journal::resume::FileOf;
use grainfield_filters::frame::{ColorRange, Depth, Family, Format, Frame, Matrix};
use grainfield_filters::ratio::Ratio;
use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a source tells before its first frame.
#[derive(Clone, Debug)]
pub struct Info {
    /// What it is called in messages: the path, `standard input`, the pattern.
    pub name: String,
    /// What kind: `y4m`, `image sequence`, `pattern`.
    pub kind: &'static str,
    /// What every frame is.
    pub format: Format,
    /// Number of the first frame: 0, or the first file's of a sequence.
    pub first: i64,
    /// Number of the last frame, if it is known.
    pub last: Option<i64>,
    /// Whether any frame can be asked for next; otherwise only later ones, those between being read and dropped.
    pub seekable: bool,
    /// Whether frames last differently long.
    pub variable_rate: bool,
    /// What was assumed because the input does not say; told to the user.
    pub notes: Vec<String>,
    /// More to tell, as name and value, for `probe`.
    pub details: Vec<(String, String)>,
    /// What a sink of the same kind may want to repeat (a y4m header line, image metadata).
    pub carried: Carried,
}

/// Something that travels from source to sink and that filters never see.
pub type Carried = Option<Arc<dyn Any + Send + Sync>>;

/// The place of a frame in its source.
#[derive(Clone, Debug)]
pub struct FrameStamp {
    /// The frame's number (before `--frame-offset`).
    pub number: i64,
    /// Exact seconds since the source's first frame.
    pub time: Ratio,
    /// How long it is shown, seconds.
    pub duration: Ratio,
    /// What travels with this frame (per-frame parameters, an ICC profile).
    pub carried: Carried,
}

/// A place for one frame on its way: owned by a worker, used again and again.
#[derive(Debug)]
pub struct Slot {
    /// The picture.
    pub frame: Frame,
    /// What [`Source::next`] left to be done by [`Decode::decode`], outside the lock.
    pub pending: Option<Pending>,
    /// What [`Decode::decode`] found beside the picture, to be moved into [`FrameStamp::carried`]; `None` leaves the stamp
    /// as [`Source::next`] made it.
    pub carried: Carried,
}

impl Default for Slot {
    /// With a picture of one sample, which the first frame replaces.
    fn default() -> Slot {
        let frame = Frame::new(Format::new(1, 1, Family::Gray, Depth::Bits(8), (0, 0)));
        Slot { frame, pending: None, carried: None }
    }
}

/// Work left for [`Decode`].
#[derive(Debug)]
pub enum Pending {
    /// Read and decode this file.
    File(PathBuf),
    /// Make the picture of this number.
    Number(i64),
    /// The picture is black (a hole in a sequence).
    Black,
    /// Something of the source's own.
    Opaque(Box<dyn Any + Send>),
}

/// What went wrong in a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The system said no.
    #[error("{name}: {cause}")]
    Io {
        /// What was read.
        name: String,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// It is asked for in a way that cannot be right. The text says what is wrong and what would be right.
    #[error("{name}: {problem}")]
    Usage {
        /// What was to be read.
        name: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// It is not what it should be. The text says what is wrong, where, and what would be right.
    #[error("{name}: {problem}")]
    Bad {
        /// What was read.
        name: String,
        /// What is wrong, where, and what would be right.
        problem: String,
    },
    /// The decoder calls a frame damaged. What it made of it is in the slot, for whoever wants it nevertheless.
    #[error("{name}: {problem}")]
    Damaged {
        /// What was read.
        name: String,
        /// Which frame, and what the decoder says.
        problem: String,
        /// The frame's place.
        stamp: Box<FrameStamp>,
    },
    /// The input ended inside a frame.
    #[error("{name}: ends inside frame {number}, after {got} of {want} bytes")]
    Truncated {
        /// What was read.
        name: String,
        /// The frame that is not whole.
        number: i64,
        /// Bytes there were.
        got: u64,
        /// Bytes a frame has.
        want: u64,
    },
}

impl SourceError {
    /// Whether asking differently would help, as against the world being otherwise.
    pub fn is_usage(&self) -> bool {
        matches!(self, SourceError::Usage { .. })
    }
}

/// Where frames come from.
pub trait Source: Send {
    /// What it tells before the first frame.
    fn info(&self) -> &Info;

    /// Makes `number` the next frame to be read. Refused backwards when not seekable, and outside `first..=last`.
    fn seek(&mut self, number: i64) -> Result<(), SourceError>;

    /// Reads the next frame into the slot, or leaves the rest to [`Decode`]. `Ok(None)` is the end. The slot's frame
    /// is reset to the source's format by whoever fills it.
    ///
    /// After an error the source stands behind the faulty frame where that is possible; otherwise it has ended.
    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError>;

    /// The part of reading that many threads may do at the same time.
    fn decoder(&self) -> Arc<dyn Decode>;

    /// Where every frame has a file of its own: which. Takes the source's number; `None` where no file is read for it.
    fn files(&self) -> Option<FileOf> {
        None
    }

    /// What there is to be told since this was last asked, beside [`Info::notes`].
    fn drain_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The part of reading that many threads may do at the same time, and without the source.
pub trait Decode: Send + Sync {
    /// Finishes what `slot.pending` asks for; nothing to do when it is `None`.
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError>;
}

/// Nothing left to do: for sources whose `next` does it all.
#[derive(Debug)]
pub struct Done;

impl Decode for Done {
    fn decode(&self, _: &FrameStamp, _: &mut Slot) -> Result<(), SourceError> {
        Ok(())
    }
}

/// What a user may say about how a source is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Frames a second, for what has none of its own (`--rate`, default 24).
    pub rate: Option<Ratio>,
    /// What a hole in a sequence means (`--missing`).
    pub missing: Missing,
    /// What the samples of pictures that are made up mean, whatever the tag says (`--range`, `--matrix`).
    pub range: Option<ColorRange>,
    /// The matrix of the same.
    pub matrix: Option<Matrix>,
    /// Protocols beside files that an input may name (`--allow-protocol`).
    pub allow_protocol: Vec<String>,
    /// FFmpeg's own filters, run before everything else (`--lavfi`).
    pub lavfi: Option<String>,
    /// Threads that a decoder may use; as many as the machine has when not said.
    pub threads: Option<usize>,
    /// The number of frames is needed, even if a large file has to be read through for it.
    pub length: bool,
    /// Set when the job is to end: reads of a network or a named pipe that stand still then end with an error.
    pub stop: Arc<AtomicBool>,
    /// Where indexes of large files are kept between runs; `None` keeps none.
    pub cache: Option<Arc<Cache>>,
}

/// What a hole in a sequence means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// An error.
    #[default]
    Error,
    /// The picture before it, again.
    Hold,
    /// A black picture (alpha transparent).
    Black,
    /// No frame.
    Skip,
}

/// The rate that a decimal number stands for in broadcasting: `23.976`, `29.97` and `119.88` are rounded from
/// 24000/1001, 30000/1001 and 120000/1001. A number with two decimals or more that is such a rate rounded to as many
/// is meant to be it; `None` for any other.
pub fn broadcast_rate(text: &str) -> Option<Ratio> {
    let (whole, part) = text.trim().split_once('.')?;
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if !(2..=9).contains(&part.len()) || whole.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let unit = 10u64.pow(part.len() as u32);
    let said = whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part.parse().ok()?)?;
    // the families of film and of video
    let nominal = said / unit + 1;
    let is_family = nominal.is_multiple_of(12) || nominal.is_multiple_of(15);
    let rounded = (nominal * 1000 * unit * 2 + 1001) / 2002;
    if is_family && rounded == said { Ratio::new(i64::try_from(nominal * 1000).ok()?, 1001) } else { None }
}

/// What [`Info::kind`] says of what FFmpeg reads.
pub(crate) const VIDEO: &str = "video";
