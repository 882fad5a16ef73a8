//! Opens and writes track files.

use super::text_file::TextFileError;
use super::{MAX_NAME, PackedReader, PackedWriter, RandomAccessFile, StoreError, StoreProblem};
use grainfield_filters::curve::Curve;
use grainfield_filters::curve::stream::{self, NamedTracks, StreamError, TrackError, Tracks};
use grainfield_filters::lend::ReadAt;
use grainfield_filters::ratio::Ratio;
use grainfield_io::disk::{DiskError, Output};
use md5::{Digest, Md5};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// An error of a track file.
#[derive(Debug, thiserror::Error)]
pub enum TrackFileError {
    /// The file itself.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stream in it.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The tracks cannot be written as a stream.
    #[error(transparent)]
    Tracks(#[from] TrackError),
    /// The file cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// An invalid name.
    #[error("track name '{}': {problem}", name.escape_debug())]
    Name {
        /// The name.
        name: String,
        /// The error, and what would be right.
        problem: &'static str,
    },
}

/// Checks the name of a track.
pub fn check_name(name: &str) -> Result<(), TrackFileError> {
    let problem = match name {
        "" => "it is empty",
        _ if name.len() > MAX_NAME => "it is longer than 255 bytes",
        _ if name.chars().any(char::is_control) => "it contains a control character",
        _ => return Ok(()),
    };
    Err(TrackFileError::Name { name: name.into(), problem })
}

/// An open track file. Its memory does not grow with the number of keys.
#[derive(Clone, Debug)]
pub struct TrackFile {
    /// The stream, ready to be played.
    pub tracks: Tracks<Arc<PackedReader<RandomAccessFile>>>,
    packed: Arc<PackedReader<RandomAccessFile>>,
    names: Arc<[String]>,
}

impl TrackFile {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<TrackFile, TrackFileError> {
        let file =
            RandomAccessFile::open(path).map_err(|e| StoreError { at: 0, problem: StoreProblem::Read(e) })?;
        let packed = Arc::new(PackedReader::open(file)?);
        let tracks = Tracks::open(Arc::clone(&packed)).map_err(unwrapped)?;
        let names = packed.names(tracks.tracks())?.into();
        Ok(TrackFile { tracks, packed, names })
    }

    /// The tracks' names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One whole track as a curve, by reading the file once.
    pub fn curve(&self, name: &str) -> Result<Option<Curve>, TrackFileError> {
        let Some(i) = self.names.iter().position(|n| n == name) else { return Ok(None) };
        self.tracks.track(i).map_err(unwrapped)
    }

    /// Verifies every byte.
    pub fn verify(&self) -> Result<(), TrackFileError> {
        Ok(self.packed.verify()?)
    }

    /// The sizes of the file and of the uncompressed stream.
    pub fn lengths(&self) -> (u64, u64) {
        (self.packed.file_length(), self.packed.len())
    }
}

/// Opens a track file for a filter that plays it while rendering, and returns it with a 128-bit digest: the MD5 of the
/// lengths and checksums of its blocks, first byte highest. Its keys are not read here.
pub fn load_tracks(path: &Path) -> Result<(NamedTracks, u128), TextFileError> {
    let named = |e: TrackFileError| match e {
        TrackFileError::Store(StoreError { problem: StoreProblem::Read(cause), .. }) => {
            TextFileError::Read { path: path.into(), cause }
        }
        e => TextFileError::Says(format!("{}: {e}", path.display())),
    };
    let file = TrackFile::open(path).map_err(named)?;
    let mut md5 = Md5::new();
    file.packed.sums().for_each(|sums| sums.iter().for_each(|n| md5.update(n.to_le_bytes())));
    let packed: Arc<dyn ReadAt> = file.packed;
    let tracks = Tracks::open(packed).map_err(|e| named(unwrapped(e)))?;
    Ok((NamedTracks { tracks, names: file.names }, u128::from_be_bytes(md5.finalize().into())))
}

/// The file's error inside an error of the stream.
fn unwrapped(e: StreamError) -> TrackFileError {
    match e.problem {
        stream::StreamProblem::Read(cause) => match cause.downcast::<StoreError>() {
            Ok(store) => store.into(),
            Err(cause) => StreamError { at: e.at, problem: stream::StreamProblem::Read(cause) }.into(),
        },
        problem => StreamError { at: e.at, problem }.into(),
    }
}

/// Writes tracks to a file, with a jump frame every `every` (in the keys' unit). Keys must be resolved.
pub fn write(
    path: &OsStr,
    overwrite: bool,
    tracks: &[(String, Curve)],
    every: Ratio,
) -> Result<(), TrackFileError> {
    let mut seen = BTreeSet::new();
    for (name, _) in tracks {
        check_name(name)?;
        if !seen.insert(name) {
            return Err(TrackFileError::Name { name: name.clone(), problem: "two tracks have this name" });
        }
    }
    let curves: Vec<Curve> = tracks.iter().map(|t| t.1.clone()).collect();
    let names: Vec<&str> = tracks.iter().map(|t| t.0.as_str()).collect();
    packed(path, overwrite, &names, |to| stream::write(&curves, every, to))
}

/// Copies a file with jump frames at another spacing.
pub fn reindex(from: &TrackFile, every: Ratio, path: &OsStr, overwrite: bool) -> Result<(), TrackFileError> {
    let names: Vec<&str> = from.names.iter().map(String::as_str).collect();
    packed(path, overwrite, &names, |to| stream::reindex(&from.tracks, every, to))
}

fn packed(
    path: &OsStr,
    overwrite: bool,
    names: &[&str],
    stream: impl FnOnce(&mut dyn Write) -> Result<(), TrackError>,
) -> Result<(), TrackFileError> {
    let mut output = Output::create(path, overwrite)?;
    let mut to = OutputWriter { output: &mut output, fault: None };
    let done = (|| {
        let mut packer = PackedWriter::new(&mut to).map_err(TrackError::Write)?;
        stream(&mut packer)?;
        packer.finish(names.iter().copied()).map_err(TrackError::Write)
    })();
    if let Some(fault) = to.fault {
        return Err(fault.into());
    }
    done?;
    Ok(output.finish()?)
}

/// An output as a writer.
struct OutputWriter<'a> {
    output: &'a mut Output,
    fault: Option<DiskError>,
}

impl Write for OutputWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.put(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(e) => {
                self.fault = Some(e);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
