//! From a size to the weights of a kernel.

use crate::pixel::grain::{MAX_PASSES, Pass, Taps};

/// Sizes, at a picture 1920 wide, and the kernels that look like them.
const SIZES: [(f64, f64, f64); 5] =
    [(0.0, 0.0, 0.0), (0.5, 0.10, 0.0), (1.0, 0.21, 0.0), (1.5, 0.31, 0.0), (2.0, 0.44, 0.15)];

/// Above size 2 the five taps give way to `[.5 1 .5]`, which lets no single sample through, over so much of size.
const CHANGE: f64 = 0.5;

/// The outer taps that full sharpness takes away.
const CRISP: f64 = 0.12;

/// One direction of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Axis {
    /// The last pass, over neighbours and those two samples away.
    pub(super) taps: Taps,
    /// The weights of the passes before it, over neighbours 2, 4, 8 ... samples away, in 1/65536.
    pub(super) coarse: [i16; MAX_PASSES],
    /// The variance that it makes of white noise of variance 1 (not halved by `g >> 1` or by the passes).
    pub(super) power: f64,
}

/// The second moment of a kernel: the mean square of how far its weights lie from the middle.
fn second_moment(a: f64, b: f64) -> f64 {
    (2.0 * a + 8.0 * b) / (1.0 + 2.0 * a + 2.0 * b)
}

fn kernel_of_size(size: f64) -> (f64, f64) {
    let i = SIZES.iter().rposition(|s| s.0 <= size).unwrap_or(0).min(SIZES.len() - 2);
    let ((s0, a0, b0), (s1, a1, b1)) = (SIZES[i], SIZES[i + 1]);
    let part = (size - s0) / (s1 - s0);
    (a0 + (a1 - a0) * part, b0 + (b1 - b0) * part)
}

impl Axis {
    /// Grain of `size` samples of the table's measure (above 2 its spread grows on in the same proportion), and its
    /// sharpness, -1 (soft) to 1 (crisp).
    ///
    /// Second moments of passes add up. Above size 2 each pass in turn takes as much as is left of the moment wanted,
    /// up to the weight 1/2; all weights are continuous in the size. Sharpness lowers the weight that would widen
    /// the kernel next.
    pub(super) fn new(size: f64, sharpness: f64) -> Axis {
        let size = if size > 0.0 { size } else { 0.0 };
        let crisp = CRISP * sharpness;
        let (mut a, mut b) = kernel_of_size(size.min(2.0));
        let mut weights = [0.0; MAX_PASSES];
        if size <= 2.0 {
            b -= crisp;
        } else {
            let mut left = second_moment(a, b) * (size / 2.0) * (size / 2.0);
            let changed = ((size - 2.0) / CHANGE).min(1.0);
            (a, b) = (a + (0.5 - a) * changed, b * (1.0 - changed));
            left -= second_moment(a, b);
            b -= crisp * (1.0 - changed);
            // A pass of weight c over s samples adds s^2 2c/(1+2c) to the moment.
            let mut square = 4.0;
            for k in 0..MAX_PASSES {
                let part = left / square;
                if part >= 0.5 {
                    weights[k] = 0.5;
                    left -= 0.5 * square;
                    square *= 4.0;
                    continue;
                }
                let weight = 0.5 * part / (1.0 - part);
                weights[k] = weight - crisp * changed * (1.0 - 2.0 * weight);
                if let Some(next) = weights.get_mut(k + 1) {
                    *next = -crisp * changed * 2.0 * weight;
                }
                break;
            }
        }
        let (taps, coarse) = (Taps::new(a, b), weights.map(|w| Taps::new(w, 0.0).a));
        Axis { taps, coarse, power: kernel(taps, &coarse).iter().map(|w| w * w).sum() }
    }
}

/// The weights of all passes in one, the middle one being near 1.
pub(super) fn kernel(taps: Taps, coarse: &[i16; MAX_PASSES]) -> Vec<f64> {
    let part = |w: i16| f64::from(w) / 65536.0;
    let (a, b) = (part(taps.a), part(taps.b));
    let mut kernel = vec![b, a, 1.0, a, b];
    for (k, &weight) in coarse.iter().enumerate().filter(|w| *w.1 != 0) {
        let (step, weight) = (2 << k, part(weight));
        let mut wider = vec![0.0; kernel.len() + 2 * step];
        for (i, v) in kernel.iter().enumerate() {
            wider[i] += weight * v;
            wider[i + step] += v;
            wider[i + 2 * step] += weight * v;
        }
        kernel = wider;
    }
    kernel
}

/// A field of grain over a plane.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Field {
    /// Across and down.
    pub(super) axes: [Axis; 2],
    /// Width and height of the plane.
    pub(super) size: (usize, usize),
    /// The passes before the last, over neighbours 2, 4, 8 ... samples away; the farthest come first.
    pub(super) passes: Vec<Pass>,
}

impl Field {
    pub(super) fn new(size: (usize, usize), axes: [Axis; 2]) -> Field {
        let used = |axis: &Axis| axis.coarse.iter().rposition(|&w| w != 0).map_or(0, |k| k + 1);
        let count = used(&axes[0]).max(used(&axes[1]));
        let pass = |k: usize| (2 << k, axes[0].coarse[k], axes[1].coarse[k]);
        Field { axes, size, passes: Pass::all((0..count).map(pass).collect()) }
    }

    /// How far beyond the plane white numbers are drawn.
    pub(super) fn reach(&self) -> usize {
        self.passes.iter().map(|p| p.step).sum()
    }

    /// The standard deviation of n where that of g is `white`.
    pub(super) fn deviation(&self, white: f64) -> f64 {
        let halved = 0.5 / (1u32 << self.passes.len()) as f64;
        halved * white * (self.axes[0].power * self.axes[1].power).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_sizes() {
        for (size, a, b) in SIZES {
            let axis = Axis::new(size, 0.0);
            assert_eq!((axis.coarse, axis.taps), ([0; MAX_PASSES], Taps::new(a, b)), "{size}");
            assert!((axis.power - (1.0 + 2.0 * a * a + 2.0 * b * b)).abs() < 1e-4, "{size}");
        }
        assert_eq!(Axis::new(1.0, 0.0).taps, Taps { a: 13763, b: 0 });
        assert_eq!(Axis::new(0.75, 0.0).taps, Taps::new(0.155, 0.0));
    }

    #[test]
    fn the_spread_grows_in_proportion() {
        let moment = |size: f64| {
            let axis = Axis::new(size, 0.0);
            let kernel = kernel(axis.taps, &axis.coarse);
            let middle = (kernel.len() / 2) as f64;
            let square = |(i, w): (usize, &f64)| w * (i as f64 - middle) * (i as f64 - middle);
            kernel.iter().enumerate().map(square).sum::<f64>() / kernel.iter().sum::<f64>()
        };
        for size in [2.01, 2.3, 2.8, 3.3, 4.0, 5.6, 11.0, 32.0, 200.0] {
            let want = moment(2.0) * size * size / 4.0;
            assert!((moment(size) / want - 1.0).abs() < 2e-3, "{size}: {} for {want}", moment(size));
        }
    }

    #[test]
    fn grain_grows_without_a_step() {
        for sharpness in [-1.0, 0.0, 0.6, 1.0] {
            let kernel = |size: f64| {
                let axis = Axis::new(size, sharpness);
                let kernel = kernel(axis.taps, &axis.coarse);
                let side = 600 - kernel.len() / 2;
                [vec![0.0; side], kernel, vec![0.0; side]].concat()
            };
            let mut size = 0.0;
            let mut before = kernel(size);
            while size < 70.0 {
                size += 0.01;
                let now = kernel(size);
                let distance: f64 = now.iter().zip(&before).map(|(a, b)| (a - b) * (a - b)).sum();
                let all: f64 = now.iter().map(|w| w * w).sum();
                assert!(distance < 1e-3 * all, "at {size}, {sharpness}: {}", distance / all);
                before = now;
            }
        }
    }
}
