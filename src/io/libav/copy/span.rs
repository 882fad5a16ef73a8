//! The rendered part of the input's time.

use ffmpeg_next::Rescale;
use ffmpeg_sys_next::AVRational;

/// The part of the input's time that is written. Times are in ticks of the filtered stream.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) base: AVRational,
    /// The first picture's time, if earlier packets are left out.
    pub(crate) first: Option<i64>,
    /// The end of the last picture, if later packets are left out.
    pub(crate) end: Option<i64>,
    /// The offset subtracted from all times.
    pub(crate) shift: i64,
    pub(crate) cuts: CutTimes,
}

impl Span {
    pub(crate) fn first_in(&self, base: AVRational) -> Option<i64> {
        self.first.map(|t| t.rescale(self.base, base))
    }

    pub(crate) fn end_in(&self, base: AVRational) -> Option<i64> {
        self.end.map(|t| t.rescale(self.base, base))
    }

    /// The time in the output for one of the input.
    pub(crate) fn output_time(&self, time: i64, base: AVRational) -> i64 {
        let removed = self.cuts.removed(time, |t| t.rescale(self.base, base));
        time.saturating_sub(removed).saturating_sub(self.shift.rescale(self.base, base))
    }

    /// The number of cuts that begin before a time, and whether it is in one.
    pub(crate) fn cuts_before(&self, time: i64, base: AVRational) -> (usize, bool) {
        let count = self.cuts.0.partition_point(|cut| cut.from.rescale(self.base, base) <= time);
        let inside = count > 0 && time < self.cuts.0[count - 1].to.rescale(self.base, base);
        (count, inside)
    }

    /// Whether all of the input is written, as far as is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.first.is_none() && self.end.is_none() && self.cuts.0.is_empty()
    }

    /// The parts of a time that are written.
    pub(crate) fn kept(&self, from: i64, to: i64, base: AVRational) -> Vec<(i64, i64)> {
        let mut from = self.first_in(base).map_or(from, |first| from.max(first));
        let to = self.end_in(base).map_or(to, |end| to.min(end));
        let ticks = |time: i64| time.rescale(self.base, base);
        let passed = self.cuts.0.partition_point(|cut| ticks(cut.to) <= from);
        let mut kept = Vec::new();
        for cut in self.cuts.0[passed..].iter().take_while(|cut| ticks(cut.from) < to) {
            kept.push((from, ticks(cut.from)));
            from = ticks(cut.to);
        }
        kept.push((from, to));
        kept.retain(|(from, to)| from < to);
        kept
    }
}

/// What is left out between pictures, ascending. The rest is written without a gap.
#[derive(Clone, Default, Debug)]
pub(crate) struct CutTimes(Vec<CutTime>);

/// From the end of a picture to the beginning of the next.
#[derive(Clone, Copy, Debug)]
struct CutTime {
    from: i64,
    to: i64,
    /// What the cuts before it remove.
    before: i64,
}

impl CutTimes {
    /// Adds one after the others.
    pub(crate) fn push(&mut self, from: i64, to: i64) {
        let before = self.0.last().map_or(0, |cut| cut.before.saturating_add(cut.to - cut.from));
        self.0.push(CutTime { from, to, before });
    }

    /// How much is removed before a time, in whose ticks `ticks` gives times of cuts; in a cut, up to that time.
    pub(crate) fn removed(&self, time: i64, ticks: impl Fn(i64) -> i64) -> i64 {
        let count = self.0.partition_point(|cut| ticks(cut.from) < time);
        let last = count.checked_sub(1).map(|i| self.0[i]);
        last.map_or(0, |cut| ticks(cut.before) + ticks(cut.to).min(time) - ticks(cut.from))
    }
}
