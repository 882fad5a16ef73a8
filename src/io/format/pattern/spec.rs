//! The description of a pattern: `NAME:key=value:key=value`.

use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, Family, FieldOrder, Format, FormatError, Matrix, NameError, Primaries, Siting,
    Transfer,
};
use grainfield_filters::ratio::{Ratio, broadcast_rate};
use grainfield_filters::recipe::nearest;
use std::str::FromStr;

/// The largest picture in bytes.
pub const MAX_FRAME_BYTES: usize = 1 << 31;

/// The kind of picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Eight vertical bars of 75%: white, yellow, cyan, green, magenta, red, blue, black.
    Bars,
    /// Grey from the lowest legal code at the left to the highest at the right.
    Ramp,
    /// One grey everywhere.
    Grey,
    /// Rings that get finer outwards, up to the resolution limit; they move.
    Zoneplate,
    /// Black and white squares, black at the top left.
    Checker,
    /// Black, and fully transparent.
    Transparent,
}

const KINDS: [(&str, Kind); 6] = [
    ("bars", Kind::Bars),
    ("ramp", Kind::Ramp),
    ("grey", Kind::Grey),
    ("zoneplate", Kind::Zoneplate),
    ("checker", Kind::Checker),
    ("transparent", Kind::Transparent),
];

const KEYS: [&str; 8] = ["size", "frames", "rate", "format", "range", "level", "square", "alpha"];

/// A pattern with all its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// The kind of picture.
    pub kind: Kind,
    /// The format of every frame.
    pub format: Format,
    /// The number of frames, at least 1.
    pub frames: i64,
    /// The grey of [`Kind::Grey`], from 0 (black) to 1 (white).
    pub level: Ratio,
    /// The side of the squares of [`Kind::Checker`], in luma samples, at least 1.
    pub square: u32,
}

/// An error in the description of a pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// There is no pattern of that name; with a suggestion.
    #[error("there is no pattern '{}'; the patterns are {}{}", .0, KINDS.map(|k| k.0).join(", "), .1)]
    Kind(String, String),
    /// There is no key of that name; with a suggestion.
    #[error("a pattern has no key '{}'; its keys are {}{}", .0, KEYS.join(", "), .1)]
    Key(String, String),
    /// Not `key=value`.
    #[error("'{0}' is not of the form key=value, as in size=1920x1080")]
    NoValue(String),
    /// A key is given twice.
    #[error("the key '{0}' is given twice")]
    Twice(String),
    /// An invalid value of a key, and the valid ones.
    #[error("{0}={1}: it must be {2}")]
    Value(&'static str, String, &'static str),
    /// There is no such pixel format.
    #[error("format={}: {}", .0.0, .0)]
    Name(NameError),
    /// An invalid format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A frame would have this size in bytes.
    #[error("a frame would have {0} bytes; at most {MAX_FRAME_BYTES} are drawn")]
    TooLarge(usize),
    /// The transparent pattern, or the key `alpha`, with a format without alpha.
    #[error("{0} has no alpha; use format=gbrap, yuva444p or ya8")]
    Opaque(String),
}

/// A suggestion of the most similar name, if it is similar enough.
fn suggestion(name: &str, all: impl Iterator<Item = &'static str>) -> String {
    nearest(name, all).map_or_else(String::new, |nearest| format!("; {nearest}"))
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.into(),
    }
}

impl Spec {
    /// Parses the text after `pattern:`. `rate` is the default rate, else 24.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn parse(text: &str, rate: Option<Ratio>) -> Result<Spec, SpecError> {
        let (name, list) = text.split_once(':').map_or((text, None), |(name, list)| (name, Some(list)));
        let alias = if name == "gray" { "grey" } else { name };
        let kind = KINDS.iter().find(|k| k.0 == alias).map(|k| k.1);
        let kind =
            kind.ok_or_else(|| SpecError::Kind(excerpt(name), suggestion(name, KINDS.iter().map(|k| k.0))))?;
        let [size, frames, given_rate, name, range, level, square, alpha] = values(list)?;

        let (width, height) = match size {
            None => (1920, 1080),
            Some(text) => text
                .split_once('x')
                .and_then(|(w, h)| Some((number::<u32>(w)?, number::<u32>(h)?)))
                .ok_or_else(|| SpecError::Value("size", excerpt(text), "WIDTHxHEIGHT, as 1920x1080"))?,
        };
        let default = if kind == Kind::Transparent { "gbrap" } else { "yuv420p" };
        let name = name.unwrap_or(default);
        let mut format =
            Format::from_name(name, width, height).map_err(|_| SpecError::Name(NameError(excerpt(name))))?;
        format.fields = FieldOrder::Progressive;
        format.aspect = Ratio::ONE;
        format.rate = match given_rate {
            None => rate.unwrap_or(Ratio::whole(24)),
            Some(text) => broadcast_rate(text)
                .or_else(|| Ratio::from_str(text).ok().filter(|r| *r > Ratio::ZERO))
                .ok_or_else(|| {
                    SpecError::Value("rate", excerpt(text), "above zero: 24, 23.976 or 24000/1001")
                })?,
        };
        match range {
            None => {}
            Some("full") => format.range = ColorRange::Full,
            Some("limited") => format.range = ColorRange::Limited,
            Some(text) => return Err(SpecError::Value("range", excerpt(text), "full or limited")),
        }
        tag(&mut format);
        match alpha {
            Some(_) if !format.has_alpha() => return Err(SpecError::Opaque(format.name())),
            None if kind == Kind::Transparent && !format.has_alpha() => {
                return Err(SpecError::Opaque(format.name()));
            }
            None | Some("straight") => {}
            Some("premultiplied") => format.alpha = Alpha::Premultiplied,
            Some(text) => return Err(SpecError::Value("alpha", excerpt(text), "straight or premultiplied")),
        }
        format.check()?;
        let bytes = format.frame_bytes();
        if bytes > MAX_FRAME_BYTES {
            return Err(SpecError::TooLarge(bytes));
        }
        let value = |key, text: Option<&str>, default: i64, most: i64, right| match text {
            None => Ok(default),
            Some(text) => number::<i64>(text)
                .filter(|n| (1..=most).contains(n))
                .ok_or_else(|| SpecError::Value(key, excerpt(text), right)),
        };
        let half = Ratio::new(1, 2).unwrap_or(Ratio::ZERO);
        Ok(Spec {
            kind,
            format,
            frames: value("frames", frames, 100, i64::MAX, "a whole number, 1 or more")?,
            level: match level {
                None => half,
                Some(text) => {
                    Ratio::from_str(text)
                        .ok()
                        .filter(|l| (Ratio::ZERO..=Ratio::ONE).contains(l))
                        .ok_or_else(|| SpecError::Value("level", excerpt(text), "from 0 to 1: 0.18 or 1/3"))?
                }
            },
            square: value("square", square, 16, 1 << 16, "a whole number from 1 to 65536")? as u32,
        })
    }
}

/// The values of a list `key=value:key=value`, in the order of [`KEYS`].
fn values(mut list: Option<&str>) -> Result<[Option<&str>; KEYS.len()], SpecError> {
    let mut given = [None; KEYS.len()];
    while let Some(text) = list {
        let (part, rest) = text.split_once(':').unwrap_or((text, ""));
        let (key, _) = part.split_once('=').ok_or_else(|| SpecError::NoValue(excerpt(part)))?;
        let at = KEYS.iter().position(|k| *k == key);
        let at = at.ok_or_else(|| SpecError::Key(excerpt(key), suggestion(key, KEYS.iter().copied())))?;
        // a rate may contain a colon
        let digits = |d: &&str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit());
        let denominator = rest.split(':').next().filter(|d| key == "rate" && digits(d));
        let end = part.len() + denominator.map_or(0, |d| 1 + d.len());
        if given[at].replace(&text[key.len() + 1..end]).is_some() {
            return Err(SpecError::Twice(key.into()));
        }
        list = text[end..].strip_prefix(':');
    }
    Ok(given)
}

/// A number that consists of digits only.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Sets the usual colour tags for a picture of that size.
fn tag(format: &mut Format) {
    if format.range == ColorRange::Unspecified {
        let full = format.family == Family::Rgb || format.depth == Depth::Float;
        format.range = if full { ColorRange::Full } else { ColorRange::Limited };
    }
    if format.family == Family::Rgb {
        format.matrix = Matrix::RGB;
        (format.primaries, format.transfer) = (Primaries::BT709, Transfer::SRGB);
        return;
    }
    let matrix = Matrix::assumed(format.height);
    (format.primaries, format.transfer) = match matrix {
        Matrix::BT709 => (Primaries::BT709, Transfer::BT709),
        _ => (Primaries::SMPTE170M, Transfer::SMPTE170M),
    };
    if format.family == Family::Yuv {
        format.matrix = matrix;
    }
    if format.subsampling == (1, 1) {
        format.siting = Siting::Left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> Spec {
        Spec::parse(text, None).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn given_and_default_values() {
        let s = ok("bars");
        assert_eq!((s.format.width, s.format.height, s.frames), (1920, 1080, 100));
        assert_eq!(
            (s.format.name().as_str(), s.format.rate, s.format.matrix),
            ("yuv420p", Ratio::whole(24), Matrix::BT709)
        );
        assert_eq!(ok("transparent").format.name(), "gbrap");
        let s = ok("grey:size=64x36:frames=1000000:rate=24000/1001:format=gray16:range=full:level=0.18");
        assert_eq!(
            (s.frames, s.level, s.format.range),
            (1_000_000, Ratio::new(18, 100).unwrap(), ColorRange::Full)
        );
        assert_eq!(s.format.rate, Ratio::new(24000, 1001).unwrap());
        assert_eq!(ok("grey:rate=24000:1001:size=2x2").format.rate, Ratio::new(24000, 1001).unwrap());
        assert_eq!(ok("ramp:format=yuvj420p").format.range, ColorRange::Full);
        assert_eq!(ok("ramp:format=gbrpf32").format.range, ColorRange::Full);
        assert_eq!(ok("ramp:size=720x576").format.matrix, Matrix::SMPTE170M);
        assert_eq!(ok("transparent:alpha=premultiplied:format=gbrapf32").format.alpha, Alpha::Premultiplied);
        assert_eq!(ok("grey:frames=9223372036854775807").frames, i64::MAX);
    }

    #[test]
    fn errors_help() {
        for (text, word) in [
            ("", "are bars, ramp"),
            ("bar", "'bars'"),
            ("zoneplat", "'zoneplate'"),
            ("nonsense", "no pattern 'nonsense'"),
            ("bars:siz=2x2", "'size'"),
            ("bars:size", "key=value"),
            ("bars:", "key=value"),
            ("bars:size=2x2:size=2x2", "twice"),
            ("bars:size=2", "WIDTHxHEIGHT"),
            ("bars:size=0x4", "1 to 65536"),
            ("bars:size=+4x4", "WIDTHxHEIGHT"),
            ("bars:size=99999x4", "1 to 65536"),
            ("bars:size=65536x65536", "at most"),
            ("bars:frames=0", "1 or more"),
            ("bars:frames=-1", "1 or more"),
            ("bars:frames=99999999999999999999", "1 or more"),
            ("bars:rate=0", "above zero"),
            ("bars:rate=-1", "above zero"),
            ("bars:format=rgb24", "rgb24"),
            ("bars:range=tv", "full or limited"),
            ("grey:level=1.1", "0 to 1"),
            ("checker:square=0", "1 to 65536"),
            ("transparent:format=yuv420p", "no alpha"),
            ("bars:alpha=straight", "no alpha"),
            ("bars:format=gbrap:alpha=x", "premultiplied"),
        ] {
            let e = Spec::parse(text, None).unwrap_err().to_string();
            assert!(e.contains(word), "{text}: {e}");
        }
    }
}
