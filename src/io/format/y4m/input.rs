//! Buffered reading of a file or a pipe, with an absolute position.

use grainfield_filters::frame::{Depth, Frame};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

/// The size of a read: large enough to hide the cost of a system call, small enough for the L2 cache, from which
/// the rows are copied. It is not a multiple of the page size, since the system copies slowly between addresses that
/// differ by little modulo 4096.
const CHUNK: usize = (256 << 10) + 64;

enum Medium {
    File(File),
    Pipe(Box<dyn Read + Send>),
}

impl Read for Medium {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Medium::File(file) => file.read(out),
            Medium::Pipe(pipe) => pipe.read(out),
        }
    }
}

impl Seek for Medium {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Medium::File(file) => file.seek(to),
            Medium::Pipe(_) => Err(ErrorKind::NotSeekable.into()),
        }
    }
}

/// Bytes with a position. A file ends where it ended when it was opened.
pub(in crate::format) struct Input {
    reader: BufReader<Medium>,
    /// The end of a file.
    len: Option<u64>,
    pos: u64,
}

/// The result of reading a line.
#[derive(PartialEq, Eq, Debug)]
pub(in crate::format) enum Line {
    /// A complete line, without its newline.
    Complete,
    /// The input ended after so many bytes.
    Cut(usize),
    /// The line exceeds the limit.
    TooLong,
}

impl Input {
    /// A file of `len` bytes, at its beginning.
    pub(in crate::format) fn file(file: File, len: u64) -> Input {
        Input { reader: BufReader::with_capacity(CHUNK, Medium::File(file)), len: Some(len), pos: 0 }
    }

    /// A reader that can be read once.
    pub(in crate::format) fn pipe(reader: Box<dyn Read + Send>) -> Input {
        Input { reader: BufReader::with_capacity(CHUNK, Medium::Pipe(reader)), len: None, pos: 0 }
    }

    /// The current position.
    pub(in crate::format) fn pos(&self) -> u64 {
        self.pos
    }

    /// The length, if it is known, which means that seeking is possible.
    pub(in crate::format) fn len(&self) -> Option<u64> {
        self.len
    }

    /// Number of bytes up to the end of a file; of a pipe without limit.
    fn left(&self) -> u64 {
        self.len.map_or(u64::MAX, |len| len.saturating_sub(self.pos))
    }

    /// Fills `out` as far as possible; returns the number of bytes.
    pub(in crate::format) fn read_full(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let want = out.len().min(usize::try_from(self.left()).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < want {
            match self.reader.read(&mut out[done..want]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.pos += done as u64;
        Ok(done)
    }

    /// Fills the planes of a frame, in order and without padding, as far as possible; returns the number of bytes. Words
    /// are little endian, and those above the largest code become it.
    pub(in crate::format) fn planes(&mut self, frame: &mut Frame) -> io::Result<u64> {
        let format = *frame.format();
        let top = match format.depth {
            Depth::Bits(bits) if bits > 8 => Some((1u32 << bits) - 1),
            _ => None,
        };
        let mut done = 0;
        for p in 0..format.planes() {
            for y in 0..format.plane_size(p).1 {
                let row = frame.row_bytes_mut(p, y);
                let got = self.read_full(row)?;
                done += got as u64;
                if got < row.len() {
                    return Ok(done);
                }
                if let Some(top) = top {
                    clamp_row(frame.row_mut::<u16>(p, y), top as u16);
                }
            }
        }
        Ok(done)
    }

    /// Reads a line into `line` (which is cleared first) and skips its newline.
    pub(in crate::format) fn line(&mut self, line: &mut Vec<u8>, limit: usize) -> io::Result<Line> {
        line.clear();
        let most = self.left().min(limit as u64 + 1);
        self.pos += self.reader.by_ref().take(most).read_until(b'\n', line)? as u64;
        Ok(match line.pop_if(|last| *last == b'\n') {
            Some(_) => Line::Complete,
            None if line.len() > limit => Line::TooLong,
            None => Line::Cut(line.len()),
        })
    }

    /// Skips `n` bytes; returns how many there were.
    pub(in crate::format) fn skip(&mut self, n: u64) -> io::Result<u64> {
        if self.len.is_none() {
            let skipped = io::copy(&mut self.reader.by_ref().take(n), &mut io::sink())?;
            self.pos += skipped;
            return Ok(skipped);
        }
        let n = n.min(self.left());
        self.seek(self.pos + n)?;
        Ok(n)
    }

    /// Seeks in a file.
    pub(in crate::format) fn seek(&mut self, pos: u64) -> io::Result<()> {
        // both are positions in a file, which fit the type
        self.reader.seek_relative(pos.wrapping_sub(self.pos) as i64)?;
        self.pos = pos;
        Ok(())
    }
}

/// Converts little-endian words to native ones, clamped to `top`.
fn clamp_row(row: &mut [u16], top: u16) {
    if cfg!(target_endian = "big") {
        row.iter_mut().for_each(|x| *x = u16::from_le(*x));
    }
    if top != u16::MAX && row.iter().fold(0, |all, x| all | x) > top {
        row.iter_mut().for_each(|x| *x = (*x).min(top));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most three bytes at a time.
    struct Drops(Vec<u8>, usize);
    impl Read for Drops {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(3).min(self.0.len() - self.1);
            buf[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
            self.1 += n;
            Ok(n)
        }
    }

    #[test]
    fn lines_bytes_and_skips_keep_the_position() {
        let text = b"one\ntwo three\nxyz0123456789end".to_vec();
        let mut input = Input::pipe(Box::new(Drops(text, 0)));
        let mut line = Vec::new();
        assert_eq!(input.line(&mut line, 3).unwrap(), Line::Complete);
        assert_eq!((line.as_slice(), input.pos()), (&b"one"[..], 4));
        assert_eq!(input.line(&mut line, 8).unwrap(), Line::TooLong);
        assert_eq!(input.line(&mut line, 8).unwrap(), Line::Complete);
        let mut three = [0; 3];
        assert_eq!(input.read_full(&mut three).unwrap(), 3);
        assert_eq!(&three, b"xyz");
        assert_eq!(input.skip(10).unwrap(), 10);
        assert_eq!(input.line(&mut line, 80).unwrap(), Line::Cut(3));
        assert_eq!(input.skip(10).unwrap(), 0);
        assert_eq!(input.pos(), 30);
    }
}
