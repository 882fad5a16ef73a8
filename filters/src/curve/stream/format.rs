//! The binary format of keys and chunks.

use super::key::{Interpolation, StreamKey};
use crate::curve::{Ease, Extrapolation, Handles, KeyTime, MAX_VALUE};
use crate::ratio::Ratio;
use core::fmt;
use miniz_oxide::deflate::compress_to_vec;
use std::io;

/// The largest number of tracks in a stream.
pub const MAX_TRACKS: usize = 1 << 18;
/// The largest number of keys, in total, of tracks that repeat or mirror: they stay in memory.
pub const MAX_CYCLE_KEYS: usize = 1 << 20;
/// The longest name of a track in bytes.
pub const MAX_NAME: usize = 255;
/// The largest number of jump frames.
pub(super) const MAX_JUMPS: usize = 1 << 20;

pub(super) const MAGIC: [u8; 8] = *b"\x89GFP\r\n\x1a\n";
/// The version of the format.
pub const VERSION: u32 = 2;
pub(super) const POINTS: u32 = 1;
pub(super) const JUMP: u32 = 2;
pub(super) const INDEX: u32 = 3;
pub(super) const CYCLES: u32 = 4;
pub(super) const NAMES: u32 = 5;
pub(super) const HEAD_BYTES: u64 = 12;
pub(super) const CHUNK_BYTES: u64 = 16;
pub(super) const TAIL_BYTES: u64 = 48;
/// The size in bytes at which a chunk of points ends.
pub(super) const POINTS_BYTES: usize = 1 << 16;
/// No key is longer, with its track.
pub(super) const KEY_BYTES: usize = 64;
/// No track is longer in a jump frame.
pub(super) const TRACK_BYTES: usize = 2 * KEY_BYTES;
/// The largest slope: that between two keys with the largest values at the nearest times. No arithmetic with it
/// overflows.
const MAX_SLOPE: f64 = 1e125;
/// The tag in place of a key where a track ends.
const END: u8 = 255;
/// The compression level of DEFLATE. The higher ones hardly make the files smaller.
const LEVEL: u8 = 6;

/// An error in a stream, and the byte position.
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
            StreamProblem::Read(e) => return write!(f, "the track file cannot be read: {e}"),
            StreamProblem::Magic => f.write_str("not a track file: 'grainfield curve fit' writes one")?,
            StreamProblem::Version(v) if *v < VERSION => write!(
                f,
                "a track file of version {v}, which this program no longer reads: write it again with \
                 'grainfield curve fit'"
            )?,
            StreamProblem::Version(v) => {
                write!(f, "a track file of version {v}; this program reads version {VERSION}")?;
            }
            StreamProblem::Short => f.write_str("the track file is cut off")?,
            StreamProblem::Checksum => f.write_str("the track file is damaged: a checksum is wrong")?,
            StreamProblem::Content(what) => write!(f, "the track file is wrong: {what}")?,
        }
        write!(f, " (at byte {} of the file)", self.at)
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

/// What is wrong with the name of a track, if anything.
///
/// # Errors
/// What is wrong with the name.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    match name {
        "" => Err("it is empty"),
        _ if name.len() > MAX_NAME => Err("it is longer than 255 bytes"),
        _ if name.chars().any(char::is_control) => Err("it contains a control character"),
        _ => Ok(()),
    }
}

/// The head of a chunk.
pub(super) struct ChunkHead {
    pub(super) kind: u32,
    /// The length of its content.
    pub(super) length: u32,
    /// The length of the compressed content in the file.
    pub(super) packed: u32,
    checksum: u32,
}

impl ChunkHead {
    pub(super) fn parse(bytes: [u8; CHUNK_BYTES as usize]) -> ChunkHead {
        let number = |i: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| bytes[4 * i + k]);
            u32::from_le_bytes([a, b, c, d])
        };
        ChunkHead { kind: number(0), length: number(1), packed: number(2), checksum: number(3) }
    }

    fn fields(&self) -> [u8; 12] {
        let all = [self.kind, self.length, self.packed].map(u32::to_le_bytes);
        core::array::from_fn(|i| all[i / 4][i % 4])
    }

    /// CRC-32 of its fields and the compressed content.
    fn sum(&self, packed: &[u8]) -> u32 {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.fields());
        crc.update(packed);
        crc.finalize()
    }

    pub(super) fn is_intact(&self, packed: &[u8]) -> bool {
        self.sum(packed) == self.checksum
    }
}

/// A chunk with its head, as it is in the file.
pub(super) fn chunk(kind: u32, content: &[u8]) -> io::Result<Vec<u8>> {
    let packed = compress_to_vec(content, LEVEL);
    let small = |n: usize| u32::try_from(n).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    let head = ChunkHead { kind, length: small(content.len())?, packed: small(packed.len())?, checksum: 0 };
    Ok([&head.fields(), &head.sum(&packed).to_le_bytes()[..], &packed].concat())
}

/// A reader of the content of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteReader<'a> {
    pub(super) data: &'a [u8],
    pub(super) at: usize,
    /// The position of the chunk in the file, for errors.
    pub(super) place: u64,
    /// Whether times are in seconds.
    pub(super) seconds: bool,
}

impl ByteReader<'_> {
    pub(super) const fn is_end(&self) -> bool {
        self.at == self.data.len()
    }

    pub(super) fn fault<T>(&self, what: &'static str) -> Result<T, StreamError> {
        fault(self.place, what)
    }

    #[inline(always)]
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], StreamError> {
        match self.data.get(self.at..).and_then(|d| d.first_chunk()) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => self.fault("a chunk ends in the middle of a key"),
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

    /// A finite number up to a limit.
    fn number(&mut self, most: f64) -> Result<f64, StreamError> {
        let v = self.take().map(f64::from_le_bytes)?;
        if v.abs() <= most { Ok(v) } else { self.fault("a number is too large or not finite") }
    }

    pub(super) fn slope(&mut self) -> Result<f64, StreamError> {
        self.number(MAX_SLOPE)
    }

    /// The time of a handle.
    fn fraction(&mut self) -> Result<f64, StreamError> {
        let v = self.number(1.0)?;
        if v >= 0.0 { Ok(v) } else { self.fault("a handle is outside its interpolation") }
    }

    pub(super) fn time(&mut self) -> Result<Ratio, StreamError> {
        let n = self.take().map(i64::from_le_bytes)?;
        if !self.seconds {
            return Ok(Ratio::whole(n));
        }
        let d = self.take().map(i64::from_le_bytes)?;
        match Ratio::new(n, d) {
            // Accept only the form that is written: lowest terms, denominator above 0.
            Some(r) if (r.num(), r.den()) == (n, d) => Ok(r),
            _ => self.fault("a time is not a fraction in lowest terms"),
        }
    }

    /// A key, or `None` for the end of a track.
    pub(super) fn key(&mut self) -> Result<Option<StreamKey>, StreamError> {
        let tag = self.u8()?;
        if tag == END {
            return Ok(None);
        }
        let (time, value) = (self.time()?, self.number(MAX_VALUE)?);
        let interpolation = match tag {
            0 => Interpolation::Hold,
            1 => Interpolation::Linear,
            2 => Interpolation::Smooth(self.slope()?, self.slope()?),
            3 => Interpolation::BSpline([self.slope()?, self.slope()?, self.slope()?, self.slope()?]),
            4 => Interpolation::Hermite(self.slope()?, self.slope()?),
            5 => Interpolation::Bezier(Handles {
                leave: self.fraction()?,
                leave_by: self.number(MAX_VALUE)?,
                arrive: self.fraction()?,
                arrive_by: self.number(MAX_VALUE)?,
            }),
            n => match n.checked_sub(16).and_then(|n| Ease::from_index(n.into())) {
                Some(ease) => Interpolation::Ease(ease),
                None => return self.fault("a shape is unknown"),
            },
        };
        Ok(Some(StreamKey { time, value, interpolation }))
    }

    /// The extrapolations before and after.
    pub(super) fn rules(&mut self) -> Result<(Extrapolation, Extrapolation), StreamError> {
        let rule = |n| match n {
            0 => Some(Extrapolation::Hold),
            1 => Some(Extrapolation::Repeat),
            2 => Some(Extrapolation::Mirror),
            3 => Some(Extrapolation::Extrapolate),
            _ => None,
        };
        let byte = self.u8()?;
        match (rule(byte % 16), rule(byte / 16)) {
            (Some(before), Some(after)) => Ok((before, after)),
            _ => self.fault("an extrapolation is unknown"),
        }
    }
}

pub(super) fn put_time(time: Ratio, seconds: bool, out: &mut Vec<u8>) {
    out.extend(time.num().to_le_bytes());
    if seconds {
        out.extend(time.den().to_le_bytes());
    }
}

pub(super) fn put_key(key: Option<&StreamKey>, seconds: bool, out: &mut Vec<u8>) {
    let Some(key) = key else { return out.push(END) };
    let (tag, numbers): (u8, &[f64]) = match &key.interpolation {
        Interpolation::Hold => (0, &[]),
        Interpolation::Linear => (1, &[]),
        Interpolation::Smooth(leave, arrive) => (2, &[*leave, *arrive]),
        Interpolation::BSpline(c) => (3, c),
        Interpolation::Hermite(leave, arrive) => (4, &[*leave, *arrive]),
        Interpolation::Bezier(h) => (5, &[h.leave, h.leave_by, h.arrive, h.arrive_by]),
        // There are thirty easing functions.
        Interpolation::Ease(ease) => (16 + ease.index() as u8, &[]),
    };
    out.push(tag);
    put_time(key.time, seconds, out);
    for v in core::iter::once(&key.value).chain(numbers) {
        out.extend(v.to_le_bytes());
    }
}

pub(super) const fn rules(before: Extrapolation, after: Extrapolation) -> u8 {
    before as u8 + 16 * after as u8
}

/// The time of a key in the unit of a stream.
pub(super) fn key_time(time: Ratio, seconds: bool) -> KeyTime {
    if seconds { KeyTime::Seconds(time) } else { KeyTime::Frame(time.num()) }
}

/// Whether a track with these extrapolations needs its old keys again.
pub(super) const fn is_cyclic(before: Extrapolation, after: Extrapolation) -> bool {
    matches!(before, Extrapolation::Repeat | Extrapolation::Mirror)
        || matches!(after, Extrapolation::Repeat | Extrapolation::Mirror)
}
