//! When a picture is.

use crate::ratio::Ratio;

/// The place of a picture in its source. All that a filter may know of time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Moment {
    /// Keys random numbers, and nothing else: the frame's number, or for fields 2n and 2n+1 in order of time.
    pub index: i64,
    /// The frame's own number, for curves whose keys are frames; a second field is half a frame later.
    pub frame: Ratio,
    /// Exact seconds since the source's first frame (never a range's), for curves whose keys are times.
    pub time: Ratio,
}

impl Moment {
    /// Frame `number` of a source of constant `rate` whose first frame is number 0.
    pub fn of_frame(number: i64, rate: Ratio) -> Moment {
        let frame = Ratio::whole(number);
        Moment { index: number, frame, time: frame.checked_div(rate).unwrap_or(Ratio::ZERO) }
    }
}
