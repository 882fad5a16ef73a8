//! What a sink does beside writing, so that a job can be resumed, shared and joined.

use crate::journal::resume::{ManifestFiles, sum};
use crate::journal::segments::Grid;
use crate::journal::shard::Note;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a job wants kept. Nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// Where frames that are files of their own are recorded.
    pub manifest_files: Option<Arc<ManifestFiles>>,
    /// What is recorded of the one file that an output is.
    pub seal: Option<Seal>,
    /// Video is rendered in segments.
    pub segments: Option<Arc<Grid>>,
}

/// What is recorded when a file is whole, before it gets its name: so a name that is there has been recorded.
#[derive(Clone, Debug)]
pub struct Seal {
    /// Where.
    pub manifest_files: Arc<ManifestFiles>,
    /// What joining needs of a shard.
    pub note: Option<Note>,
}

impl Seal {
    /// As an [`Output`](crate::disk::Output) takes it.
    pub fn boxed(self) -> crate::disk::output::Seal {
        Box::new(move |file, path, frames| self.set(file, path, frames))
    }

    /// Records a file that is whole, has a temporary name, and holds so many frames.
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
