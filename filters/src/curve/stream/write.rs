//! Writes a stream, or copies one with other jump frames.

use super::format::{
    CYCLES, INDEX, JUMP, MAGIC, MAX_CYCLE_KEYS, MAX_JUMPS, MAX_TRACKS, NAMES, POINTS, POINTS_BYTES,
    StreamError, VERSION, check_name, chunk, is_cyclic, put_key, put_time, rules,
};
use super::key::StreamKey;
use super::read::Tracks;
use super::state::TrackState;
use crate::curve::Curve;
use crate::ratio::Ratio;
use md5::{Digest, Md5};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The reason why tracks cannot be written as a stream.
#[derive(Debug, thiserror::Error)]
pub enum TrackError {
    /// More than [`MAX_TRACKS`].
    #[error("more than {MAX_TRACKS} tracks in one file")]
    TooMany,
    /// This track is in seconds and the first in frames, or the other way round.
    #[error("track '{0}' and the first must both be in frames or both in seconds")]
    Mixed(String),
    /// An invalid name, and what is wrong with it.
    #[error("track name '{}': {}", .0.escape_debug(), .1)]
    Name(String, &'static str),
    /// Tracks that repeat or mirror have more than [`MAX_CYCLE_KEYS`] keys in total.
    #[error("tracks that repeat or mirror may have {MAX_CYCLE_KEYS} keys together, as they stay in memory")]
    Cycles,
    /// The distance of jump frames must be above 0.
    #[error("the time between jump frames must be above 0")]
    Spacing,
    /// More than 2^20 jump frames.
    #[error("more than {MAX_JUMPS} jump frames: increase the spacing")]
    Jumps,
    /// The bytes cannot be written.
    #[error("the tracks cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The stream to be copied cannot be read.
    #[error("{0}")]
    Read(#[source] StreamError),
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

/// Writes keys in the order in which they are needed, with a jump frame now and then.
struct StreamWriter<'a> {
    to: &'a mut dyn Write,
    at: u64,
    md5: Md5,
    seconds: bool,
    states: Vec<TrackState>,
    /// The time before which no key is needed, and the time between jump frames.
    first: Ratio,
    every: Ratio,
    /// The number of jump frames so far, and the index of them.
    jumps: usize,
    index: Vec<u8>,
    points: Vec<u8>,
    keys: u64,
}

impl<'a> StreamWriter<'a> {
    /// Begins with the states before all keys. `first` is the time of the first key of all.
    fn new(
        to: &'a mut dyn Write,
        states: Vec<TrackState>,
        (first, every): (Ratio, Ratio),
        seconds: bool,
    ) -> Result<StreamWriter<'a>, TrackError> {
        // Frame numbers are integers.
        let whole = every.floor().saturating_add((every > Ratio::whole(every.floor())).into());
        let every = if seconds { every } else { Ratio::whole(whole) };
        if every <= Ratio::ZERO {
            return Err(TrackError::Spacing);
        }
        let keys = states.iter().filter(|s| !s.is_cyclic()).count() as u64;
        let (md5, index, points) = (Md5::new(), Vec::new(), Vec::new());
        let mut out =
            StreamWriter { to, at: 0, md5, seconds, states, first, every, jumps: 0, index, points, keys };
        out.raw(&MAGIC)?;
        out.raw(&VERSION.to_le_bytes())?;
        out.jump()?;
        Ok(out)
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.md5.update(bytes);
        self.to.write_all(bytes)
    }

    fn chunk(&mut self, kind: u32, content: &[u8]) -> io::Result<()> {
        self.raw(&chunk(kind, content)?)
    }

    fn points(&mut self) -> io::Result<()> {
        let points = core::mem::take(&mut self.points);
        if points.is_empty() { Ok(()) } else { self.chunk(POINTS, &points) }
    }

    fn jump_time(&self) -> Ratio {
        self.first + self.every * Ratio::whole(self.jumps as i64)
    }

    fn jump(&mut self) -> io::Result<()> {
        self.points()?;
        put_time(self.jump_time(), self.seconds, &mut self.index);
        self.index.extend(self.at.to_le_bytes());
        self.jumps += 1;
        let mut content = Vec::new();
        self.states.iter().for_each(|s| s.put(self.seconds, &mut content));
        self.chunk(JUMP, &content)
    }

    /// Writes the next key of a track, or its end.
    fn push(&mut self, track: usize, key: Option<StreamKey>) -> Result<(), TrackError> {
        let Some(need) = self.states[track].need() else { return Ok(()) };
        let count = (need - self.first).checked_div(self.every).map_or(0, Ratio::floor);
        if count >= MAX_JUMPS as i64 {
            return Err(TrackError::Jumps);
        }
        while self.jumps < MAX_JUMPS && self.jump_time() < need {
            self.jump()?;
        }
        self.points.extend((track as u32).to_le_bytes());
        put_key(key.as_ref(), self.seconds, &mut self.points);
        self.keys += u64::from(key.is_some());
        self.states[track].push(key);
        if self.points.len() >= POINTS_BYTES {
            self.points()?;
        }
        Ok(())
    }

    fn finish(mut self, cycles: &[(u32, Curve)], names: &str) -> Result<(), TrackError> {
        self.points()?;
        let end = self.at;
        let mut content = Vec::new();
        for (track, curve) in cycles {
            let keys = curve.keys();
            content.extend(track.to_le_bytes());
            content.push(rules(curve.before(), curve.after()));
            // The limit of keys per curve fits.
            content.extend((keys.len() as u32).to_le_bytes());
            (0..keys.len()).for_each(|i| put_key(Some(&StreamKey::new(keys, i)), self.seconds, &mut content));
            self.keys += keys.len() as u64;
        }
        self.chunk(CYCLES, &content)?;
        self.chunk(NAMES, names.as_bytes())?;
        let index = core::mem::take(&mut self.index);
        self.chunk(INDEX, &index)?;
        let mut tail: Vec<u8> =
            [end, self.states.len() as u64, self.keys].into_iter().flat_map(u64::to_le_bytes).collect();
        tail.extend(u32::from(self.seconds).to_le_bytes());
        self.md5.update(&tail);
        tail.extend(self.md5.finalize());
        tail.extend(crc32fast::hash(&tail).to_le_bytes());
        Ok(self.to.write_all(&tail)?)
    }
}

/// Writes named tracks as a stream, with a jump frame every `every` (in the keys' unit; frames are rounded up to
/// integers). Keys must be [resolved](Curve::resolve).
///
/// # Errors
///
/// Tracks in different units, invalid or equal names, too many tracks or jump frames, or bytes that cannot be written.
pub fn write(tracks: &[(String, Curve)], every: Ratio, to: &mut dyn Write) -> Result<(), TrackError> {
    if tracks.len() > MAX_TRACKS {
        return Err(TrackError::TooMany);
    }
    let seconds = tracks.first().is_some_and(|(_, track)| track.in_seconds());
    let mut names = BTreeSet::new();
    for (name, track) in tracks {
        let new = names.insert(name.as_str()).then_some(()).ok_or("two tracks have this name");
        check_name(name).and(new).map_err(|problem| TrackError::Name(name.clone(), problem))?;
        if track.in_seconds() != seconds {
            return Err(TrackError::Mixed(name.clone()));
        }
    }
    let (cycles, streamed): (Vec<_>, Vec<_>) = (0u32..)
        .zip(tracks.iter().map(|(_, track)| track))
        .partition(|(_, t)| is_cyclic(t.before(), t.after()));
    let cycles: Vec<(u32, Curve)> = cycles.into_iter().map(|(i, t)| (i, t.clone())).collect();
    if cycles.iter().map(|(_, t)| t.keys().len()).sum::<usize>() > MAX_CYCLE_KEYS {
        return Err(TrackError::Cycles);
    }
    // A key is needed from the time of the key before it, and the end of a track from that of its last key.
    let mut needs: Vec<(Ratio, u32, u32)> = Vec::new();
    for (t, track) in &streamed {
        needs.extend((1u32..).zip(track.keys()).map(|(i, before)| (before.when(), *t, i)));
    }
    needs.sort_unstable();
    let first = needs.first().map_or(Ratio::ZERO, |need| need.0);
    let states = tracks.iter().map(|(_, track)| TrackState::start(track)).collect();
    let mut out = StreamWriter::new(to, states, (first, every), seconds)?;
    for (_, track, i) in needs {
        let keys = tracks[track as usize].1.keys();
        out.push(track as usize, ((i as usize) < keys.len()).then(|| StreamKey::new(keys, i as usize)))?;
    }
    let names: Vec<&str> = tracks.iter().map(|(name, _)| name.as_str()).collect();
    out.finish(&cycles, &names.join("\n"))
}

/// Copies a stream with jump frames at another spacing. The bytes are the same as if the tracks had been
/// written with that spacing.
///
/// # Errors
///
/// The stream cannot be read or is damaged, there are too many jump frames, or the bytes cannot be written.
pub fn reindex(from: &Tracks, every: Ratio, to: &mut dyn Write) -> Result<(), TrackError> {
    let mut head = from.start()?;
    let first = head.states.iter().filter_map(TrackState::need).min().unwrap_or(Ratio::ZERO);
    let mut out = StreamWriter::new(to, head.states.clone(), (first, every), from.in_seconds())?;
    while let Some((track, key)) = from.step(&mut head, None)? {
        out.push(track, key)?;
    }
    out.finish(&from.cycles, &from.names().join("\n"))
}
