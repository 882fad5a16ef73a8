//! Interpolation between two keys.

use super::Ease;

/// Interpolation from a key to the next.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Shape<T = f64> {
    /// Holds the value until the next key.
    Hold,
    /// A straight line.
    #[default]
    Linear,
    /// A monotone cubic: it rises where the keys rise and never leaves the range of its two keys. Consecutive
    /// stretches of this shape have a continuous slope.
    Smooth,
    /// A cubic with given slopes at both ends, in value per frame or value per second, in the unit of the
    /// keys' times.
    Hermite {
        /// The slope at its key.
        leave: T,
        /// The slope at the next key.
        arrive: T,
    },
    /// A cubic Bezier curve with a handle at each end.
    Bezier(Handles<T>),
    /// A cubic B-spline with the keys as control points; it passes only through the first and last key of a row of
    /// such stretches. Value, slope and curvature are continuous inside the row for any spacing of the keys.
    BSpline,
    /// A named easing function.
    Ease(Ease),
}

/// The two handles of a stretch of [`Shape::Bezier`]. All components of the value share the handles' times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Handles<T = f64> {
    /// Time of the first handle, as a fraction of the stretch: 0 to 1.
    pub leave: f64,
    /// Value of the first handle relative to its key.
    pub leave_by: T,
    /// Time of the second handle, as a fraction of the stretch from the first key on: 0 to 1.
    pub arrive: f64,
    /// Value of the second handle relative to the next key.
    pub arrive_by: T,
}
