//! The binary format of keys, chunks and states.

use crate::curve::{Ease, Extrapolation, Handles, Key, KeyTime, MAX_VALUE, Shape};
use crate::ratio::Ratio;
use core::fmt;
use std::io;

/// The largest number of tracks in a stream.
pub const MAX_TRACKS: usize = 1 << 18;
/// The largest number of keys, in total, of tracks that repeat or mirror: they stay in memory.
pub const MAX_CYCLE_KEYS: usize = 1 << 20;

pub(super) const MAGIC: [u8; 8] = *b"\x89GFA\r\n\x1a\n";
pub(super) const VERSION: u32 = 1;
pub(super) const POINTS: u32 = 1;
pub(super) const JUMP: u32 = 2;
pub(super) const INDEX: u32 = 3;
pub(super) const CYCLES: u32 = 4;
pub(super) const HEAD_BYTES: u64 = 16;
pub(super) const CHUNK_BYTES: u64 = 16;
pub(super) const TAIL_BYTES: u64 = 40;
/// The largest number of bytes of a track in a jump frame, and in the order of the tracks' ends.
pub(super) const TRACK_BYTES: usize = 256;
/// The size in bytes at which a chunk of points ends.
pub(super) const POINTS_BYTES: usize = 1 << 16;
/// The largest number of keys after the next one that a shape needs.
pub(super) const AHEAD: usize = 2;
/// The largest number of keys kept before the current one: as many, and one for the slope at the end of a
/// track.
pub(super) const BEHIND: usize = AHEAD + 1;
/// The largest number of keys kept for a track: those behind, the current, the next, and those ahead.
pub(super) const KEPT: usize = BEHIND + 2 + AHEAD;

/// An error in a stream, and the byte position (before compression).
#[derive(Debug)]
pub struct StreamError {
    /// The position in bytes.
    pub at: u64,
    /// What is wrong there.
    pub problem: StreamProblem,
}

/// See [`StreamError`].
#[derive(Debug)]
pub enum StreamProblem {
    /// It cannot be read.
    Read(io::Error),
    /// It does not begin with the signature of a stream.
    Magic,
    /// A version that this program does not support.
    Version(u32),
    /// It ends too early.
    Short,
    /// A checksum is wrong: the bytes were changed after they were written.
    Checksum,
    /// The checksum is right but the content is invalid, which is a defect of the writer.
    Content(&'static str),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            StreamProblem::Read(e) => return write!(f, "the tracks cannot be read: {e}"),
            StreamProblem::Magic => f.write_str("not a track file: write one with this program")?,
            StreamProblem::Version(v) => {
                write!(f, "a track file of version {v}; this program reads version {VERSION}")?;
            }
            StreamProblem::Short => f.write_str("the track file is cut off")?,
            StreamProblem::Checksum => f.write_str("the track file is damaged")?,
            StreamProblem::Content(what) => write!(f, "the track file is wrong: {what}")?,
        }
        write!(f, " (at byte {})", self.at)
    }
}

impl core::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.problem {
            StreamProblem::Read(e) => Some(e),
            _ => None,
        }
    }
}

pub(super) fn fault<T>(at: u64, what: &'static str) -> Result<T, StreamError> {
    Err(StreamError { at, problem: StreamProblem::Content(what) })
}

/// FNV-1a on words of eight bytes in four interleaved lanes, with the high half folded down after each step; the lanes
/// are combined by the same step. The remainder of a piece is padded with zeros, and the piece's length follows. Every
/// step is invertible, so a change inside one word is always detected.
pub(super) fn checksum(pieces: &[&[u8]]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const fn step(h: u64, word: u64) -> u64 {
        let h = (h ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        h ^ h >> 32
    }
    let mut lanes = [START, START + 1, START + 2, START + 3];
    let mut steps = |block: &[u8; 32]| {
        let (words, _) = block.as_chunks();
        lanes.iter_mut().zip(words).for_each(|(h, word)| *h = step(*h, u64::from_le_bytes(*word)));
    };
    for piece in pieces {
        let (blocks, rest) = piece.as_chunks();
        blocks.iter().for_each(&mut steps);
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        steps(&last);
        last = [0; 32];
        last[..8].copy_from_slice(&(piece.len() as u64).to_le_bytes());
        steps(&last);
    }
    lanes.into_iter().fold(START, step)
}

/// A chunk with its header.
pub(super) fn chunk(kind: u32, payload: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let Ok(length) = u32::try_from(payload.len()) else {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too many tracks for one jump frame"));
    };
    out.clear();
    out.extend(kind.to_le_bytes());
    out.extend(length.to_le_bytes());
    let sum = checksum(&[out, payload]);
    out.extend(sum.to_le_bytes());
    out.extend(payload);
    Ok(())
}

/// A reader of bytes that knows their position in the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteReader<'a> {
    pub(super) data: &'a [u8],
    pub(super) at: usize,
    /// The position of `data` in the stream.
    pub(super) base: u64,
}

impl ByteReader<'_> {
    pub(super) const fn place(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(super) const fn is_end(&self) -> bool {
        self.at == self.data.len()
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], StreamError> {
        match self.data.get(self.at..).and_then(|d| d.first_chunk()) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => fault(self.place(), "a chunk ends in the middle of a key"),
        }
    }

    pub(super) fn u8(&mut self) -> Result<u8, StreamError> {
        self.take::<1>().map(|[b]| b)
    }

    pub(super) fn u32(&mut self) -> Result<u32, StreamError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, StreamError> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, StreamError> {
        self.take().map(i64::from_le_bytes)
    }

    /// A finite number within the limits of a curve.
    fn number(&mut self) -> Result<f64, StreamError> {
        let place = self.place();
        let v = self.take().map(f64::from_le_bytes)?;
        if v.abs() <= MAX_VALUE { Ok(v) } else { fault(place, "a number is beyond 1e100 or not finite") }
    }

    /// The time of a handle.
    fn fraction(&mut self) -> Result<f64, StreamError> {
        let place = self.place();
        let v = self.number()?;
        if (0.0..=1.0).contains(&v) { Ok(v) } else { fault(place, "a handle is outside its stretch") }
    }

    pub(super) fn time(&mut self, seconds: bool) -> Result<KeyTime, StreamError> {
        let place = self.place();
        let n = self.i64()?;
        if !seconds {
            return Ok(KeyTime::Frame(n));
        }
        let d = self.i64()?;
        match Ratio::new(n, d) {
            // Accept only the form that is written: lowest terms, denominator above 0.
            Some(r) if (r.num(), r.den()) == (n, d) => Ok(KeyTime::Seconds(r)),
            _ => fault(place, "a time is not a fraction in lowest terms"),
        }
    }

    pub(super) fn key(&mut self, seconds: bool) -> Result<Key, StreamError> {
        let at = self.time(seconds)?;
        let tag_place = self.place();
        let tag = self.u8()?;
        let value = self.number()?;
        let shape = match tag {
            0 => Shape::Hold,
            1 => Shape::Linear,
            2 => Shape::Smooth,
            3 => Shape::BSpline,
            4 => Shape::Hermite { leave: self.number()?, arrive: self.number()? },
            5 => Shape::Bezier(Handles {
                leave: self.fraction()?,
                leave_by: self.number()?,
                arrive: self.fraction()?,
                arrive_by: self.number()?,
            }),
            n => match n.checked_sub(16).and_then(|n| Ease::from_index(n.into())) {
                Some(ease) => Shape::Ease(ease),
                None => return fault(tag_place, "a shape is unknown"),
            },
        };
        Ok(Key { at, value, shape })
    }
}

pub(super) fn put_time(at: KeyTime, out: &mut Vec<u8>) {
    match at {
        KeyTime::Frame(n) => out.extend(n.to_le_bytes()),
        KeyTime::Seconds(s) => {
            out.extend(s.num().to_le_bytes());
            out.extend(s.den().to_le_bytes());
        }
    }
}

pub(super) fn put_key(key: &Key, out: &mut Vec<u8>) {
    let (tag, numbers): (u8, &[f64]) = match &key.shape {
        Shape::Hold => (0, &[]),
        Shape::Linear => (1, &[]),
        Shape::Smooth => (2, &[]),
        Shape::BSpline => (3, &[]),
        Shape::Hermite { leave, arrive } => (4, &[*leave, *arrive]),
        Shape::Bezier(h) => (5, &[h.leave, h.leave_by, h.arrive, h.arrive_by]),
        // There are thirty easing functions.
        Shape::Ease(ease) => (16 + ease.index() as u8, &[]),
    };
    put_time(key.at, out);
    out.push(tag);
    for v in core::iter::once(&key.value).chain(numbers) {
        out.extend(v.to_le_bytes());
    }
}

pub(super) const fn rules(before: Extrapolation, after: Extrapolation) -> u8 {
    before as u8 + 16 * after as u8
}

pub(super) fn rules_of(byte: u8) -> Option<(Extrapolation, Extrapolation)> {
    let rule = |n| match n {
        0 => Some(Extrapolation::Hold),
        1 => Some(Extrapolation::Repeat),
        2 => Some(Extrapolation::Mirror),
        3 => Some(Extrapolation::Extrapolate),
        _ => None,
    };
    Some((rule(byte % 16)?, rule(byte / 16)?))
}

/// Whether a track with these extrapolations needs its old keys again.
pub(super) const fn cyclic(before: Extrapolation, after: Extrapolation) -> bool {
    matches!(before, Extrapolation::Repeat | Extrapolation::Mirror)
        || matches!(after, Extrapolation::Repeat | Extrapolation::Mirror)
}
