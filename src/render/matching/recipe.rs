//! Fits a recipe of the filter `grain`.

use super::error::MatchError;
use super::fit::Curve;
use super::report::Match;
use super::shape::{Shape, TargetSpectrum, chroma_size, correct, gain};
use super::shot::Shot;
use super::skewed::Skewness;
use grainfield_filters::chain::Step;
use grainfield_filters::frame::Format;
use grainfield_filters::plate::Plate;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::{FileAsset, Points, Value};
use grainfield_measure::residual::{PlaneGrain, Residual};
use std::sync::Arc;

/// The number of times that the match is applied to the clean frames and corrected.
const ROUNDS: u64 = 4;
/// The smallest significant and the largest allowed value of `temporal`.
const TEMPORAL: [f64; 2] = [0.02, 0.9];

/// The difference of a channel's factor from 1 that is chance.
const EQUAL: f64 = 0.01;

/// A recipe that makes a clean picture as grainy as a plate, and the quality of the match.
#[derive(Clone, Debug)]
pub struct RecipeMatch {
    /// A recipe with one step, `grain`.
    pub recipe: Recipe,
    /// The quality of the match.
    pub matched: Match,
}

/// The settings of `grain`.
#[derive(Clone, Debug)]
struct GrainSettings {
    /// The plate's own grain, which has its sizes.
    plate: Option<FileAsset>,
    /// Luma's strength by brightness in 8-bit code values at the plate's width.
    curve: Curve,
    /// The part of the strength that remains at the plate's width.
    gain: f64,
    shape: Shape,
    skew: f64,
    chroma: f64,
    chroma_size: f64,
    /// The factors of R or V, and of B or U.
    red_blue: [f64; 2],
    temporal: f64,
    hold: u32,
}

/// Fits a recipe to the measurements of a shot. `kept` is the plate's own grain, by the name of its file, to be used
/// instead of generated grain.
///
/// # Errors
/// [`MatchError`] if a fitted recipe cannot be rendered, or the user has cancelled.
pub fn recipe(
    shot: &Shot,
    plate: &Residual,
    kept: Option<(&str, &Plate)>,
) -> Result<RecipeMatch, MatchError> {
    let format = *shot.format();
    let mut settings = first_settings(&format, plate);
    settings.plate =
        kept.map(|(name, kept)| FileAsset::named(name).read(Arc::new(kept.clone()), kept.digest()));
    let generated = settings.plate.is_none();
    let coloured = !format.is_rgb() && plate.planes().len() > 1 && settings.chroma > 0.0;
    let mut spectra: Vec<TargetSpectrum> =
        plate.planes().iter().enumerate().map(|(p, plane)| TargetSpectrum::new(&format, p, plane)).collect();
    let (luma, colours) = spectra.split_at_mut(1);
    let colours = if coloured { colours } else { &mut [] };
    let wanted = Curve::smooth(&plate.planes()[0]);
    let skewness = Skewness::measured(&plate.planes()[0], &wanted);
    for round in 0..ROUNDS {
        if generated {
            settings.fit(&format, &mut luma[0], colours);
        }
        // Every round renders other grain and corrects by less, so that the mean of the rounds is fitted, not their chance.
        let rendered = shot.render(&settings.steps(&format), plate, round)?;
        let part = 1.0 / (round as f64 + 1.0);
        let curve = Curve::smooth(&rendered.planes()[0]);
        settings.curve = settings.curve.corrected(&wanted, &curve, part);
        if generated && (round == 0 || settings.skew > 0.0) {
            let skew = skewness.setting(settings.skew, Skewness::measured(&rendered.planes()[0], &curve));
            settings.skew += part * (skew.unwrap_or(0.0) - settings.skew);
        }
        settings.correct_chroma(&format, plate, &rendered, part);
        if generated {
            settings.correct_channels(&format, plate, &rendered, part);
            correct(luma, &settings.shape, 1.0, &rendered.planes()[..1]);
            correct(colours, &settings.shape, settings.chroma_size, &rendered.planes()[1..]);
        }
    }
    if generated {
        settings.fit(&format, &mut luma[0], colours);
    }
    let simple = GrainSettings { curve: settings.curve.simplified(0.004, 64), ..settings };
    let steps = simple.steps(&format);
    let rendered = shot.render(&steps, plate, ROUNDS)?;
    let matched = Match::new(plate, &rendered, format.is_rgb());
    Ok(RecipeMatch { recipe: Recipe { steps, ..Recipe::default() }, matched })
}

fn overall(grain: &Residual) -> f64 {
    grain.planes()[0].overall().0.max(1e-6)
}

/// The combined strength of U and V.
fn chroma_strength(grain: &Residual) -> f64 {
    let power = |p: &PlaneGrain| p.overall().0.powi(2);
    (grain.planes()[1..].iter().map(power).sum::<f64>() / 2.0).sqrt()
}

/// The mean correlation of channels.
fn channel_correlation(grain: &Residual) -> f64 {
    grain.planes()[1..].iter().map(|p| p.channel.value()).sum::<f64>() / 2.0
}

/// The settings that follow from the measurements without rendering.
fn first_settings(format: &Format, plate: &Residual) -> GrainSettings {
    let first = &plate.planes()[0];
    let chroma = match (plate.planes().len(), format.is_rgb()) {
        (1, _) => 0.0,
        (_, true) => (1.0 - channel_correlation(plate)).clamp(0.0, 1.0).sqrt(),
        (_, false) => (chroma_strength(plate) / overall(plate)).min(2.0),
    };
    let lag = |n: usize| first.temporal[n - 1].value();
    let (temporal, hold) = match plate.held() {
        1 => temporal_settings([1, 2, 3, 4].map(lag), plate.frames()),
        held => (0.0, held),
    };
    let curve = Curve::smooth(first);
    let shape = Shape { size: 1.0, sharpness: 0.0, variation: 0.0 };
    GrainSettings {
        plate: None,
        curve,
        gain: 1.0,
        shape,
        skew: 0.0,
        chroma,
        chroma_size: 1.0,
        red_blue: [1.0; 2],
        temporal,
        hold,
    }
}

/// The correlation of neighbouring frames, and the number of frames for which grain is held, from the correlations
/// with 1 to 4 frames before: held grain's decreases linearly, correlated grain's exponentially.
fn temporal_settings(lags: [f64; 4], frames: u64) -> (f64, u32) {
    let [rho, ..] = lags;
    if rho < TEMPORAL[0] || frames < 2 {
        return (0.0, 1);
    }
    let known = (frames - 1).min(4) as usize;
    let error =
        |model: &dyn Fn(usize) -> f64| (0..known).map(|i| (lags[i] - model(i + 1)).powi(2)).sum::<f64>();
    let powers = error(&|n| rho.powi(n as i32));
    let held = |h: u32| error(&|n| (1.0 - n as f64 / f64::from(h)).max(0.0));
    let best = (2..=4).min_by(|&a, &b| held(a).total_cmp(&held(b))).unwrap_or(2);
    if known > 1 && held(best) < powers { (0.0, best) } else { (rho.min(TEMPORAL[1]), 1) }
}

impl GrainSettings {
    /// Fits what the spectra tell.
    fn fit(&mut self, format: &Format, luma: &mut TargetSpectrum, colours: &mut [TargetSpectrum]) {
        self.shape = luma.shape();
        self.gain = gain(format, &self.shape);
        if !colours.is_empty() {
            self.chroma_size = chroma_size(colours, &self.shape);
        }
    }

    /// Corrects `chroma` by `part` of the difference of a render from the plate. It is not used with kept grain in RGB,
    /// which has the plate's proportions of channels.
    fn correct_chroma(&mut self, format: &Format, plate: &Residual, rendered: &Residual, part: f64) {
        if format.is_rgb() {
            let error = channel_correlation(rendered) - channel_correlation(plate);
            self.chroma = (self.chroma + part * error).clamp(0.0, 1.0);
        } else if self.chroma > 0.0 {
            let ratio = chroma_strength(plate) / chroma_strength(rendered).max(1e-6) * overall(rendered)
                / overall(plate);
            self.chroma = (self.chroma * ratio.clamp(0.5, 2.0).powf(part)).min(2.0);
        }
    }

    /// Corrects the factors of R and B against G, or of V and U against both together, by `part` of the difference of a
    /// render from the plate.
    fn correct_channels(&mut self, format: &Format, plate: &Residual, rendered: &Residual, part: f64) {
        let ratio = |p: usize| {
            let bins = plate.planes()[p].bins.iter().zip(&rendered.planes()[p].bins);
            let both = bins.filter(|(plate, rendered)| plate.counts() && rendered.counts());
            let sums = both.fold([0.0; 2], |[wanted, made], (plate, rendered)| {
                [wanted + plate.count * plate.strength(), made + plate.count * rendered.strength()]
            });
            if sums[0] > 0.0 && sums[1] > 0.0 { sums[0] / sums[1] } else { 1.0 }
        };
        let (red, blue) = match (plate.planes().len(), format.is_rgb()) {
            (3, true) => (ratio(2) / ratio(0), ratio(1) / ratio(0)),
            (3, false) if self.chroma > 0.0 => {
                let both = (ratio(1) * ratio(2)).sqrt();
                (ratio(2) / both, ratio(1) / both)
            }
            _ => return,
        };
        for (factor, ratio) in self.red_blue.iter_mut().zip([red, blue]) {
            *factor = (*factor * ratio.clamp(0.5, 2.0).powf(part)).clamp(0.0, 4.0);
        }
    }

    fn steps(&self, format: &Format) -> Vec<Step> {
        let strength = self.curve.peak();
        let number = |v: f64, digits: i32| {
            let unit = 10f64.powi(digits);
            Value::Number(((v * unit).round() / unit).into())
        };
        let mut values = vec![("strength", number((strength / self.gain).min(100.0), 3))];
        match &self.plate {
            Some(plate) => values.push(("plate", Value::File(plate.clone()))),
            None => {
                let Shape { size, sharpness, variation } = self.shape;
                values.extend([("size", number(size, 2)), ("sharpness", number(sharpness, 2))]);
                if variation > 0.0 {
                    values.push(("variation", number(variation, 3)));
                }
                if self.skew > 0.0 {
                    values.push(("skew", number(self.skew, 2)));
                }
            }
        }
        if self.plate.is_none() || !format.is_rgb() {
            values.push(("chroma", number(self.chroma, 3)));
        }
        if self.chroma_size != 1.0 {
            values.push(("chroma-size", number(self.chroma_size, 2)));
        }
        for (id, factor) in ["red", "blue"].into_iter().zip(self.red_blue) {
            if (factor - 1.0).abs() > EQUAL {
                values.push((id, number(factor, 3)));
            }
        }
        if self.temporal > 0.0 {
            values.push(("temporal", number(self.temporal, 3)));
        }
        if self.hold > 1 {
            values.push(("hold", Value::Integer(self.hold.into())));
        }
        let (zero, span) = if format.full_range() { (0.0, 255.0) } else { (16.0, 219.0) };
        let rounded = |v: f64| (v.clamp(0.0, 1.0) * 1e4).round() / 1e4;
        let part = |s: f64| if strength > 0.0 { s / strength } else { 0.0 };
        let mut points: Vec<[f64; 2]> =
            self.curve.0.iter().map(|[code, s]| [rounded((code - zero) / span), rounded(part(*s))]).collect();
        points.dedup_by_key(|point| point[0]);
        match Points::new(&points, 0.0, 1.0) {
            Ok(points) => values.push(("points", Value::Points(points))),
            Err(e) => unreachable!("the codes of a curve ascend: {e}"),
        }
        // Brightness is measured in codes, independent of the transfer.
        values.push(("space", Value::Choice("video")));
        super::step("grain", values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_grain_is_told_from_grain_that_fades() {
        assert_eq!(temporal_settings([0.01, 0.0, 0.0, 0.0], 8), (0.0, 1));
        assert_eq!(temporal_settings([0.5, 0.25, 0.13, 0.06], 8), (0.5, 1));
        assert_eq!(temporal_settings([0.5, 0.0, 0.0, 0.0], 8), (0.0, 2));
        assert_eq!(temporal_settings([0.67, 0.33, 0.0, 0.0], 8), (0.0, 3));
        assert_eq!(temporal_settings([0.5, 0.0, 0.0, 0.0], 2), (0.5, 1), "two frames do not tell");
    }
}
