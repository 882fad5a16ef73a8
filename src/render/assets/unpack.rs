//! Reads the stream in a file.

use super::{ARRANGED, HEAD_BYTES, MAGIC, MAX_PIECE, ROW_BYTES, TAIL_BYTES, VERSION};
use flate2::read::DeflateDecoder;
use grainfield_filters::curve::stream::from_columns;
use grainfield_filters::lend::ReadAt;
use grainfield_io::disk::reach;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An error in a file, and its position.
#[derive(Debug, thiserror::Error)]
#[error("{problem}{}", if matches!(problem, StoreProblem::Read(_)) { String::new() } else { format!(" (at byte {at} of the file)") })]
pub struct StoreError {
    /// The position in bytes.
    pub at: u64,
    /// The error.
    pub problem: StoreProblem,
}

/// See [`StoreError`].
#[derive(Debug, thiserror::Error)]
pub enum StoreProblem {
    /// It cannot be read.
    #[error("the track file cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file does not begin with the signature of a track file.
    #[error("not a track file: 'grainfield curve fit' writes one")]
    Magic,
    /// A version that this program does not support.
    #[error("a track file of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// It ends too early.
    #[error("the track file is cut off")]
    Short,
    /// A checksum is wrong.
    #[error("the track file is damaged: a checksum is wrong")]
    Checksum,
    /// Checksums are right, but the content is invalid.
    #[error("the track file is wrong: {0}")]
    Content(&'static str),
}

impl From<StoreError> for io::Error {
    fn from(e: StoreError) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, e)
    }
}

fn fault<T>(at: u64, problem: StoreProblem) -> Result<T, StoreError> {
    Err(StoreError { at, problem })
}

/// A file with random access.
#[derive(Debug)]
pub struct RandomAccessFile {
    file: Mutex<File>,
    len: u64,
}

impl RandomAccessFile {
    /// Opens a file. A pipe or folder, which has no random access, is an error.
    pub fn open(path: &Path) -> io::Result<RandomAccessFile> {
        let meta = std::fs::metadata(path)?;
        if !meta.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok(RandomAccessFile { file: Mutex::new(reach::open(path)?), len: meta.len() })
    }
}

impl ReadAt for RandomAccessFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buf)
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The position of the piece in the stream.
    from: u64,
    place: u64,
    packed: u32,
    piece: u32,
    sum: u32,
}

/// The stream in a file. Keeps the table of blocks and the last piece that was read in memory.
#[derive(Debug)]
pub struct PackedReader<R> {
    reader: R,
    rows: Vec<Row>,
    names: Row,
    length: u64,
    /// The row of the table, and its piece.
    last: Mutex<(usize, Vec<u8>)>,
}

impl<R: ReadAt> PackedReader<R> {
    /// Opens a file. Returns an error if it is cut off, has another version, or its table is damaged. Damage in a
    /// block is found when it is read, or by [`verify`](PackedReader::verify).
    pub fn open(reader: R) -> Result<PackedReader<R>, StoreError> {
        let length = reader.len();
        let mut head = [0; HEAD_BYTES as usize];
        let present = length.min(HEAD_BYTES) as usize;
        read(&reader, 0, &mut head[..present])?;
        if head[..present.min(8)] != MAGIC[..present.min(8)] || present == 0 {
            return fault(0, StoreProblem::Magic);
        }
        let mut head = &head[8..];
        let version = u32::from_le_bytes(take(&mut head).unwrap_or_default());
        if present == HEAD_BYTES as usize && version != VERSION {
            return fault(8, StoreProblem::Version(version));
        }
        let Some(tail_place) = length.checked_sub(TAIL_BYTES).filter(|p| *p >= HEAD_BYTES) else {
            return fault(length, StoreProblem::Short);
        };
        let mut tail = [0; TAIL_BYTES as usize];
        read(&reader, tail_place, &mut tail)?;
        let fields = (|| {
            let mut rest = &tail[..];
            let table = u64::from_le_bytes(take(&mut rest)?);
            let rows = u32::from_le_bytes(take(&mut rest)?);
            let stream = u64::from_le_bytes(take(&mut rest)?);
            let sum = u32::from_le_bytes(take(&mut rest)?);
            Some((table, rows, stream, sum, u32::from_le_bytes(take(&mut rest)?)))
        })();
        // The tail of a complete file has its own checksum, so these bytes are not a tail.
        let whole = fields.filter(|f| f.4 == crc32fast::hash(&tail[..TAIL_BYTES as usize - 4]));
        let Some((place, count, stream, sum, _)) = whole else { return fault(length, StoreProblem::Short) };
        if place.checked_add(u64::from(count) * ROW_BYTES) != Some(tail_place) || count < 2 {
            return fault(tail_place, StoreProblem::Content("its table is not where it should be"));
        }
        let mut table = vec![0; (u64::from(count) * ROW_BYTES) as usize];
        read(&reader, place, &mut table)?;
        if sum != crc32fast::hash(&table) {
            return fault(place, StoreProblem::Checksum);
        }
        let (mut rows, mut from, mut next) = (Vec::with_capacity(count as usize), 0, HEAD_BYTES);
        for (i, row) in table.as_chunks::<{ ROW_BYTES as usize }>().0.iter().enumerate() {
            let row = row_of(row, from);
            let at = place + i as u64 * ROW_BYTES;
            let (Some(row), true) = (row, next <= place) else {
                return fault(at, StoreProblem::Content("a row of its table ends early"));
            };
            if row.place != next || u64::from(row.packed) > place - next || row.piece > MAX_PIECE {
                return fault(at, StoreProblem::Content("a block is not where it should be"));
            }
            next += u64::from(row.packed);
            from += u64::from(row.piece);
            rows.push(row);
        }
        let Some(names) = rows.pop().filter(|names| next == place && names.from == stream) else {
            return fault(place, StoreProblem::Content("its blocks do not add up to the stream"));
        };
        Ok(PackedReader { reader, rows, names, length: stream, last: Mutex::new((usize::MAX, Vec::new())) })
    }

    /// The lengths and checksums of all blocks and of the names, which tell files with other tracks apart.
    pub fn sums(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.rows.iter().chain([&self.names]).map(|row| [row.piece, row.sum])
    }

    fn unpacked(&self, row: &Row, names: bool) -> Result<Vec<u8>, StoreError> {
        let mut packed = vec![0; row.packed as usize];
        read(&self.reader, row.place, &mut packed)?;
        if crc32fast::hash(&packed) != row.sum {
            return fault(row.place, StoreProblem::Checksum);
        }
        let mut content = Vec::new();
        let most = u64::from(row.piece) + u64::from(ARRANGED);
        let done = DeflateDecoder::new(&packed[..]).take(most + 1).read_to_end(&mut content);
        let piece = done.ok().filter(|n| *n as u64 <= most);
        let piece = piece.and_then(|_| if names { Some(content) } else { from_columns(&content) });
        match piece.filter(|p| p.len() == row.piece as usize) {
            Some(piece) => Ok(piece),
            None => fault(row.place, StoreProblem::Content("a block cannot be unpacked")),
        }
    }

    /// The tracks' names, if they are valid and there are `count` of them.
    pub fn names(&self, count: usize) -> Result<Vec<String>, StoreError> {
        let wrong = |what| StoreError { at: self.names.place, problem: StoreProblem::Content(what) };
        let bytes = self.unpacked(&self.names, true)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("the names are not UTF-8"))?;
        let names: Vec<String> = if count == 0 && text.is_empty() {
            Vec::new()
        } else {
            text.split('\n').map(str::to_owned).collect()
        };
        if names.len() != count || names.iter().any(|n| super::check_name(n).is_err()) {
            return Err(wrong("the names are not those of its tracks"));
        }
        Ok(names)
    }

    /// Verifies every block.
    pub fn verify(&self) -> Result<(), StoreError> {
        self.rows.iter().try_for_each(|row| self.unpacked(row, false).map(|_| ()))
    }

    /// The size of the file in bytes.
    pub fn file_length(&self) -> u64 {
        self.reader.len()
    }
}

fn row_of(mut row: &[u8], from: u64) -> Option<Row> {
    let place = u64::from_le_bytes(take(&mut row)?);
    let [packed, piece, sum] = [take(&mut row)?, take(&mut row)?, take(&mut row)?].map(u32::from_le_bytes);
    Some(Row { from, place, packed, piece, sum })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

fn read(reader: &impl ReadAt, place: u64, into: &mut [u8]) -> Result<(), StoreError> {
    if place.checked_add(into.len() as u64).is_none_or(|end| end > reader.len()) {
        return fault(reader.len(), StoreProblem::Short);
    }
    reader.read_at(place, into).map_err(|e| StoreError { at: place, problem: StoreProblem::Read(e) })
}

impl<R: ReadAt> ReadAt for PackedReader<R> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.length);
        let end = end.ok_or(ErrorKind::UnexpectedEof)?;
        let mut at = offset;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        while at < end {
            let i = self.rows.partition_point(|row| row.from <= at) - 1;
            let row = self.rows[i];
            if last.0 != i {
                // Drop the old piece first, so that only one is in memory.
                *last = (usize::MAX, Vec::new());
                *last = (i, self.unpacked(&row, false)?);
            }
            let skip = (at - row.from) as usize;
            let n = (last.1.len() - skip).min((end - at) as usize);
            let to = (at - offset) as usize;
            buf[to..to + n].copy_from_slice(&last.1[skip..skip + n]);
            at += n as u64;
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.length
    }
}
