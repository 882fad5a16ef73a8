//! Frames of the source around the one that is filtered.

use super::{Format, Frame};
use crate::host::PrepareError;
use std::sync::Arc;

/// The frames of the source, for filters that read the frames around each frame. The host supplies them: see
/// [`Values::supply_source`](crate::settings::Values::supply_source).
pub trait SourceFrames: Send + Sync + core::fmt::Debug {
    /// The format of all frames: that of the chain's input.
    fn format(&self) -> &Format;

    /// The frame with a number of [`FrameTime`](super::FrameTime); `None` if the source has none with this number.
    ///
    /// # Errors
    /// It cannot be read (the text names the source and the problem), or the host has cancelled.
    fn frame(&self, number: i64) -> Result<Option<Arc<Frame>>, PrepareError>;
}
