//! Grain that has more bright than dark excursions, or the reverse.

use super::{Grain, Look, Space, Sum};
use crate::pixel::grain::Skew;

/// The brightness on both sides of a place over which the slope of the strength is taken; enough for the slope of a
/// piecewise linear curve to be continuous to the eye.
const SLOPE: f64 = 1.0 / 64.0;

impl Grain {
    /// How grain of a plane is skewed: by twice the slope of its strength.
    pub(super) fn skew_of(&self, look: &Look, p: usize, strength: f64, skew: f64) -> Option<Skew> {
        if skew == 0.0 || self.format.is_chroma(p) || self.plate.is_some() {
            return None;
        }
        let sum = Sum::new(look, p);
        let span = if self.format.full_range() { 255.0 } else { 219.0 };
        let itself = self.space == Space::Linear;
        let wanted = |u: f64| {
            let (light, slope) = if itself { (u, 1.0) } else { (self.space.light(u), self.space.slope(u)) };
            strength * sum.strength / span * self.curve.at(light) * slope
        };
        let skewness = |u: f64| {
            let (low, high) = ((u - SLOPE).max(0.0), (u + SLOPE).min(1.0));
            2.0 * skew * (wanted(high) - wanted(low)) / (high - low)
        };
        Some(Skew::new(skewness, sum.deviation))
    }
}
