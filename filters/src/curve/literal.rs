//! Numbers, positions and colours as text, the same in every locale. Printed text reads back to the same bits.

use super::{Animate, CurveError};
use core::fmt;
use core::ops::Range;

/// An error in a text, and its position.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct TextError {
    /// The byte range of the error; empty at the end of the text.
    pub at: Range<usize>,
    /// What is wrong.
    pub problem: TextProblem,
}

/// See [`TextError`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TextProblem {
    /// A value is missing.
    #[error("a value is missing here")]
    Missing,
    /// Not a number.
    #[error("not a number: write 12, 0.5 or 1e-3")]
    Number,
    /// A number with a comma in it.
    #[error("use a decimal point, not a comma: 0.5")]
    Comma,
    /// Too large for 64-bit floating point, or infinity or NaN.
    #[error("not a finite number: write 12, 0.5 or 1e-3")]
    Finite,
    /// Not two numbers.
    #[error(
        "not a position: write x,y as in 960,540; in a chain a comma ends the filter, so put quotes around both: \
         \"transform=pan='0.1,0'\""
    )]
    Position,
    /// Neither a colour's name nor its numbers.
    #[error("not a colour: write #rrggbb, #rrggbbaa, a name such as black, or r,g,b from 0 to 1")]
    Colour,
    /// Not a time of a key.
    #[error("not a time: write a frame (48, or -1 for the last), 1.5s, 500ms, 00:00:01.5 or 25%")]
    Time,
    /// Minutes or seconds beyond 59, or a number with too many digits to be exact.
    #[error("minutes and seconds are at most 59, and a time has at most 15 decimals")]
    TimeRange,
    /// A percentage outside 0 to 100.
    #[error("a percentage is from 0% to 100%, the first and the last frame")]
    Percent,
    /// A timecode with a frame count at its end.
    #[error("frames inside a timecode depend on the rate: write the frame's number or 00:00:01.5")]
    FrameTimecode,
    /// This mark before `=` is not a shape.
    #[error(
        "{0:?} is not a shape: '=' is linear, '|=' holds, '~=' is smooth, a letter or (sine-in) is an ease"
    )]
    Mark(char),
    /// One of MLT's smooth shapes that this program does not support.
    #[error("MLT's '{0}' is not supported: '~' is smooth without overshooting")]
    MltSmooth(char),
    /// There is no shape of this name.
    #[error("no such shape: write hold, linear, smooth, bspline, hermite, bezier or an ease such as sine-in")]
    Shape,
    /// This shape takes no numbers.
    #[error("this shape takes no arguments")]
    ShapeTakesNone,
    /// Expected two slopes.
    #[error("a hermite shape takes two slopes, at its start and end: hermite 0.5 0")]
    Hermite,
    /// Expected two handles.
    #[error(
        "a bezier shape takes two handles, each a fraction of the time from 0 to 1 and a value: bezier 0.3 0 0.7 0"
    )]
    Bezier,
    /// Expected this many numbers separated by commas.
    #[error("{}", if *.0 == 1 { "expected one number".into() } else { format!("expected {} numbers separated by commas", .0) })]
    Parts(usize),
    /// A parenthesis that is not closed, or text after it.
    #[error("put the name of a shape in parentheses before '=': 48(sine-in)=12")]
    Paren,
    /// There is no extrapolation of this name.
    #[error("write hold, repeat, mirror or extrapolate")]
    Extend,
    /// A key after the extrapolation that ends a curve.
    #[error("the rule for the time after the last key must be the end of the curve")]
    AfterLast,
    /// A key without `=`.
    #[error("a key needs '=' and a value, as in 48=12")]
    NoValue,
    /// The keys do not form a valid curve.
    #[error("{0}")]
    Curve(CurveError),
}

impl TextError {
    pub(crate) fn new(at: Range<usize>, problem: TextProblem) -> TextError {
        TextError { at, problem }
    }

    /// The same error with its position moved by `by` bytes, for a text within another.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> TextError {
        self.at = self.at.start + by..self.at.end + by;
        self
    }
}

/// A finite decimal number.
pub(crate) fn number(text: &str) -> Result<f64, TextError> {
    let err = |problem| Err(TextError::new(0..text.len(), problem));
    if text.is_empty() {
        return err(TextProblem::Missing);
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    match text.parse::<f64>() {
        Ok(v) if plain && v.is_finite() => Ok(v + 0.0), // turns -0 into 0
        Ok(_) => err(TextProblem::Finite),
        Err(_) if text.matches(',').count() == 1 && text.replace(',', ".").parse::<f64>().is_ok() => {
            err(TextProblem::Comma)
        }
        Err(_) => err(TextProblem::Number),
    }
}

/// Numbers separated by a comma or white space. All are counted; the first `N` are returned.
fn numbers<const N: usize>(text: &str, problem: TextProblem) -> Result<([f64; N], usize), TextError> {
    let whole = || TextError::new(0..text.len(), problem.clone());
    let (mut all, mut count, mut at) = ([0.0; N], 0, 0);
    for piece in text.split(',') {
        let mut inside = 0;
        for word in piece.split_ascii_whitespace() {
            // Search each word after the end of the one before it, so that its position is exact.
            let start = at + inside + piece[inside..].find(word).unwrap_or(0);
            let value = number(word).map_err(|e| e.shifted(start))?;
            if count < N {
                all[count] = value;
            }
            count += 1;
            inside = start - at + word.len();
        }
        if inside == 0 {
            return Err(whole());
        }
        at += piece.len() + 1;
    }
    Ok((all, count))
}

/// Parses the components of a value, separated by commas.
pub(crate) fn parts<T: Animate>(text: &str) -> Result<T, TextError> {
    let problem = TextProblem::Parts(T::COMPONENTS);
    match numbers::<4>(text, problem.clone())? {
        (all, count) if count == T::COMPONENTS => Ok(T::from_components(|i| all[i])),
        _ => Err(TextError::new(0..text.len(), problem)),
    }
}

/// Prints what [`parts`] reads.
pub(crate) fn print_parts<T: Animate>(value: &T, out: &mut dyn fmt::Write) -> fmt::Result {
    for i in 0..T::COMPONENTS {
        out.write_str(if i > 0 { "," } else { "" })?;
        print_number(value.component(i), out)?;
    }
    Ok(())
}

/// `x,y`.
pub(crate) fn position(text: &str) -> Result<[f64; 2], TextError> {
    match numbers::<2>(text, TextProblem::Position)? {
        (xy, 2) => Ok(xy),
        _ => Err(TextError::new(0..text.len(), TextProblem::Position)),
    }
}

/// The colour names that CSS and FFmpeg share.
const NAMES: [(&str, u32); 20] = [
    ("aqua", 0x00ff_ffff),
    ("black", 0x0000_00ff),
    ("blue", 0x0000_ffff),
    ("cyan", 0x00ff_ffff),
    ("fuchsia", 0xff00_ffff),
    ("gray", 0x8080_80ff),
    ("green", 0x0080_00ff),
    ("grey", 0x8080_80ff),
    ("lime", 0x00ff_00ff),
    ("magenta", 0xff00_ffff),
    ("maroon", 0x8000_00ff),
    ("navy", 0x0000_80ff),
    ("olive", 0x8080_00ff),
    ("orange", 0xffa5_00ff),
    ("purple", 0x8000_80ff),
    ("red", 0xff00_00ff),
    ("silver", 0xc0c0_c0ff),
    ("teal", 0x0080_80ff),
    ("white", 0xffff_ffff),
    ("yellow", 0xffff_00ff),
];

fn from_rgba8(rgba: u32) -> [f64; 4] {
    rgba.to_be_bytes().map(|b| f64::from(b) / 255.0)
}

/// `#rgb`, `#rrggbb`, `#rrggbbaa`, a name, or three or four numbers from 0 to 1.
pub(crate) fn colour(text: &str) -> Result<[f64; 4], TextError> {
    let err = || TextError::new(0..text.len(), TextProblem::Colour);
    if let Some(hex) = text.strip_prefix('#') {
        // `from_str_radix` would accept a sign.
        let digits = hex.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u32::from_str_radix(hex, 16).ok().filter(|_| digits);
        return match (value, hex.len()) {
            (Some(v), 3) => {
                let doubled = |nibble: u32| (v >> nibble & 0xf) * 0x11;
                Ok(from_rgba8(doubled(8) << 24 | doubled(4) << 16 | doubled(0) << 8 | 0xff))
            }
            (Some(v), 6) => Ok(from_rgba8(v << 8 | 0xff)),
            (Some(v), 8) => Ok(from_rgba8(v)),
            _ => Err(err()),
        };
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let name = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        return name.map(|(_, rgba)| from_rgba8(*rgba)).ok_or_else(err);
    }
    match numbers::<4>(text, TextProblem::Colour)? {
        ([r, g, b, _], 3) => Ok([r, g, b, 1.0]),
        (rgba, 4) => Ok(rgba),
        _ => Err(err()),
    }
}

/// Prints the shortest text that reads back to the same bits; with an exponent instead of many zeros.
pub(crate) fn print_number(v: f64, out: &mut dyn fmt::Write) -> fmt::Result {
    let v = v + 0.0;
    if v == 0.0 || (1e-5..1e16).contains(&v.abs()) { write!(out, "{v}") } else { write!(out, "{v:e}") }
}

pub(crate) fn print_numbers(all: &[f64], out: &mut dyn fmt::Write) -> fmt::Result {
    for (i, v) in all.iter().enumerate() {
        out.write_str(if i > 0 { "," } else { "" })?;
        print_number(*v, out)?;
    }
    Ok(())
}

/// Prints `#rrggbb` or `#rrggbbaa` if that is exact, else four numbers.
pub(crate) fn print_colour(rgba: &[f64; 4], out: &mut dyn fmt::Write) -> fmt::Result {
    // The cast saturates, so a value that is not an 8-bit code differs after conversion and is printed as a
    // number.
    let codes = rgba.map(|v| (v * 255.0 + 0.5) as u8);
    let exact = codes.iter().zip(rgba).all(|(c, v)| f64::from(*c) / 255.0 == *v);
    match codes {
        [r, g, b, 255] if exact => write!(out, "#{r:02x}{g:02x}{b:02x}"),
        [r, g, b, a] if exact => write!(out, "#{r:02x}{g:02x}{b:02x}{a:02x}"),
        _ => print_numbers(rgba, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed;
    use proptest::prelude::*;

    fn text<T: Animate>(v: T) -> String {
        let mut out = String::new();
        v.print(&mut out).unwrap();
        out
    }

    #[test]
    fn numbers_of_every_spelling() {
        for (text, v) in [("12", 12.0), ("-.5", -0.5), ("+1e-3", 0.001), ("5.", 5.0), ("1E5", 1e5)] {
            assert_eq!(f64::parse(text), Ok(v), "{text}");
        }
        use TextProblem::*;
        for (text, problem) in [
            ("", Missing),
            ("nan", Finite),
            ("-inf", Finite),
            ("1e999", Finite),
            ("0,5", Comma),
            ("1.2.3", Number),
            ("6x", Number),
        ] {
            assert_eq!(f64::parse(text).map_err(|e| e.problem), Err(problem), "{text}");
        }
        assert!(f64::parse("-0").unwrap().is_sign_positive());
        let printed = [0.0, -0.0, 0.1, 100.0, 1e16, 1.5e-9, f64::MAX, 123_456.75].map(text);
        assert_eq!(printed[..6], ["0", "0", "0.1", "100", "1e16", "1.5e-9"]);
        assert_eq!(printed[6..], ["1.7976931348623157e308", "123456.75"]);
    }

    #[test]
    fn positions_and_colours() {
        assert_eq!(<[f64; 2]>::parse("960, 540.5"), Ok([960.0, 540.5]));
        assert_eq!(<[f64; 2]>::parse("-1 2"), Ok([-1.0, 2.0]));
        assert_eq!(<[f64; 2]>::parse("1,x").map_err(|e| e.at), Err(2..3));
        assert_eq!(<[f64; 2]>::parse("1 1 x1").map_err(|e| e.at), Err(4..6));
        for bad in ["1", "1,2,3", ",1,2", "", "1,,2"] {
            assert_eq!(<[f64; 2]>::parse(bad).map_err(|e| e.problem), Err(TextProblem::Position), "{bad}");
        }
        let c = |t| <[f64; 4]>::parse(t);
        assert_eq!(c("White"), Ok([1.0; 4]));
        assert_eq!(c("#f00"), c("red"));
        assert_eq!(c("#00ff0080"), Ok([0.0, 1.0, 0.0, 128.0 / 255.0]));
        assert_eq!(c("0.1,0.2,0.3"), Ok([0.1, 0.2, 0.3, 1.0]));
        assert_eq!(c("1 1 1 0"), Ok([1.0, 1.0, 1.0, 0.0]));
        for bad in ["#12345", "#+12345", "#ééé", "mauvish", "1,2", "1,2,3,4,5", "#"] {
            assert_eq!(c(bad).map_err(|e| e.problem), Err(TextProblem::Colour), "{bad}");
        }
        assert_eq!(text(c("orange").unwrap()), "#ffa500");
        assert_eq!(text([0.5, -0.0, 1.0, 1.0]), "0.5,0,1,1");
    }

    proptest! {
        #![proptest_config(fixed(2))]

        #[test]
        fn printing_reads_back(a in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL, b in any::<u32>()) {
            prop_assert_eq!(f64::parse(&text(a)), Ok(a));
            prop_assert_eq!(<[f64; 2]>::parse(&text([a, 0.0])), Ok([a, 0.0]));
            prop_assert_eq!(<[f64; 4]>::parse(&text([0.0, a, 1.0, a])), Ok([0.0, a, 1.0, a]));
            let short = text(from_rgba8(b));
            prop_assert_eq!(<[f64; 4]>::parse(&short), Ok(from_rgba8(b)));
            prop_assert!(short.starts_with('#'));
        }

        #[test]
        fn no_text_panics(t in "[-#0-9a-f,. e+é]{0,16}") {
            let _ = (f64::parse(&t), <[f64; 2]>::parse(&t), <[f64; 4]>::parse(&t));
        }
    }
}
