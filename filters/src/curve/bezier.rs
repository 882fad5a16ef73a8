//! A cubic Bezier curve as a function of time.

use crate::simd::multiversion;

/// The curve from time 0 to time 1. `x` are the handles' times, `y` the values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bezier {
    /// Times of the two handles, 0 to 1 each, so that time is monotone and every time has one value.
    pub(crate) x: [f64; 2],
    /// First value, the values of the handles, last value.
    pub(crate) y: [f64; 4],
}

/// The coefficients of the cubic with these Bezier points.
#[inline(always)]
pub(super) const fn coefficients(p: [f64; 4]) -> [f64; 4] {
    [p[0], 3.0 * (p[1] - p[0]), 3.0 * (p[0] - 2.0 * p[1] + p[2]), (p[3] - p[0]) + 3.0 * (p[1] - p[2])]
}

/// Number of bisections of the parameter interval.
pub(super) const BISECTIONS: usize = 54;

/// Number of curves that are evaluated together. Each step of a bisection waits for the step before it; independent
/// bisections overlap.
pub(crate) const BATCH: usize = 16;

/// The same as [`Bezier::value`] of each curve, bit for bit.
#[inline(always)]
fn values_body(all: &[Bezier; BATCH], u: &[f64; BATCH], out: &mut [f64; BATCH]) {
    let x = all.map(|b| coefficients([0.0, b.x[0], b.x[1], 1.0]));
    let c = [1, 2, 3].map(|k: usize| x.map(|x| x[k]));
    let (mut low, mut high) = ([0.0; BATCH], [1.0; BATCH]);
    for _ in 0..BISECTIONS {
        for i in 0..BATCH {
            let s: f64 = 0.5 * (low[i] + high[i]);
            let below = s * (c[0][i] + s * (c[1][i] + s * c[2][i])) < u[i];
            low[i] = if below { s } else { low[i] };
            high[i] = if below { high[i] } else { s };
        }
    }
    for i in 0..BATCH {
        let s = 0.5 * (low[i] + high[i]);
        let s = if u[i] >= 1.0 { 1.0 } else { s };
        let s = if u[i] <= 0.0 { 0.0 } else { s };
        out[i] = cubic(coefficients(all[i].y), s);
    }
}

multiversion! {
    /// Evaluates several curves, each at its own time.
    pub(crate) fn values(level, all: &[Bezier; BATCH], u: &[f64; BATCH], out: &mut [f64; BATCH]) = values_body;
}

#[inline(always)]
pub(super) fn cubic(c: [f64; 4], s: f64) -> f64 {
    c[0] + s * (c[1] + s * (c[2] + s * c[3]))
}

impl Bezier {
    /// The parameter at time `u`, by [`BISECTIONS`] bisections, which gives the full precision of `f64`. The fixed count,
    /// without a first guess or a tolerance, gives the same bits on every machine.
    pub(super) fn parameter(&self, u: f64) -> f64 {
        if u <= 0.0 {
            return 0.0;
        }
        if u >= 1.0 {
            return 1.0;
        }
        let c = coefficients([0.0, self.x[0], self.x[1], 1.0]);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let s = 0.5 * (low + high);
            if cubic(c, s) < u { low = s } else { high = s }
        }
        0.5 * (low + high)
    }

    pub(crate) fn value(&self, u: f64) -> f64 {
        cubic(coefficients(self.y), self.parameter(u))
    }

    /// The integral over time from 0: that of y(s) x'(s), a polynomial of degree six.
    pub(crate) fn integral(&self, u: f64) -> f64 {
        let s = self.parameter(u);
        let y = coefficients(self.y);
        let x = coefficients([0.0, self.x[0], self.x[1], 1.0]);
        let speed = [x[1], 2.0 * x[2], 3.0 * x[3]];
        let mut sum = 0.0;
        for n in (0..6).rev() {
            // The coefficient of s^n in the product.
            let c: f64 = (0..=n.min(3)).filter(|i| n - i < 3).map(|i| y[i] * speed[n - i]).sum();
            sum = (sum + c / (n + 1) as f64) * s;
        }
        sum
    }

    /// The slopes at 0 and 1: those of the lines to the nearest point with a different time.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let ([x1, x2], [a, y1, y2, b]) = (self.x, self.y);
        let line = b - a;
        let slope = |handles: [(f64, f64); 2]| {
            let found = handles.into_iter().find(|(x, y)| *x > 0.0 || *y != 0.0);
            // A vertical handle has no slope to continue with.
            found.map_or(line, |(x, y)| if x > 0.0 { y / x } else { line })
        };
        (slope([(x1, y1 - a), (x2, y2 - a)]), slope([(1.0 - x2, b - y2), (1.0 - x1, b - y1)]))
    }
}
