//! Computes the weights of a kernel from a size.

use super::COARSER;
use crate::frame::{Format, PictureStructure};
use crate::noise::Distribution;
use crate::pixel::grain::{MAX_PASSES, Pass, Taps};

/// Sizes, for a picture 1920 wide, and the kernels that match them visually. With more weight on the outer of five taps
/// (.15 beside .44 at size 2) the spread would be the same, and power at the highest frequencies along rows and columns
/// six decibels more: a weave of short lines.
const SIZES: [(f64, f64, f64); 5] =
    [(0.0, 0.0, 0.0), (0.5, 0.10, 0.0), (1.0, 0.21, 0.0), (1.5, 0.31, 0.0), (LARGEST, 0.5, 0.1)];

/// The largest size that five taps make. Above it they are replaced by `[.5 1 .5]`, which suppresses single samples,
/// over the interval of sizes [`CHANGE`].
const LARGEST: f64 = 1.85;
const CHANGE: f64 = 0.75;

/// The largest weight of neighbours in a pass before the last. Two passes of one step are then a cubic spline; a single
/// one would make triangular kernels, whose straight sides are visible as a weave along rows and columns.
const MOST: f64 = 0.5;

/// The step of pass `k`: 1 once (the last taps also have step 1), then each twice.
fn step(k: usize) -> usize {
    1 << k.div_ceil(2)
}

/// The decrease of the outer taps at full sharpness, for each unit of size.
const CRISP: f64 = 0.06;
/// The decrease of the weights of coarse passes: with more, grain would shrink where its size grows.
const CRISP_COARSE: f64 = 0.07;

/// One direction of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Axis {
    /// The last pass, over neighbours and those two samples away.
    pub(super) taps: Taps,
    /// The weights of the passes before it, over neighbours 1, 2, 2, 4, 4, 8 ... samples away, in 1/65536.
    pub(super) coarse: [i16; MAX_PASSES],
    /// The variance of its output for white noise of variance 1 (without the halving by `g >> 1` or by the
    /// passes).
    pub(super) power: f64,
    /// The factor of the variance of grain at this width of the picture.
    pub(super) gain: f64,
}

/// The second moment of a kernel: the mean square of the distance of its weights from the centre.
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
    /// Grain of `size` samples of the table's measure (above its end the spread grows on in the same proportion), and its
    /// sharpness, -1 (soft) to 1 (crisp).
    ///
    /// Second moments of passes add up. Above the table each pass in turn takes as much as is left of the moment wanted,
    /// up to the weight [`MOST`]; all weights are continuous in the size. Sharpness lowers the weight that would widen
    /// the kernel next.
    pub(super) fn new(size: f64, sharpness: f64) -> Axis {
        let size = if size > 0.0 { size } else { 0.0 };
        // At the size of a pixel nothing remains to be sharpened.
        let crisp = CRISP * sharpness * size.min(LARGEST);
        let (mut a, mut b) = kernel_of_size(size.min(LARGEST));
        let mut weights = [0.0; MAX_PASSES];
        if size <= LARGEST {
            b -= crisp;
        } else {
            let mut left = second_moment(a, b) * (size / LARGEST) * (size / LARGEST);
            let changed = ((size - LARGEST) / CHANGE).min(1.0);
            (a, b) = (a + (0.5 - a) * changed, b * (1.0 - changed));
            left -= second_moment(a, b);
            b -= crisp * (1.0 - changed);
            let crisp = CRISP_COARSE * sharpness;
            // A pass of weight c over s samples adds s^2 2c/(1+2c) to the moment.
            let most = 2.0 * MOST / (1.0 + 2.0 * MOST);
            for k in 0..MAX_PASSES {
                let square = (step(k) * step(k)) as f64;
                let part = left / square;
                if part >= most {
                    weights[k] = MOST;
                    left -= most * square;
                    continue;
                }
                let weight = 0.5 * part / (1.0 - part);
                weights[k] = weight - crisp * changed * (1.0 - weight / MOST);
                if let Some(next) = weights.get_mut(k + 1) {
                    *next = -crisp * changed * weight / MOST;
                }
                break;
            }
        }
        let (taps, coarse) = (Taps::new(a, b), weights.map(|w| Taps::new(w, 0.0).a));
        Axis { taps, coarse, power: kernel(taps, &coarse).iter().map(|w| w * w).sum(), gain: 1.0 }
    }

    /// Grain that looks the same in a picture `scale` times 1920 wide.
    ///
    /// The larger of the two pictures is compared after a reduction to the size of the other by means of samples. The
    /// remaining grain then has the same variance, and the same power at the lowest frequencies.
    pub(super) fn scaled(size: f64, sharpness: f64, scale: f64) -> Axis {
        let reference = Axis::new(size, sharpness);
        if scale == 1.0 {
            return reference;
        }
        let (of_reference, of_this) = if scale < 1.0 { (1.0 / scale, 1.0) } else { (1.0, scale) };
        let wanted = reference.reduced(of_reference);
        let (mut low, mut high) = (0.0, 1.0);
        while high < 256.0 && Axis::new(high, sharpness).reduced(of_this).spread < wanted.spread {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            let less = Axis::new(middle, sharpness).reduced(of_this).spread < wanted.spread;
            (low, high) = if less { (middle, high) } else { (low, middle) };
        }
        let axis = Axis::new(high, sharpness);
        Axis { gain: wanted.variance / axis.reduced(of_this).variance, ..axis }
    }

    /// The variance that remains of grain of variance 1 after means of so many samples.
    fn reduced(&self, samples: f64) -> Reduced {
        let kernel = kernel(self.taps, &self.coarse);
        let mut variance = 0.0;
        for lag in (0..kernel.len()).take_while(|&lag| (lag as f64) < samples) {
            let together: f64 = kernel.iter().zip(&kernel[lag..]).map(|(a, b)| a * b).sum();
            let pairs = if lag == 0 { 1.0 } else { 2.0 };
            variance += pairs * together / self.power * (1.0 - lag as f64 / samples) / samples;
        }
        let sum: f64 = kernel.iter().sum();
        Reduced { variance, spread: sum * sum / self.power / samples / variance }
    }
}

/// The grain in a picture that was reduced.
struct Reduced {
    variance: f64,
    /// The ratio of its power at the lowest frequencies to the mean: the number of correlated samples.
    spread: f64,
}

/// The combined weights of all passes; the middle one is near 1.
pub(super) fn kernel(taps: Taps, coarse: &[i16; MAX_PASSES]) -> Vec<f64> {
    let part = |w: i16| f64::from(w) / 65536.0;
    let (a, b) = (part(taps.a), part(taps.b));
    let passes = coarse.iter().enumerate().filter(|w| *w.1 != 0);
    passes.fold(vec![b, a, 1.0, a, b], |kernel, (k, &weight)| wider(&kernel, step(k), part(weight)))
}

/// The combined weights of one more pass and those before.
fn wider(kernel: &[f64], step: usize, weight: f64) -> Vec<f64> {
    let mut wider = vec![0.0; kernel.len() + 2 * step];
    for (i, v) in kernel.iter().enumerate() {
        wider[i] += weight * v;
        wider[i + step] += v;
        wider[i + 2 * step] += weight * v;
    }
    wider
}

/// The largest deviation of the numbers after a pass: the last taps increase it up to four times.
const MOST_DEVIATION: f64 = 1700.0;

/// A field of grain over a plane.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Field {
    /// Horizontally and vertically.
    pub(super) axes: [Axis; 2],
    /// Width and height of the plane.
    pub(super) size: (usize, usize),
    /// The passes before the last, over neighbours 1, 2, 2, 4, 4, 8 ... samples away; the largest steps come
    /// first.
    pub(super) passes: Vec<Pass>,
}

impl Field {
    pub(super) fn new(size: (usize, usize), axes: [Axis; 2]) -> Field {
        let used = |axis: &Axis| axis.coarse.iter().rposition(|&w| w != 0).map_or(0, |k| k + 1);
        let count = used(&axes[0]).max(used(&axes[1]));
        let mut kernels = [vec![1.0], vec![1.0]];
        let mut halved = 0.5 * Distribution::H8.deviation();
        let pass = |k: usize| {
            let weights = [0, 1].map(|i: usize| axes[i].coarse[k]);
            for (kernel, weight) in kernels.iter_mut().zip(weights) {
                *kernel = wider(kernel, step(k), f64::from(weight) / 65536.0);
            }
            let power: f64 = kernels.iter().map(|k| k.iter().map(|w| w * w).sum::<f64>()).product();
            halved *= 0.5;
            let shift = u32::from(halved * power.sqrt() > MOST_DEVIATION);
            halved *= [1.0, 0.5][shift as usize];
            (step(k), weights[0], weights[1], shift)
        };
        Field { axes, size, passes: Pass::all((0..count).rev().map(pass)) }
    }

    /// The distance beyond the plane up to which white noise is generated.
    pub(super) fn reach(&self) -> usize {
        self.passes.iter().map(|p| p.step).sum()
    }

    /// The factor of strength at this width of the picture.
    pub(super) fn strength(&self) -> f64 {
        (self.axes[0].gain * self.axes[1].gain).sqrt()
    }

    /// The standard deviation of n where that of g is `white`.
    pub(super) fn deviation(&self, white: f64) -> f64 {
        let halvings: u32 = self.passes.iter().map(|p| 1 + p.shift).sum();
        let halved = 0.5 / (1u32 << halvings) as f64;
        halved * white * (self.axes[0].power * self.axes[1].power).sqrt()
    }
}

/// The settings that make kernels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes {
    /// `size`.
    pub size: f64,
    /// `sharpness`.
    pub sharpness: f64,
    /// `chroma-size`.
    pub chroma: f64,
}

/// The separable kernel that makes white noise as coarse as grain.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Its weights, horizontally and vertically; the numbers are odd.
    pub weights: [Vec<f64>; 2],
    /// The variance of grain of strength 1 at this width of the picture.
    pub variance: f64,
}

/// The kernels of a plane: of the fine grain, and of the coarse grain that `variation` mixes in.
pub fn kernels(format: &Format, p: usize, sizes: &Sizes) -> [Kernel; 2] {
    [1.0, COARSER].map(|times| {
        let axes = axes(format, p, &Sizes { size: times * sizes.size, ..*sizes });
        let variance = axes[0].gain * axes[1].gain;
        Kernel { weights: axes.map(|axis| kernel(axis.taps, &axis.coarse)), variance }
    })
}

/// The coarsest field that the streams have numbers for.
const COARSEST: f64 = 160.0;

/// The directions of the grain of plane `p`.
pub(super) fn axes(format: &Format, p: usize, sizes: &Sizes) -> [Axis; 2] {
    let scale = f64::from(format.width) / 1920.0;
    let field = !matches!(format.picture, PictureStructure::Frame);
    let (sx, sy) = format.plane_subsampling(p);
    let size = if format.is_chroma(p) { sizes.size * sizes.chroma } else { sizes.size };
    let size = size.min(COARSEST);
    let part = |n: u32| 1.0 / f64::from(1u32 << n);
    let across = Axis::scaled(size * part(sx.into()), sizes.sharpness, scale);
    let down = Axis::scaled(size * part(u32::from(sy) + u32::from(field)), sizes.sharpness, scale);
    [across, down]
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
        for size in [1.86, 2.01, 2.3, 2.8, 3.3, 4.0, 5.6, 11.0, 32.0, 150.0] {
            let want = moment(LARGEST) * (size / LARGEST) * (size / LARGEST);
            assert!((moment(size) / want - 1.0).abs() < 2e-3, "{size}: {} for {want}", moment(size));
        }
    }

    /// The clumps of a kernel that is not round have straight sides along rows and columns.
    #[test]
    fn coarse_grain_is_round() {
        for tenth in 15..=400 {
            // The power that five taps leave above, at most a fifteenth of the strongest, is not round.
            let highest = if tenth < 20 { 40 } else { 50 };
            let axis = Axis::new(0.1 * f64::from(tenth), 0.0);
            let kernel = kernel(axis.taps, &axis.coarse);
            let (middle, sum) = ((kernel.len() / 2) as f64, kernel.iter().sum::<f64>());
            let power = |f: f64| {
                let turn = core::f64::consts::TAU * f;
                let wave = kernel.iter().enumerate().map(|(i, w)| w * libm::cos(turn * (i as f64 - middle)));
                let wave = wave.sum::<f64>() / sum;
                wave * wave
            };
            for f in (1..=highest).map(|k| 0.01 * f64::from(k)) {
                let diagonal = power(f * core::f64::consts::FRAC_1_SQRT_2);
                let (along, diagonal) = (power(f), diagonal * diagonal);
                let apart = 10.0 * libm::log10(along / diagonal);
                assert!(along < 0.01 || apart < 3.3, "{tenth} tenths at {f}: {apart} dB");
            }
        }
    }

    /// Compared with an exact computation of spectra, for each plane, folded by means of 2 or 4 samples.
    #[test]
    fn reduced_pictures_have_the_same_spectrum() {
        let turn = core::f64::consts::TAU;
        let spectrum = |axis: &Axis, f: f64| {
            let kernel = kernel(axis.taps, &axis.coarse);
            let middle = (kernel.len() / 2) as f64;
            let wave = kernel.iter().enumerate().map(|(i, w)| w * libm::cos(turn * f * (i as f64 - middle)));
            let sum: f64 = wave.sum();
            axis.gain * sum * sum / axis.power
        };
        let folded = |axis: &Axis, by: usize, f: f64| {
            let part = |m: usize| {
                let g = (f + m as f64) / by as f64;
                let s = libm::sin(turn / 2.0 * g);
                let mean =
                    if s.abs() < 1e-9 { 1.0 } else { libm::sin(turn / 2.0 * g * by as f64) / s / by as f64 };
                spectrum(axis, g) * mean * mean
            };
            (0..by).map(part).sum::<f64>() / by as f64
        };
        for size in [0.0, 0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 1.8, 2.0, 2.8, 4.0, 8.0, 16.0] {
            for sharpness in [-0.5, 0.0, 0.4] {
                let at = |width: f64| Axis::scaled(size, sharpness, width / 1920.0);
                for (narrow, by) in [(960.0, 2), (960.0, 4), (1920.0, 2), (480.0, 4)] {
                    let (small, large) = (at(narrow), at(narrow * by as f64));
                    let most = folded(&large, by, 0.0);
                    let (mut all, mut want_all) = (0.0, 0.0);
                    for k in 0..=40 {
                        let f = f64::from(k) / 80.0;
                        let (got, want) = (spectrum(&small, f), folded(&large, by, f));
                        let ends = if k == 0 || k == 40 { 0.5 } else { 1.0 };
                        (all, want_all) = (all + ends * got, want_all + ends * want);
                        if want > 0.1 * most && f <= 0.4 {
                            let (off, bound) =
                                (10.0 * libm::log10(got / want), if sharpness == 0.0 { 1.1 } else { 2.2 });
                            assert!(
                                off.abs() < bound,
                                "{size} {sharpness} {narrow} by {by} at {f}: {off} dB"
                            );
                        }
                    }
                    let off = 10.0 * libm::log10(all / want_all);
                    assert!(off.abs() < 0.22, "{size} {sharpness} {narrow} by {by}: {off} dB");
                }
            }
        }
    }

    #[test]
    fn sizes_at_other_widths_grow_with_the_size() {
        for scale in [0.035, 0.5, 0.75, 1.4, 2.0, 4.0] {
            for sharpness in [-1.0, 0.0, 1.0] {
                let spread = |size: f64| {
                    let axis = Axis::scaled(size, sharpness, scale);
                    let sum: f64 = kernel(axis.taps, &axis.coarse).iter().sum();
                    (sum * sum / axis.power, axis.gain)
                };
                let mut before = spread(0.0);
                for step in 1..=160 {
                    let now = spread(f64::from(step) * 0.05);
                    let grown = now.0 / before.0;
                    assert!((0.995..1.45).contains(&grown), "{scale} {sharpness} {step}: {grown}");
                    let louder = now.1 / before.1;
                    assert!((0.7..1.25).contains(&louder), "{scale} {sharpness} {step}: {louder}");
                    before = now;
                }
            }
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
