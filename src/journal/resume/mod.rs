//! Going on where a job was broken off: what is whole already, by whose making, and from what.
//!
//! A [manifest] has a line for each file that says what made it ([`JobSettings`]), from what ([`SourceIds`]), how many
//! bytes it has, when it was written, and their checksum. A file is whole when a line fits its size and time, and it is
//! the one [`Wanted`] when the line's key and origin are those of the job.

mod job_settings;
pub mod manifest;
mod manifest_files;
mod source_ids;
mod xxh64;

pub use job_settings::{JobSettings, difference, format_text};
pub use manifest::{Entry, Manifest};
pub use manifest_files::{ManifestFiles, ManifestNames};
pub use source_ids::{FileOf, SourceIds, changed};
pub use xxh64::{Xxh64, xxh64};

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The version of the streams of random numbers: a change of what a seed gives is a new one.
pub const STREAM_VERSION: u32 = 1;

/// `--resume` and `--verify`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resume {
    /// Everything is made anew.
    #[default]
    No,
    /// What is whole by manifest, size and time stays.
    Trust,
    /// The same, and every byte is read and checked.
    Verify,
}

/// What a file that is there already is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// There is none.
    Missing,
    /// Whole, and as wanted.
    Whole,
    /// Something that may not be replaced unasked.
    Other(Mismatch),
}

/// Why a file is not the one that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// No manifest tells of it, or it was changed since.
    Unknown,
    /// Made by other settings.
    Settings(String),
    /// Made from another source, or from one that has been changed since.
    Source,
    /// Its bytes are not those that were written.
    Damaged,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Unknown => f.write_str("is not in the manifest, or was changed later"),
            Mismatch::Settings(how) => write!(f, "was made with other settings ({how})"),
            Mismatch::Source => f.write_str("was made from another source, or the source was changed later"),
            Mismatch::Damaged => f.write_str("is damaged: its contents changed after it was written"),
        }
    }
}

/// Why a job cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// A file is there that is not the one wanted.
    #[error("{} {why}{}; use -y to render such frames again", path.display(), others(*more))]
    Other {
        /// The first of them.
        path: PathBuf,
        /// What is wrong with it.
        why: Mismatch,
        /// How many more there are.
        more: u64,
    },
    /// The manifest cannot be read or written.
    #[error("the manifest of {}: {cause}", path.display())]
    Manifest {
        /// The output.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// A file that is there cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's word.
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

/// The file that is wanted: made by these settings, from this.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The key of the settings.
    pub key: u128,
    /// The settings, as JSON.
    pub made: &'a str,
    /// What the source is known by; nothing where any will do.
    pub origin: Option<u64>,
}

impl Wanted<'_> {
    /// Why a file that has been recorded is another one.
    pub fn mismatch(&self, manifest: &Manifest, entry: &Entry) -> Option<Mismatch> {
        if entry.key != self.key {
            let theirs = manifest.made.get(&entry.key).map(String::as_str);
            return Some(Mismatch::Settings(difference(self.made, theirs)));
        }
        self.origin.filter(|origin| *origin != entry.origin).map(|_| Mismatch::Source)
    }
}

impl Entry {
    /// Whether a file has the bytes that were recorded. Reads all of them.
    pub fn is_intact(&self, path: &Path) -> io::Result<bool> {
        Ok(path.metadata()?.len() == self.size && sum(path)? == self.hash)
    }
}

/// What the file of a number is. `verify`: its bytes are read.
pub fn state(
    manifest: &Manifest,
    number: i64,
    path: &Path,
    wanted: &Wanted<'_>,
    verify: bool,
) -> Result<State, ResumeError> {
    let read = |cause| ResumeError::Read { path: path.to_path_buf(), cause };
    let meta = match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
        Err(e) => return Err(read(e)),
        Ok(meta) => meta,
    };
    let entry = manifest.find(number, meta.len(), changed(&meta)).filter(|_| meta.is_file());
    let Some(entry) = entry else { return Ok(State::Other(Mismatch::Unknown)) };
    if let Some(why) = wanted.mismatch(manifest, entry) {
        return Ok(State::Other(why));
    }
    if verify && !entry.is_intact(path).map_err(read)? {
        return Ok(State::Other(Mismatch::Damaged));
    }
    Ok(State::Whole)
}

/// The checksum of a file's bytes.
pub fn sum(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut sum = Xxh64::default();
    let mut bytes = vec![0; 1 << 18];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(sum.finish()),
            Ok(n) => sum.update(&bytes[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Which of some numbered files are whole, ascending. What does not fit is an error, unless it may be replaced.
pub fn whole(
    manifest_files: &ManifestFiles,
    numbers: impl Iterator<Item = i64>,
    path: impl Fn(i64) -> PathBuf,
    verify: bool,
    replace: bool,
) -> Result<Vec<i64>, ResumeError> {
    let manifest = manifest_files.read().map_err(|cause| ResumeError::Manifest { path: path(0), cause })?;
    let mut whole = Vec::new();
    let mut first: Option<(PathBuf, Mismatch)> = None;
    let mut others = 0;
    for number in numbers {
        let path = path(number);
        match state(&manifest, number, &path, &manifest_files.wanted(number), verify)? {
            State::Missing => {}
            State::Whole => whole.push(number),
            State::Other(why) => {
                others += 1;
                first.get_or_insert((path, why));
            }
        }
    }
    match first {
        Some((path, why)) if !replace => Err(ResumeError::Other { path, why, more: others - 1 }),
        _ => {
            whole.sort_unstable();
            whole.dedup();
            Ok(whole)
        }
    }
}
