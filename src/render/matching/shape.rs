//! Fits kernels to spectra: `size`, `sharpness` and `variation` of luma, and the size of chroma.
//!
//! The spectrum that settings make is computed from their kernels, so it has no error of chance, and thousands of settings
//! are tried in the time of a few renders. Rounding to codes adds white noise with a share of its own,
//! [`TargetSpectrum::white`], which is corrected once the fitted look has been rendered.

use super::fit::minimize;
use super::shot::code_step;
use grainfield_filters::chain::Fields;
use grainfield_filters::filter::grain::{self, Kernel, Sizes};
use grainfield_filters::frame::{Format, Parity};
use grainfield_measure::residual::PlaneGrain;
use grainfield_measure::spectrum::{Ring, Spectrum};

/// Power relative to the strongest ring below which all rings are treated as equal: it cannot be seen.
const FLOOR: f64 = 0.003;
/// The least and the most error of a model's ring in dB, in addition to that of chance.
const MODEL_DB: [f64; 2] = [0.03, 10.0];
/// The number of independent tiles that a tile of a spectrum counts as: tiles overlap, and windows cut their ends.
const INDEPENDENT: f64 = 0.27;
/// The number of variances that one more setting has to explain.
const CERTAIN: f64 = 12.0;
/// Sizes and sharpnesses at which the search starts.
const SIZES: [f64; 16] =
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
const SHARPNESSES: [f64; 3] = [-0.6, 0.0, 0.6];
/// Sizes of chroma at which the search starts.
const CHROMA_SIZES: [f64; 16] =
    [0.5, 0.65, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.5, 9.0, 12.0];

/// The settings that are fitted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Shape {
    pub(super) size: f64,
    pub(super) sharpness: f64,
    pub(super) variation: f64,
}

/// The measured spectrum of a plane, to which settings are fitted.
#[derive(Clone, Debug)]
pub(super) struct TargetSpectrum {
    format: Format,
    plane: usize,
    /// An empty spectrum with tiles of the same size, for computed spectra.
    template: Spectrum,
    /// The power of each ring.
    powers: Vec<f64>,
    /// The variance of each ring by chance, in dB squared.
    variances: Vec<f64>,
    /// The error of the model in dB: with grain of another kind than the filter's it is larger than chance, and all rings
    /// weigh the same.
    model_error: f64,
    /// The part of the variance that is white, with any settings.
    white: f64,
    /// For each ring the sums of the rendered and of the computed power, and the number of renders in them.
    sums: Vec<[f64; 2]>,
    renders: f64,
}

/// The format of what the filter grains: a field of an interlaced picture.
fn filtered_format(format: &Format) -> Format {
    if Fields::of(format.fields) == Fields::Frame { *format } else { format.field(Parity::Top) }
}

fn powers(rings: &[Ring]) -> Vec<f64> {
    rings.iter().map(|r| r.power).collect()
}

/// The least of a function with one minimum.
fn minimum([mut low, mut high]: [f64; 2], f: impl Fn(f64) -> f64) -> (f64, f64) {
    for _ in 0..24 {
        let third = (high - low) / 3.0;
        if f(low + third) <= f(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let x = 0.5 * (low + high);
    (f(x), x)
}

impl TargetSpectrum {
    pub(super) fn new(format: &Format, plane: usize, measured: &PlaneGrain) -> TargetSpectrum {
        let rings = measured.rings();
        let (width, height, tiles) = measured.spectrum.tiles();
        let count: f64 = measured.bins.iter().map(|b| b.count).sum();
        let variance = |ring: &Ring| 4.343 * 4.343 / (ring.modes * tiles as f64 * INDEPENDENT).max(1.0);
        let step = code_step(format);
        let rounded = measured.bins.iter().map(|bin| {
            let square = bin.strength().powi(2);
            if square > 0.0 { bin.count * (step * step / 12.0 / square).min(1.0) } else { 0.0 }
        });
        TargetSpectrum {
            format: *format,
            plane,
            template: measured.spectrum.like(width, height),
            variances: rings.iter().map(variance).collect(),
            sums: vec![[0.0; 2]; rings.len()],
            renders: 0.0,
            model_error: MODEL_DB[0],
            powers: powers(&rings),
            white: (rounded.sum::<f64>() / count.max(1.0)).min(1.0),
        }
    }

    /// The model of a ring: a spectrum, rounded.
    fn ring(&self, model: f64) -> f64 {
        self.white + (1.0 - self.white) * model
    }

    /// How far a spectrum is off, in variances by chance.
    fn distance(&self, model: impl Fn(usize) -> f64) -> f64 {
        let floor = FLOOR * self.powers.iter().copied().fold(0.0, f64::max);
        let db = |power: f64| 10.0 * (power + floor).max(1e-12).log10();
        // Each render has the same error by chance as the plate.
        let renders = if self.renders > 0.0 { 1.0 + 1.0 / self.renders } else { 1.0 };
        let one = |(i, (wanted, chance)): (usize, (&f64, &f64))| {
            let [rendered, computed] = self.sums[i];
            let corrected = if computed > 0.0 { rendered / computed } else { 1.0 };
            let off = db(self.ring(model(i)) * corrected) - db(*wanted);
            off * off / (chance * renders + self.model_error * self.model_error)
        };
        self.powers.iter().zip(&self.variances).enumerate().map(one).sum()
    }

    /// The spectra and the variances of fine and of coarse grain.
    fn parts(&self, sizes: &Sizes) -> [(Vec<f64>, f64); 2] {
        let format = filtered_format(&self.format);
        let woven = format.picture != self.format.picture;
        grain::kernels(&format, self.plane, sizes).map(|Kernel { weights: [across, down], variance }| {
            // Rows of the other field, which has other grain, lie between those of a field.
            let down = if woven {
                down.iter().flat_map(|&w| [w, 0.0]).take(2 * down.len() - 1).collect()
            } else {
                down
            };
            (powers(&self.template.rings_of_kernel(&[across, down])), variance)
        })
    }

    /// Fits size and sharpness, and the variation within `bounds`. Returns also their distance.
    fn fitted(&self, bounds: [f64; 2], start: Option<Shape>) -> (f64, Shape) {
        let best = |[size, sharpness]: [f64; 2]| {
            let parts = self.parts(&Sizes { size, sharpness, chroma: 1.0 });
            minimum(bounds, |variation| self.distance(mixed(&parts, variation)))
        };
        let grid = SIZES.iter().flat_map(|&size| SHARPNESSES.map(|sharpness| [size, sharpness]));
        let starts = grid.chain(start.map(|s| [s.size, s.sharpness]));
        let [size, sharpness] = minimize(starts, [0.1, 0.2], [[0.0, 16.0], [-1.0, 1.0]], 6, |at| best(at).0);
        let (off, variation) = best([size, sharpness]);
        (off, Shape { size, sharpness, variation })
    }

    /// Raises the error of the model until the best settings are as near as chance; returns whether it was raised.
    fn set_model_error(&mut self, shape: &Shape, chroma: f64) -> bool {
        let Shape { size, sharpness, variation } = *shape;
        let parts = self.parts(&Sizes { size, sharpness, chroma });
        while self.model_error < MODEL_DB[1]
            && self.distance(mixed(&parts, variation)) > self.powers.len() as f64
        {
            self.model_error *= 1.25;
        }
        self.model_error > MODEL_DB[0]
    }

    /// Fits the shape of luma's grain: one size, unless two explain far more than one more setting does by chance.
    pub(super) fn shape(&mut self) -> Shape {
        self.model_error = MODEL_DB[0];
        let both = |wanted: &TargetSpectrum| {
            let one = wanted.fitted([0.0, 0.0], None);
            [one, wanted.fitted([0.0, 1.0], Some(one.1))]
        };
        let mut found = both(self);
        if self.set_model_error(&found[1].1, 1.0) {
            found = both(self);
        }
        let [(one_off, one), (two_off, two)] = found;
        if one_off - two_off > CERTAIN { two } else { one }
    }
}

/// Corrects the model for rounding, clipping and the measurement itself by the spectra of rendered grain of the same
/// strength.
pub(super) fn correct(wanted: &mut [TargetSpectrum], shape: &Shape, chroma: f64, rendered: &[PlaneGrain]) {
    let Shape { size, sharpness, variation } = *shape;
    let sizes = Sizes { size, sharpness, chroma };
    let computed: Vec<Vec<f64>> = wanted
        .iter()
        .map(|wanted| {
            let parts = wanted.parts(&sizes);
            (0..wanted.powers.len()).map(mixed(&parts, variation)).collect()
        })
        .collect();
    let rendered: Vec<Vec<f64>> = rendered.iter().map(|plane| powers(&plane.rings())).collect();
    if wanted.iter().all(|w| w.renders == 0.0) {
        let distance = |white: f64| {
            let one = |((wanted, computed), rendered): ((&TargetSpectrum, &Vec<f64>), &Vec<f64>)| {
                let all = TargetSpectrum { white, powers: rendered.clone(), ..wanted.clone() };
                all.distance(|i| computed[i])
            };
            wanted.iter().zip(&computed).zip(&rendered).map(one).sum::<f64>()
        };
        let white = minimum([0.0, 1.0], distance).1;
        wanted.iter_mut().for_each(|w| w.white = white);
    }
    for ((wanted, computed), rendered) in wanted.iter_mut().zip(&computed).zip(&rendered) {
        for (i, (computed, rendered)) in computed.iter().zip(rendered).enumerate() {
            let computed = wanted.ring(*computed);
            wanted.sums[i][0] += rendered;
            wanted.sums[i][1] += computed;
        }
        wanted.renders += 1.0;
    }
}

/// The spectrum of grain of two sizes.
fn mixed(parts: &[(Vec<f64>, f64); 2], variation: f64) -> impl Fn(usize) -> f64 {
    let [(fine, fine_variance), (coarse, coarse_variance)] = parts;
    let [a, b] = [(1.0 - variation) * fine_variance, variation * coarse_variance];
    move |i| (a * fine[i] + b * coarse[i]) / (a + b)
}

/// The factor on the strength of luma at this width of the picture.
pub(super) fn gain(format: &Format, shape: &Shape) -> f64 {
    let sizes = Sizes { size: shape.size, sharpness: shape.sharpness, chroma: 1.0 };
    let [fine, coarse] = grain::kernels(&filtered_format(format), 0, &sizes);
    ((1.0 - shape.variation) * fine.variance + shape.variation * coarse.variance).sqrt()
}

/// Fits the ratio of the sizes of chroma's and luma's grain to the spectra of U and V.
pub(super) fn chroma_size(wanted: &mut [TargetSpectrum], shape: &Shape) -> f64 {
    let Shape { size, sharpness, variation } = *shape;
    let fitted = |wanted: &[TargetSpectrum]| {
        let at = |[chroma, _]: [f64; 2]| {
            let off = wanted.iter().map(|wanted| {
                let parts = wanted.parts(&Sizes { size, sharpness, chroma });
                wanted.distance(mixed(&parts, variation))
            });
            off.sum::<f64>()
        };
        let starts = CHROMA_SIZES.map(|s| [s, 0.0]);
        let [chroma, _] = minimize(starts, [0.1, 0.0], [[0.5, 12.0], [0.0, 0.0]], 5, at);
        if at([1.0, 0.0]) - at([chroma, 0.0]) > CERTAIN { chroma } else { 1.0 }
    };
    wanted.iter_mut().for_each(|w| w.model_error = MODEL_DB[0]);
    let first = fitted(wanted);
    let raised: Vec<bool> = wanted.iter_mut().map(|w| w.set_model_error(shape, first)).collect();
    if raised.contains(&true) { fitted(wanted) } else { first }
}
