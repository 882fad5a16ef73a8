//! A value that may move.

use crate::curve::{Curve, CurveError};
use crate::frame::Moment;

/// A constant, or a curve. The type of every numeric setting, so that all of them can move.
#[derive(Clone, PartialEq, Debug)]
pub enum Animated {
    /// The same in every frame.
    Constant(f64),
    /// Moves.
    Curve(Curve),
}

impl Animated {
    /// The value at a moment.
    pub fn at(&self, at: &Moment) -> f64 {
        match self {
            Animated::Constant(v) => *v,
            Animated::Curve(c) => c.value(at.frame, at.time),
        }
    }

    /// Turns keys that count from the end into numbers.
    pub fn resolve(&self, last: Option<i64>) -> Result<Animated, CurveError> {
        Ok(match self {
            Animated::Constant(v) => Animated::Constant(*v),
            Animated::Curve(c) => Animated::Curve(c.resolve(last)?),
        })
    }

    /// The value if it never changes.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Animated::Constant(v) => Some(*v),
            Animated::Curve(c) => {
                let first = c.keys().first()?.value;
                c.keys().iter().all(|k| k.value == first).then_some(first)
            }
        }
    }
}

impl From<f64> for Animated {
    fn from(v: f64) -> Animated {
        Animated::Constant(v)
    }
}
