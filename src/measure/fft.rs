//! Fourier transforms of pictures.

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};
use std::fmt;
use std::sync::Arc;

/// The transform of pictures of one size, with `f64` for sums over many tiles and `f32` for whole frames.
#[derive(Clone)]
pub struct Fft2<T> {
    width: usize,
    height: usize,
    across: [Arc<dyn Fft<T>>; 2],
    down: [Arc<dyn Fft<T>>; 2],
}

impl<T> fmt::Debug for Fft2<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fft2({}x{})", self.width, self.height)
    }
}

impl<T: FftNum> Fft2<T> {
    /// A transform of `width` x `height` (each at least 1).
    pub fn new(width: usize, height: usize) -> Fft2<T> {
        let mut planner = FftPlanner::new();
        Fft2 {
            width,
            height,
            across: [planner.plan_fft_forward(width), planner.plan_fft_inverse(width)],
            down: [planner.plan_fft_forward(height), planner.plan_fft_inverse(height)],
        }
    }

    /// The number of samples of a picture.
    pub fn samples(&self) -> usize {
        self.width * self.height
    }

    /// Transforms a picture, row by row, to its spectrum, **column by column**: the amplitude of `kx` horizontal and
    /// `ky` vertical periods is at `kx * height + ky`. Leaving it transposed saves half of the copying.
    pub fn forward(&self, data: &mut Vec<Complex<T>>, spare: &mut Vec<Complex<T>>) {
        self.across[0].process(data);
        transpose(data, spare, self.width, self.height);
        self.down[0].process(data);
    }

    /// Transforms a spectrum, column by column, to the picture, row by row, multiplied by its number of
    /// samples.
    pub fn inverse(&self, data: &mut Vec<Complex<T>>, spare: &mut Vec<Complex<T>>) {
        self.down[1].process(data);
        transpose(data, spare, self.height, self.width);
        self.across[1].process(data);
    }
}

/// Transposes a picture in squares that fit the cache.
fn transpose<T: FftNum>(
    data: &mut Vec<Complex<T>>,
    spare: &mut Vec<Complex<T>>,
    width: usize,
    height: usize,
) {
    const SIDE: usize = 16;
    spare.resize(data.len(), Complex::new(T::zero(), T::zero()));
    for top in (0..height).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            for x in left..(left + SIDE).min(width) {
                let column = &mut spare[x * height..][..height];
                for y in top..(top + SIDE).min(height) {
                    column[y] = data[y * width + x];
                }
            }
        }
    }
    std::mem::swap(data, spare);
}

/// The frequency of index `k` of `n` in periods: 0, 1, .. and negative from the middle on.
pub fn signed(k: usize, n: usize) -> i64 {
    if 2 * k <= n { k as i64 } else { k as i64 - n as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wave_is_one_number_and_comes_back() {
        let (w, h) = (20, 18);
        let fft = Fft2::<f64>::new(w, h);
        let wave = |x: usize, y: usize| {
            let turn = 3.0 * x as f64 / w as f64 - 5.0 * y as f64 / h as f64;
            Complex::from_polar(1.0, std::f64::consts::TAU * turn)
        };
        let picture: Vec<_> = (0..w * h).map(|i| wave(i % w, i / w)).collect();
        let (mut data, mut spare) = (picture.clone(), Vec::new());
        fft.forward(&mut data, &mut spare);
        for (i, c) in data.iter().enumerate() {
            let here = (signed(i / h, w), signed(i % h, h)) == (3, -5);
            let expected = if here { (w * h) as f64 } else { 0.0 };
            assert!((c - expected).norm() < 1e-9, "{i}: {c}");
        }
        fft.inverse(&mut data, &mut spare);
        assert!(data.iter().zip(&picture).all(|(a, b)| (a / (w * h) as f64 - b).norm() < 1e-12));
    }
}
