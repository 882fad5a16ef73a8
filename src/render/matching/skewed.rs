//! Fits the setting `skew`.

use super::fit::Curve;
use grainfield_measure::residual::{BINS, PlaneGrain};

/// Settings below this are not visible.
const LEAST: f64 = 0.05;
/// The number of standard deviations from which skewness is not due to chance.
const CERTAIN: f64 = 5.0;

/// The skewness of grain over twice the slope of its strength, and the standard deviation of that by chance.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Skewness {
    /// The least squares over all brightnesses; 0 if no slope is known.
    pub(super) value: f64,
    /// Infinite if no slope is known.
    pub(super) error: f64,
}

impl Skewness {
    pub(super) fn measured(plane: &PlaneGrain, curve: &Curve) -> Skewness {
        let alike = plane.alike();
        let (mut products, mut squares) = (0.0, 0.0);
        for i in (0..BINS).filter(|&i| plane.bins[i].counts()) {
            if let Some((skewness, variance)) = plane.skewness(i) {
                let (wanted, weight) = (2.0 * curve.slope(PlaneGrain::middle(i)), 1.0 / (variance * alike));
                products += weight * wanted * skewness;
                squares += weight * wanted * wanted;
            }
        }
        let value = if squares > 0.0 { products / squares } else { 0.0 };
        Skewness { value, error: 1.0 / squares.sqrt() }
    }

    /// The setting that a plate has, where grain rendered with `set` has the skewness `rendered`; `None` if it may well be 0.
    pub(super) fn setting(self, set: f64, rendered: Skewness) -> Option<f64> {
        let wanted = set + self.value - rendered.value;
        (wanted >= LEAST && wanted > CERTAIN * self.error.hypot(rendered.error)).then_some(wanted.min(10.0))
    }
}
