//! A toe and a shoulder: what would be cut off beyond black or white is bent into the range instead.

/// The ends of a function of t, 0 at black and 1 at white.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bends {
    /// The part of the range above black that is bent, and the lowest t, which becomes 0.
    toe: End,
    /// The part of the range below white that is bent, and the highest t, which becomes 1.
    shoulder: End,
}

/// One end, measured from where the bend begins, in parts of its length: so far is the end of the range.
#[derive(Clone, Copy, PartialEq, Debug)]
struct End {
    part: f64,
    reach: f64,
}

impl End {
    /// `beyond` is the distance of the farthest t beyond the end.
    fn new(part: f64, beyond: f64) -> End {
        End { part, reach: if part > 0.0 { 1.0 + beyond.max(0.0) / part } else { 1.0 } }
    }

    /// A distance from where the bend begins: Reinhard's curve with a white point ("Photographic tone reproduction for
    /// digital images", 2002), which begins with slope 1.
    #[inline(always)]
    fn of(self, distance: f64) -> f64 {
        let u = distance / self.part;
        self.part * u * (1.0 + u / (self.reach * self.reach)) / (1.0 + u)
    }
}

impl Bends {
    /// Bends of so much of the range, for t from `low` to `high`; `None` where nothing is beyond the range or bent. Parts
    /// that would overlap are reduced in proportion until they meet.
    pub fn new([toe, shoulder]: [f64; 2], low: f64, high: f64) -> Option<Bends> {
        let both = if low < 0.0 && high > 1.0 { (toe + shoulder).max(1.0) } else { 1.0 };
        let (toe, shoulder) = (toe / both, shoulder / both);
        let bends = Bends { toe: End::new(toe, -low), shoulder: End::new(shoulder, high - 1.0) };
        (bends.toe.reach > 1.0 || bends.shoulder.reach > 1.0).then_some(bends)
    }

    /// The numbers that it depends on.
    pub fn numbers(&self) -> [f64; 4] {
        [self.toe.part, self.toe.reach, self.shoulder.part, self.shoulder.reach]
    }

    /// The bent value of t.
    #[inline(always)]
    pub fn of(&self, t: f64) -> f64 {
        let (up, down) = (t - (1.0 - self.shoulder.part), self.toe.part - t);
        match () {
            () if self.shoulder.reach > 1.0 && up > 0.0 => 1.0 - self.shoulder.part + self.shoulder.of(up),
            () if self.toe.reach > 1.0 && down > 0.0 => self.toe.part - self.toe.of(down),
            () => t,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_become_black_and_white_and_the_middle_stays() {
        let bends = Bends::new([0.3, 0.4], -0.1, 1.5).unwrap();
        for (t, want) in [(-0.1, 0.0), (1.5, 1.0), (0.3, 0.3), (0.45, 0.45), (0.6, 0.6)] {
            assert!((bends.of(t) - want).abs() < 1e-12, "{t}: {}", bends.of(t));
        }
        // Slopes fall steadily from 1 towards both ends.
        let slope = |t: f64| (bends.of(t + 1e-6) - bends.of(t - 1e-6)) / 2e-6;
        let shoulder: Vec<f64> = (0..90).map(|i| slope(0.6 + 0.01 * f64::from(i))).collect();
        let toe: Vec<f64> = (0..40).map(|i| slope(0.3 - 0.01 * f64::from(i))).collect();
        for slopes in [shoulder, toe] {
            assert!(slopes[0] < 1.0 + 1e-3 && slopes.is_sorted_by(|a, b| a > b && *b > 0.0), "{slopes:?}");
        }
        // However large the parts are, it rises without a jump, and the ends stay.
        let large = Bends::new([0.8, 0.6], -0.1, 1.5).unwrap();
        let values: Vec<f64> = (0..=1600).map(|i| large.of(0.001 * f64::from(i) - 0.1)).collect();
        assert!(values.windows(2).all(|v| v[0] < v[1] && v[1] - v[0] < 0.0011), "{values:?}");
        assert!(values[0].abs() < 1e-12 && (values[1600] - 1.0).abs() < 1e-9);
        // Where nothing is beyond the range, nothing is bent.
        assert_eq!(Bends::new([0.3, 0.4], 0.0, 1.0), None);
        assert_eq!(Bends::new([0.0, 0.0], -1.0, 2.0), None);
        let only = Bends::new([0.3, 0.0], -0.2, 1.2).unwrap();
        assert!(only.of(1.1) == 1.1 && only.of(0.0) > 0.0);
    }
}
