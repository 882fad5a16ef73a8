//! The keys of a stream.

use crate::curve::bezier::Bezier;
use crate::curve::segment::{Segment, hermite};
use crate::curve::{Ease, Handles, Key, Shape, bspline, smooth};
use crate::ratio::Ratio;

/// The interpolation from a key to the next, with all numbers that depend on other keys than these two.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Interpolation {
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
pub(super) struct StreamKey {
    pub(super) time: Ratio,
    pub(super) value: f64,
    pub(super) interpolation: Interpolation,
}

impl StreamKey {
    /// Key `i` of a track.
    pub(super) fn new(keys: &[Key], i: usize) -> StreamKey {
        let key = &keys[i];
        let is_last = i + 1 == keys.len();
        let interpolation = match key.shape {
            Shape::Hold => Interpolation::Hold,
            Shape::Linear => Interpolation::Linear,
            Shape::Smooth if is_last => Interpolation::Smooth(0.0, 0.0),
            Shape::Smooth => {
                let (leave, arrive) = smooth::slopes(keys, i, 0);
                Interpolation::Smooth(leave, arrive)
            }
            Shape::BSpline if is_last => Interpolation::BSpline([0.0; 4]),
            Shape::BSpline => Interpolation::BSpline(bspline::cubic(keys, i, 0)),
            Shape::Hermite { leave, arrive } => Interpolation::Hermite(leave, arrive),
            Shape::Bezier(handles) => Interpolation::Bezier(handles),
            Shape::Ease(ease) => Interpolation::Ease(ease),
        };
        StreamKey { time: key.when(), value: key.value, interpolation }
    }

    pub(super) const fn shape(&self) -> Shape {
        match self.interpolation {
            Interpolation::Hold => Shape::Hold,
            Interpolation::Linear => Shape::Linear,
            Interpolation::Smooth(..) => Shape::Smooth,
            Interpolation::BSpline(_) => Shape::BSpline,
            Interpolation::Hermite(leave, arrive) => Shape::Hermite { leave, arrive },
            Interpolation::Bezier(handles) => Shape::Bezier(handles),
            Interpolation::Ease(ease) => Shape::Ease(ease),
        }
    }

    /// The segment to the next key and its length, computed as a [`Curve`] does.
    pub(super) fn segment_to(&self, next: &StreamKey) -> (f64, Segment) {
        let (a, b, h) = (self.value, next.value, (next.time - self.time).to_f64());
        let segment = match self.interpolation {
            Interpolation::Hold => Segment::Flat(a),
            Interpolation::Linear => Segment::Line(a, b),
            Interpolation::Smooth(leave, arrive) => {
                Segment::Bounded(hermite(a, b, leave * h, arrive * h), a.min(b), a.max(b))
            }
            Interpolation::BSpline(c) => Segment::Cubic(c),
            Interpolation::Hermite(leave, arrive) => Segment::Cubic(hermite(a, b, leave * h, arrive * h)),
            Interpolation::Bezier(h) => {
                Segment::Bezier(Bezier { x: [h.leave, h.arrive], y: [a, a + h.leave_by, b + h.arrive_by, b] })
            }
            Interpolation::Ease(ease) => Segment::Ease(a, b, ease),
        };
        (h, segment)
    }
}
