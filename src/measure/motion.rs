//! The global motion of a picture from one frame to the next, in whole samples.

use super::Field;
use std::collections::BTreeMap;

/// The side of blocks in pictures reduced to a quarter, and the search range there.
const SIDE: usize = 16;
const FAR: i64 = 8;
/// The search range at full size, around four times the reduced vector.
const FINE: i64 = 3;
/// The largest number of blocks that vote.
const VOTES: usize = 300;
/// The largest number of vectors, and the votes that each needs.
const KEPT: usize = 6;
const LEAST: usize = 3;

/// The mean square difference between a block and the one at a distance of `(dx, dy)` in `b`; `None` if that
/// is outside.
fn off(a: &Field, b: &Field, (x, y): (usize, usize), side: usize, (dx, dy): (i64, i64)) -> Option<f64> {
    let left = usize::try_from(x as i64 + dx).ok()?;
    let top = usize::try_from(y as i64 + dy).ok()?;
    if left + side > b.width || top + side > b.height {
        return None;
    }
    let row = |i: usize| a.row(y + i)[x..x + side].iter().zip(&b.row(top + i)[left..left + side]);
    let sum: f32 = (0..side).map(|i| row(i).map(|(a, b)| (a - b) * (a - b)).sum::<f32>()).sum();
    Some(f64::from(sum) / (side * side) as f64)
}

fn around(middle: (i64, i64), far: i64) -> impl Iterator<Item = (i64, i64)> {
    (-far..=far).flat_map(move |dy| (-far..=far).map(move |dx| (middle.0 + dx, middle.1 + dy)))
}

fn variance(a: &Field, (x, y): (usize, usize), side: usize) -> f64 {
    let all = || (y..y + side).flat_map(|y| &a.row(y)[x..x + side]).map(|&v| f64::from(v));
    let n = (side * side) as f64;
    let mean = all().sum::<f64>() / n;
    all().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n
}

/// Motion vectors from `a` to `b` that many blocks share, with the zero vector first.
pub(super) fn vectors(a: &Field, b: &Field) -> Vec<(i64, i64)> {
    let (small, there) = (a.shrunk(2, 2), b.shrunk(2, 2));
    let mut found = vec![(0, 0)];
    if small.width < 2 * SIDE || small.height < 2 * SIDE {
        return found;
    }
    let step = SIDE / 2;
    let across = (small.width - SIDE) / step + 1;
    let all = across * ((small.height - SIDE) / step + 1);
    let mut votes: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for i in (0..all).step_by(all.div_ceil(VOTES)) {
        let at = (i % across * step, i / across * step);
        let cost = |v| off(&small, &there, at, SIDE, v).unwrap_or(f64::INFINITY);
        let best = |places: &mut dyn Iterator<Item = (i64, i64)>, cost: &dyn Fn((i64, i64)) -> f64| {
            places.map(|v| (cost(v), v)).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let Some((least, coarse)) = best(&mut around((0, 0), FAR), &cost) else { continue };
        // A block without texture matches everywhere equally.
        if least.is_nan() || least >= 0.25 * variance(&small, at, SIDE) {
            continue;
        }
        let (x, y) = (4 * at.0, 4 * at.1);
        if x + 4 * SIDE > a.width || y + 4 * SIDE > a.height {
            continue;
        }
        let cost = |v| off(a, b, (x, y), 4 * SIDE, v).unwrap_or(f64::INFINITY);
        if let Some((_, v)) = best(&mut around((4 * coarse.0, 4 * coarse.1), FINE), &cost) {
            *votes.entry(v).or_default() += 1;
        }
    }
    let mut votes: Vec<_> = votes.into_iter().filter(|v| v.0 != (0, 0) && v.1 >= LEAST).collect();
    votes.sort_by_key(|v| std::cmp::Reverse(v.1));
    found.extend(votes.into_iter().take(KEPT).map(|v| v.0));
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    #[test]
    fn a_pan_is_found_under_grain() {
        let wave = |x: f32, y: f32| {
            100.0 + 40.0 * (x / 9.0 + (y / 31.0).sin()).sin() + 30.0 * (y / 7.0 + (x / 17.0).cos()).cos()
        };
        let grain = [normal(320, 256, 1), normal(320, 256, 2)];
        let at = |n: usize, (dx, dy): (i32, i32)| {
            Field::from_fn(320, 256, |x, y| {
                wave((x as i32 - dx) as f32, (y as i32 - dy) as f32) + 6.0 * grain[n].row(y)[x]
            })
        };
        assert_eq!(vectors(&at(0, (0, 0)), &at(1, (7, -3)))[..2], [(0, 0), (7, -3)]);
        assert_eq!(vectors(&at(0, (0, 0)), &at(1, (0, 0))), [(0, 0)]);
        let flat = Field::from_fn(320, 256, |_, _| 50.0);
        assert_eq!(vectors(&flat, &flat), [(0, 0)]);
        assert_eq!(vectors(&normal(20, 20, 1), &normal(20, 20, 2)), [(0, 0)]);
    }
}
