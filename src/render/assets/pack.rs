//! Writes a stream to a file.

use super::{HEAD_BYTES, MAGIC, VERSION};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use grainfield_filters::curve::stream::to_columns;
use std::io::{self, Error, ErrorKind, Write};

/// Bytes of the head of the stream and of a chunk, and the positions of kind and length in the latter.
const STREAM_HEAD: usize = 16;
const CHUNK_HEAD: usize = 16;
const INDEX: u32 = 3;

/// Compresses the bytes of a stream, written in pieces of any size. [`finish`](PackedWriter::finish) completes the
/// file.
pub struct PackedWriter<'a> {
    to: &'a mut dyn Write,
    at: u64,
    /// Bytes that do not form a whole piece yet.
    rest: Vec<u8>,
    table: Vec<u8>,
    rows: u32,
    length: u64,
    seconds: bool,
    /// Whether the last chunk has been written, so that the tail follows.
    last: bool,
}

impl std::fmt::Debug for PackedWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").field("at", &self.at).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'a> PackedWriter<'a> {
    /// Begins a file.
    pub fn new(to: &'a mut dyn Write) -> io::Result<PackedWriter<'a>> {
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        let (rest, table) = (Vec::new(), Vec::new());
        Ok(PackedWriter { to, at: HEAD_BYTES, rest, table, rows: 0, length: 0, seconds: false, last: false })
    }

    /// The length of the next piece, if it is known.
    fn piece(&self) -> Option<usize> {
        if self.rows == 0 {
            return Some(STREAM_HEAD);
        }
        if self.last {
            return None;
        }
        let length = self.rest.get(4..8)?.first_chunk()?;
        CHUNK_HEAD.checked_add(u32::from_le_bytes(*length) as usize)
    }

    fn block(&mut self, content: &[u8], piece: usize) -> io::Result<()> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(content)?;
        let packed = encoder.finish()?;
        let small = |n: usize| u32::try_from(n).map_err(|_| Error::from(ErrorKind::FileTooLarge));
        self.table.extend(self.at.to_le_bytes());
        self.table.extend(small(packed.len())?.to_le_bytes());
        self.table.extend(small(piece)?.to_le_bytes());
        self.table.extend(crc32fast::hash(&packed).to_le_bytes());
        self.rows += 1;
        self.at += packed.len() as u64;
        self.to.write_all(&packed)
    }

    fn put(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.rows == 0 {
            self.seconds = piece.get(12) == Some(&1);
        } else if !self.last {
            self.last = piece.starts_with(&INDEX.to_le_bytes());
        }
        self.length += piece.len() as u64;
        self.block(&to_columns(piece, self.seconds), piece.len())
    }

    /// Completes the file.
    pub fn finish<'n>(mut self, names: impl Iterator<Item = &'n str>) -> io::Result<()> {
        let tail = std::mem::take(&mut self.rest);
        self.put(&tail)?;
        let names = names.collect::<Vec<_>>().join("\n");
        self.block(names.as_bytes(), names.len())?;
        let mut tail = self.at.to_le_bytes().to_vec();
        tail.extend(self.rows.to_le_bytes());
        tail.extend(self.length.to_le_bytes());
        tail.extend(crc32fast::hash(&self.table).to_le_bytes());
        tail.extend(crc32fast::hash(&tail).to_le_bytes());
        self.to.write_all(&self.table)?;
        self.to.write_all(&tail)
    }
}

impl Write for PackedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend(bytes);
        while let Some(length) = self.piece().filter(|n| *n <= self.rest.len()) {
            let after = self.rest.split_off(length);
            let piece = std::mem::replace(&mut self.rest, after);
            self.put(&piece)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
