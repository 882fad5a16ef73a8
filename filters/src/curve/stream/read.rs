//! Opens a stream.

use super::format::{
    ByteReader, CHUNK_BYTES, CYCLES, ChunkHead, HEAD_BYTES, INDEX, JUMP, KEY_BYTES, MAGIC, MAX_CYCLE_KEYS,
    MAX_JUMPS, MAX_NAME, MAX_TRACKS, NAMES, POINTS, POINTS_BYTES, StreamError, StreamProblem, TAIL_BYTES,
    TRACK_BYTES, VERSION, check_name, fault, is_cyclic, key_time,
};
use super::key::StreamKey;
use crate::curve::{Curve, Key};
use crate::host::ReadAt;
use crate::ratio::Ratio;
use miniz_oxide::inflate::decompress_slice_iter_to_slice;
use std::sync::Arc;

/// A jump frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    /// `None` for the state before all keys.
    pub(super) time: Option<Ratio>,
    pub(super) place: u64,
}

/// An open stream of tracks. It keeps only the names, the positions of the jump frames and the keys of tracks that
/// repeat or mirror in memory.
#[derive(Clone)]
pub struct Tracks {
    reader: Arc<dyn ReadAt>,
    pub(super) seconds: bool,
    names: Arc<[String]>,
    keys: u64,
    digest: u128,
    pub(super) jumps: Arc<[Jump]>,
    /// Tracks that repeat or mirror, complete, in order.
    pub(super) cycles: Arc<[(u32, Curve)]>,
    /// The end of the points and jump frames.
    pub(super) end: u64,
}

impl core::fmt::Debug for Tracks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tracks")
            .field("tracks", &self.tracks())
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl Tracks {
    /// Opens a stream. Damage in the points and jump frames is found when they are read, or by
    /// [`verify`](Tracks::verify).
    ///
    /// # Errors
    ///
    /// The stream is cut off, has another version, or is damaged in its head, names, index or tail.
    pub fn open(reader: Arc<dyn ReadAt>) -> Result<Tracks, StreamError> {
        let length = reader.len();
        let problem = |at, problem| Err(StreamError { at, problem });
        let mut head = [0; HEAD_BYTES as usize];
        let present = length.min(HEAD_BYTES) as usize;
        read(&*reader, 0, &mut head[..present])?;
        let version = ByteReader { data: &head, at: 8, place: 0, seconds: false }.u32()?;
        if present == 0 || head[..present.min(8)] != MAGIC[..present.min(8)] {
            return problem(0, StreamProblem::Magic);
        }
        if present == head.len() && version != VERSION {
            return problem(8, StreamProblem::Version(version));
        }
        let Some(tail_place) = length.checked_sub(TAIL_BYTES).filter(|p| *p >= HEAD_BYTES) else {
            return problem(length, StreamProblem::Short);
        };
        let mut tail = [0; TAIL_BYTES as usize];
        read(&*reader, tail_place, &mut tail)?;
        let mut bytes = ByteReader { data: &tail, at: 0, place: tail_place, seconds: false };
        let (end, tracks, keys, unit) = (bytes.u64()?, bytes.u64()?, bytes.u64()?, bytes.u32()?);
        let (digest, sum) = (u128::from_be_bytes(bytes.take()?), bytes.u32()?);
        if sum != crc32fast::hash(&tail[..TAIL_BYTES as usize - 4]) {
            // The tail of a complete stream has its own checksum, so these bytes are not a tail.
            return problem(length, StreamProblem::Short);
        }
        if unit > 1 {
            return fault(tail_place, "the unit of time is unknown");
        }
        let tracks = match usize::try_from(tracks) {
            Ok(n) if n <= MAX_TRACKS => n,
            _ => return fault(tail_place, "too many tracks"),
        };
        let (names, jumps, cycles) = (Arc::new([]), Arc::new([]), Arc::new([]));
        let mut all = Tracks { reader, seconds: unit == 1, names, keys, digest, jumps, cycles, end };
        let mut data = Vec::new();
        let next = all.chunk(CYCLES, end, &mut data)?;
        all.cycles = cycles_of(all.reader_of(&data, end), tracks)?.into();
        let names_place = next;
        let next = all.chunk(NAMES, next, &mut data)?;
        all.names = names_of(&data, tracks).map_or_else(|what| fault(names_place, what), Ok)?;
        let index_place = next;
        all.chunk(INDEX, next, &mut data)?;
        all.jumps = jumps_of(all.reader_of(&data, index_place))?.into();
        Ok(all)
    }

    pub(super) fn reader_of<'a>(&self, data: &'a [u8], place: u64) -> ByteReader<'a> {
        ByteReader { data, at: 0, place, seconds: self.seconds }
    }

    /// The number of tracks.
    pub fn tracks(&self) -> usize {
        self.names.len()
    }

    /// The names of the tracks, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of keys of all tracks.
    pub const fn keys(&self) -> u64 {
        self.keys
    }

    /// The MD5 of the bytes before it in the stream, first byte highest, as the writer computed it.
    pub const fn digest(&self) -> u128 {
        self.digest
    }

    /// Whether times are in seconds rather than frames.
    pub const fn in_seconds(&self) -> bool {
        self.seconds
    }

    /// The number of jump frames, including the one before all keys.
    pub fn jumps(&self) -> usize {
        self.jumps.len()
    }

    /// Memory in bytes: the names, the positions of the jump frames, and the tracks that repeat or mirror.
    pub fn memory(&self) -> usize {
        let keys: usize = self.cycles.iter().map(|(_, curve)| curve.keys().len()).sum();
        let names: usize = self.names.iter().map(|n| size_of::<String>() + n.capacity()).sum();
        names + self.jumps.len() * size_of::<Jump>() + keys * size_of::<Key>()
    }

    /// Verifies every byte, and returns the size of the file and of its uncompressed content.
    ///
    /// # Errors
    ///
    /// The stream cannot be read or is damaged.
    pub fn verify(&self) -> Result<(u64, u64), StreamError> {
        let (length, mut content) = (self.reader.len(), HEAD_BYTES + TAIL_BYTES);
        let (mut place, mut data) = (HEAD_BYTES, Vec::new());
        while place < length - TAIL_BYTES {
            place = self.any_chunk(place, &mut data)?.1;
            content += CHUNK_BYTES + data.len() as u64;
        }
        if place == length - TAIL_BYTES {
            Ok((length, content))
        } else {
            fault(place, "a chunk reaches into the tail")
        }
    }

    /// Reads a chunk of a kind, and returns the position of the next.
    pub(super) fn chunk(&self, kind: u32, place: u64, into: &mut Vec<u8>) -> Result<u64, StreamError> {
        match self.any_chunk(place, into)? {
            (found, next) if found == kind => Ok(next),
            _ => fault(place, "a chunk has an unexpected kind"),
        }
    }

    /// Reads a chunk and checks it; returns its kind and the position of the next.
    pub(super) fn any_chunk(&self, place: u64, into: &mut Vec<u8>) -> Result<(u32, u64), StreamError> {
        let mut head = [0; CHUNK_BYTES as usize];
        read(&*self.reader, place, &mut head)?;
        let head = ChunkHead::parse(head);
        let mut packed = vec![0; (u64::from(head.packed)).min(self.reader.len()) as usize];
        read(&*self.reader, place + CHUNK_BYTES, &mut packed)?;
        if !head.is_intact(&packed) {
            return Err(StreamError { at: place, problem: StreamProblem::Checksum });
        }
        let tracks = if head.kind == JUMP { self.tracks() } else { MAX_TRACKS };
        let most = match head.kind {
            POINTS => POINTS_BYTES + KEY_BYTES,
            JUMP => tracks * TRACK_BYTES,
            INDEX => MAX_JUMPS * KEY_BYTES,
            CYCLES => (MAX_CYCLE_KEYS + MAX_TRACKS) * KEY_BYTES,
            NAMES => tracks * (MAX_NAME + 1),
            _ => return fault(place, "a chunk has an unknown kind"),
        };
        let length = head.length as usize;
        // DEFLATE makes nothing smaller than a thousandth.
        if length > most || length / 1100 > packed.len() {
            return fault(place, "a chunk is too long");
        }
        into.clear();
        into.resize(length, 0);
        if decompress_slice_iter_to_slice(into, core::iter::once(&packed[..]), false, true) != Ok(length) {
            return fault(place, "a chunk cannot be decompressed");
        }
        Ok((head.kind, place + CHUNK_BYTES + packed.len() as u64))
    }
}

/// The keys of a track as a curve.
pub(super) fn curve_of(keys: &[StreamKey], seconds: bool) -> Option<Curve> {
    let key = |k: &StreamKey| Key { at: key_time(k.time, seconds), value: k.value, shape: k.shape() };
    Curve::new(keys.iter().map(key).collect()).ok()
}

fn cycles_of(mut bytes: ByteReader<'_>, tracks: usize) -> Result<Vec<(u32, Curve)>, StreamError> {
    let mut cycles: Vec<(u32, Curve)> = Vec::new();
    let mut left = MAX_CYCLE_KEYS;
    while !bytes.is_end() {
        let (track, (before, after), count) = (bytes.u32()?, bytes.rules()?, bytes.u32()? as usize);
        let ordered = cycles.last().is_none_or(|(before, _)| *before < track);
        if !ordered || track as usize >= tracks || !is_cyclic(before, after) {
            return bytes.fault("the tracks that repeat are not in order");
        }
        let Some(rest) = left.checked_sub(count) else {
            return bytes.fault("the tracks that repeat have too many keys");
        };
        left = rest;
        let mut keys = Vec::new();
        for _ in 0..count {
            match bytes.key()? {
                Some(key) => keys.push(key),
                None => return bytes.fault("a track that repeats has an end"),
            }
        }
        let Some(curve) = curve_of(&keys, bytes.seconds) else {
            return bytes.fault("the keys of a track that repeats do not form a curve");
        };
        cycles.push((track, curve.with_extrapolation(before, after)));
    }
    Ok(cycles)
}

fn names_of(data: &[u8], count: usize) -> Result<Arc<[String]>, &'static str> {
    let text = core::str::from_utf8(data).map_err(|_| "the names are not UTF-8")?;
    let names: Vec<String> = if count == 0 && text.is_empty() {
        Vec::new()
    } else {
        text.split('\n').map(str::to_owned).collect()
    };
    if names.len() != count || names.iter().any(|n| check_name(n).is_err()) {
        return Err("the names are not those of its tracks");
    }
    Ok(names.into())
}

fn jumps_of(mut bytes: ByteReader<'_>) -> Result<Vec<Jump>, StreamError> {
    let mut jumps: Vec<Jump> = Vec::new();
    while !bytes.is_end() {
        let time = bytes.time()?;
        let jump = Jump { time: (!jumps.is_empty()).then_some(time), place: bytes.u64()? };
        if jumps.last().is_some_and(|last| last.time >= jump.time) {
            return bytes.fault("jump frames are not in order");
        }
        jumps.push(jump);
    }
    if jumps.is_empty() { bytes.fault("the first jump frame is missing") } else { Ok(jumps) }
}

fn read(reader: &dyn ReadAt, place: u64, into: &mut [u8]) -> Result<(), StreamError> {
    if place.checked_add(into.len() as u64).is_none_or(|end| end > reader.len()) {
        return Err(StreamError { at: reader.len(), problem: StreamProblem::Short });
    }
    reader.read_at(place, into).map_err(|e| StreamError { at: place, problem: StreamProblem::Read(e) })
}
