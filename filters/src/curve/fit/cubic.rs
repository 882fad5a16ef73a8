//! Cubics with continuous slope: value and slope at some of the samples.

use super::Data;
use crate::curve::bezier::Bezier;
use crate::curve::{Handles, Key, Shape};

const THIRDS: [f64; 2] = [1.0 / 3.0, 2.0 / 3.0];

/// A key while it is fitted.
#[derive(Clone, Copy)]
struct Knot {
    /// The index of its sample.
    i: usize,
    value: f64,
    slope: f64,
    /// The times of the handles of the stretch after it.
    x: [f64; 2],
}

pub(super) fn keys(data: &Data<'_>, bound: f64, bezier: bool) -> Vec<Key> {
    let mut knots = hermite(data, bound);
    if bezier {
        while merge(data, &mut knots, bound) {}
        // Fitting the ends to a tighter bound leaves more of the bound for stretches after keys between them
        // are removed.
        for part in [0.25, 0.06] {
            let mut other = hermite(data, part * bound);
            while merge(data, &mut other, bound) {}
            if other.len() < knots.len() {
                knots = other;
            }
        }
    }
    let shape = |a: &Knot, b: &Knot| {
        let h = data.t[b.i] - data.t[a.i];
        if !bezier {
            return Shape::Hermite { leave: a.slope, arrive: b.slope };
        }
        let [leave, arrive] = a.x;
        Shape::Bezier(Handles {
            leave,
            leave_by: a.slope * h * leave,
            arrive,
            arrive_by: -b.slope * h * (1.0 - arrive),
        })
    };
    let mut keys: Vec<Key> =
        knots.windows(2).map(|k| data.key(k[0].i, k[0].value, shape(&k[0], &k[1]))).collect();
    // No stretch begins at the last key.
    keys.extend(knots.last().map(|k| data.key(k.i, k.value, Shape::Linear)));
    keys
}

/// Fits knots with cubics in time between them.
fn hermite(data: &Data<'_>, bound: f64) -> Vec<Knot> {
    let mut knots = vec![Knot { i: 0, value: data.v[0], slope: 0.0, x: THIRDS }];
    knots.push(Knot { i: data.len() - 1, ..knots[0] });
    loop {
        solve(data, &mut knots, [false; 2], bound);
        let more = worst_samples(data, &knots, bound);
        if more.is_empty() {
            break;
        }
        let new = knots[0];
        knots.extend(more.into_iter().map(|i| Knot { i, ..new }));
        knots.sort_unstable_by_key(|k| k.i);
        knots.dedup_by_key(|k| k.i);
    }
    while thin(data, &mut knots, bound) || join(data, &mut knots, bound) {}
    knots
}

/// The weights of value and slope at both ends of a stretch in the value at `u`.
fn basis(u: f64, h: f64) -> [f64; 4] {
    let r = 1.0 - u;
    [r * r * (1.0 + 2.0 * u), h * u * r * r, u * u * (3.0 - 2.0 * u), -h * u * u * r]
}

/// The deviation of sample `k` from the cubic between two knots.
fn deviation_at(data: &Data<'_>, a: &Knot, b: &Knot, k: usize) -> f64 {
    let h = data.t[b.i] - data.t[a.i];
    let w = basis((data.t[k] - data.t[a.i]) / h, h);
    w[0] * a.value + w[1] * a.slope + w[2] * b.value + w[3] * b.slope - data.v[k]
}

fn is_within(data: &Data<'_>, a: &Knot, b: &Knot, bound: f64) -> bool {
    // The comparison rejects NaN.
    (a.i..=b.i).all(|k| deviation_at(data, a, b, k).abs() <= bound)
}

/// The worst sample of every stretch that exceeds the bound, or the middle of the stretch if that sample is a
/// knot already.
fn worst_samples(data: &Data<'_>, knots: &[Knot], bound: f64) -> Vec<usize> {
    let mut more = Vec::new();
    for pair in knots.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        if b.i - a.i < 2 || is_within(data, a, b, bound) {
            continue;
        }
        let worst = (a.i..=b.i)
            .max_by(|p, q| deviation_at(data, a, b, *p).abs().total_cmp(&deviation_at(data, a, b, *q).abs()));
        more.extend(worst.map(|w| if w == a.i || w == b.i { a.i + (b.i - a.i) / 2 } else { w }));
    }
    more
}

/// Removes knots where the bound still holds after refitting the neighbours.
fn thin(data: &Data<'_>, knots: &mut Vec<Knot>, bound: f64) -> bool {
    let mut gone = false;
    let mut k = 1;
    while k + 1 < knots.len() {
        let (from, to) = (k.saturating_sub(2), (k + 3).min(knots.len()));
        let mut near: Vec<Knot> = knots[from..to].to_vec();
        near.remove(k - from);
        solve(data, &mut near, [from > 0, to < knots.len()], bound);
        if near.windows(2).all(|pair| is_within(data, &pair[0], &pair[1], bound)) {
            knots.splice(from..to, near);
            gone = true;
        } else {
            k += 1;
        }
    }
    gone
}

/// Replaces two knots by one at a sample between them where the bound still holds.
fn join(data: &Data<'_>, knots: &mut Vec<Knot>, bound: f64) -> bool {
    let mut gone = false;
    let mut k = 1;
    while k + 2 < knots.len() {
        let (from, to) = (k.saturating_sub(2), (k + 4).min(knots.len()));
        let fixed = [from > 0, to < knots.len()];
        let (low, high) = (knots[k].i, knots[k + 1].i);
        let at = |i: usize| {
            let mut near: Vec<Knot> = knots[from..to].to_vec();
            near.remove(k - from);
            near[k - from].i = i;
            solve(data, &mut near, fixed, bound);
            let worst = near.windows(2).flat_map(|pair| {
                (pair[0].i..=pair[1].i).map(|k| deviation_at(data, &pair[0], &pair[1], k).abs())
            });
            (worst.fold(0.0, f64::max), near)
        };
        let mut i = low + (high - low) / 2;
        let mut best = at(i);
        let mut step = (high - low).div_ceil(4);
        while best.0 > bound && best.0 < 50.0 * bound {
            let sides = [i.checked_sub(step).filter(|i| *i >= low), Some(i + step).filter(|i| *i <= high)];
            let (before, here) = (best.0, i);
            for there in sides.into_iter().flatten().filter(|there| *there != here) {
                let tried = at(there);
                if tried.0 < best.0 {
                    (best, i) = (tried, there);
                }
            }
            if best.0 == before {
                if step == 1 {
                    break;
                }
                step = step.div_ceil(2);
            }
        }
        if best.0 <= bound {
            knots.splice(from..to, best.1);
            gone = true;
        } else {
            k += 1;
        }
    }
    gone
}

/// Fits value and slope of knots by least squares, reweighted in some rounds to reduce the largest deviations; the
/// first and the last knot may be fixed.
fn solve(data: &Data<'_>, knots: &mut [Knot], fixed: [bool; 2], bound: f64) {
    let (first, last) = (knots[0].i, knots[knots.len() - 1].i);
    let mut weights = vec![1.0; last - first + 1];
    let mut best: Option<(f64, Vec<Knot>)> = None;
    for _ in 0..5 {
        let Some(next) = least_squares(data, knots, fixed, &weights) else { break };
        let mut worst = 0.0f64;
        let mut total = 0.0;
        for pair in next.windows(2) {
            for k in pair[0].i..=pair[1].i {
                let far = deviation_at(data, &pair[0], &pair[1], k).abs();
                worst = worst.max(far);
                // Count a sample at a knot only once.
                if k < pair[1].i || k == last {
                    weights[k - first] *= far;
                    total += weights[k - first];
                }
            }
        }
        if best.as_ref().is_none_or(|b| worst < b.0) {
            best = Some((worst, next));
        }
        if !(worst > bound && worst < 3.0 * bound && total > 0.0) {
            break;
        }
        let n = weights.len() as f64;
        // No weight falls to zero for good.
        weights.iter_mut().for_each(|w| *w = *w / total * n * 0.97 + 0.03);
    }
    if let Some((_, best)) = best {
        knots.copy_from_slice(&best);
    }
}

type Block = [[f64; 2]; 2];

/// One weighted least squares fit: normal equations with 2 x 2 blocks, block tridiagonal.
fn least_squares(data: &Data<'_>, knots: &[Knot], fixed: [bool; 2], weights: &[f64]) -> Option<Vec<Knot>> {
    let n = knots.len();
    let origin = knots[0].i;
    let mut own = vec![[[0.0; 2]; 2]; n];
    let mut next: Vec<Block> = vec![[[0.0; 2]; 2]; n];
    let mut right = vec![[0.0; 2]; n];
    // Slopes are scaled to values over a typical stretch, so that all unknowns have a similar magnitude.
    let scale = (n - 1) as f64 / (data.t[knots[n - 1].i] - data.t[origin]);
    for (s, pair) in knots.windows(2).enumerate() {
        let (a, b) = (pair[0].i, pair[1].i);
        let h = data.t[b] - data.t[a];
        let end = if s + 2 == n { b } else { b - 1 };
        for k in a..=end {
            let (w, v) = (weights[k - origin], data.v[k]);
            let [v0, m0, v1, m1] = basis((data.t[k] - data.t[a]) / h, h);
            let (p, q) = ([v0, m0 * scale], [v1, m1 * scale]);
            for r in 0..2 {
                for c in 0..2 {
                    own[s][r][c] += w * p[r] * p[c];
                    own[s + 1][r][c] += w * q[r] * q[c];
                    next[s][r][c] += w * p[r] * q[c];
                }
                right[s][r] += w * p[r] * v;
                right[s + 1][r] += w * q[r] * v;
            }
        }
    }
    for (s, knot) in knots.iter().enumerate() {
        // A slope that no sample determines follows the neighbouring samples.
        let (i, j) = (knot.i.saturating_sub(1), (knot.i + 1).min(data.len() - 1));
        let slope = (data.v[j] - data.v[i]) / (data.t[j] - data.t[i]);
        let faint = 1e-9 * (1.0 + own[s][0][0]);
        own[s][1][1] += faint;
        right[s][1] += faint * slope / scale;
    }
    for (s, is_fixed) in [(0, fixed[0]), (n - 1, fixed[1])] {
        if !is_fixed {
            continue;
        }
        let known = [knots[s].value, knots[s].slope / scale];
        if s == 0 {
            for c in 0..2 {
                right[1][c] -= next[0][0][c] * known[0] + next[0][1][c] * known[1];
            }
            next[0] = [[0.0; 2]; 2];
        } else {
            let before = next[s - 1];
            for (r, row) in before.iter().enumerate() {
                right[s - 1][r] -= row[0] * known[0] + row[1] * known[1];
            }
            next[s - 1] = [[0.0; 2]; 2];
        }
        (own[s], right[s]) = ([[1.0, 0.0], [0.0, 1.0]], known);
    }
    for s in 0..n - 1 {
        let inverse = inverse(own[s])?;
        // own[s + 1] -= next^T own^-1 next, and the same for the right side.
        let (c, r) = (next[s], right[s]);
        let g = product(inverse, c);
        let z = [inverse[0][0] * r[0] + inverse[0][1] * r[1], inverse[1][0] * r[0] + inverse[1][1] * r[1]];
        for i in 0..2 {
            for j in 0..2 {
                own[s + 1][i][j] -= c[0][i] * g[0][j] + c[1][i] * g[1][j];
            }
            right[s + 1][i] -= c[0][i] * z[0] + c[1][i] * z[1];
        }
    }
    let mut out = knots.to_vec();
    let mut after = [0.0; 2];
    for s in (0..n).rev() {
        let (c, r) = (next[s], right[s]);
        let r =
            [r[0] - c[0][0] * after[0] - c[0][1] * after[1], r[1] - c[1][0] * after[0] - c[1][1] * after[1]];
        let m = inverse(own[s])?;
        after = [m[0][0] * r[0] + m[0][1] * r[1], m[1][0] * r[0] + m[1][1] * r[1]];
        (out[s].value, out[s].slope) = (after[0], after[1] * scale);
        if !(out[s].value.is_finite() && out[s].slope.is_finite()) {
            return None;
        }
    }
    Some(out)
}

fn inverse(m: Block) -> Option<Block> {
    let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let good = det != 0.0 && det.is_finite();
    good.then(|| [[m[1][1] / det, -m[0][1] / det], [-m[1][0] / det, m[0][0] / det]])
}

fn product(a: Block, b: Block) -> Block {
    let entry = |r: usize, c: usize| a[r][0] * b[0][c] + a[r][1] * b[1][c];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

/// Removes knots where one stretch with handles at other times can replace the two beside them.
fn merge(data: &Data<'_>, knots: &mut Vec<Knot>, bound: f64) -> bool {
    let mut gone = false;
    let mut k = 1;
    while k + 1 < knots.len() {
        match handles(data, &knots[k - 1], &knots[k + 1], knots[k - 1].x, bound) {
            Some(x) => {
                knots[k - 1].x = x;
                knots.remove(k);
                gone = true;
            }
            None => k += 1,
        }
    }
    gone
}

/// Finds the handle times with which a stretch with given ends keeps to the bound: a pattern search for the smallest
/// maximum deviation, from two starts.
fn handles(data: &Data<'_>, a: &Knot, b: &Knot, near: [f64; 2], bound: f64) -> Option<[f64; 2]> {
    let h = data.t[b.i] - data.t[a.i];
    let worst = |x: [f64; 2], enough: f64| {
        let y = [a.value, a.value + a.slope * h * x[0], b.value - b.slope * h * (1.0 - x[1]), b.value];
        let bezier = Bezier { x, y };
        let mut worst = 0.0f64;
        for k in a.i..=b.i {
            worst = worst.max((bezier.value((data.t[k] - data.t[a.i]) / h) - data.v[k]).abs());
            if worst >= enough {
                break;
            }
        }
        worst
    };
    let starts: [[f64; 2]; 2] = [THIRDS, near];
    for start in starts.iter().take(if near == THIRDS { 1 } else { 2 }) {
        let mut x = *start;
        let mut best = worst(x, f64::INFINITY);
        let mut step = 0.16;
        while step > 1e-3 && best > bound {
            let before = best;
            for d in [
                [1.0, 0.0],
                [-1.0, 0.0],
                [0.0, 1.0],
                [0.0, -1.0],
                [1.0, 1.0],
                [-1.0, -1.0],
                [1.0, -1.0],
                [-1.0, 1.0],
            ] {
                let there = [0, 1].map(|i| (x[i] + step * d[i]).clamp(0.01, 0.99));
                let far = worst(there, best);
                if far < best {
                    (best, x) = (far, there);
                }
            }
            if best == before {
                step /= 2.0;
            }
            // The deviation is large and hardly falls: give up.
            if best > 30.0 * bound || (best > 6.0 * bound && step < 0.04) {
                break;
            }
        }
        if best <= bound {
            return Some(x);
        }
    }
    None
}
