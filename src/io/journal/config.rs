//! What a sink records, so that a job can be resumed, shared and joined.

use crate::journal::resume::{ManifestFiles, checksum};
use crate::journal::segments::SegmentGrid;
use crate::journal::shard::ShardRecord;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The records of a job. None by default.
#[derive(Clone, Debug, Default)]
pub struct JournalConfig {
    /// The manifests for frames that are separate files.
    pub manifest_files: Option<Arc<ManifestFiles>>,
    /// The record of an output that is one file.
    pub commit_hook: Option<CommitHook>,
    /// The segment grid, if video is rendered in segments.
    pub segments: Option<Arc<SegmentGrid>>,
}

/// Records a complete file before it gets its name, so that every file with its final name has been recorded.
#[derive(Clone, Debug)]
pub struct CommitHook {
    /// The manifests.
    pub manifest_files: Arc<ManifestFiles>,
    /// The data for joining a shard.
    pub shard: Option<ShardRecord>,
}

impl CommitHook {
    /// As a function for [`OutputFile`](crate::disk::OutputFile).
    pub fn boxed(self) -> crate::disk::output::BeforeCommit {
        Box::new(move |file, path, frames| self.record(file, path, frames))
    }

    /// Records a complete file, which has a temporary name and this number of frames.
    ///
    /// # Errors
    /// If the file cannot be read or the manifest cannot be written.
    pub fn record(mut self, file: &File, path: &Path, frames: u64) -> io::Result<()> {
        let hash = checksum(path)?;
        let entry = self.manifest_files.entry(0, file, hash)?;
        if let Some(shard) = self.shard.as_mut().filter(|shard| shard.video.is_none()) {
            shard.written = frames;
        }
        self.manifest_files.record(&entry, self.shard.as_ref())?;
        self.manifest_files.sync()
    }
}
