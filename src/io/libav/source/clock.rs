//! Exact presentation times of frames.
//!
//! Containers round timestamps to their ticks, so the same frames have slightly different times in each. A frame whose
//! timestamp is within a tick of `n / rate` gets exactly that time, so that filters see the same times from every
//! container, a pipe or y4m. Other timestamps are used unchanged. The decision depends only on the frame and the head
//! of the input, so it is the same when decoding begins in the middle.

use grainfield_filters::ratio::Ratio;

/// The clock of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Seconds per tick of its timestamps.
    pub(super) tick: Ratio,
    /// Timestamp of frame 0.
    pub(super) first: i64,
    /// Ticks per frame, rounded; at least 1.
    pub(super) step: i64,
    /// Seconds per frame.
    frame: Ratio,
    /// The largest deviation of a timestamp from `n / rate`.
    slack: Ratio,
}

impl Clock {
    /// `rate`: frames per second, above zero.
    pub(super) fn new(tick: Ratio, first: i64, rate: Ratio) -> Clock {
        let frame = rate.recip().unwrap_or(Ratio::ONE);
        // A tick may be as long as a frame, and a missing frame must be noticed.
        let slack = tick.min(frame * Ratio::HALF);
        let clock = Clock { tick, first, step: 1, frame, slack };
        Clock { step: clock.ticks(1).max(1), ..clock }
    }

    /// The same for the first timestamp that a frame has, of those in order.
    pub(super) fn beginning(self, times: impl Iterator<Item = Option<i64>>) -> Clock {
        let first = (0..).zip(times).find_map(|(n, t)| Some(t?.saturating_sub(self.ticks(n))));
        Clock { first: first.unwrap_or(self.first), ..self }
    }

    /// The clock of frames of which `each` follow from one of these, with other ticks. Its times have been rounded to the
    /// ticks of this one.
    pub(super) fn divided(self, each: i64, tick: Ratio) -> Clock {
        let frame = self.frame * Ratio::new(1, each).unwrap_or(Ratio::ONE);
        let first = (Ratio::whole(self.first) * self.tick).checked_div(tick).map_or(self.first, Ratio::floor);
        let slack = self.slack.min(frame * Ratio::HALF);
        let clock = Clock { tick, first, step: 1, frame, slack };
        Clock { step: clock.ticks(1).max(1), ..clock }
    }

    /// The timestamp of frame `n` if it has none; `last` is that of the frame before.
    pub(super) fn guess(&self, n: i64, last: Option<i64>) -> i64 {
        let step = self.ticks(n).saturating_sub(self.ticks(n.saturating_sub(1)));
        last.map_or(self.first, |last| last.saturating_add(step.max(1)))
    }

    /// The duration of `n` frames, rounded.
    fn ticks(&self, n: i64) -> i64 {
        (Ratio::whole(n) * self.frame).checked_div(self.tick).map_or(n, |t| (t + Ratio::HALF).floor())
    }

    /// Seconds from frame 0 to a timestamp, unrounded.
    pub(super) fn seconds(&self, pts: i64) -> Ratio {
        self.span(pts.saturating_sub(self.first))
    }

    fn span(&self, ticks: i64) -> Ratio {
        // Timestamps beyond this limit are meaningless, and must not overflow.
        const MOST: i64 = 1 << 52;
        Ratio::whole(ticks.clamp(-MOST, MOST)) * self.tick
    }

    /// The deviation of a timestamp from `n / rate`.
    fn deviation(&self, n: i64, pts: i64) -> Ratio {
        let off = self.seconds(pts) - Ratio::whole(n) * self.frame;
        off.max(Ratio::ZERO - off)
    }

    /// Whether frame `n` with that timestamp gets the time `n / rate`.
    pub(super) fn is_regular(&self, n: i64, pts: i64) -> bool {
        self.deviation(n, pts) <= self.slack
    }

    /// Time and duration of frame `n` in seconds, from its timestamp and its duration in ticks.
    pub(super) fn time_and_duration(&self, n: i64, pts: i64, ticks: i64) -> (Ratio, Ratio) {
        if !self.is_regular(n, pts) {
            return (self.seconds(pts), self.span(ticks));
        }
        // Both ends have been rounded.
        let even = self.deviation(n.saturating_add(1), pts.saturating_add(ticks)) < self.slack + self.slack;
        (Ratio::whole(n) * self.frame, if even { self.frame } else { self.span(ticks) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(n: i64, d: i64) -> Ratio {
        Ratio::new(n, d).unwrap()
    }

    #[test]
    fn rounded_times_are_exact_and_others_are_kept() {
        let rate = ratio(24000, 1001);
        let frame = ratio(1001, 24000);
        for (den, first) in [(1000, 0), (1000, 21), (90000, 133_508), (90000, -7), (24000, 0)] {
            let clock = Clock::new(ratio(1, den), first, rate);
            for n in [0, 1, 2, 3, 1000, 99_999, 10_000_000] {
                let exact = |n: i64| n as f64 * 1001.0 / 24000.0 * den as f64;
                for round in [f64::round, f64::floor, f64::ceil] {
                    let (pts, next) = (round(exact(n)) as i64, round(exact(n + 1)) as i64);
                    let shown = clock.time_and_duration(n, first + pts, next - pts);
                    assert_eq!(shown, (Ratio::whole(n) * frame, frame), "{n} of 1/{den} s");
                }
            }
            let late = 5 * den / 1000 + 50;
            let kept = clock.time_and_duration(3, first + late, 7);
            assert_eq!(kept, (ratio(late, den), ratio(7, den)), "1/{den} s");
        }
    }

    #[test]
    fn a_frame_left_out_is_seen_where_a_tick_is_a_frame() {
        let clock = Clock::new(ratio(1, 25), 0, Ratio::whole(25));
        assert_eq!(clock.time_and_duration(3, 3, 1), (ratio(3, 25), ratio(1, 25)));
        assert_eq!(clock.time_and_duration(3, 3, 2), (ratio(3, 25), ratio(2, 25)));
        assert_eq!(clock.time_and_duration(4, 5, 1), (ratio(5, 25), ratio(1, 25)));
    }
}
