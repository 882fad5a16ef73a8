//! Outputs: what a name means, said by the table of [formats](crate::format).

pub use crate::encoding::{self, Encoding};
pub use crate::format::{Files, sequence::sink as sequence};
pub use crate::media::sink::*;

use crate::disk::output::behind;
use crate::disk::partial::partial_name;
use crate::disk::{Place, Uses};
use crate::format::{Formats, OutputRow, Row};
use crate::journal::resume::ManifestNames;
use crate::journal::shard::Shard;
use grainfield_filters::filter::convert::displayed;
use grainfield_filters::frame::Format;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// An output whose name has been understood. Nobody looks at the name again.
#[derive(Clone, Debug)]
pub struct Output {
    name: OsString,
    row: &'static OutputRow,
}

/// Said of a name that is none of them.
#[cfg(feature = "ffmpeg")]
const NO_KIND: &str = "the extension is not known: name a video file (NAME.mp4, .mkv, .mov, .webm ...), NAME.y4m, \
                       an image pattern such as out.####.png, - for a pipe, hash: or null:";
#[cfg(not(feature = "ffmpeg"))]
const NO_KIND: &str = "the extension is not known: name NAME.y4m, an image pattern such as out.####.png, - for a \
                       pipe, hash: or null:. For other video files pipe into ffmpeg: grainfield render INPUT - | ffmpeg \
                       -i - NAME.mp4";

impl Output {
    /// What a name means: `-` is a pipe, `hash:` and `null:` are what they are, all else is said by its extension.
    ///
    /// # Errors
    /// [`SinkError::Usage`] when no format takes such a name.
    pub fn parse(name: &OsStr, formats: Formats) -> Result<Output, SinkError> {
        let takes = |row: &&'static Row| row.output.as_ref().filter(|output| (output.takes)(name));
        match formats.0.iter().find_map(takes) {
            Some(row) => Ok(Output { name: name.to_owned(), row }),
            None => {
                Err(SinkError::Usage { name: name.to_string_lossy().into_owned(), problem: NO_KIND.into() })
            }
        }
    }

    /// As it was given.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether it is pictures and nothing beside: no times, no rotation.
    pub fn is_bare(&self) -> bool {
        self.row.bare
    }

    /// What files it becomes.
    pub fn files(&self) -> Files {
        (self.row.files)(&self.name)
    }

    /// The format nearest to `format` that it can hold.
    ///
    /// # Errors
    /// [`SinkError::Usage`] where it cannot be encoded so.
    pub fn accepts(&self, format: &Format, encoding: &Encoding) -> Result<Format, SinkError> {
        if !self.row.encodes && !encoding.is_default() {
            return Err(SinkError::Usage {
                name: self.name.to_string_lossy().into_owned(),
                problem:
                    "options for codec, quality, sound and subtitles apply to video files only (NAME.mp4, .mkv ...)"
                        .into(),
            });
        }
        Ok(displayed(format, (self.row.accepts)(&self.name, format, encoding)?))
    }

    /// Makes it ready for frames of `plan.format`. Nothing bears the final name yet.
    ///
    /// # Errors
    /// See [`SinkError`].
    pub fn create(&self, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
        (self.row.create)(&self.name, plan)
    }

    /// The same output's shard: `NAME.I-of-N.EXT` for one file, else the output itself.
    #[must_use]
    pub fn sharded(&self, shard: Shard) -> Output {
        let mut name = self.name.clone();
        if let Files::One(path, _) = self.files() {
            name = self.row.prefix.into();
            name.push(shard.named(path.as_os_str()));
        }
        Output { name, row: self.row }
    }

    /// The files that may be written: itself, what is left of it when a job is broken off, and what is laid beside it.
    /// Of numbered files those that exist already, whatever frames will be asked for.
    pub fn writes(&self, shard: Option<Shard>) -> Uses {
        let mut uses = Uses::default();
        let recorded = |uses: &mut Uses, names: &ManifestNames| {
            names.files().into_iter().for_each(|file| uses.leave("a manifest of the output", file));
        };
        match self.files() {
            Files::Nothing => {}
            Files::Stream(name) if name.is_empty() || name == "-" => uses.write("the output", Place::Output),
            Files::Stream(name) => uses.write("the output", Place::Path(name.into())),
            Files::Image(image) => {
                recorded(&mut uses, &ManifestNames::of(&image));
                uses.write("the output", Place::Path(image));
            }
            Files::Many(pattern) => {
                // a folder that cannot be read is the sink's to complain of
                let there = pattern.scan().unwrap_or_default();
                there.into_iter().for_each(|n| uses.write("the output", Place::Path(pattern.path(n))));
                recorded(&mut uses, &ManifestNames::of(&pattern.open()));
            }
            Files::One(one, _) => {
                let (one, names) = match shard {
                    None => (one.clone(), ManifestNames::of(&one)),
                    Some(shard) => {
                        let named = PathBuf::from(shard.named(one.as_os_str()));
                        let names = ManifestNames::of_shard(&named);
                        (named, names)
                    }
                };
                let real = behind(&one).unwrap_or_else(|_| one.clone());
                uses.leave("the partial output", partial_name(&real));
                recorded(&mut uses, &names);
                let folder = crate::journal::segments::folder(&one);
                uses.write("the output", Place::Path(one));
                uses.own("the folder of segments", folder);
            }
        }
        uses
    }
}

/// [`Output::create`] of a name.
///
/// # Errors
/// See [`SinkError`].
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    Output::parse(output, Formats::default())?.create(plan)
}
