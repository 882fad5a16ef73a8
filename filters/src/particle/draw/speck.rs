//! Small ellipses, evaluated once per cell.
//!
//! Of a shape no larger than a few cells, only position, size and direction are visible. So a speck is an ellipse
//! widened in proportion to the cell, and its coverage of a cell is `min(1, g (1 - q)^2)`, where `q` is 0 at its centre
//! and 1 on its edge, evaluated at the centre of the cell. With half axes `a` and `b`, the matrix `E` of their squares
//! and cells `w` by `h`, the edge is the ellipse of `M = 3/2 E + 9/5 diag(w^2, h^2)`, and `g` makes the total coverage
//! equal to that of the ellipse: `3 F` where the part `F = a b / sqrt(det M)` is below a third, else `(2/3 / (1 -
//! F))^2`. As it moves, the sum over all cells changes by less than 5 % if both half axes are at least half a cell.

use super::splat::{SIZES, STEPS, Splat};

/// The fractions of the squares of the half axes, and of the square of a cell's size, in the edge's.
const OWN: f32 = 1.5;
const WIDEN: f32 = 1.8;

/// A speck on cells of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speck {
    /// The matrix: its corner across, its two others, its corner down.
    pub(super) m: [f32; 3],
    pub(super) det: f32,
    pub(super) gain: f32,
}

impl Speck {
    /// The speck of a splat with this cosine and sine, on cells of this displayed size in luma rows.
    #[inline(always)]
    pub(super) fn new(splat: &Splat, [cos, sin]: [f32; 2], cell: [f32; 2]) -> Speck {
        let half = splat.half.map(|h| f32::from(h) * (1.0 / SIZES));
        let [e, f] = half.map(|h| h * h);
        let [w, h] = cell.map(|c| WIDEN * c * c);
        let (cc, ss) = (cos * cos, sin * sin);
        let [across, down] = [OWN * (e * cc + f * ss), OWN * (e * ss + f * cc)];
        // Sums of positive terms: long and thin ones lose no precision.
        let det = OWN * OWN * e * f + h * across + w * down + w * h;
        let m = [across + w, OWN * cos * sin * (e - f), down + h];
        let part = half[0] * half[1] / det.sqrt();
        let steep = (2.0 / 3.0) / (1.0 - part);
        Speck { m, det, gain: if part < 1.0 / 3.0 { 3.0 * part } else { steep * steep } }
    }

    /// Its reach along x and y, in 1/256 of a luma row, rounded up.
    #[inline(always)]
    pub(super) fn extent(&self) -> [i32; 2] {
        self.reach().map(|v| (v * STEPS) as i32 + 1)
    }

    #[inline(always)]
    fn reach(&self) -> [f32; 2] {
        [self.m[0].sqrt(), self.m[2].sqrt()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage::rotation;
    use super::*;

    /// The coverage of the cell whose centre is `x`, `y` from its own.
    fn cover(s: &Speck, x: f64, y: f64) -> f64 {
        let [a, b, c] = s.m.map(f64::from);
        let q = (c * x * x - 2.0 * b * x * y + a * y * y) / (a * c - b * b);
        (f64::from(s.gain) * (1.0 - q).max(0.0).powi(2)).min(1.0)
    }

    #[test]
    fn a_speck_has_the_coverage_of_its_ellipse_at_every_position() {
        for (half, angle) in
            [([8, 8], 0), ([8, 60], 0x1000), ([20, 8], 0x5555), ([24, 70], 0x3000), ([48, 90], 0x2000)]
        {
            let splat = Splat { half, angle, ..Splat::new([0.0; 2], [1.0; 2]) };
            let area = core::f64::consts::PI * f64::from(half[0]) * f64::from(half[1]) / 256.0;
            for wide in [1.0f32, 2.0] {
                let speck = Speck::new(&splat, rotation(angle), [wide, wide]);
                let cell = f64::from(wide);
                for (px, py) in (0..8).flat_map(|j| (0..8).map(move |i| (i as f64 / 8.0, j as f64 / 8.0))) {
                    let at = |i: i32, p: f64| (f64::from(i) + p) * cell;
                    let cells = (-20..20).flat_map(|j| (-20..20).map(move |i| (i, j)));
                    let sum: f64 = cells.map(|(i, j)| cover(&speck, at(i, px), at(j, py))).sum();
                    let off = sum * cell * cell / area - 1.0;
                    // Cells that are larger than the speck are sampled more coarsely.
                    let most = if f32::from(half[0].min(half[1])) < 8.0 * wide { 0.10 } else { 0.05 };
                    assert!(off.abs() < most, "{half:?} {wide} {px} {py}: {off}");
                }
            }
        }
    }

    #[test]
    fn coverage_ends_at_the_declared_reach() {
        let splat = Splat::new([0.0; 2], [6.0, 0.5]).turned(0.07);
        let speck = Speck::new(&splat, rotation(splat.angle), [1.0, 1.0]);
        let [x, y] = speck.reach().map(f64::from);
        let most =
            |f: &dyn Fn(f64) -> f64| (0..8000).map(|i| f(f64::from(i) / 400.0 - 10.0)).fold(0.0, f64::max);
        let edge = |x: f64| most(&|y| cover(&speck, x, y));
        assert!(edge(1.001 * x) == 0.0 && edge(0.98 * x) > 0.0);
        let edge = |y: f64| most(&|x| cover(&speck, x, y));
        assert!(edge(1.001 * y) == 0.0 && edge(0.98 * y) > 0.0);
    }
}
