//! Value noise in time: random values at integer positions, and interpolation between them.

use super::seed::{Layer, key};

/// The interpolation between two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// Each value is held until the next.
    Step,
    /// Along a cubic through the values (Catmull and Rom).
    Smooth,
}

/// Value noise, a function of position and part only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueNoise {
    seed: u64,
    layer: Layer,
    interpolation: Interpolation,
}

/// A nearly normal number from a hash: the sum of its four 16-bit words, centred, with a deviation of 1 (to 2^-32) and
/// a bound of sqrt(12) = 3.46.
pub fn normal(hash: u64) -> f64 {
    let sum: u64 = (0..4).map(|i| hash >> (16 * i) & 0xffff).sum();
    // The variance of four words is (65536^2 - 1) / 3.
    (sum as f64 - 131_070.0) / (65536.0 * ROOT)
}

/// sqrt(1/3).
const ROOT: f64 = 0.577_350_269_189_625_8;

/// A number from 0 to 1, excluding 1.
pub fn uniform(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

impl ValueNoise {
    /// Value noise of a seed; two layers are independent.
    pub const fn new(seed: u64, layer: Layer, interpolation: Interpolation) -> ValueNoise {
        ValueNoise { seed, layer, interpolation }
    }

    /// The hash at the integer position `k`.
    pub const fn hash(&self, k: i64, part: u32) -> u64 {
        key(self.seed, k, self.layer.plane(0), part)
    }

    /// The value at a position. At integer positions the deviation is 1; different parts (coordinates) are
    /// independent. NaN counts as position 0.
    pub fn value(&self, place: f64, part: u32) -> f64 {
        let whole = libm::floor(place);
        let (k, f) = (whole as i64, if place.is_finite() { place - whole } else { 0.0 });
        let v = |d: i64| normal(self.hash(k.wrapping_add(d), part));
        if self.interpolation == Interpolation::Step || f == 0.0 {
            return v(0);
        }
        let (a, b, c, d) = (v(-1), v(0), v(1), v(2));
        b + 0.5 * f * (c - a + f * (2.0 * a - 5.0 * b + 4.0 * c - d + f * (3.0 * (b - c) + d - a)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_normal_and_independent() {
        let w = ValueNoise::new(7, Layer::EXPOSURE, Interpolation::Step);
        let n = 40_000;
        let values: Vec<f64> = (0..n).map(|k| w.value(f64::from(k), 0)).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let var = values.iter().map(|v| v * v).sum::<f64>() / f64::from(n);
        let next = values.windows(2).map(|p| p[0] * p[1]).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.02 && (var - 1.0).abs() < 0.03 && next.abs() < 0.02, "{mean} {var} {next}");
        assert!(values.iter().all(|v| v.abs() < 3.47));
        assert_ne!(w.value(3.0, 0), w.value(3.0, 1));
        assert_ne!(w.value(3.0, 0), ValueNoise::new(7, Layer::WEAVE, Interpolation::Step).value(3.0, 0));
    }

    #[test]
    fn smooth_goes_through_the_values_without_jumps() {
        let step = ValueNoise::new(1, Layer::EXPOSURE, Interpolation::Step);
        let smooth = ValueNoise::new(1, Layer::EXPOSURE, Interpolation::Smooth);
        for k in -20..20 {
            let k = f64::from(k);
            assert_eq!(step.value(k, 0), smooth.value(k, 0));
            assert_eq!(step.value(k + 0.9, 0), step.value(k, 0));
            let (before, after) = (smooth.value(k - 1e-9, 0), smooth.value(k + 1e-9, 0));
            assert!((before - after).abs() < 1e-7, "{k}");
        }
        for odd in [f64::NAN, f64::INFINITY, -1e300, 1e300] {
            assert!(smooth.value(odd, 0).is_finite());
        }
    }
}
