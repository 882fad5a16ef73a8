//! Mean, deviation, skew and kurtosis, in one pass over data in pieces.

/// The first four moments of a set of numbers, about their mean, to avoid cancellation.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Moments {
    count: f64,
    mean: f64,
    /// Sums of powers 2, 3 and 4 of the differences from the mean.
    m2: f64,
    m3: f64,
    m4: f64,
}

impl Moments {
    /// The moments of all finite numbers, in two passes.
    pub fn of<I: Iterator<Item = f64> + Clone>(numbers: I) -> Moments {
        let finite = numbers.filter(|v| v.is_finite());
        let (mut count, mut sum) = (0.0, 0.0);
        for v in finite.clone() {
            count += 1.0;
            sum += v;
        }
        if count == 0.0 {
            return Moments::default();
        }
        let mean = sum / count;
        let mut m = Moments { count, mean, ..Moments::default() };
        for v in finite {
            let d = v - mean;
            let d2 = d * d;
            m.m2 += d2;
            m.m3 += d2 * d;
            m.m4 += d2 * d2;
        }
        m
    }

    /// Adds another set (Pebay, "Formulas for robust, one-pass parallel computation of covariances and
    /// arbitrary-order statistical moments", 2008).
    pub fn merge(&mut self, o: &Moments) {
        if self.count == 0.0 || o.count == 0.0 {
            if o.count > 0.0 {
                *self = *o;
            }
            return;
        }
        let (a, b) = (self.count, o.count);
        let n = a + b;
        let d = o.mean - self.mean;
        let (d2, ab) = (d * d, a * b);
        let m4 = self.m4
            + o.m4
            + d2 * d2 * ab * (a * a - ab + b * b) / (n * n * n)
            + 6.0 * d2 * (a * a * o.m2 + b * b * self.m2) / (n * n)
            + 4.0 * d * (a * o.m3 - b * self.m3) / n;
        let m3 = self.m3 + o.m3 + d2 * d * ab * (a - b) / (n * n) + 3.0 * d * (a * o.m2 - b * self.m2) / n;
        let m2 = self.m2 + o.m2 + d2 * ab / n;
        *self = Moments { count: n, mean: self.mean + d * b / n, m2, m3, m4 };
    }

    /// The number of numbers.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The mean; 0 for an empty set.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance (mean square difference from the mean).
    pub fn variance(&self) -> f64 {
        if self.count > 0.0 { self.m2 / self.count } else { 0.0 }
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Skewness: 0 for a symmetric distribution.
    pub fn skew(&self) -> f64 {
        let v = self.variance();
        if v > 0.0 { self.m3 / self.count / (v * v.sqrt()) } else { 0.0 }
    }

    /// Excess kurtosis: 0 for the normal distribution, -1.2 for a uniform one.
    pub fn kurtosis(&self) -> f64 {
        let v = self.variance();
        if v > 0.0 { self.m4 / self.count / (v * v) - 3.0 } else { 0.0 }
    }

    /// The difference of the skew from `expected`, in standard deviations of the skew of so many independent
    /// normal numbers.
    pub fn skew_z(&self, expected: f64) -> f64 {
        (self.skew() - expected) * (self.count / 6.0).sqrt()
    }

    /// The difference of the kurtosis from `expected`, in standard deviations of the kurtosis of so many independent
    /// normal numbers.
    pub fn kurtosis_z(&self, expected: f64) -> f64 {
        (self.kurtosis() - expected) * (self.count / 24.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_few_numbers_by_hand() {
        // mean 3, differences -2 -1 -1 0 4: squares 22, cubes 54, fourth powers 274
        let m = Moments::of([1.0, 2.0, 2.0, 3.0, 7.0, f64::NAN].into_iter());
        assert_eq!((m.count(), m.mean(), m.variance()), (5.0, 3.0, 4.4));
        assert!((m.skew() - 10.8 / 4.4f64.powf(1.5)).abs() < 1e-14);
        assert!((m.kurtosis() - (54.8 / 19.36 - 3.0)).abs() < 1e-14);
        assert!((m.skew_z(m.skew() - 1.0) - (5.0f64 / 6.0).sqrt()).abs() < 1e-14);
        assert_eq!(Moments::default().kurtosis(), 0.0);
    }

    #[test]
    fn pieces_make_the_whole() {
        let all: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 97) + 1e6).collect();
        let whole = Moments::of(all.iter().copied());
        let mut sum = Moments::default();
        for piece in all.chunks(37) {
            sum.merge(&Moments::of(piece.iter().copied()));
        }
        sum.merge(&Moments::default());
        assert_eq!(sum.count(), 1000.0);
        assert!((sum.mean() - whole.mean()).abs() < 1e-7);
        assert!((sum.deviation() - whole.deviation()).abs() < 1e-9);
        assert!((sum.skew() - whole.skew()).abs() < 1e-9);
        assert!((sum.kurtosis() - whole.kurtosis()).abs() < 1e-9);
    }
}
