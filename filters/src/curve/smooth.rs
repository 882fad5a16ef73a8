//! The slopes of the smooth shape.
//!
//! F. N. Fritsch, R. E. Carlson, "Monotone Piecewise Cubic Interpolation", SIAM J. Numer. Anal. 17 (1980): a cubic is
//! monotone between its keys when neither slope exceeds three times the secant's. F. N. Fritsch, J. Butland, "A Method
//! for Constructing Local Monotone Piecewise Cubic Interpolants", SIAM J. Sci. Stat. Comput. 5 (1984): slopes inside
//! that region from the two neighbouring secants, so a stretch needs only one more key on each side.

use super::key::length;
use super::{Animate, Key, Shape};

/// Length and slope of a secant.
type Chord = (f64, f64);

/// The slopes (by time) at both ends of the smooth stretch from key `i` to the next.
pub(super) fn slopes<T: Animate>(keys: &[Key<T>], i: usize, part: usize) -> (f64, f64) {
    let chord = |i: usize| -> Chord {
        let h = length(&keys[i], &keys[i + 1]);
        (h, (keys[i + 1].value.component(part) - keys[i].value.component(part)) / h)
    };
    // A neighbour that holds ends in a jump, so its slope is ignored.
    let counts = |i: usize| i + 1 < keys.len() && keys[i].shape != Shape::Hold;
    let own = chord(i);
    let before = i.checked_sub(1).filter(|&i| counts(i)).map(chord);
    let after = Some(i + 1).filter(|&i| counts(i)).map(chord);
    (slope(before, own, after), slope(after, own, before))
}

/// The slope at one end: `there` is the secant across that end, `beyond` the one across the other end.
fn slope(there: Option<Chord>, own: Chord, beyond: Option<Chord>) -> f64 {
    match (there, beyond) {
        (Some(there), _) => inner(there, own),
        (None, Some(beyond)) => outer(own, beyond),
        (None, None) => own.1,
    }
}

/// The slope where two stretches meet: the weighted harmonic mean of their secants' slopes, 0 at a peak. The result
/// does not depend on the order of the two, so both sides agree to the bit.
fn inner((h0, d0): Chord, (h1, d1): Chord) -> f64 {
    if d0 == 0.0 || d1 == 0.0 || (d0 < 0.0) != (d1 < 0.0) {
        return 0.0;
    }
    let (w0, w1) = ((h0 + h1) + h1, (h0 + h1) + h0);
    (w0 + w1) / (w0 / d0 + w1 / d1)
}

/// The slope at an end: that of the parabola through three keys, limited to the region where the cubic is
/// monotone.
fn outer((h0, d0): Chord, (h1, d1): Chord) -> f64 {
    let m = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if d0 == 0.0 || (m < 0.0) != (d0 < 0.0) {
        0.0
    } else if m.abs() > 3.0 * d0.abs() {
        3.0 * d0
    } else {
        m
    }
}
