//! Fits curves to samples: few keys, and no sample farther from the curve than a given bound.
//!
//! [`fit`] fits a [`Curve`] to a track that was sampled at each frame or at any increasing times. The bound holds for
//! every sample exactly, because it is checked with the arithmetic of the curve. Keys are at times of samples. The
//! number of keys is small, but not always the smallest possible. The methods are:
//!
//! - [`FitShape::Linear`]: the longest line that passes through the samples' windows (value ± bound), then the longest
//!   that continues from where the last one can end (J. O'Rourke, "An On-Line Algorithm for Fitting Straight Lines
//!   Between Data Ranges", Comm. ACM 24, 1981); or the longest lines from sample to sample, if those are fewer.
//! - [`FitShape::Smooth`]: keys are samples. The worst sample of a stretch becomes a key until all are within the
//!   bound, then every key that is not needed is removed. The shape is monotone, so rising samples give a rising curve.
//! - [`FitShape::Hermite`]: value and slope at some samples, by least squares over all of them, reweighted in rounds so
//!   that the largest deviations fall (C. L. Lawson, 1961). The worst sample of a stretch gets a key until all are
//!   within the bound, then every key that is not needed is removed and its neighbours are refitted. Value and slope
//!   are continuous.
//! - [`FitShape::Bezier`]: the same, and then every key is removed without which one stretch with handles at other
//!   times keeps to the bound; value and slope are continuous here, too.
//!
//! Numbers are rounded to the fewest decimals that the bound allows.

mod cubic;
mod linear;
mod round;
mod smooth;

use super::{Curve, CurveError, Key, KeyTime, MAX_KEYS, MAX_VALUE, Shape};
use crate::ratio::Ratio;

/// The shape of the fitted stretches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FitShape {
    /// [`Shape::Linear`].
    Linear,
    /// [`Shape::Smooth`]: never leaves the range of its keys' values, and is monotone where they are.
    #[default]
    Smooth,
    /// [`Shape::Hermite`] with equal slopes on both sides of a key.
    Hermite,
    /// [`Shape::Bezier`] with equal slopes on both sides of a key.
    Bezier,
}

impl FitShape {
    /// All shapes.
    pub const ALL: [FitShape; 4] = [FitShape::Linear, FitShape::Smooth, FitShape::Hermite, FitShape::Bezier];

    /// The name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            FitShape::Linear => "linear",
            FitShape::Smooth => "smooth",
            FitShape::Hermite => "hermite",
            FitShape::Bezier => "bezier",
        }
    }
}

/// An error in the samples. Samples are counted from 0 here and from 1 in messages.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum FitError {
    /// There is no sample.
    #[error("there are no samples")]
    Empty,
    /// More than [`MAX_KEYS`] samples.
    #[error("more than {MAX_KEYS} samples in one track")]
    TooMany,
    /// This sample's value is not a number, or beyond [`MAX_VALUE`].
    #[error("sample {}: the value must be a number from -1e100 to 1e100", .0 + 1)]
    Value(usize),
    /// This sample is not later than the one before it, or it is in seconds and that one in frames, or the
    /// other way round.
    #[error("sample {} must be later than the one before it, and all in frames or all in seconds", .0 + 1)]
    Order(usize),
    /// The bound is negative or not a number.
    #[error("the error bound must be a number, 0 or more")]
    Bound,
}

/// Time and value of one sample.
pub type Sample = (KeyTime, f64);

/// The samples as floating-point numbers.
struct Data<'a> {
    samples: &'a [Sample],
    /// Seconds or frames since the first sample.
    t: Vec<f64>,
    v: Vec<f64>,
}

impl Data<'_> {
    fn len(&self) -> usize {
        self.t.len()
    }

    fn key(&self, i: usize, value: f64, shape: Shape) -> Key {
        Key { at: self.samples[i].0, value, shape }
    }
}

/// Fits a curve of the given shape, with few keys, that is no farther than `bound` from any sample. Times must
/// increase; frame numbers may be negative. The curve holds before the first sample and after the last.
///
/// # Errors
/// There are no samples or too many, a value or the bound is not allowed, or times do not increase.
pub fn fit(samples: &[Sample], shape: FitShape, bound: f64) -> Result<Curve, FitError> {
    let data = data(samples, bound)?;
    // A negative frame number of a key would count from the end. A sample's negative number does not, so shift
    // all of them.
    if data.len() == 1 {
        return curve(&data, vec![data.key(0, data.v[0], Shape::Linear)]);
    }
    // Reserve a part of the bound for the rounding of numbers, as long as a fit is possible.
    for part in [0.98, 0.9, 0.5] {
        let keys = match shape {
            FitShape::Linear => linear::keys(&data, bound * part),
            FitShape::Smooth => smooth::keys(&data, bound),
            FitShape::Hermite => cubic::keys(&data, bound * part, false),
            FitShape::Bezier => cubic::keys(&data, bound * part, true),
        };
        let keys = round::keys(&data, keys, bound);
        // A cubic at every sample is no gain: the error of the least squares is larger than the bound allows.
        let fits = keys.len() < data.len()
            || data.len() == 2
            || matches!(shape, FitShape::Linear | FitShape::Smooth);
        if fits && round::within(&data, &keys, bound) {
            return curve(&data, keys);
        }
    }
    // If the bound is not wider than the error of the arithmetic, use some samples as keys, or all of them.
    if shape != FitShape::Linear {
        let keys = smooth::keys(&data, bound);
        if round::within(&data, &keys, bound) {
            return curve(&data, keys);
        }
    }
    let all = (0..data.len()).map(|i| data.key(i, data.v[i], every(shape)));
    curve(&data, all.collect())
}

/// The shape of a stretch that contains no sample but its keys.
const fn every(shape: FitShape) -> Shape {
    match shape {
        FitShape::Linear => Shape::Linear,
        FitShape::Smooth | FitShape::Hermite | FitShape::Bezier => Shape::Smooth,
    }
}

fn data(samples: &[Sample], bound: f64) -> Result<Data<'_>, FitError> {
    let Some(first) = samples.first() else { return Err(FitError::Empty) };
    if samples.len() > MAX_KEYS {
        return Err(FitError::TooMany);
    }
    if !(0.0..=f64::MAX).contains(&bound) {
        return Err(FitError::Bound);
    }
    let bad = |v: f64| v.is_nan() || v.abs() > MAX_VALUE;
    if let Some(i) = samples.iter().position(|s| bad(s.1)) {
        return Err(FitError::Value(i));
    }
    let order = samples.windows(2).position(|pair| match (pair[0].0, pair[1].0) {
        (KeyTime::Frame(a), KeyTime::Frame(b)) => a >= b || a < 0 && b >= 0,
        (KeyTime::Seconds(a), KeyTime::Seconds(b)) => a < Ratio::ZERO || a >= b || b - a <= Ratio::ZERO,
        _ => true,
    });
    if let Some(i) = order {
        return Err(FitError::Order(i + 1));
    }
    let origin = first.0.ratio();
    let t = samples.iter().map(|s| (s.0.ratio() - origin).to_f64()).collect();
    Ok(Data { samples, t, v: samples.iter().map(|s| s.1 + 0.0).collect() })
}

fn curve(data: &Data<'_>, keys: Vec<Key>) -> Result<Curve, FitError> {
    // Samples were checked, so keys are in order with valid values; slopes are checked where they are computed.
    Curve::new(keys).map_err(|e| match e {
        CurveError::Value(i) | CurveError::Shape(i) => FitError::Value(i.min(data.len() - 1)),
        e => FitError::Order(e.key().unwrap_or(0)),
    })
}

/// The largest deviation of the curve from a sample, and the number of that sample. [`fit`] keeps it within
/// the bound.
pub fn deviation(curve: &Curve, samples: &[Sample]) -> Option<(usize, f64)> {
    let far = |s: &Sample| (curve.value_at(s.0.ratio()) - s.1).abs();
    samples.iter().map(far).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests;
