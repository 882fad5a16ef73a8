//! The records that a sink writes, so that a job can be resumed, shared and joined.

use crate::journal::JoinRecord;
use crate::journal::resume::ManifestFiles;
use crate::journal::segments::SegmentGrid;
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
    pub join: JoinRecord,
    /// The number of frames, if the output does not count them.
    pub frames: Option<u64>,
}

impl CommitHook {
    /// As a function for [`OutputFile`](crate::disk::OutputFile).
    pub fn boxed(self) -> crate::disk::output::BeforeCommit {
        Box::new(move |file, path, frames| {
            let frames = self.frames.unwrap_or(frames);
            self.manifest_files.record_synced(0, file, path, frames, Some(&self.join))
        })
    }
}
