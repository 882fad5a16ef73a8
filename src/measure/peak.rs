//! Finds one picture in another at any shift: the highest peak of their circular cross-correlation.

use super::Field;
use super::fft::{Fft2, signed};
use rustfft::num_complex::Complex;
use serde::Serialize;

/// The spectrum of a picture, or of two (as real and imaginary part), each with energy 1.
pub type Fingerprint = Vec<Complex<f32>>;

/// Working memory, to be reused for many comparisons.
#[derive(Clone, Debug, Default)]
pub struct Spare {
    product: Fingerprint,
    turned: Fingerprint,
}

/// Compares pictures of one size at all shifts.
#[derive(Clone, Debug)]
pub struct Correlator {
    width: usize,
    height: usize,
    fft: Fft2<f32>,
}

/// The shift with the largest absolute correlation of two pictures.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Peak {
    /// The shift of the second picture to the right relative to the first (both wrap around).
    pub dx: i64,
    /// The shift down.
    pub dy: i64,
    /// The correlation coefficient there.
    pub value: f64,
    /// Root mean square of the coefficients at all shifts: 1/sqrt(samples) for independent white noise, more if
    /// both have similar spectra.
    pub rms: f64,
}

impl Peak {
    /// Its height relative to the rms. For independent pictures, the highest of a million shifts is at about 5.
    pub fn sigmas(&self) -> f64 {
        if self.rms > 0.0 { self.value.abs() / self.rms } else { 0.0 }
    }
}

/// The highest peak of a frame's correlation, at all shifts, with the first frame and with the one before it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PeakReport {
    /// The numbers of the earlier and the later frame.
    pub frames: (i64, i64),
    /// The shift of the later one to the right.
    pub dx: i64,
    /// The shift down.
    pub dy: i64,
    /// The coefficient.
    pub value: f64,
    /// Relative to the rms at all shifts; up to 6.5 is chance.
    pub sigmas: f64,
}

impl Correlator {
    /// For pictures of this size (each side at least 1).
    pub fn new(width: usize, height: usize) -> Correlator {
        Correlator { width, height, fft: Fft2::new(width, height) }
    }

    /// The number of samples of a picture.
    pub fn samples(&self) -> usize {
        self.width * self.height
    }

    /// The spectrum of one or two fields, whose means must be 0.
    pub fn fingerprint(&self, a: &Field, b: Option<&Field>) -> Fingerprint {
        let mut data = Fingerprint::new();
        self.fingerprint_into(&mut data, a, b, &mut Spare::default());
        data
    }

    /// The same, into existing memory.
    pub fn fingerprint_into(&self, data: &mut Fingerprint, a: &Field, b: Option<&Field>, spare: &mut Spare) {
        let unit = |f: &Field| {
            assert_eq!((f.width, f.height), (self.width, self.height), "made for another size");
            let energy: f64 = f.data.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            if energy > 0.0 { (1.0 / energy.sqrt()) as f32 } else { 0.0 }
        };
        let ua = unit(a);
        data.clear();
        match b {
            Some(b) => {
                let ub = unit(b);
                data.extend(a.data.iter().zip(&b.data).map(|(a, b)| Complex::new(a * ua, b * ub)));
            }
            None => data.extend(a.data.iter().map(|a| Complex::new(a * ua, 0.0))),
        }
        self.fft.forward(data, &mut spare.turned);
    }

    /// The peaks of one picture with each of the two in `others` (if there is only one, the second peak is
    /// meaningless).
    pub fn peaks(&self, one: &Fingerprint, others: &Fingerprint, spare: &mut Spare) -> [Peak; 2] {
        let Spare { product: data, turned } = spare;
        data.clear();
        data.extend(one.iter().zip(others).map(|(a, b)| a.conj() * b));
        self.fft.inverse(data, turned);
        let scale = 1.0 / self.fft.samples() as f64;
        let mut highest = [(0.0f32, 0usize); 2];
        let mut squares = [0.0f64; 2];
        for (i, c) in data.iter().enumerate() {
            for (j, v) in [c.re, c.im].into_iter().enumerate() {
                squares[j] += f64::from(v) * f64::from(v);
                if v.abs() > highest[j].0.abs() {
                    highest[j] = (v, i);
                }
            }
        }
        [0, 1].map(|j| {
            let (value, i) = highest[j];
            let rms = (squares[j] / data.len() as f64).sqrt() * scale;
            let (dx, dy) = (signed(i % self.width, self.width), signed(i / self.width, self.height));
            Peak { dx, dy, value: f64::from(value) * scale, rms }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    #[test]
    fn a_shifted_copy_is_found_and_another_picture_is_not() {
        let (w, h) = (210, 128);
        let a = normal(w, h, 7);
        let copy = Field::from_fn(w, h, |x, y| -2.0 * a.row((y + 40) % h)[(x + w - 9) % w]);
        let other = normal(w, h, 8);
        let c = Correlator::new(w, h);
        let mut spare = Spare::default();
        let one = c.fingerprint(&a, None);
        let [found, none] = c.peaks(&one, &c.fingerprint(&copy, Some(&other)), &mut spare);
        assert_eq!((found.dx, found.dy), (9, -40));
        assert!((found.value + 1.0).abs() < 1e-4, "{found:?}");
        assert!(none.sigmas() < 6.0, "{none:?}");
        assert!((none.rms * (c.samples() as f64).sqrt() - 1.0).abs() < 0.02, "{none:?}");
        let [_, nothing] = c.peaks(&one, &c.fingerprint(&copy, None), &mut spare);
        assert!(nothing.value.abs() < 1e-6);
    }

    #[test]
    fn flat_pictures_have_no_peak() {
        let flat = Field::from_fn(7, 5, |_, _| 0.0);
        let c = Correlator::new(7, 5);
        let f = c.fingerprint(&flat, Some(&flat));
        assert_eq!(c.peaks(&f, &f, &mut Spare::default())[0].sigmas(), 0.0);
    }
}
