//! Samples to curves: few keys, and no sample farther from the curve than a stated bound.
//!
//! [`fit`] reads a track that was sampled (frame by frame, or at any times that grow) and gives a [`Curve`] through
//! it. The bound is on every sample, measured with the curve's own arithmetic, so it holds to the last bit. Keys stand
//! at times of samples. No fit is sure to have the fewest keys that are possible; what each does:
//!
//! - [`FitShape::Linear`]: the longest line that stabs the samples' windows (value ± bound), then the longest that goes
//!   on from where the last one can end (J. O'Rourke, "An On-Line Algorithm for Fitting Straight Lines Between Data
//!   Ranges", Comm. ACM 24, 1981); or, where that is fewer, the longest lines from sample to sample.
//! - [`FitShape::Smooth`]: keys are samples. The worst sample of a stretch becomes a key until none is too far, then
//!   every key goes that can. Samples that rise give a curve that rises, since the shape keeps to its keys' order.
//! - [`FitShape::Hermite`]: value and slope at some samples, by least squares over all of them, weighted in rounds so
//!   that the worst come nearer (C. L. Lawson, 1961). The worst sample of a stretch gets a key until none is too far,
//!   then every key goes that can, those beside it being set anew. Value and slope have no break.
//! - [`FitShape::Bezier`]: the same, and then every key goes without which one stretch with handles at other times
//!   keeps to the bound; value and slope have no break here either.
//!
//! Numbers are rounded to as few decimals as the bound leaves room for.

mod cubic;
mod linear;
mod round;
mod smooth;

use super::{Curve, CurveError, Key, KeyTime, MAX_KEYS, MAX_VALUE, Shape};
use crate::ratio::Ratio;
use core::fmt;

/// The shape of the fitted stretches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FitShape {
    /// [`Shape::Linear`].
    Linear,
    /// [`Shape::Smooth`]: never leaves its keys' values, rises where they rise.
    #[default]
    Smooth,
    /// [`Shape::Hermite`], the slopes on both sides of a key being equal.
    Hermite,
    /// [`Shape::Bezier`], the slopes on both sides of a key being equal.
    Bezier,
}

impl FitShape {
    /// All of them.
    pub const ALL: [FitShape; 4] = [FitShape::Linear, FitShape::Smooth, FitShape::Hermite, FitShape::Bezier];

    /// What it is called: the shape's name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            FitShape::Linear => "linear",
            FitShape::Smooth => "smooth",
            FitShape::Hermite => "hermite",
            FitShape::Bezier => "bezier",
        }
    }
}

/// Why there is no curve through the samples. Samples are counted from 0 here and from 1 in messages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FitError {
    /// No sample.
    Empty,
    /// More than [`MAX_KEYS`] samples.
    TooMany,
    /// This sample's value is not a number, or beyond [`MAX_VALUE`].
    Value(usize),
    /// This sample is not later than the one before it, or in seconds where that is in frames.
    Order(usize),
    /// The bound is negative or no number.
    Bound,
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Empty => f.write_str("there are no samples"),
            FitError::TooMany => write!(f, "more than {MAX_KEYS} samples in one track"),
            FitError::Value(i) => {
                write!(f, "sample {}: the value must be a number from -1e100 to 1e100", i + 1)
            }
            FitError::Order(i) => write!(
                f,
                "sample {} must be later than the one before it, and all in frames or all in seconds",
                i + 1
            ),
            FitError::Bound => f.write_str("the error bound must be a number, 0 or more"),
        }
    }
}

impl core::error::Error for FitError {}

/// One sample: when, and the value.
pub type Sample = (KeyTime, f64);

/// The samples in plain numbers.
struct Data<'a> {
    samples: &'a [Sample],
    /// Since the first sample.
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

const fn when(at: KeyTime) -> Ratio {
    match at {
        KeyTime::Frame(n) => Ratio::whole(n),
        KeyTime::Seconds(s) => s,
    }
}

/// A curve of the given shape that is no farther than `bound` from any sample, with few keys. Times must grow; frames
/// are taken as they are (negative ones too). The curve holds before the first sample and after the last.
pub fn fit(samples: &[Sample], shape: FitShape, bound: f64) -> Result<Curve, FitError> {
    let data = data(samples, bound)?;
    // Keys that count from the end would not be comparable; samples never do, so a negative frame is just early.
    if data.len() == 1 {
        return curve(&data, vec![data.key(0, data.v[0], Shape::Linear)]);
    }
    // A part of the bound is left to the rounding of numbers, as long as there is enough of it.
    for part in [0.98, 0.9, 0.5] {
        let keys = match shape {
            FitShape::Linear => linear::keys(&data, bound * part),
            FitShape::Smooth => smooth::keys(&data, bound),
            FitShape::Hermite => cubic::keys(&data, bound * part, false),
            FitShape::Bezier => cubic::keys(&data, bound * part, true),
        };
        let keys = round::keys(&data, keys, bound);
        // A cubic at every sample is no fit: least squares have lost more than there is room for.
        let fits = keys.len() < data.len()
            || data.len() == 2
            || matches!(shape, FitShape::Linear | FitShape::Smooth);
        if fits && round::within(&data, &keys, bound) {
            return curve(&data, keys);
        }
    }
    // What is left when the bound is no wider than what arithmetic loses: some samples as keys, or all of them.
    if shape != FitShape::Linear {
        let keys = smooth::keys(&data, bound);
        if round::within(&data, &keys, bound) {
            return curve(&data, keys);
        }
    }
    let all = (0..data.len()).map(|i| data.key(i, data.v[i], every(shape)));
    curve(&data, all.collect())
}

/// The shape of a stretch that holds no sample but its keys.
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
    let origin = when(first.0);
    let t = samples.iter().map(|s| (when(s.0) - origin).to_f64()).collect();
    Ok(Data { samples, t, v: samples.iter().map(|s| s.1 + 0.0).collect() })
}

fn curve(data: &Data<'_>, keys: Vec<Key>) -> Result<Curve, FitError> {
    // Samples in order with good values make keys in order with good values; slopes are checked where they are made.
    Curve::new(keys).map_err(|e| match e {
        CurveError::Value(i) | CurveError::Shape(i) => FitError::Value(i.min(data.len() - 1)),
        e => FitError::Order(e.key().unwrap_or(0)),
    })
}

/// The farthest that any sample is from the curve, and which: what [`fit`] keeps within its bound.
pub fn deviation(curve: &Curve, samples: &[Sample]) -> Option<(usize, f64)> {
    let far = |s: &Sample| (curve.value_at(when(s.0)) - s.1).abs();
    samples.iter().map(far).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests;
