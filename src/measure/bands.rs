//! The strength of noise by brightness.

use super::Field;

/// The number of brightness bands of 16 (8-bit) code values each. Values outside the range count in the bands
/// at the ends.
pub const BANDS: usize = 16;
/// The side of the blocks of a picture without a clean version.
const SIDE: usize = 16;

/// The sums of one band.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Band {
    /// The number of samples (without a clean version: degrees of freedom).
    pub count: f64,
    sum: f64,
    squares: f64,
}

impl Band {
    /// The mean difference from the clean picture; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }

    /// Standard deviation; `None` without samples.
    pub fn deviation(&self) -> Option<f64> {
        self.mean().map(|mean| (self.squares / self.count - mean * mean).max(0.0).sqrt())
    }
}

/// The bands from dark to bright.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bands(pub [Band; BANDS]);

fn band(luma: f64) -> usize {
    (luma / (256 / BANDS) as f64).clamp(0.0, BANDS as f64 - 1.0) as usize
}

impl Bands {
    /// Adds differences from a clean picture, by the clean picture's luma.
    pub fn add(&mut self, difference: &Field, luma: &Field) {
        for (&d, &l) in difference.data.iter().zip(&luma.data).filter(|p| p.0.is_finite() && p.1.is_finite())
        {
            let (d, band) = (f64::from(d), &mut self.0[band(f64::from(l))]);
            band.count += 1.0;
            band.sum += d;
            band.squares += d * d;
        }
    }

    /// Adds a picture without a clean version: blocks of 16x16 by their mean luma, with their deviation from their
    /// mean.
    pub fn add_blocks(&mut self, field: &Field, luma: &Field) {
        for top in (0..field.height).step_by(SIDE) {
            for left in (0..field.width).step_by(SIDE) {
                let (right, lower) = ((left + SIDE).min(field.width), (top + SIDE).min(field.height));
                let block =
                    |f| (top..lower).flat_map(move |y| &Field::row(f, y)[left..right]).map(|&v| f64::from(v));
                let count = ((right - left) * (lower - top)) as f64;
                let mean = |f| block(f).sum::<f64>() / count;
                let (own, luma) = (mean(field), mean(luma));
                if count < 2.0 || !own.is_finite() || !luma.is_finite() {
                    continue;
                }
                let band = &mut self.0[band(luma)];
                // The block's mean uses one degree of freedom.
                band.count += count - 1.0;
                band.squares += block(field).map(|v| (v - own) * (v - own)).sum::<f64>();
            }
        }
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, o: &Bands) {
        for (a, b) in self.0.iter_mut().zip(&o.0) {
            a.count += b.count;
            a.sum += b.sum;
            a.squares += b.squares;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    #[test]
    fn differences_go_to_their_brightness() {
        let luma = Field::from_fn(4, 1, |x, _| [-5.0, 17.0, 20.0, 999.0][x]);
        let difference = Field::from_fn(4, 1, |x, _| [1.0, 2.0, 4.0, f32::NAN][x]);
        let mut b = Bands::default();
        b.add(&difference, &luma);
        b.merge(&b.clone());
        assert_eq!((b.0[0].mean(), b.0[0].deviation()), (Some(1.0), Some(0.0)));
        assert_eq!((b.0[1].mean(), b.0[1].deviation()), (Some(3.0), Some(1.0)));
        assert_eq!((b.0[1].count, b.0[15].mean()), (4.0, None));
    }

    /// Differences of brightness between blocks do not count as noise, and small blocks do not reduce it.
    #[test]
    fn blocks_measure_without_a_clean_version() {
        let white = normal(250, 200, 10);
        let field = Field::from_fn(250, 200, |x, y| 40.0 + 100.0 * (x / 128) as f32 + 3.0 * white.row(y)[x]);
        let mut b = Bands::default();
        b.add_blocks(&field, &field);
        for i in [2, 8] {
            let sd = b.0[i].deviation().unwrap();
            assert!((sd - 3.0).abs() < 0.06, "{i}: {sd}");
        }
        assert_eq!(b.0.iter().filter(|b| b.count > 0.0).count(), 2);
    }
}
