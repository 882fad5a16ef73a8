//! The number of a frame from the host's time.
//!
//! frei0r says seconds. FFmpeg to version 7 gives milliseconds, and no host says its rate. With the rate known, time x rate
//! is the number in seconds, and a thousand times it in milliseconds: the first frame after the first tells.

use grainfield_filters::ratio::Ratio;
use host_kit::params::Clock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a time rounded to milliseconds may lie from its frame's, in thousandths of a frame.
const NEAR: f64 = 30.0;

/// Whether this process's host was seen to count seconds.
static SECONDS: AtomicBool = AtomicBool::new(false);

/// The number of the frame at the host's time. Without a rate, one for each millisecond.
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

/// Whether milliseconds are out of the question: they lie near multiples of a thousand.
fn is_seconds(frames: f64) -> bool {
    let beyond = frames.abs() % 1000.0;
    let near = beyond.min(1000.0 - beyond);
    // A frame's number in seconds, that is not 0.
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
            // As a mistake would have it: milliseconds are never taken for seconds.
            assert!(!is_seconds(rounded * 24000.0 / 1001.0) || n == 0, "{n}");
        }
        assert!(is_seconds(1.0) && is_seconds(2.0) && is_seconds(500.0) && !is_seconds(0.0));
        assert_eq!(number(1.5, None, Clock::Auto), 1500);
        assert_eq!(number(40.0, None, Clock::Milliseconds), 40);
        assert_eq!(number(f64::NAN, ntsc, Clock::Auto), 0);
    }
}
