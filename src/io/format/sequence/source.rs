//! Image sequences and single images.
//!
//! The input is a file, a pattern (`plate.%05d.exr`, `plate.####.exr`, `@`, `$F4`), a glob (`*`, `?`) or a folder.
//! Frames keep the numbers of their files; a single image is frame 0. The first file determines the format, and a
//! file with a different size, depth or family is an error. Times follow from the numbers, including gaps: frame `n`
//! is shown at `(n - first) / rate`, independent of missing frames.

use crate::format::images::files::{Files, find, is_glob, shown};
use crate::format::images::{Fault, Kind, decode, probe};
use crate::journal::resume::FrameFiles;
use crate::media::source::SEQUENCE;
use crate::media::{
    Decode, FrameStamp, Info, Missing, Options, Pending, Slot, Source, SourceError, TIMECODE,
};
use grainfield_filters::frame::{Alpha, ColorRange, Depth, Format, Frame, Matrix};
use grainfield_filters::pixel::convert::Code;
use grainfield_filters::ratio::Ratio;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// Whether an input is of this kind: a folder, a pattern, a glob, or a file by extension or first bytes.
///
/// An existing file is judged by its contents; a pattern with another extension is not of this kind.
pub fn recognises(input: &OsStr) -> bool {
    let path = Path::new(input);
    if let Ok(meta) = std::fs::metadata(path) {
        return meta.is_dir() || (meta.is_file() && (named(input) || begins_as_image(path)) && !moves(path));
    }
    match crate::format::images::pattern::Pattern::parse(input) {
        Ok(Some(pattern)) => pattern.extension().is_empty() || Kind::from_name(input).is_some(),
        Err(_) => Kind::from_name(input).is_some(),
        Ok(None) if is_glob(input) => glob_may_be_ours(path),
        Ok(None) => Kind::from_name(input).is_some(),
    }
}

/// Whether a file is an animated PNG, which FFmpeg reads.
fn moves(path: &Path) -> bool {
    let file = || crate::disk::reach::open(path).ok();
    cfg!(feature = "ffmpeg") && file().is_some_and(crate::format::images::png::moves)
}

/// Whether a file's name is that of an image. Some game videos are named `.cin`, and FFmpeg reads the text variants of
/// `.ppm`.
fn named(input: &OsStr) -> bool {
    Kind::from_name(input).is_some_and(|kind| !matches!(kind, Kind::Cineon | Kind::Pnm))
}

/// Whether the extension in a glob may be that of an image.
fn glob_may_be_ours(path: &Path) -> bool {
    path.extension().is_none_or(|ext| is_glob(ext) || Kind::from_name(path.as_os_str()).is_some())
}

fn begins_as_image(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = crate::disk::reach::open(path).and_then(|f| f.take(16).read_to_end(&mut start));
    read.is_ok() && Kind::detect(&start).is_some()
}

/// Opens a sequence or a single image.
///
/// # Errors
/// See [`SourceError`].
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let files = find(input)?;
    let first_path = files.path(0);
    let header = probe(&first_path).map_err(|e| error(&first_path, files.number(0), None, e))?;
    let mut format = header.format;
    format.rate = options.rate.or(header.meta.rate).unwrap_or(Ratio::whole(24));
    let name = shown(input);
    format.check().map_err(|e| SourceError::Bad { name: name.clone(), problem: e.to_string() })?;

    let (first, last) = (files.number(0), files.number(files.len() - 1));
    let mut notes = header.notes;
    // the span may not fit u64, since numbers are arbitrary
    let span = (i128::from(last) - i128::from(first) + 1) as u128;
    let holes = span - files.len() as u128;
    if holes > 0 && options.missing != Missing::Error {
        let what = match options.missing {
            Missing::Hold => "the previous picture is repeated",
            Missing::Black => "they become black",
            _ => "they are left out",
        };
        notes.push(format!("{holes} of {span} frames are missing; {what}"));
    }
    let mut details = vec![
        ("files".to_owned(), files.len().to_string()),
        ("missing".to_owned(), holes.to_string()),
        ("file type".to_owned(), header.kind.label().to_owned()),
    ];
    details.extend(header.details);
    if let Some(code) = &header.meta.timecode {
        details.push((TIMECODE.to_owned(), code.clone()));
    }
    if let Some(icc) = &header.meta.icc {
        details.push(("ICC profile".to_owned(), format!("{} bytes", icc.len())));
    }
    let info = Info {
        name,
        kind: if span == 1 { "image" } else { SEQUENCE },
        format,
        first,
        last: Some(last),
        seekable: true,
        variable_rate: false,
        notes,
        details,
        carried: Some(Arc::new(header.meta)),
    };
    let decoder = Arc::new(Decoder { format, range: options.range, matrix: options.matrix });
    Ok(Box::new(Sequence { info, files, missing: options.missing, next: Some(first), decoder }))
}

struct Sequence {
    info: Info,
    files: Files,
    missing: Missing,
    /// The number to read next; `None` after the largest possible one.
    next: Option<i64>,
    decoder: Arc<Decoder>,
}

impl Sequence {
    fn hole(&self, number: i64) -> SourceError {
        let problem = match self.files.expected(number) {
            Some(path) => {
                format!("frame {number} is missing: {} does not exist", path.display())
            }
            None => format!("frame {number} is missing"),
        };
        let holes = self.files.holes();
        let all = if holes.len() == 1 && holes[0].0 == holes[0].1 { String::new() } else { listed(&holes) };
        SourceError::Missing { name: self.info.name.clone(), problem: problem + &all }
    }
}

/// The total number of missing files, with the first few gaps.
fn listed(holes: &[(i64, i64)]) -> String {
    const MAX_LISTED: usize = 8;
    let one = |&(a, b): &(i64, i64)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    let some: Vec<_> = holes.iter().take(MAX_LISTED).map(one).collect();
    let more = if holes.len() > MAX_LISTED { " ..." } else { "" };
    format!(" (all missing frames: {}{more})", some.join(", "))
}

impl Source for Sequence {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.info.check_number(number)?;
        self.next = Some(number);
        Ok(())
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        slot.pending = None;
        slot.carried = None;
        let Some(mut number) = self.next.filter(|n| self.info.last.is_none_or(|last| *n <= last)) else {
            return Ok(None);
        };
        let place = self.files.position(number);
        let file = |i, held| Pending::File { path: self.files.path(i), held };
        let pending = match (place, self.missing) {
            (Ok(i), _) => file(i, false),
            (Err(_), Missing::Error) => {
                self.next = number.checked_add(1);
                return Err(self.hole(number));
            }
            // a gap is between two files
            (Err(i), Missing::Hold) => file(i.saturating_sub(1), true),
            (Err(_), Missing::Black) => Pending::Black,
            (Err(i), Missing::Skip) => {
                number = self.files.number(i);
                file(i, false)
            }
        };
        self.next = number.checked_add(1);
        slot.pending = Some(pending);
        let rate = self.info.format.rate;
        let duration = rate.recip().unwrap_or(Ratio::ONE);
        let time = (Ratio::whole(number) - Ratio::whole(self.info.first)) * duration;
        Ok(Some(FrameStamp { number, time, duration, carried: None }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        self.decoder.clone()
    }

    fn files(&self) -> Option<FrameFiles> {
        let (files, missing) = (self.files.clone(), self.missing);
        Some(Arc::new(move |number| match files.position(number) {
            Ok(i) => Some(files.path(i)),
            Err(i) if missing == Missing::Hold => Some(files.path(i.saturating_sub(1))),
            Err(_) => None,
        }))
    }
}

struct Decoder {
    format: Format,
    /// The meaning of samples given by the user.
    range: Option<ColorRange>,
    matrix: Option<Matrix>,
}

impl Decode for Decoder {
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
        match slot.pending.take() {
            Some(Pending::File { path, held }) => {
                let mut meta = decode(&path, &self.format, &mut slot.frame)
                    .map_err(|e| error(&path, stamp.number, Some(&self.format), e))?;
                if held {
                    meta.forget_frame();
                }
                slot.carried = Some(Arc::new(meta));
            }
            Some(Pending::Black) => {
                slot.frame.reset(self.format);
                let tagged_format = Format {
                    range: self.range.unwrap_or(self.format.range),
                    matrix: self.matrix.unwrap_or(self.format.matrix),
                    ..self.format
                };
                blacken(&mut slot.frame, &tagged_format);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Fills with black, transparent if there is alpha, for samples with the meaning of `tagged_format`.
fn blacken(frame: &mut Frame, tagged_format: &Format) {
    for p in 0..tagged_format.planes() {
        let code = match tagged_format.depth {
            Depth::Float => 0,
            _ if tagged_format.alpha_plane() == Some(p) => 0,
            Depth::Bits(bits) if tagged_format.is_chroma(p) && tagged_format.matrix != Matrix::RGB => {
                Code::chroma(bits, tagged_format.full_range()).zero
            }
            Depth::Bits(bits) => Code::luma(bits, tagged_format.full_range()).zero,
        };
        for y in 0..tagged_format.plane_size(p).1 {
            match tagged_format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(code as u8),
                Depth::Bits(_) => frame.row_mut::<u16>(p, y).fill(code as u16),
                Depth::Float => frame.row_mut::<f32>(p, y).fill(0.0),
            }
        }
    }
}

/// Describes a picture for a message.
fn describe(format: &Format) -> String {
    let alpha = if format.alpha == Alpha::Premultiplied { " (premultiplied)" } else { "" };
    format!("{}x{} {}{alpha}", format.width, format.height, format.name())
}

fn error(path: &Path, number: i64, want: Option<&Format>, fault: Fault) -> SourceError {
    let name = path.display().to_string();
    match fault {
        Fault::Io(cause) => SourceError::Io { name, cause },
        Fault::Bad(problem) => SourceError::Bad { name, problem },
        Fault::Differs(found) => {
            let began = want.map(describe).unwrap_or_default();
            let problem = format!(
                "frame {number} is {}, but the sequence began as {began}; all pictures of a sequence need the \
                    same size and format",
                describe(&found)
            );
            SourceError::Bad { name, problem }
        }
    }
}
