//! Rounds numbers to few digits and makes the final check.

use super::Data;
use crate::curve::key::length;
use crate::curve::segment::segment;
use crate::curve::{Handles, Key, MAX_VALUE, Shape};

/// Rounds the numbers of keys if the samples stay within the bound; otherwise returns the keys unchanged.
pub(super) fn keys(data: &Data<'_>, keys: Vec<Key>, bound: f64) -> Vec<Key> {
    // Start with the coarsest, a hundredth of the bound, then refine while there are decimals left.
    let mut scale = 1.0;
    while scale < 1e15 && 50.0 > bound * scale {
        scale *= 10.0;
    }
    let mut tries = 0;
    while bound > 0.0 && scale < 1e15 && tries < 3 {
        let rounded: Vec<Key> = keys.iter().map(|k| rounded(k, scale)).collect();
        if within(data, &rounded, bound) {
            return rounded;
        }
        scale *= 10.0;
        tries += 1;
    }
    keys
}

fn rounded(key: &Key, scale: f64) -> Key {
    let to = |v: f64, scale: f64| if v.abs() * scale < 1e15 { (v * scale).round() / scale + 0.0 } else { v };
    // An error of a slope grows with the length of the stretch, and the time of a handle affects the value.
    let (value, fine) = (to(key.value, scale), scale * 1000.0);
    let shape = match key.shape {
        Shape::Hermite { leave, arrive } => {
            Shape::Hermite { leave: to(leave, fine), arrive: to(arrive, fine) }
        }
        Shape::Bezier(h) => Shape::Bezier(Handles {
            leave: to(h.leave, 1e6),
            leave_by: to(h.leave_by, fine),
            arrive: to(h.arrive, 1e6),
            arrive_by: to(h.arrive_by, fine),
        }),
        shape => shape,
    };
    Key { value, shape, ..*key }
}

/// Whether every sample is within the bound of the curve, by the curve's own arithmetic. Keys must be at times of
/// samples, the first and last among them.
pub(super) fn within(data: &Data<'_>, keys: &[Key], bound: f64) -> bool {
    let mut i = 0;
    for (k, pair) in keys.windows(2).enumerate() {
        if pair[0].value.abs() > MAX_VALUE || !good(&pair[0].shape) {
            return false;
        }
        let (piece, h) = (segment(keys, k, 0), length(&pair[0], &pair[1]));
        while i < data.len() && data.samples[i].0 != pair[1].at {
            let passed = (data.samples[i].0.ratio() - pair[0].when()).to_f64();
            let u = (passed / h).clamp(0.0, 1.0);
            // The comparison rejects NaN.
            let far = (piece.value(u) - data.v[i]).abs();
            if far.is_nan() || far > bound {
                return false;
            }
            i += 1;
        }
    }
    let Some(last) = keys.last() else { return false };
    i + 1 == data.len() && (last.value - data.v[i]).abs() <= bound
}

fn good(shape: &Shape) -> bool {
    let small = |v: f64| v.abs() <= MAX_VALUE;
    match shape {
        Shape::Hermite { leave, arrive } => small(*leave) && small(*arrive),
        Shape::Bezier(h) => {
            let inside = |x: f64| (0.0..=1.0).contains(&x);
            inside(h.leave) && inside(h.arrive) && small(h.leave_by) && small(h.arrive_by)
        }
        _ => true,
    }
}
