//! The active keys of one track.

use super::format::{ByteReader, StreamError, is_cyclic, put_key, rules};
use super::key::StreamKey;
use crate::curve::segment::Segment;
use crate::curve::{Curve, Extrapolation};
use crate::ratio::Ratio;

/// The current segment of a track.
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
    from: Option<StreamKey>,
    /// `None` after the last key.
    to: Option<StreamKey>,
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
            let first = StreamKey::new(curve.keys(), 0);
            if curve.keys().len() > 1 {
                let (length, segment) = first.segment_to(&StreamKey::new(curve.keys(), 1));
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

    pub(super) const fn next(&self) -> Option<&StreamKey> {
        self.to.as_ref()
    }

    /// The time at which the track's next key, or its end, is needed: that of the key before. `None` after the end.
    #[inline(always)]
    pub(super) fn need(&self) -> Option<Ratio> {
        self.to.as_ref().map(|to| to.time)
    }

    /// Moves on to the segment that begins at the next key and ends at the key `to`; `None` means that the track ends.
    /// Returns `false` if the key is not later.
    #[inline(always)]
    pub(super) fn push(&mut self, to: Option<StreamKey>) -> bool {
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

    /// The current segment. `None` for a track without keys.
    #[inline(always)]
    pub(super) fn active(&self) -> Option<Active> {
        let beyond = |key: &StreamKey, rule| {
            let segment = match rule {
                Extrapolation::Extrapolate => Segment::Ray(key.value, self.slope),
                _ => Segment::Flat(key.value),
            };
            Active { start: key.time, length: 1.0, segment }
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
        for key in [&self.from, &self.to] {
            if !self.is_cyclic() {
                put_key(key.as_ref(), seconds, out);
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
        (state.from, state.to) = (bytes.key()?, bytes.key()?);
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
