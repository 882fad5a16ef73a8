//! Image files: their names, and their codecs, one module per family. Sequences of images are a source and a
//! sink. "A new format" in docs/src/contributing.md says what another one needs.
//!
//! Metadata of a picture (ICC profile, resolution, chunks, EXR layers) are passed on as [`Meta`].

pub mod cineon;
#[cfg_attr(not(feature = "ffmpeg"), allow(dead_code))] // FFmpeg decodes it
pub mod dpx;
pub mod exr;
pub mod files;
mod head;
mod jxl;
#[cfg(feature = "ffmpeg")]
mod libav;
mod loss;
pub mod other;
pub mod pattern;
pub mod png;
mod pnm;
pub(super) mod rows;
pub mod tags;
pub mod tiff;
mod turn;

pub use head::FilmHeader;
pub use loss::{lost, lost_color, lost_in_video};

use grainfield_filters::frame::{ColorRange, Family, Format, Frame, MAX_SIDE, Matrix, Transfer};
use grainfield_filters::ratio::{Ratio, broadcast_rate};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// The largest size of one picture's samples, and of a file that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 32;

/// A family of image files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Portable Network Graphics.
    Png,
    /// OpenEXR.
    Exr,
    /// Tagged Image File Format.
    Tiff,
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
    /// Kodak Cineon.
    Cineon,
    /// Netpbm's PPM and PGM.
    Pnm,
    /// Windows bitmaps.
    Bmp,
    /// Truevision's TGA.
    Tga,
    /// The Quite OK Image format.
    Qoi,
    /// JPEG XL. FFmpeg writes it.
    Jxl,
    /// Digital Picture Exchange, SMPTE 268M. This and the following need FFmpeg.
    Dpx,
    /// JPEG 2000 code stream.
    J2k,
    /// JPEG 2000 file.
    Jp2,
}

const EXTENSIONS: &[(&str, Kind)] = &[
    ("png", Kind::Png),
    #[cfg(not(feature = "ffmpeg"))]
    ("apng", Kind::Png),
    ("exr", Kind::Exr),
    ("tif", Kind::Tiff),
    ("tiff", Kind::Tiff),
    ("jpg", Kind::Jpeg),
    ("jpeg", Kind::Jpeg),
    ("webp", Kind::Webp),
    ("cin", Kind::Cineon),
    ("ppm", Kind::Pnm),
    ("pgm", Kind::Pnm),
    ("pnm", Kind::Pnm),
    ("bmp", Kind::Bmp),
    ("tga", Kind::Tga),
    ("qoi", Kind::Qoi),
    ("jxl", Kind::Jxl),
    #[cfg(feature = "ffmpeg")]
    ("dpx", Kind::Dpx),
    #[cfg(feature = "ffmpeg")]
    ("j2k", Kind::J2k),
    #[cfg(feature = "ffmpeg")]
    ("j2c", Kind::J2k),
    #[cfg(feature = "ffmpeg")]
    ("jp2", Kind::Jp2),
];

impl Kind {
    /// Determines the family by the extension of a file's name.
    pub fn from_name(name: &OsStr) -> Option<Kind> {
        let ext = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|e| e.0 == ext).map(|e| e.1)
    }

    /// Determines the family by the first bytes of a file.
    pub fn detect(start: &[u8]) -> Option<Kind> {
        match start {
            [0x89, b'P', b'N', b'G', ..] => Some(Kind::Png),
            [0x76, 0x2f, 0x31, 0x01, ..] => Some(Kind::Exr),
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Some(Kind::Tiff),
            [0xff, 0xd8, 0xff, ..] => Some(Kind::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Kind::Webp),
            [a, b, c, d, ..] if [cineon::BIG, cineon::LITTLE].contains(&[*a, *b, *c, *d]) => {
                Some(Kind::Cineon)
            }
            [b'P', b'5' | b'6', b'\t'..=b'\r' | b' ' | b'#', ..] => Some(Kind::Pnm),
            // reserved fields are zero
            [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Kind::Bmp),
            [b'q', b'o', b'i', b'f', ..] => Some(Kind::Qoi),
            [0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', b' ', 13, 10, 0x87, 10, ..] => Some(Kind::Jxl),
            _ if cfg!(not(feature = "ffmpeg")) => None,
            [b'S', b'D', b'P', b'X', ..] | [b'X', b'P', b'D', b'S', ..] => Some(Kind::Dpx),
            [0xff, 0x4f, 0xff, 0x51, ..] => Some(Kind::J2k),
            [0, 0, 0, 12, b'j', b'P', b' ', b' ', 13, 10, 0x87, 10, ..] => Some(Kind::Jp2),
            _ => None,
        }
    }

    /// The extensions, for messages.
    pub fn extensions() -> String {
        EXTENSIONS.iter().map(|e| e.0).collect::<Vec<_>>().join(", ")
    }

    /// The name in messages.
    pub fn label(self) -> &'static str {
        match self {
            Kind::Png => "PNG",
            Kind::Exr => "OpenEXR",
            Kind::Tiff => "TIFF",
            Kind::Jpeg => "JPEG",
            Kind::Webp => "WebP",
            Kind::Cineon => "Cineon",
            Kind::Pnm => "PPM/PGM",
            Kind::Bmp => "BMP",
            Kind::Tga => "TGA",
            Kind::Qoi => "QOI",
            Kind::Jxl => "JPEG XL",
            Kind::Dpx => "DPX",
            Kind::J2k | Kind::Jp2 => "JPEG 2000",
        }
    }
}

/// Resolution: samples per unit of length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Density {
    /// Horizontally.
    pub x: f64,
    /// Vertically.
    pub y: f64,
    /// The unit.
    pub unit: Unit,
}

/// A unit of [`Density`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Unspecified: only the ratio is meaningful.
    None,
    /// Inches.
    Inch,
    /// Centimetres.
    Centimetre,
    /// Metres.
    Metre,
}

impl Density {
    /// Samples per metre; `None` without a unit.
    pub fn per_metre(&self) -> Option<(f64, f64)> {
        let by = match self.unit {
            Unit::None => return None,
            Unit::Inch => 1.0 / 0.0254,
            Unit::Centimetre => 100.0,
            Unit::Metre => 1.0,
        };
        Some((self.x * by, self.y * by))
    }

    /// Samples per inch; `None` without a unit.
    pub fn per_inch(&self) -> Option<(f64, f64)> {
        self.per_metre().map(|(x, y)| (x * 0.0254, y * 0.0254))
    }
}

/// Metadata of a picture. They do not affect filters; a sink keeps those that its file type supports.
#[derive(Debug, Default)]
pub struct Meta {
    /// The transfer as read: a profile describes these samples, not converted ones.
    pub transfer: Transfer,
    /// The stored orientation, by Exif's numbers: 1 (or 0) is upright. Frames are upright.
    pub orientation: u8,
    /// Whether the samples were cyan, magenta, yellow and black.
    pub cmyk: bool,
    /// Whether the file has more pictures than the first one, which is read.
    pub more: bool,
    /// The colour profile.
    pub icc: Option<Vec<u8>>,
    /// The resolution.
    pub density: Option<Density>,
    /// Exif data, without the header of a file type.
    pub exif: Option<Vec<u8>>,
    /// Metadata of PNG.
    pub png: Option<Box<::png::Info<'static>>>,
    /// Metadata of OpenEXR.
    pub exr: Option<Box<exr::ExrMetadata>>,
    /// Names of the OpenEXR data, for the message about losses.
    pub exr_names: Option<Box<exr::Names>>,
    /// The fields of the film header that are set, including those of one frame, for the message about losses.
    pub fields: Vec<String>,
    /// The time code of the frame, if a video can continue it.
    pub timecode: Option<String>,
    /// The frame rate that the file states, if it is a possible one.
    pub rate: Option<Ratio>,
    /// Metadata of Cineon.
    pub cineon: Option<Box<FilmHeader>>,
    /// Metadata of DPX.
    pub dpx: Option<Box<FilmHeader>>,
    /// Metadata of TIFF.
    pub tiff: Option<Box<tiff::TiffMetadata>>,
}

impl Meta {
    /// Removes what is true of a single frame: time codes, its number, its name.
    pub(crate) fn forget_frame(&mut self) {
        self.dpx.iter_mut().for_each(|header| dpx::forget_frame(header));
        self.cineon.iter_mut().for_each(|header| cineon::forget_frame(header));
        self.exr.iter_mut().for_each(|data| data.forget_frame());
    }
}

/// An error in a file. A caller that knows the file's name converts it to an error of a source or sink.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// An error of the system.
    #[error("{0}")]
    Io(#[source] std::io::Error),
    /// The file is invalid.
    #[error("{0}")]
    Bad(String),
    /// The picture has another format than expected.
    #[error("is {}", .0.name())]
    Differs(Box<Format>),
}

impl From<std::io::Error> for Fault {
    fn from(e: std::io::Error) -> Fault {
        match e.kind() {
            std::io::ErrorKind::UnexpectedEof => Fault::Bad("the file ends inside the picture".into()),
            std::io::ErrorKind::InvalidData => Fault::Bad(format!("the file is damaged: {e}")),
            _ => Fault::Io(e),
        }
    }
}

/// The header of a file.
#[derive(Debug)]
pub struct Header {
    /// The family.
    pub kind: Kind,
    /// The format of the picture; its rate is not from the file, which may state one in `meta`.
    pub format: Format,
    /// Its metadata, as far as they are known without decoding.
    pub meta: Meta,
    /// Further properties for `probe`.
    pub details: Vec<(String, String)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A file to be read.
pub(crate) struct Input {
    /// The file, at its start.
    pub reader: BufReader<File>,
    /// Its length in bytes.
    pub len: u64,
}

impl Input {
    /// Reads the file, for decoders that need random access.
    fn contents(mut self) -> Result<Vec<u8>, Fault> {
        let mut file = Vec::with_capacity(self.len as usize);
        self.reader.by_ref().take(MAX_BYTES).read_to_end(&mut file).map_err(Fault::Io)?;
        Ok(file)
    }
}

fn input(path: &Path) -> Result<(Kind, Input), Fault> {
    let file = crate::disk::reach::open(path).map_err(Fault::Io)?;
    let meta = file.metadata().map_err(Fault::Io)?;
    if !meta.is_file() {
        return Err(Fault::Bad("is not a file".into()));
    }
    if meta.len() == 0 {
        return Err(Fault::Bad("the file is empty".into()));
    }
    if meta.len() > MAX_BYTES {
        return Err(Fault::Bad(format!("file too large: {} bytes (limit {MAX_BYTES})", meta.len())));
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut start = Vec::with_capacity(16);
    reader.by_ref().take(16).read_to_end(&mut start).map_err(Fault::Io)?;
    reader.rewind().map_err(Fault::Io)?;
    // TGA has no first bytes of its own
    let tga = || Kind::from_name(path.as_os_str()).filter(|kind| *kind == Kind::Tga);
    match Kind::detect(&start).or_else(tga) {
        Some(kind) => Ok((kind, Input { reader, len: meta.len() })),
        None => Err(Fault::Bad(format!("is not an image of a known kind ({})", Kind::extensions()))),
    }
}

/// Reads the header of a picture, without its samples. The format is that of the upright picture.
///
/// # Errors
/// See [`Fault`].
pub fn probe(path: &Path) -> Result<Header, Fault> {
    let (kind, input) = input(path)?;
    let header = match kind {
        Kind::Png => png::probe(input),
        Kind::Exr => exr::probe(input),
        Kind::Cineon => cineon::probe(input),
        Kind::Pnm => pnm::probe(input),
        Kind::Jxl => jxl::probe(input),
        #[cfg(feature = "ffmpeg")]
        Kind::Dpx | Kind::J2k | Kind::Jp2 => libav::probe(kind, input),
        _ => other::probe(kind, input),
    };
    let mut header = header?;
    header.meta.transfer = header.format.transfer;
    let orientation = header.meta.orientation;
    if orientation > 1 {
        header.format = turn::upright_format(&header.format, orientation);
        header.notes.push(format!(
            "the picture is stored {} (orientation {orientation}): it is turned upright; outputs that store an \
                orientation get it back",
            turn::name(orientation)
        ));
    }
    Ok(header)
}

/// Reads a file's picture, which must have the shape of `want` after it is turned upright. The frame gets the format
/// `want`.
///
/// # Errors
/// See [`Fault`].
pub fn decode(path: &Path, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let (kind, input) = input(path)?;
    let meta = match kind {
        Kind::Png => png::decode(input, want, frame),
        Kind::Exr => exr::decode(input, want, frame),
        Kind::Cineon => cineon::decode(input, want, frame),
        Kind::Pnm => pnm::decode(input, want, frame),
        Kind::Jxl => jxl::decode(input, want, frame),
        #[cfg(feature = "ffmpeg")]
        Kind::Dpx | Kind::J2k | Kind::Jp2 => libav::decode(kind, input, want, frame),
        _ => other::decode(kind, input, want, frame),
    };
    let meta = Meta { transfer: want.transfer, ..meta? };
    if meta.orientation > 1 {
        *frame = turn::upright(frame, meta.orientation);
    }
    let found = *frame.format();
    if (found.width, found.height) != (want.width, want.height) {
        return Err(Fault::Differs(Box::new(found)));
    }
    frame.retag(*want);
    Ok(meta)
}

/// Reads a file's picture unconverted.
///
/// # Errors
/// See [`Fault`].
pub fn read(path: &Path) -> Result<Frame, Fault> {
    let format = probe(path)?.format;
    let mut frame = Frame::new(format);
    decode(path, &format, &mut frame)?;
    Ok(frame)
}

/// Appends a picture as a file of the given family. `meta` are the metadata of the source's picture.
pub(crate) fn encode(
    kind: Kind,
    frame: &Frame,
    meta: Option<&Meta>,
    storing: exr::Storing,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let turned = meta.filter(|m| m.orientation > 1 && says_orientation(kind, m));
    let turned = turned.map(|m| turn::stored(frame, m.orientation));
    let frame = turned.as_ref().unwrap_or(frame);
    match kind {
        Kind::Png => png::encode(frame, meta, out),
        Kind::Exr => exr::encode(frame, meta, storing, out),
        Kind::Cineon => cineon::encode(frame, meta, out),
        Kind::Pnm => pnm::encode(frame, out),
        #[cfg(feature = "ffmpeg")]
        Kind::J2k | Kind::Jp2 | Kind::Jxl => libav::encode(kind, frame, out),
        #[cfg(not(feature = "ffmpeg"))]
        Kind::Jxl => Err(Fault::Bad("FFmpeg writes JPEG XL, and this program is built without it".into())),
        Kind::Dpx => dpx::encode(frame, meta, out),
        _ => other::encode(kind, frame, meta, out),
    }
}

/// Replaces the file name in the header of a DPX or Cineon file, if it has one, by its own.
pub(crate) fn rename(kind: Kind, path: &Path, file: &mut [u8]) {
    let (at, len) = match kind {
        Kind::Dpx => dpx::NAME,
        Kind::Cineon => cineon::NAME,
        _ => return,
    };
    let field = file.get_mut(at..at + len).filter(|field| !matches!(field[0], 0 | 0xff));
    if let (Some(field), Some(name)) = (field, path.file_name()) {
        let name = &name.as_encoded_bytes()[..name.len().min(len - 1)];
        field.fill(0);
        field[..name.len()].copy_from_slice(name);
    }
}

/// Whether files of a family can store the orientation: TIFF in a tag, others in the Exif data that they keep.
fn says_orientation(kind: Kind, meta: &Meta) -> bool {
    match kind {
        Kind::Tiff => true,
        Kind::Png | Kind::Jpeg | Kind::Webp => meta.exif.is_some(),
        _ => false,
    }
}

/// The orientation in Exif data; 1 without any.
pub(crate) fn orientation(exif: Option<&[u8]>) -> u8 {
    exif.and_then(image::metadata::Orientation::from_exif_chunk).map_or(1, |o| o.to_exif())
}

/// Checks a size before memory is allocated. `bytes` is the size of one pixel.
pub(crate) fn check_size(width: u64, height: u64, bytes: u64) -> Result<(u32, u32), Fault> {
    let max = u64::from(MAX_SIDE);
    if width == 0 || height == 0 || width > max || height > max {
        return Err(Fault::Bad(format!(
            "a picture of {width}x{height}: width and height must be 1 to {max}"
        )));
    }
    if width * height * bytes > MAX_BYTES {
        let total = width * height * bytes;
        return Err(Fault::Bad(format!(
            "a picture of {width}x{height} takes {total} bytes: at most {MAX_BYTES} are possible"
        )));
    }
    Ok((width as u32, height as u32))
}

/// Checks whether a file of `len` bytes can contain a picture of this size, before memory is allocated for it. `ratio`
/// is the highest compression ratio of the kind of file.
pub(crate) fn check_held(len: u64, (width, height): (u32, u32), bytes: u64, ratio: u64) -> Result<(), Fault> {
    if bytes / ratio <= len {
        return Ok(());
    }
    Err(Fault::Bad(format!(
        "a file of {len} bytes cannot hold a picture of {width}x{height}: it is truncated or damaged"
    )))
}

/// Returns an error for a picture that does not fit the sequence, and prepares the frame. The picture may
/// still be turned.
pub(crate) fn accept(found: &Format, want: &Format, frame: &mut Frame) -> Result<(), Fault> {
    let sides = |f: &Format| (f.width.min(f.height), f.width.max(f.height));
    if (sides(found), found.family, found.depth, found.alpha)
        != (sides(want), want.family, want.depth, want.alpha)
    {
        return Err(Fault::Differs(Box::new(*found)));
    }
    frame.reset(Format { width: found.width, height: found.height, ..*want });
    Ok(())
}

/// The tags of pictures in image files: full range, RGB matrix.
pub(crate) fn tagged(format: Format) -> Format {
    let matrix = if format.family == Family::Rgb { Matrix::RGB } else { Matrix::UNSPECIFIED };
    Format { range: ColorRange::Full, matrix, ..format }
}

/// The rate that a header means, if it is a possible one (1 to 1000): 23.976, 23.98 and their like in single precision
/// are 24000/1001.
pub(crate) fn header_rate(stated: Ratio) -> Option<Ratio> {
    let value = Some(stated.to_f64()).filter(|v| (1.0..=1000.0).contains(v))?;
    let broadcast = [3, 2].into_iter().find_map(|digits| broadcast_rate(&format!("{value:.digits$}")));
    Some(broadcast.unwrap_or(stated))
}

/// The profile, if it is valid for pictures of this family and the samples have not been converted.
pub(crate) fn fitting_icc<'a>(meta: Option<&'a Meta>, format: &Format) -> Option<&'a [u8]> {
    let space: &[u8] = if format.family == Family::Gray { b"GRAY" } else { b"RGB " };
    let icc = meta.filter(|m| m.transfer == format.transfer)?.icc.as_deref()?;
    (icc.get(16..20) == Some(space)).then_some(icc)
}
