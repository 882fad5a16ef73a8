//! File formats: one file or folder each, one row each in [`FORMATS`].

pub mod hash;
pub mod images;
pub mod null;
pub mod pattern;
pub mod sequence;
#[cfg(feature = "ffmpeg")]
pub mod video;
pub mod y4m;

use crate::disk::output::is_descriptor;
use crate::disk::same;
use crate::encoding::Encoding;
use crate::journal::shard::Kind;
use crate::media::{Options, Plan, Sink, SinkError, Source, SourceError};
use grainfield_filters::frame::Format;
use images::pattern::Pattern;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A format: how it is read and written.
#[derive(Debug)]
pub struct Row {
    /// What it is called.
    pub name: &'static str,
    /// How it is read, if it can be.
    pub input: Option<InputRow>,
    /// How it is written, if it can be.
    pub output: Option<OutputRow>,
}

/// Opens an input by its name.
pub type Open = fn(&OsStr, &Options) -> Result<Box<dyn Source>, SourceError>;
/// Makes an output of that name.
pub type Create = fn(&OsStr, &Plan) -> Result<Box<dyn Sink>, SinkError>;

/// How a format is read.
#[derive(Debug)]
pub struct InputRow {
    /// Whether an input is of this format, by its name and by what is there.
    pub takes: fn(&OsStr) -> bool,
    /// Opens it.
    pub open: Open,
    /// The files that it is read from. Whether they are there does not matter.
    pub reads: fn(&OsStr) -> Vec<PathBuf>,
}

/// How a format is written.
#[derive(Debug)]
pub struct OutputRow {
    /// Whether an output is of this format, by its name.
    pub takes: fn(&OsStr) -> bool,
    /// The format nearest to one that the output can hold.
    pub accepts: fn(&OsStr, &Format, &Encoding) -> Result<Format, SinkError>,
    /// Makes the output ready for frames of the plan's format. Nothing bears the final name yet.
    pub create: Create,
    /// What files it becomes.
    pub files: fn(&OsStr) -> Files,
    /// What stands before the file's name.
    pub prefix: &'static str,
    /// It holds pictures and nothing beside: no times, no rotation.
    pub bare: bool,
    /// Codec, quality, sound and subtitles can be chosen.
    pub encodes: bool,
}

/// What files an output becomes.
#[derive(Clone, Debug)]
pub enum Files {
    /// None.
    Nothing,
    /// None that could be renamed: a pipe (`-`), a device.
    Stream(OsString),
    /// One.
    One(PathBuf, Kind),
    /// An image.
    Image(PathBuf),
    /// One for each frame.
    Many(Pattern),
}

impl Files {
    /// One file, unless the name is that of something else.
    pub fn one(name: &OsStr, kind: Kind) -> Files {
        let path = PathBuf::from(name);
        let plain = path.metadata().map_or(true, |m| m.is_file());
        let descriptor = name.is_empty() || name == "-" || is_descriptor(&path);
        if plain && !descriptor { Files::One(path, kind) } else { Files::Stream(name.to_owned()) }
    }
}

/// The rows that are asked, first to last. The first that takes a name has it.
#[derive(Clone, Copy, Debug)]
pub struct Formats(pub &'static [&'static Row]);

impl Default for Formats {
    fn default() -> Formats {
        Formats(FORMATS)
    }
}

/// The file of a name, or those that a protocol's name holds (`file:`, `concat:`).
fn one_file(name: &OsStr) -> Vec<PathBuf> {
    let path = PathBuf::from(name);
    if path.exists() { vec![path] } else { same::inside(name) }
}

/// All formats there are.
pub const FORMATS: &[&Row] = &[
    &null::ROW,
    &hash::ROW,
    &pattern::ROW,
    &sequence::ROW,
    &y4m::ROW,
    #[cfg(feature = "ffmpeg")]
    &video::ROW,
];
