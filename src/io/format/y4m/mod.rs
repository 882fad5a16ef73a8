//! y4m (`YUV4MPEG2`) from a file or a pipe.
//!
//! A stream is one header line, then for every frame a line `FRAME`, which may have parameters, and the samples:
//! planes in order `Y U V A`, rows without padding, more than 8 bits as little-endian 16-bit words. [`header`] has
//! the supported tags.
//!
//! Files support seeking: positions of frames are found by skipping from FRAME line to FRAME line, each of which is
//! read, so parameters may have any length. Pipes are forward only. Samples of 9 to 15 bits above the largest code
//! are clamped to it, so that no other code has to handle them.

pub mod header;
pub(super) mod input;
pub mod sink;

use super::{Files, FormatDescriptor, InputDescriptor, OutputDescriptor, only_for_videos};
use crate::disk::opened::OpenedFile;
use crate::disk::{reach, system};
use crate::journal::shard::Kind;
use crate::media::{Decode, Done, FrameStamp, Info, Length, Options, Slot, Source, SourceError};
use grainfield_filters::frame::Frame;
use grainfield_filters::ratio::Ratio;
use header::{HeaderError, MAX_FRAME_LINE, MAX_HEADER};
pub use header::{Y4mFrame, Y4mHeader};
use input::{Input, Line};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The input and output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "y4m",
    input: Some(InputDescriptor { matches: recognises, open, reads: super::one_file }),
    output: Some(OutputDescriptor {
        matches: |name| {
            name == "-"
                || is_named(name)
                || Path::new(name).metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
        },
        accepts: |_, format, _| Ok(sink::accepts(format)),
        create: sink::create,
        files: |name| Files::one(name, Kind::Y4m),
        prefix: "",
        drops_metadata: true,
        allows: only_for_videos,
    }),
};

fn is_named(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}

/// Recognises a file by its name or first bytes. The reader of a pipe checks it; without FFmpeg every input is treated
/// as y4m.
fn recognises(input: &OsStr) -> bool {
    let path = Path::new(input);
    let begins = || {
        let mut start = Vec::new();
        let read = reach::open(path).and_then(|f| f.take(header::MAGIC.len() as u64).read_to_end(&mut start));
        read.is_ok() && !start.is_empty() && (is_named(input) || start == header::MAGIC)
    };
    cfg!(not(feature = "ffmpeg")) || (input != "-" && (path.is_dir() || (path.is_file() && begins())))
}

/// Files with up to this number of frames are counted on opening if the number does not follow from their
/// length.
fn counted(length: Length) -> u64 {
    match length {
        Length::Header => 64,
        Length::Cheap => 10_000,
        Length::Exact => u64::MAX,
    }
}

/// Opens a y4m file or pipe; `-` is standard input.
///
/// A missing or unknown rate is `options.rate`, else 25. The number of frames in a file is known before the first
/// frame if its length is a multiple of the first frame's, or if there are few enough to count.
///
/// # Errors
/// See [`SourceError`].
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    if input == "-" {
        return from_reader("standard input".into(), standard_input(), options);
    }
    let name = Path::new(input).display().to_string();
    let io = |cause| SourceError::Io { name: name.clone(), cause };
    let file = reach::open(Path::new(input)).map_err(io)?;
    let meta = file.metadata().map_err(io)?;
    if meta.is_dir() {
        let problem = "is a folder; name a y4m file in it, or a pattern of images".into();
        return Err(SourceError::Bad { name, problem });
    }
    let opened = OpenedFile::new(Path::new(input));
    let input = if meta.is_file() { Input::file(file, meta.len()) } else { Input::pipe(Box::new(file)) };
    Ok(Box::new(Y4m { opened, ..Y4m::new(name, input, options)? }))
}

/// Reads y4m from any reader; `name` is used in messages.
///
/// # Errors
/// See [`SourceError`].
pub fn from_reader(
    name: String,
    reader: Box<dyn Read + Send>,
    options: &Options,
) -> Result<Box<dyn Source>, SourceError> {
    Ok(Box::new(Y4m::new(name, Input::pipe(reader), options)?))
}

/// Standard input without the small buffer of [`std::io::stdin`], if the system allows it.
pub(in crate::format) fn standard_input() -> Box<dyn Read + Send> {
    match system::duplicate(&io::stdin()) {
        Ok(stream) => Box::new(stream),
        Err(_) => Box::new(io::stdin()),
    }
}

/// The distance of frames whose positions are kept.
const INDEX_STEP: u64 = 16;

struct Y4m {
    info: Info,
    input: Input,
    /// The positions of every [`INDEX_STEP`]th frame that has been found.
    index: Vec<u64>,
    /// Number of the next frame.
    next: u64,
    /// The size of a frame's samples in bytes.
    bytes: u64,
    /// The current FRAME line, or a part of it.
    line: Vec<u8>,
    /// No more frames: the end, or an error that cannot be skipped.
    ended: bool,
    /// The file, to notice changes.
    opened: Option<OpenedFile>,
}

impl Y4m {
    fn new(name: String, mut input: Input, options: &Options) -> Result<Y4m, SourceError> {
        let bad = |e: HeaderError| SourceError::Bad { name: name.clone(), problem: e.to_string() };
        let mut line = Vec::new();
        let end = input
            .line(&mut line, MAX_HEADER)
            .map_err(|cause| SourceError::Io { name: name.clone(), cause })?;
        if !line.starts_with(header::MAGIC) {
            return Err(bad(header::not_y4m(&line)));
        }
        match end {
            Line::Complete => {}
            Line::Cut(_) => return Err(bad(HeaderError::Cut)),
            Line::TooLong => return Err(bad(HeaderError::TooLong)),
        }
        let parsed = header::parse(&line, options.rate).map_err(bad)?;
        let format = parsed.format;
        let info = Info {
            name: name.clone(),
            kind: "y4m",
            format,
            first: 0,
            last: None,
            seekable: input.len().is_some(),
            variable_rate: false,
            notes: parsed.notes,
            details: vec![("header".into(), line.escape_ascii().to_string())],
            carried: Some(Arc::new(Y4mHeader { line })),
        };
        let mut source = Y4m {
            info,
            index: vec![input.pos()],
            input,
            next: 0,
            bytes: format.frame_bytes() as u64,
            line: Vec::new(),
            ended: false,
            opened: None,
        };
        if let Some(len) = source.input.len() {
            source.measure(len, counted(options.length))?;
        }
        Ok(source)
    }

    /// Determines the number of frames in a file, if that is cheap. A file that is too short for its first frame
    /// is an error, so that no memory is allocated for frames that a wrong header declares.
    fn measure(&mut self, len: u64, most: u64) -> Result<(), SourceError> {
        let start = self.input.pos();
        if start == len {
            self.info.notes.push("the file has no frames".into());
            self.info.last = Some(-1);
            return Ok(());
        }
        self.frame_line()?;
        let samples = self.input.pos();
        if len - samples < self.bytes {
            return Err(self.truncated(len - samples));
        }
        let each = samples - start + self.bytes;
        let count = (len - start) / each;
        if (len - start).is_multiple_of(each) {
            self.info.last = Some(count as i64 - 1);
        } else if count <= most {
            // some FRAME lines are longer than others, or the end is missing; skipping through the file shows
            // which
            self.restart()?;
            let mut end = self.hop();
            while matches!(end, Ok(true)) {
                end = self.hop();
            }
            match end {
                Ok(_) => self.info.last = Some(self.next as i64 - 1),
                Err(e) => self.info.notes.push(format!("only {} frames can be read: {e}", self.next)),
            }
        }
        self.restart()
    }

    /// Seeks to a file's first frame.
    fn restart(&mut self) -> Result<(), SourceError> {
        self.ended = true;
        self.go(0)
    }

    fn io(&self, cause: io::Error) -> SourceError {
        SourceError::Io { name: self.info.name.clone(), cause }
    }

    fn bad(&self, problem: String) -> SourceError {
        SourceError::Bad { name: self.info.name.clone(), problem }
    }

    fn truncated(&self, got: u64) -> SourceError {
        let (name, number) = (self.info.name.clone(), self.next as i64);
        SourceError::Truncated { name, number, got, want: self.bytes }
    }

    /// Reads the FRAME line of frame `next` into `self.line`; `false` at the end.
    fn frame_line(&mut self) -> Result<bool, SourceError> {
        let place = self.input.pos();
        let end = self.input.line(&mut self.line, MAX_FRAME_LINE).map_err(|e| self.io(e))?;
        let number = self.next;
        match end {
            Line::Cut(0) => {
                return match self.info.last {
                    Some(last) if last != number as i64 - 1 => Err(self.miscounted()),
                    _ => Ok(false),
                };
            }
            Line::Cut(_) if header::FRAME.starts_with(&self.line) => return Err(self.truncated(0)),
            _ => {}
        }
        let parameters = self.line.strip_prefix(header::FRAME);
        if end == Line::Complete && matches!(parameters, Some([] | [b' ', ..])) {
            if self.info.last.is_some_and(|last| number as i64 > last) {
                return Err(self.miscounted());
            }
            if number == self.index.len() as u64 * INDEX_STEP {
                self.index.push(place);
            }
            return Ok(true);
        }
        Err(match (parameters, end) {
            (Some([b' ', ..]), Line::Cut(_)) => self.truncated(0),
            (Some([b' ', ..]), _) => self.bad(format!(
                "the FRAME line of frame {number}, at byte {place}, is longer than {MAX_FRAME_LINE} bytes"
            )),
            _ if self.line.starts_with(header::MAGIC) => self.bad(format!(
                "found a second header where frame {number} should begin, at byte {place}: remove the headers of \
                    all streams but the first when you concatenate them"
            )),
            _ => self.bad(format!(
                "frame {number} should begin at byte {place} with FRAME, but there is \"{}\"",
                header::excerpt(&self.line)
            )),
        })
    }

    /// The error that the file has another number of frames than its length implied.
    fn miscounted(&self) -> SourceError {
        self.bad(format!(
            "does not contain the {} frames that follow from its size, because its FRAME lines differ in length; \
                read it through a pipe",
            self.info.last.unwrap_or(-1) + 1
        ))
    }

    /// Skips frame `next`; `false` at the end.
    fn hop(&mut self) -> Result<bool, SourceError> {
        if !self.frame_line()? {
            return Ok(false);
        }
        let got = self.input.skip(self.bytes).map_err(|e| self.io(e))?;
        if got < self.bytes {
            return Err(self.truncated(got));
        }
        self.next += 1;
        Ok(true)
    }

    /// Makes `number` the next frame.
    fn go(&mut self, number: u64) -> Result<(), SourceError> {
        if self.input.len().is_some() {
            let nearest = ((number / INDEX_STEP) as usize).min(self.index.len() - 1);
            let known = nearest as u64 * INDEX_STEP;
            if number < self.next || known > self.next || self.ended {
                self.input.seek(self.index[nearest]).map_err(|e| self.io(e))?;
                self.next = known;
                self.ended = false;
            }
        }
        while self.next < number {
            if !self.hop()? {
                let there = self.next;
                return Err(
                    self.bad(format!("frame {number} was requested, but there are only {there} frames"))
                );
            }
        }
        Ok(())
    }

    /// Reads the samples of a frame.
    fn samples(&mut self, frame: &mut Frame) -> Result<(), SourceError> {
        frame.reset(self.info.format);
        match self.input.planes(frame).map_err(|e| self.io(e))? {
            got if got == self.bytes => Ok(()),
            got => Err(self.truncated(got)),
        }
    }
}

impl Source for Y4m {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.info.check_number(number)?;
        let wanted = number as u64;
        if !self.info.seekable && wanted < self.next {
            return Err(self.bad(format!(
                "frame {number} was requested after frame {}, but a pipe cannot be read backwards; use a file",
                self.next.saturating_sub(1)
            )));
        }
        let gone = self.go(wanted);
        self.ended |= gone.is_err();
        gone
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        if self.ended {
            return Ok(None);
        }
        // until the frame is complete; then reading can continue
        self.ended = true;
        let read = match self.frame_line() {
            Ok(true) => self.samples(&mut slot.frame).map(|()| true),
            end => end,
        };
        if !matches!(read, Ok(true))
            && let Some(change) = self.opened.as_ref().and_then(OpenedFile::change)
        {
            return Err(self.bad(format!("frame {} cannot be read: {change}", self.next)));
        }
        if !read? {
            return Ok(None);
        }
        slot.pending = None;
        self.ended = false;
        let number = self.next as i64;
        self.next += 1;
        let duration = self.info.format.rate.recip().unwrap_or(Ratio::ONE);
        let parameters = &self.line[header::FRAME.len()..];
        Ok(Some(FrameStamp {
            number,
            time: Ratio::whole(number) * duration,
            duration,
            carried: match parameters {
                [] => None,
                some => Some(Arc::new(Y4mFrame { parameters: some.to_vec() })),
            },
        }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(Done)
    }
}

#[cfg(test)]
mod tests;
