//! Curves: keys in order, and the value at a time.

use super::extrapolation::fold;
use super::key::length;
use super::segment::{Segment, segment};
use super::{Animate, CurveError, Extrapolation, Key, KeyTime, Shape};
use crate::ratio::Ratio;

/// The largest number of keys of one curve.
pub const MAX_KEYS: usize = 1 << 20;
/// The largest value (or slope, or handle) of a key: far beyond practical use, and small enough that no arithmetic
/// between two keys overflows.
pub const MAX_VALUE: f64 = 1e100;

/// How far beyond its keys the [bounds](Curve::bounds) of a curve hold, in frames or seconds: more than a year of frames.
pub const FAR: i64 = 1 << 30;

/// Keys in order of time, all in frames or all in seconds, and the extrapolation before the first and after
/// the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve<T = f64> {
    keys: Vec<Key<T>>,
    before: Extrapolation,
    after: Extrapolation,
    /// The values are clamped to this range.
    pub(super) limits: (f64, f64),
}

/// The position of a time within the curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Position {
    /// In the stretch that begins with this key; the number is the elapsed part, 0 to 1.
    In(usize, f64),
    /// On the straight line through the end of this stretch; the number is the time before its start
    /// (negative) or after its end.
    Beyond(usize, f64),
}

fn is_valid<T: Animate>(value: &T) -> bool {
    (0..T::COMPONENTS).all(|i| value.component(i).abs() <= MAX_VALUE)
}

impl<T: Animate> Curve<T> {
    /// Makes a curve of the given keys, which holds the first and last value before and after them. Keys that
    /// count from the end or in percent stay unresolved until [`resolve`](Curve::resolve).
    ///
    /// # Errors
    /// There are no keys or too many, they are not in order, or a value, slope or handle is out of range.
    pub fn new(keys: Vec<Key<T>>) -> Result<Curve<T>, CurveError> {
        let mut keys = keys;
        for key in &mut keys {
            // Turn negative zero into zero, so that equal values have equal bits.
            key.value = T::from_components(|i| key.value.component(i) + 0.0);
        }
        let (hold, limits) = (Extrapolation::Hold, (f64::NEG_INFINITY, f64::INFINITY));
        let curve = Curve { keys, before: hold, after: hold, limits };
        curve.check()?;
        Ok(curve)
    }

    /// The same curve with other extrapolations before the first and after the last key.
    #[must_use]
    pub fn with_extrapolation(self, before: Extrapolation, after: Extrapolation) -> Curve<T> {
        Curve { before, after, ..self }
    }

    /// The same curve with every component of its value clamped to `min`..`max`: some shapes overshoot, and
    /// extrapolation may leave the range of the keys. The limits are not part of the text; they come from the
    /// setting's description.
    #[must_use]
    pub fn clamped(self, min: f64, max: f64) -> Curve<T> {
        Curve { limits: (min, max), ..self }
    }

    fn check(&self) -> Result<(), CurveError> {
        if self.keys.is_empty() {
            return Err(CurveError::Empty);
        }
        if self.keys.len() > MAX_KEYS {
            return Err(CurveError::TooMany);
        }
        for (i, key) in self.keys.iter().enumerate() {
            if !is_valid(&key.value) {
                return Err(CurveError::Value(i));
            }
            let good = match &key.shape {
                Shape::Hermite { leave, arrive } => is_valid(leave) && is_valid(arrive),
                Shape::Bezier(h) => {
                    let inside = |x: f64| (0.0..=1.0).contains(&x);
                    inside(h.leave) && inside(h.arrive) && is_valid(&h.leave_by) && is_valid(&h.arrive_by)
                }
                Shape::Hold | Shape::Linear | Shape::Smooth | Shape::BSpline | Shape::Ease(_) => true,
            };
            if !good {
                return Err(CurveError::Shape(i));
            }
            if matches!(key.at, KeyTime::Seconds(s) | KeyTime::Percent(s) if s < Ratio::ZERO) {
                return Err(CurveError::Negative(i));
            }
        }
        for (i, pair) in self.keys.windows(2).enumerate() {
            match (pair[0].at, pair[1].at) {
                // A key that counts from the end cannot be compared yet with one that counts from the start.
                (KeyTime::Frame(a), KeyTime::Frame(b)) if (a < 0) != (b < 0) => {}
                (KeyTime::Frame(a), KeyTime::Frame(b)) if a < b => {}
                // Times whose difference rounds to zero are not distinct.
                (KeyTime::Seconds(a), KeyTime::Seconds(b)) if a < b && b - a > Ratio::ZERO => {}
                (KeyTime::Percent(a), KeyTime::Percent(b)) if a < b => {}
                (KeyTime::Frame(_), KeyTime::Percent(_)) | (KeyTime::Percent(_), KeyTime::Frame(_)) => {}
                (a, b) if matches!(a, KeyTime::Seconds(_)) != matches!(b, KeyTime::Seconds(_)) => {
                    return Err(CurveError::Mixed(i + 1));
                }
                _ => return Err(CurveError::Order(i + 1)),
            }
        }
        Ok(())
    }

    /// Its keys, in order.
    pub fn keys(&self) -> &[Key<T>] {
        &self.keys
    }

    /// Whether the last of several keys has a mark. Such a mark has no effect, because a mark applies to the stretch
    /// to the next key.
    pub fn has_idle_mark(&self) -> bool {
        self.keys.len() > 1 && self.keys[self.keys.len() - 1].shape != Shape::Linear
    }

    /// Whether all of several keys lie before frame `first`, where the curve then holds.
    pub fn has_passed(&self, first: i64, last: Option<i64>) -> bool {
        let ends_before =
            |at: KeyTime| at.resolve(first, last).is_ok_and(|at| at.ratio() < Ratio::whole(first));
        let all = self.keys.len() > 1 && !self.in_seconds() && self.after == Extrapolation::Hold;
        all && self.keys.last().is_some_and(|key| ends_before(key.at))
    }

    /// The extrapolation before the first key.
    pub const fn before(&self) -> Extrapolation {
        self.before
    }

    /// The extrapolation after the last key.
    pub const fn after(&self) -> Extrapolation {
        self.after
    }

    /// Whether times are in seconds rather than frames.
    pub fn in_seconds(&self) -> bool {
        matches!(self.keys[0].at, KeyTime::Seconds(_))
    }

    /// The value, if it is the same at every time.
    pub fn constant(&self) -> Option<T> {
        let first = self.keys[0].value;
        let still = |v: &T| (0..T::COMPONENTS).all(|i| v.component(i) == 0.0);
        let flat = |k: &Key<T>| match &k.shape {
            Shape::Hermite { leave, arrive } => still(leave) && still(arrive),
            Shape::Bezier(h) => still(&h.leave_by) && still(&h.arrive_by),
            Shape::Hold | Shape::Linear | Shape::Smooth | Shape::BSpline | Shape::Ease(_) => true,
        };
        let moving = &self.keys[..self.keys.len() - 1];
        (self.keys.iter().all(|k| k.value == first) && moving.iter().all(flat)).then_some(first)
    }

    /// Replaces frame numbers that count from the end, and percentages (by the nearest frame, and of those at the same frame the last one); `first` and `last` are
    /// the numbers of the source's first and last frame.
    ///
    /// # Errors
    /// The last frame is not known, or keys are not in order once it is.
    pub fn resolve(&self, first: i64, last: Option<i64>) -> Result<Curve<T>, CurveError> {
        let mut keys: Vec<Key<T>> = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            let at = key.at.resolve(first, last)?;
            // In a short source several percentages are the same frame: the last one counts.
            keys.pop_if(|before| matches!(key.at, KeyTime::Percent(_)) && before.at.ratio() == at.ratio());
            keys.push(Key { at, ..*key });
        }
        let curve = Curve { keys, ..self.clone() };
        match curve.keys.windows(2).position(|pair| pair[0].when() >= pair[1].when()) {
            Some(i) => Err(CurveError::Order(i + 1)),
            None => Ok(curve),
        }
    }

    /// The value at a time: `frame` applies if the keys are in frames, `time` if they are in seconds. The result is
    /// bit-exact on every machine: it uses + - * / and sqrt in a fixed order, and the pinned `libm` for the easing
    /// functions that need more.
    pub fn value(&self, frame: Ratio, time: Ratio) -> T {
        self.value_at(if self.in_seconds() { time } else { frame })
    }

    /// The value at a time in the unit of the keys.
    pub fn value_at(&self, now: Ratio) -> T {
        let position = self.position(now);
        T::from_components(|part| {
            self.clamp(match position {
                Position::In(i, u) => self.segment(i, part).value(u),
                Position::Beyond(i, x) => {
                    let (at, slope) = self.line(i, x, part);
                    at + slope * x
                }
            })
        })
    }

    pub(super) fn clamp(&self, value: f64) -> f64 {
        value.max(self.limits.0).min(self.limits.1)
    }

    /// The lowest and the highest value, of each component, at any time up to [`FAR`] before the first and after the
    /// last key; between keys they are exact up to rounding. The keys must be [resolved](Curve::resolve).
    pub fn bounds(&self) -> (T, T) {
        let far = Ratio::whole(FAR);
        let ends = [self.keys[0].when() - far, self.keys[self.keys.len() - 1].when() + far];
        let ends = ends.map(|t| self.value_at(t));
        let bound = |part: usize, more: fn(f64, f64) -> f64| {
            let inside = (0..self.keys.len()).flat_map(|i| self.segment(i, part).extremes());
            let all = inside.map(|v| self.clamp(v)).chain(ends.map(|v| v.component(part)));
            all.fold(f64::NAN, more)
        };
        (T::from_components(|part| bound(part, f64::min)), T::from_components(|part| bound(part, f64::max)))
    }

    pub(super) fn segment(&self, i: usize, part: usize) -> Segment {
        segment(&self.keys, i, part)
    }

    /// The value and slope (by time) of the extrapolation beyond the ends.
    pub(super) fn line(&self, i: usize, x: f64, part: usize) -> (f64, f64) {
        let h = length(&self.keys[i], &self.keys[i + 1]);
        let (first, last) = self.segment(i, part).ends();
        if x < 0.0 {
            (self.keys[i].value.component(part), first / h)
        } else {
            (self.keys[i + 1].value.component(part), last / h)
        }
    }

    /// The time from the first to the last key.
    pub(super) fn length(&self) -> Ratio {
        self.keys[self.keys.len() - 1].when() - self.keys[0].when()
    }

    pub(super) fn position(&self, now: Ratio) -> Position {
        let last = self.keys.len() - 1;
        let (start, end) = (self.keys[0].when(), self.keys[last].when());
        let rule = if now < start {
            self.before
        } else if now > end {
            self.after
        } else {
            return self.inside(now);
        };
        let near = if now < start { start } else { end };
        match rule {
            _ if last == 0 => Position::In(0, 0.0),
            Extrapolation::Hold => self.inside(near),
            Extrapolation::Extrapolate => {
                Position::Beyond(if now < start { 0 } else { last - 1 }, (now - near).to_f64())
            }
            Extrapolation::Repeat | Extrapolation::Mirror => {
                self.inside(start + fold(now - start, self.length(), rule == Extrapolation::Mirror).since)
            }
        }
    }

    /// The position of a time between the first and the last key.
    pub(super) fn inside(&self, now: Ratio) -> Position {
        let i = self.keys.partition_point(|k| k.when() <= now).saturating_sub(1);
        let Some(next) = self.keys.get(i + 1) else { return Position::In(i, 0.0) };
        let passed = (now - self.keys[i].when()).to_f64();
        Position::In(i, (passed / length(&self.keys[i], next)).clamp(0.0, 1.0))
    }
}
