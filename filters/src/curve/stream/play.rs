//! What is active at a time, and how it moves on.

use super::fast::{Fast, Stop, Where};
use super::format::{AHEAD, BEHIND, Bytes, KEPT, StreamError, cyclic, fault, put_key, rules, rules_of};
use super::lanes::Lanes;
use crate::curve::piece::{Piece, length, piece, reach};
use crate::curve::{At, Extend, Key, Shape};
use crate::ratio::Ratio;
use crate::simd::Level;

/// The active part of one track. What is touched at every key stands first, so that it shares a cache line with the
/// first of the keys.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Active {
    kept: u8,
    /// Which of the kept keys begins the stretch that is played; the first while the time is before it.
    current: u8,
    /// Whether the time has come to that key at all.
    begun: bool,
    before: Extend,
    after: Extend,
    /// The number of the first kept key, and of all keys of the track.
    first: u32,
    count: u32,
    keys: [Key; KEPT],
}

const NO_KEY: Key = Key { at: At::Frame(0), value: 0.0, shape: Shape::Hold };

/// The earliest time at which a key after the `keys` (the last three count) is needed: when the first stretch begins
/// that looks so far.
fn needed(keys: &[Key]) -> Option<Ratio> {
    let looks = |back: &usize| 1 + reach(&keys[keys.len() - back].shape) >= *back;
    let back = (1..=(AHEAD + 1).min(keys.len())).rev().find(looks)?;
    Some(keys[keys.len() - back].when())
}

/// How many of a track's first keys are kept before anything is needed: the first stretch and what it looks at.
pub(super) fn at_start(keys: &[Key]) -> usize {
    keys.len().min(2 + reach(&keys[0].shape))
}

/// When key `i` of a track is needed; `None` for those that are there from the start.
pub(super) fn need(keys: &[Key], i: usize) -> Option<Ratio> {
    if i < at_start(keys) { None } else { needed(&keys[..i]) }
}

/// How many keys before the current one are still looked at: by its shape (a B-spline sees its own row only), or, at
/// the end of a track of `count` keys that goes on straight, by the last stretch, for its slope. What this asks for at
/// one key it has never let go at the one before.
fn behind(keys: &[Key], current: usize, count: usize, after: Extend) -> usize {
    let look = |i: usize| match keys[i].shape {
        Shape::BSpline => {
            (1..=AHEAD.min(i)).take_while(|back| keys[i - back].shape == Shape::BSpline).count()
        }
        _ => reach(&keys[i].shape).min(i),
    };
    match (current + 1 < count, after) {
        (true, _) => look(current),
        (false, Extend::Extrapolate) if current > 0 => 1 + look(current - 1),
        (false, _) => 0,
    }
}

impl Active {
    /// The state of a whole track at a time; `None` is before everything.
    pub(super) fn of(keys: &[Key], before: Extend, after: Extend, now: Option<Ratio>) -> Active {
        if cyclic(before, after) {
            return Active::aside(before, after);
        }
        let come = |t: Ratio| now.is_some_and(|now| t <= now);
        let fetched = (at_start(keys)..keys.len()).find(|&i| !need(keys, i).is_none_or(come));
        let fetched = fetched.unwrap_or(keys.len());
        let current = keys.partition_point(|k| come(k.when())).saturating_sub(1);
        let first = current - behind(&keys[..fetched], current, keys.len(), after);
        let mut kept = [NO_KEY; KEPT];
        kept[..fetched - first].copy_from_slice(&keys[first..fetched]);
        Active {
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

    /// The state of a track that holds at its ends at its newest key, which holds, goes straight or is a Hermite cubic,
    /// with so many keys still to come. Its older keys no longer matter.
    pub(super) fn after(key: Key, left: u32) -> Active {
        let mut keys = [NO_KEY; KEPT];
        keys[0] = key;
        let (before, after) = (Extend::Hold, Extend::Hold);
        Active { keys, kept: 1, current: 0, begun: true, before, after, first: 0, count: left + 1 }
    }

    /// Stands for a track that repeats or mirrors: such a track is not played from the stream.
    fn aside(before: Extend, after: Extend) -> Active {
        Active { keys: [NO_KEY; KEPT], kept: 1, current: 0, begun: true, before, after, first: 0, count: 1 }
    }

    /// Whether the track is not played from the stream.
    pub(super) const fn is_aside(&self) -> bool {
        cyclic(self.before, self.after)
    }

    /// The rules before and after, and the number of its keys that are still to come.
    pub(super) fn about(&self) -> (Extend, Extend, u32) {
        (self.before, self.after, self.count - self.first - u32::from(self.kept))
    }

    /// Whether the stretch that is played begins at the first of the kept keys.
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

    /// When the next key of the track will be needed; `None` when there is none.
    pub(super) fn need(&self) -> Option<Ratio> {
        if self.first + u32::from(self.kept) < self.count { needed(self.kept()) } else { None }
    }

    /// Takes up the next key; `false` when it cannot be the next.
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

    /// Moves on to the stretch that holds `now`, as far as there are keys; says whether it has moved.
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

    /// What is played, made ready.
    pub(super) fn ready(&self) -> Ready {
        let (keys, i) = (self.kept(), usize::from(self.current));
        let key = &keys[i];
        let start = key.when();
        let hold = |value| Ready { start, end: None, length: 1.0, piece: Piece::Flat(value) };
        if !self.begun {
            // Only the first key may not have been reached.
            let ready = match self.before {
                Extend::Extrapolate if keys.len() > 1 => {
                    let slope = piece(keys, 0, 0).ends().0 / length(key, &keys[1]);
                    Ready { piece: Piece::Ray(key.value, slope), ..hold(0.0) }
                }
                _ => hold(key.value),
            };
            return Ready { end: Some(start), ..ready };
        }
        match keys.get(i + 1) {
            Some(next) => {
                Ready { start, end: Some(next.when()), length: length(key, next), piece: piece(keys, i, 0) }
            }
            None => match self.after {
                Extend::Extrapolate if i > 0 => {
                    let slope = piece(keys, i - 1, 0).ends().1 / length(&keys[i - 1], key);
                    Ready { piece: Piece::Ray(key.value, slope), ..hold(0.0) }
                }
                _ => hold(key.value),
            },
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(rules(self.before, self.after));
        if self.is_aside() {
            return;
        }
        out.extend(self.first.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        out.extend([self.current, self.kept]);
        for key in self.kept() {
            put_key(key, out);
        }
    }

    /// Reads the state of a track at `now` and checks that it can be one.
    pub(super) fn read(
        bytes: &mut Bytes<'_>,
        seconds: bool,
        now: Option<Ratio>,
    ) -> Result<Active, StreamError> {
        let place = bytes.place();
        let Some((before, after)) = rules_of(bytes.u8()?) else {
            return fault(place, "no rule has this number");
        };
        if cyclic(before, after) {
            return Ok(Active::aside(before, after));
        }
        let (first, count) = (bytes.u32()?, bytes.u32()?);
        let (current, kept) = (bytes.u8()?, bytes.u8()?);
        let good = 0 < kept && usize::from(kept) <= KEPT && current < kept && usize::from(current) <= BEHIND;
        if !good || first.checked_add(kept.into()).is_none_or(|end| end > count) {
            return fault(place, "the keys of a jump frame are not counted right");
        }
        let mut active =
            Active { keys: [NO_KEY; KEPT], kept: 0, current, begun: true, before, after, first, count };
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
        // All that is needed must be there, so that nothing is ever asked of a key that is not.
        let next = active.kept().get(usize::from(current) + 1);
        let early = !active.begun && (current > 0 || first > 0);
        let missed = [next.map(Key::when), active.need()].into_iter().flatten().min();
        let late = missed.is_some_and(|t| now.is_some_and(|now| t <= now));
        let alone = next.is_none() && first + u32::from(kept) < count;
        if early || late || alone {
            return fault(place, "a jump frame does not hold what its time needs");
        }
        Ok(active)
    }
}

/// A stretch, made ready to be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) start: Ratio,
    /// When another takes its place.
    pub(super) end: Option<Ratio>,
    /// How long it is; 1 where the piece goes by time itself.
    pub(super) length: f64,
    pub(super) piece: Piece,
}

impl Ready {
    /// The value: the same operations on the same numbers as the curve's own.
    pub(super) fn value(&self, now: Ratio) -> f64 {
        let u = (now - self.start).to_f64() / self.length;
        match self.piece {
            Piece::Ray(..) => self.piece.value(u),
            _ => self.piece.value(u.clamp(0.0, 1.0)),
        }
    }
}

/// The same in plain numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hot {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) length: f64,
    pub(super) piece: Piece,
}

/// Times that a plain number holds exactly, with all their differences: whole frames and halves, quarters, ... of
/// them, below 2^40.
pub(super) fn plain(t: Ratio) -> Option<f64> {
    let good = t.den().count_ones() == 1 && t.den() <= 256 && t.num().unsigned_abs() < 1 << 40;
    good.then(|| t.to_f64())
}

impl Hot {
    /// `None` when its times are not plain numbers.
    pub(super) fn new(ready: &Ready) -> Option<Hot> {
        let end = ready.end.map_or(Some(f64::INFINITY), plain)?;
        Some(Hot { start: plain(ready.start)?, end, length: ready.length, piece: ready.piece })
    }
}

/// Tracks that may need more than their newest key, by slots.
#[derive(Clone, Debug, Default)]
pub(super) struct General {
    pub(super) active: Vec<Active>,
    /// The track of each slot.
    tracks: Vec<u32>,
    /// What every track plays, in plain numbers.
    lanes: Lanes,
    /// A time is no plain number: `ready` is in use in place of them.
    exact: bool,
    ready: Vec<Ready>,
    values: Vec<f64>,
}

impl General {
    pub(super) fn clear(&mut self) {
        self.active.clear();
        self.tracks.clear();
        self.lanes.clear();
        self.exact = false;
        self.ready.clear();
        self.values.clear();
    }

    /// The slot that the next track gets.
    pub(super) fn next_slot(&self) -> usize {
        self.active.len()
    }

    pub(super) fn add(&mut self, track: u32, active: Active) {
        let slot = self.active.len();
        if self.exact {
            self.ready.push(active.ready());
        }
        self.active.push(active);
        self.tracks.push(track);
        self.lanes.grow();
        self.values.push(0.0);
        self.renew(slot);
    }

    fn memory(&self) -> usize {
        self.active.capacity() * size_of::<Active>()
            + self.ready.capacity() * size_of::<Ready>()
            + self.tracks.capacity() * size_of::<u32>()
            + self.values.capacity() * size_of::<f64>()
            + self.lanes.memory()
    }

    /// Makes ready what a track plays now.
    pub(super) fn renew(&mut self, slot: usize) {
        let ready = self.active[slot].ready();
        if self.exact {
            self.ready[slot] = ready;
        } else if let Some(hot) = Hot::new(&ready) {
            self.lanes.set(slot, &hot);
        } else {
            // Goes on with exact times, until the next jump.
            self.exact = true;
            self.ready = self.active.iter().map(Active::ready).collect();
        }
    }

    /// Works out every value; all that is needed at `now` is there.
    fn evaluate(&mut self, now: Ratio, plain: Option<f64>, values: &mut [f64]) {
        self.own_values(now, plain);
        for (track, value) in self.tracks.iter().zip(&self.values) {
            values[*track as usize] = *value;
        }
    }

    fn own_values(&mut self, now: Ratio, plain: Option<f64>) {
        if let Some(n) = plain {
            let mut from = 0;
            while let Some(slot) = self.lanes.ended(n, from).filter(|_| !self.exact) {
                if self.active[slot].advance(now) {
                    self.renew(slot);
                }
                from = slot + 1;
            }
            if !self.exact {
                return self.lanes.values(n, &mut self.values);
            }
        }
        for slot in 0..self.active.len() {
            // A time between plain ones, such as a third of a frame, is asked of every track exactly.
            let over = !self.exact || self.ready[slot].end.is_some_and(|end| now >= end);
            if over && self.active[slot].advance(now) {
                self.renew(slot);
            }
            self.values[slot] =
                if self.exact { self.ready[slot].value(now) } else { self.active[slot].ready().value(now) };
        }
    }
}

/// A place in time: what is active there, and every track's value. Made by [`Tracks::start`](super::Tracks::start),
/// moved by [`Tracks::go`](super::Tracks::go); its size depends on the number of tracks alone.
#[derive(Clone, Debug)]
pub struct Playhead {
    pub(super) now: Option<Ratio>,
    /// Tracks that need no more than their newest key.
    pub(super) fast: Fast,
    /// The others; all of them, with those that are asked aside, where the states themselves are wanted.
    pub(super) general: General,
    pub(super) states: bool,
    pub(super) values: Vec<f64>,
    /// The chunk of points being read, where it stands, and how much of it is done.
    pub(super) chunk: Vec<u8>,
    pub(super) place: u64,
    pub(super) done: usize,
    /// The next key and its track, read but not yet needed, and the place where it stands.
    pub(super) next: Option<(u32, Key, u64)>,
    /// When the last key was needed: no later one may be needed earlier.
    pub(super) last_need: Option<Ratio>,
}

impl Playhead {
    /// Before any jump frame has been read. `states`: only to be read on, for the state of every track.
    pub(super) fn new(states: bool) -> Playhead {
        Playhead {
            now: None,
            fast: Fast::new(Level::best()),
            general: General::default(),
            states,
            values: Vec::new(),
            chunk: Vec::new(),
            place: 0,
            done: 0,
            next: None,
            last_need: None,
        }
    }

    /// The values at the time it was last moved to, by track.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The time it was last moved to; `None` when it never was.
    pub const fn now(&self) -> Option<Ratio> {
        self.now
    }

    /// Bytes it takes.
    pub fn memory(&self) -> usize {
        let lists = self.fast.memory() + self.general.memory() + self.values.capacity() * size_of::<f64>();
        size_of::<Playhead>() + lists + self.chunk.capacity()
    }

    /// Forgets all states, for so many tracks.
    pub(super) fn reset(&mut self, tracks: usize) {
        self.fast.reset(tracks);
        self.general.clear();
        self.values.clear();
        self.values.resize(tracks, 0.0);
    }

    /// The state of a track, each once after [`reset`](Playhead::reset).
    pub(super) fn put(&mut self, track: usize, active: Active) {
        if !self.states && (active.is_aside() || self.fast.put(track, &active, &mut self.values)) {
            return;
        }
        self.fast.other(track, self.general.next_slot() as u32);
        self.general.add(track as u32, active);
    }

    /// Takes up keys that are needed up to `now`, as far as that is simple.
    pub(super) fn take(&mut self, now: Ratio) -> Stop {
        let mut last = self.last_need.map_or(i64::MIN, Ratio::floor);
        let stop = self.fast.take(&self.chunk, &mut self.done, now.floor(), &mut last, &mut self.values);
        if last > i64::MIN {
            self.last_need = self.last_need.max(Some(Ratio::whole(last)));
        }
        stop
    }

    /// When the next key of a track is needed; `None` when none can come.
    pub(super) fn need(&self, track: usize) -> Option<Ratio> {
        match self.fast.place(track)? {
            Where::Here(need) => need.map(Ratio::whole),
            Where::Slot(slot) => self.general.active[slot].need(),
            Where::Aside => None,
        }
    }

    /// Takes up a track's next key, which is needed now; `false` when it cannot be the next.
    pub(super) fn push(&mut self, track: usize, key: Key, need: Ratio) -> bool {
        let slot = match self.fast.place(track) {
            Some(Where::Here(_)) if self.fast.push_key(track, &key, &mut self.values) => return true,
            Some(Where::Here(_)) => {
                let slot = self.general.next_slot();
                let active = self.fast.leave(track, slot as u32);
                self.general.add(track as u32, active);
                slot
            }
            Some(Where::Slot(slot)) => slot,
            _ => return false,
        };
        let active = &mut self.general.active[slot];
        active.advance(need);
        let fits = active.push(key);
        self.general.renew(slot);
        fits
    }

    /// Works out every value; all that is needed at `now` is there.
    pub(super) fn evaluate(&mut self, now: Ratio) {
        self.now = Some(now);
        let plain = plain(now);
        self.fast.evaluate(now, plain, &mut self.values);
        self.general.evaluate(now, plain, &mut self.values);
    }
}
