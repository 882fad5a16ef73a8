//! Video in segments, so that a render that was broken off goes on from its last whole segment, and several machines
//! can share one.
//!
//! The grid is fixed from frame 0 of the source: segment `k` holds the frames from `k * frames` up to
//! `(k + 1) * frames` that are asked for, by the source's own numbers. Each is encoded alone by a fresh encoder,
//! whose threads follow from the picture and not from the machine, into a [file](mod@file) of its own in the folder
//! `OUTPUT.segments`. When all are whole their packets are put into one container without being encoded again,
//! together with the sound and all else that is only copied; then the folder goes.

pub mod file;
pub mod timeline;

use crate::disk::TEMPORARY;
use crate::journal::FrameList;
use crate::journal::resume::{Mismatch, ResumeError};
use file::SegmentSummary;
use grainfield_filters::frame::Ranges;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

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
    /// The key of the settings.
    pub key: u128,
    /// The settings as JSON.
    pub made: String,
    /// What the source is known by.
    pub origin: u64,
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

    /// The numbers of the frames that are in whole segments, ascending. A segment of other settings is an error,
    /// unless it may be replaced.
    pub fn whole(&self, replace: bool) -> Result<Vec<i64>, ResumeError> {
        let mut whole = Vec::new();
        if !self.resume {
            return Ok(whole);
        }
        let there = self.there().map_err(|cause| ResumeError::Read { path: self.folder.clone(), cause })?;
        for cell in there {
            let (first, last) = ends_of(cell, self.frames, self.offset);
            let asked = FrameList { within: self.asked.meet(first, last), ..self.asked.clone() };
            let path = self.path(cell);
            match self.state(cell, &path, &asked) {
                Ok(true) => whole.extend(asked.iter()),
                Ok(false) => {}
                Err(_) if replace => {}
                Err(why) => return Err(ResumeError::Other { path, why, more: 0 }),
            }
        }
        Ok(whole)
    }

    /// Whether a segment holds all it should.
    fn state(&self, cell: i64, path: &Path, asked: &FrameList) -> Result<bool, Mismatch> {
        let Ok(SegmentSummary { head, pictures, .. }) = file::ends(path, self.verify) else {
            return Err(Mismatch::Damaged);
        };
        if head.key != format!("{:032x}", self.key) {
            return Err(Mismatch::Settings(difference(&self.made, &head.made)));
        }
        if head.origin != format!("{:016x}", self.origin) {
            return Err(Mismatch::Source);
        }
        // a segment that lacks a frame was left out of by an error; it is made again
        Ok(head.cell == cell && (!self.exact || pictures == asked.iter().count() as u64))
    }

    /// Makes the folder ours until the [`FolderLock`] is dropped, and removes what was left unfinished in it.
    pub fn acquire(&self, replace: bool) -> Result<FolderLock, io::Error> {
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
        if let Some(other) = std::fs::read_dir(&self.folder)?.flatten().find(|entry| !is_ours(entry)) {
            let problem = format!(
                "{} is not a file of these segments: move it to another folder",
                other.path().display()
            );
            return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
        }
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join(LOCK))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(ErrorKind::ResourceBusy, "another process is rendering into it"));
            }
            // where there are no locks two programs must be kept apart by their user
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let there = self.there()?;
        if !fresh && !there.is_empty() && !self.resume && !replace {
            let problem = "it holds segments of an interrupted render: use --resume to continue it, or -y to \
                start over";
            return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if is_ours(&entry) && entry.file_name().as_encoded_bytes().ends_with(TEMPORARY.as_bytes()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        for cell in there {
            let (first, end) = ends_of(cell, self.frames, self.offset);
            let asked = FrameList { within: self.asked.meet(first, end), ..self.asked.clone() };
            if !self.resume || self.state(cell, &self.path(cell), &asked) != Ok(true) {
                std::fs::remove_file(self.path(cell))?;
            }
        }
        Ok(FolderLock { folder: self.folder.clone(), _lock: lock })
    }
}

fn difference(ours: &str, theirs: &str) -> String {
    crate::journal::resume::difference(ours, Some(theirs))
}

/// The name of the file that says who works in the folder.
const LOCK: &str = "lock";

/// Whether an entry of a folder of segments bears a name that we give: others belong to somebody else.
fn is_ours(entry: &std::fs::DirEntry) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else { return false };
    let number = |cell: &str| cell.parse::<i64>().is_ok_and(|n| format!("{n:08}") == cell);
    match entry.metadata() {
        Ok(meta) if meta.is_file() => {
            name.strip_suffix(".segment").is_some_and(number)
                || (name.starts_with('.') && name.ends_with(TEMPORARY))
                || (name == LOCK && meta.len() == 0)
        }
        // gone by now
        Err(e) => e.kind() == ErrorKind::NotFound,
        Ok(_) => false,
    }
}

/// A folder of segments that is ours.
#[derive(Debug)]
pub struct FolderLock {
    folder: PathBuf,
    /// Gone with the program, however that ends.
    _lock: File,
}

impl FolderLock {
    /// All has been joined: the folder goes.
    pub fn discard(self) {
        discard(&self.folder);
    }
}

/// Removes a folder of segments: the files that are ours, and the folder if nothing else is in it.
pub fn discard(folder: &Path) {
    if !folder.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_ours(&entry) {
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
