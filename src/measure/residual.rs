//! The grain of a plate: its difference from a clean version.
//!
//! Strength is measured by brightness; all other properties are measured on the grain divided by its strength, so that
//! all brightnesses have the same weight. Brightness is luma of the clean picture (for RGB, the plane's own value);
//! brightness and strength are in 8-bit code values.

use super::correlation::{Autocorrelation, Pair, Transform};
use super::spectrum::{Plan, Ring, Spectrum};
use super::{Field, Moments};
use grainfield_filters::frame::{Format, Frame};
use std::sync::Arc;

/// Number of brightness bins, of 8 code values each.
pub const BINS: usize = 32;
/// Code values per bin.
const BIN: f32 = 8.0;
/// Degrees of freedom from which a bin is used: its strength is known to 2 %.
pub const EVIDENCE: f64 = 1250.0;
/// The number of earlier frames for the comparison.
pub const BACK: usize = 4;
/// The number of samples from which a bin's grain is divided by its strength.
const SOME: f64 = 100.0;
/// A bin with a lower strength, in code values, has no grain.
const LEAST: f64 = 0.02;
/// Grain reaches black or white where they are nearer than so many standard deviations.
const CLIPPED: f32 = 2.5;

/// An area of the picture, in luma samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    /// Samples left of it.
    pub x: usize,
    /// Rows above it.
    pub y: usize,
    /// Its width.
    pub width: usize,
    /// Its height.
    pub height: usize,
}

/// Grain at one brightness.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bin {
    /// Number of samples.
    pub count: f64,
    sum: f64,
    squares: f64,
    /// The number of cubes of grain that were measured, and their sum.
    cubes: (f64, f64),
}

impl Bin {
    /// The mean difference from the clean picture; 0 without samples.
    pub fn mean(&self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }

    /// The standard deviation; 0 without samples.
    pub fn strength(&self) -> f64 {
        let mean = self.mean();
        if self.count > 0.0 { (self.squares / self.count - mean * mean).max(0.0).sqrt() } else { 0.0 }
    }

    /// Whether there are enough samples.
    pub fn counts(&self) -> bool {
        self.count >= EVIDENCE
    }
}

/// The grain of a plane.
#[derive(Clone, Debug)]
pub struct PlaneGrain {
    /// By brightness.
    pub bins: [Bin; BINS],
    /// The spectrum of the grain divided by its strength, like all further fields.
    pub spectrum: Spectrum,
    /// The autocorrelation up to 32 samples.
    pub auto: Autocorrelation,
    /// Skew and kurtosis.
    pub moments: Moments,
    /// Correlation with the grain 1 to [`BACK`] pictures earlier.
    pub temporal: [Pair; BACK],
    /// Correlation of chroma with luma; of G, B and R with the next plane.
    pub channel: Pair,
    /// For chroma, correlation with luma at the lags of an autoregressive filter: (dx, dy) of -3 to 3 and 0 to 3
    /// samples before, at `dy * 7 + dx + 3`.
    pub luma: [Pair; 28],
    /// Whether differences of two patterns of grain were measured, which changes skew and kurtosis.
    pub(super) two: bool,
}

impl PlaneGrain {
    pub(super) fn new(plan: &Arc<Plan>) -> PlaneGrain {
        PlaneGrain {
            bins: Default::default(),
            spectrum: Spectrum::new(plan),
            auto: Autocorrelation::default(),
            moments: Moments::default(),
            temporal: Default::default(),
            channel: Pair::default(),
            luma: [Pair::default(); 28],
            two: false,
        }
    }

    /// The middle of bin `i`, in code values.
    pub const fn middle(i: usize) -> f64 {
        (i as f64 + 0.5) * BIN as f64
    }

    /// The strength over all samples, and their number.
    pub fn overall(&self) -> (f64, f64) {
        let count: f64 = self.bins.iter().map(|b| b.count).sum();
        let power: f64 = self.bins.iter().map(|b| b.count * b.strength() * b.strength()).sum();
        ((power / count.max(1.0)).sqrt(), count)
    }

    /// The radial spectrum relative to white grain of the same strength.
    pub fn rings(&self) -> Vec<Ring> {
        self.spectrum.rings(self.auto.variance())
    }

    /// The number of samples that are worth one of white grain.
    pub fn alike(&self) -> f64 {
        let rings = self.rings();
        let modes: f64 = rings.iter().map(|r| r.modes).sum();
        rings.iter().map(|r| r.modes * r.power * r.power).sum::<f64>() / modes.max(1.0)
    }

    /// The excess kurtosis of grain. The difference of two patterns has half of it.
    pub fn kurtosis(&self) -> f64 {
        self.moments.kurtosis() * if self.two { 2.0 } else { 1.0 }
    }

    /// The skewness of grain in bin `i`, and the variance of its error for white grain; `None` without samples.
    pub fn skewness(&self, i: usize) -> Option<(f64, f64)> {
        let bin = &self.bins[i];
        let (count, sum) = bin.cubes;
        let cube = bin.strength().powi(3);
        if count == 0.0 || bin.strength() < LEAST {
            return None;
        }
        if self.two {
            return Some((sum / count / cube, 18.0 / count));
        }
        let mean = bin.mean();
        let about = sum / count - 3.0 * mean * bin.squares / bin.count + 2.0 * mean.powi(3);
        Some((about / cube, 6.0 / count))
    }

    /// The ratio of the differences of neighbours horizontally and vertically, in dB: above 0 grain is finer
    /// horizontally.
    pub fn aspect_db(&self) -> f64 {
        let (across, down) = (self.auto.at(1, 0).value, self.auto.at(0, 1).value);
        10.0 * ((1.0 - across).max(1e-6) / (1.0 - down).max(1e-6)).log10()
    }

    /// The strength at a brightness, interpolated between bins with samples; 0 without any.
    fn strength_at(&self, code: f64) -> f64 {
        let known = || (0..BINS).filter(|&i| self.bins[i].count >= SOME);
        let below = known().rfind(|&i| PlaneGrain::middle(i) <= code);
        let above = known().find(|&i| PlaneGrain::middle(i) > code);
        match (below, above) {
            (Some(a), Some(b)) => {
                let part = (code - PlaneGrain::middle(a)) / (PlaneGrain::middle(b) - PlaneGrain::middle(a));
                self.bins[a].strength() + (self.bins[b].strength() - self.bins[a].strength()) * part
            }
            (Some(i), None) | (None, Some(i)) => self.bins[i].strength(),
            (None, None) => 0.0,
        }
    }
}

/// Measures a series of frames.
#[derive(Debug)]
pub struct Residual {
    format: Format,
    area: Area,
    transform: Transform,
    planes: Vec<PlaneGrain>,
    /// Grain divided by its strength, of the last frames, newest first.
    before: Vec<Vec<Field>>,
    frames: u64,
    held: u32,
}

impl Residual {
    /// For pictures of a format, or an area inside them.
    pub fn new(format: &Format, area: Option<Area>) -> Residual {
        let (width, height) = format.plane_size(0);
        let area = area.unwrap_or(Area { x: 0, y: 0, width, height });
        let colours = format.color_planes().iter().count();
        let mut all = Residual {
            format: *format,
            area,
            transform: Transform::default(),
            planes: Vec::new(),
            before: Vec::new(),
            frames: 0,
            held: 1,
        };
        for p in 0..colours {
            let place = all.place(p);
            all.planes.push(PlaneGrain::new(&Plan::new(place.width, place.height)));
        }
        all
    }

    /// Measurements from elsewhere.
    pub(super) fn known(format: &Format, planes: Vec<PlaneGrain>, frames: u64, held: u32) -> Residual {
        Residual { planes, frames, held, ..Residual::new(format, None) }
    }

    /// Uses tiles of the size of those of `other`, so that both have the same rings.
    pub fn in_tiles_of(mut self, other: &Residual) -> Residual {
        for p in 0..self.planes.len() {
            let place = self.place(p);
            self.planes[p].spectrum = other.planes[p].spectrum.like(place.width, place.height);
        }
        self
    }

    /// The area in samples of a plane.
    fn place(&self, p: usize) -> Area {
        let (sx, sy) = self.format.plane_subsampling(p);
        let (w, h) = self.format.plane_size(p);
        let (x, y) = (self.area.x >> sx, self.area.y >> sy);
        let width = self.area.width.div_ceil(1 << sx).min(w - x);
        Area { x, y, width, height: self.area.height.div_ceil(1 << sy).min(h - y) }
    }

    fn cut(&self, field: Field, p: usize) -> Field {
        let at = self.place(p);
        if (field.width, field.height) == (at.width, at.height) {
            return field;
        }
        let row = |y: usize| &field.row(at.y + y)[at.x..at.x + at.width];
        Field { width: at.width, height: at.height, data: (0..at.height).flat_map(row).copied().collect() }
    }

    /// Measures a frame against its clean version; both have the same format, except perhaps the depth.
    pub fn add(&mut self, plate: &Frame, clean: &Frame) {
        let luma = Field::of(clean, 0);
        let mut all: Vec<Field> = Vec::new();
        for p in 0..self.planes.len() {
            let own = Field::of(clean, p);
            let difference = self.cut(Field::of(plate, p).minus(&own), p);
            let (sx, sy) = self.format.plane_subsampling(p);
            let bright = if self.format.is_chroma(p) { luma.shrunk(sx, sy) } else { own };
            let bright = self.cut(bright, p);
            let normal = self.planes[p].add(&difference, &bright);
            self.planes[p].spectrum.add(&normal);
            self.planes[p].auto.add(&normal, &self.transform);
            self.planes[p].moments.merge(&Moments::of(normal.data.iter().map(|&v| f64::from(v))));
            for (pair, before) in self.planes[p].temporal.iter_mut().zip(&self.before) {
                pair.add(&normal.data, &before[p].data);
            }
            all.push(normal);
        }
        for p in 1..self.planes.len() {
            if self.format.is_chroma(p) {
                let (sx, sy) = self.format.plane_subsampling(p);
                let luma = all[0].shrunk(sx, sy);
                self.planes[p].channel.add(&luma.data, &all[p].data);
                lagged(&mut self.planes[p].luma, &luma, &all[p]);
            } else {
                self.planes[p].channel.add(&all[p - 1].data, &all[p].data);
            }
        }
        self.before.insert(0, all);
        self.before.truncate(BACK);
        self.frames += 1;
    }

    /// The grain of a frame divided by the strength measured at its brightness, by planes. NaN where that is unknown,
    /// less than a fifth of the strongest, or the grain is clipped.
    pub fn over_strength(&self, plate: &Frame, clean: &Frame) -> Vec<Field> {
        let luma = Field::of(clean, 0);
        let range = if self.format.full_range() { [0.0, 255.0] } else { [16.0, 235.0] };
        let of = |(p, plane): (usize, &PlaneGrain)| {
            let own = Field::of(clean, p);
            let difference = self.cut(Field::of(plate, p).minus(&own), p);
            let (sx, sy) = self.format.plane_subsampling(p);
            let chroma = self.format.is_chroma(p);
            let bright = self.cut(if chroma { luma.shrunk(sx, sy) } else { own }, p);
            let most = plane.bins.iter().filter(|b| b.counts()).map(Bin::strength).fold(0.0, f64::max);
            let known = plane.bins.map(|bin| bin.counts() && bin.strength() > 0.2 * most.max(LEAST));
            let reach = |b: f32| if chroma { 0.0 } else { CLIPPED * plane.bins[bin(b)].strength() as f32 };
            let usable = |d: f32, b: f32| {
                let reach = reach(b);
                d.is_finite()
                    && b.is_finite()
                    && known[bin(b)]
                    && b - reach >= range[0]
                    && b + reach <= range[1]
            };
            let mut data = over_strength(&plane.scales(), &difference.data, &bright.data);
            for ((v, &d), &b) in data.iter_mut().zip(&difference.data).zip(&bright.data) {
                if !usable(d, b) {
                    *v = f32::NAN;
                }
            }
            Field { width: difference.width, height: difference.height, data }
        };
        self.planes.iter().enumerate().map(of).collect()
    }

    /// Whether the planes after the first are chroma.
    pub fn has_chroma(&self) -> bool {
        self.format.is_chroma(1)
    }

    /// Width and height of what is measured, in luma samples.
    pub fn size(&self) -> (usize, usize) {
        (self.area.width, self.area.height)
    }

    /// The number of frames measured.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of consecutive frames with the same grain; 1 if unknown.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// The results, by planes without alpha.
    pub fn planes(&self) -> &[PlaneGrain] {
        &self.planes
    }
}

/// Adds correlations of chroma before a sample with luma at it.
pub(super) fn lagged(pairs: &mut [Pair; 28], luma: &Field, chroma: &Field) {
    let (width, height) = (luma.width.min(chroma.width), luma.height.min(chroma.height));
    if width < 8 || height < 8 {
        return;
    }
    for (i, pair) in pairs.iter_mut().enumerate() {
        let (dx, dy) = (i % 7, i / 7);
        for y in 3..height {
            // Luma at x, chroma at x + dx - 3.
            pair.add(&luma.row(y)[3..width - 3], &chroma.row(y - dy)[dx..width - 6 + dx]);
        }
    }
}

fn bin(brightness: f32) -> usize {
    (brightness / BIN).clamp(0.0, BINS as f32 - 1.0) as usize
}

impl PlaneGrain {
    /// Adds a frame's differences; returns them divided by their strength, 0 where it is unknown.
    fn add(&mut self, difference: &Field, bright: &Field) -> Field {
        self.add_bins(&difference.data, &bright.data);
        let data = over_strength(&self.scales(), &difference.data, &bright.data);
        Field { width: difference.width, height: difference.height, data }
    }

    /// Adds differences to the bins of their brightness.
    pub(super) fn add_bins(&mut self, difference: &[f32], bright: &[f32]) {
        for (&d, &b) in difference.iter().zip(bright).filter(|p| p.0.is_finite() && p.1.is_finite()) {
            let (bin, d) = (&mut self.bins[bin(b)], f64::from(d));
            bin.count += 1.0;
            bin.sum += d;
            bin.squares += d * d;
            if !self.two {
                bin.cubes.0 += 1.0;
                bin.cubes.1 += d * d * d;
            }
        }
    }

    /// Adds cubes of grain, from differences of three frames, to the bins of their brightness.
    pub(super) fn add_cubes(&mut self, cubes: &[f32], bright: &[f32]) {
        for (&cube, &b) in cubes.iter().zip(bright).filter(|p| p.0.is_finite() && p.1.is_finite()) {
            let bin = &mut self.bins[bin(b)];
            bin.cubes.0 += 1.0;
            bin.cubes.1 += f64::from(cube);
        }
    }

    /// Mean and reciprocal strength by quarters of codes, interpolated between bins.
    pub(super) fn scales(&self) -> Vec<(f32, f32)> {
        let at = |i: usize| {
            let strength = self.strength_at(i as f64 / 4.0);
            let scale = if strength > LEAST { 1.0 / strength } else { 0.0 };
            (self.bins[bin(i as f32 / 4.0)].mean() as f32, scale as f32)
        };
        (0..=4 * 255).map(at).collect()
    }

    /// Multiplies the strength of all bins. Cubes of grain that is correlated in time are unknown.
    pub(super) fn scale(&mut self, by: f64) {
        for bin in self.bins.iter_mut().filter(|_| by != 1.0) {
            bin.sum *= by;
            bin.squares *= by * by;
            bin.cubes = (0.0, 0.0);
        }
    }
}

/// Differences divided by their strength, 0 where it is unknown.
pub(super) fn over_strength(scales: &[(f32, f32)], difference: &[f32], bright: &[f32]) -> Vec<f32> {
    let one = |(&d, &b): (&f32, &f32)| {
        let (mean, scale) = scales[(b * 4.0 + 0.5).clamp(0.0, 1020.0) as usize];
        if d.is_finite() { (d - mean) * scale } else { 0.0 }
    };
    difference.iter().zip(bright).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::*;

    fn frames(strength: impl Fn(f32) -> f32, seed: u64) -> (Frame, Frame) {
        let format = Format::from_name("yuv420p16", 512, 256).unwrap();
        let (mut plate, mut clean) = (Frame::new(format), Frame::new(format));
        let luma = normal(512, 256, seed);
        for p in 0..3 {
            let (w, h) = format.plane_size(p);
            let own = if p == 0 { luma.clone() } else { normal(w, h, seed + p as u64) };
            for y in 0..h {
                for x in 0..w {
                    // Luma goes from 40 to 200; half of the power of chroma is common with luma.
                    let bright = 40.0 + 160.0 * x as f32 / w as f32;
                    let half: f32 = [(0, 0), (1, 0), (0, 1), (1, 1)]
                        .map(|(i, j)| luma.row((2 * y + j).min(255))[(2 * x + i).min(511)])
                        .iter()
                        .sum::<f32>()
                        / 2.0;
                    let grain = if p == 0 { own.row(y)[x] } else { (own.row(y)[x] + half) * 0.5f32.sqrt() };
                    let base = if p == 0 { bright } else { 128.0 };
                    clean.row_mut::<u16>(p, y)[x] = (base * 256.0) as u16;
                    plate.row_mut::<u16>(p, y)[x] = ((base + grain * strength(bright)) * 256.0) as u16;
                }
            }
        }
        (plate, clean)
    }

    #[test]
    fn strength_follows_luma_and_the_rest_does_not() {
        let format = Format::from_name("yuv420p16", 512, 256).unwrap();
        let mut all = Residual::new(&format, None);
        for n in 0..3 {
            let (plate, clean) = frames(|b| b / 40.0, 100 * (n + 1));
            all.add(&plate, &clean);
        }
        for (p, plane) in all.planes().iter().enumerate() {
            for (i, bin) in plane.bins.iter().enumerate().filter(|b| b.1.counts()) {
                let want = PlaneGrain::middle(i) / 40.0;
                assert!((bin.strength() / want - 1.0).abs() < 0.04, "{p} {i}: {} {want}", bin.strength());
            }
            assert!(plane.bins.iter().filter(|b| b.counts()).count() >= 19);
            let off = super::super::spectrum::flatness_db(&plane.rings());
            assert!(off < 1.0, "{p}: white over its strength, but for {off} dB");
            assert!((plane.moments.deviation() - 1.0).abs() < 0.02);
            assert!(plane.temporal[0].value().abs() < 0.02 && plane.aspect_db().abs() < 0.2);
            let expected = if p == 0 { 0.0 } else { 0.5f64.sqrt() };
            assert!((plane.channel.value() - expected).abs() < 0.02, "{p}: {}", plane.channel.value());
            assert!((plane.luma[3].value() - expected).abs() < 0.02 && plane.luma[2].value().abs() < 0.02);
        }
        assert_eq!(all.frames(), 3);
    }

    /// Normal numbers and a share of their squares, and a difference of means.
    #[test]
    fn skewness_is_about_the_mean() {
        let format = Format::from_name("gray16", 512, 256).unwrap();
        let (mut plate, mut clean) = (Frame::new(format), Frame::new(format));
        let grain = normal(512, 256, 5);
        for y in 0..256 {
            clean.row_mut::<u16>(0, y).fill(100 << 8);
            let codes = grain.row(y).iter().map(|z| ((101.0 + 3.0 * (z + 0.1 * z * z)) * 256.0) as u16);
            plate.row_mut::<u16>(0, y).iter_mut().zip(codes).for_each(|(v, c)| *v = c);
        }
        let mut all = Residual::new(&format, None);
        all.add(&plate, &clean);
        let (skewness, variance) = all.planes()[0].skewness(12).unwrap();
        let want = 0.608 / 1.02f64.powf(1.5);
        assert!((skewness - want).abs() < 5.0 * variance.sqrt() && variance < 1e-4, "{skewness} {want}");
        assert_eq!(all.planes()[0].skewness(13), None);
    }

    #[test]
    fn an_area_is_all_that_counts_and_held_grain_shows() {
        let format = Format::from_name("yuv420p16", 512, 256).unwrap();
        let (plate, clean) = frames(|b| if b < 100.0 { 2.0 } else { 9.0 }, 7);
        let mut all = Residual::new(&format, Some(Area { x: 10, y: 20, width: 161, height: 99 }));
        all.add(&plate, &clean);
        all.add(&plate, &clean);
        for plane in all.planes() {
            assert!((plane.overall().0 - 2.0).abs() < 0.05, "{:?}", plane.overall());
            assert!(plane.temporal[0].value() > 0.99);
        }
        assert_eq!(all.planes()[0].overall().1, 2.0 * 161.0 * 99.0);
        assert_eq!(all.planes()[1].overall().1, 2.0 * 81.0 * 50.0);
    }
}
