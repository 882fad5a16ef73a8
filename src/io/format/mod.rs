//! File formats: one module and one row of [`FORMATS`] each.

pub mod gif;
pub mod hash;
pub mod images;
pub mod null;
pub mod pattern;
pub mod raw;
pub mod sequence;
#[cfg(feature = "ffmpeg")]
pub mod video;
pub mod webp;
pub mod y4m;

use crate::disk::files_in_text;
use crate::disk::output::is_descriptor;
use crate::encoding::Encoding;
use crate::journal::shard::Kind;
use crate::media::{Options, Plan, Sink, SinkError, Source, SourceError};
use grainfield_filters::frame::Format;
use images::pattern::Pattern;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A format: how it is read and written.
#[derive(Debug)]
pub struct FormatDescriptor {
    /// The name.
    pub name: &'static str,
    /// For reading, if it is supported.
    pub input: Option<InputDescriptor>,
    /// For writing, if it is supported.
    pub output: Option<OutputDescriptor>,
}

/// Opens an input by its name.
pub type Open = fn(&OsStr, &Options) -> Result<Box<dyn Source>, SourceError>;
/// Makes an output of that name.
pub type Create = fn(&OsStr, &Plan) -> Result<Box<dyn Sink>, SinkError>;

/// Functions for reading a format.
#[derive(Debug)]
pub struct InputDescriptor {
    /// Whether an input has this format, by its name and contents.
    pub matches: fn(&OsStr) -> bool,
    /// Opens it.
    pub open: Open,
    /// The files that it reads, whether they exist or not.
    pub reads: fn(&OsStr) -> Vec<PathBuf>,
}

/// Functions and properties for writing a format.
#[derive(Debug)]
pub struct OutputDescriptor {
    /// Whether an output has this format, by its name.
    pub matches: fn(&OsStr) -> bool,
    /// The format nearest to one that the output can hold.
    pub accepts: fn(&OsStr, &Format, &Encoding) -> Result<Format, SinkError>,
    /// Prepares the output for frames of the plan's format, under a temporary name.
    pub create: Create,
    /// The files that it writes.
    pub files: fn(&OsStr) -> Files,
    /// The prefix before the file's name.
    pub prefix: &'static str,
    /// Whether it contains only pictures, without times or rotation.
    pub drops_metadata: bool,
    /// Whether it can be encoded as chosen; else what is wrong.
    pub allows: fn(&OsStr, &Encoding) -> Result<(), String>,
}

/// The files of an output.
#[derive(Clone, Debug)]
pub enum Files {
    /// None.
    Nothing,
    /// None that could be renamed: a pipe (`-`) or a device.
    Stream(OsString),
    /// One file.
    One(PathBuf, Kind),
    /// One image.
    Image(PathBuf),
    /// One file for each frame.
    Many(Pattern),
}

impl Files {
    /// One file, unless the name has another meaning.
    pub fn one(name: &OsStr, kind: Kind) -> Files {
        let path = PathBuf::from(name);
        let plain = path.metadata().map_or(true, |m| m.is_file());
        let descriptor = name.is_empty() || name == "-" || is_descriptor(&path);
        if plain && !descriptor { Files::One(path, kind) } else { Files::Stream(name.to_owned()) }
    }
}

/// The rows to try in order; the first one that accepts a name is used.
#[derive(Clone, Copy, Debug)]
pub struct Formats(pub &'static [&'static FormatDescriptor]);

impl Default for Formats {
    fn default() -> Formats {
        Formats(FORMATS)
    }
}

/// The advice where only video files have choices.
pub(crate) const ONLY_VIDEO: &str = "options for codec, quality, sound and subtitles apply to video files only \
    (NAME.mp4, .mkv ...), and options of the codec to OpenEXR images";

/// For outputs without choices.
pub(crate) fn only_for_videos(_: &OsStr, encoding: &Encoding) -> Result<(), String> {
    if encoding.is_default() { Ok(()) } else { Err(ONLY_VIDEO.into()) }
}

/// The file of a name, or those named in a protocol's address (`file:`, `concat:`).
fn one_file(name: &OsStr) -> Vec<PathBuf> {
    let path = PathBuf::from(name);
    if path.exists() { vec![path] } else { files_in_text(name) }
}

/// All formats.
pub const FORMATS: &[&FormatDescriptor] = &[
    &null::FORMAT,
    &hash::FORMAT,
    &pattern::FORMAT,
    &gif::FORMAT,
    &webp::FORMAT,
    &sequence::FORMAT,
    &raw::FORMAT,
    &y4m::FORMAT,
    #[cfg(feature = "ffmpeg")]
    &video::NUT,
    #[cfg(feature = "ffmpeg")]
    &video::FORMAT,
];
