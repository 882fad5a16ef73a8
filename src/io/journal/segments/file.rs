//! The file of a segment: the packets of one encoder, unchanged.
//!
//! ```text
//! "GFSEGM3\n"
//! tick                     seconds, numerator and denominator: i32
//! length, extra            the encoder's header of the stream
//! side data                of the stream
//! packet                   repeated
//! pts, duration            of each packet: i64
//! packets, pictures        their numbers
//!
//! packet    = flags: u32, length, bytes, side data
//! side data = count: u32, then each: kind: u32, length, bytes
//! ```
//!
//! Numbers are little endian, lengths `u32`, the two at the end `u64`. Times are ticks. Lengths are checked against
//! the file before memory is allocated. The settings of a segment, and the checksum of its bytes, are in the folder's
//! [manifest](crate::journal::resume::manifest).

use crate::journal::resume::XxHash64;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"GFSEGM3\n";
/// Bytes of two numbers: the time of a packet, and the end of the file.
const PAIR: u64 = 16;
/// The largest number of packets.
const MAX_PACKETS: u64 = 1 << 26;
/// The largest size in bytes of a packet, of the stream's header, and of a piece of side data.
const MAX_PIECE: u32 = 1 << 30;
/// The largest number of pieces of side data.
const MAX_SIDE: u32 = 64;

/// Kind, in the numbering of the writer, and bytes.
pub type Side = (u32, Vec<u8>);

/// Properties of the whole stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Seconds per tick, numerator and denominator.
    pub tick: (i32, i32),
    /// The codec's header.
    pub extra: Vec<u8>,
    /// Side data.
    pub side: Vec<Side>,
}

/// A packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// Presentation time in ticks.
    pub pts: i64,
    /// Duration in ticks.
    pub duration: i64,
    /// The encoder's flags.
    pub flags: u32,
    /// The bytes.
    pub data: Vec<u8>,
    /// Side data.
    pub side: Vec<Side>,
}

/// An error in a segment.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// An error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a segment, or is damaged.
    #[error("it is damaged: {0}")]
    Bad(&'static str),
}

/// Writes a segment.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    sum: XxHash64,
    times: Vec<(i64, i64)>,
    /// Number of pictures written.
    pub pictures: u64,
}

fn length(bytes: &[u8]) -> io::Result<[u8; 4]> {
    let len = u32::try_from(bytes.len()).ok().filter(|n| *n <= MAX_PIECE);
    len.map(u32::to_le_bytes).ok_or_else(|| io::Error::other("a packet of more than 1 GiB"))
}

impl<W: Write> Writer<W> {
    /// Writes the properties of the stream.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn new(out: W, stream: &Stream) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, sum: XxHash64::default(), times: Vec::new(), pictures: 0 };
        writer.put(MAGIC)?;
        for n in [stream.tick.0, stream.tick.1] {
            writer.put(&n.to_le_bytes())?;
        }
        writer.piece(&stream.extra)?;
        writer.side(&stream.side)?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.write(bytes);
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
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn packet(&mut self, packet: &Packet) -> io::Result<()> {
        if self.times.len() as u64 == MAX_PACKETS {
            return Err(io::Error::other("more than 2^26 packets; make shorter segments"));
        }
        self.put(&packet.flags.to_le_bytes())?;
        self.piece(&packet.data)?;
        self.times.push((packet.pts, packet.duration));
        self.side(&packet.side)
    }

    /// Writes the end; returns the underlying writer, and the checksum of all bytes.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        let numbers = (self.times.len() as i64, self.pictures as i64);
        for (a, b) in std::mem::take(&mut self.times).into_iter().chain([numbers]) {
            self.put(&a.to_le_bytes())?;
            self.put(&b.to_le_bytes())?;
        }
        self.out.flush()?;
        Ok((self.out, self.sum.finish()))
    }
}

/// Reads a segment.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    /// Number of bytes of packets that are left.
    left: u64,
    sum: XxHash64,
    /// Properties of the stream.
    pub stream: Stream,
    end: End,
    packets: usize,
}

/// The end of a segment.
#[derive(Debug)]
pub struct End {
    /// The presentation time and duration of each packet.
    pub times: Vec<(i64, i64)>,
    /// The number of pictures.
    pub pictures: u64,
    bytes: Vec<u8>,
}

impl End {
    /// Reads the end of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a complete segment.
    pub fn open(path: &Path) -> Result<End, SegmentError> {
        End::read(&mut File::open(path)?).map(|(end, _)| end)
    }

    /// The end, and its position.
    fn read(from: &mut (impl Read + Seek)) -> Result<(End, u64), SegmentError> {
        let missing = || SegmentError::Bad("its end is missing");
        let len = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(len.checked_sub(PAIR).ok_or_else(missing)?))?;
        let mut packets = [0; 8];
        from.read_exact(&mut packets)?;
        let packets = Some(u64::from_le_bytes(packets)).filter(|n| *n <= MAX_PACKETS).ok_or_else(missing)?;
        let start = len.checked_sub((packets + 1) * PAIR).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        from.seek(SeekFrom::Start(start))?;
        from.take(len - start).read_to_end(&mut bytes)?;
        let numbers: Vec<i64> = bytes.as_chunks().0.iter().map(|n| i64::from_le_bytes(*n)).collect();
        let mut times: Vec<_> =
            numbers.as_chunks().0.iter().map(|&[pts, duration]| (pts, duration)).collect();
        let (_, pictures) = times.pop().ok_or_else(missing)?;
        Ok((End { times, pictures: pictures as u64, bytes }, start))
    }
}

struct Raw<'a, R> {
    from: &'a mut R,
    left: &'a mut u64,
    sum: &'a mut XxHash64,
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
        self.sum.write(bytes);
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, SegmentError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, SegmentError> {
        self.bytes().map(i32::from_le_bytes)
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
    ///
    /// # Errors
    /// The file cannot be read, or is not a segment of this version.
    pub fn open(path: &Path) -> Result<Self, SegmentError> {
        Reader::new(BufReader::with_capacity(1 << 18, File::open(path)?))
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads the end and the head of a segment.
    ///
    /// # Errors
    /// The bytes cannot be read, or are not a segment of this version.
    pub fn new(mut from: R) -> Result<Reader<R>, SegmentError> {
        let (end, mut left) = End::read(&mut from)?;
        from.rewind()?;
        let mut sum = XxHash64::default();
        let mut raw = Raw { from: &mut from, left: &mut left, sum: &mut sum };
        if raw.bytes::<8>()? != *MAGIC {
            return Err(SegmentError::Bad("it does not start with a segment's header"));
        }
        let tick = (raw.i32()?, raw.i32()?);
        if tick.0 <= 0 || tick.1 <= 0 {
            return Err(SegmentError::Bad("its time base is zero"));
        }
        let stream = Stream { tick, extra: raw.piece(MAX_PIECE)?, side: raw.side()? };
        Ok(Reader { from, left, sum, stream, end, packets: 0 })
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The segment cannot be read, or is damaged.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, SegmentError> {
        let (pts, duration) = match (self.end.times.get(self.packets), self.left) {
            (None, 0) => return Ok(None),
            (Some(&time), 1..) => time,
            _ => return Err(SegmentError::Bad("packets are missing")),
        };
        let mut raw = Raw { from: &mut self.from, left: &mut self.left, sum: &mut self.sum };
        let packet =
            Packet { pts, duration, flags: raw.u32()?, data: raw.piece(MAX_PIECE)?, side: raw.side()? };
        self.packets += 1;
        Ok(Some(packet))
    }

    /// The checksum of all bytes, after all packets have been read.
    pub fn checksum(mut self) -> u64 {
        self.sum.write(&self.end.bytes);
        self.sum.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, u64, Vec<Packet>) {
        let stream = Stream { tick: (1001, 24000), extra: vec![1, 2, 3], side: vec![(7, vec![9; 40])] };
        let packet = |i: i64| Packet {
            pts: i,
            duration: 1,
            flags: 1,
            data: vec![i as u8; 100],
            side: vec![(i as u32, vec![])],
        };
        let packets: Vec<Packet> = (0..3).map(packet).collect();
        let mut writer = Writer::new(Vec::new(), &stream).unwrap();
        packets.iter().for_each(|p| writer.packet(p).unwrap());
        writer.pictures = 3;
        let (bytes, sum) = writer.finish().unwrap();
        (bytes, sum, packets)
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Packet>, u64), SegmentError> {
        let mut reader = Reader::new(io::Cursor::new(bytes))?;
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet()? {
            packets.push(packet);
        }
        Ok((packets, reader.checksum()))
    }

    #[test]
    fn a_written_segment_is_read() {
        let (bytes, sum, packets) = sample();
        assert_eq!(read(&bytes).unwrap(), (packets, sum));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        assert_eq!(crate::journal::resume::checksum(file.path()).unwrap(), sum);
        let end = End::open(file.path()).unwrap();
        assert_eq!((end.times, end.pictures), (vec![(0, 1), (1, 1), (2, 1)], 3));
    }

    #[test]
    fn damage_is_seen() {
        let (bytes, sum, _) = sample();
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            assert!(read(&bytes).map_or(true, |(_, read)| read != sum), "{at}");
        }
    }
}
