//! Video in segments, so that an interrupted render continues from its last complete segment, and several machines
//! can share a render.
//!
//! The grid is fixed from frame 0 of the source: segment `k` contains the requested frames from `k * frames` up to
//! `(k + 1) * frames`, by the source's frame numbers. A new encoder encodes each segment into a separate
//! NUT file in the folder `OUTPUT.segments`; its number of threads depends on the picture, not on the machine. A
//! manifest records segments like frames of a sequence, with what NUT cannot store: the durations and flags of
//! packets, and HDR metadata. When all are complete, their packets are muxed into one container without encoding
//! again, together with the sound and other copied streams; then the folder is removed.

pub mod timeline;

use crate::journal::resume::{
    self, Entry, Manifest, ManifestFiles, ManifestNames, Resume, ResumeError, changed,
};
use crate::journal::{FrameList, JoinRecord};
use grainfield_filters::frame::Ranges;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default number of frames of a segment.
pub const DEFAULT_FRAMES: u64 = 250;
/// The largest number of frames of a segment.
pub const MAX_FRAMES: u64 = 1 << 32;

/// The segments of a job.
#[derive(Clone, Debug)]
pub struct SegmentGrid {
    /// Frames per segment.
    pub frames: u64,
    /// The frame offset: the job's frame numbers minus the source's.
    pub offset: i64,
    /// The records of segments, with the expected settings.
    pub manifest_files: Arc<ManifestFiles>,
    /// The folder of the segments.
    pub folder: PathBuf,
    /// Whether to use existing segments, and to check every byte.
    pub resume: Resume,
    /// Whether to write the picture only, for a shard.
    pub picture_only: bool,
    /// The frames of this job.
    pub requested: FrameList,
    /// Whether every requested frame will be rendered.
    pub exact: bool,
}

/// The folder of an output's segments.
pub fn folder(output: &Path) -> PathBuf {
    let mut name = OsString::from(output);
    name.push(".segments");
    name.into()
}

fn cell_index(number: i64, frames: u64, offset: i64) -> i64 {
    let wide = (i128::from(number) - i128::from(offset)).div_euclid(i128::from(frames.max(1)));
    // a number is never further from zero than its cell
    wide as i64
}

/// First and last frame number of a segment.
fn cell_bounds(cell: i64, frames: u64, offset: i64) -> (i64, i64) {
    let first = i128::from(cell) * i128::from(frames) + i128::from(offset);
    let narrow = |n: i128| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    (narrow(first), narrow(first + i128::from(frames) - 1))
}

/// The segments that contain some of the frames, in order. The frames must be bounded.
pub fn cells(all: &Ranges, frames: u64, offset: i64) -> Vec<i64> {
    let mut cells = Vec::new();
    let mut next = all.min();
    while let Some(number) = next {
        let cell = cell_index(number, frames, offset);
        cells.push(cell);
        next = cell_bounds(cell, frames, offset).1.checked_add(1).and_then(|n| all.next_from(n));
    }
    cells
}

/// First and last frame number of consecutive segments; an empty range for no segments.
pub fn span(cells: &[i64], frames: u64, offset: i64) -> (i64, i64) {
    match (cells.first(), cells.last()) {
        (Some(&a), Some(&b)) => (cell_bounds(a, frames, offset).0, cell_bounds(b, frames, offset).1),
        _ => (1, 0),
    }
}

impl SegmentGrid {
    /// The segment of a frame.
    pub fn cell(&self, number: i64) -> i64 {
        cell_index(number, self.frames, self.offset)
    }

    /// The path of a segment.
    pub fn path(&self, cell: i64) -> PathBuf {
        self.folder.join(format!("{cell:08}.nut"))
    }

    /// The existing segments, in order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn existing(&self) -> io::Result<Vec<i64>> {
        let mut cells = Vec::new();
        let entries = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(cells),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let cell = name.to_str().and_then(|n| n.strip_suffix(".nut")).and_then(|n| n.parse().ok());
            cells.extend(cell.filter(|c| self.path(*c).file_name() == Some(&name)));
        }
        cells.sort_unstable();
        Ok(cells)
    }

    /// The requested frames of a segment.
    fn requested_in(&self, cell: i64) -> FrameList {
        let (first, last) = cell_bounds(cell, self.frames, self.offset);
        FrameList { within: self.requested.bounds_within(first, last), ..self.requested.clone() }
    }

    /// The complete segments. A segment with other settings is an error, unless it may be replaced.
    fn complete_cells(&self, replace: bool) -> Result<Vec<i64>, ResumeError> {
        if self.resume == Resume::No {
            return Ok(Vec::new());
        }
        let read = |cause| ResumeError::Read { path: self.folder.clone(), cause };
        let there = self.existing().map_err(read)?;
        let path = |cell| self.path(cell);
        let mut cells =
            resume::complete_files(&self.manifest_files, there.into_iter(), path, self.resume, replace)?;
        if self.exact {
            // a segment that lacks a frame because of an error is rendered again
            let manifest = self.manifest_files.read().map_err(read)?;
            let full = |cell: &i64| {
                let requested = self.requested_in(*cell).iter().count() as u64;
                self.entry(&manifest, *cell).is_ok_and(|entry| entry.frames == requested)
            };
            cells.retain(full);
        }
        Ok(cells)
    }

    /// The frame numbers in complete segments, ascending. A segment with other settings is an error, unless it
    /// may be replaced.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub fn complete(&self, replace: bool) -> Result<Vec<i64>, ResumeError> {
        let cells = self.complete_cells(replace)?;
        Ok(cells.into_iter().flat_map(|cell| self.requested_in(cell).iter().collect::<Vec<_>>()).collect())
    }

    /// The manifest's entry of a segment.
    fn entry(&self, manifest: &Manifest, cell: i64) -> io::Result<Entry> {
        let path = self.path(cell);
        let meta = path.metadata()?;
        manifest.find(cell, meta.len(), changed(&meta)).copied().ok_or_else(|| {
            let problem = format!("{} changed after it was written; delete it and resume", path.display());
            io::Error::new(ErrorKind::InvalidData, problem)
        })
    }

    /// The existing segments in order, with their entries and the data for joining them.
    ///
    /// # Errors
    /// The folder or the manifest cannot be read, or a segment has been changed.
    pub fn recorded(&self) -> io::Result<Vec<(PathBuf, Entry, JoinRecord)>> {
        let mut manifest = self.manifest_files.read()?;
        let recorded = |cell| {
            let entry = self.entry(&manifest, cell)?;
            Ok((self.path(cell), entry, manifest.joins.remove(&entry.id()).unwrap_or_default()))
        };
        self.existing()?.into_iter().map(recorded).collect()
    }

    /// Locks the folder until the [`ManifestFiles`] are dropped, and removes unfinished files from it.
    ///
    /// # Errors
    /// `AlreadyExists` if the folder has files of someone else, or segments that may not be replaced; else
    /// those of the system.
    pub fn acquire(&self, replace: bool) -> io::Result<()> {
        let fresh = match std::fs::create_dir(&self.folder) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                // a link would redirect our files
                if !self.folder.symlink_metadata()?.is_dir() {
                    return Err(io::Error::new(ErrorKind::NotADirectory, "it exists and is not a folder"));
                }
                false
            }
            Err(e) => return Err(e),
        };
        let names = ManifestNames::for_segments(&self.folder);
        for entry in std::fs::read_dir(&self.folder)?.flatten() {
            if !is_ours(&entry, &names) {
                let problem = format!(
                    "{} is not a file of these segments: move it to another folder, or remove the folder of segments \
                     if another version of grainfield made it",
                    entry.path().display()
                );
                return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
            }
        }
        // its lock keeps other programs out
        self.manifest_files.acquire()?;
        let there = self.existing()?;
        if !fresh && !there.is_empty() && self.resume == Resume::No && !replace {
            let problem =
                "it holds segments of an interrupted render: resume it, or overwrite them to start over";
            return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if is_partial(&entry.file_name().to_string_lossy()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        let complete = self.complete_cells(true).map_err(io::Error::other)?;
        for cell in there.into_iter().filter(|cell| !complete.contains(cell)) {
            std::fs::remove_file(self.path(cell))?;
        }
        Ok(())
    }

    /// Removes the folder.
    pub fn discard(&self) {
        self.manifest_files.close();
        discard(&self.folder);
    }
}

/// Whether a name is that of an unfinished file, which only a file system without unnamed files shows.
fn is_partial(name: &str) -> bool {
    name.contains(".partial")
}

/// Whether an entry of a folder of segments has a name that this program uses; other files belong to someone
/// else.
fn is_ours(entry: &std::fs::DirEntry, names: &ManifestNames) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else { return false };
    let number = |cell: &str| cell.parse::<i64>().is_ok_and(|n| format!("{n:08}") == cell);
    match entry.metadata() {
        Ok(meta) if meta.is_file() => {
            name.strip_suffix(".nut").is_some_and(number) || is_partial(name) || entry.path() == names.path(0)
        }
        // already removed
        Err(e) => e.kind() == ErrorKind::NotFound,
        Ok(_) => false,
    }
}

/// Removes a folder of segments: the files of this program, and the folder if it is empty then.
pub fn discard(folder: &Path) {
    if !folder.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let names = ManifestNames::for_segments(folder);
    for entry in entries.flatten() {
        if is_ours(&entry, &names) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_starts_at_frame_0_of_the_source() {
        let all: Ranges = "1005-1031".parse().unwrap();
        assert_eq!(cells(&all, 10, 0), [100, 101, 102, 103]);
        assert_eq!(cells(&all, 10, 1001), [0, 1, 2, 3]);
        assert_eq!(span(&[1, 2], 10, 1001), (1011, 1030));
        assert_eq!(cells(&"-5-5".parse().unwrap(), 4, 0), [-2, -1, 0, 1]);
        assert_eq!(cells(&"0,100-101".parse().unwrap(), 10, 0), [0, 10]);
        let (first, last) = span(&[], 10, 0);
        assert!(first > last);
    }
}
