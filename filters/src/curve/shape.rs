//! How the value goes from a key to the next.

use super::Ease;

/// How the value goes from a key to the next.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Shape<T = f64> {
    /// Stays until the next key.
    Hold,
    /// A straight line.
    #[default]
    Linear,
    /// A cubic that keeps to the keys' order: where they rise it rises, and it never leaves the values of its two
    /// keys. Stretches of this shape that follow each other have no corner.
    Smooth,
    /// A cubic with a given slope at either end, in value a frame or value a second, as the keys' times are.
    Hermite {
        /// The slope with which it leaves its key.
        leave: T,
        /// The slope with which it arrives at the next.
        arrive: T,
    },
    /// A cubic Bezier curve with a handle at either end.
    Bezier(Handles<T>),
    /// A cubic B-spline: keys are what it is drawn towards, only the first and last of a row of such stretches are
    /// hit. Value, slope and curvature have no break inside the row, whatever the spacing of the keys.
    BSpline,
    /// A named ease.
    Ease(Ease),
}

/// The two handles of a stretch of [`Shape::Bezier`]. All parts of the value share their times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Handles<T = f64> {
    /// When the first handle is, as a part of the stretch from its key on: 0 to 1.
    pub leave: f64,
    /// How far the first handle's value is above its key's.
    pub leave_by: T,
    /// When the second handle is, as a part of the stretch from the first key on: 0 to 1.
    pub arrive: f64,
    /// How far the second handle's value is above the next key's.
    pub arrive_by: T,
}
