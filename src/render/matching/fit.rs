//! Helpers of fits: distances of spectra, and curves through measured points.

use grainfield_measure::residual::{BINS, PlaneGrain};
use grainfield_measure::spectrum::Ring;

/// Power relative to the strongest ring below which all rings are treated as equal, since rounding to codes
/// hides them.
const FLOOR: f64 = 0.003;

/// Brightness between the middles of bins.
const BIN: f64 = 256.0 / BINS as f64;
/// The least error of a measured strength, relative to it.
const LEAST_ERROR: f64 = 0.003;

/// The distance of two radial spectra: rms in dB, over rings of equal width.
pub(super) fn distance_db(a: &[Ring], b: &[Ring]) -> f64 {
    let floor = FLOOR * a.iter().map(|r| r.power).fold(0.0, f64::max);
    let db = |r: &Ring| 10.0 * (r.power + floor).max(1e-12).log10();
    let count = a.len().min(b.len()).max(1) as f64;
    let all = a.iter().zip(b).map(|(a, b)| (db(a) - db(b)).powi(2));
    (all.sum::<f64>() / count).sqrt()
}

/// A piecewise linear function of brightness, constant beyond the ends.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Curve(pub(super) Vec<[f64; 2]>);

impl Curve {
    /// The strength of a plane at the brightnesses with enough samples.
    pub(super) fn measured(plane: &PlaneGrain) -> Curve {
        let known = (0..BINS).filter(|&i| plane.bins[i].counts());
        Curve(known.map(|i| [PlaneGrain::middle(i), plane.bins[i].strength()]).collect())
    }

    /// The strength of a plane without its errors of chance: the curve with the least bends that is as near to the
    /// measured strengths as they are to the true ones.
    pub(super) fn smooth(plane: &PlaneGrain) -> Curve {
        let rough = Curve::measured(plane);
        let alike = plane.alike();
        let counts = (0..BINS).map(|i| &plane.bins[i]).filter(|b| b.counts()).map(|b| b.count);
        let errors: Vec<f64> = counts
            .zip(&rough.0)
            .map(|(n, p)| p[1] * (0.5 * alike / n).sqrt().max(LEAST_ERROR) + 1e-9)
            .collect();
        let off = |curve: &Curve| {
            let pairs = curve.0.iter().zip(&rough.0).zip(&errors);
            pairs.map(|((a, b), error)| ((a[1] - b[1]) / error).powi(2)).sum::<f64>()
        };
        let stiff = (0..32).map(|i| 1e8 / 4f64.powi(i) / rough.peak().max(1e-9).powi(2));
        let curves = stiff.filter_map(|stiff| rough.bent(&errors, stiff));
        curves.into_iter().find(|curve| off(curve) <= rough.0.len() as f64).unwrap_or(rough.clone())
    }

    /// The least squares of distances over `errors` and of bends times `stiff`.
    fn bent(&self, errors: &[f64], stiff: f64) -> Option<Curve> {
        let n = self.0.len();
        let mut m = vec![vec![0.0; n + 1]; n];
        for (i, error) in errors.iter().enumerate() {
            let weight = 1.0 / (error * error);
            m[i][i] += weight;
            m[i][n] = weight * self.0[i][1];
        }
        for i in 1..n.saturating_sub(1) {
            let [a, b] = [i, i + 1].map(|k| (self.0[k][0] - self.0[k - 1][0]) / BIN);
            let bend = [2.0 / (a * (a + b)), -2.0 / (a * b), 2.0 / (b * (a + b))];
            for (j, u) in bend.iter().enumerate() {
                for (k, v) in bend.iter().enumerate() {
                    m[i + j - 1][i + k - 1] += stiff * u * v;
                }
            }
        }
        let y = solve(m)?;
        Some(Curve(self.0.iter().zip(y).map(|(p, y)| [p[0], y.max(0.0)]).collect()))
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        let Some(above) = self.0.iter().position(|p| p[0] > x) else {
            return self.0.last().map_or(0.0, |p| p[1]);
        };
        let [x1, y1] = self.0[above];
        match above.checked_sub(1).map(|i| self.0[i]) {
            Some([x0, y0]) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
            None => y1,
        }
    }

    /// The slope around a place between bins.
    pub(super) fn slope(&self, x: f64) -> f64 {
        let ends = [self.0.first(), self.0.last()].map(|p| p.map_or(x, |p| p[0]));
        let [low, high] = [x - BIN, x + BIN].map(|x| x.clamp(ends[0], ends[1]));
        if high > low { (self.at(high) - self.at(low)) / (high - low) } else { 0.0 }
    }

    pub(super) fn peak(&self) -> f64 {
        self.0.iter().map(|p| p[1]).fold(0.0, f64::max)
    }

    /// Scales each point by (wanted / measured)^`part`, with the ratio limited to 0.5 to 2.
    pub(super) fn corrected(&self, wanted: &Curve, measured: &Curve, part: f64) -> Curve {
        let ratio = |x: f64| {
            let (w, m) = (wanted.at(x), measured.at(x));
            if m > 0.0 { (w / m).clamp(0.5, 2.0).powf(part) } else { 1.0 }
        };
        Curve(self.0.iter().map(|&[x, y]| [x, y * ratio(x)]).collect())
    }

    /// Reduced to the fewest points that keep it within `part` of its peak everywhere, or to `most` points if
    /// those are fewer.
    pub(super) fn simplified(&self, part: f64, most: usize) -> Curve {
        let mut kept = self.clone();
        let bound = part * self.peak();
        while kept.0.len() > 1 {
            // The point whose removal changes the curve least.
            let without = |i: usize| {
                let mut less = kept.clone();
                less.0.remove(i);
                let error = self.0.iter().map(|&[x, y]| (less.at(x) - y).abs()).fold(0.0, f64::max);
                (error, less)
            };
            let least = (0..kept.0.len()).map(without).min_by(|a, b| a.0.total_cmp(&b.0));
            match least {
                Some((error, less)) if error <= bound || kept.0.len() > most => kept = less,
                _ => break,
            }
        }
        kept
    }
}

/// Gaussian elimination; the last column is the right-hand side.
pub(super) fn solve(mut m: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k].abs() < 1e-12 {
            return None;
        }
        let (upper, lower) = m.split_at_mut(k + 1);
        for row in lower {
            let factor = row[k] / upper[k][k];
            for (v, p) in row[k..].iter_mut().zip(&upper[k][k..]) {
                *v -= factor * p;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - sum) / m[k][k];
    }
    Some(x)
}

/// Minimises a function of two numbers: a pattern search around the best of `starts`, whose steps are halved `rounds`
/// times.
pub(super) fn minimize(
    starts: impl IntoIterator<Item = [f64; 2]>,
    mut step: [f64; 2],
    bounds: [[f64; 2]; 2],
    rounds: u32,
    f: impl Fn([f64; 2]) -> f64,
) -> [f64; 2] {
    let mut best = (f64::INFINITY, [0.0; 2]);
    for start in starts {
        let value = f(start);
        if value < best.0 {
            best = (value, start);
        }
    }
    for _ in 0..rounds {
        let mut moved = true;
        let mut tries = 0;
        while moved && tries < 4 {
            moved = false;
            tries += 1;
            let [x, y] = best.1;
            for (i, j) in [
                (-1.0, 0.0),
                (1.0, 0.0),
                (0.0, -1.0),
                (0.0, 1.0),
                (-1.0, -1.0),
                (1.0, 1.0),
                (-1.0, 1.0),
                (1.0, -1.0),
            ] {
                if (j != 0.0 && step[1] == 0.0) || (i != 0.0 && step[0] == 0.0) {
                    continue;
                }
                let at = [
                    (x + i * step[0]).clamp(bounds[0][0], bounds[0][1]),
                    (y + j * step[1]).clamp(bounds[1][0], bounds[1][1]),
                ];
                if at == best.1 {
                    continue;
                }
                let value = f(at);
                if value < best.0 {
                    best = (value, at);
                    moved = true;
                }
            }
        }
        step = step.map(|s| s / 2.0);
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_lose_points_that_say_nothing() {
        let curve =
            Curve((0..=20).map(|i| [f64::from(i), f64::from(if i < 10 { i } else { 20 - i })]).collect());
        let less = curve.simplified(0.001, 99);
        assert_eq!(less.0, [[0.0, 0.0], [10.0, 10.0], [20.0, 0.0]]);
        assert_eq!((less.at(-5.0), less.at(4.5), less.at(99.0)), (0.0, 4.5, 0.0));
        assert_eq!(curve.simplified(0.0, 2).0.len(), 2);
        assert_eq!(Curve(vec![[3.0, 7.0]]).at(100.0), 7.0);
    }

    #[test]
    fn smooth_curves_have_fewer_bends() {
        let rough = Curve((0..24).map(|i| [f64::from(i) * BIN, 5.0 + f64::from(i % 2)]).collect());
        let line = rough.bent(&[0.5; 24], 1e6).unwrap();
        assert!(line.0.iter().all(|p| (p[1] - 5.5).abs() < 0.1), "{line:?}");
        let same = rough.bent(&[0.5; 24], 1e-9).unwrap();
        assert!(same.0.iter().zip(&rough.0).all(|(a, b)| (a[1] - b[1]).abs() < 1e-6), "{same:?}");
    }

    #[test]
    fn the_least_is_found_in_a_slanted_valley() {
        let valley = |[x, y]: [f64; 2]| (x - y - 1.0).powi(2) + 0.05 * (x + y - 5.0).powi(2);
        let starts = [[0.0, 0.0], [4.0, 0.0]];
        let [x, y] = minimize(starts, [0.5, 0.5], [[0.0, 9.0], [-3.0, 3.0]], 7, valley);
        assert!((x - 3.0).abs() < 0.05 && (y - 2.0).abs() < 0.05, "{x} {y}");
    }
}
