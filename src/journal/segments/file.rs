//! A segment's file: the packets of one encoder, as they came out of it.
//!
//! ```text
//! "GFSEGM1\n"
//! length, head             JSON: key, origin, cell, made, tick
//! length, extra            what the encoder says of the stream as a whole
//! side data                of the stream
//! 1, packet                and so on
//! 0, packets, pictures, checksum
//!
//! packet    = pts, dts, duration: i64, flags: u32, length, bytes, side data
//! side data = count: u32, then each: kind: u32, length, bytes
//! ```
//!
//! Numbers are little endian, lengths `u32`, the three at the end `u64`. The checksum is the XXH64 of all before the
//! `0`. Times are ticks. Nothing is allocated before it is known to be in the file.

use crate::journal::resume::Xxh64;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"GFSEGM1\n";
/// Bytes at the end: `0`, packets, pictures, checksum.
const TAIL: u64 = 25;
/// The most bytes of a head.
const MAX_HEAD: u32 = 8 << 20;
/// The most bytes of a packet, of what belongs to the stream, and of a piece of side data.
const MAX_PIECE: u32 = 1 << 30;
/// The most pieces of side data.
const MAX_SIDE: u32 = 64;

/// What a segment is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The key of the settings, 32 hexadecimal digits.
    pub key: String,
    /// What the source is known by, 16 hexadecimal digits.
    pub origin: String,
    /// The number of the segment.
    pub cell: i64,
    /// The settings.
    pub made: String,
    /// Seconds a tick, numerator and denominator.
    pub tick: (i32, i32),
}

/// Kind, in the numbers of whoever writes it, and bytes.
pub type Side = (u32, Vec<u8>);

/// What belongs to the stream as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    /// The codec's own header.
    pub extra: Vec<u8>,
    /// Side data.
    pub side: Vec<Side>,
}

/// A packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// When it is shown, in ticks.
    pub pts: i64,
    /// When it is decoded.
    pub dts: i64,
    /// How long it is shown.
    pub duration: i64,
    /// The encoder's flags.
    pub flags: u32,
    /// The bytes.
    pub data: Vec<u8>,
    /// Side data.
    pub side: Vec<Side>,
}

/// What is wrong with a segment.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is none, or damaged.
    #[error("it is damaged: {0}")]
    Bad(&'static str),
}

/// Writes a segment.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    sum: Xxh64,
    packets: u64,
    /// Pictures that went into it.
    pub pictures: u64,
}

fn length(bytes: &[u8]) -> io::Result<[u8; 4]> {
    let len = u32::try_from(bytes.len()).ok().filter(|n| *n <= MAX_PIECE);
    len.map(u32::to_le_bytes).ok_or_else(|| io::Error::other("a packet of more than 1 GiB"))
}

impl<W: Write> Writer<W> {
    /// Writes the head.
    pub fn new(out: W, head: &Head, stream: &Stream) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, sum: Xxh64::default(), packets: 0, pictures: 0 };
        writer.put(MAGIC)?;
        writer.piece(&serde_json::to_vec(head)?)?;
        writer.piece(&stream.extra)?;
        writer.side(&stream.side)?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(&length(bytes)?)?;
        self.put(bytes)
    }

    fn side(&mut self, side: &[Side]) -> io::Result<()> {
        let side = &side[..side.len().min(MAX_SIDE as usize)];
        self.put(&(side.len() as u32).to_le_bytes())?;
        for (kind, bytes) in side {
            self.put(&kind.to_le_bytes())?;
            self.piece(bytes)?;
        }
        Ok(())
    }

    /// Writes a packet.
    pub fn packet(&mut self, packet: &Packet) -> io::Result<()> {
        self.put(&[1])?;
        for t in [packet.pts, packet.dts, packet.duration] {
            self.put(&t.to_le_bytes())?;
        }
        self.put(&packet.flags.to_le_bytes())?;
        self.piece(&packet.data)?;
        self.side(&packet.side)?;
        self.packets += 1;
        Ok(())
    }

    /// Writes the end, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        let sum = self.sum.finish();
        self.out.write_all(&[0])?;
        for n in [self.packets, self.pictures, sum] {
            self.out.write_all(&n.to_le_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads a segment.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    /// Bytes that are left.
    left: u64,
    sum: Xxh64,
    /// What it is of.
    pub head: Head,
    /// What belongs to the stream.
    pub stream: Stream,
    packets: u64,
    /// Pictures that went into it; known at the end.
    pub pictures: u64,
    ended: bool,
}

struct Raw<'a, R> {
    from: &'a mut R,
    left: &'a mut u64,
    sum: &'a mut Xxh64,
}

impl<R: Read> Raw<'_, R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], SegmentError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SegmentError> {
        *self.left =
            self.left.checked_sub(bytes.len() as u64).ok_or(SegmentError::Bad("it ends too early"))?;
        self.from.read_exact(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => SegmentError::Bad("it ends too early"),
            _ => e.into(),
        })?;
        self.sum.update(bytes);
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, SegmentError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, SegmentError> {
        self.bytes().map(i64::from_le_bytes)
    }

    fn piece(&mut self, most: u32) -> Result<Vec<u8>, SegmentError> {
        let len = self.u32()?;
        if len > most || u64::from(len) > *self.left {
            return Err(SegmentError::Bad("impossible length"));
        }
        let mut bytes = vec![0; len as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn side(&mut self) -> Result<Vec<Side>, SegmentError> {
        let count = self.u32()?;
        if count > MAX_SIDE {
            return Err(SegmentError::Bad("too much side data"));
        }
        (0..count).map(|_| Ok((self.u32()?, self.piece(MAX_PIECE)?))).collect()
    }
}

impl Reader<BufReader<File>> {
    /// Opens a segment.
    pub fn open(path: &Path) -> Result<Self, SegmentError> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Reader::new(BufReader::with_capacity(1 << 18, file), len)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the head of a segment of so many bytes.
    pub fn new(mut from: R, len: u64) -> Result<Reader<R>, SegmentError> {
        let mut left = len.checked_sub(TAIL).ok_or(SegmentError::Bad("it is too short"))?;
        let mut sum = Xxh64::default();
        let mut raw = Raw { from: &mut from, left: &mut left, sum: &mut sum };
        if raw.bytes::<8>()? != *MAGIC {
            return Err(SegmentError::Bad("it does not start with a segment's header"));
        }
        let head = raw.piece(MAX_HEAD)?;
        let head: Head =
            serde_json::from_slice(&head).map_err(|_| SegmentError::Bad("its header cannot be read"))?;
        if head.tick.0 <= 0 || head.tick.1 <= 0 {
            return Err(SegmentError::Bad("its time base is zero"));
        }
        let stream = Stream { extra: raw.piece(MAX_PIECE)?, side: raw.side()? };
        Ok(Reader { from, left, sum, head, stream, packets: 0, pictures: 0, ended: false })
    }

    /// The next packet; `None` at the end, which has been checked then.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, SegmentError> {
        if self.ended {
            return Ok(None);
        }
        if self.left == 0 {
            return self.end().map(|()| None);
        }
        let mut raw = Raw { from: &mut self.from, left: &mut self.left, sum: &mut self.sum };
        if raw.bytes::<1>()? != [1] {
            return Err(SegmentError::Bad("unexpected data between its packets"));
        }
        let packet = Packet {
            pts: raw.i64()?,
            dts: raw.i64()?,
            duration: raw.i64()?,
            flags: raw.u32()?,
            data: raw.piece(MAX_PIECE)?,
            side: raw.side()?,
        };
        self.packets += 1;
        Ok(Some(packet))
    }

    fn end(&mut self) -> Result<(), SegmentError> {
        let mut tail = [0; TAIL as usize];
        self.from.read_exact(&mut tail)?;
        let (packets, pictures, sum) = tail_of(&tail).ok_or(SegmentError::Bad("its end is missing"))?;
        if packets != self.packets || sum != self.sum.finish() {
            return Err(SegmentError::Bad("its checksum is wrong"));
        }
        self.pictures = pictures;
        self.ended = true;
        Ok(())
    }
}

fn tail_of(tail: &[u8]) -> Option<(u64, u64, u64)> {
    let number = |at: usize| tail.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    if tail.first() != Some(&0) { None } else { Some((number(1)?, number(9)?, number(17)?)) }
}

/// What a segment says at its two ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentSummary {
    /// What it is of.
    pub head: Head,
    /// How many packets it has.
    pub packets: u64,
    /// How many pictures went into it.
    pub pictures: u64,
}

/// Reads head and end of a segment; `verify`: and all between, against the checksum.
pub fn ends(path: &Path, verify: bool) -> Result<SegmentSummary, SegmentError> {
    if !path.symlink_metadata()?.is_file() {
        return Err(SegmentError::Bad("it is not a file"));
    }
    let mut reader = Reader::open(path)?;
    if verify {
        while reader.next_packet()?.is_some() {}
        return Ok(SegmentSummary { packets: reader.packets, pictures: reader.pictures, head: reader.head });
    }
    let mut tail = [0; TAIL as usize];
    reader.from.seek(SeekFrom::End(-(TAIL as i64)))?;
    reader.from.read_exact(&mut tail)?;
    let (packets, pictures, _) = tail_of(&tail).ok_or(SegmentError::Bad("its end is missing"))?;
    Ok(SegmentSummary { head: reader.head, packets, pictures })
}

/// When each packet of a segment is shown and how long, and how many pictures went into it. Of the packets themselves
/// only the lengths are read.
pub fn times(path: &Path) -> Result<(Vec<(i64, i64)>, u64), SegmentError> {
    let mut reader = Reader::open(path)?;
    let mut times = Vec::new();
    while reader.left > 0 {
        times.push(reader.pass()?);
    }
    let mut tail = [0; TAIL as usize];
    reader.from.read_exact(&mut tail)?;
    let (packets, pictures, _) = tail_of(&tail).ok_or(SegmentError::Bad("its end is missing"))?;
    if packets != times.len() as u64 {
        return Err(SegmentError::Bad("packets are missing"));
    }
    Ok((times, pictures))
}

impl<R: Read + Seek> Reader<BufReader<R>> {
    /// Goes behind the next packet.
    fn pass(&mut self) -> Result<(i64, i64), SegmentError> {
        let mut raw = Raw { from: &mut self.from, left: &mut self.left, sum: &mut self.sum };
        if raw.bytes::<1>()? != [1] {
            return Err(SegmentError::Bad("unexpected data between its packets"));
        }
        let (pts, _, duration, _) = (raw.i64()?, raw.i64()?, raw.i64()?, raw.u32()?);
        raw.leap()?;
        for _ in 0..raw.u32()? {
            raw.u32()?;
            raw.leap()?;
        }
        Ok((pts, duration))
    }
}

impl<R: Read + Seek> Raw<'_, BufReader<R>> {
    /// Goes behind a piece.
    fn leap(&mut self) -> Result<(), SegmentError> {
        let len = self.u32()?;
        *self.left = self.left.checked_sub(len.into()).ok_or(SegmentError::Bad("impossible length"))?;
        Ok(self.from.seek_relative(len.into())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, Vec<Packet>) {
        let head =
            Head { key: "k".into(), origin: "o".into(), cell: -3, made: "{}".into(), tick: (1001, 24000) };
        let stream = Stream { extra: vec![1, 2, 3], side: vec![(7, vec![9; 40])] };
        let packet = |i: i64| Packet {
            pts: i,
            dts: i - 2,
            duration: 1,
            flags: 1,
            data: vec![i as u8; 100],
            side: vec![(i as u32, vec![])],
        };
        let packets: Vec<Packet> = (0..3).map(packet).collect();
        let mut writer = Writer::new(Vec::new(), &head, &stream).unwrap();
        packets.iter().for_each(|p| writer.packet(p).unwrap());
        writer.pictures = 3;
        (writer.finish().unwrap(), packets)
    }

    fn read(bytes: &[u8]) -> Result<Vec<Packet>, SegmentError> {
        let mut reader = Reader::new(bytes, bytes.len() as u64)?;
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet()? {
            packets.push(packet);
        }
        Ok(packets)
    }

    #[test]
    fn what_is_written_is_read() {
        let (bytes, packets) = sample();
        assert_eq!(read(&bytes).unwrap(), packets);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let quick = ends(file.path(), false).unwrap();
        assert_eq!((quick.packets, quick.pictures, quick.head.cell), (3, 3, -3));
        assert_eq!(ends(file.path(), true).unwrap(), quick);
        assert_eq!(times(file.path()).unwrap(), (vec![(0, 1), (1, 1), (2, 1)], 3));
    }

    #[test]
    fn damage_is_seen() {
        let (bytes, _) = sample();
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            // the number of pictures is not under the checksum; it is compared with what was asked for
            let pictures = (bytes.len() - 16..bytes.len() - 8).contains(&at);
            assert_eq!(read(&bytes).is_ok(), pictures, "{at}");
        }
    }
}
