//! The B-spline shape: cubic, with the keys' times as knots, so that slope and curvature stay continuous with unequal
//! spacing.
//!
//! Key j is the control value whose polar form is f(t[j-1], t[j], t[j+1]); the four Bezier points of a stretch follow
//! by linear interpolation (L. Ramshaw, "Blossoming: A Connect-the-Dots Approach to Splines", 1987). At the ends of a
//! row of such stretches, times and values are mirrored about the end key, so the curve passes through it with
//! curvature 0.

use super::bezier::coefficients;
use super::{Animate, Key, Shape};

/// The coefficients, in powers of u, of the stretch from key `i` to the next.
pub(super) fn cubic<T: Animate>(keys: &[Key<T>], i: usize, part: usize) -> [f64; 4] {
    let is_row = |i: usize| keys[i].shape == Shape::BSpline && i + 1 < keys.len();
    // The first and last key of the row, as far as this stretch depends on them.
    let first = (i.saturating_sub(2)..i).rev().take_while(|&j| is_row(j)).last().unwrap_or(i);
    let last = (i + 1..=i + 2).take_while(|&j| j < keys.len() && is_row(j)).last().map_or(i + 1, |j| j + 1);
    let row = Row { keys, origin: i, first: first as isize, last: last as isize, part };
    let i = i as isize;
    let t: [f64; 6] = core::array::from_fn(|k| row.time(i - 2 + k as isize));
    let p: [f64; 4] = core::array::from_fn(|k| row.value(i - 1 + k as isize));
    // t[2] and t[3] are the ends of the stretch; p[1] and p[2] their keys.
    let between = |a: f64, b: f64, from: f64, to: f64, at: f64| a + (b - a) * ((at - from) / (to - from));
    let aab = between(p[1], p[2], t[1], t[4], t[2]);
    let abb = between(p[1], p[2], t[1], t[4], t[3]);
    let before_aa = between(p[0], p[1], t[0], t[3], t[2]);
    let bb_after = between(p[2], p[3], t[2], t[5], t[3]);
    let aaa = if i == row.first { p[1] } else { between(before_aa, aab, t[1], t[3], t[2]) };
    let bbb = if i + 1 == row.last { p[2] } else { between(abb, bb_after, t[2], t[4], t[3]) };
    coefficients([aaa, aab, abb, bbb])
}

/// A row of B-spline stretches, extended by mirrored keys at both ends.
struct Row<'a, T> {
    keys: &'a [Key<T>],
    /// Times are relative to this key.
    origin: usize,
    first: isize,
    last: isize,
    part: usize,
}

impl<T: Animate> Row<'_, T> {
    fn get(&self, j: isize, own: &dyn Fn(&Key<T>) -> f64) -> f64 {
        if j < self.first {
            2.0 * self.get(self.first, own) - self.get(2 * self.first - j, own)
        } else if j > self.last {
            2.0 * self.get(self.last, own) - self.get(2 * self.last - j, own)
        } else {
            // The index lies between first and last, which are indices of the slice.
            own(&self.keys[j.unsigned_abs()])
        }
    }

    fn time(&self, j: isize) -> f64 {
        let origin = self.keys[self.origin].when();
        self.get(j, &|key| (key.when() - origin).to_f64())
    }

    fn value(&self, j: isize) -> f64 {
        self.get(j, &|key| key.value.component(self.part))
    }
}
