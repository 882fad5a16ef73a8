//! The rendered part of the input's time.

use ffmpeg_next::Rescale;
use ffmpeg_sys_next::AVRational;

/// The part of the input's time that is written. Times are in ticks of the filtered stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) base: AVRational,
    /// The first picture's time, if earlier packets are left out.
    pub(crate) first: Option<i64>,
    /// The end of the last picture, if later packets are left out.
    pub(crate) end: Option<i64>,
    /// The offset subtracted from all times.
    pub(crate) shift: i64,
}

impl Span {
    pub(crate) fn first_in(&self, base: AVRational) -> Option<i64> {
        self.first.map(|t| t.rescale(self.base, base))
    }

    pub(crate) fn end_in(&self, base: AVRational) -> Option<i64> {
        self.end.map(|t| t.rescale(self.base, base))
    }

    pub(crate) fn shift_in(&self, base: AVRational) -> i64 {
        self.shift.rescale(self.base, base)
    }
}
