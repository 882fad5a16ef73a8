//! Skewed grain: near black more bright than dark excursions, near white the reverse.
//!
//! Grain that is counted (discs, crystals, photons: every natural exponential family) has a third cumulant of V dV/du, V
//! being the variance at mean u. So its skewness is twice the slope of the strength, and follows from the curve alone. A
//! number z of variance 1 becomes
//!
//! `(z + s (z^2 - 1)) / sqrt(1 + 2 s^2)`, of mean 0, variance 1 and skewness `(6 s + 8 s^3) / (1 + 2 s^2)^1.5` for normal z.
//!
//! z is clamped at the extremum, 1/2s away: 1.7 deviations or more, as the lightest grain of film, none at all,
//! holds the darkest shadows. That changes mean and variance by less than a hundredth of a deviation.

use crate::simd::{Level, multiversion};

/// Places of u.
const PLACES: usize = 4096;
/// The most of s.
const MOST: f64 = 0.3;
/// Samples per iteration.
const BLOCK: usize = 256;

type Part = [f32; 4];

/// How n is skewed at each brightness.
#[derive(Clone, PartialEq, Debug)]
pub struct Skew {
    /// For each u / 16: s, what the sum is multiplied by, and where z is clamped; and padding.
    parts: Box<[Part; PLACES]>,
    /// The standard deviation of n.
    deviation: f32,
}

impl Skew {
    /// From the skewness at u (0 to 1), and the standard deviation of n.
    pub fn new(skewness: impl Fn(f64) -> f64, deviation: f64) -> Skew {
        let mut parts = Box::new([[0.0; 4]; PLACES]);
        let deviation = deviation as f32;
        for (i, part) in parts.iter_mut().enumerate() {
            let s = part_of(skewness(i as f64 / (PLACES - 1) as f64)) as f32;
            *part = [s, deviation / (1.0 + 2.0 * s * s).sqrt(), -0.5 / s, 0.0];
        }
        Skew { parts, deviation }
    }

    /// Skews a row of n, where `of` says u of `light`. Panics when there is less light than n.
    pub fn apply<T: Copy>(&self, level: Level, n: &mut [i16], light: &[T], of: impl Fn(T) -> u16) {
        let light = &light[..n.len()];
        let mut parts = [[0.0; 4]; BLOCK];
        for (n, light) in n.chunks_mut(BLOCK).zip(light.chunks(BLOCK)) {
            let parts = &mut parts[..n.len()];
            for (part, &v) in parts.iter_mut().zip(light) {
                *part = self.parts[usize::from(of(v) >> 4)];
            }
            rows(level, n, parts, 1.0 / self.deviation);
        }
    }
}

/// The s of a skewness, by Newton's method: from below, since skewness bends downwards.
fn part_of(skewness: f64) -> f64 {
    let wanted = skewness.abs();
    let mut s = wanted / 6.0;
    for _ in 0..4 {
        let all = 1.0 + 2.0 * s * s;
        let (made, slope) =
            ((6.0 * s + 8.0 * s * s * s) / (all * all.sqrt()), 6.0 / (all * all * all.sqrt()));
        s = (s + (wanted - made) / slope).min(MOST);
    }
    s.copysign(skewness)
}

/// Adding 1.5 * 2^23 rounds to a whole number, which is in the low bits then.
const ROUND: f32 = 12_582_912.0;

#[inline(always)]
fn rows_body(n: &mut [i16], parts: &[Part], inverse: f32) {
    for (n, &[s, scale, hold, _]) in n.iter_mut().zip(parts) {
        let z = f32::from(*n) * inverse;
        // 2 s z + 1 is the slope, which is 0 where z is held.
        let turned = 2.0 * s * z < -1.0;
        let z = if turned { hold } else { z };
        let v = (z + s * (z * z - 1.0)) * scale;
        *n = (v.clamp(-32767.0, 32767.0) + ROUND).to_bits() as i16;
    }
}

multiversion! {
    fn rows(level, n: &mut [i16], parts: &[Part], inverse: f32) = rows_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seed::mix64;

    /// The same in f64 and plain words.
    fn slow(n: i16, s: f64, deviation: f64) -> f64 {
        let z = f64::from(n) / deviation;
        let z = if 2.0 * s * z < -1.0 { -0.5 / s } else { z };
        deviation * (z + s * (z * z - 1.0)) / (1.0 + 2.0 * s * s).sqrt()
    }

    #[test]
    fn levels_agree_and_are_near_the_formula() {
        for skewness in [-9.0, -0.7, 0.0, 0.02, 0.5, 3.0] {
            let skew = Skew::new(|u| skewness * (1.0 - u), 1650.0);
            let made: Vec<i16> = (0..2001).map(|i| mix64(i) as i16 / 3).collect();
            let light = |i: u64| mix64(i + 77) as u16;
            let fast: Vec<Vec<i16>> = Level::available()
                .iter()
                .map(|&level| {
                    let mut n = made.clone();
                    skew.apply(level, &mut n, &(0..2001).map(light).collect::<Vec<u16>>(), |u| u);
                    n
                })
                .collect();
            let first = fast[0].clone();
            for fast in &fast {
                assert!(*fast == first);
                for (i, (&n, &got)) in made.iter().zip(fast).enumerate() {
                    let s = part_of(skewness * (1.0 - f64::from(light(i as u64) >> 4) / 4095.0));
                    let want = slow(n, s, 1650.0).clamp(-32767.0, 32767.0);
                    assert!((f64::from(got) - want).abs() < 0.51, "{skewness} {n}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn the_skewness_is_what_was_asked_for() {
        for wanted in [-1.5, -0.9, -0.1, 0.0, 0.3, 0.7, 1.2, 1.56] {
            let s = part_of(wanted);
            let made = (6.0 * s + 8.0 * s.powi(3)) / (1.0 + 2.0 * s * s).powf(1.5);
            assert!((made - wanted).abs() < 0.002, "{wanted}: {made}");
        }
        assert_eq!([part_of(9.0), part_of(-9.0)], [MOST, -MOST]);
    }

    #[test]
    fn order_is_kept() {
        for skewness in [-1.0, 0.4, 1.0] {
            let skew = Skew::new(|_| skewness, 1000.0);
            let mut n: Vec<i16> = (-6000..6000).collect();
            skew.apply(Level::best(), &mut n, &[9; 12_000], |u| u);
            assert!(n.windows(2).all(|w| w[0] <= w[1]), "{skewness}");
        }
    }
}
