//! Small functions that several rooms share. Each has one order of operations, so that its bits are the same everywhere.

use core::ops::{Mul, Sub};

/// The smooth step `3 t^2 - 2 t^3`, with slope 0 at 0 and 1, for `t` from 0 to 1.
#[inline(always)]
pub(crate) fn smooth<T: Copy + From<f32> + Mul<Output = T> + Sub<Output = T>>(t: T) -> T {
    t * t * (T::from(3.0) - T::from(2.0) * t)
}

/// 0 below `low`, 1 above `high` and [`smooth`] between; with `low` above `high` it falls.
#[inline(always)]
pub(crate) fn smoothstep(low: f32, high: f32, v: f32) -> f32 {
    smooth(((v - low) / (high - low)).clamp(0.0, 1.0))
}

/// A parabola through the zeros and peaks of the sine of `turns`: within 0.06 of it.
#[inline(always)]
pub(crate) fn parabola(turns: f32) -> f32 {
    let t = turns - (turns + 0.5).floor();
    8.0 * t - 16.0 * t * t.abs()
}
