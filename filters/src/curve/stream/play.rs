//! The player of a stream: a position in time that moves.

use super::format::{JUMP, StreamError, fault};
use super::read::{Jump, Tracks};
use super::segments::Segments;
use super::state::{Knot, TrackState};
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
    pub(super) next: Option<(u32, Option<Knot>)>,
    /// When the last key was needed: these times must not decrease.
    last_need: Option<Ratio>,
}

impl Playhead {
    /// The value of each track at the current time.
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

    /// Takes up the next key (or end of a track), if it is needed up to `now`, and returns it with its track.
    pub(super) fn step(
        &self,
        head: &mut Playhead,
        now: Option<Ratio>,
    ) -> Result<Option<(usize, Option<Knot>)>, StreamError> {
        if head.next.is_none() && !self.peek(head)? {
            return Ok(None);
        }
        let Some((track, knot)) = head.next else { return Ok(None) };
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
        if !state.push(knot) {
            return fault(head.place, "a key is not later than the one before it");
        }
        (head.next, head.last_need) = (None, Some(need));
        Ok(Some((track, knot)))
    }

    /// Sets the states and stretches of all tracks at a jump frame.
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
