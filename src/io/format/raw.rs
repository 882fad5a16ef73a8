//! Samples without a header (`NAME.yuv`, `NAME.raw`, `raw:`), as FFmpeg's `rawvideo`. Their reader must know the format:
//! see [`RawVideo`].

pub use crate::media::source::RawVideo;

use super::images::lost_color;
use super::y4m::input::Input;
use super::{Files, FormatDescriptor, OutputDescriptor, only_for_videos, y4m};
use crate::disk::opened::OpenedFile;
use crate::disk::{name_of, reach};
use crate::journal::shard::Kind;
#[cfg(feature = "ffmpeg")]
use crate::libav::packed::Packed;
use crate::media::sink::{EncodedFile, not_stored};
use crate::media::{
    Decode, Done, Encode, FrameStamp, Info, Options, Plan, Sink, SinkError, Slot, Source, SourceError,
};
use grainfield_filters::frame::{ColorRange, Depth, Family, Format, Frame, NameError};
use grainfield_filters::ratio::{Ratio, broadcast_rate};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "raw",
    input: None,
    output: Some(OutputDescriptor {
        matches: |name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) || is_named(name),
        accepts: |_, format, _| Ok(accepts(format)),
        create: |name, plan| create(file_of(name), plan),
        files: |name| Files::one(file_of(name), Kind::Raw),
        prefix: PREFIX,
        drops_metadata: true,
        allows: only_for_videos,
    }),
};

const PREFIX: &str = "raw:";

/// The largest size of a frame in bytes.
const MAX_FRAME_BYTES: usize = y4m::header::MAX_FRAME_BYTES;

/// Whether a file's name is that of raw samples.
pub(crate) fn is_named(name: &OsStr) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    ["raw", "yuv", "rgb"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// The file of an output; standard output is `-`.
fn file_of(name: &OsStr) -> &OsStr {
    match name.as_encoded_bytes().strip_prefix(PREFIX.as_bytes()) {
        Some([]) => OsStr::new("-"),
        Some(file) => name_of(file),
        None => name,
    }
}

/// The text does not describe raw samples.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RawVideoError {
    /// The parts are missing or wrong.
    #[error("raw samples are described as WIDTHxHEIGHT:PIXFMT:RATE: 1920x1080:yuv420p:25")]
    Form,
    /// Too small or too large.
    #[error("a picture of {0}x{1} {2}: width and height must be 1 to {max}, and a frame at most {MAX_FRAME_BYTES} bytes",
        max = grainfield_filters::frame::MAX_SIDE)]
    Size(u32, u32, String),
    /// The pixel format.
    #[error(transparent)]
    PixFmt(#[from] PixFmtError),
}

/// No pixel format has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}; and FFmpeg's packed formats, such as rgb24, bgra, rgba64le, nv12, uyvy422")]
pub struct PixFmtError(NameError);

impl FromStr for RawVideo {
    type Err = RawVideoError;

    fn from_str(text: &str) -> Result<RawVideo, RawVideoError> {
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next().filter(|part| !part.is_empty()).ok_or(RawVideoError::Form);
        let (width, height) = part()?.split_once('x').ok_or(RawVideoError::Form)?;
        let side = |text: &str| text.parse().map_err(|_| RawVideoError::Form);
        let (size, pix_fmt) = ((side(width)?, side(height)?), part()?.to_owned());
        let rate = match part() {
            Ok(text) => {
                let exact = || text.parse().ok().filter(|rate| *rate > Ratio::ZERO);
                Some(broadcast_rate(text).or_else(exact).ok_or(RawVideoError::Form)?)
            }
            Err(_) if text.ends_with(':') => return Err(RawVideoError::Form),
            Err(_) => None,
        };
        Samples::new(&pix_fmt, size)?;
        Ok(RawVideo { size, pix_fmt, rate })
    }
}

/// The name of the planar pixel format with the samples of one of FFmpeg's: `gbrp` for `rgb24`.
///
/// # Errors
/// The name is not known.
pub fn planar(pix_fmt: &str) -> Result<String, PixFmtError> {
    let named = Format::from_name(pix_fmt, 16, 16);
    if named.is_ok() {
        return Ok(pix_fmt.to_owned());
    }
    #[cfg(feature = "ffmpeg")]
    if let Some(packed) = Packed::new(pix_fmt, 16, 16) {
        return Ok(packed.format().name());
    }
    named.map(|format| format.name()).map_err(PixFmtError)
}

/// How the samples of a picture are stored.
#[derive(Clone, Debug)]
enum Samples {
    /// One plane after the other, words little endian.
    Planes(Format),
    #[cfg(feature = "ffmpeg")]
    Packed(Packed),
}

impl Samples {
    fn new(pix_fmt: &str, (width, height): (u32, u32)) -> Result<Samples, RawVideoError> {
        let size_error = || RawVideoError::Size(width, height, pix_fmt.to_owned());
        // FFmpeg interleaves grey and alpha
        let planes = Format::from_name(pix_fmt, width, height).ok();
        let planes = planes.filter(|_| !pix_fmt.starts_with("ya") && !pix_fmt.ends_with("be"));
        let samples = match planes {
            Some(format) => Samples::Planes(format),
            #[cfg(feature = "ffmpeg")]
            None if Packed::new(pix_fmt, 16, 16).is_some() => {
                Samples::Packed(Packed::new(pix_fmt, width, height).ok_or_else(size_error)?)
            }
            None => return Err(PixFmtError(NameError(pix_fmt.to_owned())).into()),
        };
        samples.format().check().map_err(|_| size_error())?;
        if samples.bytes() > MAX_FRAME_BYTES { Err(size_error()) } else { Ok(samples) }
    }

    fn format(&self) -> Format {
        match self {
            Samples::Planes(format) => *format,
            #[cfg(feature = "ffmpeg")]
            Samples::Packed(packed) => packed.format(),
        }
    }

    /// The bytes of a picture.
    fn bytes(&self) -> usize {
        match self {
            Samples::Planes(format) => format.frame_bytes(),
            #[cfg(feature = "ffmpeg")]
            Samples::Packed(packed) => packed.bytes(),
        }
    }
}

/// Opens samples in a file or a pipe; `-` is standard input.
///
/// # Errors
/// See [`SourceError`].
pub fn open(input: &OsStr, raw: &RawVideo, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let path = Path::new(input);
    let pipe = input == "-";
    let name = if pipe { "standard input".to_owned() } else { path.display().to_string() };
    let io = |cause| SourceError::Io { name: name.clone(), cause };
    let bad = |problem| SourceError::Bad { name: name.clone(), problem };
    let samples = Samples::new(&raw.pix_fmt, raw.size).map_err(|e| bad(e.to_string()))?;
    let bytes = samples.bytes() as u64;
    let mut last = None;
    let opened = if pipe { None } else { OpenedFile::new(path) };
    let input = match pipe {
        true => Input::pipe(y4m::standard_input()),
        false => {
            let file = reach::open(path).map_err(io)?;
            let meta = file.metadata().map_err(io)?;
            if meta.is_dir() {
                return Err(bad("is a folder; name a file of raw samples in it".into()));
            }
            match meta.is_file() {
                true if !meta.len().is_multiple_of(bytes) || meta.len() == 0 => {
                    let (frames, rest) = (meta.len() / bytes, meta.len() % bytes);
                    return Err(bad(format!(
                        "its {} bytes are {frames} frames of {} {}x{} ({bytes} bytes each) and {rest} bytes: the size, the \
                         pixel format or the file is wrong",
                        meta.len(),
                        raw.pix_fmt,
                        raw.size.0,
                        raw.size.1
                    )));
                }
                true => {
                    last = Some((meta.len() / bytes) as i64 - 1);
                    Input::file(file, meta.len())
                }
                false => Input::pipe(Box::new(file)),
            }
        }
    };
    let rate = raw.rate.or(options.rate);
    let mut notes = Vec::new();
    if rate.is_none() {
        notes.push("raw samples have no frame rate; assuming 24 frames per second".into());
    }
    let format = Format { rate: rate.unwrap_or(Ratio::whole(24)), ..samples.format() };
    let info = Info {
        name,
        kind: "raw samples",
        format,
        first: 0,
        last,
        seekable: input.len().is_some(),
        variable_rate: false,
        notes,
        details: vec![("stored".into(), raw.pix_fmt.clone())],
        carried: None,
    };
    Ok(Box::new(Raw {
        info,
        input,
        samples,
        next: 0,
        ended: false,
        opened,
        #[cfg(feature = "ffmpeg")]
        packed: Vec::new(),
    }))
}

struct Raw {
    info: Info,
    input: Input,
    samples: Samples,
    /// Number of the next frame.
    next: u64,
    ended: bool,
    /// The file, to notice changes.
    opened: Option<OpenedFile>,
    /// The bytes of a picture that is not stored in planes.
    #[cfg(feature = "ffmpeg")]
    packed: Vec<u8>,
}

impl Raw {
    fn io(&self, cause: io::Error) -> SourceError {
        SourceError::Io { name: self.info.name.clone(), cause }
    }

    fn bad(&self, problem: String) -> SourceError {
        SourceError::Bad { name: self.info.name.clone(), problem }
    }

    /// Reads a picture; returns the number of bytes found.
    fn read(&mut self, frame: &mut Frame) -> io::Result<usize> {
        frame.reset(self.info.format);
        match &self.samples {
            Samples::Planes(_) => Ok(self.input.planes(frame)? as usize),
            #[cfg(feature = "ffmpeg")]
            Samples::Packed(packed) => {
                self.packed.resize(packed.bytes(), 0);
                let got = self.input.read_full(&mut self.packed)?;
                if got == self.packed.len() {
                    packed.unpack(&self.packed, frame).map_err(|e| io::Error::other(e.to_string()))?;
                }
                Ok(got)
            }
        }
    }
}

impl Source for Raw {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.info.check_number(number)?;
        let (wanted, bytes) = (number as u64, self.samples.bytes() as u64);
        if self.info.seekable {
            self.input.seek(wanted * bytes).map_err(|e| self.io(e))?;
        } else if wanted < self.next {
            let last = self.next - 1;
            return Err(self.bad(format!(
                "frame {number} was requested after frame {last}, but a pipe cannot be read backwards; use a file"
            )));
        } else {
            let ahead = (wanted - self.next).saturating_mul(bytes);
            let got = self.input.skip(ahead).map_err(|e| self.io(e))?;
            if got < ahead {
                self.ended = true;
                let there = self.next + got / bytes;
                return Err(
                    self.bad(format!("frame {number} was requested, but there are only {there} frames"))
                );
            }
        }
        (self.next, self.ended) = (wanted, false);
        Ok(())
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        if self.ended {
            return Ok(None);
        }
        // until the frame is complete; then reading can continue
        self.ended = true;
        slot.pending = None;
        let read = self.read(&mut slot.frame);
        let want = self.samples.bytes();
        if !matches!(read, Ok(got) if got == want)
            && let Some(change) = self.opened.as_ref().and_then(OpenedFile::change)
        {
            return Err(self.bad(format!("frame {} cannot be read: {change}", self.next)));
        }
        let number = self.next as i64;
        match read.map_err(|e| self.io(e))? {
            0 => return Ok(None),
            got if got == want => {}
            got => {
                let (name, got, want) = (self.info.name.clone(), got as u64, want as u64);
                return Err(SourceError::Truncated { name, number, got, want });
            }
        }
        self.ended = false;
        self.next += 1;
        let duration = self.info.format.rate.recip().unwrap_or(Ratio::ONE);
        Ok(Some(FrameStamp { number, time: Ratio::whole(number) * duration, duration, carried: None }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(Done)
    }
}

/// Any format; FFmpeg has grey with alpha in 8 and 16 bits only.
fn accepts(format: &Format) -> Format {
    let shallow = format.family != Family::Gray || !format.has_alpha() || format.depth == Depth::Bits(8);
    Format { depth: if shallow { format.depth } else { Depth::Bits(16) }, ..*format }
}

/// Opens a file or a pipe for samples.
fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let format = &plan.format;
    let pix_fmt = plan.pix_fmt.clone().unwrap_or_else(|| format.name());
    let out = plan.open(output)?;
    let name = out.name().to_owned();
    let samples = Samples::new(&pix_fmt, (format.width, format.height));
    let samples = samples.map_err(|e| SinkError::usage(name.clone(), e.to_string()))?;
    #[cfg(feature = "ffmpeg")]
    if let Samples::Packed(packed) = &samples
        && !packed.can_pack()
    {
        return Err(SinkError::usage(name, format!("{pix_fmt} is only read; choose another pixel format")));
    }
    let range = match format.range {
        ColorRange::Unspecified => String::new(),
        range => format!(", {} range", range.name()),
    };
    let raw = RawVideo { size: (format.width, format.height), pix_fmt, rate: Some(format.rate) };
    let lost: Vec<String> = plan.lost_in_video.iter().cloned().chain(lost_color(format)).collect();
    let note = format!("{name}: raw samples without a header: {raw}{range}");
    Ok(Box::new(EncodedFile {
        out,
        encoder: Arc::new(samples),
        keeps_times: false,
        warnings: not_stored("a file of raw samples", &lost),
        notes: vec![note],
    }))
}

impl Encode for Samples {
    fn encode(&self, _: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        match self {
            Samples::Planes(format) if cfg!(target_endian = "big") && format.depth.bytes() > 1 => {
                let size = format.depth.bytes();
                frame.for_each_row(|row| out.extend(row.chunks_exact(size).flat_map(|s| s.iter().rev())));
            }
            Samples::Planes(_) => frame.for_each_row(|row| out.extend_from_slice(row)),
            #[cfg(feature = "ffmpeg")]
            Samples::Packed(packed) => {
                packed.pack(frame, out).map_err(|e| SinkError::bad("raw samples".into(), e.to_string()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions() {
        let raw: RawVideo = "35x29:yuv420p10le:23.976".parse().unwrap();
        assert_eq!((raw.size, raw.rate), ((35, 29), Ratio::new(24000, 1001)));
        assert_eq!(raw.to_string(), "35x29:yuv420p10le:24000/1001");
        assert_eq!("4x4:gray".parse::<RawVideo>().unwrap().rate, None);
        let error = |text: &str| text.parse::<RawVideo>().unwrap_err();
        for bad in [
            "",
            "4x4",
            "4:gray",
            "4x:gray",
            "4x4:gray:",
            "4x4:gray:x",
            "4x4:gray:0",
            "4x4:gray:-1",
            "-1x4:gray",
        ] {
            assert_eq!(error(bad), RawVideoError::Form, "{bad}");
        }
        assert!(error("4x4:yuv").to_string().contains("'yuv' is not known"));
        for large in ["0x4:gray", "70000x4:gray", "65536x65536:gray"] {
            assert!(matches!(error(large), RawVideoError::Size(..)), "{large}");
        }
    }
}
