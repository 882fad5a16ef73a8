//! Density bounds of segments, windows of segments and the whole array.

use core::fmt;

/// Bounds of density, as fractions of the slots in 0..=1.
///
/// A window of `2^l` segments in an array of `2^h` has bounds that are interpolated linearly between those of a
/// segment (`tau0`, `rho0`) and those of the whole array (`tauh`, `rhoh`), formulas 1 and 2 of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The upper bound of a segment.
    pub tau0: f64,
    /// The upper bound of the whole array; above it, the array is doubled.
    pub tauh: f64,
    /// The lower bound of the whole array; below it, the array is halved.
    pub rhoh: f64,
    /// The lower bound of a segment.
    pub rho0: f64,
}

/// Errors of bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundsError {
    /// They are not in the order `0 <= rho0 < rhoh < tauh < tau0 <= 1` (or one is not a number).
    Order(Bounds),
    /// `2 rhoh < tauh` does not hold: a doubled array would be below its lower bound.
    Doubling {
        /// The lower bound of the whole array.
        rhoh: f64,
        /// The upper bound of the whole array.
        tauh: f64,
    },
    /// `tauh` leaves a segment fewer than four elements.
    Sparse {
        /// The upper bound of the whole array.
        tauh: f64,
        /// Slots per segment.
        segment: usize,
    },
}

impl fmt::Display for BoundsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundsError::Order(b) => write!(
                f,
                "density bounds must satisfy 0 <= rho0 < rhoh < tauh < tau0 <= 1, but rho0 = {}, rhoh = {}, tauh = {}, tau0 = {}",
                b.rho0, b.rhoh, b.tauh, b.tau0
            ),
            BoundsError::Doubling { rhoh, tauh } => write!(
                f,
                "2 rhoh < tauh must hold, or a doubled array would at once be too empty: rhoh = {rhoh} needs a tauh above {}, but tauh = {tauh}",
                2.0 * rhoh
            ),
            BoundsError::Sparse { tauh, segment } => write!(
                f,
                "tauh = {tauh} leaves fewer than 4 elements in a segment of {segment} slots: it must be at least {}",
                4.0 / *segment as f64
            ),
        }
    }
}

impl core::error::Error for BoundsError {}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::PAPER
    }
}

impl Bounds {
    /// The bounds of the paper, which were good for all sizes in its measurements.
    pub const PAPER: Bounds = Bounds { tau0: 0.92, tauh: 0.7, rhoh: 0.3, rho0: 0.08 };

    /// Checks the order of the bounds, `2 rhoh < tauh`, and that a segment of `segment` slots holds enough
    /// elements.
    pub fn check(&self, segment: usize) -> Result<(), BoundsError> {
        let Bounds { tau0, tauh, rhoh, rho0 } = *self;
        // Written so that NaN fails.
        if !(0.0 <= rho0 && rho0 < rhoh && rhoh < tauh && tauh < tau0 && tau0 <= 1.0) {
            return Err(BoundsError::Order(*self));
        }
        if 2.0 * rhoh >= tauh {
            return Err(BoundsError::Doubling { rhoh, tauh });
        }
        if tauh * (segment as f64) < 4.0 {
            return Err(BoundsError::Sparse { tauh, segment });
        }
        Ok(())
    }

    /// The largest number of elements in `2^height` segments of `segment` slots.
    pub(super) fn most(&self, segment: usize, height: u32) -> usize {
        let whole = (self.tauh * (segment << height) as f64).floor() as usize;
        if height == 0 { whole } else { whole.min(((self.tau0 * segment as f64).floor() as usize) << height) }
    }

    /// (lower, upper) bound of windows of `2^level` segments in an array of `2^height`.
    pub fn at(&self, level: u32, height: u32) -> (f64, f64) {
        if height == 0 {
            return (self.rhoh, self.tauh);
        }
        // This form is exact at both ends.
        let down = f64::from(height - level) / f64::from(height);
        (self.rho0 * down + self.rhoh * (1.0 - down), self.tau0 * down + self.tauh * (1.0 - down))
    }
}

/// The bounds of each level as numbers of elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    low: Vec<usize>,
    high: Vec<usize>,
}

impl Limits {
    /// For `2^height` segments of `segment` slots.
    ///
    /// When the elements of a window within its bounds are distributed evenly, its segments must be within theirs,
    /// so the numbers are rounded to multiples of whole segments.
    pub(super) fn new(bounds: &Bounds, segment: usize, height: u32) -> Limits {
        let mut limits = Limits::default();
        for level in 0..=height {
            let slots = (segment << level) as f64;
            let (rho, tau) = bounds.at(level, height);
            let (mut low, mut high) = ((rho * slots).ceil() as usize, (tau * slots).floor() as usize);
            if level > 0 {
                low = low.max(limits.low[0] << level);
                high = high.min(limits.high[0] << level);
            }
            limits.low.push(low);
            limits.high.push(high);
        }
        limits
    }

    pub(super) fn height(&self) -> u32 {
        self.low.len() as u32 - 1
    }
    /// The largest number of elements of a window at `level`.
    pub(super) fn high(&self, level: u32) -> usize {
        self.high[level as usize]
    }
    /// The smallest number of elements of a window at `level`.
    pub(super) fn low(&self, level: u32) -> usize {
        self.low[level as usize]
    }
    /// The largest number of elements of the whole array.
    pub(super) fn most(&self) -> usize {
        self.high[self.high.len() - 1]
    }
    /// The smallest number of elements of the whole array.
    pub(super) fn least(&self) -> usize {
        self.low[self.low.len() - 1]
    }
    /// Whether a window at `level` may hold `count`.
    pub(super) fn hold(&self, level: u32, count: usize) -> bool {
        self.low(level) <= count && count <= self.high(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_bounds_hold_and_are_staged_linearly() {
        let b = Bounds::default();
        assert_eq!(b.check(64), Ok(()));
        assert_eq!(b.at(0, 4), (0.08, 0.92));
        assert_eq!(b.at(4, 4), (0.3, 0.7));
        let (low, high) = b.at(2, 4);
        assert!((low - 0.19).abs() < 1e-12 && (high - 0.81).abs() < 1e-12);
        let limits = Limits::new(&b, 64, 4);
        assert_eq!((limits.low(0), limits.high(0)), (6, 58));
        assert_eq!((limits.least(), limits.most()), (308, 716));
    }

    #[test]
    fn wrong_bounds_name_the_allowed_values() {
        let wrong =
            |tau0, tauh, rhoh, rho0| Bounds { tau0, tauh, rhoh, rho0 }.check(64).unwrap_err().to_string();
        assert!(wrong(0.92, 0.7, 0.35, 0.08).contains("tauh above 0.7"));
        assert!(wrong(0.6, 0.7, 0.3, 0.08).contains("tauh < tau0"));
        assert!(wrong(0.92, f64::NAN, 0.3, 0.08).contains("rhoh < tauh"));
        assert!(wrong(0.92, 0.05, 0.02, 0.01).contains("at least 0.0625"));
    }
}
