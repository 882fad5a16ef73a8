//! Values of settings as text.

use super::values::outside;
use super::{
    Animated, Choice, FileAsset, ImageAsset, Kind, PlanesError, Points, PointsError, Setting, Value,
};
use crate::curve::{Animate, TextError, TextProblem, parse_spanned, trim};
use crate::frame::{RangesError, RangesProblem};
use core::fmt;
use core::ops::Range;

/// An error in the text of a value, and its position.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct ValueError {
    /// The byte range of the error; empty at the end of the text.
    pub at: Range<usize>,
    /// What is wrong.
    pub problem: ValueProblem,
}

/// See [`ValueError`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ValueProblem {
    /// An invalid number, position, colour or curve.
    #[error("{0}")]
    Text(TextProblem),
    /// A number outside its range, lowest and highest.
    #[error("{} is not from {} to {}", Animated::Constant(*.0), Animated::Constant(*.1), Animated::Constant(*.2))]
    Outside(f64, f64, f64),
    /// A whole number outside its range, lowest and highest.
    #[error("{0} is not from {1} to {2}")]
    IntegerOutside(i64, i64, i64),
    /// Not a whole number.
    #[error("not a whole number")]
    NotInteger,
    /// A curve for a value that cannot be animated.
    #[error("this setting cannot be animated")]
    Fixed,
    /// Neither `true` nor `false`.
    #[error("write true or false")]
    Switch,
    /// Not a seed.
    #[error("not a seed: write 0 to 18446744073709551615, or 0x and hex digits")]
    Seed,
    /// Not one of these words.
    #[error("write one of {}", .0.iter().map(|c| c.id).collect::<Vec<_>>().join(", "))]
    Choice(&'static [Choice]),
    /// Not frame numbers.
    #[error("{0}")]
    Frames(RangesError),
    /// Not planes.
    #[error("{0}")]
    Planes(PlanesError),
    /// Not points.
    #[error("{0}")]
    Points(PointsError),
    /// A value of another kind; the text names the expected one.
    #[error("this setting takes {0}")]
    Kind(String),
}

impl ValueError {
    /// The same error with its position moved by `by` bytes, for a text within another.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> ValueError {
        self.at = self.at.start + by..self.at.end + by;
        self
    }
}

impl From<TextError> for ValueError {
    fn from(e: TextError) -> ValueError {
        ValueError { at: e.at, problem: ValueProblem::Text(e.problem) }
    }
}

impl Setting {
    /// Parses a value of this setting. Surrounding white space is ignored; numbers are the same in every locale; a
    /// curve is accepted if [`Kind::animatable`]. The result has passed [`check`](Setting::check).
    ///
    /// # Errors
    /// The text is not a value of this setting; with the position of what is wrong.
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let at = trim(text, 0);
        self.parse_trimmed(&text[at.clone()]).map_err(|e| e.shifted(at.start))
    }

    fn parse_trimmed(&self, text: &str) -> Result<Value, ValueError> {
        let err = |problem| Err(ValueError { at: 0..text.len(), problem });
        if text.is_empty() {
            return err(ValueProblem::Text(TextProblem::Missing));
        }
        let may_have_equals =
            matches!(self.kind, Kind::Points { .. } | Kind::Image | Kind::File(_) | Kind::Text);
        if !self.kind.animatable() && !may_have_equals && text.contains('=') {
            return err(ValueProblem::Fixed);
        }
        match self.kind {
            Kind::Switch => switch(text).map(Value::Switch).map_or_else(|| err(ValueProblem::Switch), Ok),
            Kind::Integer { min, max } => match text.parse() {
                Ok(v) if (min..=max).contains(&v) => Ok(Value::Integer(v)),
                Ok(v) => err(ValueProblem::IntegerOutside(v, min, max)),
                Err(_) => err(ValueProblem::NotInteger),
            },
            Kind::Number { min, max } | Kind::Fixed { min, max } => {
                animated(text, min, max).map(Value::Number)
            }
            Kind::Position { min, max } => animated(text, min, max).map(Value::Position),
            Kind::Colour => animated(text, 0.0, 1.0).map(Value::Colour),
            Kind::Seed => seed(text).map(Value::Seed).map_or_else(|| err(ValueProblem::Seed), Ok),
            Kind::Choice(all) => match all.iter().find(|c| c.id == text) {
                Some(c) => Ok(Value::Choice(c.id)),
                None => err(ValueProblem::Choice(all)),
            },
            Kind::Frames => text.parse().map(Value::Frames).map_err(|e: RangesError| {
                let end = match e.problem {
                    RangesProblem::Unexpected(c) => e.at + c.len_utf8(),
                    RangesProblem::Empty | RangesProblem::TooMany => text.len(),
                    // Other errors are about a number or a range, which extends to the next separator.
                    _ => text[e.at..].find([',', '+', ' ']).map_or(text.len(), |n| e.at + n),
                };
                ValueError { at: e.at..end, problem: ValueProblem::Frames(e) }
            }),
            Kind::Planes => text.parse().map(Value::Planes).map_err(|e: PlanesError| {
                let end = e.at + text[e.at..].chars().next().map_or(0, char::len_utf8);
                ValueError { at: e.at..end, problem: ValueProblem::Planes(e) }
            }),
            Kind::Text => Ok(Value::Text(text.into())),
            Kind::Image => Ok(Value::Image(ImageAsset::named(text))),
            Kind::File(_) => Ok(Value::File(FileAsset::named(text))),
            Kind::SourceFrame => match text.parse::<i64>() {
                Ok(v) if v.unsigned_abs() <= 1 << 53 => Ok(Value::Image(ImageAsset::named(&v.to_string()))),
                _ => err(ValueProblem::NotInteger),
            },
            Kind::Points { min, max } => Points::parse(text, min, max)
                .map(Value::Points)
                .map_err(|e: PointsError| ValueError { at: e.at.clone(), problem: ValueProblem::Points(e) }),
        }
    }
}

fn switch(text: &str) -> Option<bool> {
    let is = |word: &&str| word.eq_ignore_ascii_case(text);
    if ["true", "1", "yes", "on"].iter().any(is) {
        Some(true)
    } else if ["false", "0", "no", "off"].iter().any(is) {
        Some(false)
    } else {
        None
    }
}

fn seed(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |h| (h, 16));
    // `from_str_radix` would accept a sign.
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

fn animated<T: Animate>(text: &str, min: f64, max: f64) -> Result<Animated<T>, ValueError> {
    let (value, spans) = if text.contains('=') {
        let (curve, spans) = parse_spanned(text)?;
        (Animated::Curve(curve), spans)
    } else {
        (Animated::Constant(T::parse(text)?), Vec::new())
    };
    match outside(&value, min, max) {
        None => Ok(value),
        Some((key, v)) => {
            let at = spans.get(key).cloned().unwrap_or(0..text.len());
            Err(ValueError { at, problem: ValueProblem::Outside(v, min, max) })
        }
    }
}

/// Prints a text that [`Setting::parse`] reads back to the same value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Switch(b) => b.fmt(f),
            Value::Integer(n) => n.fmt(f),
            Value::Number(n) => n.fmt(f),
            Value::Seed(s) => s.fmt(f),
            Value::Choice(word) => f.write_str(word),
            Value::Text(text) => f.write_str(text),
            Value::Position(p) => p.fmt(f),
            Value::Colour(c) => c.fmt(f),
            Value::Frames(r) => r.fmt(f),
            Value::Planes(p) => p.fmt(f),
            Value::Points(p) => p.fmt(f),
            Value::Image(p) => p.fmt(f),
            Value::File(d) => d.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FileKind;
    use super::*;

    const CHOICES: &[Choice] = &[Choice::new("uniform", ""), Choice::new("binomial", "")];

    fn setting(kind: Kind) -> Setting {
        Setting::new("x", "", kind)
    }

    #[test]
    fn every_kind_reads_and_prints() {
        let number = Kind::Number { min: 0.0, max: 100.0 };
        for (kind, text, printed) in [
            (Kind::Switch, " Yes ", "true"),
            (Kind::Switch, "0", "false"),
            (Kind::Integer { min: -2, max: 16 }, "+4", "4"),
            (number, "1e1", "10"),
            (number, "0=0; 48|=12", "0=0;48|=12"),
            (Kind::Fixed { min: 0.0, max: 1.0 }, ".5", "0.5"),
            (Kind::Seed, "0xFF", "255"),
            (Kind::Seed, "18446744073709551615", "18446744073709551615"),
            (Kind::Choice(CHOICES), "binomial", "binomial"),
            (Kind::Position { min: -1e6, max: 1e6 }, "0=1 2;5=3,4", "0=1,2;5=3,4"),
            (Kind::Colour, "white", "#ffffff"),
            (Kind::Frames, "0-48+96-", "0-48,96-"),
            (Kind::Planes, "u,y", "yu"),
            (Kind::Text, " a=b: {c} ", "a=b: {c}"),
            (Kind::Image, " a=b c.png ", "a=b c.png"),
            (Kind::File(FileKind::Effect), "a=b.toml", "a=b.toml"),
            (Kind::SourceFrame, " +0100", "100"),
            (Kind::Points { min: 0.0, max: 4.0 }, " 0=0 ; 0.5=1;1=.25", "0=0;0.5=1;1=0.25"),
        ] {
            let value = setting(kind).parse(text).unwrap();
            assert_eq!(value.to_string(), printed);
            assert_eq!(setting(kind).parse(printed), Ok(value.clone()));
            assert_eq!(setting(kind).check(&value), Ok(()));
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        use ValueProblem as P;
        let number = Kind::Number { min: 0.0, max: 100.0 };
        for (kind, text, at, problem) in [
            (Kind::Switch, "maybe", 0..5, P::Switch),
            (Kind::Switch, "0=1", 0..3, P::Fixed),
            (Kind::Fixed { min: 0.0, max: 1.0 }, "0=1", 0..3, P::Fixed),
            (Kind::Integer { min: 2, max: 16 }, " 17", 1..3, P::IntegerOutside(17, 2, 16)),
            (Kind::Integer { min: 2, max: 16 }, "4.0", 0..3, P::NotInteger),
            (number, "  ", 2..2, P::Text(TextProblem::Missing)),
            (number, "-1", 0..2, P::Outside(-1.0, 0.0, 100.0)),
            (number, " 0=0;9=101", 5..10, P::Outside(101.0, 0.0, 100.0)),
            (number, " 0=0;9*=1", 6..7, P::Text(TextProblem::Mark('*'))),
            (Kind::Seed, "0x", 0..2, P::Seed),
            (Kind::Seed, "+5", 0..2, P::Seed),
            (Kind::Choice(CHOICES), "Uniform", 0..7, P::Choice(CHOICES)),
            (Kind::Colour, "2,0,0", 0..5, P::Outside(2.0, 0.0, 1.0)),
            (Kind::Planes, "y,é", 2..4, P::Planes(PlanesError { at: 2 })),
        ] {
            assert_eq!(setting(kind).parse(text), Err(ValueError { at, problem }), "{text}");
        }
        for (text, at) in [("5,10-1,7", 2..6), ("5,1é", 3..5), ("5 -", 2..3)] {
            assert_eq!(setting(Kind::Frames).parse(text).map_err(|e| e.at), Err(at), "{text}");
        }
    }
}
