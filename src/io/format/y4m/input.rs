//! Buffered reading of a file or a pipe, with an absolute position.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// The size of a read: large enough to hide the cost of a system call, small enough for the L2 cache, from
/// which the rows are copied.
const CHUNK: usize = 256 << 10;
/// The size of a read if only a line is needed before the next seek.
const PEEK: usize = 4 << 10;

enum Medium {
    File(File),
    Pipe(Box<dyn Read + Send>),
}

/// Bytes with a position. A file ends where it ended when it was opened.
pub(super) struct Input {
    medium: Medium,
    /// The end of a file.
    len: Option<u64>,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// Position of `buf[start]`.
    pos: u64,
}

/// The result of reading a line.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// A whole line, without its newline.
    Whole,
    /// The input ended after so many bytes.
    Cut(usize),
    /// The line exceeds the limit.
    TooLong,
}

impl Input {
    /// A file of `len` bytes, at its beginning.
    pub(super) fn file(file: File, len: u64) -> Input {
        Input::new(Medium::File(file), Some(len))
    }

    /// A reader that can be read once.
    pub(super) fn pipe(reader: Box<dyn Read + Send>) -> Input {
        Input::new(Medium::Pipe(reader), None)
    }

    fn new(medium: Medium, len: Option<u64>) -> Input {
        Input { medium, len, buf: vec![0; CHUNK], start: 0, end: 0, pos: 0 }
    }

    /// The current position.
    pub(super) fn pos(&self) -> u64 {
        self.pos
    }

    /// The length, if it is known, which means that seeking is possible.
    pub(super) fn len(&self) -> Option<u64> {
        self.len
    }

    fn read(&mut self, into: Option<&mut [u8]>, limit: usize) -> io::Result<usize> {
        let room = match into {
            Some(room) => room,
            None => &mut self.buf[..limit],
        };
        let left = self.len.map_or(u64::MAX, |len| len.saturating_sub(self.pos));
        let room_len = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let room = &mut room[..room_len];
        if room.is_empty() {
            return Ok(0);
        }
        loop {
            let got = match &mut self.medium {
                Medium::File(file) => file.read(room),
                Medium::Pipe(pipe) => pipe.read(room),
            };
            match got {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// Fills the buffer unless the input has ended.
    fn fill(&mut self, limit: usize) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.end = self.read(None, limit)?;
        }
        Ok(&self.buf[self.start..self.end])
    }

    fn advance(&mut self, n: usize) {
        self.start += n;
        self.pos += n as u64;
    }

    /// Fills `out` as far as possible; returns the number of bytes.
    pub(super) fn read_full(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let rest = &mut out[done..];
            let n = if self.start == self.end && rest.len() >= CHUNK {
                let n = self.read(Some(rest), 0)?;
                self.pos += n as u64;
                n
            } else {
                let ready = self.fill(CHUNK)?;
                let n = ready.len().min(rest.len());
                rest[..n].copy_from_slice(&ready[..n]);
                self.advance(n);
                n
            };
            if n == 0 {
                break;
            }
            done += n;
        }
        Ok(done)
    }

    /// Reads a line into `line` (which is cleared first) and skips its newline. `peek` means that little more will
    /// be read here.
    pub(super) fn line(&mut self, line: &mut Vec<u8>, limit: usize, peek: bool) -> io::Result<Line> {
        line.clear();
        loop {
            let room = limit + 1 - line.len();
            let ready = self.fill(if peek { PEEK } else { CHUNK })?;
            if ready.is_empty() {
                return Ok(Line::Cut(line.len()));
            }
            let ready = &ready[..ready.len().min(room)];
            if let Some(n) = ready.iter().position(|&b| b == b'\n') {
                line.extend_from_slice(&ready[..n]);
                self.advance(n + 1);
                return Ok(Line::Whole);
            }
            line.extend_from_slice(ready);
            let n = ready.len();
            self.advance(n);
            if line.len() > limit {
                return Ok(Line::TooLong);
            }
        }
    }

    /// Skips `n` bytes; returns how many there were.
    pub(super) fn skip(&mut self, n: u64) -> io::Result<u64> {
        if let Some(len) = self.len {
            let n = n.min(len.saturating_sub(self.pos));
            self.move_to(self.pos + n)?;
            return Ok(n);
        }
        let mut left = n;
        while left > 0 {
            let ready = self.fill(CHUNK)?.len() as u64;
            if ready == 0 {
                break;
            }
            let step = ready.min(left);
            self.advance(step as usize);
            left -= step;
        }
        Ok(n - left)
    }

    /// Seeks in a file.
    pub(super) fn move_to(&mut self, pos: u64) -> io::Result<()> {
        let ahead = pos.checked_sub(self.pos);
        match ahead {
            Some(n) if n <= (self.end - self.start) as u64 => {
                self.advance(n as usize);
                return Ok(());
            }
            _ => {}
        }
        match &mut self.medium {
            Medium::File(file) => file.seek(SeekFrom::Start(pos))?,
            Medium::Pipe(_) => return Err(ErrorKind::NotSeekable.into()),
        };
        (self.start, self.end, self.pos) = (0, 0, pos);
        Ok(())
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
        assert_eq!(input.line(&mut line, 3, false).unwrap(), Line::Whole);
        assert_eq!((line.as_slice(), input.pos()), (&b"one"[..], 4));
        assert_eq!(input.line(&mut line, 8, false).unwrap(), Line::TooLong);
        assert_eq!(input.line(&mut line, 8, true).unwrap(), Line::Whole);
        let mut three = [0; 3];
        assert_eq!(input.read_full(&mut three).unwrap(), 3);
        assert_eq!(&three, b"xyz");
        assert_eq!(input.skip(10).unwrap(), 10);
        assert_eq!(input.line(&mut line, 80, false).unwrap(), Line::Cut(3));
        assert_eq!(input.skip(10).unwrap(), 0);
        assert_eq!(input.pos(), 30);
    }
}
