//! Tests whether samples have the same statistics at all positions: the variance of the differences of neighbours, by
//! the phase of the position in periods of 2 to 16 samples. Noise on a coarser raster that is upsampled with short
//! filters leaves a lattice, which does not show in a spectrum averaged over directions.

use super::Field;
use serde::Serialize;

/// The periods that are tested.
pub const PERIODS: std::ops::RangeInclusive<usize> = 2..=16;

/// The ratio of variances between phases from which a lattice is visible.
pub const SEEN: f64 = 1.05;

/// The significance in standard deviations from which it is not chance.
const SURE: f64 = 8.0;

/// Squared differences of neighbours, summed by position.
#[derive(Clone, Default, Debug)]
pub struct Phases {
    /// Between each column and the next.
    across: Vec<f64>,
    /// Between each row and the next.
    down: Vec<f64>,
}

/// The period with the largest differences between phases.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Lattice {
    /// Whether it is both visible and significant: the ratio is above 1.05, and is not chance.
    pub found: bool,
    /// The period in samples.
    pub period: usize,
    /// Whether it is along rows; otherwise along columns.
    pub across: bool,
    /// The ratio of the largest and the smallest variance of phases.
    pub ratio: f64,
    /// Their difference in standard deviations of chance.
    pub sigmas: f64,
}

impl Phases {
    /// Adds a field.
    pub fn add(&mut self, field: &Field) {
        let (width, height) = (field.width, field.height);
        self.across.resize(width.saturating_sub(1), 0.0);
        self.down.resize(height.saturating_sub(1), 0.0);
        for y in 0..height {
            let row = field.row(y);
            for (sum, two) in self.across.iter_mut().zip(row.windows(2)) {
                let d = f64::from(two[1] - two[0]);
                *sum += d * d;
            }
            if y + 1 < height {
                let next = field.row(y + 1);
                let square = |(a, b): (&f32, &f32)| f64::from(b - a) * f64::from(b - a);
                self.down[y] += row.iter().zip(next).map(square).sum::<f64>();
            }
        }
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, o: &Phases) {
        for (a, b) in [(&mut self.across, &o.across), (&mut self.down, &o.down)] {
            a.resize(b.len(), 0.0);
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
    }

    /// The worst period in both directions: among lattices that are present the one with the largest ratio, else the
    /// least likely one. `None` for planes that are too small.
    pub fn worst(&self) -> Option<Lattice> {
        let all = [(true, &self.across), (false, &self.down)].into_iter();
        let all = all.flat_map(|(across, sums)| PERIODS.filter_map(move |p| lattice(sums, p, across)));
        all.max_by(|a, b| {
            let rank = |l: &Lattice| (l.found, if l.found { l.ratio } else { l.sigmas });
            let ((a, x), (b, y)) = (rank(a), rank(b));
            a.cmp(&b).then(x.total_cmp(&y))
        })
    }
}

fn lattice(sums: &[f64], period: usize, across: bool) -> Option<Lattice> {
    if sums.len() < 8 * period {
        return None;
    }
    // Mean and standard error of each phase.
    let phase = |first: usize| {
        let of = || sums.iter().skip(first).step_by(period);
        let n = of().count() as f64;
        let mean = of().sum::<f64>() / n;
        let variance = of().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    };
    let phases: Vec<(f64, f64)> = (0..period).map(phase).collect();
    let most = phases.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let least = phases.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let error = (most.1 + least.1).sqrt();
    let (ratio, sigmas) = match most.0 <= least.0 {
        true => (1.0, 0.0),
        false => (most.0 / least.0.max(1e-30), (most.0 - least.0) / error.max(1e-30)),
    };
    Some(Lattice { found: ratio > SEEN && sigmas > SURE, period, across, ratio, sigmas })
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    fn worst(field: &Field) -> Lattice {
        let mut phases = Phases::default();
        phases.add(field);
        phases.worst().unwrap()
    }

    #[test]
    fn white_noise_has_no_lattice() {
        for seed in 1..5 {
            let worst = worst(&normal(640, 480, seed));
            assert!(!worst.found, "{worst:?}");
        }
        let mut phases = Phases::default();
        phases.add(&normal(10, 10, 1));
        assert_eq!(phases.worst(), None);
    }

    #[test]
    fn noise_brought_up_from_a_coarser_raster_has_one() {
        // (3, 1)/4 of the nearer and the farther of two coarse samples horizontally; each row twice.
        let coarse = normal(322, 240, 3);
        let field = Field::from_fn(640, 480, |x, y| {
            let row = coarse.row(y / 2);
            let (near, far) = (row[x / 2 + 1], row[if x % 2 == 0 { x / 2 } else { x / 2 + 2 }]);
            0.75 * near + 0.25 * far
        });
        let mut phases = Phases::default();
        phases.add(&field);
        let across = lattice(&phases.across, 2, true).unwrap();
        assert!((across.ratio - 4.0).abs() < 0.2 && across.found, "{across:?}");
        // Repeated rows have no difference at all.
        let worst = phases.worst().unwrap();
        assert!(worst.found && !worst.across && worst.period % 2 == 0, "{worst:?}");
        // Two halves together equal the whole.
        let mut both = Phases::default();
        both.merge(&phases);
        both.merge(&phases);
        assert!((both.worst().unwrap().sigmas / worst.sigmas - 1.0).abs() < 1e-9);
    }
}
