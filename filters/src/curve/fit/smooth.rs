//! Chooses samples as keys of the smooth shape.

use super::Data;
use crate::curve::segment::segment;
use crate::curve::{Key, Shape};

pub(super) fn keys(data: &Data<'_>, bound: f64) -> Vec<Key> {
    let mut best = refined(data, vec![0, data.len() - 1], bound);
    let breaks = breakpoints(data, bound);
    if breaks.len() < best.len() {
        let other = refined(data, breaks, bound);
        if other.len() < best.len() {
            best = other;
        }
    }
    best.iter().map(|&i| data.key(i, data.v[i], Shape::Smooth)).collect()
}

/// Candidates for keys, with both ends. Between two keys a smooth curve is a cubic, whose fourth differences are 0; at
/// a key the second derivative jumps, which shows in the differences around it.
fn breakpoints(data: &Data<'_>, bound: f64) -> Vec<usize> {
    let (t, v, last) = (&data.t, &data.v, data.len() - 1);
    let mut found = vec![0];
    let even = t.windows(3).all(|w| w[1] - w[0] == w[2] - w[1]);
    let size = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let enough = 16.0 * bound.max(1e-14 * size);
    let mut row: Option<(usize, usize)> = None;
    if even && last >= 4 {
        for i in 2..=last {
            let jumps = i + 2 <= last
                && (v[i - 2] - 4.0 * v[i - 1] + 6.0 * v[i] - 4.0 * v[i + 1] + v[i + 2]).abs() > enough;
            match (jumps, row) {
                (true, None) => row = Some((i, i)),
                (true, Some((from, _))) => row = Some((from, i)),
                // The key may lie between the samples with large differences.
                (false, Some((from, to))) if i > to + 1 || i == last => {
                    found.extend(if to - from <= 4 {
                        from.midpoint(to)..=from.midpoint(to)
                    } else {
                        from..=to
                    });
                    row = None;
                }
                (false, _) => {}
            }
        }
    }
    found.push(last);
    found.dedup();
    found
}

/// Adds keys where the bound is exceeded, and removes those that are not needed.
fn refined(data: &Data<'_>, mut chosen: Vec<usize>, bound: f64) -> Vec<usize> {
    // Stretches within the bound stay so until a key near them changes.
    let mut good = vec![false; chosen.len() - 1];
    loop {
        let mut more = Vec::new();
        for (k, good) in good.iter_mut().enumerate() {
            if !*good {
                match worst(data, &chosen, k, bound) {
                    Some(i) => more.push(i),
                    None => *good = true,
                }
            }
        }
        if more.is_empty() {
            break;
        }
        let fresh = |i: &usize| more.binary_search(i).is_ok();
        let mut next: Vec<usize> = chosen.iter().chain(&more).copied().collect();
        next.sort_unstable();
        // A new key changes its own stretches and their neighbours.
        let was =
            |i: usize| chosen.binary_search(&i).ok().is_some_and(|k| good.get(k).copied().unwrap_or(false));
        let near = |k: usize| (k.saturating_sub(1)..=(k + 2).min(next.len() - 1)).any(|k| fresh(&next[k]));
        good = (0..next.len() - 1).map(|k| was(next[k]) && !near(k)).collect();
        chosen = next;
    }
    thin(data, &mut chosen, bound);
    chosen
}

/// Removes unnecessary keys, from left to right, repeatedly until none is left.
fn thin(data: &Data<'_>, chosen: &mut Vec<usize>, bound: f64) {
    let mut gone = true;
    while gone {
        gone = false;
        let mut k = 1;
        while k + 1 < chosen.len() {
            let i = chosen.remove(k);
            let near = k.saturating_sub(2)..(k + 1).min(chosen.len() - 1);
            if near.clone().all(|s| worst(data, chosen, s, bound).is_none()) {
                gone = true;
            } else {
                chosen.insert(k, i);
                k += 1;
            }
        }
    }
}

/// The sample of stretch `k` that is farthest from the curve, if it exceeds the bound.
fn worst(data: &Data<'_>, chosen: &[usize], k: usize, bound: f64) -> Option<usize> {
    let (from, to) = (k.saturating_sub(1), (k + 3).min(chosen.len()));
    let keys: Vec<Key> = chosen[from..to].iter().map(|&i| data.key(i, data.v[i], Shape::Smooth)).collect();
    let piece = segment(&keys, k - from, 0);
    let (a, b) = (chosen[k], chosen[k + 1]);
    let h = data.t[b] - data.t[a];
    let far = |i: usize| (piece.value((data.t[i] - data.t[a]) / h) - data.v[i]).abs();
    let worst = (a + 1..b).map(|i| (far(i), i)).max_by(|x, y| x.0.total_cmp(&y.0))?;
    (worst.0 > bound).then_some(worst.1)
}
