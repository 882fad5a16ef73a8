//! The time of a picture.

use super::PictureStructure;
use crate::ratio::Ratio;

/// The position of a picture in its source. A filter must not use any other time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameTime {
    /// The number of the picture, from which random numbers follow: that of the frame; for its fields 2n and 2n+1
    /// in order of time.
    pub index: i64,
    /// The number of the frame, for curves with keys in frames; a second field is half a frame later.
    pub frame: Ratio,
    /// Exact seconds since the source's first frame (not since the first frame of a range), for curves with
    /// keys in seconds.
    pub time: Ratio,
    /// Seconds since the start of the frame: half its duration for a second field, else zero.
    pub late: Ratio,
}

impl FrameTime {
    /// Frame `number` of a source of constant `rate` whose first frame is number 0.
    pub fn of_frame(number: i64, rate: Ratio) -> FrameTime {
        let frame = Ratio::whole(number);
        FrameTime::of_time(number, frame.checked_div(rate).unwrap_or(Ratio::ZERO))
    }

    /// Frame `number`, shown at `time`.
    pub const fn of_time(number: i64, time: Ratio) -> FrameTime {
        FrameTime { index: number, frame: Ratio::whole(number), time, late: Ratio::ZERO }
    }

    /// The time of the whole frame, at which both fields evaluate curves that they must agree on.
    pub fn whole_frame(&self) -> FrameTime {
        FrameTime {
            frame: Ratio::whole(self.frame.floor()),
            time: self.time - self.late,
            late: Ratio::ZERO,
            ..*self
        }
    }

    /// The number of the frame, and the picture within it: 0, or 1 for a second field.
    pub const fn split(&self, picture: PictureStructure) -> (i64, i64) {
        (self.index.div_euclid(picture.per_frame()), self.index.rem_euclid(picture.per_frame()))
    }
}
