//! All other inputs: y4m is read here, the rest by FFmpeg.

use super::{Files, FormatDescriptor, InputDescriptor, OutputDescriptor, raw, y4m};
use crate::disk::{name_of, reach, system};
use crate::format::images::pattern::Pattern;
use crate::format::images::{Kind, files::is_glob};
use crate::journal::shard;
use crate::libav;
use crate::media::{Options, Source, SourceError};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The input and output format for names that no other format accepts.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "video",
    input: Some(InputDescriptor { matches: |_| true, open, reads: super::one_file }),
    output: Some(OutputDescriptor {
        matches: libav::sink::recognises,
        accepts: libav::sink::accepts,
        create: libav::sink::create,
        files: |name| {
            let extension = Path::new(name).extension().unwrap_or_default();
            let animation = ["apng", "webp"].iter().any(|known| extension.eq_ignore_ascii_case(known));
            Files::one(name, if animation { shard::Kind::Animation } else { shard::Kind::Video })
        },
        prefix: "",
        drops_metadata: false,
        allows: |_, _| Ok(()),
    }),
};

/// `nut:`: a NUT stream to standard output or a named pipe, which keeps alpha, depth, times and sound.
pub const NUT: FormatDescriptor = FormatDescriptor {
    name: "nut",
    input: None,
    output: Some(OutputDescriptor {
        matches: |name| pipe_of(name).is_some(),
        accepts: |name, format, encoding| {
            libav::sink::accepts(pipe_of(name).unwrap_or(name), format, encoding)
        },
        create: |name, plan| libav::sink::create(pipe_of(name).unwrap_or(name), plan),
        files: |name| Files::Stream(pipe_of(name).unwrap_or(name).to_owned()),
        prefix: "",
        drops_metadata: false,
        allows: |_, _| Ok(()),
    }),
};

/// The pipe of a NUT stream; standard output is `-`.
fn pipe_of(name: &OsStr) -> Option<&OsStr> {
    let file = match name.as_encoded_bytes().strip_prefix(b"nut:")? {
        [] => OsStr::new("-"),
        file => name_of(file),
    };
    libav::sink::is_pipe(file).then_some(file)
}

/// Opens a file or a pipe; `-` is standard input. A pipe is y4m if it begins like y4m.
fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    if input == "-" {
        return from_pipe("standard input".into(), y4m::standard_input(), options);
    }
    let path = Path::new(input);
    let name = path.display().to_string();
    if raw::is_named(input) {
        return Err(SourceError::NoHeader(name));
    }
    let io = |cause| SourceError::Io { name: name.clone(), cause };
    let meta = match path.metadata() {
        Ok(meta) => meta,
        Err(_) if libav::is_protocol(input) => return libav::source::open(input, options),
        Err(_) if is_glob(input) || !matches!(Pattern::parse(input), Ok(None)) => {
            let ext = path.extension().unwrap_or_default().to_string_lossy();
            let problem = format!(
                "patterns are for numbered images ({}). Convert other images first (ffmpeg -i NAME.%04d.{ext} \
                 NAME.%04d.png); for several videos see 'grainfield batch'",
                Kind::extensions()
            );
            return Err(SourceError::Usage { name, problem });
        }
        Err(cause) => return Err(io(cause)),
    };
    if !meta.is_file() {
        let pipe = match system::is_fifo(&meta) {
            true => libav::fifo::open(path, Arc::clone(&options.stop)).map_err(io)?,
            false => Box::new(reach::open(path).map_err(io)?),
        };
        return from_pipe(name, pipe, options);
    }
    let mut start = Vec::new();
    reach::open(path).and_then(|f| f.take(MAGIC as u64).read_to_end(&mut start)).map_err(io)?;
    if start.is_empty() {
        return Err(SourceError::Bad { name, problem: "is empty".into() });
    }
    libav::source::open(input, options)
}

const MAGIC: usize = y4m::header::MAGIC.len();

fn from_pipe(
    name: String,
    mut pipe: Box<dyn Read + Send>,
    options: &Options,
) -> Result<Box<dyn Source>, SourceError> {
    let mut start = Vec::new();
    let read = pipe.by_ref().take(MAGIC as u64).read_to_end(&mut start);
    read.map_err(|cause| SourceError::Io { name: name.clone(), cause })?;
    // An empty pipe gets the error of y4m, which is what most pipes carry.
    let is_y4m = y4m::header::MAGIC.starts_with(&start);
    let all = Box::new(io::Cursor::new(start).chain(pipe));
    if is_y4m { y4m::from_reader(name, all, options) } else { libav::source::from_reader(name, all, options) }
}
