//! The keys of a stream.

use crate::curve::bezier::Bezier;
use crate::curve::segment::{Segment, hermite};
use crate::curve::{Ease, Handles, Key, Shape, bspline, smooth};
use crate::ratio::Ratio;

/// The interpolation from a key to the next, with all numbers that depend on other keys than these two.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Stretch {
    Hold,
    Linear,
    /// Slopes at both ends.
    Smooth(f64, f64),
    /// Coefficients.
    BSpline([f64; 4]),
    /// Slopes at both ends.
    Hermite(f64, f64),
    Bezier(Handles),
    Ease(Ease),
}

/// A key in a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Knot {
    pub(super) time: Ratio,
    pub(super) value: f64,
    pub(super) stretch: Stretch,
}

impl Knot {
    /// Key `i` of a track.
    pub(super) fn new(keys: &[Key], i: usize) -> Knot {
        let key = &keys[i];
        let is_last = i + 1 == keys.len();
        let stretch = match key.shape {
            Shape::Hold => Stretch::Hold,
            Shape::Linear => Stretch::Linear,
            Shape::Smooth if is_last => Stretch::Smooth(0.0, 0.0),
            Shape::Smooth => {
                let (leave, arrive) = smooth::slopes(keys, i, 0);
                Stretch::Smooth(leave, arrive)
            }
            Shape::BSpline if is_last => Stretch::BSpline([0.0; 4]),
            Shape::BSpline => Stretch::BSpline(bspline::cubic(keys, i, 0)),
            Shape::Hermite { leave, arrive } => Stretch::Hermite(leave, arrive),
            Shape::Bezier(handles) => Stretch::Bezier(handles),
            Shape::Ease(ease) => Stretch::Ease(ease),
        };
        Knot { time: key.when(), value: key.value, stretch }
    }

    pub(super) const fn shape(&self) -> Shape {
        match self.stretch {
            Stretch::Hold => Shape::Hold,
            Stretch::Linear => Shape::Linear,
            Stretch::Smooth(..) => Shape::Smooth,
            Stretch::BSpline(_) => Shape::BSpline,
            Stretch::Hermite(leave, arrive) => Shape::Hermite { leave, arrive },
            Stretch::Bezier(handles) => Shape::Bezier(handles),
            Stretch::Ease(ease) => Shape::Ease(ease),
        }
    }

    /// The stretch to the next key and its length, computed as a [`Curve`] does.
    pub(super) fn segment_to(&self, next: &Knot) -> (f64, Segment) {
        let (a, b, h) = (self.value, next.value, (next.time - self.time).to_f64());
        let segment = match self.stretch {
            Stretch::Hold => Segment::Flat(a),
            Stretch::Linear => Segment::Line(a, b),
            Stretch::Smooth(leave, arrive) => {
                Segment::Bounded(hermite(a, b, leave * h, arrive * h), a.min(b), a.max(b))
            }
            Stretch::BSpline(c) => Segment::Cubic(c),
            Stretch::Hermite(leave, arrive) => Segment::Cubic(hermite(a, b, leave * h, arrive * h)),
            Stretch::Bezier(h) => {
                Segment::Bezier(Bezier { x: [h.leave, h.arrive], y: [a, a + h.leave_by, b + h.arrive_by, b] })
            }
            Stretch::Ease(ease) => Segment::Ease(a, b, ease),
        };
        (h, segment)
    }
}
