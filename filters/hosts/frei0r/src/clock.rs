//! Computes the number of a frame from the host's time.
//!
//! frei0r specifies seconds. FFmpeg up to version 7 passes milliseconds, and no host passes its rate. With a known
//! rate, time x rate is the number if the unit is seconds, and a thousand times the number if it is milliseconds: the
//! second frame distinguishes the two.

use grainfield_filters::ratio::Ratio;
use host_kit::params::Clock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest deviation of a time rounded to milliseconds from that of its frame, in thousandths of a frame.
const NEAR: f64 = 30.0;

/// Whether the host of this process was found to use seconds.
static SECONDS: AtomicBool = AtomicBool::new(false);

/// The number of the frame at the host's time. Without a rate, each millisecond is a frame.
pub(crate) fn number(time: f64, rate: Option<Ratio>, clock: Clock) -> i64 {
    if !time.is_finite() {
        return 0;
    }
    let Some(rate) = rate else {
        let scale = if clock == Clock::Milliseconds { 1.0 } else { 1000.0 };
        return (time * scale).round() as i64;
    };
    let frames = time * rate.num() as f64 / rate.den() as f64;
    let seconds = match clock {
        Clock::Seconds => true,
        Clock::Milliseconds => false,
        Clock::Auto => {
            if is_seconds(frames) {
                SECONDS.store(true, Ordering::Relaxed);
            }
            SECONDS.load(Ordering::Relaxed)
        }
    };
    (if seconds { frames } else { frames / 1000.0 }).round() as i64
}

/// Whether the unit cannot be milliseconds, whose values are near multiples of a thousand.
fn is_seconds(frames: f64) -> bool {
    let beyond = frames.abs() % 1000.0;
    let near = beyond.min(1000.0 - beyond);
    // A frame's number in seconds other than 0.
    let small = (0.5..1000.0 - NEAR).contains(&frames.abs());
    small || near > NEAR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_give_the_number() {
        let ntsc = Ratio::new(24000, 1001);
        for n in [0, 1, 2, 23, 999, 1000, 86_399] {
            let seconds = n as f64 * 1001.0 / 24000.0;
            let rounded = (seconds * 1000.0).round();
            assert_eq!(number(seconds, ntsc, Clock::Seconds), n);
            assert_eq!(number(rounded, ntsc, Clock::Milliseconds), n);
            // The opposite error must not occur: milliseconds taken for seconds.
            assert!(!is_seconds(rounded * 24000.0 / 1001.0) || n == 0, "{n}");
        }
        assert!(is_seconds(1.0) && is_seconds(2.0) && is_seconds(500.0) && !is_seconds(0.0));
        assert_eq!(number(1.5, None, Clock::Auto), 1500);
        assert_eq!(number(40.0, None, Clock::Milliseconds), 40);
        assert_eq!(number(f64::NAN, ntsc, Clock::Auto), 0);
    }
}
