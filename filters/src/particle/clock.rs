//! Time in integer steps, so that births and ages are exact.

use crate::ratio::Ratio;

/// Steps of time per second. Frames of 24, 25, 30, 48, 50, 60, 90, 100, 120 a second and the same over 1.001 all
/// last a whole number of them, and so do milliseconds; the unit is known as the flick.
pub const FLICKS: i64 = 705_600_000;

/// The latest time, about 51 years; the earliest is its negative.
pub const LAST: i64 = 1 << 60;

/// The flick of a time, rounded up. Times beyond [`LAST`] are clamped to it.
pub fn flicks(time: Ratio) -> i64 {
    let scaled = i128::from(time.num()) * i128::from(FLICKS);
    let den = i128::from(time.den());
    let up = scaled.div_euclid(den) + i128::from(scaled.rem_euclid(den) != 0);
    up.clamp(-i128::from(LAST), i128::from(LAST)) as i64
}

/// Seconds, to the nearest `f32`, of an age of less than 2^51 flicks (36 days) either way.
///
/// The integer is put into the mantissa of a float, which any instruction set can do; both halves of the product are
/// exact, so it is rounded once to `f64` and once to `f32`, the same everywhere.
#[inline(always)]
pub fn seconds(age: i64) -> f32 {
    const MAGIC: i64 = 0x4338_0000_0000_0000; // 1.5 * 2^52
    let exact = f64::from_bits(MAGIC.wrapping_add(age) as u64) - f64::from_bits(MAGIC as u64);
    (exact * (1.0 / FLICKS as f64)) as f32
}

/// The flicks of a duration in seconds, rounded up and clamped to 0..=[`LAST`]; NaN gives 0.
pub fn length(seconds: f64) -> i64 {
    // `as` saturates and turns NaN into 0. An `f64` of this size is an integer or exact to well below a
    // flick.
    let up = seconds * FLICKS as f64;
    (up as i64).saturating_add(1).clamp(0, LAST) * i64::from(up > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_usual_rates_are_whole() {
        for n in [24, 25, 30, 48, 50, 60, 90, 100, 120, 1000] {
            assert_eq!(FLICKS % n, 0, "{n}");
        }
        for n in [24_000, 30_000, 48_000, 60_000, 120_000] {
            assert_eq!(FLICKS * 1001 % n, 0, "{n}/1001");
        }
        assert_eq!(flicks(Ratio::new(1001, 24_000).unwrap()), 29_429_400);
        assert_eq!(flicks(Ratio::new(-1, 3).unwrap()), -235_200_000);
        assert_eq!(flicks(Ratio::new(1, 705_600_001).unwrap()), 1);
        assert_eq!(flicks(Ratio::whole(i64::MAX)), LAST);
        assert_eq!(flicks(Ratio::whole(i64::MIN)), -LAST);
    }

    #[test]
    fn seconds_are_nearest() {
        for age in [0, 1, -1, FLICKS, -FLICKS, 29_429_400, (1 << 51) - 1, 1 - (1 << 51), 123_456_789_012] {
            assert_eq!(seconds(age), (age as f64 * (1.0 / FLICKS as f64)) as f32, "{age}");
        }
        assert_eq!(seconds(FLICKS), 1.0);
        assert_eq!(seconds(FLICKS / 4 * 3), 0.75);
    }

    #[test]
    fn a_length_is_never_short() {
        assert_eq!(length(0.0), 0);
        assert_eq!(length(-1.0), 0);
        assert_eq!(length(f64::NAN), 0);
        assert_eq!(length(1.0), FLICKS + 1);
        assert_eq!(length(f64::INFINITY), LAST);
        for s in [0.1f32, 1.6, 3.3, 1e5] {
            assert!(seconds(length(f64::from(s))) >= s);
        }
    }
}
