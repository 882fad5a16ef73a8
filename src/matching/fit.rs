//! Helpers of fits: distances of spectra, and curves through measured points.

use grainfield_measure::residual::{BINS, PlaneGrain};
use grainfield_measure::spectrum::Ring;

/// Power relative to the strongest ring below which all rings are treated as equal, since rounding to codes
/// hides them.
const FLOOR: f64 = 0.003;

/// The distance of two radial spectra: rms in dB, over rings of equal width.
pub(super) fn distance_db(a: &[Ring], b: &[Ring]) -> f64 {
    let floor = FLOOR * a.iter().map(|r| r.power).fold(0.0, f64::max);
    let db = |r: &Ring| 10.0 * (r.power + floor).max(1e-12).log10();
    let count = a.len().min(b.len()).max(1) as f64;
    let all = a.iter().zip(b).map(|(a, b)| (db(a) - db(b)).powi(2));
    (all.sum::<f64>() / count).sqrt()
}

/// A piecewise linear function of brightness, extrapolated linearly beyond the ends.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Curve(pub(super) Vec<[f64; 2]>);

impl Curve {
    /// The strength of a plane at the brightnesses with enough samples.
    pub(super) fn of(plane: &PlaneGrain) -> Curve {
        let known = (0..BINS).filter(|&i| plane.bins[i].counts());
        Curve(known.map(|i| [PlaneGrain::middle(i), plane.bins[i].strength()]).collect())
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

    pub(super) fn peak(&self) -> f64 {
        self.0.iter().map(|p| p[1]).fold(0.0, f64::max)
    }

    /// Multiplied by the ratio of `wanted` and `made`, by a factor of at most 1.5 per step.
    pub(super) fn corrected(&self, wanted: &Curve, made: &Curve) -> Curve {
        let ratio = |x: f64| {
            let (w, m) = (wanted.at(x), made.at(x));
            if m > 0.0 { (w / m).clamp(0.5, 2.0) } else { 1.0 }
        };
        Curve(self.0.iter().map(|&[x, y]| [x, y * ratio(x)]).collect())
    }

    /// Reduced to the fewest points that keep it within `part` of its peak everywhere, or to `most` points if
    /// those are fewer.
    pub(super) fn simplified(&self, part: f64, most: usize) -> Curve {
        let mut kept = self.clone();
        let bound = part * self.peak();
        while kept.0.len() > 1 {
            // The inner point whose removal changes the curve least.
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

/// Minimises a function of two numbers: a pattern search around the best of `starts`, whose steps are halved `rounds`
/// times.
pub(super) fn minimize<E>(
    starts: impl IntoIterator<Item = [f64; 2]>,
    mut step: [f64; 2],
    bounds: [[f64; 2]; 2],
    rounds: u32,
    mut f: impl FnMut([f64; 2]) -> Result<f64, E>,
) -> Result<[f64; 2], E> {
    let mut best = (f64::INFINITY, [0.0; 2]);
    for start in starts {
        let value = f(start)?;
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
                let value = f(at)?;
                if value < best.0 {
                    best = (value, at);
                    moved = true;
                }
            }
        }
        step = step.map(|s| s / 2.0);
    }
    Ok(best.1)
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
    fn the_least_is_found_in_a_slanted_valley() {
        let valley = |[x, y]: [f64; 2]| Ok::<_, ()>((x - y - 1.0).powi(2) + 0.05 * (x + y - 5.0).powi(2));
        let starts = [[0.0, 0.0], [4.0, 0.0]];
        let [x, y] = minimize(starts, [0.5, 0.5], [[0.0, 9.0], [-3.0, 3.0]], 7, valley).unwrap();
        assert!((x - 3.0).abs() < 0.05 && (y - 2.0).abs() < 0.05, "{x} {y}");
    }
}
