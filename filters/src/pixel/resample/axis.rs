//! Resampling along one axis to another number of samples, by tables.

use super::warp::Warp;
use super::{Groups, InterpolationKernel, Kernel, Octets, Pass, dot_row, round_saturate};
use crate::simd::Level;

/// The windows of source samples from which the samples along an axis are computed: all of the same length, all within
/// the source, whose outermost samples stand for those beyond it.
#[derive(Clone, Debug)]
pub struct Axis<S> {
    /// Samples per window.
    pub taps: usize,
    /// The first sample of each window.
    pub at: Vec<u32>,
    /// The weights of the windows, one after the other.
    pub weights: Vec<S>,
    /// The nearest source sample of each sample.
    pub nearest: Vec<u32>,
}

impl<S: Copy> Axis<S> {
    /// For samples at these places of a source of `len` samples, 0 being the centre of its first; `step` is the distance
    /// of two of them. If it is larger than 1, the kernel is wider in proportion, so that no samples are skipped
    /// ([`InterpolationKernel::Nearest`] skips). No windows if the source has no samples.
    pub fn new<T: Kernel<Sum = S>>(
        kernel: InterpolationKernel,
        places: impl Iterator<Item = f64>,
        step: f64,
        len: usize,
    ) -> Axis<S> {
        let scale = if kernel == InterpolationKernel::Nearest { 1.0 } else { step.max(1.0) };
        let wide = 2 * libm::ceil(kernel.radius() * scale) as usize;
        let taps = if kernel == InterpolationKernel::Nearest { 1 } else { wide }.min(len);
        let mut axis = Axis { taps, at: Vec::new(), weights: Vec::new(), nearest: Vec::new() };
        if len == 0 {
            return axis;
        }
        let last = len as i64 - 1;
        let (mut list, mut sums) = (vec![0.0; wide], vec![0.0; taps]);
        for place in places {
            let nearest = (libm::floor(place + 0.5) as i64).clamp(0, last);
            axis.nearest.push(nearest as u32);
            if kernel == InterpolationKernel::Nearest {
                axis.at.push(nearest as u32);
                axis.weights.extend(T::weights(&[1.0]));
                continue;
            }
            let first = libm::floor(place) as i64 - (wide as i64 / 2 - 1);
            (first..).zip(&mut list).for_each(|(k, w)| *w = kernel.weight((place - k as f64) / scale));
            let start = first.clamp(0, (len - taps) as i64);
            sums.fill(0.0);
            (first..).zip(&list).for_each(|(k, w)| sums[(k.clamp(0, last) - start) as usize] += w);
            axis.at.push(start as u32);
            axis.weights.extend(T::weights(&sums));
        }
        axis
    }

    /// Window `i`: its first sample and its weights.
    pub fn window(&self, i: usize) -> (usize, &[S]) {
        (self.at[i] as usize, &self.weights[self.taps * i..][..self.taps])
    }
}

/// An axis, and its windows for the kernels that process several at a time.
#[derive(Clone, Debug)]
pub struct Windows<S> {
    /// The windows.
    pub axis: Axis<S>,
    groups: Groups,
    octets: Octets,
}

impl<S: bytemuck::Pod> Windows<S> {
    /// For rows of `len` source samples of the type `T`.
    pub fn new<T: Kernel<Sum = S>>(axis: Axis<S>, len: usize) -> Windows<S> {
        let (mut groups, mut octets) = (Groups::default(), Octets::default());
        if size_of::<T>() < 4 {
            let weights = bytemuck::cast_slice(&axis.weights);
            groups = Groups::new(&axis.at, weights);
            if groups.windows() + 7 < axis.at.len() {
                groups = Groups::default();
                octets = Octets::new(&axis.at, weights, len);
            }
        }
        Windows { axis, groups, octets }
    }

    /// Samples that a row has beyond its last one.
    pub const ROOM: usize = Groups::ROOM;

    /// Resamples a row of intermediate values, with [`ROOM`](Windows::ROOM), to samples of `bits` bits. `acc` has the
    /// length of `out`.
    pub fn row<T: Warp<Sum = S>>(
        &self,
        level: Level,
        out: &mut [T],
        acc: &mut [S],
        row: &[T::Wide],
        bits: u8,
    ) {
        let mut done = T::windows(level, out, row, &self.groups, bits);
        if done == 0 {
            done = T::long_windows(level, out, row, &self.octets, bits);
        }
        let Axis { taps, at, weights, .. } = &self.axis;
        dot_row(level, &mut acc[done..], row, &at[done..], &weights[done * taps..]);
        round_saturate(level, &mut out[done..], &acc[done..], bits, Pass::Narrow);
    }

    /// The bytes of the tables.
    pub fn bytes(&self) -> usize {
        let windows = self.axis.at.len();
        windows * (8 + self.axis.taps * size_of::<S>())
            + Groups::bytes(windows, self.axis.taps)
            + Octets::bytes(windows, self.axis.taps)
    }
}
