//! Writes a stream, or copies one with other jump frames.

use super::format::{
    CHUNK_BYTES, CYCLES, HEAD_BYTES, INDEX, JUMP, MAGIC, MAX_CYCLE_KEYS, MAX_TRACKS, POINTS, POINTS_BYTES,
    StreamError, VERSION, checksum, chunk, cyclic, put_key, put_time, rules,
};
use super::read::Tracks;
use super::state::{TrackState, at_start, need};
use crate::curve::{Curve, KeyTime};
use crate::lend::ReadAt;
use crate::ratio::Ratio;
use core::fmt;
use std::io::{self, Write};

/// The reason why tracks cannot be written as a stream. Tracks are counted from 0 here and from 1 in
/// messages.
#[derive(Debug)]
pub enum TrackError {
    /// More than [`MAX_TRACKS`].
    TooMany,
    /// This track is in seconds and the first in frames, or the other way round.
    Mixed(usize),
    /// Tracks that repeat or mirror have more than [`MAX_CYCLE_KEYS`] keys in total.
    Cycles,
    /// The distance of jump frames must be above 0.
    Spacing,
    /// More than 2^20 jump frames.
    Jumps,
    /// The bytes cannot be written.
    Write(io::Error),
    /// The stream to be copied cannot be read.
    Read(StreamError),
}

impl fmt::Display for TrackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrackError::TooMany => write!(f, "more than {MAX_TRACKS} tracks in one file"),
            TrackError::Mixed(i) => {
                write!(f, "track {} and the first must both be in frames or both in seconds", i + 1)
            }
            TrackError::Cycles => write!(
                f,
                "tracks that repeat or mirror may have {MAX_CYCLE_KEYS} keys together, as they stay in memory"
            ),
            TrackError::Spacing => f.write_str("the time between jump frames must be above 0"),
            TrackError::Jumps => f.write_str("more than 1048576 jump frames: increase the spacing"),
            TrackError::Write(e) => write!(f, "the tracks cannot be written: {e}"),
            TrackError::Read(e) => e.fmt(f),
        }
    }
}

impl core::error::Error for TrackError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            TrackError::Write(e) => Some(e),
            TrackError::Read(e) => Some(e),
            _ => None,
        }
    }
}

impl From<io::Error> for TrackError {
    fn from(e: io::Error) -> TrackError {
        TrackError::Write(e)
    }
}

impl From<StreamError> for TrackError {
    fn from(e: StreamError) -> TrackError {
        TrackError::Read(e)
    }
}

/// A writer that counts bytes.
struct CountingWriter<'a> {
    to: &'a mut dyn Write,
    at: u64,
    buffer: Vec<u8>,
}

impl CountingWriter<'_> {
    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    fn chunk(&mut self, kind: u32, payload: &[u8]) -> io::Result<()> {
        let mut buffer = core::mem::take(&mut self.buffer);
        chunk(kind, payload, &mut buffer)?;
        let done = self.raw(&buffer);
        self.buffer = buffer;
        done
    }

    fn head(&mut self, seconds: bool) -> io::Result<()> {
        self.raw(&MAGIC)?;
        self.raw(&VERSION.to_le_bytes())?;
        self.raw(&u32::from(seconds).to_le_bytes())
    }

    /// Writes a jump frame and adds its entry to the index.
    fn jump(
        &mut self,
        time: KeyTime,
        states: impl Iterator<Item = TrackState>,
        (next, offset): (u64, u32),
        index: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut payload = Vec::new();
        states.for_each(|s| s.put(&mut payload));
        put_time(time, index);
        index.extend(self.at.to_le_bytes());
        index.extend(next.to_le_bytes());
        index.extend(offset.to_le_bytes());
        self.chunk(JUMP, &payload)
    }

    fn finish<'a>(
        &mut self,
        cycles: impl Iterator<Item = (u32, &'a Curve)>,
        index: &[u8],
        tracks: u64,
        keys: u64,
    ) -> io::Result<()> {
        let mut payload = Vec::new();
        for (track, curve) in cycles {
            payload.extend(track.to_le_bytes());
            payload.push(rules(curve.before(), curve.after()));
            // The limit of keys per curve fits.
            payload.extend((curve.keys().len() as u32).to_le_bytes());
            curve.keys().iter().for_each(|key| put_key(key, &mut payload));
        }
        let cycles = self.at;
        self.chunk(CYCLES, &payload)?;
        let place = self.at;
        self.chunk(INDEX, index)?;
        let tail: Vec<u8> = [place, cycles, tracks, keys].into_iter().flat_map(u64::to_le_bytes).collect();
        self.raw(&tail)?;
        self.raw(&checksum(&[&tail]).to_le_bytes())
    }
}

/// The times of jump frames: every `every` from the first key's time on, up to the time of the last need.
fn spaced(first: Ratio, last: Ratio, every: Ratio) -> Result<Vec<Ratio>, TrackError> {
    if every <= Ratio::ZERO {
        return Err(TrackError::Spacing);
    }
    let count = (last - first).checked_div(every).map_or(0, Ratio::floor);
    if count >= 1 << 20 {
        return Err(TrackError::Jumps);
    }
    Ok((1..=count).map(|i| first + every * Ratio::whole(i)).collect())
}

/// A frame or a time in the stream's unit; frame numbers are integers.
fn at(time: Ratio, seconds: bool) -> KeyTime {
    if seconds { KeyTime::Seconds(time) } else { KeyTime::Frame(time.floor()) }
}

/// Writes tracks as a stream, with a jump frame every `every` (in the keys' unit; frames are rounded up to
/// integers). Keys must be [resolved](Curve::resolve).
pub fn write(tracks: &[Curve], every: Ratio, to: &mut dyn Write) -> Result<(), TrackError> {
    if tracks.len() > MAX_TRACKS {
        return Err(TrackError::TooMany);
    }
    let seconds = tracks.first().is_some_and(Curve::in_seconds);
    let every = if seconds { every } else { whole(every) };
    for (i, track) in tracks.iter().enumerate() {
        if track.in_seconds() != seconds {
            return Err(TrackError::Mixed(i));
        }
    }
    let aside = |t: &&Curve| cyclic(t.before(), t.after());
    if tracks.iter().filter(aside).map(|t| t.keys().len()).sum::<usize>() > MAX_CYCLE_KEYS {
        return Err(TrackError::Cycles);
    }
    let mut points: Vec<(Ratio, u32, u32)> = Vec::new();
    for (t, track) in tracks.iter().enumerate().filter(|(_, t)| !aside(t)) {
        let keys = track.keys();
        let needs = (at_start(keys)..keys.len()).filter_map(|i| Some((need(keys, i)?, t as u32, i as u32)));
        points.extend(needs);
    }
    points.sort_unstable();

    let mut out = CountingWriter { to, at: 0, buffer: Vec::new() };
    out.head(seconds)?;
    let first = tracks.iter().map(|t| t.keys()[0].when()).min().unwrap_or(Ratio::ZERO);
    let last = points.last().map_or(first, |p| p.0);
    let times = spaced(first, last, every)?;
    // The position at which to read on from each jump frame: the first point that is needed later.
    let mut places = Vec::new();
    let mut payload = Vec::new();
    for (need, track, key) in points {
        while places.len() < times.len() && times[places.len()] < need {
            places.push((out.at, payload.len() as u32));
        }
        payload.extend(track.to_le_bytes());
        put_key(&tracks[track as usize].keys()[key as usize], &mut payload);
        if payload.len() >= POINTS_BYTES {
            out.chunk(POINTS, &payload)?;
            payload.clear();
        }
    }
    if !payload.is_empty() {
        out.chunk(POINTS, &payload)?;
    }
    places.resize(times.len(), (out.at, 0));
    let mut index = Vec::new();
    let state = |now| move |t: &Curve| TrackState::of(t.keys(), t.before(), t.after(), now);
    out.jump(at(first, seconds), tracks.iter().map(state(None)), (HEAD_BYTES, 0), &mut index)?;
    for (time, place) in times.into_iter().zip(places) {
        out.jump(at(time, seconds), tracks.iter().map(state(Some(time))), place, &mut index)?;
    }
    let keys = tracks.iter().map(|t| t.keys().len() as u64).sum();
    let cycles = tracks.iter().enumerate().filter(|(_, t)| aside(t)).map(|(i, t)| (i as u32, t));
    Ok(out.finish(cycles, &index, tracks.len() as u64, keys)?)
}

fn whole(t: Ratio) -> Ratio {
    Ratio::whole(t.floor().saturating_add((t > Ratio::whole(t.floor())).into()))
}

/// Copies a stream with jump frames at another spacing. The bytes are the same as if the tracks had been
/// written with that spacing.
pub fn reindex<R: ReadAt>(from: &Tracks<R>, every: Ratio, to: &mut dyn Write) -> Result<(), TrackError> {
    let seconds = from.in_seconds();
    let every = if seconds { every } else { whole(every) };
    let mut out = CountingWriter { to, at: 0, buffer: Vec::new() };
    out.head(seconds)?;
    let mut payload = Vec::new();
    let mut place = HEAD_BYTES;
    while place < from.end {
        from.chunk(POINTS, place, &mut payload)?;
        out.chunk(POINTS, &payload)?;
        place += CHUNK_BYTES + payload.len() as u64;
    }
    let mut index = Vec::new();
    let mut head = from.states()?;
    let streamed = head.general.active.iter().filter(|a| !a.is_cyclic()).filter_map(|a| a.kept().first());
    let cycles = from.cycles.iter().filter_map(|(_, curve)| curve.keys().first());
    let first = streamed.chain(cycles).map(|k| k.when()).min().unwrap_or(Ratio::ZERO);
    out.jump(at(first, seconds), head.general.active.iter().cloned(), (HEAD_BYTES, 0), &mut index)?;
    // The first pass finds the last time at which a key is needed, the second the states on the way.
    from.read_to(&mut head, Ratio::whole(i64::MAX))?;
    let last = head.last_need.unwrap_or(first);
    let mut head = from.states()?;
    for time in spaced(first, last, every)? {
        from.read_to(&mut head, time)?;
        head.general.active.iter_mut().for_each(|a| {
            a.advance(time);
        });
        let next = match head.next {
            // The key that was read but not taken up.
            Some((_, _, place)) => (head.place, (place - head.place - CHUNK_BYTES) as u32),
            None => (head.place + CHUNK_BYTES + head.done as u64, 0),
        };
        out.jump(at(time, seconds), head.general.active.iter().cloned(), next, &mut index)?;
    }
    let cycles = from.cycles.iter().map(|(track, curve)| (*track, curve));
    Ok(out.finish(cycles, &index, from.tracks() as u64, from.keys())?)
}
