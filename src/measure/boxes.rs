//! Sums over boxes: averages reveal the weaknesses of poor generators.

use super::{Field, Moments};

/// The sizes of boxes: width and height; width 0 is a whole row.
pub const SIZES: [(usize, usize); 3] = [(0, 1), (8, 8), (64, 64)];

/// The moments of the sums of a field over adjacent boxes of one size, from the upper left corner on.
pub fn sums(field: &Field, width: usize, height: usize) -> Moments {
    let width = if width == 0 { field.width } else { width };
    let mut sums = Vec::with_capacity((field.width / width) * (field.height / height));
    for top in (0..field.height / height).map(|i| i * height) {
        for left in (0..field.width / width).map(|i| i * width) {
            let rows = (top..top + height).flat_map(|y| &field.row(y)[left..left + width]);
            sums.push(rows.map(|&v| f64::from(v)).sum::<f64>());
        }
    }
    Moments::of(sums.iter().copied())
}

/// The skew and excess kurtosis of sums of so many independent numbers with these moments.
pub fn expected(of_one: &Moments, samples: usize) -> (f64, f64) {
    let n = samples.max(1) as f64;
    (of_one.skew() / n.sqrt(), of_one.kurtosis() / n)
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    #[test]
    fn sums_by_hand() {
        let field = Field::from_fn(5, 3, |x, y| (x + 10 * y) as f32);
        let rows = sums(&field, 0, 1);
        assert_eq!((rows.count(), rows.mean()), (3.0, 60.0));
        let boxes = sums(&field, 2, 2); // 22 and 30
        assert_eq!((boxes.count(), boxes.mean(), boxes.deviation()), (2.0, 26.0, 4.0));
        assert_eq!(sums(&field, 64, 64).count(), 0.0);
    }

    #[test]
    fn white_noise_sums_to_white_noise() {
        let field = normal(960, 512, 9);
        for (w, h) in SIZES {
            let m = sums(&field, w, h);
            assert!(m.skew_z(0.0).abs() < 4.0 && m.kurtosis_z(0.0).abs() < 4.0, "{w}x{h}: {m:?}");
            let samples = if w == 0 { 960 } else { w * h };
            let ratio = m.variance() / samples as f64;
            assert!((ratio - 1.0).abs() < 5.0 * (2.0 / m.count()).sqrt(), "{w}x{h}: {ratio}");
        }
    }
}
