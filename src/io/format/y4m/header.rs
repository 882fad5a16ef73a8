//! The first line of a y4m stream, and the line before every frame.

use crate::format::images;
use grainfield_filters::frame::{Alpha, ColorRange, Depth, Family, FieldOrder, Format, FormatError, Siting};
use grainfield_filters::ratio::Ratio;

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
const VALID_RATE: &str = "a rate is two integers, as in F30000:1001, between 1/1000000 and 1000000 frames per second, or \
                          F0:0 if not known";
const VALID_ASPECT: &str =
    "a sample aspect ratio is two integers above zero, as in A16:11, or A0:0 if not known";
const VALID_CHROMA: &str = "a chroma format is one of 420jpeg, 420mpeg2, 420paldv, 420, 411, 422, 444, 410, 440 (with p9 \
                            to p16 after the number for more bits, as in 422p10), 444alpha, mono, and mono9 to mono16";
/// The limit on the length of composed headers, including the newline.
const MAX_COMPOSED: usize = 80;
/// The largest number of notes about a header.
const MAX_NOTES: usize = 8;

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

/// Advice for a file that is not y4m. With FFmpeg only files named NAME.y4m get here.
const ELSEWHERE: &str = if cfg!(feature = "ffmpeg") {
    ""
} else {
    "; this program was built without FFmpeg: pipe videos in, ffmpeg -i FILE -f yuv4mpegpipe -strict -1 - | grainfield \
     render - ..."
};

/// An error in a header.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HeaderError {
    /// The input is empty.
    #[error("is empty; a y4m stream begins with YUV4MPEG2")]
    Empty,
    /// Something else; what it is, or its beginning.
    #[error("is not a y4m stream: these begin with YUV4MPEG2, this {0}{ELSEWHERE}")]
    NotY4m(String),
    /// No newline within [`MAX_HEADER`] bytes.
    #[error("the header line is longer than {MAX_HEADER} bytes")]
    TooLong,
    /// The input ends inside the header.
    #[error("ends inside the header line")]
    Cut,
    /// A tag has an invalid value; the tag, the value and the valid ones.
    #[error("tag {0} of the header is \"{1}\": {2}")]
    Tag(char, String, &'static str),
    /// A tag is missing; the tag and its meaning.
    #[error("the header has no tag {0}, the {1}")]
    Missing(char, &'static str),
    /// A frame would have this size in bytes.
    #[error("a frame would have {0} bytes; at most {MAX_FRAME_BYTES} are read")]
    TooLarge(usize),
    /// Another invalid format.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// The beginning of arbitrary bytes, for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let more = if bytes.len() > 32 { "..." } else { "" };
    format!("{}{more}", bytes[..bytes.len().min(32)].escape_ascii())
}

/// The error if `start`, the first bytes of an input, cannot begin a y4m stream.
pub(super) fn not_y4m(start: &[u8]) -> HeaderError {
    let known: [(usize, &[u8], &str); 7] = [
        (4, b"ftyp", "is an MP4 or QuickTime file"),
        (0, b"\x1aE\xdf\xa3", "is a Matroska or WebM file"),
        (8, b"AVI ", "is an AVI file"),
        (0, FRAME, "is the middle of a stream, without its header"),
        (0, b"\x1f\x8b", "is a gzip file: unpack it first"),
        (0, b"\x28\xb5\x2f\xfd", "is a zstd file: unpack it first"),
        (0, b"\xfd7zXZ", "is an xz file: unpack it first"),
    ];
    if start.is_empty() {
        return HeaderError::Empty;
    }
    if let Some(kind) = images::Kind::detect(start) {
        return HeaderError::NotY4m(format!("is an image ({})", kind.label()));
    }
    let found = known.iter().find(|(at, magic, _)| start.get(*at..).is_some_and(|s| s.starts_with(magic)));
    HeaderError::NotY4m(found.map_or_else(|| format!("one with \"{}\"", excerpt(start)), |k| k.2.into()))
}

/// Parses a header line (without its newline). `rate` is the default if the header has none, else 25.
///
/// Tags may be in any order; the last of repeated ones applies. Unknown tags that begin with `X` are ignored, other
/// unknown ones with a note.
///
/// # Errors
/// [`HeaderError`].
pub fn parse(line: &[u8], rate: Option<Ratio>) -> Result<Parsed, HeaderError> {
    let tags = match line.strip_prefix(MAGIC) {
        Some([]) => &[],
        Some([b' ', tags @ ..]) => tags,
        _ => return Err(not_y4m(line)),
    };
    let mut notes = Vec::new();
    let (mut width, mut height) = (None, None);
    let (mut chroma, mut older_chroma) = (None, None);
    let mut given_rate = None;
    let mut format = Format::new(0, 0, Family::Yuv, Depth::Bits(8), (1, 1));
    for tag in tags.split(|&b| b == b' ').filter(|t| !t.is_empty()) {
        let value = &tag[1..];
        let invalid = |valid| HeaderError::Tag(tag[0].into(), excerpt(value), valid);
        match tag[0] {
            b'W' => {
                width = Some(side(value).ok_or_else(|| invalid("a width is an integer from 1 to 65536"))?)
            }
            b'H' => {
                height = Some(side(value).ok_or_else(|| invalid("a height is an integer from 1 to 65536"))?)
            }
            b'F' => {
                given_rate = match pair(value) {
                    Some((0, 0)) => None,
                    Some((n, d)) if n > 0 && n <= d * MAX_RATE && d <= n * MAX_RATE => Ratio::new(n, d),
                    _ => return Err(invalid(VALID_RATE)),
                }
            }
            b'A' => {
                format.aspect = match pair(value) {
                    Some((0, _)) => Ratio::ZERO,
                    Some((n, d)) if d > 0 => Ratio::new(n, d).unwrap_or(Ratio::ZERO),
                    _ => return Err(invalid(VALID_ASPECT)),
                }
            }
            b'I' => {
                let order = FIELD_ORDERS.iter().find(|(letter, _)| *value == [*letter]);
                format.fields = order.ok_or_else(|| invalid("it is one of p, t, b, m and ?"))?.1;
            }
            b'C' => chroma = Some(value.to_vec()),
            b'X' => {
                let name = value.strip_prefix(b"YSCSS=").map(<[u8]>::to_ascii_lowercase);
                older_chroma = name.or(older_chroma);
                match value.strip_prefix(b"COLORRANGE=") {
                    None => {}
                    Some(b"LIMITED") => format.range = ColorRange::Limited,
                    Some(b"FULL") => format.range = ColorRange::Full,
                    Some(other) => {
                        notes.push(format!("XCOLORRANGE=\"{}\" is neither LIMITED nor FULL", excerpt(other)));
                    }
                }
            }
            _ => notes.push(format!("the header's tag \"{}\" is not known", excerpt(tag))),
        }
    }
    format.width = width.ok_or(HeaderError::Missing('W', "width"))?;
    format.height = height.ok_or(HeaderError::Missing('H', "height"))?;
    let chroma = chroma.or(older_chroma).unwrap_or_else(|| {
        notes.push("the header has no chroma format: assuming 420jpeg".into());
        b"420jpeg".to_vec()
    });
    ColorSpace::parse(&chroma, &mut format)
        .ok_or_else(|| HeaderError::Tag('C', excerpt(&chroma), VALID_CHROMA))?;
    // PAL DV is interlaced; FFmpeg writes the same tag for progressive pictures with chroma at the top left.
    let progressive = matches!(format.fields, FieldOrder::Unspecified | FieldOrder::Progressive);
    if format.siting == Siting::PalDv && progressive {
        format.siting = Siting::TopLeft;
    }
    format.rate = given_rate.unwrap_or_else(|| {
        let assumed = rate.unwrap_or(Ratio::whole(25));
        notes.push(format!("the header has no frame rate: assuming {assumed}"));
        assumed
    });
    notes.truncate(MAX_NOTES);
    format.check()?;
    match format.frame_bytes() {
        bytes if bytes > MAX_FRAME_BYTES => Err(HeaderError::TooLarge(bytes)),
        _ => Ok(Parsed { format, notes }),
    }
}

/// An integer without a sign that fits 31 bits.
fn integer(text: &[u8]) -> Option<i64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok().filter(|n| *n <= i64::from(i32::MAX))
}

fn pair(text: &[u8]) -> Option<(i64, i64)> {
    let colon = text.iter().position(|&b| b == b':')?;
    Some((integer(&text[..colon])?, integer(&text[colon + 1..])?))
}

fn side(text: &[u8]) -> Option<u32> {
    let side = integer(text).and_then(|n| u32::try_from(n).ok());
    side.filter(|n| (1..=grainfield_filters::frame::MAX_SIDE).contains(n))
}

/// The values of tag `I`.
const FIELD_ORDERS: [(u8, FieldOrder); 5] = [
    (b'p', FieldOrder::Progressive),
    (b't', FieldOrder::TopFirst),
    (b'b', FieldOrder::BottomFirst),
    (b'm', FieldOrder::Mixed),
    (b'?', FieldOrder::Unspecified),
];

/// A value of tag `C`.
struct ColorSpace {
    name: &'static str,
    subsampling: (u8, u8),
    siting: Siting,
    /// Whether the name is also used with a depth above 8 bits: `420p10`, `mono10`. The siting is not specified then.
    is_deep: bool,
}

const fn color_space(name: &'static str, subsampling: (u8, u8), siting: Siting, is_deep: bool) -> ColorSpace {
    ColorSpace { name, subsampling, siting, is_deep }
}

/// All values of tag `C` for 8 bits. The first one that describes a format is written.
const COLOR_SPACES: [ColorSpace; 11] = [
    color_space("420jpeg", (1, 1), Siting::Center, false),
    color_space("420mpeg2", (1, 1), Siting::Left, false),
    color_space("420paldv", (1, 1), Siting::PalDv, false),
    color_space("420", (1, 1), Siting::Center, true),
    color_space("411", (2, 0), Siting::Unspecified, true),
    color_space("422", (1, 0), Siting::Unspecified, true),
    color_space("444", (0, 0), Siting::Unspecified, true),
    color_space("410", (2, 2), Siting::Unspecified, true),
    color_space("440", (0, 1), Siting::Unspecified, true),
    color_space(ALPHA, (0, 0), Siting::Unspecified, false),
    color_space(MONO, (0, 0), Siting::Unspecified, true),
];
const ALPHA: &str = "444alpha";
const MONO: &str = "mono";

impl ColorSpace {
    /// Sets the properties of a format that a value of tag `C` specifies; `None` for an unknown value.
    fn parse(name: &[u8], format: &mut Format) -> Option<()> {
        let name = std::str::from_utf8(name).ok()?;
        let (space, bits) = match COLOR_SPACES.iter().find(|space| space.name == name) {
            Some(space) => {
                format.siting = space.siting;
                (space, 8)
            }
            None => {
                let mono = name.strip_prefix(MONO).map(|bits| (MONO, bits));
                let (base, bits) = mono.or_else(|| name.split_once('p'))?;
                let bits = integer(bits.as_bytes()).filter(|n| (8..=16).contains(n))?;
                (COLOR_SPACES.iter().find(|space| space.is_deep && space.name == base)?, bits as u8)
            }
        };
        format.family = space.family();
        format.alpha = if space.name == ALPHA { Alpha::Straight } else { Alpha::None };
        format.depth = Depth::Bits(bits);
        format.subsampling = space.subsampling;
        Some(())
    }

    /// The value of tag `C` for a format, if there is one.
    fn compose(format: &Format) -> Option<String> {
        let Depth::Bits(bits) = format.depth else { return None };
        let siting = match format.siting {
            _ if format.subsampling != (1, 1) || bits > 8 => None,
            // unspecified means left
            Siting::Unspecified | Siting::Left => Some(Siting::Left),
            Siting::TopLeft | Siting::PalDv => Some(Siting::PalDv),
            _ => Some(Siting::Center),
        };
        let describes = |space: &&ColorSpace| {
            space.family() == format.family
                && space.subsampling == format.subsampling
                && (space.name == ALPHA) == format.has_alpha()
                && siting.is_none_or(|siting| siting == space.siting)
                && (bits == 8 || space.is_deep)
        };
        let name = COLOR_SPACES.iter().find(describes)?.name;
        Some(match (bits, name) {
            (8, _) => name.into(),
            (_, MONO) => format!("{name}{bits}"),
            _ => format!("{name}p{bits}"),
        })
    }

    fn family(&self) -> Family {
        if self.name == MONO { Family::Gray } else { Family::Yuv }
    }
}

/// Composes a header line with its newline, shorter than [`MAX_COMPOSED`] bytes. Terms of rate and aspect that are too
/// long are rounded; the range is left out if it is the default and the line would be too long. `None` for a format
/// that y4m does not support. `mixed` allows the field order that needs parameters on every FRAME line.
pub(super) fn compose(format: &Format, mixed: bool) -> Option<Vec<u8>> {
    let fields = match format.fields {
        FieldOrder::TopFirst => 't',
        FieldOrder::BottomFirst => 'b',
        FieldOrder::Mixed if mixed => 'm',
        _ => 'p',
    };
    let chroma = ColorSpace::compose(format)?;
    let most = i64::from(i32::MAX);
    for (rate_most, aspect_most, tag) in
        [(most, most, true), (most, 999, true), (999_999, 999, true), (999_999, 999, false)]
    {
        let rate = nearest(format.rate, rate_most);
        let aspect = match nearest(format.aspect, aspect_most) {
            a if a <= Ratio::ZERO => "0:0".into(),
            a => format!("{}:{}", a.num(), a.den()),
        };
        let range = match format.range {
            ColorRange::Limited if tag => " XCOLORRANGE=LIMITED",
            ColorRange::Full => " XCOLORRANGE=FULL",
            _ => "",
        };
        let (w, h, n, d) = (format.width, format.height, rate.num(), rate.den());
        let line = format!("YUV4MPEG2 W{w} H{h} F{n}:{d} I{fields} A{aspect} C{chroma}{range}\n");
        if line.len() < MAX_COMPOSED {
            return Some(line.into_bytes());
        }
    }
    None
}

/// The last convergent of `value`'s continued fraction (`value >= 0`) with terms of at most `most`.
fn nearest(value: Ratio, most: i64) -> Ratio {
    let (mut n, mut d) = (i128::from(value.num()), i128::from(value.den()));
    let ((mut p0, mut q0), (mut p1, mut q1)) = ((0i128, 1i128), (1i128, 0i128));
    while d != 0 {
        let a = n / d;
        (n, d) = (d, n % d);
        let (p, q) = (a * p1 + p0, a * q1 + q0);
        if p > most.into() || q > most.into() {
            break;
        }
        (p0, q0, p1, q1) = (p1, q1, p, q);
    }
    // nothing fits only if it is larger than `most` or smaller than its inverse
    match (p1, q1) {
        (1, 0) => Ratio::whole(most),
        (0, 1) if value > Ratio::ZERO => Ratio::new(1, most).unwrap_or(value),
        _ => Ratio::new(p1 as i64, q1 as i64).unwrap_or(value),
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
        assert!(not_y4m(b"\x89PNG\r\n").to_string().contains("PNG"));
        assert!(not_y4m(b"\0\0\0\x20ftypisom").to_string().contains("MP4"));
        assert!(not_y4m(b"\x1f\x8b\x08").to_string().contains("unpack"));
        assert!(not_y4m(b"hello").to_string().contains("YUV4MPEG2"));
    }

    fn text(format: &Format) -> String {
        String::from_utf8(compose(format, true).unwrap()).unwrap()
    }

    #[test]
    fn composed_headers_stay_short() {
        let mut f = Format::from_name("yuv420p10", 3840, 2160).unwrap();
        f.range = ColorRange::Limited;
        f.rate = Ratio::new(24000, 1001).unwrap();
        assert_eq!(text(&f), "YUV4MPEG2 W3840 H2160 F24000:1001 Ip A0:0 C420p10 XCOLORRANGE=LIMITED\n");
        for name in ["yuv420p", "yuva444p", "yuv444p16", "gray16"] {
            for range in [ColorRange::Limited, ColorRange::Full] {
                let mut f = Format::from_name(name, 65536, 1000).unwrap();
                f.range = range;
                f.rate = Ratio::new(i64::MAX, i64::MAX / 24 - 5).unwrap();
                f.aspect = Ratio::new(1_000_003, 999_983).unwrap();
                let line = text(&f);
                assert!(line.len() < MAX_COMPOSED, "{line}");
                let again = parse(line.trim_end().as_bytes(), None).unwrap().format;
                assert_eq!((again.rate, again.full_range()), (Ratio::whole(24), range == ColorRange::Full));
            }
        }
    }

    #[test]
    fn rounding_takes_the_nearest_short_fraction() {
        let r = |n, d| Ratio::new(n, d).unwrap();
        assert_eq!(nearest(r(24000, 1001), 999_999), r(24000, 1001));
        assert_eq!(nearest(r(355, 113), 100), r(22, 7));
        assert_eq!(nearest(r(1000, 1), 999), r(999, 1));
        assert_eq!(nearest(r(1, 1000), 999), r(1, 999));
        assert_eq!(nearest(Ratio::ZERO, 999), Ratio::ZERO);
    }
}
