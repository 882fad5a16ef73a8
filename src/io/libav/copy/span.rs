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
    /// What is left out in between: ends of pictures and beginnings of the next, ascending. The rest is written without
    /// a gap.
    pub(crate) cuts: Vec<(i64, i64)>,
}

impl Span {
    pub(crate) fn first_in(&self, base: AVRational) -> Option<i64> {
        self.first.map(|t| t.rescale(self.base, base))
    }

    pub(crate) fn end_in(&self, base: AVRational) -> Option<i64> {
        self.end.map(|t| t.rescale(self.base, base))
    }

    /// The time that is written for one of the input; that of the cut for all that is cut out.
    pub(crate) fn written(&self, time: i64, base: AVRational) -> i64 {
        let cuts = self.cuts_in(base).take_while(|(from, _)| *from < time);
        let cut: i64 = cuts.map(|(from, to)| to.min(time) - from).sum();
        time.saturating_sub(cut).saturating_sub(self.shift.rescale(self.base, base))
    }

    /// The number of cuts that begin before a time, and whether it is in one.
    pub(crate) fn cuts_before(&self, time: i64, base: AVRational) -> (usize, bool) {
        let mut before = self.cuts_in(base).take_while(|(from, _)| *from <= time);
        let (mut count, mut inside) = (0, false);
        for (_, to) in &mut before {
            (count, inside) = (count + 1, time < to);
        }
        (count, inside)
    }

    fn cuts_in(&self, base: AVRational) -> impl Iterator<Item = (i64, i64)> {
        let to = move |t: i64, from: AVRational| t.rescale(from, base);
        self.cuts.iter().map(move |&(from, until)| (to(from, self.base), to(until, self.base)))
    }
}
