//! A value that may move.

use crate::curve::{Animate, Curve, CurveError};
use crate::frame::FrameTime;
use core::fmt;

/// A constant, or a curve. The type of every numeric setting, so that all of them can move, and of every position
/// (`[f64; 2]`) and colour (`[f64; 4]`).
#[derive(Clone, PartialEq, Debug)]
pub enum Animated<T = f64> {
    /// The same in every frame.
    Constant(T),
    /// Moves.
    Curve(Curve<T>),
}

impl<T: Animate> Animated<T> {
    /// The value at a moment.
    pub fn at(&self, at: &FrameTime) -> T {
        match self {
            Animated::Constant(v) => *v,
            Animated::Curve(c) => c.value(at.frame, at.time),
        }
    }

    /// Turns keys that count from the end into numbers.
    pub fn resolve(&self, last: Option<i64>) -> Result<Animated<T>, CurveError> {
        Ok(match self {
            Animated::Constant(v) => Animated::Constant(*v),
            Animated::Curve(c) => Animated::Curve(c.resolve(last)?),
        })
    }

    /// The same, its curve [clamped](Curve::clamped) to a range.
    #[must_use]
    pub fn clamped(self, min: f64, max: f64) -> Animated<T> {
        match self {
            Animated::Constant(v) => Animated::Constant(v),
            Animated::Curve(c) => Animated::Curve(c.clamped(min, max)),
        }
    }

    /// The value if it never changes.
    pub fn constant(&self) -> Option<T> {
        match self {
            Animated::Constant(v) => Some(*v),
            Animated::Curve(c) => c.constant(),
        }
    }
}

/// A constant as its value, a curve as its keys.
impl<T: Animate> fmt::Display for Animated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Animated::Constant(v) => v.print(f),
            Animated::Curve(c) => c.fmt(f),
        }
    }
}

impl<T> From<T> for Animated<T> {
    fn from(v: T) -> Animated<T> {
        Animated::Constant(v)
    }
}
