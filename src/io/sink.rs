//! Outputs, chosen by name from the table of [formats](crate::format).

pub use crate::encoding::{self, Encoding};
pub use crate::format::{Files, sequence::sink as sequence};
pub use crate::media::sink::*;

use crate::disk::{Access, FileAccess, FileRef};
use crate::format::{FORMATS, FormatDescriptor, Formats, OutputDescriptor};
use crate::journal::resume::ManifestNames;
use crate::journal::shard::Shard;
use grainfield_filters::filter::convert::displayed;
use grainfield_filters::frame::Format;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// An output whose name has been parsed; other code does not parse it again.
#[derive(Clone, Debug)]
pub struct Output {
    name: OsString,
    format: &'static OutputDescriptor,
}

/// The error for a name that matches no format.
#[cfg(feature = "ffmpeg")]
const NO_KIND: &str = "the extension is not known: name a video file (NAME.mp4, .mkv, .mov, .webm ...), NAME.y4m, \
                       an image pattern such as out.####.png, - for a pipe, nut:, raw:, hash: or null:";
#[cfg(not(feature = "ffmpeg"))]
const NO_KIND: &str = "the extension is not known: name NAME.y4m, an image pattern such as out.####.png, - for a \
                       pipe, raw:, hash: or null:. For other video files pipe y4m to 'ffmpeg -i - NAME.mp4'";

impl Output {
    /// Parses a name: `-` is a pipe, `hash:`, `null:`, `raw:` and `nut:` have their own meaning, and for others the
    /// extension decides.
    ///
    /// # Errors
    /// A usage error if no format matches.
    pub fn parse(name: &OsStr, formats: Formats) -> Result<Output, SinkError> {
        let matches = |format: &&'static FormatDescriptor| {
            format.output.as_ref().filter(|output| (output.matches)(name))
        };
        match formats.0.iter().find_map(matches) {
            Some(format) => Ok(Output { name: name.to_owned(), format }),
            None => Err(SinkError::usage(name.to_string_lossy().into_owned(), NO_KIND.into())),
        }
    }

    /// The same for a number of frames, if it is known: several frames in one WebP file are an animation, which FFmpeg
    /// writes.
    #[must_use]
    pub fn for_frames(mut self, frames: Option<u64>) -> Output {
        let extension = Path::new(&self.name).extension().unwrap_or_default();
        if frames != Some(1)
            && extension.eq_ignore_ascii_case("webp")
            && matches!(self.files(), Files::Image(_))
            && let Some(video) = FORMATS.iter().find(|format| format.name == "video")
            && let Some(output) = &video.output
        {
            self.format = output;
        }
        self
    }

    /// The name as given.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether it contains only pictures, without times or rotation.
    pub fn drops_metadata(&self) -> bool {
        self.format.drops_metadata
    }

    /// The files that it writes.
    pub fn files(&self) -> Files {
        (self.format.files)(&self.name)
    }

    /// The format nearest to `format` that it can hold.
    ///
    /// # Errors
    /// A usage error if it cannot be encoded.
    pub fn accepts(&self, format: &Format, encoding: &Encoding) -> Result<Format, SinkError> {
        (self.format.allows)(&self.name, encoding)
            .map_err(|problem| SinkError::usage(self.name.to_string_lossy().into_owned(), problem))?;
        Ok(displayed(format, (self.format.accepts)(&self.name, format, encoding)?))
    }

    /// Prepares it for frames of `plan.format`, under a temporary name.
    ///
    /// # Errors
    /// See [`SinkError`].
    pub fn create(&self, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
        (self.format.create)(&self.name, plan)
    }

    /// The output of a shard: `NAME.I-of-N.EXT` for one file, else the output itself.
    #[must_use]
    pub fn sharded(&self, shard: Shard) -> Output {
        let mut name = self.name.clone();
        if let Files::One(path, _) = self.files() {
            name = self.format.prefix.into();
            name.push(shard.named(path.as_os_str()));
        }
        Output { name, format: self.format }
    }

    /// The files that may be written: the output, and files beside it. For
    /// numbered files, all existing ones, independent of the requested frames.
    pub fn writes(&self, shard: Option<Shard>) -> FileAccess {
        let mut access = FileAccess::default();
        let mut manifests = Vec::new();
        match self.files() {
            Files::Nothing => {}
            Files::Stream(name) if name.is_empty() || name == "-" => {
                access.write("the output", FileRef::Stdout)
            }
            Files::Stream(name) => access.write("the output", &name),
            Files::Image(image) => {
                manifests = ManifestNames::for_output(&image).files();
                access.write("the output", image);
            }
            Files::Many(pattern) => {
                // the sink reports a folder that cannot be read
                let there = pattern.scan().unwrap_or_default();
                there.into_iter().for_each(|n| access.write("the output", pattern.path(n)));
                manifests = ManifestNames::for_output(&pattern.open()).files();
            }
            Files::One(one, _) => {
                let (one, names) = ManifestNames::for_part(one, shard);
                manifests = names.files();
                let folder = crate::journal::segments::folder(&one);
                access.write("the output", one);
                access.add(Access::Folder, "the folder of segments", folder);
            }
        }
        for file in manifests {
            access.add(Access::WriteBeside, "a manifest of the output", file);
        }
        access
    }
}

/// Like [`Output::create`], by name.
///
/// # Errors
/// See [`SinkError`].
pub fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    Output::parse(output, Formats::default())?.create(plan)
}
