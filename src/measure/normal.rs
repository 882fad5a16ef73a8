//! The histogram, and its distance from the normal distribution.

use super::{Field, Moments};

/// Counts of values from -256 to 256 (8-bit code values), on the grid of the codes.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Steps of the grid per code value.
    grid: u32,
    counts: Vec<u64>,
    below: u64,
    above: u64,
}

impl Histogram {
    /// For samples of this depth (8 to 16): steps of 2^(8-bits).
    pub fn new(bits: u8) -> Histogram {
        let grid = 1 << (bits.clamp(8, 16) - 8);
        Histogram { grid, counts: vec![0; 512 * grid as usize + 1], below: 0, above: 0 }
    }

    /// Counts the finite samples.
    pub fn add(&mut self, field: &Field) {
        let (grid, last) = (self.grid as f32, self.counts.len() as f32 - 1.0);
        for v in field.data.iter().filter(|v| v.is_finite()) {
            let place = (v * grid).round() + 256.0 * grid;
            if place < 0.0 {
                self.below += 1;
            } else if place > last {
                self.above += 1;
            } else {
                self.counts[place as usize] += 1;
            }
        }
    }

    /// Adds the counts of another with the same grid.
    pub fn merge(&mut self, o: &Histogram) {
        assert_eq!(self.grid, o.grid, "histograms of two grids");
        self.counts.iter_mut().zip(&o.counts).for_each(|(a, b)| *a += b);
        self.below += o.below;
        self.above += o.above;
    }

    /// The number of values, and of those beyond -256 or 256.
    pub fn total(&self) -> (u64, u64) {
        let outside = self.below + self.above;
        (self.counts.iter().sum::<u64>() + outside, outside)
    }

    /// The Kolmogorov-Smirnov distance from the normal distribution of the same mean and deviation: the largest
    /// difference of the cumulative distributions. It is evaluated half-way between the values of the grid, where
    /// rounding to the grid has no effect. 0 if the deviation is 0.
    pub fn ks(&self, moments: &Moments) -> f64 {
        let (total, deviation) = (self.total().0, moments.deviation());
        if total == 0 || deviation <= 0.0 {
            return 0.0;
        }
        let mut below = self.below;
        let mut worst = 0.0f64;
        for (i, count) in self.counts.iter().enumerate() {
            let edge = |side: f64| (i as f64 + side) / f64::from(self.grid) - 256.0;
            // Most of the grid is empty; in a gap only its ends can be maxima.
            if *count > 0 {
                for (side, below) in [(-0.5, below), (0.5, below + count)] {
                    let expected = cumulative((edge(side) - moments.mean()) / deviation);
                    worst = worst.max((below as f64 / total as f64 - expected).abs());
                }
            }
            below += count;
        }
        worst
    }

    /// Densities in `bars` equal bars over `from..to` deviations about the mean: (middle, density), in deviations, so
    /// that the normal density is exp(-x^2/2)/sqrt(2 pi). A value of the grid is distributed over the bars that its
    /// step covers.
    pub fn bars(&self, moments: &Moments, from: f64, to: f64, bars: usize) -> Vec<(f64, f64)> {
        let (total, deviation) = (self.total().0.max(1) as f64, moments.deviation());
        if deviation <= 0.0 {
            return Vec::new();
        }
        let width = (to - from) / bars as f64;
        let mut sums = vec![0.0; bars];
        let step = 1.0 / f64::from(self.grid) / deviation;
        for (i, &count) in self.counts.iter().enumerate().filter(|c| *c.1 > 0) {
            let middle = (i as f64 / f64::from(self.grid) - 256.0 - moments.mean()) / deviation;
            let (a, b) = (middle - step / 2.0, middle + step / 2.0);
            let first = ((a - from) / width).floor().clamp(0.0, bars as f64) as usize;
            let last = ((b - from) / width).ceil().clamp(0.0, bars as f64) as usize;
            for (k, sum) in sums.iter_mut().enumerate().take(last).skip(first) {
                let (left, right) = (from + k as f64 * width, from + (k + 1) as f64 * width);
                *sum += count as f64 * (b.min(right) - a.max(left)).max(0.0) / step;
            }
        }
        let place = |k: usize| from + (k as f64 + 0.5) * width;
        sums.iter().enumerate().map(|(k, sum)| (place(k), sum / total / width)).collect()
    }
}

/// The cumulative normal distribution, to about 1e-15: `1/2 + phi(x) (x + x^3/3 + x^5/15 + ...)` (Marsaglia,
/// "Evaluating the normal distribution", 2004).
pub fn cumulative(x: f64) -> f64 {
    if x < -8.0 {
        return 0.0;
    }
    if x > 8.0 {
        return 1.0;
    }
    let (mut sum, mut term, mut n) = (x, x, 1.0);
    loop {
        n += 2.0;
        term *= x * x / n;
        let next = sum + term;
        if next == sum {
            return 0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_of_the_books() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-1.96, 0.024_997_895_148_220_4)] {
            assert!((cumulative(x) - p).abs() < 1e-14, "{x}");
        }
        assert!(cumulative(-7.9) < 1e-13 && cumulative(9.0) == 1.0 && cumulative(-9.0) == 0.0);
    }

    /// For values -1 and 1 with equal frequency, the distance is that of a step of 1/2 at -1 (one deviation),
    /// on a fine grid.
    #[test]
    fn two_values() {
        let field = Field::from_fn(10, 10, |x, _| if x % 2 == 0 { -1.0 } else { 1.0 });
        let moments = Moments::of(field.data.iter().map(|&v| f64::from(v)));
        let mut h = Histogram::new(16);
        h.add(&field);
        let expected = 0.5 - cumulative(-1.0 + 1.0 / 512.0);
        assert!((h.ks(&moments) - expected).abs() < 1e-12, "{}", h.ks(&moments));
        let mut twice = h.clone();
        twice.merge(&h);
        assert_eq!((twice.total(), twice.ks(&moments)), ((200, 0), h.ks(&moments)));
    }

    /// Exact normal quantiles, rounded to the grid: only the rounding error is left.
    #[test]
    fn quantiles() {
        let count = 100_000;
        let mut values = Vec::new();
        let (mut x, step) = (-5.0, 1e-4);
        for i in 0..count {
            while cumulative(x) < (f64::from(i) + 0.5) / f64::from(count) {
                x += step;
            }
            values.push((x * 40.0).round() as f32);
        }
        let field = Field { width: values.len(), height: 1, data: values };
        let moments = Moments::of(field.data.iter().map(|&v| f64::from(v)));
        let mut h = Histogram::new(8);
        h.add(&field);
        assert!(h.ks(&moments) < 1e-4, "{}", h.ks(&moments));
        let bars = h.bars(&moments, -4.0, 4.0, 32);
        for (x, density) in bars {
            let expected = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            assert!((density - expected).abs() < 3e-3, "{x}: {density} {expected}");
        }
    }

    #[test]
    fn far_values_are_counted() {
        let mut h = Histogram::new(8);
        h.add(&Field { width: 4, height: 1, data: vec![-1e30, 300.0, 1.0, f32::NAN] });
        assert_eq!(h.total(), (3, 2));
    }
}
