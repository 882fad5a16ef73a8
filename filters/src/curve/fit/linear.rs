//! Straight lines.

use super::{Data, round};
use crate::curve::{Key, Shape};

/// Keys of lines within the bound: with free values, or at samples, whichever are fewer.
pub(super) fn keys(data: &Data<'_>, bound: f64) -> Vec<Key> {
    let subset = through_samples(data, bound);
    let free = free(data, bound);
    if free.len() < subset.len() && round::within(data, &free, bound) { free } else { subset }
}

/// Greedy: the longest line from sample to sample.
fn through_samples(data: &Data<'_>, bound: f64) -> Vec<Key> {
    let (t, v) = (&data.t, &data.v);
    let mut keys = vec![data.key(0, v[0], Shape::Linear)];
    let mut i = 0;
    while i + 1 < data.len() {
        // The range of slopes that pass all windows so far.
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut far = i + 1;
        for j in i + 1..data.len() {
            let (dt, dv) = (t[j] - t[i], v[j] - v[i]);
            let slope = dv / dt;
            // Slightly wider, since this computes the line differently; the exact check decides.
            let hair = 1e-12 * (slope.abs() + bound / dt);
            if slope >= low - hair && slope <= high + hair && fits(data, i, j, bound) {
                far = j;
            }
            low = low.max((dv - bound) / dt);
            high = high.min((dv + bound) / dt);
            if low - hair > high + hair {
                break;
            }
        }
        keys.push(data.key(far, v[far], Shape::Linear));
        i = far;
    }
    keys
}

/// Whether the line from sample to sample keeps to the bound, by the exact arithmetic of a curve. In theory only the
/// samples nearest to the limits of the cone can break it; because of rounding all are checked, from both ends.
fn fits(data: &Data<'_>, i: usize, j: usize, bound: f64) -> bool {
    let (a, b, h) = (data.v[i], data.v[j], data.t[j] - data.t[i]);
    (i + 1..j).all(|k| {
        let u = (data.t[k] - data.t[i]) / h;
        (a + (b - a) * u - data.v[k]).abs() <= bound
    })
}

/// Lines y = a + b x as points of the (a, b) plane: the set that passes all windows so far is a convex
/// polygon.
type Polygon = Vec<[f64; 2]>;

/// The part of a polygon where `side * (a + b x - y) >= 0`.
fn clip(polygon: &[[f64; 2]], x: f64, y: f64, side: f64, out: &mut Polygon) {
    out.clear();
    let f = |p: [f64; 2]| side * (p[0] + p[1] * x - y);
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (fp, fq) = (f(p), f(q));
        if fp >= 0.0 {
            out.push(p);
        }
        if (fp > 0.0 && fq < 0.0) || (fp < 0.0 && fq > 0.0) {
            let s = fp / (fp - fq);
            out.push([p[0] + (q[0] - p[0]) * s, p[1] + (q[1] - p[1]) * s]);
        }
    }
}

/// A stretch: its samples, and the lines that pass all their windows.
struct Stretch {
    from: usize,
    to: usize,
    lines: Polygon,
}

fn free(data: &Data<'_>, bound: f64) -> Vec<Key> {
    let (t, v) = (&data.t, &data.v);
    let mut stretches = Vec::new();
    let mut window = (v[0] - bound, v[0] + bound);
    let (mut i, mut other) = (0, Polygon::new());
    while i + 1 < data.len() {
        let x = t[i + 1] - t[i];
        let (low, high) = (v[i + 1] - bound, v[i + 1] + bound);
        let corner = |a: f64, y: f64| [a, (y - a) / x];
        let mut lines = vec![
            corner(window.0, low),
            corner(window.0, high),
            corner(window.1, high),
            corner(window.1, low),
        ];
        let mut to = i + 1;
        for j in i + 2..data.len() {
            let x = t[j] - t[i];
            let mut half = Polygon::new();
            clip(&lines, x, v[j] - bound, 1.0, &mut half);
            clip(&half, x, v[j] + bound, -1.0, &mut other);
            if other.is_empty() {
                break;
            }
            core::mem::swap(&mut lines, &mut other);
            to = j;
        }
        let x = t[to] - t[i];
        let ends = || lines.iter().map(|p| p[0] + p[1] * x);
        let low = ends().fold(f64::INFINITY, f64::min);
        let high = ends().fold(f64::NEG_INFINITY, f64::max);
        window = (low, high);
        stretches.push(Stretch { from: i, to, lines });
        i = to;
    }
    // Backwards from the end, choose the feasible value that is nearest to the sample.
    let last = data.len() - 1;
    let mut value = v[last].max(window.0).min(window.1);
    let mut keys = vec![data.key(last, value, Shape::Linear)];
    for s in stretches.iter().rev() {
        let (low, high) = slice(&s.lines, t[s.to] - t[s.from], value);
        value = v[s.from].max(low).min(high);
        keys.push(data.key(s.from, value, Shape::Linear));
    }
    keys.reverse();
    keys
}

/// The range of values at 0 of the lines that have the value `y` at `x`.
fn slice(lines: &[[f64; 2]], x: f64, y: f64) -> (f64, f64) {
    let f = |p: [f64; 2]| p[0] + p[1] * x - y;
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    let mut add = |a: f64| range = (range.0.min(a), range.1.max(a));
    for (i, &p) in lines.iter().enumerate() {
        let q = lines[(i + 1) % lines.len()];
        let (fp, fq) = (f(p), f(q));
        if fp == 0.0 {
            add(p[0]);
        }
        if (fp > 0.0 && fq < 0.0) || (fp < 0.0 && fq > 0.0) {
            add(p[0] + (q[0] - p[0]) * (fp / (fp - fq)));
        }
    }
    if range.0 > range.1 {
        // Rounding has moved the point past the last corner.
        let nearest = lines.iter().min_by(|p, q| f(**p).abs().total_cmp(&f(**q).abs()));
        range = nearest.map_or((0.0, 0.0), |p| (p[0], p[0]));
    }
    range
}
