//! One component (a number, a coordinate, a channel) of the stretch between two keys, prepared for
//! evaluation.

use super::key::length;
use super::{Animate, Ease, Key, Shape, bezier::Bezier, bspline, smooth};

/// One component of a stretch. `u` runs from 0 at its key to 1 at the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Segment {
    /// Constant.
    Flat(f64),
    /// A straight line between the two.
    Line(f64, f64),
    /// `c[0] + c[1] u + c[2] u^2 + c[3] u^3`.
    Cubic([f64; 4]),
    /// The same, clamped to the range from the first to the second number: rounding must not make a monotone
    /// curve overshoot.
    Bounded([f64; 4], f64, f64),
    /// Time and value as functions of a parameter.
    Bezier(Bezier),
    /// A value and a slope: a line in time itself, not in `u`.
    Ray(f64, f64),
    /// An easing function from the first value to the second.
    Ease(f64, f64, Ease),
}

/// The coefficients of the cubic with these end values and slopes (by `u`).
pub(crate) fn hermite(a: f64, b: f64, leave: f64, arrive: f64) -> [f64; 4] {
    let rise = b - a;
    [a, leave, 3.0 * rise - (2.0 * leave + arrive), (leave + arrive) - 2.0 * rise]
}

/// Component `component` of the stretch from key `i` to the next. `keys` may be any run of a curve's keys that contains
/// as many neighbours as the shape needs, or all there are: the result is the same.
pub(crate) fn segment<T: Animate>(keys: &[Key<T>], i: usize, part: usize) -> Segment {
    let key = &keys[i];
    let Some(next) = keys.get(i + 1) else { return Segment::Flat(key.value.component(part)) };
    let (a, b) = (key.value.component(part), next.value.component(part));
    match &key.shape {
        Shape::Hold => Segment::Flat(a),
        Shape::Linear => Segment::Line(a, b),
        Shape::Smooth => {
            let (leave, arrive) = smooth::slopes(keys, i, part);
            let h = length(key, next);
            Segment::Bounded(hermite(a, b, leave * h, arrive * h), a.min(b), a.max(b))
        }
        Shape::Hermite { leave, arrive } => {
            let h = length(key, next);
            Segment::Cubic(hermite(a, b, leave.component(part) * h, arrive.component(part) * h))
        }
        Shape::Bezier(h) => Segment::Bezier(Bezier {
            x: [h.leave, h.arrive],
            y: [a, a + h.leave_by.component(part), b + h.arrive_by.component(part), b],
        }),
        Shape::BSpline => Segment::Cubic(bspline::cubic(keys, i, part)),
        Shape::Ease(ease) => Segment::Ease(a, b, *ease),
    }
}

impl Segment {
    /// The value at `u`; at 0 it is exactly the key's.
    pub(crate) fn value(&self, u: f64) -> f64 {
        match self {
            Segment::Flat(a) => *a,
            Segment::Line(a, b) => a + (b - a) * u,
            Segment::Ray(a, slope) => a + slope * u,
            Segment::Cubic(c) => c[0] + u * (c[1] + u * (c[2] + u * c[3])),
            Segment::Bounded(c, low, high) => Segment::Cubic(*c).value(u).max(*low).min(*high),
            Segment::Bezier(bezier) => bezier.value(u),
            Segment::Ease(a, b, ease) => a + (b - a) * ease.value(u),
        }
    }

    /// The integral from 0 to `u`, in closed form. Multiplied by the length of the stretch, it is the
    /// integral over time.
    pub(crate) fn integral(&self, u: f64) -> f64 {
        match self {
            Segment::Flat(a) => a * u,
            // Sum terms that grow, or subtract terms that shrink from the whole, so that rounding cannot make
            // the integral decrease.
            Segment::Ray(a, slope) => u * (a + 0.5 * slope * u),
            Segment::Line(a, b) if a <= b => u * (a + u * 0.5 * (b - a)),
            Segment::Line(a, b) => 0.5 * (a + b) - (1.0 - u) * (b + (1.0 - u) * 0.5 * (a - b)),
            Segment::Cubic(c) | Segment::Bounded(c, ..) => {
                u * (c[0] + u * (c[1] / 2.0 + u * (c[2] / 3.0 + u * (c[3] / 4.0))))
            }
            Segment::Bezier(bezier) => bezier.integral(u),
            Segment::Ease(a, b, ease) => a * u + (b - a) * ease.integral(u),
        }
    }

    /// Whether the value is certainly never negative.
    pub(crate) fn is_positive(&self) -> bool {
        match self {
            Segment::Flat(a) => *a >= 0.0,
            Segment::Line(a, b) => *a >= 0.0 && *b >= 0.0,
            Segment::Ray(a, slope) => *a >= 0.0 && *slope == 0.0,
            Segment::Cubic(c) => {
                let points = [c[0], c[0] + c[1] / 3.0, c[0] + (2.0 * c[1] + c[2]) / 3.0, c.iter().sum()];
                points.iter().all(|p| *p >= 0.0)
            }
            Segment::Bounded(_, low, _) => *low >= 0.0,
            Segment::Bezier(bezier) => bezier.y.iter().all(|y| *y >= 0.0),
            Segment::Ease(a, b, ease) => *a >= 0.0 && *b >= 0.0 && !ease.overshoots(),
        }
    }

    /// The slopes by `u` of the straight extrapolation before 0 and after 1. An easing function, whose own slope may
    /// be infinite there, continues as the line between its keys.
    pub(crate) fn ends(&self) -> (f64, f64) {
        match self {
            Segment::Flat(_) => (0.0, 0.0),
            Segment::Line(a, b) | Segment::Ease(a, b, _) => (b - a, b - a),
            Segment::Ray(_, slope) => (*slope, *slope),
            Segment::Cubic(c) | Segment::Bounded(c, ..) => (c[1], c[1] + 2.0 * c[2] + 3.0 * c[3]),
            Segment::Bezier(bezier) => bezier.ends(),
        }
    }
}
