//! The active keys of one track, and how they advance.

use super::format::{AHEAD, BEHIND, ByteReader, KEPT, StreamError, cyclic, fault, put_key, rules, rules_of};
use super::stretch::PreparedSegment;
use crate::curve::key::length;
use crate::curve::segment::{Segment, reach, segment};
use crate::curve::{Extrapolation, Key, KeyTime, Shape};
use crate::ratio::Ratio;

/// The active keys of one track. The fields that every key touches come first, so that they share a cache line with
/// the first of the keys.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct TrackState {
    kept: u8,
    /// The index of the kept key that begins the current stretch; 0 while the time is before it.
    current: u8,
    /// Whether the time has reached that key.
    begun: bool,
    before: Extrapolation,
    after: Extrapolation,
    /// The index of the first kept key in the track, and the number of all its keys.
    first: u32,
    count: u32,
    keys: [Key; KEPT],
}

const NO_KEY: Key = Key { at: KeyTime::Frame(0), value: 0.0, shape: Shape::Hold };

/// The earliest time at which a key after the `keys` (the last three count) is needed: the start of the first
/// stretch that depends on it.
fn needed(keys: &[Key]) -> Option<Ratio> {
    let looks = |back: &usize| 1 + reach(&keys[keys.len() - back].shape) >= *back;
    let back = (1..=(AHEAD + 1).min(keys.len())).rev().find(looks)?;
    Some(keys[keys.len() - back].when())
}

/// The number of a track's first keys that are kept from the start: the keys that the first stretch needs.
pub(super) fn at_start(keys: &[Key]) -> usize {
    keys.len().min(2 + reach(&keys[0].shape))
}

/// When key `i` of a track is needed; `None` for those that are kept from the start.
pub(super) fn need(keys: &[Key], i: usize) -> Option<Ratio> {
    if i < at_start(keys) { None } else { needed(&keys[..i]) }
}

/// The number of keys before the current one that are still needed: by its shape (a B-spline needs only its own row),
/// or, at the end of a track of `count` keys that is extrapolated, by the last stretch for its slope. A key needed
/// here was needed at the key before, too.
fn behind(keys: &[Key], current: usize, count: usize, after: Extrapolation) -> usize {
    let look = |i: usize| match keys[i].shape {
        Shape::BSpline => {
            (1..=AHEAD.min(i)).take_while(|back| keys[i - back].shape == Shape::BSpline).count()
        }
        _ => reach(&keys[i].shape).min(i),
    };
    match (current + 1 < count, after) {
        (true, _) => look(current),
        (false, Extrapolation::Extrapolate) if current > 0 => 1 + look(current - 1),
        (false, _) => 0,
    }
}

impl TrackState {
    /// The state of a whole track at a time; `None` means before all keys.
    pub(super) fn of(
        keys: &[Key],
        before: Extrapolation,
        after: Extrapolation,
        now: Option<Ratio>,
    ) -> TrackState {
        if cyclic(before, after) {
            return TrackState::cyclic_state(before, after);
        }
        let come = |t: Ratio| now.is_some_and(|now| t <= now);
        let fetched = (at_start(keys)..keys.len()).find(|&i| !need(keys, i).is_none_or(come));
        let fetched = fetched.unwrap_or(keys.len());
        let current = keys.partition_point(|k| come(k.when())).saturating_sub(1);
        let first = current - behind(&keys[..fetched], current, keys.len(), after);
        let mut kept = [NO_KEY; KEPT];
        kept[..fetched - first].copy_from_slice(&keys[first..fetched]);
        TrackState {
            keys: kept,
            kept: (fetched - first) as u8,
            current: (current - first) as u8,
            begun: come(keys[0].when()),
            before,
            after,
            first: first as u32,
            count: keys.len() as u32,
        }
    }

    /// The state of a track that holds at its ends, at its newest key, which is hold, linear or Hermite, with so many
    /// keys to come. Older keys are no longer needed.
    pub(super) fn after(key: Key, left: u32) -> TrackState {
        let mut keys = [NO_KEY; KEPT];
        keys[0] = key;
        let (before, after) = (Extrapolation::Hold, Extrapolation::Hold);
        TrackState { keys, kept: 1, current: 0, begun: true, before, after, first: 0, count: left + 1 }
    }

    /// The placeholder for a track that repeats or mirrors, which is not played from the stream.
    fn cyclic_state(before: Extrapolation, after: Extrapolation) -> TrackState {
        TrackState {
            keys: [NO_KEY; KEPT],
            kept: 1,
            current: 0,
            begun: true,
            before,
            after,
            first: 0,
            count: 1,
        }
    }

    /// Whether the track repeats or mirrors, so that it is not played from the stream.
    pub(super) const fn is_cyclic(&self) -> bool {
        cyclic(self.before, self.after)
    }

    /// The extrapolations before and after, and the number of keys still to come.
    pub(super) fn about(&self) -> (Extrapolation, Extrapolation, u32) {
        (self.before, self.after, self.count - self.first - u32::from(self.kept))
    }

    /// Whether the current stretch begins at the first of the kept keys.
    pub(super) const fn is_at_first(&self) -> bool {
        self.current == 0
    }

    /// The number of all keys of the track.
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn kept(&self) -> &[Key] {
        &self.keys[..self.kept.into()]
    }

    /// When the next key of the track will be needed; `None` if there is none.
    pub(super) fn need(&self) -> Option<Ratio> {
        if self.first + u32::from(self.kept) < self.count { needed(self.kept()) } else { None }
    }

    /// Takes up the next key; `false` if it cannot be the next.
    pub(super) fn push(&mut self, key: Key) -> bool {
        let last = self.kept().last().map(Key::when);
        let fits = last.is_some_and(|t| t < key.when() && key.when() - t > Ratio::ZERO);
        if !fits || self.first + u32::from(self.kept) >= self.count || usize::from(self.kept) == KEPT {
            return false;
        }
        self.keys[usize::from(self.kept)] = key;
        self.kept += 1;
        true
    }

    /// Advances to the stretch that contains `now`, as far as there are keys; returns whether it moved.
    pub(super) fn advance(&mut self, now: Ratio) -> bool {
        let mut moved = false;
        if !self.begun && self.keys[0].when() <= now {
            (self.begun, moved) = (true, true);
        }
        while self.begun
            && let Some(next) = self.kept().get(usize::from(self.current) + 1)
            && next.when() <= now
        {
            self.current += 1;
            moved = true;
        }
        let (current, all) = (usize::from(self.current), (self.count - self.first) as usize);
        let drop = current - behind(self.kept(), current, all, self.after);
        if drop > 0 {
            self.keys.copy_within(drop..self.kept.into(), 0);
            self.kept -= drop as u8;
            self.current -= drop as u8;
            self.first += drop as u32;
        }
        moved
    }

    /// The current stretch, prepared for evaluation.
    pub(super) fn ready(&self) -> PreparedSegment {
        let (keys, i) = (self.kept(), usize::from(self.current));
        let key = &keys[i];
        let start = key.when();
        let hold = |value| PreparedSegment { start, end: None, length: 1.0, piece: Segment::Flat(value) };
        if !self.begun {
            // Only the first key can be in the future.
            let ready = match self.before {
                Extrapolation::Extrapolate if keys.len() > 1 => {
                    let slope = segment(keys, 0, 0).ends().0 / length(key, &keys[1]);
                    PreparedSegment { piece: Segment::Ray(key.value, slope), ..hold(0.0) }
                }
                _ => hold(key.value),
            };
            return PreparedSegment { end: Some(start), ..ready };
        }
        match keys.get(i + 1) {
            Some(next) => PreparedSegment {
                start,
                end: Some(next.when()),
                length: length(key, next),
                piece: segment(keys, i, 0),
            },
            None => match self.after {
                Extrapolation::Extrapolate if i > 0 => {
                    let slope = segment(keys, i - 1, 0).ends().1 / length(&keys[i - 1], key);
                    PreparedSegment { piece: Segment::Ray(key.value, slope), ..hold(0.0) }
                }
                _ => hold(key.value),
            },
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(rules(self.before, self.after));
        if self.is_cyclic() {
            return;
        }
        out.extend(self.first.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        out.extend([self.current, self.kept]);
        for key in self.kept() {
            put_key(key, out);
        }
    }

    /// Reads the state of a track at `now` and checks that it is possible.
    pub(super) fn read(
        bytes: &mut ByteReader<'_>,
        seconds: bool,
        now: Option<Ratio>,
    ) -> Result<TrackState, StreamError> {
        let place = bytes.place();
        let Some((before, after)) = rules_of(bytes.u8()?) else {
            return fault(place, "an extrapolation is unknown");
        };
        if cyclic(before, after) {
            return Ok(TrackState::cyclic_state(before, after));
        }
        let (first, count) = (bytes.u32()?, bytes.u32()?);
        let (current, kept) = (bytes.u8()?, bytes.u8()?);
        let good = 0 < kept && usize::from(kept) <= KEPT && current < kept && usize::from(current) <= BEHIND;
        if !good || first.checked_add(kept.into()).is_none_or(|end| end > count) {
            return fault(place, "a jump frame has a wrong number of keys");
        }
        let mut active =
            TrackState { keys: [NO_KEY; KEPT], kept: 0, current, begun: true, before, after, first, count };
        for _ in 0..kept {
            let place = bytes.place();
            let key = bytes.key(seconds)?;
            if active.kept == 0 {
                (active.keys[0], active.kept) = (key, 1);
            } else if !active.push(key) {
                return fault(place, "a key is not later than the one before it");
            }
        }
        active.begun = now.is_some_and(|now| active.keys[usize::from(current)].when() <= now);
        // All keys that are needed must be present, so that evaluation never misses one.
        let next = active.kept().get(usize::from(current) + 1);
        let early = !active.begun && (current > 0 || first > 0);
        let missed = [next.map(Key::when), active.need()].into_iter().flatten().min();
        let late = missed.is_some_and(|t| now.is_some_and(|now| t <= now));
        let alone = next.is_none() && first + u32::from(kept) < count;
        if early || late || alone {
            return fault(place, "a jump frame lacks keys that its time needs");
        }
        Ok(active)
    }
}
