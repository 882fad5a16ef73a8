//! The active keys of one track.

use super::format::{ByteReader, StreamError, is_cyclic, put_knot, rules};
use crate::curve::bezier::Bezier;
use crate::curve::segment::{Segment, hermite};
use crate::curve::{Curve, Ease, Extrapolation, Handles, Key, Shape, bspline, smooth};
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
    fn segment_to(&self, next: &Knot) -> (f64, Segment) {
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

/// The current stretch of a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) start: Ratio,
    /// 1 for a segment that depends on time itself.
    pub(super) length: f64,
    pub(super) segment: Segment,
}

/// The active keys of one track: those on both sides of the current time.
#[derive(Clone, Debug)]
pub(super) struct TrackState {
    /// `None` before the first key.
    from: Option<Knot>,
    /// `None` after the last key.
    to: Option<Knot>,
    /// The slope of the extrapolation before the first key or after the last.
    slope: f64,
    before: Extrapolation,
    after: Extrapolation,
}

impl TrackState {
    /// The state before all keys. Of a track that repeats or mirrors, which is not played from the stream, it has no
    /// keys.
    pub(super) fn start(curve: &Curve) -> TrackState {
        let (before, after) = (curve.before(), curve.after());
        let mut state = TrackState { from: None, to: None, slope: 0.0, before, after };
        if !state.is_cyclic() {
            let first = Knot::new(curve.keys(), 0);
            if curve.keys().len() > 1 {
                let (length, segment) = first.segment_to(&Knot::new(curve.keys(), 1));
                state.slope = segment.ends().0 / length;
            }
            state.to = Some(first);
        }
        state
    }

    pub(super) const fn rules(&self) -> (Extrapolation, Extrapolation) {
        (self.before, self.after)
    }

    /// Whether the track repeats or mirrors.
    pub(super) const fn is_cyclic(&self) -> bool {
        is_cyclic(self.before, self.after)
    }

    pub(super) const fn next(&self) -> Option<&Knot> {
        self.to.as_ref()
    }

    /// The time at which the track's next key, or its end, is needed: that of the key before. `None` after the end.
    #[inline(always)]
    pub(super) fn need(&self) -> Option<Ratio> {
        self.to.as_ref().map(|to| to.time)
    }

    /// Moves on to the stretch that begins at the next key and ends at the key `to`; `None` means that the track ends.
    /// Returns `false` if the key is not later.
    #[inline(always)]
    pub(super) fn push(&mut self, to: Option<Knot>) -> bool {
        let next = self.to;
        match (&to, &next) {
            (Some(to), Some(next)) => {
                if next.time >= to.time || to.time - next.time <= Ratio::ZERO {
                    return false;
                }
            }
            (None, Some(next)) => {
                self.slope = self.from.map_or(0.0, |from| {
                    let (length, segment) = from.segment_to(next);
                    segment.ends().1 / length
                });
            }
            (_, None) => return false,
        }
        (self.from, self.to) = (next, to);
        true
    }

    /// The current stretch. `None` for a track without keys.
    #[inline(always)]
    pub(super) fn active(&self) -> Option<Active> {
        let beyond = |knot: &Knot, rule| {
            let segment = match rule {
                Extrapolation::Extrapolate => Segment::Ray(knot.value, self.slope),
                _ => Segment::Flat(knot.value),
            };
            Active { start: knot.time, length: 1.0, segment }
        };
        Some(match (&self.from, &self.to) {
            (Some(from), Some(to)) => {
                let (length, segment) = from.segment_to(to);
                Active { start: from.time, length, segment }
            }
            (None, Some(first)) => beyond(first, self.before),
            (Some(last), None) => beyond(last, self.after),
            (None, None) => return None,
        })
    }

    pub(super) fn put(&self, seconds: bool, out: &mut Vec<u8>) {
        out.push(rules(self.before, self.after));
        for knot in [&self.from, &self.to] {
            if !self.is_cyclic() {
                put_knot(knot.as_ref(), seconds, out);
            }
        }
        if self.from.is_none() != self.to.is_none() {
            out.extend(self.slope.to_le_bytes());
        }
    }

    /// Reads the state of a track in a jump frame at `now`; `None` means before all keys.
    pub(super) fn read(bytes: &mut ByteReader<'_>, now: Option<Ratio>) -> Result<TrackState, StreamError> {
        let (before, after) = bytes.rules()?;
        let mut state = TrackState { from: None, to: None, slope: 0.0, before, after };
        if state.is_cyclic() {
            return Ok(state);
        }
        (state.from, state.to) = (bytes.knot()?, bytes.knot()?);
        if state.from.is_none() || state.to.is_none() {
            state.slope = bytes.slope()?;
        }
        let begun = state.from.is_none_or(|from| now.is_some_and(|now| from.time <= now));
        let lasts = state.to.is_none_or(|to| now.is_none_or(|now| to.time > now));
        let distinct = match (&state.from, &state.to) {
            (Some(from), Some(to)) => to.time > from.time && to.time - from.time > Ratio::ZERO,
            (None, None) => false,
            _ => true,
        };
        if begun && lasts && distinct {
            Ok(state)
        } else {
            bytes.fault("a jump frame has keys that are not active at its time")
        }
    }
}
