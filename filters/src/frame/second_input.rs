//! Second inputs of a chain: pictures beside the source.

use super::{Format, Frame};
use crate::ratio::Ratio;
use std::sync::Arc;

/// A picture, an image sequence or a video beside the source: a mask, an overlay, a clean plate. The host opens it;
/// filters read it while a frame is prepared.
pub trait SecondInput: Send + Sync {
    /// The format of its pictures, which may differ in their tags. The host may open it only now.
    ///
    /// # Errors
    /// It cannot be read; the text names the file and the problem.
    fn format(&self) -> Result<Format, String>;

    /// The time at which its last picture ends, in seconds since its first; `None` for a single picture. The pictures of
    /// an image sequence follow at `rate`, which is that of the source.
    fn end(&self, rate: Ratio) -> Option<Ratio>;

    /// The place of the picture that is shown at a time in seconds since the first: the last that has begun. Before the
    /// first it is the first, after the end the last.
    fn place(&self, time: Ratio, rate: Ratio) -> i64;

    /// The first and the last place of an image sequence, which are the numbers of its files.
    fn numbers(&self) -> Option<(i64, i64)> {
        None
    }

    /// The picture at a place.
    ///
    /// # Errors
    /// It cannot be read; the text names the file and the problem.
    fn picture(&self, place: i64) -> Result<Arc<Frame>, String>;
}

/// A single picture.
impl SecondInput for Arc<Frame> {
    fn format(&self) -> Result<Format, String> {
        Ok(*Frame::format(self))
    }

    fn end(&self, _: Ratio) -> Option<Ratio> {
        None
    }

    fn place(&self, _: Ratio, _: Ratio) -> i64 {
        0
    }

    fn picture(&self, _: i64) -> Result<Arc<Frame>, String> {
        Ok(Arc::clone(self))
    }
}
