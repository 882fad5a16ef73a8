//! The correlation of a field with itself, shifted, and with others.

use super::Field;
use super::fft::Fft2;
use rustfft::num_complex::Complex;
use serde::Serialize;
use std::sync::Arc;

/// The largest lag, horizontally and vertically.
pub const LAGS: usize = 32;
/// Lags of a row: from -32 to 32.
const ACROSS: usize = 2 * LAGS + 1;
/// The side of the blocks and of the transforms.
const BLOCK: usize = 256;
const WIDTH: usize = BLOCK + 2 * LAGS;
const HEIGHT: usize = BLOCK + LAGS;

/// The transform that autocorrelations share.
#[derive(Clone, Debug)]
pub struct Transform(Arc<Fft2<f64>>);

impl Default for Transform {
    fn default() -> Transform {
        Transform(Arc::new(Fft2::new(WIDTH, HEIGHT)))
    }
}

/// Sums of products of samples at every distance up to 32 horizontally and vertically, with each pair inside a
/// field once. They are exact, without wrap-around or windows; transforms of 320x288 are only an optimisation.
#[derive(Clone, Debug)]
pub struct Autocorrelation {
    /// Row by row: (dx, dy) is at `dy * 65 + dx + 32`, dy from 0 to 32.
    sums: Vec<f64>,
    pairs: Vec<f64>,
}

impl Default for Autocorrelation {
    fn default() -> Self {
        let empty = vec![0.0; ACROSS * (LAGS + 1)];
        Autocorrelation { sums: empty.clone(), pairs: empty }
    }
}

/// A lag and its correlation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Lag {
    /// Horizontal distance in samples.
    pub dx: i64,
    /// Vertical distance in rows.
    pub dy: i64,
    /// The correlation, -1 to 1.
    pub value: f64,
    /// The same in standard deviations for independent samples.
    pub sigmas: f64,
}

impl Autocorrelation {
    /// Adds a field, whose mean must be 0.
    pub fn add(&mut self, field: &Field, transform: &Transform) {
        let fft = &*transform.0;
        let (mut data, mut spare) = (Vec::new(), Vec::new());
        let mut cross = vec![Complex::new(0.0, 0.0); WIDTH * HEIGHT];
        for top in (0..field.height).step_by(BLOCK) {
            for left in (0..field.width).step_by(BLOCK) {
                pair(field, left, top, &mut data);
                fft.forward(&mut data, &mut spare);
                multiply(&data, &mut cross);
            }
        }
        fft.inverse(&mut cross, &mut spare);
        let scale = 1.0 / fft.samples() as f64;
        for dy in 0..=LAGS {
            for i in 0..ACROSS {
                let dx = i as i64 - LAGS as i64;
                let x = dx.rem_euclid(WIDTH as i64) as usize;
                self.sums[dy * ACROSS + i] += cross[dy * WIDTH + x].re * scale;
                let across = field.width.saturating_sub(dx.unsigned_abs() as usize);
                self.pairs[dy * ACROSS + i] += (across * field.height.saturating_sub(dy)) as f64;
            }
        }
    }

    /// Adds the samples of a field where `mask` is 1; where it is 0 they must be 0.
    pub fn add_masked(&mut self, field: &Field, mask: &Field, transform: &Transform) {
        let (mut own, mut pairs) = (Autocorrelation::default(), Autocorrelation::default());
        own.add(field, transform);
        pairs.add(mask, transform);
        // Integers, except for rounding errors of the transforms.
        own.pairs = pairs.sums.iter().map(|s| s.round()).collect();
        self.merge(&own);
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, o: &Autocorrelation) {
        self.sums.iter_mut().zip(&o.sums).for_each(|(a, b)| *a += b);
        self.pairs.iter_mut().zip(&o.pairs).for_each(|(a, b)| *a += b);
    }

    /// The mean square of all samples.
    pub fn variance(&self) -> f64 {
        self.sums[LAGS] / self.pairs[LAGS].max(1.0)
    }

    /// The correlation at a lag: `dx` from -32 to 32, `dy` from 0 to 32. 0 if the field is too small for it.
    pub fn at(&self, dx: i64, dy: i64) -> Lag {
        let i = dy as usize * ACROSS + (dx + LAGS as i64) as usize;
        let own = self.variance();
        let pairs = self.pairs[i];
        let value = if pairs > 0.0 && own > 0.0 { self.sums[i] / pairs / own } else { 0.0 };
        Lag { dx, dy, value, sigmas: value * pairs.sqrt() }
    }

    /// All lags except 0; each also stands for its opposite.
    pub fn lags(&self) -> impl Iterator<Item = Lag> + '_ {
        let all = |dy: i64| (if dy == 0 { 1 } else { -(LAGS as i64) })..=LAGS as i64;
        (0..=LAGS as i64).flat_map(move |dy| all(dy).map(move |dx| self.at(dx, dy)))
    }

    /// The lag that is furthest from 0, in deviations.
    pub fn worst(&self) -> Lag {
        let none = Lag { dx: 0, dy: 0, value: 0.0, sigmas: 0.0 };
        self.lags().fold(none, |a, b| if b.sigmas.abs() > a.sigmas.abs() { b } else { a })
    }
}

/// A block as the real part; the block with its surroundings up to the largest lag as the imaginary part.
fn pair(field: &Field, left: usize, top: usize, data: &mut Vec<Complex<f64>>) {
    data.clear();
    for y in 0..HEIGHT {
        if top + y >= field.height {
            data.resize(data.len() + WIDTH, Complex::new(0.0, 0.0));
            continue;
        }
        let row = field.row(top + y);
        let at = |x: i64| {
            usize::try_from(left as i64 + x).ok().and_then(|x| row.get(x)).map_or(0.0, |&v| f64::from(v))
        };
        // Samples left of the block wrap around to the right end.
        data.extend((0..WIDTH as i64).map(|x| {
            let around = at(if x < (BLOCK + LAGS) as i64 { x } else { x - WIDTH as i64 });
            let inside = (x as usize) < BLOCK && y < BLOCK;
            Complex::new(if inside { around } else { 0.0 }, around)
        }));
    }
}

/// Adds conj(A) B for the spectra A and B of the real and imaginary part of a picture with the spectrum `z`:
/// A(k) = (z(k) + z'(-k)) / 2, B(k) = (z(k) - z'(-k)) / 2i.
fn multiply(z: &[Complex<f64>], cross: &mut [Complex<f64>]) {
    for kx in 0..WIDTH {
        let mirrored = (WIDTH - kx) % WIDTH * HEIGHT;
        for ky in 0..HEIGHT {
            let here = z[kx * HEIGHT + ky];
            let there = z[mirrored + (HEIGHT - ky) % HEIGHT].conj();
            let (a, b) = ((here + there) * 0.5, (here - there) * Complex::new(0.0, -0.5));
            cross[kx * HEIGHT + ky] += a.conj() * b;
        }
    }
}

/// Sums for the correlation of two variables.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Pair {
    products: f64,
    first: f64,
    second: f64,
    count: f64,
}

impl Pair {
    /// Adds pairs of numbers, whose means must be 0; the longer row is cut.
    pub fn add(&mut self, a: &[f32], b: &[f32]) {
        for (&a, &b) in a.iter().zip(b) {
            let (a, b) = (f64::from(a), f64::from(b));
            self.products += a * b;
            self.first += a * a;
            self.second += b * b;
        }
        self.count += a.len().min(b.len()) as f64;
    }

    /// A known correlation, as if from `count` pairs.
    pub fn known(value: f64, count: f64) -> Pair {
        Pair { products: value * count, first: count, second: count, count }
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, o: &Pair) {
        self.products += o.products;
        self.first += o.first;
        self.second += o.second;
        self.count += o.count;
    }

    /// The number of pairs.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The correlation coefficient, -1 to 1; 0 if one variable is constant.
    pub fn value(&self) -> f64 {
        let scale = (self.first * self.second).sqrt();
        if scale > 0.0 { self.products / scale } else { 0.0 }
    }

    /// The same in standard deviations for independent white noise.
    pub fn sigmas(&self) -> f64 {
        self.value() * self.count.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    fn of(field: &Field) -> Autocorrelation {
        let mut a = Autocorrelation::default();
        a.add(field, &Transform::default());
        a
    }

    /// The definition.
    fn slow(field: &Field, dx: i64, dy: i64) -> (f64, f64) {
        let (mut sum, mut pairs) = (0.0, 0.0);
        for y in 0..field.height as i64 - dy {
            for x in 0.max(-dx)..(field.width as i64).min(field.width as i64 - dx) {
                let (a, b) =
                    (field.row(y as usize)[x as usize], field.row((y + dy) as usize)[(x + dx) as usize]);
                sum += f64::from(a) * f64::from(b);
                pairs += 1.0;
            }
        }
        (sum, pairs)
    }

    #[test]
    fn every_pair_is_met_once() {
        for (w, h) in [(300, 270), (600, 40), (33, 513), (1, 1), (20, 3)] {
            let field = normal(w, h, 5);
            let a = of(&field);
            let lags = [(0, 0), (1, 0), (32, 0), (-32, 32), (32, 32), (-1, 1), (7, 13), (0, 32), (-32, 0)];
            for (dx, dy) in lags {
                let i = dy as usize * ACROSS + (dx + 32) as usize;
                let (sum, pairs) = slow(&field, dx, dy);
                assert_eq!(a.pairs[i], pairs.max(0.0), "{w}x{h} {dx},{dy}");
                assert!((a.sums[i] - sum).abs() < 1e-7, "{w}x{h} {dx},{dy}: {} {sum}", a.sums[i]);
            }
        }
    }

    #[test]
    fn masked_samples_do_not_count() {
        let field = normal(300, 270, 5);
        let mask = Field::from_fn(300, 270, |x, y| f32::from(u8::from((x / 32 + y / 32) % 3 == 0)));
        let masked = Field::from_fn(300, 270, |x, y| field.row(y)[x] * mask.row(y)[x]);
        let mut a = Autocorrelation::default();
        a.add_masked(&masked, &mask, &Transform::default());
        for (dx, dy) in [(0, 0), (1, 0), (-3, 2), (17, 5), (32, 32)] {
            let i = dy as usize * ACROSS + (dx + 32) as usize;
            assert!((a.sums[i] - slow(&masked, dx, dy).0).abs() < 1e-7, "{dx},{dy}");
            assert_eq!(a.pairs[i], slow(&mask, dx, dy).0, "{dx},{dy}");
        }
    }

    #[test]
    fn white_noise_is_like_nothing_and_a_shifted_copy_shows() {
        let white = normal(640, 480, 6);
        let a = of(&white);
        assert!(a.worst().sigmas.abs() < 5.0, "{:?}", a.worst());
        assert_eq!(a.lags().count(), 32 + 32 * 65);
        let both = Field::from_fn(600, 450, |x, y| white.row(y)[x + 20] + white.row(y + 30)[x]);
        let worst = of(&both).worst();
        // A sample at (x + 20, y) is in the second sum at (x + 20, y - 30).
        assert_eq!((worst.dx, worst.dy), (-20, 30));
        assert!((worst.value - 0.5).abs() < 0.01, "{worst:?}");
    }

    #[test]
    fn coefficients_of_pairs() {
        let mut p = Pair::default();
        p.add(&[1.0, -1.0, 0.0], &[2.0, -2.0, 0.0]);
        assert_eq!(p.value(), 1.0);
        p.merge(&p.clone());
        assert_eq!((p.count(), p.sigmas()), (6.0, 6.0f64.sqrt()));
        p.add(&[1.0; 4], &[-4.0; 4]);
        assert_eq!(Pair::default().value(), 0.0);
        assert!(p.value() < 0.0);
    }
}
