//! A mask of blue noise: 64x64 ranks, computed by the void-and-cluster method (R. Ulichney, "The void-and-cluster
//! method for dither array generation", 1993).
//!
//! Points are placed one after the other, each into the largest void of the points before, which is the minimum of
//! their blurred picture on a torus. The number of a point is its rank. For the start, a tenth of all points are placed
//! at random; then the point of the tightest cluster is moved into the largest void until nothing changes.
//!
//! All sums are integers, and the first of equal positions is taken, so the mask is the same on every machine.

use crate::noise::seed::mix64;
use std::sync::{LazyLock, OnceLock};

/// Columns and rows.
pub const SIDE: usize = 64;
const COUNT: usize = SIDE * SIDE;

/// The blur is a Gaussian of this deviation in samples; its values are in 2^-20.
const SIGMA: f64 = 1.9;

struct Points {
    /// The blur of a point in the corner.
    bell: Vec<i32>,
    there: Vec<bool>,
    /// The blurred picture.
    blur: Vec<i32>,
}

impl Points {
    fn set(&mut self, at: usize, there: bool) {
        self.there[at] = there;
        let sign = if there { 1 } else { -1 };
        let (x, y) = (at % SIDE, at / SIDE);
        for (row, blur) in self.blur.chunks_exact_mut(SIDE).enumerate() {
            let bell = &self.bell[(row + SIDE - y) % SIDE * SIDE..][..SIDE];
            let (before, behind) = blur.split_at_mut(x);
            behind.iter_mut().zip(bell).for_each(|(b, v)| *b += sign * v);
            before.iter_mut().zip(&bell[SIDE - x..]).for_each(|(b, v)| *b += sign * v);
        }
    }

    fn best(&self, there: bool, better: impl Fn(i32, i32) -> bool) -> usize {
        let mut best = None;
        for (i, &blur) in self.blur.iter().enumerate().filter(|(i, _)| self.there[*i] == there) {
            if best.is_none_or(|(_, b)| better(blur, b)) {
                best = Some((i, blur));
            }
        }
        best.map_or(0, |(i, _)| i)
    }

    fn cluster(&self) -> usize {
        self.best(true, |a, b| a > b)
    }

    fn void(&self) -> usize {
        self.best(false, |a, b| a < b)
    }
}

fn make() -> Vec<u16> {
    let fold = |d: usize| d.min(SIDE - d) as f64;
    let bell = |i: usize| {
        let (x, y) = (fold(i % SIDE), fold(i / SIDE));
        libm::round(libm::exp(-(x * x + y * y) / (2.0 * SIGMA * SIGMA)) * f64::from(1 << 20)) as i32
    };
    let bell = (0..COUNT).map(bell).collect();
    let mut points = Points { bell, there: vec![false; COUNT], blur: vec![0; COUNT] };
    let (mut first, mut i) = (0, 0u64);
    while first < COUNT / 10 {
        let at = mix64(i + 1) as usize % COUNT;
        if !points.there[at] {
            points.set(at, true);
            first += 1;
        }
        i += 1;
    }
    // The loop ends after some hundred moves; the bound makes that evident.
    for _ in 0..COUNT {
        let from = points.cluster();
        points.set(from, false);
        let to = points.void();
        points.set(to, true);
        if from == to {
            break;
        }
    }
    let mut ranks = vec![0; COUNT];
    let start = points.there.clone();
    for rank in (0..first).rev() {
        let at = points.cluster();
        points.set(at, false);
        ranks[at] = rank as u16;
    }
    (0..COUNT).filter(|&i| start[i]).for_each(|i| points.set(i, true));
    for rank in first..COUNT {
        let at = points.void();
        points.set(at, true);
        ranks[at] = rank as u16;
    }
    ranks
}

/// The ranks 0 to 4095, row by row.
pub fn ranks() -> &'static [u16] {
    static RANKS: LazyLock<Vec<u16>> = LazyLock::new(make);
    &RANKS
}

/// The mask as dither noise in 1/32768: ranks spread to a triangular distribution from -1 to 1.
pub fn triangular() -> &'static [i16] {
    static NOISE: LazyLock<Vec<i16>> = LazyLock::new(|| {
        let one = |&rank: &u16| {
            let u = (f64::from(rank) + 0.5) / COUNT as f64;
            let r = if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * u).sqrt() };
            libm::floor(r * 32768.0 + 0.5) as i16
        };
        ranks().iter().map(one).collect()
    });
    &NOISE
}

/// Each row of ranks twice, so that [`SIDE`] of them follow each other from every column on.
fn doubled(of: impl Fn(u16) -> u16) -> Vec<u16> {
    let row = |row: &[u16]| row.iter().chain(row).map(|&rank| of(rank)).collect::<Vec<_>>();
    ranks().chunks_exact(SIDE).flat_map(row).collect()
}

/// The index in a table of doubled rows of the mask from a column, below [`SIDE`], on.
pub fn place(column: usize, row: usize) -> usize {
    row % SIDE * 2 * SIDE + column
}

/// The ranks, each row twice.
pub fn doubled_ranks() -> &'static [u16] {
    static RANKS: LazyLock<Vec<u16>> = LazyLock::new(|| doubled(|rank| rank));
    &RANKS
}

/// A rank as uniform noise of less than half a code, in 1/32768, times `part` / 32768.
pub fn uniform(rank: u16, part: i32) -> i16 {
    (((8 * i32::from(rank) + 4 - 16384) * part) >> 15) as i16
}

/// The mask for a reduction by `shift` bits, 1 to 8: numbers below `1 << shift` that are added before the shift, each
/// row twice.
pub fn levels(shift: u32) -> &'static [u16] {
    static LEVELS: [OnceLock<Vec<u16>>; 8] = [const { OnceLock::new() }; 8];
    // In a reduction to 8 bits, every level is equally frequent.
    let level = |rank| match shift {
        8 => rank >> 4,
        _ => ((16384 + i32::from(uniform(rank, 32767 - (1 << (15 - shift))))) >> (15 - shift)) as u16,
    };
    LEVELS[shift as usize - 1].get_or_init(|| doubled(level))
}

/// Fills a row from the mask, which repeats horizontally and vertically.
pub fn fill(out: &mut [i16], x: usize, y: usize) {
    let row = &triangular()[y % SIDE * SIDE..][..SIDE];
    let mut place = x % SIDE;
    let mut rest = out;
    while !rest.is_empty() {
        let count = rest.len().min(SIDE - place);
        let (now, later) = rest.split_at_mut(count);
        now.copy_from_slice(&row[place..place + count]);
        (rest, place) = (later, 0);
    }
}
