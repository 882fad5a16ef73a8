//! The player of a stream: a position in time that moves.

use super::format::{ByteReader, JUMP, POINTS, POINTS_BYTES, StreamError, TRACK_BYTES, fault};
use super::key::StreamKey;
use super::read::{Jump, Tracks, curve_of};
use super::segments::Segments;
use super::state::TrackState;
use crate::curve::{Curve, MAX_KEYS};
use crate::ratio::Ratio;
use crate::simd::Level;

/// A position in time: the active keys and the value of every track. Made by [`Tracks::start`] and moved by
/// [`Tracks::seek`]. Its size depends only on the number of tracks.
#[derive(Clone, Debug)]
pub struct Playhead {
    now: Option<Ratio>,
    pub(super) states: Vec<TrackState>,
    pub(super) segments: Segments,
    values: Vec<f64>,
    /// The current chunk of points, its position, that of the next, and how much of it has been read.
    pub(super) chunk: Vec<u8>,
    pub(super) place: u64,
    pub(super) next_place: u64,
    pub(super) done: usize,
    /// The next key and its track, read but not needed yet. `None` instead of the key ends the track.
    pub(super) next: Option<(u32, Option<StreamKey>)>,
    /// When the last key was needed: these times must not decrease.
    last_need: Option<Ratio>,
}

impl Playhead {
    /// The value of each track at the current time, in the order of the tracks.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The time of the last seek; `None` before the first.
    pub const fn now(&self) -> Option<Ratio> {
        self.now
    }

    /// Memory in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Playhead>()
            + self.states.capacity() * size_of::<TrackState>()
            + self.segments.memory()
            + self.values.capacity() * size_of::<f64>()
            + self.chunk.capacity()
    }
}

impl Tracks {
    /// A playhead at the position before all keys.
    ///
    /// # Errors
    ///
    /// The stream cannot be read or is damaged.
    pub fn start(&self) -> Result<Playhead, StreamError> {
        let mut head = Playhead {
            now: None,
            states: Vec::with_capacity(self.tracks()),
            segments: Segments::new(Level::best()),
            values: Vec::new(),
            chunk: Vec::new(),
            place: 0,
            next_place: 0,
            done: 0,
            next: None,
            last_need: None,
        };
        self.jump(&mut head, &self.jumps[0])?;
        Ok(head)
    }

    /// The upper bound of the memory of a playhead in bytes, whatever the length of the stream: what is there at its
    /// start, and the largest chunk, which is that of a jump frame or a few keys of all tracks.
    pub fn playhead_memory(&self, start: &Playhead) -> usize {
        start.memory() + POINTS_BYTES + self.tracks() * TRACK_BYTES
    }

    /// One whole track as a curve, by reading the stream once. `None` if there is no such track.
    ///
    /// # Errors
    ///
    /// The stream cannot be read or is damaged.
    pub fn track(&self, track: usize) -> Result<Option<Curve>, StreamError> {
        if let Ok(i) = self.cycles.binary_search_by_key(&track, |(t, _)| *t as usize) {
            return Ok(Some(self.cycles[i].1.clone()));
        }
        let mut head = self.start()?;
        let Some(state) = head.states.get(track) else { return Ok(None) };
        let (before, after) = state.rules();
        let mut keys: Vec<StreamKey> = state.next().copied().into_iter().collect();
        while self.peek(&mut head)?
            && let Some((of, key)) = head.next.take()
        {
            if of as usize == track {
                match key {
                    Some(key) if keys.len() < MAX_KEYS => keys.push(key),
                    Some(_) => break,
                    None => {
                        return self
                            .whole_curve(&keys, head.place)
                            .map(|c| Some(c.with_extrapolation(before, after)));
                    }
                }
            }
        }
        fault(head.place, "a track has no end")
    }

    /// A track by its name: see [`track`](Tracks::track).
    ///
    /// # Errors
    ///
    /// The stream cannot be read or is damaged.
    pub fn curve(&self, name: &str) -> Result<Option<Curve>, StreamError> {
        self.names().iter().position(|n| n == name).map_or(Ok(None), |i| self.track(i))
    }

    fn whole_curve(&self, keys: &[StreamKey], place: u64) -> Result<Curve, StreamError> {
        curve_of(keys, self.seconds)
            .map_or_else(|| fault(place, "the keys of a track do not form a curve"), Ok)
    }

    /// Moves a playhead of this stream to a time. It reads on from the current position or from the last jump frame
    /// before the time, whichever is shorter.
    ///
    /// # Errors
    ///
    /// The stream cannot be read or is damaged. Drop the playhead then.
    pub fn seek(&self, head: &mut Playhead, now: Ratio) -> Result<(), StreamError> {
        let near = self.jumps.partition_point(|j| j.time.is_none_or(|t| t <= now)).saturating_sub(1);
        let jump = self.jumps[near];
        if head.now.is_some_and(|then| then > now) || (near > 0 && head.now < jump.time) {
            self.jump(head, &jump)?;
        }
        while let Some((track, _)) = self.step(head, Some(now))? {
            if let Some(active) = head.states[track].active() {
                head.segments.set(track, &active, &mut head.values);
            }
        }
        head.now = Some(now);
        let start = |track: usize| head.states[track].active().map_or(now, |active| active.start);
        head.segments.evaluate(now, start, &mut head.values);
        for (track, curve) in self.cycles.iter() {
            head.values[*track as usize] = curve.value_at(now);
        }
        Ok(())
    }

    /// Reads the next key of the stream, if there is one.
    pub(super) fn peek(&self, head: &mut Playhead) -> Result<bool, StreamError> {
        while head.done == head.chunk.len() {
            if head.next_place == self.end {
                return Ok(false);
            }
            head.place = head.next_place;
            let (kind, next) = self.any_chunk(head.place, &mut head.chunk)?;
            match kind {
                POINTS if !head.chunk.is_empty() => head.done = 0,
                // A jump frame holds what a playhead that comes from before it knows already.
                JUMP => head.done = head.chunk.len(),
                _ => return fault(head.place, "a chunk is empty or has an unexpected kind"),
            }
            head.next_place = next;
        }
        let mut bytes =
            ByteReader { data: &head.chunk, at: head.done, place: head.place, seconds: self.seconds };
        head.next = Some((bytes.u32()?, bytes.key()?));
        head.done = bytes.at;
        Ok(true)
    }

    /// Takes up the next key (or end of a track), if it is needed up to `now`, and returns it with its track.
    pub(super) fn step(
        &self,
        head: &mut Playhead,
        now: Option<Ratio>,
    ) -> Result<Option<(usize, Option<StreamKey>)>, StreamError> {
        if head.next.is_none() && !self.peek(head)? {
            return Ok(None);
        }
        let Some((track, key)) = head.next else { return Ok(None) };
        let track = track as usize;
        let Some((state, need)) = head.states.get_mut(track).and_then(|s| s.need().map(|need| (s, need)))
        else {
            return fault(head.place, "a key has an unknown track, or its track has ended");
        };
        if now.is_some_and(|now| need > now) {
            return Ok(None);
        }
        if head.last_need.is_some_and(|last| need < last) {
            return fault(head.place, "the keys are not in the order in which they are needed");
        }
        if !state.push(key) {
            return fault(head.place, "a key is not later than the one before it");
        }
        (head.next, head.last_need) = (None, Some(need));
        Ok(Some((track, key)))
    }

    /// Sets the states and segments of all tracks at a jump frame.
    fn jump(&self, head: &mut Playhead, jump: &Jump) -> Result<(), StreamError> {
        head.next_place = self.chunk(JUMP, jump.place, &mut head.chunk)?;
        let mut bytes = self.reader_of(&head.chunk, jump.place);
        head.states.clear();
        head.values.clear();
        head.values.resize(self.tracks(), 0.0);
        head.segments.reset(self.tracks());
        let mut cycles = self.cycles.iter().map(|(track, _)| *track as usize).peekable();
        for track in 0..self.tracks() {
            let state = TrackState::read(&mut bytes, jump.time)?;
            if state.is_cyclic() != cycles.next_if_eq(&track).is_some() {
                return fault(jump.place, "a jump frame and the stream disagree on the tracks that repeat");
            }
            if let Some(active) = state.active() {
                head.segments.set(track, &active, &mut head.values);
            }
            head.states.push(state);
        }
        if !bytes.is_end() {
            return fault(jump.place, "a jump frame has more tracks than the stream");
        }
        head.done = head.chunk.len();
        (head.now, head.next, head.last_need) = (jump.time, None, jump.time);
        Ok(())
    }
}
