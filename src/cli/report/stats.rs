//! The speed of rendering and its display.

use grainfield_render::session::FrameDone;
use std::time::Duration;

/// A number of frames, and the time at which it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgressStats {
    pub(super) step: FrameDone,
    pub(super) elapsed: Duration,
}

impl ProgressStats {
    /// Frames a second since the start.
    pub(super) fn fps(&self) -> f64 {
        per(self.step.done as f64, self.elapsed)
    }

    /// Seconds of output made in a second: 1 is real time.
    pub(super) fn speed(&self) -> f64 {
        per(self.step.out_time.to_f64(), self.elapsed)
    }

    /// Microseconds of output made.
    pub(super) fn out_time_us(&self) -> i64 {
        let t = self.step.out_time;
        let us = i128::from(t.num()) * 1_000_000 / i128::from(t.den());
        i64::try_from(us).unwrap_or(i64::MAX)
    }

    /// The remaining time at the present speed, if it is known.
    pub(super) fn eta(&self) -> Option<Duration> {
        let left = self.step.total?.checked_sub(self.step.done + self.step.failed)?;
        let fps = self.fps();
        if fps > 0.0 { Duration::try_from_secs_f64(left as f64 / fps).ok() } else { None }
    }
}

fn per(what: f64, elapsed: Duration) -> f64 {
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 { what / seconds } else { 0.0 }
}

/// `0:07`, `12:34`, `1:02:03`.
pub(super) fn clock(d: Duration) -> String {
    let s = d.as_secs();
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// Three significant digits: `0.031`, `1.72`, `24.0`, `312`.
pub(super) fn short(x: f64) -> String {
    match x {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x if x >= 0.1 || x == 0.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use grainfield_filters::ratio::Ratio;

    /// 48 of 100 frames of 24 a second, made in 4 seconds.
    pub(in super::super) fn sample() -> ProgressStats {
        let step = FrameDone {
            done: 48,
            failed: 0,
            total: Some(100),
            number: 1048,
            out_time: Ratio::whole(2),
            left_out: false,
        };
        ProgressStats { step, elapsed: Duration::from_secs(4) }
    }

    #[test]
    fn figures() {
        let f = sample();
        assert_eq!((f.fps(), f.speed(), f.out_time_us()), (12.0, 0.5, 2_000_000));
        assert_eq!(f.eta().map(|d| d.as_millis()), Some(4333));
        let start = ProgressStats { elapsed: Duration::ZERO, ..f };
        assert_eq!((start.fps(), start.speed(), start.eta()), (0.0, 0.0, None));
    }

    #[test]
    fn numbers_are_short() {
        let all = [
            (0.0, "0.00"),
            (0.031, "0.031"),
            (1.724, "1.72"),
            (24.0, "24.0"),
            (99.96, "100"),
            (312.4, "312"),
        ];
        for (x, text) in all {
            assert_eq!(short(x), text);
        }
        assert_eq!(clock(Duration::from_secs(7)), "0:07");
        assert_eq!(clock(Duration::from_secs(754)), "12:34");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
