//! The first line of a y4m stream, and the line before every frame.

use grainfield_filters::frame::{Alpha, ColorRange, Depth, Family, FieldOrder, Format, FormatError, Siting};
use grainfield_filters::ratio::Ratio;
use std::fmt;

/// The beginning of every stream.
pub const MAGIC: &[u8] = b"YUV4MPEG2";
/// The beginning of every frame.
pub const FRAME: &[u8] = b"FRAME";
/// The longest header line that is read, in bytes: far longer than any program writes.
pub const MAX_HEADER: usize = 64 << 10;
/// The longest FRAME line that is read, in bytes.
pub const MAX_FRAME_LINE: usize = 4 << 10;
/// The largest frame that is read, in bytes: 16384x16384 4:4:4 of 16 bits and alpha.
pub const MAX_FRAME_BYTES: usize = 1 << 31;
/// Rates outside 1/this to this frames per second are errors.
const MAX_RATE: i64 = 1_000_000;

/// The original header of a y4m stream, for a sink that repeats it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Y4mHeader {
    /// The line without its newline.
    pub line: Vec<u8>,
}

/// The parameters of a FRAME line, for a sink that repeats them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Y4mFrame {
    /// Everything between `FRAME` and the newline, the leading space included; never empty.
    pub parameters: Vec<u8>,
}

/// A parsed header.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The format of every frame.
    pub format: Format,
    /// Assumptions about properties that the header does not specify.
    pub notes: Vec<String>,
}

/// An error in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderError {
    /// The input is empty.
    Empty,
    /// Something else; a guess of what it is, and its beginning.
    NotY4m(Option<&'static str>, String),
    /// No newline within [`MAX_HEADER`] bytes.
    TooLong,
    /// The input ends inside the header.
    Cut,
    /// Tag `W` or `H` is not a valid integer.
    Side(char, String),
    /// Tag `W` or `H` is missing.
    Missing(char),
    /// Tag `F` is not a rate.
    Rate(String),
    /// Tag `A` is not an aspect ratio.
    Aspect(String),
    /// Tag `I` has an unknown letter.
    Interlacing(String),
    /// Tag `C` (or `XYSCSS=` without one) has an unknown chroma format.
    Chroma(String),
    /// A frame would have this size in bytes.
    TooLarge(usize),
    /// Another invalid format.
    Format(FormatError),
}

/// Advice for a file that is not y4m. With FFmpeg only files named NAME.y4m get here.
const ELSEWHERE: &str = if cfg!(feature = "ffmpeg") {
    ""
} else {
    "; this program was built without FFmpeg: pipe videos in, ffmpeg -i FILE -f yuv4mpegpipe -strict -1 - | grainfield \
     render - ..."
};

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Empty => write!(f, "is empty; a y4m stream begins with YUV4MPEG2"),
            HeaderError::NotY4m(Some(what), _) => {
                write!(
                    f,
                    "is not a y4m stream (these begin with YUV4MPEG2): this looks like {what}{ELSEWHERE}"
                )
            }
            HeaderError::NotY4m(None, start) => {
                write!(
                    f,
                    "is not a y4m stream: these begin with YUV4MPEG2, this one with \"{start}\"{ELSEWHERE}"
                )
            }
            HeaderError::TooLong => write!(f, "the header line is longer than {MAX_HEADER} bytes"),
            HeaderError::Cut => write!(f, "ends inside the header line"),
            HeaderError::Side(tag, text) => {
                let what = if *tag == 'W' { "width" } else { "height" };
                write!(f, "tag {tag} of the header is \"{text}\": a {what} is a whole number from 1 to 65536")
            }
            HeaderError::Missing(tag) => {
                let what = if *tag == 'W' { "width" } else { "height" };
                write!(f, "the header has no tag {tag}, the {what}")
            }
            HeaderError::Rate(text) => write!(
                f,
                "tag F of the header is \"{text}\": a rate is two whole numbers, as in F30000:1001, between \
                 1/{MAX_RATE} and {MAX_RATE} frames per second, or F0:0 if not known"
            ),
            HeaderError::Aspect(text) => write!(
                f,
                "tag A of the header is \"{text}\": a sample aspect ratio is two whole numbers above zero, as in \
                    A16:11, or A0:0 if not known"
            ),
            HeaderError::Interlacing(text) => {
                write!(f, "tag I of the header is \"{text}\": it is one of p, t, b, m and ?")
            }
            HeaderError::Chroma(text) => write!(
                f,
                "the chroma format \"{text}\" is not known; known are 420jpeg, 420mpeg2, 420paldv, 420, 411, 422, \
                 444, 410, 440 (with p9 to p16 after the number for more bits, as in 422p10), 444alpha, mono, and \
                 mono9 to mono16"
            ),
            HeaderError::TooLarge(bytes) => {
                write!(f, "a frame would have {bytes} bytes; at most {MAX_FRAME_BYTES} are read")
            }
            HeaderError::Format(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for HeaderError {}

/// The beginning of arbitrary bytes, for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let more = if bytes.len() > 32 { "..." } else { "" };
    format!("{}{more}", bytes[..bytes.len().min(32)].escape_ascii())
}

/// A guess of the type of a file that is not y4m.
fn guess(start: &[u8]) -> Option<&'static str> {
    let known: &[(usize, &[u8], &str)] = &[
        (0, b"\x89PNG", "a PNG image"),
        (0, b"\xff\xd8\xff", "a JPEG image"),
        (0, b"II*\0", "a TIFF image"),
        (0, b"MM\0*", "a TIFF image"),
        (0, b"v/1\x01", "an OpenEXR image"),
        (0, b"SDPX", "a DPX image"),
        (0, b"XPDS", "a DPX image"),
        (0, b"\x80\x2a\x5f\xd7", "a Cineon image"),
        (0, b"\xd7\x5f\x2a\x80", "a Cineon image"),
        (0, b"GIF8", "a GIF image"),
        (4, b"ftyp", "an MP4 or QuickTime file"),
        (0, b"\x1aE\xdf\xa3", "a Matroska or WebM file"),
        (8, b"AVI ", "an AVI file"),
        (8, b"WEBP", "a WebP image"),
        (0, b"\x1f\x8b", "a gzip file; unpack it first"),
        (0, b"\x28\xb5\x2f\xfd", "a zstd file; unpack it first"),
        (0, b"\xfd7zXZ", "an xz file; unpack it first"),
        (0, b"YUV4MPEG ", "the first version of the format, which has no header tags"),
        (0, b"FRAME", "the middle of a y4m stream, without its header"),
    ];
    known.iter().find(|(at, magic, _)| start.get(*at..).is_some_and(|s| s.starts_with(magic))).map(|k| k.2)
}

/// The error if `start`, the first bytes of an input, cannot begin a y4m stream.
pub(super) fn not_y4m(start: &[u8]) -> HeaderError {
    if start.is_empty() { HeaderError::Empty } else { HeaderError::NotY4m(guess(start), excerpt(start)) }
}

/// Parses a header line (without its newline). `rate` is the default if the header has none, else 25.
///
/// Tags may be in any order; the last of repeated ones applies. Unknown tags that begin with `X` are ignored, other
/// unknown ones with a note.
pub fn parse(line: &[u8], rate: Option<Ratio>) -> Result<Parsed, HeaderError> {
    let tags = match line.strip_prefix(MAGIC) {
        Some([]) => &[],
        Some([b' ', tags @ ..]) => tags,
        _ => return Err(not_y4m(line)),
    };
    let mut notes = Vec::new();
    let (mut width, mut height) = (None, None);
    let (mut chroma, mut older) = (None, None);
    let mut said_rate = None;
    let mut format = Format::new(0, 0, Family::Yuv, Depth::Bits(8), (1, 1));
    for tag in tags.split(|&b| b == b' ').filter(|t| !t.is_empty()) {
        let value = &tag[1..];
        match tag[0] {
            b'W' => width = Some(side('W', value)?),
            b'H' => height = Some(side('H', value)?),
            b'F' => said_rate = parse_rate(value)?,
            b'A' => format.aspect = parse_aspect(value)?,
            b'I' => format.fields = parse_fields(value)?,
            b'C' => chroma = Some(value),
            b'X' => {
                if let Some(name) = value.strip_prefix(b"YSCSS=") {
                    older = Some(name);
                } else if let Some(name) = value.strip_prefix(b"COLORRANGE=") {
                    match name {
                        b"LIMITED" => format.range = ColorRange::Limited,
                        b"FULL" => format.range = ColorRange::Full,
                        _ => note(&mut notes, || {
                            format!("XCOLORRANGE=\"{}\" is neither LIMITED nor FULL", excerpt(name))
                        }),
                    }
                }
            }
            _ => note(&mut notes, || format!("the header's tag \"{}\" is not known", excerpt(tag))),
        }
    }
    format.width = width.ok_or(HeaderError::Missing('W'))?;
    format.height = height.ok_or(HeaderError::Missing('H'))?;
    let shape = match (chroma, older) {
        (Some(name), _) => parse_chroma(name).ok_or_else(|| HeaderError::Chroma(excerpt(name)))?,
        (None, Some(name)) => {
            parse_chroma(&name.to_ascii_lowercase()).ok_or_else(|| HeaderError::Chroma(excerpt(name)))?
        }
        (None, None) => {
            note(&mut notes, || "the header has no chroma format: assuming 420jpeg".into());
            Shape { siting: Siting::Center, ..Shape::yuv((1, 1), 8) }
        }
    };
    format.family = shape.family;
    format.depth = Depth::Bits(shape.bits);
    format.subsampling = shape.subsampling;
    format.alpha = if shape.alpha { Alpha::Straight } else { Alpha::None };
    // PAL DV is interlaced; FFmpeg writes the same tag for progressive pictures with chroma at the top left.
    format.siting = match (shape.siting, format.fields) {
        (Siting::PalDv, FieldOrder::Unspecified | FieldOrder::Progressive) => Siting::TopLeft,
        (siting, _) => siting,
    };
    format.rate = said_rate.unwrap_or_else(|| {
        let assumed = rate.unwrap_or(Ratio::whole(25));
        note(&mut notes, || format!("the header has no frame rate: assuming {assumed}"));
        assumed
    });
    format.check().map_err(HeaderError::Format)?;
    match format.frame_bytes() {
        bytes if bytes > MAX_FRAME_BYTES => Err(HeaderError::TooLarge(bytes)),
        _ => Ok(Parsed { format, notes }),
    }
}

/// Adds a note, up to a limit.
fn note(notes: &mut Vec<String>, text: impl FnOnce() -> String) {
    if notes.len() < 8 {
        notes.push(text());
    }
}

/// An integer without a sign that fits 31 bits.
fn whole(text: &[u8]) -> Option<u32> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let n: u32 = std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()?;
    (n <= i32::MAX as u32).then_some(n)
}

fn pair(text: &[u8]) -> Option<(u32, u32)> {
    let colon = text.iter().position(|&b| b == b':')?;
    Some((whole(&text[..colon])?, whole(&text[colon + 1..])?))
}

fn side(tag: char, text: &[u8]) -> Result<u32, HeaderError> {
    whole(text)
        .filter(|n| (1..=grainfield_filters::frame::MAX_SIDE).contains(n))
        .ok_or_else(|| HeaderError::Side(tag, excerpt(text)))
}

fn parse_rate(text: &[u8]) -> Result<Option<Ratio>, HeaderError> {
    let err = || HeaderError::Rate(excerpt(text));
    match pair(text).ok_or_else(err)? {
        (0, 0) => Ok(None),
        (n, d) => {
            let rate = Ratio::new(n.into(), d.into()).ok_or_else(err)?;
            let (n, d) = (i64::from(n), i64::from(d));
            let sane = n > 0 && n <= d * MAX_RATE && d <= n * MAX_RATE;
            if sane { Ok(Some(rate)) } else { Err(err()) }
        }
    }
}

fn parse_aspect(text: &[u8]) -> Result<Ratio, HeaderError> {
    match pair(text) {
        Some((0, _)) => Ok(Ratio::ZERO),
        Some((n, d)) if d > 0 => Ok(Ratio::new(n.into(), d.into()).unwrap_or(Ratio::ZERO)),
        _ => Err(HeaderError::Aspect(excerpt(text))),
    }
}

fn parse_fields(text: &[u8]) -> Result<FieldOrder, HeaderError> {
    match text {
        b"p" => Ok(FieldOrder::Progressive),
        b"t" => Ok(FieldOrder::TopFirst),
        b"b" => Ok(FieldOrder::BottomFirst),
        b"m" => Ok(FieldOrder::Mixed),
        b"?" => Ok(FieldOrder::Unspecified),
        _ => Err(HeaderError::Interlacing(excerpt(text))),
    }
}

/// The meaning of a `C` tag.
#[derive(Clone, Copy)]
struct Shape {
    family: Family,
    bits: u8,
    subsampling: (u8, u8),
    alpha: bool,
    siting: Siting,
}

impl Shape {
    const fn yuv(subsampling: (u8, u8), bits: u8) -> Shape {
        Shape { family: Family::Yuv, bits, subsampling, alpha: false, siting: Siting::Unspecified }
    }
}

fn parse_chroma(name: &[u8]) -> Option<Shape> {
    let at = |siting| Some(Shape { siting, ..Shape::yuv((1, 1), 8) });
    match name {
        b"420jpeg" | b"420" => return at(Siting::Center),
        b"420mpeg2" => return at(Siting::Left),
        b"420paldv" => return at(Siting::PalDv),
        b"444alpha" => return Some(Shape { alpha: true, ..Shape::yuv((0, 0), 8) }),
        b"mono" => return Some(Shape { family: Family::Gray, ..Shape::yuv((0, 0), 8) }),
        _ => {}
    }
    let depth = |text: &[u8]| whole(text).filter(|n| (8..=16).contains(n)).map(|n| n as u8);
    if let Some(bits) = name.strip_prefix(b"mono") {
        return Some(Shape { family: Family::Gray, ..Shape::yuv((0, 0), depth(bits)?) });
    }
    let subsampling = match name.get(..3)? {
        b"420" => (1, 1),
        b"422" => (1, 0),
        b"444" => (0, 0),
        b"411" => (2, 0),
        b"410" => (2, 2),
        b"440" => (0, 1),
        _ => return None,
    };
    match &name[3..] {
        [] => Some(Shape::yuv(subsampling, 8)),
        [b'p', bits @ ..] => Some(Shape::yuv(subsampling, depth(bits)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(line: &str) -> Parsed {
        parse(line.as_bytes(), None).unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    #[test]
    fn every_chroma_name() {
        for (tag, name, siting) in [
            ("420jpeg", "yuv420p", Siting::Center),
            ("420mpeg2", "yuv420p", Siting::Left),
            ("420paldv", "yuv420p", Siting::TopLeft),
            ("420", "yuv420p", Siting::Center),
            ("411", "yuv411p", Siting::Unspecified),
            ("410", "yuv410p", Siting::Unspecified),
            ("440", "yuv440p", Siting::Unspecified),
            ("422", "yuv422p", Siting::Unspecified),
            ("444", "yuv444p", Siting::Unspecified),
            ("444alpha", "yuva444p", Siting::Unspecified),
            ("mono", "gray", Siting::Unspecified),
            ("mono9", "gray9", Siting::Unspecified),
            ("mono16", "gray16", Siting::Unspecified),
            ("420p9", "yuv420p9", Siting::Unspecified),
            ("422p10", "yuv422p10", Siting::Unspecified),
            ("420p11", "yuv420p11", Siting::Unspecified),
            ("444p12", "yuv444p12", Siting::Unspecified),
            ("420p14", "yuv420p14", Siting::Unspecified),
            ("444p16", "yuv444p16", Siting::Unspecified),
        ] {
            let p = ok(&format!("YUV4MPEG2 W8 H6 F25:1 Ip A1:1 C{tag}"));
            assert_eq!((p.format.name().as_str(), p.format.siting), (name, siting), "{tag}");
            assert!(p.notes.is_empty());
        }
        assert_eq!(ok("YUV4MPEG2 W8 H6 F25:1 Ib A1:1 C420paldv").format.siting, Siting::PalDv);
    }

    #[test]
    fn any_order_repeats_and_strangers() {
        let p = ok("YUV4MPEG2 XFOO=1 C422 A16:11 It  XCOLORRANGE=FULL H8 F30000:1001 W3 W4 Z9");
        assert_eq!((p.format.width, p.format.height), (4, 8));
        assert_eq!(p.format.fields, FieldOrder::TopFirst);
        assert_eq!(p.format.range, ColorRange::Full);
        assert_eq!(p.format.aspect, Ratio::new(16, 11).unwrap());
        assert_eq!(p.format.rate, Ratio::new(30000, 1001).unwrap());
        assert_eq!(p.notes.len(), 1);
    }

    #[test]
    fn missing_tags_have_defaults() {
        let p = ok("YUV4MPEG2 W4 H4");
        assert_eq!((p.format.rate, p.format.siting), (Ratio::whole(25), Siting::Center));
        assert_eq!(p.notes.len(), 2);
        let p = parse(b"YUV4MPEG2 W4 H4 F0:0 XYSCSS=420MPEG2", Some(Ratio::whole(60))).unwrap();
        assert_eq!((p.format.rate, p.format.siting), (Ratio::whole(60), Siting::Left));
        assert_eq!(ok("YUV4MPEG2 W4 H4 F1:1 XYSCSS=444P12").format.name(), "yuv444p12");
        assert_eq!(ok("YUV4MPEG2 W4 H4 F1:1 XYSCSS=444P12 C422").format.name(), "yuv422p");
    }

    #[test]
    fn errors_name_the_tag() {
        for (tags, word) in [
            ("W0 H4", "tag W"),
            ("W-1 H4", "tag W"),
            ("W H4", "tag W"),
            ("W65537 H4", "tag W"),
            ("W99999999999999999999 H4", "tag W"),
            ("W4 H+4", "tag H"),
            ("W4 H4x", "tag H"),
            ("H4", "no tag W"),
            ("W4", "no tag H"),
            ("W4 H4 F0:1", "tag F"),
            ("W4 H4 F25:0", "tag F"),
            ("W4 H4 F-25:1", "tag F"),
            ("W4 H4 F25", "tag F"),
            ("W4 H4 F29.97:1", "tag F"),
            ("W4 H4 F2000000000:1", "tag F"),
            ("W4 H4 F1:2000000000", "tag F"),
            ("W4 H4 A1:0", "tag A"),
            ("W4 H4 A-1:1", "tag A"),
            ("W4 H4 Ix", "tag I"),
            ("W4 H4 I", "tag I"),
            ("W4 H4 C421", "chroma format"),
            ("W4 H4 C420p7", "chroma format"),
            ("W4 H4 C420p17", "chroma format"),
            ("W4 H4 Cmono\u{e9}", "chroma format"),
            ("W4 H4 C", "chroma format"),
            ("W65536 H65536 C444p16", "a frame would have"),
        ] {
            let e = parse(format!("YUV4MPEG2 {tags}").as_bytes(), None).unwrap_err().to_string();
            assert!(e.contains(word), "{tags}: {e}");
        }
        assert!(not_y4m(b"\x89PNG\r\n").to_string().contains("a PNG image"));
        assert!(not_y4m(b"\0\0\0\x20ftypisom").to_string().contains("MP4"));
        assert!(not_y4m(b"hello").to_string().contains("YUV4MPEG2"));
    }
}
