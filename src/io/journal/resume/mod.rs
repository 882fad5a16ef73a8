//! Resuming an interrupted job: which files are complete, with which settings and from which source.
//!
//! A [manifest] has a line for each file with its settings ([`JobSettings`]), its source ([`SourceIds`]), its size, the
//! time when it was written, and its checksum. A file is complete if a line matches its size and time, and it is the
//! [`Wanted`] one if the line's key and source hash are those of the job.

mod job_settings;
pub mod manifest;
mod manifest_files;
mod source_ids;

pub use job_settings::{JobSettings, difference, format_text};
pub use manifest::{Entry, Manifest};
pub use manifest_files::{ManifestFiles, ManifestNames};
pub use source_ids::{FrameFiles, SourceIds, changed, file_id};
pub use twox_hash::XxHash64;

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The version of the random number streams; it changes whenever a seed gives other numbers.
pub const STREAM_VERSION: u32 = 1;

/// How the complete files of an earlier render are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resume {
    /// Render everything again.
    #[default]
    No,
    /// Keep files that are complete according to manifest, size and time.
    Trust,
    /// The same, and read and check every byte.
    Verify,
}

/// The state of an existing file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileState {
    /// It does not exist.
    Missing,
    /// It is complete and has the expected settings.
    Complete,
    /// It is another file, which may not be replaced without being asked.
    Other(Mismatch),
}

/// The reason why a file is not the expected one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Mismatch {
    /// It is in no manifest, or was changed afterwards.
    #[error("is not in the manifest, or was changed later")]
    Unknown,
    /// It was rendered with other settings.
    #[error("was made with other settings ({0})")]
    Settings(String),
    /// It was rendered from another source, or the source has changed.
    #[error("was made from another source, or the source was changed later")]
    Source,
    /// Its bytes have changed.
    #[error("is damaged: its contents changed after it was written")]
    Damaged,
}

/// An error that prevents resuming.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// An existing file is not the expected one.
    #[error("{} {why}{}, and overwriting is not allowed", path.display(), others(*more))]
    Other {
        /// The first such file.
        path: PathBuf,
        /// The reason.
        why: Mismatch,
        /// The number of further ones.
        more: u64,
    },
    /// The manifest cannot be read or written.
    #[error("the manifest of {}: {cause}", path.display())]
    Manifest {
        /// The output.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// An existing file cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

fn others(more: u64) -> String {
    match more {
        0 => String::new(),
        1 => " (one more does not match)".into(),
        n => format!(" ({n} more do not match)"),
    }
}

/// The settings and source of the expected file.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The key of the settings.
    pub key: u128,
    /// The settings, as JSON.
    pub settings: &'a str,
    /// The identity of the source; `None` if any is accepted.
    pub source_hash: Option<u64>,
}

impl Wanted<'_> {
    /// The reason why a recorded file is not the expected one.
    pub fn mismatch(&self, manifest: &Manifest, entry: &Entry) -> Option<Mismatch> {
        if entry.key != self.key {
            let theirs = manifest.settings.get(&entry.key).map(String::as_str);
            return Some(Mismatch::Settings(difference(self.settings, theirs)));
        }
        self.source_hash.filter(|source_hash| *source_hash != entry.source_hash).map(|_| Mismatch::Source)
    }
}

impl Entry {
    /// Whether a file has the recorded bytes. Reads all of them.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn is_intact(&self, path: &Path) -> io::Result<bool> {
        Ok(path.metadata()?.len() == self.size && checksum(path)? == self.hash)
    }
}

/// The state of the file with a number. With `verify`, its bytes are read.
///
/// # Errors
/// [`ResumeError::Read`].
pub fn file_state(
    manifest: &Manifest,
    number: i64,
    path: &Path,
    wanted: &Wanted<'_>,
    verify: bool,
) -> Result<FileState, ResumeError> {
    let read = |cause| ResumeError::Read { path: path.to_path_buf(), cause };
    let meta = match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(FileState::Missing),
        Err(e) => return Err(read(e)),
        Ok(meta) => meta,
    };
    let entry = manifest.find(number, meta.len(), changed(&meta)).filter(|_| meta.is_file());
    let Some(entry) = entry else { return Ok(FileState::Other(Mismatch::Unknown)) };
    if let Some(why) = wanted.mismatch(manifest, entry) {
        return Ok(FileState::Other(why));
    }
    if verify && !entry.is_intact(path).map_err(read)? {
        return Ok(FileState::Other(Mismatch::Damaged));
    }
    Ok(FileState::Complete)
}

/// The checksum in manifests and segments: XXH64 with seed 0. It protects against damage, not against an adversary.
pub fn xxh64(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// The checksum of a file's bytes.
///
/// # Errors
/// If the file cannot be read.
pub fn checksum(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hasher = XxHash64::default();
    let mut bytes = vec![0; 1 << 18];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(n) => hasher.write(&bytes[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// The complete files among some numbers, ascending; none without resuming. A mismatch is an error, unless files may be
/// replaced.
///
/// # Errors
/// [`ResumeError`].
pub fn complete_files(
    manifest_files: &ManifestFiles,
    numbers: impl Iterator<Item = i64>,
    path: impl Fn(i64) -> PathBuf,
    resume: Resume,
    replace: bool,
) -> Result<Vec<i64>, ResumeError> {
    if resume == Resume::No {
        return Ok(Vec::new());
    }
    let manifest = manifest_files.read().map_err(|cause| ResumeError::Manifest { path: path(0), cause })?;
    let mut complete = Vec::new();
    let mut first: Option<(PathBuf, Mismatch)> = None;
    let mut others = 0;
    for number in numbers {
        let path = path(number);
        match file_state(&manifest, number, &path, &manifest_files.wanted(number), resume == Resume::Verify)?
        {
            FileState::Missing => {}
            FileState::Complete => complete.push(number),
            FileState::Other(why) => {
                others += 1;
                first.get_or_insert((path, why));
            }
        }
    }
    match first {
        Some((path, why)) if !replace => Err(ResumeError::Other { path, why, more: others - 1 }),
        _ => {
            complete.sort_unstable();
            complete.dedup();
            Ok(complete)
        }
    }
}
