//! Inputs, chosen by name from the table of [formats](crate::format).

pub use crate::format::{pattern, raw, sequence::source as sequence, y4m};
pub use crate::media::source::*;

use crate::disk::{self, FileRef};
use crate::format::{FormatDescriptor, Formats, InputDescriptor};
use grainfield_filters::recipe::nearest;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;

/// An input whose name has been parsed; other code does not parse it again.
#[derive(Clone, Debug)]
pub struct Input {
    name: OsString,
    format: Option<&'static InputDescriptor>,
}

impl Input {
    /// Parses a name: `-` is a pipe, `pattern:...` a test signal; for others the file itself is examined.
    pub fn parse(name: &OsStr, formats: Formats) -> Input {
        let matches =
            |format: &&'static FormatDescriptor| format.input.as_ref().filter(|input| (input.matches)(name));
        Input { name: name.to_owned(), format: formats.0.iter().find_map(matches) }
    }

    /// The name as given.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether it can be read only once, like a pipe.
    pub fn is_pipe(&self) -> bool {
        self.name == "-" || std::fs::metadata(&self.name).is_ok_and(|m| !m.is_file() && !m.is_dir())
    }

    /// The files that it reads: all of a sequence, those behind a protocol (`file:`, `concat:`), and those named in a
    /// playlist. Empty if the input does not exist.
    pub fn reads(&self) -> Vec<FileRef> {
        if self.name == "-" {
            return vec![FileRef::Stdin];
        }
        let mut all = self.format.map_or_else(Vec::new, |format| (format.reads)(&self.name));
        if let [one] = &all[..] {
            all.extend(disk::files_in_playlist(one));
        }
        all.into_iter().map(FileRef::Path).collect()
    }

    /// Opens it.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn open(&self, options: &Options) -> Result<Box<dyn Source>, SourceError> {
        let Some(format) = self.format else {
            let name = self.name.to_string_lossy().into_owned();
            return Err(SourceError::Usage { name, problem: "no format reads this input".into() });
        };
        let source = match &options.raw {
            Some(raw) => raw::open(&self.name, raw, options),
            None => (format.open)(&self.name, options),
        }
        .map_err(|e| with_similar(&self.name, e))?;
        let info = source.info();
        if options.lavfi.is_some() && info.kind != VIDEO {
            let problem = format!(
                "FFmpeg's filters run on inputs that FFmpeg reads; Grainfield reads this one itself ({}). Use its own \
                    filters, or filter with FFmpeg first: ffmpeg -i INPUT -vf GRAPH -f yuv4mpegpipe - | grainfield \
                    render - OUTPUT",
                info.kind
            );
            return Err(SourceError::Usage { name: info.name.clone(), problem });
        }
        Ok(source)
    }
}

/// The error, with the name of a similar file beside one that is missing.
fn with_similar(input: &OsStr, error: SourceError) -> SourceError {
    const MOST: usize = 10_000;
    let path = Path::new(input);
    let (SourceError::Io { name, cause }, Some(typed)) = (&error, path.file_name()) else { return error };
    if cause.kind() != ErrorKind::NotFound || path.exists() {
        return error;
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // The order of a folder is chance.
    names.sort_unstable();
    match nearest(&typed.to_string_lossy(), names.iter().map(String::as_str)) {
        Some(similar) => {
            let cause = io::Error::new(cause.kind(), format!("{cause}; {similar}"));
            SourceError::Io { name: name.clone(), cause }
        }
        None => error,
    }
}

/// Like [`Input::reads`], by name.
pub fn reads(input: &OsStr) -> Vec<FileRef> {
    Input::parse(input, Formats::default()).reads()
}

/// Like [`Input::open`], by name.
///
/// # Errors
/// See [`SourceError`].
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    Input::parse(input, Formats::default()).open(options)
}
