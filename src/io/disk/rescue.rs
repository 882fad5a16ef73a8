//! Ends an output while its own thread does not return.

use super::error::DiskError;
use super::partial::{PartialOutput, gone, still_there};
use grainfield_filters::host::lock;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The part of an output that consists of whole frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrittenFrames {
    pub(super) bytes: u64,
    pub(super) frames: u64,
    /// Whether the output has been ended from outside, so that nothing may be written any more.
    pub(super) ended: bool,
}

/// Ends an output from another thread, while its own may be blocked in a write.
#[derive(Debug)]
pub struct OutputRescue {
    /// `None` if it is not a file.
    pub(super) file: Option<(File, PathBuf)>,
    pub(super) complete: Arc<Mutex<WrittenFrames>>,
}

impl OutputRescue {
    /// Keeps the part up to the last whole frame, as [`OutputFile::abandon`](super::OutputFile::abandon) does. Later writes fail.
    ///
    /// # Errors
    /// If the file is no longer there, or cannot be cut.
    pub fn end(&self) -> Result<PartialOutput, DiskError> {
        let WrittenFrames { bytes, frames, .. } = {
            let mut complete = lock(&self.complete);
            complete.ended = true;
            *complete
        };
        let Some((file, name)) = &self.file else {
            return Ok(PartialOutput { partial: None, frames: Some(frames) });
        };
        let io = |cause| DiskError::Io { name: name.display().to_string(), cause };
        match still_there(file, name) {
            false => Err(io(gone(name))),
            true if frames == 0 => {
                std::fs::remove_file(name).map_err(io)?;
                Ok(PartialOutput { partial: None, frames: Some(0) })
            }
            true => {
                file.set_len(bytes).map_err(io)?;
                Ok(PartialOutput { partial: Some(name.clone()), frames: Some(frames) })
            }
        }
    }
}
