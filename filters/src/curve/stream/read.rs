//! Opens a stream and seeks in it.

use super::fast::TakeEnd;
use super::format::{
    ByteReader, CHUNK_BYTES, CYCLES, HEAD_BYTES, INDEX, JUMP, MAGIC, MAX_CYCLE_KEYS, MAX_TRACKS, POINTS,
    POINTS_BYTES, StreamError, StreamProblem, TAIL_BYTES, TRACK_BYTES, VERSION, checksum, cyclic, fault,
    rules_of,
};
use super::play::Playhead;
use super::state::TrackState;
use crate::curve::{Curve, Key};
use crate::lend::ReadAt;
use crate::ratio::Ratio;
use std::sync::Arc;

/// The position of a jump frame, and the position at which to read on from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    /// `None` for the state before all keys.
    pub(super) time: Option<Ratio>,
    pub(super) place: u64,
    pub(super) chunk: u64,
    pub(super) offset: u32,
}

/// An open stream of tracks. It keeps only the positions of the jump frames and the keys of tracks that repeat or
/// mirror in memory.
#[derive(Clone, Debug)]
pub struct Tracks<R> {
    reader: R,
    seconds: bool,
    tracks: usize,
    keys: u64,
    pub(super) jumps: Vec<Jump>,
    /// Tracks that repeat or mirror, complete, in order.
    pub(super) cycles: Vec<(u32, Curve)>,
    /// The end of the points.
    pub(super) end: u64,
}

/// A stream with the names of its tracks, as a setting that names a track file gets it from the host.
#[derive(Clone)]
pub struct NamedTracks {
    /// The stream.
    pub tracks: Tracks<Arc<dyn ReadAt>>,
    /// One name per track, in order.
    pub names: Arc<[String]>,
}

impl<R: ReadAt> Tracks<R> {
    /// Opens a stream. Returns an error if it is cut off, has another version, or is damaged in head, index or
    /// tail. Damage elsewhere is found when it is read.
    pub fn open(reader: R) -> Result<Tracks<R>, StreamError> {
        let length = reader.len();
        let mut head = [0; HEAD_BYTES as usize];
        read(&reader, 0, &mut head)?;
        let problem = |at, problem| Err(StreamError { at, problem });
        let mut bytes = ByteReader { data: &head, at: 8, base: 0 };
        let (version, unit) = (bytes.u32()?, bytes.u32()?);
        if head[..8] != MAGIC {
            return problem(0, StreamProblem::Magic);
        }
        if version != VERSION {
            return problem(8, StreamProblem::Version(version));
        }
        if unit > 1 {
            return fault(12, "the unit of time is unknown");
        }
        let Some(tail_place) = length.checked_sub(TAIL_BYTES).filter(|p| *p >= HEAD_BYTES) else {
            return problem(length, StreamProblem::Short);
        };
        let mut tail = [0; TAIL_BYTES as usize];
        read(&reader, tail_place, &mut tail)?;
        let mut bytes = ByteReader { data: &tail, at: 0, base: tail_place };
        let (index_place, cycles_place) = (bytes.u64()?, bytes.u64()?);
        let (tracks, keys, sum) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        if sum != checksum(&[&tail[..32]]) {
            // The tail of a complete stream has its own checksum, so these bytes are not a tail.
            return problem(length, StreamProblem::Short);
        }
        let tracks = match usize::try_from(tracks) {
            Ok(n) if n <= MAX_TRACKS => n,
            _ => return fault(tail_place + 16, "too many tracks"),
        };
        let seconds = unit == 1;
        let (jumps, cycles) = (Vec::new(), Vec::new());
        let mut all = Tracks { reader, seconds, tracks, keys, jumps, cycles, end: index_place };
        let mut index = Vec::new();
        all.chunk(INDEX, index_place, &mut index)?;
        let mut bytes = ByteReader { data: &index, at: 0, base: index_place + CHUNK_BYTES };
        while !bytes.is_end() {
            let place = bytes.place();
            let time = bytes.time(seconds)?;
            let time = (!all.jumps.is_empty()).then_some(time.ratio());
            let jump = Jump { time, place: bytes.u64()?, chunk: bytes.u64()?, offset: bytes.u32()? };
            if all.jumps.last().is_some_and(|last| last.time >= jump.time) {
                return fault(place, "jump frames are not in order");
            }
            all.jumps.push(jump);
        }
        match all.jumps.first() {
            Some(first) => all.end = first.place,
            None => return fault(index_place, "the first jump frame is missing"),
        }
        all.read_cycles(cycles_place)?;
        Ok(all)
    }

    fn read_cycles(&mut self, place: u64) -> Result<(), StreamError> {
        let mut data = Vec::new();
        self.chunk(CYCLES, place, &mut data)?;
        let mut bytes = ByteReader { data: &data, at: 0, base: place + CHUNK_BYTES };
        let mut left = MAX_CYCLE_KEYS;
        while !bytes.is_end() {
            let place = bytes.place();
            let (track, rules, count) = (bytes.u32()?, bytes.u8()?, bytes.u32()?);
            let ordered = self.cycles.last().is_none_or(|(before, _)| *before < track);
            let rules = rules_of(rules).filter(|(before, after)| cyclic(*before, *after));
            let Some((before, after)) = rules.filter(|_| ordered && (track as usize) < self.tracks) else {
                return fault(place, "the tracks that repeat are not in order");
            };
            let Some(rest) = left.checked_sub(count as usize) else {
                return fault(place, "the tracks that repeat have too many keys");
            };
            left = rest;
            let mut keys: Vec<Key> = Vec::new();
            for _ in 0..count {
                keys.push(bytes.key(self.seconds)?);
            }
            let Ok(curve) = Curve::new(keys) else {
                return fault(place, "the keys of a track that repeats do not form a curve");
            };
            self.cycles.push((track, curve.with_extrapolation(before, after)));
        }
        Ok(())
    }

    /// One whole track as a curve, by reading the stream once. `None` if there is no such track.
    pub fn track(&self, track: usize) -> Result<Option<Curve>, StreamError> {
        if let Ok(i) = self.cycles.binary_search_by_key(&track, |(t, _)| *t as usize) {
            return Ok(Some(self.cycles[i].1.clone()));
        }
        let mut head = self.states()?;
        let Some(active) = head.general.active.get(track) else { return Ok(None) };
        let ((before, after, _), count) = (active.about(), active.count());
        let mut keys: Vec<Key> = active.kept().to_vec();
        while keys.len() < count as usize && self.peek(&mut head)? {
            if let Some((of, key, _)) = head.next.take()
                && of as usize == track
            {
                keys.push(key);
            }
        }
        let whole = keys.len() == count as usize;
        match Curve::new(keys) {
            Ok(curve) if whole => Ok(Some(curve.with_extrapolation(before, after))),
            _ => fault(head.place, "the keys of a track do not form a curve"),
        }
    }

    /// The number of tracks.
    pub const fn tracks(&self) -> usize {
        self.tracks
    }

    /// The number of keys of all tracks.
    pub const fn keys(&self) -> u64 {
        self.keys
    }

    /// Whether times are in seconds rather than frames.
    pub const fn in_seconds(&self) -> bool {
        self.seconds
    }

    /// The number of jump frames, including the one before all keys.
    pub const fn jumps(&self) -> usize {
        self.jumps.len()
    }

    /// Memory in bytes: the positions of the jump frames, and the tracks that repeat or mirror.
    pub fn memory(&self) -> usize {
        let keys: usize = self.cycles.iter().map(|(_, curve)| curve.keys().len()).sum();
        self.jumps.capacity() * size_of::<Jump>() + keys * size_of::<Key>()
    }

    /// The upper bound of the memory of a playhead in bytes, whatever the length of the stream: what is there at its
    /// start, and a chunk, which is that of a jump frame or a few keys of all tracks.
    pub fn playhead_memory(&self, start: &Playhead) -> usize {
        start.memory() + POINTS_BYTES + self.tracks * TRACK_BYTES
    }

    /// A playhead at the position before all keys.
    pub fn start(&self) -> Result<Playhead, StreamError> {
        let mut head = Playhead::new(false);
        self.jump(&mut head, &self.jumps[0])?;
        Ok(head)
    }

    /// Like [`start`](Tracks::start), for reading the states of all tracks.
    pub(super) fn states(&self) -> Result<Playhead, StreamError> {
        let mut head = Playhead::new(true);
        self.jump(&mut head, &self.jumps[0])?;
        Ok(head)
    }

    /// Moves a playhead of this stream to a time. It reads on from the current position or from the last jump frame
    /// before the time, whichever is shorter. After an error, drop the playhead.
    pub fn seek(&self, head: &mut Playhead, now: Ratio) -> Result<(), StreamError> {
        let near = self.jumps.partition_point(|j| j.time.is_none_or(|t| t <= now)).saturating_sub(1);
        let jump = self.jumps[near];
        if head.now.is_some_and(|then| then > now) || (near > 0 && head.now < jump.time) {
            self.jump(head, &jump)?;
        }
        self.read_to(head, now)?;
        head.evaluate(now);
        for (track, curve) in &self.cycles {
            head.values[*track as usize] = curve.value_at(now);
        }
        Ok(())
    }

    /// Takes up all keys that are needed at `now`.
    pub(super) fn read_to(&self, head: &mut Playhead, now: Ratio) -> Result<(), StreamError> {
        loop {
            if head.next.is_none() && (head.take(now) == TakeEnd::Later || !self.peek(head)?) {
                return Ok(());
            }
            let Some((track, key, place)) = head.next else { return Ok(()) };
            let track = track as usize;
            let Some(need) = head.need(track) else {
                return fault(place, "a key has an unknown track, or its track has too many keys");
            };
            if need > now {
                return Ok(());
            }
            if head.last_need.is_some_and(|last| need < last) {
                return fault(place, "the keys are not in the order in which they are needed");
            }
            head.last_need = Some(need);
            if !head.push(track, key, need) {
                return fault(place, "a key is not later than the one before it");
            }
            head.next = None;
        }
    }

    /// Reads the next key of the stream, if there is one.
    fn peek(&self, head: &mut Playhead) -> Result<bool, StreamError> {
        while head.done == head.chunk.len() {
            let next =
                if head.chunk.is_empty() { head.place } else { head.place + CHUNK_BYTES + head.done as u64 };
            if next == self.end {
                return Ok(false);
            }
            self.chunk(POINTS, next, &mut head.chunk)?;
            if head.chunk.is_empty() {
                return fault(next, "a chunk is empty");
            }
            (head.place, head.done) = (next, 0);
        }
        let mut bytes = ByteReader { data: &head.chunk, at: head.done, base: head.place + CHUNK_BYTES };
        let place = bytes.place();
        head.next = Some((bytes.u32()?, bytes.key(self.seconds)?, place));
        head.done = bytes.at;
        Ok(true)
    }

    fn jump(&self, head: &mut Playhead, jump: &Jump) -> Result<(), StreamError> {
        self.chunk(JUMP, jump.place, &mut head.chunk)?;
        let data = core::mem::take(&mut head.chunk);
        let mut bytes = ByteReader { data: &data, at: 0, base: jump.place + CHUNK_BYTES };
        head.reset(self.tracks);
        let mut cycles = self.cycles.iter().map(|(track, _)| *track as usize).peekable();
        let mut same = true;
        for track in 0..self.tracks {
            let active = TrackState::read(&mut bytes, self.seconds, jump.time)?;
            same &= active.is_cyclic() == cycles.next_if_eq(&track).is_some();
            head.put(track, active);
        }
        if !bytes.is_end() {
            return fault(bytes.place(), "a jump frame has more tracks than the stream");
        }
        if !same {
            return fault(jump.place, "a jump frame and the stream disagree on the tracks that repeat");
        }
        (head.now, head.next, head.last_need) = (jump.time, None, jump.time);
        (head.place, head.done) = (jump.chunk, 0);
        head.chunk = data;
        head.chunk.clear();
        if jump.offset > 0 {
            self.chunk(POINTS, jump.chunk, &mut head.chunk)?;
            head.done = jump.offset as usize;
            if head.done > head.chunk.len() {
                return fault(jump.place, "a jump frame points outside its chunk");
            }
        }
        Ok(())
    }

    /// Reads a whole chunk and checks it.
    pub(super) fn chunk(&self, kind: u32, place: u64, into: &mut Vec<u8>) -> Result<(), StreamError> {
        let mut head = [0; CHUNK_BYTES as usize];
        read(&self.reader, place, &mut head)?;
        let mut bytes = ByteReader { data: &head, at: 0, base: place };
        let (found, length, sum) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
        // Check the length before allocating memory for it.
        let whole =
            place.checked_add(CHUNK_BYTES + u64::from(length)).is_some_and(|end| end <= self.reader.len());
        if !whole {
            return Err(StreamError { at: place, problem: StreamProblem::Short });
        }
        into.resize(length as usize, 0);
        read(&self.reader, place + CHUNK_BYTES, into)?;
        if sum != checksum(&[&head[..8], into]) {
            return Err(StreamError { at: place, problem: StreamProblem::Checksum });
        }
        if found != kind { fault(place, "a chunk has an unexpected kind") } else { Ok(()) }
    }
}

fn read(reader: &impl ReadAt, place: u64, into: &mut [u8]) -> Result<(), StreamError> {
    if place.checked_add(into.len() as u64).is_none_or(|end| end > reader.len()) {
        return Err(StreamError { at: reader.len(), problem: StreamProblem::Short });
    }
    reader.read_at(place, into).map_err(|e| StreamError { at: place, problem: StreamProblem::Read(e) })
}
