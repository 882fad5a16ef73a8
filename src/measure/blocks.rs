//! Estimates the grain of a block without a clean picture.

use super::cluster::{BlockLevel, NOTHING};
use super::{Field, Moments};
use std::f32::consts::FRAC_1_SQRT_2;

/// The side of a block in luma samples.
pub(super) const SIDE: usize = 32;

/// The grain of a block, and the brightness of the picture, row by row.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) grain: Vec<f32>,
    pub(super) bright: Vec<f32>,
}

/// The position of a block in samples of its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Spot {
    fn cut(self, a: &Field, (dx, dy): (i64, i64)) -> Option<Vec<f32>> {
        let left = usize::try_from(self.x as i64 + dx).ok()?;
        let top = usize::try_from(self.y as i64 + dy).ok()?;
        if left + self.width > a.width || top + self.height > a.height {
            return None;
        }
        let row = |i: usize| &a.row(top + i)[left..left + self.width];
        let all: Vec<f32> = (0..self.height).flat_map(row).copied().collect();
        // A non-finite sample would affect the whole block.
        all.iter().all(|v| v.is_finite()).then_some(all)
    }

    /// Horizontal and vertical slopes over three columns or rows; 0 at the edges.
    fn slopes(self, s: &[f32]) -> [Vec<f32>; 2] {
        let (w, h) = (self.width, self.height);
        let at = |x: usize, y: usize| s[y * w + x];
        let mut all = [vec![0.0; w * h], vec![0.0; w * h]];
        for y in 1..h.saturating_sub(1) {
            for x in 1..w.saturating_sub(1) {
                let three = |f: &dyn Fn(usize) -> f32| f(0) + f(1) + f(2);
                all[0][y * w + x] = three(&|i| at(x + 1, y + i - 1) - at(x - 1, y + i - 1));
                all[1][y * w + x] = three(&|i| at(x + i - 1, y + 1) - at(x + i - 1, y - 1));
            }
        }
        all
    }

    /// Means of 5x5 samples, as far as they are inside the block.
    fn smooth(self, s: &[f32]) -> Vec<f32> {
        let (w, h) = (self.width, self.height);
        let mean = |n: usize, len: usize, get: &dyn Fn(usize) -> f32| {
            let range = n.saturating_sub(2)..(n + 3).min(len);
            let count = range.len() as f32;
            range.map(get).sum::<f32>() / count
        };
        let across: Vec<f32> = (0..w * h).map(|i| mean(i % w, w, &|x| s[i / w * w + x])).collect();
        (0..w * h).map(|i| mean(i / w, h, &|y| across[y * w + i % w])).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// Subtracts the components along `shapes`.
fn remove_components(values: &mut [f32], shapes: Vec<Vec<f32>>) {
    let mut before: Vec<(Vec<f32>, f64)> = Vec::new();
    for mut shape in shapes {
        let own = dot(&shape, &shape);
        for (b, square) in &before {
            let part = (dot(&shape, b) / square) as f32;
            shape.iter_mut().zip(b).for_each(|(s, b)| *s -= part * b);
        }
        let square = dot(&shape, &shape);
        if square <= 1e-6 * own {
            continue;
        }
        let part = (dot(values, &shape) / square) as f32;
        values.iter_mut().zip(&shape).for_each(|(v, s)| *v -= part * s);
        before.push((shape, square));
    }
}

fn is_flat(values: &[f32]) -> bool {
    // A single code, as in black bars; or clipped at an end of the range.
    let cut = values.iter().filter(|v| **v <= 0.0 || **v >= 254.5).count();
    values.windows(2).all(|v| v[0] == v[1]) || 50 * cut > values.len()
}

impl Block {
    /// The difference of two frames, scaled to the strength of one frame's grain. Slow changes of light and motion by
    /// fractions of a sample, which differ along the picture's slopes, are removed; the differences of grain are
    /// independent of its sums.
    pub(super) fn of_two(a: &Field, b: &Field, spot: Spot, vector: (i64, i64)) -> Option<Block> {
        let (a, b) = (spot.cut(a, (0, 0))?, spot.cut(b, vector)?);
        if is_flat(&a) || is_flat(&b) {
            return None;
        }
        let mut grain: Vec<f32> = a.iter().zip(&b).map(|(a, b)| (a - b) * FRAC_1_SQRT_2).collect();
        let mean: Vec<f32> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        let [across, down] = spot.slopes(&mean);
        remove_components(&mut grain, vec![vec![1.0; mean.len()], across, down]);
        Some(Block { grain, bright: spot.smooth(&mean) })
    }

    /// The difference of a frame and its clean version, less its mean.
    pub(super) fn residual(plate: &Field, clean: &Field, spot: Spot) -> Option<Block> {
        let bright = spot.cut(clean, (0, 0))?;
        let mut grain: Vec<f32> = spot.cut(plate, (0, 0))?.iter().zip(&bright).map(|(a, b)| a - b).collect();
        remove_components(&mut grain, vec![vec![1.0; bright.len()]]);
        Some(Block { grain, bright })
    }

    /// Numbers whose mean is that of the cubes of grain: of the differences of three frames, in which the picture moves by
    /// `vector` from `c` to `a` and from `a` to `b`.
    pub(super) fn cubes([a, b, c]: [&Field; 3], spot: Spot, vector: (i64, i64)) -> Option<Vec<f32>> {
        let one = Block::of_two(a, b, spot, vector)?.grain;
        let [a, b, c] = [(a, 0), (b, 1), (c, -1)].map(|(f, n)| spot.cut(f, (n * vector.0, n * vector.1)));
        let (a, b, c) = (a?, b?, c?);
        let mut other: Vec<f32> = a.iter().zip(&b).zip(&c).map(|((a, b), c)| a + b - 2.0 * c).collect();
        let [across, down] = spot.slopes(&b);
        remove_components(&mut other, vec![vec![1.0; a.len()], across, down]);
        // (a - b)^2 (a + b - 2 c) has twice the third cumulant of a, b and c as its mean.
        Some(one.iter().zip(&other).map(|(d, e)| d * d * e).collect())
    }

    /// The difference of a frame, where the picture has moved by `vector`, and a smooth surface.
    pub(super) fn of_one(a: &Field, spot: Spot, vector: (i64, i64)) -> Option<Block> {
        let a = spot.cut(a, vector)?;
        if is_flat(&a) {
            return None;
        }
        let (w, h) = (spot.width, spot.height);
        let unit = |i: usize, n: usize| (2 * i + 1) as f32 / n as f32 - 1.0;
        let shape = |f: &dyn Fn(f32, f32) -> f32| {
            (0..w * h).map(|i| f(unit(i % w, w), unit(i / w, h))).collect::<Vec<f32>>()
        };
        let shapes = vec![
            shape(&|_, _| 1.0),
            shape(&|x, _| x),
            shape(&|_, y| y),
            shape(&|x, _| x * x),
            shape(&|x, y| x * y),
            shape(&|_, y| y * y),
        ];
        let mut grain = a.clone();
        remove_components(&mut grain, shapes);
        let bright = a.iter().zip(&grain).map(|(a, g)| a - g).collect();
        Some(Block { grain, bright })
    }

    pub(super) fn variance(&self) -> f64 {
        dot(&self.grain, &self.grain) / self.grain.len() as f64
    }

    pub(super) fn level(&self) -> BlockLevel {
        BlockLevel { bright: self.brightness(), level: self.variance().max(NOTHING).ln() }
    }

    /// The excess kurtosis.
    pub(super) fn kurtosis(&self) -> f64 {
        Moments::of(self.grain.iter().map(|&v| f64::from(v))).kurtosis()
    }

    /// The correlation with another block: the part of the variance that both have in common.
    pub(super) fn correlation(&self, other: &Block) -> f64 {
        let own = dot(&self.grain, &self.grain) + dot(&other.grain, &other.grain);
        if own > 0.0 { 2.0 * dot(&self.grain, &other.grain) / own } else { 0.0 }
    }

    /// The covariance with another block.
    pub(super) fn covariance(&self, other: &Block) -> f64 {
        dot(&self.grain, &other.grain) / self.grain.len() as f64
    }

    pub(super) fn brightness(&self) -> f64 {
        self.bright.iter().map(|&v| f64::from(v)).sum::<f64>() / self.bright.len() as f64
    }

    /// The ratio of the variations along and across its main direction: about 1 for grain, far more for
    /// edges.
    pub(super) fn direction(&self, spot: Spot) -> f64 {
        let [x, y] = spot.slopes(&self.grain);
        let (a, b, c) = (dot(&x, &x), dot(&x, &y), dot(&y, &y));
        let root = ((a - c) * (a - c) + 4.0 * b * b).sqrt();
        if a + c > root { (a + c + root) / (a + c - root) } else { f64::INFINITY }
    }

    /// The mean square of means of 4x4 samples: large for a wrong vector.
    pub(super) fn coarse(&self, spot: Spot) -> f64 {
        let field = Field { width: spot.width, height: spot.height, data: self.grain.clone() };
        let small = field.shrunk(2, 2);
        dot(&small.data, &small.data) / small.data.len() as f64
    }

    /// The variances of its 8x8 parts.
    pub(super) fn parts(&self, spot: Spot) -> Vec<f64> {
        let (w, h) = (spot.width / 8, spot.height / 8);
        let part = |i: usize| {
            let (x, y) = (i % w * 8, i / w * 8);
            let all =
                || (y..y + 8).flat_map(|y| &self.grain[y * spot.width + x..][..8]).map(|&v| f64::from(v));
            let mean = all().sum::<f64>() / 64.0;
            all().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 64.0
        };
        (0..w * h).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    const SPOT: Spot = Spot { x: 4, y: 6, width: SIDE, height: SIDE };

    #[test]
    fn a_surface_and_a_small_motion_leave_the_grain() {
        let grain = [normal(64, 64, 1), normal(64, 64, 2)];
        let hill = |x: f32, y: f32| 80.0 + 0.5 * x + 0.02 * x * y - 0.01 * y * y;
        let one = Field::from_fn(64, 64, |x, y| hill(x as f32, y as f32) + 3.0 * grain[0].row(y)[x]);
        let block = Block::of_one(&one, SPOT, (0, 0)).unwrap();
        assert!((block.variance() / 9.0 - 1.0).abs() < 0.1, "{}", block.variance());
        assert!((block.bright[0] - hill(4.0, 6.0)).abs() < 1.5 && block.direction(SPOT) < 1.3);
        // Steep waves, shifted by a third of a sample, and lighter.
        let wave = |x: f32| 100.0 + 60.0 * (x / 5.0).sin();
        let two = [0, 1].map(|n| {
            Field::from_fn(64, 64, |x, y| {
                wave(x as f32 + n as f32 / 3.0) + n as f32 + 3.0 * grain[n].row(y)[x]
            })
        });
        let block = Block::of_two(&two[0], &two[1], SPOT, (0, 0)).unwrap();
        assert!((block.variance() / 9.0 - 1.0).abs() < 0.12, "{}", block.variance());
        assert!(block.coarse(SPOT) < 2.0);
        assert!(Block::of_one(&two[0], SPOT, (0, 0)).unwrap().direction(SPOT) > 5.0);
    }

    /// Squares of normal numbers, less 1, have variance 2 and third cumulant 8.
    #[test]
    fn cubes_are_those_of_one_grain() {
        let [mut all, mut n] = [0.0; 2];
        for seed in 0..60 {
            let grain = [0, 1, 2].map(|n| normal(64, 64, 3 * seed + n));
            let frame = |n: usize| {
                Field::from_fn(64, 64, |x, y| {
                    // The picture moves two samples to the left and one up, and gets lighter.
                    let (u, v) = (x + 2 * n, y + n);
                    120.0
                        + 90.0 * (u as f32 / 4.0).sin()
                        + 0.3 * v as f32
                        + n as f32
                        + grain[n].row(y)[x].powi(2)
                })
            };
            let frames = [0, 1, 2].map(frame);
            let frames = [1, 2, 0].map(|n| &frames[n]);
            for cube in Block::cubes(frames, SPOT, (-2, -1)).unwrap() {
                (all, n) = (all + f64::from(cube), n + 1.0);
            }
        }
        assert!((all / n / 8.0 - 1.0).abs() < 0.1, "{}", all / n);
    }

    #[test]
    fn bars_are_no_blocks() {
        let bar = Field::from_fn(64, 64, |_, _| 16.0);
        assert!(
            Block::of_one(&bar, SPOT, (0, 0)).is_none() && Block::of_two(&bar, &bar, SPOT, (0, 0)).is_none()
        );
        let white = normal(64, 64, 3);
        assert!(Block::of_two(&white, &white, SPOT, (40, 0)).is_none(), "outside");
    }
}
