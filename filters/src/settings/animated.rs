//! Values that can be animated.

use crate::curve::{Animate, Curve, CurveError};
use crate::frame::FrameTime;
use core::fmt;

/// A constant or a curve: the type of every number, position (`[f64; 2]`) and colour (`[f64; 4]`) that can be
/// animated.
#[derive(Clone, PartialEq, Debug)]
pub enum Animated<T = f64> {
    /// The same in every frame.
    Constant(T),
    /// A curve over time.
    Curve(Curve<T>),
}

impl<T: Animate> Animated<T> {
    /// The value at a time.
    pub fn at(&self, at: &FrameTime) -> T {
        match self {
            Animated::Constant(v) => *v,
            Animated::Curve(c) => c.value(at.frame, at.time),
        }
    }

    /// Resolves keys that count from the end or in percent.
    ///
    /// # Errors
    /// As that of curves.
    pub fn resolve(&self, first: i64, last: Option<i64>) -> Result<Animated<T>, CurveError> {
        Ok(match self {
            Animated::Constant(v) => Animated::Constant(*v),
            Animated::Curve(c) => Animated::Curve(c.resolve(first, last)?),
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

    /// The lowest and the highest value: see [`Curve::bounds`].
    pub fn bounds(&self) -> (T, T) {
        match self {
            Animated::Constant(v) => (*v, *v),
            Animated::Curve(c) => c.bounds(),
        }
    }

    /// The value, if it never changes.
    pub fn constant(&self) -> Option<T> {
        match self {
            Animated::Constant(v) => Some(*v),
            Animated::Curve(c) => c.constant(),
        }
    }
}

/// Prints a constant as its value and a curve as its keys.
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
