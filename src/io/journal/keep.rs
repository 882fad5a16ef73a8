//! The records that a sink keeps, so that a job can be resumed, shared and joined.

use crate::journal::resume::{ManifestFiles, sum};
use crate::journal::segments::Grid;
use crate::journal::shard::Note;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The records of a job. None by default.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// The manifests for frames that are separate files.
    pub manifest_files: Option<Arc<ManifestFiles>>,
    /// The record of an output that is one file.
    pub seal: Option<Seal>,
    /// The segment grid, if video is rendered in segments.
    pub segments: Option<Arc<Grid>>,
}

/// Records a complete file before it gets its name, so that every file with its final name has been recorded.
#[derive(Clone, Debug)]
pub struct Seal {
    /// The manifests.
    pub manifest_files: Arc<ManifestFiles>,
    /// The data for joining a shard.
    pub note: Option<Note>,
}

impl Seal {
    /// As a function for [`Output`](crate::disk::Output).
    pub fn boxed(self) -> crate::disk::output::Seal {
        Box::new(move |file, path, frames| self.set(file, path, frames))
    }

    /// Records a complete file, which has a temporary name and this number of frames.
    pub fn set(mut self, file: &File, path: &Path, frames: u64) -> io::Result<()> {
        let hash = sum(path)?;
        let entry = self.manifest_files.entry(0, file, hash)?;
        if let Some(note) = self.note.as_mut().filter(|note| note.video.is_none()) {
            note.written = frames;
        }
        self.manifest_files.record(&entry, self.note.as_ref())?;
        self.manifest_files.sync()
    }
}
