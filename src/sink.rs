//! Outputs: what a name means, one table ([`create`]).

pub use crate::encoding::{self, Encoding};
pub use crate::format::sequence::sink as sequence;
pub use crate::media::sink::*;

use crate::disk::output::{behind, is_descriptor, partial_name};
use crate::disk::{Place, Uses};
use crate::format::images::pattern::Pattern;
use crate::format::{hash, null, y4m};
use crate::journal::resume::manifests;
use crate::journal::shard::{Shard, sidecar};
use grainfield_filters::filter::convert::displayed;
use grainfield_filters::frame::Format;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
        Kind::Y4m => y4m::sink::accepts(format),
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
        Kind::Y4m => y4m::sink::create(output, plan),
        Kind::Sequence => sequence::create(output, plan),
        #[cfg(feature = "ffmpeg")]
        Kind::Video => crate::libav::sink::create(output, plan),
    }
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
                    uses.leave("the note beside the output", sidecar::beside(&named));
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

/// What files an output becomes.
#[derive(Clone, Debug)]
pub enum Files {
    /// None that has a name of its own: a pipe, a device, nothing.
    None,
    /// One.
    One(PathBuf, sidecar::Kind),
    /// An image.
    Image(PathBuf),
    /// One for each frame.
    Many(Pattern),
}

/// What files an output becomes.
pub fn files(output: &OsStr) -> Result<Files, SinkError> {
    use sidecar::Kind as One;
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
        Files::One(path, sidecar::Kind::Hash) => {
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
