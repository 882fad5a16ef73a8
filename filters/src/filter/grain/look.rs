//! From a size to a kernel and a raster.

use crate::pixel::grain::Taps;

/// Sizes, at a picture 1920 wide, and the kernels that look like them.
const SIZES: [(f64, f64, f64); 5] =
    [(0.0, 0.0, 0.0), (0.5, 0.10, 0.0), (1.0, 0.21, 0.0), (1.5, 0.31, 0.0), (2.0, 0.44, 0.15)];

/// The coarsest: grain of 2^9 samples, beyond any picture that still looks like grain.
const MAX_LEVELS: u32 = 9;

/// The outer taps that full sharpness takes away.
const CRISP: f64 = 0.12;

/// One direction of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Axis {
    /// How often the raster is halved.
    pub(super) levels: u32,
    /// The kernel on that raster.
    pub(super) taps: Taps,
    /// The variance that it makes of white noise of variance 1 at the full raster (not halved by `g >> 1`).
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
    /// Grain of `size` samples of the table's measure (above 2 it grows on in the same proportion), and its
    /// sharpness, -1 (soft) to 1 (crisp).
    ///
    /// Half a raster is taken where the kernels end. Taking (3, 1)/4 on the way up adds 3/4 to the second moment of
    /// the kernel (in samples of its own raster), so the kernel below is the one that has what is left: the
    /// spread of the grain goes on without a step.
    pub(super) fn new(size: f64, sharpness: f64) -> Axis {
        let size = if size > 0.0 { size } else { 0.0 };
        let largest = second_moment(0.44, 0.15);
        let (mut levels, mut kernel) = (0, kernel_of_size(size.min(2.0)));
        if size > 2.0 {
            let mut left = largest * (size / 2.0) * (size / 2.0);
            while left > largest && levels < MAX_LEVELS {
                left = (left - 0.75) / 4.0;
                levels += 1;
            }
            // The spread grows with the size.
            let (mut low, mut high) = (0.0, 2.0);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let (a, b) = kernel_of_size(middle);
                if second_moment(a, b) < left { low = middle } else { high = middle }
            }
            kernel = kernel_of_size(0.5 * (low + high));
        }
        let (a, b) = (kernel.0, kernel.1 - CRISP * sharpness);
        let taps = Taps::new(a, b);
        Axis { levels, taps, power: power(levels, taps) }
    }
}

/// The mean over all phases of the sum of the squared weights with which white samples reach a sample.
fn power(levels: u32, taps: Taps) -> f64 {
    let (a, b) = (f64::from(taps.a) / 65536.0, f64::from(taps.b) / 65536.0);
    // Weights of each phase on the coarse raster; phase p of the next finer one mixes its parent and a neighbour.
    let mut phases = vec![vec![b, a, 1.0, a, b]];
    for _ in 0..levels {
        let shifted = |v: &[f64], by: usize| {
            let mut w = vec![0.0; by];
            w.extend_from_slice(v);
            w.resize(v.len() + 2, 0.0);
            w
        };
        let count = phases.len();
        let mut finer = Vec::with_capacity(2 * count);
        for p in 0..2 * count {
            let near = &phases[p / 2];
            // The neighbour of the finer sample lies before it (even) or behind it (odd), perhaps in another block.
            let (far, by) = match p % 2 {
                0 if p == 0 => (&phases[count - 1], 0),
                0 => (&phases[p / 2 - 1], 1),
                _ if p / 2 + 1 == count => (&phases[0], 2),
                _ => (&phases[p / 2 + 1], 1),
            };
            let (near, far) = (shifted(near, 1), shifted(far, by));
            finer.push(near.iter().zip(&far).map(|(n, f)| 0.75 * n + 0.25 * f).collect());
        }
        phases = finer;
    }
    let sum: f64 = phases.iter().flatten().map(|w: &f64| w * w).sum();
    sum / phases.len() as f64
}

/// A field of grain over a plane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Field {
    /// Across and down.
    pub(super) axes: [Axis; 2],
    /// Width and height of the plane.
    pub(super) size: (usize, usize),
    /// Of the raster on which the kernel runs.
    pub(super) coarse: (usize, usize),
}

impl Field {
    pub(super) fn new(size: (usize, usize), axes: [Axis; 2]) -> Field {
        let halved = |n: usize, levels: u32| (0..levels).fold(n, |n, _| n.div_ceil(2));
        let coarse = (halved(size.0, axes[0].levels), halved(size.1, axes[1].levels));
        Field { axes, size, coarse }
    }

    /// The standard deviation of n where that of g is `white`.
    pub(super) fn deviation(&self, white: f64) -> f64 {
        0.5 * white * (self.axes[0].power * self.axes[1].power).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_sizes() {
        for (size, a, b) in SIZES {
            let axis = Axis::new(size, 0.0);
            assert_eq!((axis.levels, axis.taps), (0, Taps::new(a, b)), "{size}");
            assert!((axis.power - (1.0 + 2.0 * a * a + 2.0 * b * b)).abs() < 1e-4, "{size}");
        }
        assert_eq!(Axis::new(1.0, 0.0).taps, Taps { a: 13763, b: 0 });
        assert_eq!(Axis::new(0.75, 0.0).taps, Taps::new(0.155, 0.0));
    }

    /// Autocorrelations of the whole way, averaged over phases.
    fn correlations(size: f64) -> [f64; 5] {
        let axis = Axis::new(size, 0.0);
        // The response to a coarse sample, at the full raster.
        let (a, b) = (f64::from(axis.taps.a) / 65536.0, f64::from(axis.taps.b) / 65536.0);
        let mut pulse = vec![b, a, 1.0, a, b];
        for _ in 0..axis.levels {
            let mut fine = vec![0.0; 2 * pulse.len() + 2];
            for (i, v) in pulse.iter().enumerate() {
                for (j, w) in [0.25, 0.75, 0.75, 0.25].into_iter().enumerate() {
                    fine[2 * i + j] += v * w;
                }
            }
            pulse = fine;
        }
        let at = |d: usize| -> f64 { pulse.iter().zip(pulse.iter().skip(d)).map(|(x, y)| x * y).sum() };
        [1, 2, 3, 4, 6].map(|d| at(d) / at(0))
    }

    #[test]
    fn grain_grows_without_a_step() {
        // The ways change at 2 and, the raster halving again, at 4.37 and further up.
        let mut before = correlations(0.0);
        let mut size = 0.0;
        while size < 20.0 {
            size += 0.01;
            let now = correlations(size);
            let step = now.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(step < 0.08, "at {size}: {before:?} to {now:?}");
            before = now;
        }
    }
}
