//! Fits a recipe of the filter `grain`.

use super::fit::{Curve, distance_db, minimize};
use super::report::Match;
use super::shot::{MatchError, Over, Shot, painted};
use grainfield_filters::catalog;
use grainfield_filters::chain::Step;
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::plate::Plate;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::{FileAsset, Value, Values};
use grainfield_measure::Field;
use grainfield_measure::residual::{PlaneGrain, Residual};
use grainfield_measure::spectrum::{Ring, Spectrum};
use std::fmt::Write;
use std::sync::Arc;

/// Rows of the uniform picture with which sizes are compared.
const ROWS: u32 = 256;
/// The number of times that the match is applied to the clean frames and corrected.
const ROUNDS: usize = 3;
/// Sizes at which the search starts.
const SIZES: [f64; 16] =
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
/// The smallest significant and the largest allowed value of `temporal`.
const TEMPORAL: [f64; 2] = [0.02, 0.9];

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
struct Look {
    /// The plate's own grain, which has its sizes.
    plate: Option<FileAsset>,
    /// Luma's strength by brightness in 8-bit code values.
    curve: Curve,
    size: f64,
    sharpness: f64,
    chroma: f64,
    chroma_size: f64,
    temporal: f64,
    hold: u32,
}

/// Fits a recipe to the measurements of a shot. `kept` is the plate's own grain, by the name of its file, to be used
/// instead of generated grain.
pub fn recipe(
    shot: &Shot,
    plate: &Residual,
    kept: Option<(&str, &Plate)>,
) -> Result<RecipeMatch, MatchError> {
    let format = *shot.format();
    let mut look = first_look(&format, plate);
    look.plate = kept.map(|(name, kept)| {
        FileAsset::named(name).read(Arc::new(kept.clone()), crate::assets::plate_digest(kept))
    });
    let bench = Bench::new(shot, plate);
    if look.plate.is_none() {
        [look.size, look.sharpness] = bench.shape(plate, &look)?;
    }
    if look.plate.is_none() && !format.is_rgb() && plate.planes().len() > 1 && look.chroma > 0.0 {
        look.chroma_size = bench.chroma_size(plate, &look)?;
    }
    let wanted = Curve::of(&plate.planes()[0]);
    let mut made = shot.render(&look.steps(&format), plate)?;
    for _ in 0..ROUNDS {
        look.curve = look.curve.corrected(&wanted, &Curve::of(&made.planes()[0]));
        if format.is_rgb() && look.plate.is_some() {
            // The proportions of the channels are the plate's.
        } else if format.is_rgb() {
            look.chroma = (look.chroma + common(&made) - common(plate)).clamp(0.0, 1.0);
        } else if look.chroma > 0.0 {
            let ratio =
                chroma_strength(plate) / chroma_strength(&made).max(1e-6) * overall(&made) / overall(plate);
            look.chroma = (look.chroma * ratio.clamp(0.5, 2.0)).min(2.0);
        }
        made = shot.render(&look.steps(&format), plate)?;
    }
    let simple = Look { curve: look.curve.simplified(0.004, 64), ..look };
    let steps = simple.steps(&format);
    let made = shot.render(&steps, plate)?;
    let matched = Match::new(plate, &made, format.is_rgb());
    Ok(RecipeMatch { recipe: Recipe { steps, ..Recipe::default() }, matched })
}

fn overall(of: &Residual) -> f64 {
    of.planes()[0].overall().0.max(1e-6)
}

/// The combined strength of U and V.
fn chroma_strength(of: &Residual) -> f64 {
    let power = |p: &PlaneGrain| p.overall().0.powi(2);
    (of.planes()[1..].iter().map(power).sum::<f64>() / 2.0).sqrt()
}

/// The mean correlation of channels.
fn common(of: &Residual) -> f64 {
    of.planes()[1..].iter().map(|p| p.channel.value()).sum::<f64>() / 2.0
}

/// The settings that follow from the measurements without rendering.
fn first_look(format: &Format, plate: &Residual) -> Look {
    let first = &plate.planes()[0];
    let chroma = match (plate.planes().len(), format.is_rgb()) {
        (1, _) => 0.0,
        (_, true) => (1.0 - common(plate)).clamp(0.0, 1.0).sqrt(),
        (_, false) => (chroma_strength(plate) / overall(plate)).min(2.0),
    };
    let lag = |n: usize| first.temporal[n - 1].value();
    let (temporal, hold) = match plate.held() {
        1 => in_time([1, 2, 3, 4].map(lag), plate.frames()),
        held => (0.0, held),
    };
    let curve = Curve::of(first);
    Look { plate: None, curve, size: 1.0, sharpness: 0.0, chroma, chroma_size: 1.0, temporal, hold }
}

/// The correlation of neighbouring frames, and the number of frames for which grain is held, from the correlations
/// with 1 to 4 frames before: held grain's decreases linearly, correlated grain's exponentially.
fn in_time(lags: [f64; 4], frames: u64) -> (f64, u32) {
    let [rho, ..] = lags;
    if rho < TEMPORAL[0] || frames < 2 {
        return (0.0, 1);
    }
    let seen = (frames - 1).min(4) as usize;
    let off = |of: &dyn Fn(usize) -> f64| (0..seen).map(|i| (lags[i] - of(i + 1)).powi(2)).sum::<f64>();
    let powers = off(&|n| rho.powi(n as i32));
    let held = |h: u32| off(&|n| (1.0 - n as f64 / f64::from(h)).max(0.0));
    let best = (2..=4).min_by(|&a, &b| held(a).total_cmp(&held(b))).unwrap_or(2);
    if seen > 1 && held(best) < powers { (0.0, best) } else { (rho.min(TEMPORAL[1]), 1) }
}

impl Look {
    fn text(&self, format: &Format) -> String {
        let strength = self.curve.peak();
        let mut text = format!("strength={:.3}", strength.min(100.0));
        let mut more = |part: std::fmt::Arguments<'_>| {
            let _ = text.write_fmt(part); // writing to a String does not fail
        };
        if self.plate.is_none() {
            more(format_args!(":size={:.2}:sharpness={:.2}", self.size, self.sharpness));
        }
        if self.plate.is_none() || !format.is_rgb() {
            more(format_args!(":chroma={:.3}", self.chroma));
        }
        if self.chroma_size != 1.0 {
            more(format_args!(":chroma-size={:.2}", self.chroma_size));
        }
        if self.temporal > 0.0 {
            more(format_args!(":temporal={:.3}", self.temporal));
        }
        if self.hold > 1 {
            more(format_args!(":hold={}", self.hold));
        }
        // Brightness is measured in codes, independent of the transfer.
        more(format_args!(":space=video:points="));
        let (zero, span) = if format.full_range() { (0.0, 255.0) } else { (16.0, 219.0) };
        let mut last = f64::NEG_INFINITY;
        for &[code, s] in &self.curve.0 {
            let u = ((code - zero) / span).clamp(0.0, 1.0);
            let u = (u * 1e4).round() / 1e4;
            if u > last {
                let part = if strength > 0.0 { s / strength } else { 0.0 };
                more(format_args!(
                    "{}{u}={:.4}",
                    if last.is_finite() { ";" } else { "" },
                    part.clamp(0.0, 1.0)
                ));
                last = u;
            }
        }
        text
    }

    fn steps(&self, format: &Format) -> Vec<Step> {
        let mut steps = steps(&self.text(format));
        if let Some(plate) = &self.plate
            && let Err(e) = steps[0].values.set("plate", Value::File(plate.clone()))
        {
            unreachable!("grain takes a plate: {e}")
        }
        steps
    }
}

/// One step of `grain` with settings that the ranges above keep valid.
fn steps(text: &str) -> Vec<Step> {
    let Some(grain) = catalog::find("grain") else { unreachable!("grain is a filter of the catalog") };
    match Values::parse(grain.settings, text) {
        Ok(values) => vec![Step::new(grain, values)],
        Err(e) => unreachable!("{text}: {e}"),
    }
}

/// A uniform picture with the brightness of the plate's best measured bin, on which grain is rendered.
struct Bench<'a> {
    shot: &'a Shot,
    flat: Frame,
    /// Empty, for each plane.
    spectra: Vec<Spectrum>,
    strength: f64,
}

impl Bench<'_> {
    fn new<'a>(shot: &'a Shot, plate: &Residual) -> Bench<'a> {
        let format = Format { height: ROWS.max(shot.format().height.min(ROWS)), ..*shot.format() };
        let first = &plate.planes()[0];
        let samples = |i: &usize| first.bins[*i].count;
        let most = (0..first.bins.len()).max_by(|a, b| samples(a).total_cmp(&samples(b))).unwrap_or(16);
        // Away from the ends of the range, where grain would be clipped.
        let code = PlaneGrain::middle(most).clamp(64.0, 192.0).floor();
        let flat = painted(format, |_, _| code);
        let strength = first.overall().0.clamp(0.05, 100.0);
        let spectra = plate.planes().iter().enumerate().map(|(p, plane)| {
            let (w, h) = format.plane_size(p);
            plane.spectrum.like(w, h)
        });
        Bench { shot, flat, spectra: spectra.collect(), strength }
    }

    /// The spectrum of planes with the given settings.
    fn rings(&self, text: &str, planes: &[usize]) -> Result<Vec<Vec<Ring>>, MatchError> {
        let format = *self.flat.format();
        let mut over = Over::new(&steps(text), &format, &format, self.shot.stop())?;
        let one = Ratio::ONE.checked_div(format.rate).unwrap_or(Ratio::ONE);
        let mut all: Vec<(Spectrum, f64, f64)> =
            planes.iter().map(|&p| (self.spectra[p].clone(), 0.0, 0.0)).collect();
        for n in 0..2 {
            let frame = over.frame(&self.flat, n, one * Ratio::whole(n), one)?;
            for (&p, (spectrum, squares, count)) in planes.iter().zip(&mut all) {
                let mut field = Field::of(&frame, p);
                field.centre();
                *squares += field.data.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
                *count += field.data.len() as f64;
                spectrum.add(&field);
            }
        }
        Ok(all.into_iter().map(|(s, squares, count)| s.rings(squares / count)).collect())
    }

    /// Fits size and sharpness to luma's spectrum.
    fn shape(&self, plate: &Residual, look: &Look) -> Result<[f64; 2], MatchError> {
        let wanted = plate.planes()[0].rings();
        let chroma = if self.flat.format().is_rgb() { look.chroma } else { 0.0 };
        let at = |[size, sharpness]: [f64; 2]| {
            let text = format!(
                "curve=flat:space=video:strength={}:size={size}:sharpness={sharpness}:chroma={chroma}",
                self.strength
            );
            Ok::<_, MatchError>(distance_db(&wanted, &self.rings(&text, &[0])?[0]))
        };
        minimize(SIZES.map(|s| [s, 0.0]), [0.2, 0.4], [[0.0, 16.0], [-1.0, 1.0]], 6, at)
    }

    /// Fits the ratio of the sizes of chroma's and luma's grain.
    fn chroma_size(&self, plate: &Residual, look: &Look) -> Result<f64, MatchError> {
        let wanted = [plate.planes()[1].rings(), plate.planes()[2].rings()];
        let at = |[part, _]: [f64; 2]| {
            let text = format!(
                "curve=flat:space=video:strength={}:size={}:sharpness={}:chroma={}:chroma-size={part}",
                self.strength, look.size, look.sharpness, look.chroma
            );
            let made = self.rings(&text, &[1, 2])?;
            Ok::<_, MatchError>((0..2).map(|i| distance_db(&wanted[i], &made[i]).powi(2)).sum::<f64>().sqrt())
        };
        let starts = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0].map(|s| [s, 0.0]);
        let [part, _] = minimize(starts, [0.2, 0.0], [[0.5, 4.0], [0.0, 0.0]], 5, at)?;
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_grain_is_told_from_grain_that_fades() {
        assert_eq!(in_time([0.01, 0.0, 0.0, 0.0], 8), (0.0, 1));
        assert_eq!(in_time([0.5, 0.25, 0.13, 0.06], 8), (0.5, 1));
        assert_eq!(in_time([0.5, 0.0, 0.0, 0.0], 8), (0.0, 2));
        assert_eq!(in_time([0.67, 0.33, 0.0, 0.0], 8), (0.0, 3));
        assert_eq!(in_time([0.5, 0.0, 0.0, 0.0], 2), (0.5, 1), "two frames do not tell");
    }
}
