//! Sinks: where frames go. One file a kind, one table ([`create`]).

pub mod encoding;
pub mod hash;
pub mod keep;
pub mod null;
pub mod sequence;
pub mod y4m;

pub use encoding::Encoding;

use crate::disk::output::{behind, is_descriptor, partial_name};
use crate::disk::{DiskError, Output, Place, Uses};
use crate::format::images::pattern::Pattern;
use crate::journal::resume::manifests;
use crate::journal::shard::Shard;
use crate::source::{Carried, FrameStamp};
use grainfield_filters::filter::convert::displayed;
use grainfield_filters::frame::{Format, Frame};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a sink is told before the first frame.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What every frame will be. Made from [`accepts`] of what the chain gives.
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
    pub keep: keep::Keep,
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
    #[error("{} exists; say -y to replace it", .0.display())]
    Exists(PathBuf),
    /// Files of a sequence exist.
    #[error("{} exists{}; say -y to replace what is there, or --resume to keep it and make the rest", path.display(), others(*more))]
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
        partial: PathBuf,
    },
}

impl SinkError {
    /// With what is left of the output, if anything is.
    pub(crate) fn leaving(self, partial: Option<PathBuf>) -> SinkError {
        match partial {
            Some(partial) => SinkError::Unfinished { cause: Box::new(self), partial },
            None => self,
        }
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
            DiskError::Unfinished { cause, partial } => SinkError::from(*cause).leaving(Some(partial)),
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
    /// `NAME.partial.EXT`, which is returned; `None` when nothing is left behind or nothing needs a name.
    fn abandon(self: Box<Self>) -> Result<Option<PathBuf>, SinkError>;
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

/// What an output is, by its name alone.
enum Kind {
    Null,
    Hash,
    Y4m,
    Sequence,
    #[cfg(feature = "ffmpeg")]
    Video,
}

/// Said of a name that is none of them.
#[cfg(feature = "ffmpeg")]
const NO_KIND: &str = "no kind of output has this name: write a video file (NAME.mp4, .mkv, .mov, .webm ...), NAME.y4m, \
                       an image pattern such as out.####.png, - for a pipe, hash: or null:";
#[cfg(not(feature = "ffmpeg"))]
const NO_KIND: &str = "no kind of output has this name: write NAME.y4m, an image pattern such as out.####.png, - for a \
                       pipe, hash: or null:. For other video files pipe into ffmpeg: grainfield render INPUT - | ffmpeg \
                       -i - NAME.mp4";

fn kind(output: &OsStr) -> Result<Kind, SinkError> {
    let bytes = output.as_encoded_bytes();
    if bytes == b"null:" {
        return Ok(Kind::Null);
    }
    if bytes.starts_with(b"hash:") {
        return Ok(Kind::Hash);
    }
    if bytes == b"-" || is_y4m(output) {
        return Ok(Kind::Y4m);
    }
    if sequence::recognises(output) {
        return Ok(Kind::Sequence);
    }
    #[cfg(feature = "ffmpeg")]
    if crate::libav::sink::recognises(output) {
        return Ok(Kind::Video);
    }
    Err(SinkError::Usage { name: output.to_string_lossy().into_owned(), problem: NO_KIND.into() })
}

/// Whether an output is pictures and nothing beside: no times, no rotation.
pub fn is_bare(output: &OsStr) -> Result<bool, SinkError> {
    Ok(matches!(kind(output)?, Kind::Y4m | Kind::Sequence))
}

/// The format nearest to `format` that the output can hold.
pub fn accepts(output: &OsStr, format: &Format, encoding: &Encoding) -> Result<Format, SinkError> {
    let kind = kind(output)?;
    #[cfg(feature = "ffmpeg")]
    let encodes = matches!(kind, Kind::Video);
    #[cfg(not(feature = "ffmpeg"))]
    let encodes = false;
    if !encodes && !encoding.is_default() {
        return Err(SinkError::Usage {
            name: output.to_string_lossy().into_owned(),
            problem:
                "codec, quality, sound and subtitles can be chosen for video files alone (NAME.mp4, .mkv ...)"
                    .into(),
        });
    }
    let accepted = match kind {
        Kind::Null | Kind::Hash => *format,
        Kind::Y4m => y4m::accepts(format),
        Kind::Sequence => sequence::accepts(output, format)?,
        #[cfg(feature = "ffmpeg")]
        Kind::Video => crate::libav::sink::accepts(output, format, encoding)?,
    };
    Ok(displayed(format, accepted))
}

/// Makes the output ready for frames of `plan.format`. Nothing bears the final name yet.
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    match kind(output)? {
        Kind::Null => Ok(null::create()),
        Kind::Hash => hash::create(&behind_colon(output), plan),
        Kind::Y4m => y4m::create(output, plan),
        Kind::Sequence => sequence::create(output, plan),
        #[cfg(feature = "ffmpeg")]
        Kind::Video => crate::libav::sink::create(output, plan),
    }
}

/// Opens the one file that an output is, as a plan says.
fn open(output: &OsStr, plan: &Plan) -> Result<Output, SinkError> {
    let mut out = Output::create(output, plan.overwrite)?;
    if let Some(seal) = plan.keep.seal.clone() {
        out.seal(seal.boxed());
    }
    Ok(out)
}

/// The files that may be written for an output: itself, what is left of it when a job is broken off, and what is laid
/// beside it. Of numbered files those that exist already, whatever frames will be asked for.
pub fn writes(output: &OsStr, shard: Option<Shard>) -> Result<Uses, SinkError> {
    let mut uses = Uses::default();
    match files(output)? {
        Files::None => {
            let name = match kind(output)? {
                Kind::Null => return Ok(uses),
                Kind::Hash => behind_colon(output),
                _ => output.to_owned(),
            };
            if name.is_empty() || name == "-" {
                uses.write("the output", Place::Output);
            } else {
                uses.write("the output", Place::Path(name.into()));
            }
        }
        Files::Image(image) => {
            manifests(&image).into_iter().for_each(|file| uses.leave("a manifest of the output", file));
            uses.write("the output", Place::Path(image));
        }
        Files::Many(pattern) => {
            // a folder that cannot be read is the sink's to complain of
            let there = pattern.scan().unwrap_or_default();
            there.into_iter().for_each(|n| uses.write("the output", Place::Path(pattern.path(n))));
            manifests(&pattern.open()).into_iter().for_each(|f| uses.leave("a manifest of the output", f));
        }
        Files::One(one, _) => {
            let one = match shard {
                Some(shard) => {
                    let named = PathBuf::from(shard.named(one.as_os_str()));
                    uses.leave("the note beside the output", crate::journal::shard::sidecar::beside(&named));
                    named
                }
                None => one,
            };
            let real = behind(&one).unwrap_or_else(|_| one.clone());
            uses.leave("the partial output", partial_name(&real));
            manifests(&one).into_iter().for_each(|file| uses.leave("a manifest of the output", file));
            let folder = crate::journal::segments::folder(&one);
            uses.write("the output", Place::Path(one));
            uses.own("the folder of segments", folder);
        }
    }
    Ok(uses)
}

fn others(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}

/// What files an output becomes.
#[derive(Clone, Debug)]
pub enum Files {
    /// None that has a name of its own: a pipe, a device, nothing.
    None,
    /// One.
    One(PathBuf, crate::journal::shard::sidecar::Kind),
    /// An image.
    Image(PathBuf),
    /// One for each frame.
    Many(Pattern),
}

/// What files an output becomes.
pub fn files(output: &OsStr) -> Result<Files, SinkError> {
    use crate::journal::shard::sidecar::Kind as One;
    let one = |name: &OsStr, kind| {
        let path = PathBuf::from(name);
        let plain = path.metadata().map_or(true, |m| m.is_file());
        let descriptor = name.is_empty() || name == "-" || is_descriptor(&path);
        if plain && !descriptor { Files::One(path, kind) } else { Files::None }
    };
    Ok(match kind(output)? {
        Kind::Null => Files::None,
        Kind::Hash => one(&behind_colon(output), One::Hash),
        Kind::Y4m => one(output, One::Y4m),
        #[cfg(feature = "ffmpeg")]
        Kind::Video => one(output, One::Video),
        Kind::Sequence => match Pattern::parse(output) {
            Ok(Some(pattern)) => Files::Many(pattern),
            _ => Files::Image(output.into()),
        },
    })
}

/// What a shard of an output is called: `NAME.I-of-N.EXT` for one file, else as the output.
pub fn sharded(output: &OsStr, shard: Shard) -> Result<OsString, SinkError> {
    Ok(match files(output)? {
        Files::One(path, crate::journal::shard::sidecar::Kind::Hash) => {
            let mut name = OsString::from("hash:");
            name.push(shard.named(path.as_os_str()));
            name
        }
        Files::One(path, _) => shard.named(path.as_os_str()),
        Files::None | Files::Image(_) | Files::Many(_) => output.to_owned(),
    })
}

/// By its extension; and what is there already and is no ordinary file (a device, a named pipe).
fn is_y4m(output: &OsStr) -> bool {
    let path = Path::new(output);
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
        || path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// What stands behind the first colon.
fn behind_colon(output: &OsStr) -> OsString {
    let text = output.as_encoded_bytes();
    let rest = text.iter().position(|&b| b == b':').map_or(&text[text.len()..], |i| &text[i + 1..]);
    OsStr::from_bytes(rest).to_owned()
}
