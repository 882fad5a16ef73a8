//! The slopes of the smooth shape.
//!
//! F. N. Fritsch, R. E. Carlson, "Monotone Piecewise Cubic Interpolation", SIAM J. Numer. Anal. 17 (1980): a cubic is
//! monotone between its keys when neither slope exceeds three times the secant's. F. N. Fritsch, J. Butland, "A Method
//! for Constructing Local Monotone Piecewise Cubic Interpolants", SIAM J. Sci. Stat. Comput. 5 (1984): slopes inside
//! that region from the two neighbouring secants alone, so a stretch needs one key more on either side and no more.

use super::key::length;
use super::{Animate, Key, Shape};

/// Length and secant's slope.
type Chord = (f64, f64);

/// The slopes (by time) at both ends of the smooth stretch from key `i` to the next.
pub(super) fn slopes<T: Animate>(keys: &[Key<T>], i: usize, part: usize) -> (f64, f64) {
    let chord = |i: usize| -> Chord {
        let h = length(&keys[i], &keys[i + 1]);
        (h, (keys[i + 1].value.component(part) - keys[i].value.component(part)) / h)
    };
    // Beyond a stretch that holds, the value jumps: nothing there says where this one is going.
    let counts = |i: usize| i + 1 < keys.len() && keys[i].shape != Shape::Hold;
    let own = chord(i);
    let before = i.checked_sub(1).filter(|&i| counts(i)).map(chord);
    let after = Some(i + 1).filter(|&i| counts(i)).map(chord);
    (slope(before, own, after), slope(after, own, before))
}

/// The slope at one end: `there` lies across that end, `beyond` across the other.
fn slope(there: Option<Chord>, own: Chord, beyond: Option<Chord>) -> f64 {
    match (there, beyond) {
        (Some(there), _) => inner(there, own),
        (None, Some(beyond)) => outer(own, beyond),
        (None, None) => own.1,
    }
}

/// Where two stretches meet: the weighted harmonic mean of their slopes, 0 at a peak. The order of the two does not
/// matter to the bits, so both sides agree.
fn inner((h0, d0): Chord, (h1, d1): Chord) -> f64 {
    if d0 == 0.0 || d1 == 0.0 || (d0 < 0.0) != (d1 < 0.0) {
        return 0.0;
    }
    let (w0, w1) = ((h0 + h1) + h1, (h0 + h1) + h0);
    (w0 + w1) / (w0 / d0 + w1 / d1)
}

/// At an end: the slope of the parabola through three keys, kept in the region where the cubic is monotone.
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
