//! Opens and writes track files.

use super::text_file::TextFileError;
use grainfield_filters::curve::Curve;
use grainfield_filters::curve::stream::{self, StreamError, StreamProblem, TrackError, Tracks};
use grainfield_filters::host::{ReadAt, lock};
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::{DiskError, OutputFile, reach};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The reason why a track file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TrackFileError {
    /// The tracks cannot be written as a stream.
    #[error(transparent)]
    Tracks(#[from] TrackError),
    /// The file cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A file with random access.
#[derive(Debug)]
struct RandomAccessFile {
    file: Mutex<File>,
    len: u64,
}

impl RandomAccessFile {
    /// Opens a file. A pipe or folder, which has no random access, is an error.
    fn open(path: &Path) -> io::Result<RandomAccessFile> {
        let meta = std::fs::metadata(path)?;
        if !meta.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok(RandomAccessFile { file: Mutex::new(reach::open(path)?), len: meta.len() })
    }
}

impl ReadAt for RandomAccessFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buf)
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// Opens a track file. Its memory does not grow with the number of keys.
///
/// # Errors
///
/// The file cannot be read, or is not a complete track file of this version.
pub fn open_tracks(path: &Path) -> Result<Tracks, StreamError> {
    let file = RandomAccessFile::open(path);
    Tracks::open(Arc::new(file.map_err(|e| StreamError { at: 0, problem: StreamProblem::Read(e) })?))
}

/// Opens a track file for a filter that plays it while rendering. Its keys are not read here.
///
/// # Errors
///
/// As [`open_tracks`].
pub fn load_tracks(path: &Path) -> Result<Tracks, TextFileError> {
    open_tracks(path).map_err(|e| match e.problem {
        StreamProblem::Read(cause) => TextFileError::Read { path: path.into(), cause },
        _ => TextFileError::Says(format!("{}: {e}", path.display())),
    })
}

/// Writes tracks to a file, with a jump frame every `every` (in the keys' unit). Keys must be resolved.
///
/// # Errors
///
/// The tracks do not fit into one file, or it cannot be written.
pub fn write(
    path: &OsStr,
    overwrite: bool,
    tracks: &[(String, Curve)],
    every: Ratio,
) -> Result<(), TrackFileError> {
    output(path, overwrite, |to| stream::write(tracks, every, to))
}

/// Copies a file with jump frames at another spacing.
///
/// # Errors
///
/// The tracks cannot be read, or the file cannot be written.
pub fn reindex(from: &Tracks, every: Ratio, path: &OsStr, overwrite: bool) -> Result<(), TrackFileError> {
    output(path, overwrite, |to| stream::reindex(from, every, to))
}

fn output(
    path: &OsStr,
    overwrite: bool,
    stream: impl FnOnce(&mut dyn Write) -> Result<(), TrackError>,
) -> Result<(), TrackFileError> {
    let mut output = OutputFile::create(path, overwrite)?;
    let mut to = OutputWriter { output: &mut output, fault: None };
    let done = stream(&mut to);
    if let Some(fault) = to.fault {
        return Err(fault.into());
    }
    done?;
    Ok(output.finish()?)
}

/// An output as a writer.
struct OutputWriter<'a> {
    output: &'a mut OutputFile,
    fault: Option<DiskError>,
}

impl Write for OutputWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.put(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(e) => {
                self.fault = Some(e);
                Err(ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
