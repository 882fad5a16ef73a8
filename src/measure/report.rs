//! The report as plain data, for JSON, table and plot.

use super::accumulator::{Accumulator, PlaneSums};
use super::bands::BANDS;
use super::boxes;
use super::correlation::{LAGS, Lag, Pair};
use super::measure::pairs;
use super::peak::PeakReport;
use super::phases::Lattice;
use super::residual::EVIDENCE;
use super::spectrum::flatness_db;
use grainfield_filters::frame::{Family, Format};
use serde::Serialize;

/// Number of bars of the histogram, over -4 to 4 deviations.
pub const BARS: usize = 64;

/// The whole report. Numbers are in 8-bit code values unless stated otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Frames measured.
    pub frames: u64,
    /// Number of the first one.
    pub first: Option<i64>,
    /// Number of the last one.
    pub last: Option<i64>,
    /// Luma samples per row.
    pub width: u32,
    /// Luma rows.
    pub height: u32,
    /// FFmpeg's name of the pixel format.
    pub pix_fmt: String,
    /// The planes.
    pub planes: Vec<PlaneReport>,
    /// Correlations between planes of the same frame; the finer plane is averaged over the other's samples.
    pub channels: Vec<Channels>,
}

/// One plane.
#[derive(Clone, Debug, Serialize)]
pub struct PlaneReport {
    /// Y, U, V, A or G, B, R.
    pub name: &'static str,
    /// Samples per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Number of samples measured, over all frames.
    pub samples: f64,
    /// Number of non-finite samples, which are replaced by the mean.
    pub not_numbers: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Skewness.
    pub skew: f64,
    /// Excess kurtosis.
    pub kurtosis: f64,
    /// Comparison with the normal distribution.
    pub histogram: HistogramReport,
    /// Deviation by brightness, without empty bands.
    pub bands: Vec<BandReport>,
    /// The power spectrum.
    pub spectrum: SpectrumReport,
    /// The autocorrelation.
    pub autocorrelation: AutocorrelationReport,
    /// The worst lattice in the differences of neighbours; `None` for a plane that is too small.
    pub lattice: Option<Lattice>,
    /// Correlation with the frames 1, 2, .. before.
    pub temporal: Vec<FrameLag>,
    /// The highest peak of the correlation of two frames, if there are two.
    pub peak: Option<PeakReport>,
    /// Sums over boxes.
    pub boxes: Vec<BoxReport>,
}

/// The distribution.
#[derive(Clone, Debug, Serialize)]
pub struct HistogramReport {
    /// The Kolmogorov-Smirnov distance from the normal distribution.
    pub ks: f64,
    /// Number of samples beyond -256 or 256.
    pub outside: u64,
    /// Density over the difference from the mean, both in deviations.
    pub bars: Vec<(f64, f64)>,
}

/// One band of brightness.
#[derive(Clone, Debug, Serialize)]
pub struct BandReport {
    /// The darkest luma of the band.
    pub from: f64,
    /// The darkest luma of the next band.
    pub to: f64,
    /// Number of samples (without a clean version: degrees of freedom).
    pub samples: f64,
    /// Mean difference from the clean picture; 0 without one.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

impl BandReport {
    /// Whether there are enough samples.
    pub fn counts(&self) -> bool {
        self.samples >= EVIDENCE
    }
}

/// The radial power spectrum.
#[derive(Clone, Debug, Serialize)]
pub struct SpectrumReport {
    /// Width and height of the tiles that were averaged.
    pub tile: (usize, usize),
    /// Number of tiles.
    pub tiles: u64,
    /// Distance from a flat spectrum: rms of the dB.
    pub flatness_db: f64,
    /// The expected value of it for white noise.
    pub chance_db: f64,
    /// (cycles per sample, dB relative to white noise of the same variance).
    pub rings: Vec<(f64, f64)>,
}

/// The autocorrelation.
#[derive(Clone, Debug, Serialize)]
pub struct AutocorrelationReport {
    /// The lag with the largest deviation from 0, in deviations of white noise.
    pub worst: Lag,
    /// Row by row from lag 0 to 32; each from -32 to 32 horizontally.
    pub rows: Vec<Vec<f64>>,
}

/// Correlation with an earlier frame.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrameLag {
    /// The distance in frames (of those measured).
    pub frames: usize,
    /// The coefficient.
    pub value: f64,
    /// In deviations of white noise.
    pub sigmas: f64,
}

/// Sums over boxes of one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoxReport {
    /// Width of a box.
    pub width: usize,
    /// Height of a box.
    pub height: usize,
    /// Number of boxes.
    pub count: f64,
    /// Variance of the sums relative to that of sums of independent samples: 1 for white noise.
    pub variance_ratio: f64,
    /// Skewness.
    pub skew: f64,
    /// Its z-score against sums of independent samples of the same distribution.
    pub skew_z: f64,
    /// Excess kurtosis.
    pub kurtosis: f64,
    /// Its z-score against the same sums.
    pub kurtosis_z: f64,
}

/// Two planes of the same frame.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Channels {
    /// The names of the planes.
    pub planes: (&'static str, &'static str),
    /// The coefficient.
    pub value: f64,
    /// In deviations of white noise.
    pub sigmas: f64,
}

/// The names of the planes.
pub fn names(format: &Format) -> Vec<&'static str> {
    let colour: &[&str] = match format.family {
        Family::Gray => &["Y"],
        Family::Yuv => &["Y", "U", "V"],
        Family::Rgb => &["G", "B", "R"],
    };
    colour.iter().copied().chain(format.has_alpha().then_some("A")).collect()
}

impl Accumulator {
    /// The report so far.
    pub fn report(&self) -> Report {
        let format = &self.tools.format;
        let names = names(format);
        let plane = |(p, sums): (usize, &PlaneSums)| plane(names[p], format.plane_size(p), sums);
        let channel = |((a, b), pair): ((usize, usize), &Pair)| Channels {
            planes: (names[a], names[b]),
            value: pair.value(),
            sigmas: pair.sigmas(),
        };
        Report {
            frames: self.frames,
            first: self.first,
            last: self.last,
            width: format.width,
            height: format.height,
            pix_fmt: format.name(),
            planes: self.planes.iter().enumerate().map(plane).collect(),
            channels: pairs(names.len()).zip(&self.channels).map(channel).collect(),
        }
    }
}

fn plane(name: &'static str, (width, height): (usize, usize), plane: &PlaneSums) -> PlaneReport {
    let s = &plane.sums;
    let rings = s.spectrum.rings(s.auto.variance());
    let (tile_width, tile_height, tiles) = s.spectrum.tiles();
    let independent = (s.moments.count() / (tile_width * tile_height) as f64).max(1.0);
    let chance = rings.iter().map(|r| 1.0 / (r.modes * independent)).sum::<f64>() / rings.len().max(1) as f64;
    let band = |(i, b): (usize, &super::bands::Band)| {
        let width = (256 / BANDS) as f64;
        let (mean, sd) = (b.mean()?, b.deviation()?);
        Some(BandReport { from: i as f64 * width, to: (i + 1) as f64 * width, samples: b.count, mean, sd })
    };
    let back = plane.back.iter().enumerate().filter(|b| b.1.count() > 0.0);
    let flat = rings.iter().all(|r| r.power == 0.0);
    PlaneReport {
        name,
        width,
        height,
        samples: s.moments.count() + s.odd as f64,
        not_numbers: s.odd,
        mean: s.moments.mean(),
        sd: s.moments.deviation(),
        skew: s.moments.skew(),
        kurtosis: s.moments.kurtosis(),
        histogram: HistogramReport {
            ks: s.histogram.ks(&s.moments),
            outside: s.histogram.total().1,
            bars: s.histogram.bars(&s.moments, -4.0, 4.0, BARS),
        },
        bands: s.bands.0.iter().enumerate().filter_map(band).collect(),
        spectrum: SpectrumReport {
            tile: (tile_width, tile_height),
            tiles,
            flatness_db: if flat { 0.0 } else { flatness_db(&rings) },
            chance_db: 10.0 / std::f64::consts::LN_10 * chance.sqrt(),
            rings: if flat { Vec::new() } else { rings.iter().map(|r| (r.frequency, r.db())).collect() },
        },
        autocorrelation: AutocorrelationReport {
            worst: s.auto.worst(),
            rows: (0..=LAGS as i64)
                .map(|dy| (-(LAGS as i64)..=LAGS as i64).map(|dx| s.auto.at(dx, dy).value).collect())
                .collect(),
        },
        lattice: s.phases.worst(),
        temporal: back
            .map(|(i, b)| FrameLag { frames: i + 1, value: b.value(), sigmas: b.sigmas() })
            .collect(),
        peak: plane.peak,
        boxes: boxes::SIZES
            .iter()
            .zip(&s.boxes)
            .filter(|b| b.1.count() >= 8.0)
            .map(|(&(w, h), m)| box_report(if w == 0 { width } else { w }, h, m, plane))
            .collect(),
    }
}

fn box_report(width: usize, height: usize, m: &super::Moments, plane: &PlaneSums) -> BoxReport {
    let samples = width * height;
    let (skew, kurtosis) = boxes::expected(&plane.sums.moments, samples);
    // the variance within frames, after subtracting the mean of each
    let white = plane.sums.auto.variance() * samples as f64;
    BoxReport {
        width,
        height,
        count: m.count(),
        variance_ratio: if white > 0.0 { m.variance() / white } else { 0.0 },
        skew: m.skew(),
        skew_z: m.skew_z(skew),
        kurtosis: m.kurtosis(),
        kurtosis_z: m.kurtosis_z(kurtosis),
    }
}

impl Report {
    /// The report as JSON, with numbers rounded to six digits, since further ones differ between machines.
    pub fn json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        round(&mut value);
        value
    }
}

fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Number(n) if n.is_f64() => {
            let six = n.as_f64().and_then(|v| format!("{v:.5e}").parse::<f64>().ok());
            if let Some(n) = six.and_then(serde_json::Number::from_f64) {
                *value = Value::Number(n);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(round),
        Value::Object(all) => all.values_mut().for_each(round),
        _ => {}
    }
}
