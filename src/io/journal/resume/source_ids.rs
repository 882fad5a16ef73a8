//! The source file of each frame, and its identity: name, size and time of change.

use super::XxHash64;
use crate::disk::FileRef;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the file from which a frame of the source is read, by the source's frame number.
pub type FrameFiles = Arc<dyn Fn(i64) -> Option<PathBuf> + Send + Sync>;

/// The sources of the frames of a job.
#[derive(Clone)]
pub enum SourceIds {
    /// Unknown, for a pipe.
    Unknown,
    /// All frames are from one file, or from a test signal.
    One(u64),
    /// Each frame is from a separate file. The number is the frame offset.
    Each(FrameFiles, i64),
}

impl std::fmt::Debug for SourceIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SourceIds::Unknown => "Unknown",
            SourceIds::One(_) => "One",
            SourceIds::Each(..) => "Each",
        })
    }
}

impl SourceIds {
    /// The sources of an open input: the files of its frames if they are separate, else all files that it reads.
    pub fn for_input(input: &OsStr, files: Option<FrameFiles>, reads: &[FileRef], offset: i64) -> SourceIds {
        if let Some(files) = files {
            return SourceIds::Each(files, offset);
        }
        let known = |place: &FileRef| match place {
            FileRef::Path(path) => {
                path.metadata().ok().filter(Metadata::is_file).map(|meta| file_id(path, &meta))
            }
            _ => None,
        };
        match reads {
            // a test signal is identified by its text, other inputs that are not files by their address
            [] => SourceIds::One(super::xxh64(input.as_encoded_bytes()).max(1)),
            [one] => known(one).map_or(SourceIds::Unknown, SourceIds::One),
            // the parts of a playlist
            all => {
                let mut sum = XxHash64::default();
                all.iter().for_each(|place| sum.write(&known(place).unwrap_or(0).to_le_bytes()));
                SourceIds::One(sum.finish().max(2))
            }
        }
    }

    /// Whether changes of the source can be detected.
    pub fn is_known(&self) -> bool {
        !matches!(self, SourceIds::Unknown | SourceIds::One(0))
    }

    /// The current identity of the source of a frame; 0 if unknown, 1 if there is no file.
    pub fn get(&self, number: i64) -> u64 {
        match self {
            SourceIds::Unknown => 0,
            SourceIds::One(known) => *known,
            SourceIds::Each(files, offset) => match files(number.saturating_sub(*offset)) {
                None => 1,
                Some(path) => std::fs::metadata(&path).map_or(0, |meta| file_id(&path, &meta)),
            },
        }
    }
}

/// The identity of a file: name (without its folder, which may differ on another machine), size and time of change.
pub fn file_id(path: &Path, meta: &Metadata) -> u64 {
    let mut sum = XxHash64::default();
    sum.write(path.file_name().unwrap_or_default().as_encoded_bytes());
    sum.write(&meta.len().to_le_bytes());
    sum.write(&changed(meta).to_le_bytes());
    // 0 and 1 have special meanings
    sum.finish().max(2)
}

/// The time of the last change of a file, nanoseconds since 1970; 0 if the system does not provide it.
pub fn changed(meta: &Metadata) -> i64 {
    let since = |t: SystemTime| match t.duration_since(UNIX_EPOCH) {
        Ok(d) => i64::try_from(d.as_nanos()).unwrap_or(i64::MAX),
        Err(e) => i64::try_from(e.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    };
    meta.modified().map_or(0, since)
}
