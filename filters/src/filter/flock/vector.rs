//! Vectors of three numbers, and a fast approximation of a sine.

use crate::math::parabola;

pub(super) type V = [f32; 3];

#[inline(always)]
pub(super) fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn mul(a: V, k: f32) -> V {
    [a[0] * k, a[1] * k, a[2] * k]
}

#[inline(always)]
pub(super) fn dot(a: V, b: V) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The same direction with length 1, or `other` for a vector of length 0.
#[inline(always)]
pub(super) fn unit(a: V, other: V) -> V {
    let long = dot(a, a).sqrt();
    if long > 1e-9 { mul(a, 1.0 / long) } else { other }
}

/// An angle in radians as turns.
#[inline(always)]
pub(super) fn turns(angle: f32) -> f32 {
    angle * (0.5 / core::f32::consts::PI)
}

/// A sine of turns from two parabolas: within 0.0012 of it, with the same zeros and peaks.
#[inline(always)]
pub(super) fn wave(turns: f32) -> f32 {
    let w = parabola(turns);
    0.775 * w + 0.225 * w * w.abs()
}

/// The angle of a direction, clockwise from the right, in turns: within 2e-6 of it.
#[inline(always)]
pub(super) fn angle(x: f32, y: f32) -> f32 {
    let (long, short) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let r = if long > 0.0 { short / long } else { 0.0 };
    let s = r * r;
    // A minimax polynomial of the arc tangent.
    let p =
        ((((-0.011_721_2 * s + 0.052_653_32) * s - 0.116_432_87) * s + 0.193_543_46) * s - 0.332_623_47) * s;
    let mut angle = turns(r * (p + 0.999_977_26));
    if y.abs() > x.abs() {
        angle = 0.25 - angle;
    }
    if x < 0.0 {
        angle = 0.5 - angle;
    }
    if y < 0.0 { -angle } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_and_waves_are_what_they_stand_for() {
        for i in -2000..2000 {
            let t = f64::from(i) / 700.0;
            let (sin, cos) = libm::sincos(t * core::f64::consts::TAU);
            assert!((f64::from(wave(t as f32)) - sin).abs() < 0.0012, "{t}");
            let got = f64::from(angle(cos as f32 * 3.0, sin as f32 * 3.0));
            let off = got - t;
            assert!((off - libm::round(off)).abs() < 4e-6, "{t}: {got}");
        }
        assert_eq!(angle(0.0, 0.0), 0.0);
    }
}
