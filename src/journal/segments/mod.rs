//! Video in segments, so that a render that was broken off goes on from its last whole segment, and several machines
//! can share one.
//!
//! The grid is fixed from frame 0 of the source: segment `k` holds the frames from `k * frames` up to
//! `(k + 1) * frames` that are asked for, by the source's own numbers. Each is encoded alone by a fresh encoder,
//! whose threads follow from the picture and not from the machine, into a [file](mod@file) of its own in the folder
//! `OUTPUT.segments`, where a manifest records them as it records the frames of a sequence. When all are whole their
//! packets are put into one container without being encoded again, together with the sound and all else that is only
//! copied; then the folder goes.

pub mod file;
pub mod timeline;

use crate::disk::TEMPORARY;
use crate::journal::FrameList;
use crate::journal::resume::{self, ManifestFiles, ManifestNames, ResumeError};
use grainfield_filters::frame::Ranges;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `--segment-frames`, when it is not given.
pub const DEFAULT_FRAMES: u64 = 250;
/// The most frames of a segment.
pub const MAX_FRAMES: u64 = 1 << 32;

/// The segments of a job.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Frames a segment.
    pub frames: u64,
    /// `--frame-offset`: what the source's numbers are less than the job's.
    pub offset: i64,
    /// What is recorded of each segment, and by which settings it should have been made.
    pub manifest_files: Arc<ManifestFiles>,
    /// Where segments lie.
    pub folder: PathBuf,
    /// Whether every byte is checked.
    pub verify: bool,
    /// Whether segments that are there may be used.
    pub resume: bool,
    /// The picture alone: a shard.
    pub alone: bool,
    /// The frames of this job.
    pub asked: FrameList,
    /// Whether every frame asked for will come.
    pub exact: bool,
}

/// The folder of an output's segments.
pub fn folder(output: &Path) -> PathBuf {
    let mut name = OsString::from(output);
    name.push(".segments");
    name.into()
}

fn cell_of(number: i64, frames: u64, offset: i64) -> i64 {
    let wide = (i128::from(number) - i128::from(offset)).div_euclid(i128::from(frames.max(1)));
    // a number is never further from zero than its cell
    wide as i64
}

/// First and last number of a cell.
fn ends_of(cell: i64, frames: u64, offset: i64) -> (i64, i64) {
    let first = i128::from(cell) * i128::from(frames) + i128::from(offset);
    let narrow = |n: i128| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    (narrow(first), narrow(first + i128::from(frames) - 1))
}

/// The segments that hold some of the frames, in order. The frames must have an end.
pub fn cells(all: &Ranges, frames: u64, offset: i64) -> Vec<i64> {
    let mut cells = Vec::new();
    let mut next = all.min();
    while let Some(number) = next {
        let cell = cell_of(number, frames, offset);
        cells.push(cell);
        next = ends_of(cell, frames, offset).1.checked_add(1).and_then(|n| all.next_from(n));
    }
    cells
}

/// First and last number of segments that lie beside each other; nothing for none.
pub fn span(cells: &[i64], frames: u64, offset: i64) -> (i64, i64) {
    match (cells.first(), cells.last()) {
        (Some(&a), Some(&b)) => (ends_of(a, frames, offset).0, ends_of(b, frames, offset).1),
        _ => (1, 0),
    }
}

impl Grid {
    /// The segment of a frame.
    pub fn cell(&self, number: i64) -> i64 {
        cell_of(number, self.frames, self.offset)
    }

    /// Where a segment lies.
    pub fn path(&self, cell: i64) -> PathBuf {
        self.folder.join(format!("{cell:08}.segment"))
    }

    /// The segments that are there, in order.
    pub fn there(&self) -> io::Result<Vec<i64>> {
        let mut cells = Vec::new();
        let entries = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(cells),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let cell = name.to_str().and_then(|n| n.strip_suffix(".segment")).and_then(|n| n.parse().ok());
            cells.extend(cell.filter(|c| self.path(*c).file_name() == Some(&name)));
        }
        cells.sort_unstable();
        Ok(cells)
    }

    /// The frames of a segment that are asked for.
    fn asked_of(&self, cell: i64) -> FrameList {
        let (first, last) = ends_of(cell, self.frames, self.offset);
        FrameList { within: self.asked.meet(first, last), ..self.asked.clone() }
    }

    /// The segments that are whole. One of other settings is an error, unless it may be replaced.
    fn whole_cells(&self, replace: bool) -> Result<Vec<i64>, ResumeError> {
        if !self.resume {
            return Ok(Vec::new());
        }
        let there = self.there().map_err(|cause| ResumeError::Read { path: self.folder.clone(), cause })?;
        let path = |cell| self.path(cell);
        let mut cells = resume::whole(&self.manifest_files, there.into_iter(), path, self.verify, replace)?;
        if self.exact {
            // a segment that lacks a frame was left out of by an error; it is made again
            let full = |cell: &i64| {
                let asked = self.asked_of(*cell).iter().count() as u64;
                file::pictures(&self.path(*cell)).is_ok_and(|n| n == asked)
            };
            cells.retain(full);
        }
        Ok(cells)
    }

    /// The numbers of the frames that are in whole segments, ascending. A segment of other settings is an error,
    /// unless it may be replaced.
    pub fn whole(&self, replace: bool) -> Result<Vec<i64>, ResumeError> {
        let cells = self.whole_cells(replace)?;
        Ok(cells.into_iter().flat_map(|cell| self.asked_of(cell).iter().collect::<Vec<_>>()).collect())
    }

    /// The checksum that was recorded of each segment.
    pub fn checksums(&self) -> io::Result<impl Fn(i64) -> Option<u64>> {
        let manifest = self.manifest_files.read()?;
        Ok(move |cell| manifest.entries.get(&cell)?.last().map(|entry| entry.hash))
    }

    /// Makes the folder ours, until the [`ManifestFiles`] are dropped, and removes what was left unfinished in it.
    pub fn acquire(&self, replace: bool) -> io::Result<()> {
        let fresh = match std::fs::create_dir(&self.folder) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                // a link would lead our files elsewhere
                if !self.folder.symlink_metadata()?.is_dir() {
                    return Err(io::Error::new(ErrorKind::NotADirectory, "it exists and is not a folder"));
                }
                false
            }
            Err(e) => return Err(e),
        };
        let names = ManifestNames::of_segments(&self.folder);
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
        self.manifest_files.prefix()?;
        let there = self.there()?;
        if !fresh && !there.is_empty() && !self.resume && !replace {
            let problem = "it holds segments of an interrupted render: use --resume to continue it, or -y to \
                start over";
            return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().ends_with(TEMPORARY.as_bytes()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        let whole = self.whole_cells(true).map_err(io::Error::other)?;
        for cell in there.into_iter().filter(|cell| !whole.contains(cell)) {
            std::fs::remove_file(self.path(cell))?;
        }
        Ok(())
    }

    /// Removes the folder.
    pub fn discard(&self) {
        discard(&self.folder);
    }
}

/// Whether an entry of a folder of segments bears a name that we give: others belong to somebody else.
fn is_ours(entry: &std::fs::DirEntry, names: &ManifestNames) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else { return false };
    let number = |cell: &str| cell.parse::<i64>().is_ok_and(|n| format!("{n:08}") == cell);
    match entry.metadata() {
        Ok(meta) if meta.is_file() => {
            name.strip_suffix(".segment").is_some_and(number)
                || (name.starts_with('.') && name.ends_with(TEMPORARY))
                || entry.path() == names.path(0)
        }
        // gone by now
        Err(e) => e.kind() == ErrorKind::NotFound,
        Ok(_) => false,
    }
}

/// Removes a folder of segments: the files that are ours, and the folder if nothing else is in it.
pub fn discard(folder: &Path) {
    if !folder.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let names = ManifestNames::of_segments(folder);
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
    fn the_grid_stands_on_frame_0_of_the_source() {
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
