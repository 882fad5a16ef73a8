//! The power spectrum: an averaged periodogram.
//!
//! Tiles of up to 256x256, overlapping by half, with Hann windows, are transformed and their powers averaged (Welch,
//! "The use of fast Fourier transform for the estimation of power spectra", 1967). Memory is that of one tile, for
//! pictures of any size.

use super::Field;
use super::fft::{Fft2, signed};
use rustfft::num_complex::Complex;
use std::sync::Arc;

/// The largest side of a tile.
pub const TILE: usize = 256;
/// Number of rings of the radial spectrum, from 0 to half a period per sample.
pub const RINGS: usize = 32;

/// Sums of the powers of tiles.
#[derive(Clone, Debug)]
pub struct Spectrum {
    plan: Arc<Plan>,
    /// Column by column: `kx * height + ky`.
    power: Vec<f64>,
    tiles: u64,
}

/// The shared data of all spectra of planes of one size.
#[derive(Debug)]
pub struct Plan {
    width: usize,
    height: usize,
    across: Vec<f64>,
    down: Vec<f64>,
    fft: Fft2<f64>,
    /// The ring of each amplitude of the left half, column by column; the others have no such ring.
    rings: Vec<u8>,
}

/// A ring of the radial spectrum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ring {
    /// Its middle frequency in cycles per sample: 0 to 1/2.
    pub frequency: f64,
    /// Mean power, relative to white noise of the same variance.
    pub power: f64,
    /// The number of independent amplitudes in it.
    pub modes: f64,
}

impl Ring {
    /// The power in dB relative to white noise of the same variance.
    pub fn db(&self) -> f64 {
        10.0 * self.power.max(1e-30).log10()
    }
}

fn hann(n: usize) -> Vec<f64> {
    let at = |i: usize| (std::f64::consts::PI * (i as f64 + 0.5) / n as f64).sin().powi(2);
    (0..n).map(at).collect()
}

/// The start positions of tiles of size `tile` in a side of `side`: evenly spaced, overlapping by at least
/// half, edge to edge.
fn starts(side: usize, tile: usize) -> impl Iterator<Item = usize> + Clone {
    let steps = (side - tile).div_ceil((tile / 2).max(1));
    (0..=steps).map(move |i| (i * (side - tile)).checked_div(steps).unwrap_or(0))
}

impl Plan {
    /// For planes of this size.
    pub fn new(width: usize, height: usize) -> Arc<Plan> {
        let (width, height) = (width.clamp(1, TILE), height.clamp(1, TILE));
        let (across, down) = (hann(width), hann(height));
        let ring = |kx, ky| {
            let (x, y) = (signed(kx, width), signed(ky, height));
            let (fx, fy) = (x as f64 / width as f64, y as f64 / height as f64);
            let ring = ((fx * fx + fy * fy).sqrt() * 2.0 * RINGS as f64) as u8;
            if x.abs() <= 1 && y.abs() <= 1 { u8::MAX } else { ring }
        };
        let rings = (0..=width / 2).flat_map(|kx| (0..height).map(move |ky| ring(kx, ky))).collect();
        Arc::new(Plan { width, height, across, down, fft: Fft2::new(width, height), rings })
    }

    /// Width and height of a tile.
    pub fn tile(&self) -> (usize, usize) {
        (self.width, self.height)
    }
}

impl Spectrum {
    /// An empty spectrum.
    pub fn new(plan: &Arc<Plan>) -> Spectrum {
        Spectrum { plan: Arc::clone(plan), power: vec![0.0; plan.width * plan.height], tiles: 0 }
    }

    /// An empty spectrum with tiles of the same size, or smaller if the fields are.
    pub fn like(&self, width: usize, height: usize) -> Spectrum {
        let (w, h) = self.plan.tile();
        if w <= width && h <= height {
            Spectrum::new(&self.plan)
        } else {
            Spectrum::new(&Plan::new(width, height))
        }
    }

    /// Adds a field, whose mean must be 0.
    pub fn add(&mut self, field: &Field) {
        let plan = &*self.plan;
        let lefts = starts(field.width, plan.width);
        let mut places = starts(field.height, plan.height).flat_map(|y| lefts.clone().map(move |x| (x, y)));
        let (mut data, mut spare) = (Vec::new(), Vec::new());
        // Two tiles are transformed at once, as real and imaginary part.
        while let Some(first) = places.next() {
            let second = places.next();
            data.clear();
            for y in 0..plan.height {
                let row = |(left, top): (usize, usize)| &field.row(top + y)[left..][..plan.width];
                let window = |x: usize| plan.across[x] * plan.down[y];
                match second.map(row) {
                    Some(other) => {
                        let both = row(first).iter().zip(other).enumerate();
                        data.extend(
                            both.map(|(x, (&a, &b))| Complex::new(f64::from(a), f64::from(b)) * window(x)),
                        );
                    }
                    None => {
                        let one = row(first).iter().enumerate();
                        data.extend(one.map(|(x, &a)| Complex::new(f64::from(a) * window(x), 0.0)));
                    }
                }
            }
            plan.fft.forward(&mut data, &mut spare);
            // The spectra a and b of two real tiles: |z(k)|^2 + |z(-k)|^2 = 2 (|a|^2 + |b|^2).
            for kx in 0..plan.width {
                let mirrored = (plan.width - kx) % plan.width * plan.height;
                for ky in 0..plan.height {
                    let there = mirrored + (plan.height - ky) % plan.height;
                    let here = kx * plan.height + ky;
                    self.power[here] += (data[here].norm_sqr() + data[there].norm_sqr()) / 2.0;
                }
            }
            self.tiles += 1 + u64::from(second.is_some());
        }
    }

    /// Adds the tiles of another.
    pub fn merge(&mut self, o: &Spectrum) {
        assert_eq!(self.plan.tile(), o.plan.tile(), "spectra of two sizes");
        self.power.iter_mut().zip(&o.power).for_each(|(a, b)| *a += b);
        self.tiles += o.tiles;
    }

    /// Width and height of a tile, and the number of tiles added.
    pub fn tiles(&self) -> (usize, usize, u64) {
        (self.plan.width, self.plan.height, self.tiles)
    }

    /// The radial spectrum of a field of variance `variance`. Rings have equal widths; the mean, and the amplitudes
    /// to which the window spreads it, are excluded. Rings without amplitudes (of small planes) are left out.
    pub fn rings(&self, variance: f64) -> Vec<Ring> {
        let energy = |w: &[f64]| w.iter().map(|v| v * v).sum::<f64>();
        let white = energy(&self.plan.across) * energy(&self.plan.down) * variance * self.tiles as f64;
        let scale = if white > 0.0 { 1.0 / white } else { 0.0 };
        self.average(|kx, ky| self.power[kx * self.plan.height + ky] * scale)
    }

    /// The radial spectrum for a given power at (x, y) cycles per sample, which equals that at (-x, -y), averaged over
    /// the same amplitudes as in [`rings`](Spectrum::rings), for comparison.
    pub fn rings_of(&self, power: impl Fn(f64, f64) -> f64) -> Vec<Ring> {
        let (w, h) = self.plan.tile();
        self.average(|kx, ky| power(signed(kx, w) as f64 / w as f64, signed(ky, h) as f64 / h as f64))
    }

    /// The radial spectrum to be expected of white noise of variance 1 after a separable kernel, of an odd number of
    /// weights horizontally and vertically, which is then scaled to variance 1. The window's spread is included.
    pub fn rings_of_kernel(&self, weights: &[Vec<f64>; 2]) -> Vec<Ring> {
        let (w, h) = self.plan.tile();
        let across = expected(&weights[0], &self.plan.across);
        let down = expected(&weights[1], &self.plan.down);
        self.average(|kx, ky| across[kx.min(w - kx)] * down[ky.min(h - ky)])
    }

    /// Means over the rings of a power at (kx, ky), which equals that at (-kx, -ky): one half of the plane is enough.
    fn average(&self, power: impl Fn(usize, usize) -> f64) -> Vec<Ring> {
        let (w, h) = self.plan.tile();
        let mut rings = [(0.0, 0u64); RINGS];
        for (kx, column) in self.plan.rings.chunks_exact(h).enumerate() {
            let times = if kx == 0 || 2 * kx == w { 1 } else { 2 };
            for (ky, ring) in column.iter().enumerate() {
                if let Some(ring) = rings.get_mut(usize::from(*ring)) {
                    ring.0 += times as f64 * power(kx, ky);
                    ring.1 += times;
                }
            }
        }
        let some = rings.iter().enumerate().filter(|r| r.1.1 > 0);
        some.map(|(i, &(sum, count))| Ring {
            frequency: (i as f64 + 0.5) / (2 * RINGS) as f64,
            power: sum / count as f64,
            modes: count as f64 / 2.0,
        })
        .collect()
    }
}

/// The power at 0 to half of all frequencies that a window shows of white noise after a kernel, whose variance is
/// made 1: the transform of the product of their autocorrelations.
fn expected(kernel: &[f64], window: &[f64]) -> Vec<f64> {
    let n = window.len();
    let together =
        |v: &[f64], lag: usize| v.iter().zip(v.get(lag..).unwrap_or(&[])).map(|(a, b)| a * b).sum::<f64>();
    let power = together(kernel, 0) * together(window, 0);
    let lags: Vec<f64> =
        (0..kernel.len().min(n)).map(|lag| together(kernel, lag) * together(window, lag) / power).collect();
    let turn = std::f64::consts::TAU / n as f64;
    let at = |k: usize| {
        let wave = |(lag, v): (usize, &f64)| 2.0 * v * (turn * (k * lag % n) as f64).cos();
        lags[0] + lags.iter().enumerate().skip(1).map(wave).sum::<f64>()
    };
    (0..=n / 2).map(at).collect()
}

/// The distance of two radial spectra with the same rings: rms of their difference in dB.
pub fn distance_db(a: &[Ring], b: &[Ring]) -> f64 {
    rms(a.iter().zip(b).map(|(a, b)| a.db() - b.db()))
}

/// The distance of a radial spectrum from a flat one: rms of its dB.
pub fn flatness_db(rings: &[Ring]) -> f64 {
    rms(rings.iter().map(Ring::db))
}

fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(s, n), v| (s + v * v, n + 1.0));
    if count > 0.0 { f64::sqrt(sum / count) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{normal, variance};
    use super::*;

    fn of(field: &Field) -> Spectrum {
        let mut s = Spectrum::new(&Plan::new(field.width, field.height));
        s.add(field);
        s
    }

    #[test]
    fn white_is_flat_and_of_its_variance() {
        let field = normal(640, 480, 1);
        let rings = of(&field).rings(variance(&field));
        assert_eq!(rings.len(), RINGS);
        assert!(flatness_db(&rings) < 0.2, "{}", flatness_db(&rings));
        let modes: f64 = rings.iter().map(|r| r.modes).sum();
        let mean = rings.iter().map(|r| r.power * r.modes).sum::<f64>() / modes;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }

    /// The power of a sine is in its ring; Hann's window spreads it over 3x3 amplitudes.
    #[test]
    fn a_sine_is_in_one_ring() {
        let wave =
            |x: usize, y: usize| (std::f64::consts::TAU * (60 * x + 25 * y) as f64 / 256.0).sin() as f32;
        let field = Field::from_fn(512, 300, wave);
        let rings = of(&field).rings(0.5);
        let ring = (65.0f64 / 256.0 * 64.0) as usize;
        let power: Vec<f64> = rings.iter().map(|r| r.power * 2.0 * r.modes / 65536.0).collect();
        assert!((power[ring - 1..=ring + 1].iter().sum::<f64>() - 1.0).abs() < 1e-6, "{power:?}");
        assert!(power[ring] > 0.6 && power.iter().sum::<f64>() < 1.0 + 1e-6);
    }

    /// A moving average of two samples across has the power 1 + cos(2 pi fx).
    #[test]
    fn a_kernel_shows() {
        let white = normal(1025, 512, 2);
        let field = Field::from_fn(1024, 512, |x, y| white.row(y)[x] + white.row(y)[x + 1]);
        let s = of(&field);
        let expected = s.rings_of(|fx, _| 1.0 + (std::f64::consts::TAU * fx).cos());
        let found = s.rings(variance(&field));
        assert!(distance_db(&found, &expected) < 0.25, "{}", distance_db(&found, &expected));
        assert!(flatness_db(&found) > 1.0);
    }

    #[test]
    fn the_spectrum_of_a_kernel_is_known() {
        let white = normal(1032, 520, 4);
        let [across, down] = [vec![0.2, 0.9, 0.2], vec![0.1, 0.4, 0.7, 0.9, 1.0, 0.9, 0.7, 0.4, 0.1]];
        let at = |x: usize, y: usize| {
            let row = |j: usize| {
                across.iter().enumerate().map(|(i, a)| a * white.row(y + j)[x + i] as f64).sum::<f64>()
            };
            down.iter().enumerate().map(|(j, d)| d * row(j)).sum::<f64>() as f32
        };
        let field = Field::from_fn(1024, 512, at);
        let s = of(&field);
        let (found, expected) =
            (s.rings(variance(&field)), s.rings_of_kernel(&[across.clone(), down.clone()]));
        assert!(distance_db(&found, &expected) < 0.25, "{}", distance_db(&found, &expected));
    }

    #[test]
    fn tiles_go_from_edge_to_edge() {
        assert_eq!(starts(256, 256).collect::<Vec<_>>(), [0]);
        assert_eq!(starts(300, 256).collect::<Vec<_>>(), [0, 44]);
        assert_eq!(starts(600, 256).collect::<Vec<_>>(), [0, 114, 229, 344]);
        assert_eq!(starts(5, 1).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        for (w, h) in [(1, 1), (1, 300), (3, 2), (257, 255)] {
            let rings = of(&normal(w, h, 3)).rings(1.0);
            assert!(rings.iter().all(|r| r.power.is_finite()), "{w}x{h}");
        }
    }
}
