//! The quality of a match.

use super::fit::{Curve, distance_db};
use super::skewed::Skewness;
use grainfield_measure::residual::{BINS, PlaneGrain, Residual};

/// Strength at a brightness.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The middle of the bin, in 8-bit code values.
    pub brightness: f64,
    /// Number of samples of the plate in the bin.
    pub samples: f64,
    /// Whether there are enough samples.
    pub counts: bool,
    /// Strength of the plate, in 8-bit code values.
    pub plate: f64,
    /// Strength of the match.
    pub rendered: f64,
}

/// One plane.
#[derive(Clone, PartialEq, Debug)]
pub struct PlaneMatch {
    /// `y`, `u`, `g` ..., as the setting `planes` takes it.
    pub name: &'static str,
    /// Strength by brightness, for bins with samples.
    pub points: Vec<Point>,
    /// Relative error of the strength: rms, weighted by the plate's samples, over bins with enough of them; then the
    /// worst bin.
    pub strength_rms: f64,
    /// See [`strength_rms`](PlaneMatch::strength_rms).
    pub strength_worst: f64,
    /// Rms error of the radial spectrum in dB.
    pub spectrum_db: f64,
    /// The radial spectra of plate and match: cycles per sample, and dB relative to white grain of the same
    /// strength.
    pub spectrum: [Vec<(f64, f64)>; 2],
    /// How much finer grain is horizontally than vertically, in dB; plate and match.
    pub aspect_db: [f64; 2],
    /// Correlation with the frame before; plate and match.
    pub temporal: [f64; 2],
    /// Correlation of chroma with luma (of B and R with the plane before); plate and match.
    pub channel: [f64; 2],
    /// Skewness as a multiple of twice the slope of the strength by brightness, as the setting `skew`; plate and match.
    pub skew: [f64; 2],
    /// Excess kurtosis; plate and match.
    pub kurtosis: [f64; 2],
}

/// All planes.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// The planes without alpha.
    pub planes: Vec<PlaneMatch>,
}

/// The names of colour planes, as the setting `planes` takes them.
fn names(count: usize, rgb: bool) -> &'static [&'static str] {
    match (count, rgb) {
        (1, _) => &["y"],
        (_, true) => &["g", "b", "r"],
        (_, false) => &["y", "u", "v"],
    }
}

impl Match {
    /// Compares the measurements of the plate with those of the match.
    pub(super) fn new(plate: &Residual, rendered: &Residual, rgb: bool) -> Match {
        let planes = plate.planes().iter().zip(rendered.planes());
        let names = names(plate.planes().len(), rgb);
        Match { planes: planes.zip(names).map(|((a, b), name)| PlaneMatch::new(name, a, b)).collect() }
    }
}

impl PlaneMatch {
    fn new(name: &'static str, plate: &PlaneGrain, rendered: &PlaneGrain) -> PlaneMatch {
        let point = |i: usize| Point {
            brightness: PlaneGrain::middle(i),
            samples: plate.bins[i].count,
            counts: plate.bins[i].counts(),
            plate: plate.bins[i].strength(),
            rendered: rendered.bins[i].strength(),
        };
        let points: Vec<Point> = (0..BINS).filter(|&i| plate.bins[i].count > 0.0).map(point).collect();
        let errors: Vec<(f64, f64)> = points
            .iter()
            .filter(|p| p.counts && p.plate >= 0.25)
            .map(|p| (p.samples, p.rendered / p.plate - 1.0))
            .collect();
        let all: f64 = errors.iter().map(|o| o.0).sum();
        let rms = (errors.iter().map(|o| o.0 * o.1 * o.1).sum::<f64>() / all.max(1.0)).sqrt();
        PlaneMatch {
            name,
            strength_rms: rms,
            strength_worst: errors.iter().map(|o| o.1.abs()).fold(0.0, f64::max),
            spectrum_db: distance_db(&plate.rings(), &rendered.rings()),
            spectrum: [plate, rendered].map(|p| p.rings().iter().map(|r| (r.frequency, r.db())).collect()),
            aspect_db: [plate.aspect_db(), rendered.aspect_db()],
            temporal: [plate.temporal[0].value(), rendered.temporal[0].value()],
            channel: [plate.channel.value(), rendered.channel.value()],
            skew: [plate, rendered].map(|p| Skewness::measured(p, &Curve::smooth(p)).value),
            kurtosis: [plate.kurtosis(), rendered.kurtosis()],
            points,
        }
    }
}
