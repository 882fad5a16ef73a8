//! Curves as text; the page of [`curve`](super) has the grammar.

use super::literal::{self, TextError, TextProblem};
use super::{Animate, Curve, CurveError, Ease, Extrapolation, Handles, Key, KeyTime, MAX_KEYS, Shape, ease};
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

/// A curve, and the position of each key in the text.
pub(crate) type Spanned<T> = (Curve<T>, Vec<Range<usize>>);

/// Parses a curve and keeps the positions of its keys.
pub(crate) fn parse<T: Animate>(text: &str) -> Result<Spanned<T>, TextError> {
    let (mut keys, mut spans) = (Vec::new(), Vec::new());
    let (mut before, mut after) = (Extrapolation::Hold, None);
    let mut at = 0;
    for piece in text.split(';') {
        let span = trim(piece, at);
        let first = at == 0;
        at += piece.len() + 1;
        let inner = &text[span.clone()];
        // A final `;` only ends the last key.
        if inner.is_empty() && at > text.len() && !keys.is_empty() {
            break;
        }
        if let Some(rule) = inner.strip_prefix('<').filter(|_| first) {
            before = extend(rule).map_err(|e| e.shifted(span.start + 1))?;
        } else if let Some(rule) = inner.strip_prefix('>').filter(|_| !keys.is_empty() && after.is_none()) {
            after = Some(extend(rule).map_err(|e| e.shifted(span.start + 1))?);
        } else if after.is_some() {
            return Err(TextError::new(span, TextProblem::AfterLast));
        } else if keys.len() == MAX_KEYS {
            return Err(TextError::new(span, TextProblem::Curve(CurveError::TooMany)));
        } else {
            keys.push(key(inner).map_err(|e| e.shifted(span.start))?);
            spans.push(span);
        }
    }
    match Curve::new(keys) {
        Ok(curve) => Ok((curve.with_extrapolation(before, after.unwrap_or_default()), spans)),
        Err(e) => {
            let at = e.key().and_then(|i| spans.get(i).cloned()).unwrap_or(0..text.len());
            Err(TextError::new(at, TextProblem::Curve(e)))
        }
    }
}

/// The range of the text without surrounding white space; `segment` itself starts at `at`.
pub(crate) fn trim(piece: &str, at: usize) -> Range<usize> {
    let start = at + (piece.len() - piece.trim_ascii_start().len());
    start..start.max(at + piece.trim_ascii_end().len())
}

fn extend(rule: &str) -> Result<Extrapolation, TextError> {
    let at = trim(rule, 0);
    Extrapolation::from_name(&rule[at.clone()]).ok_or_else(|| TextError::new(at, TextProblem::Extend))
}

fn key<T: Animate>(text: &str) -> Result<Key<T>, TextError> {
    let Some((left, right)) = text.split_once('=') else {
        return Err(TextError::new(0..text.len(), TextProblem::NoValue));
    };
    let (time, shape) = mark(left)?;
    let when = trim(time, 0);
    let at: KeyTime = text[when.clone()].parse().map_err(|e: TextError| e.shifted(when.start))?;
    let value = trim(right, left.len() + 1);
    if value.is_empty() {
        return Err(TextError::new(value, TextProblem::Missing));
    }
    let value = T::parse(&text[value.clone()]).map_err(|e| e.shifted(value.start))?;
    Ok(Key { at, value, shape })
}

/// Splits the mark from the text before `=`.
fn mark<T: Animate>(left: &str) -> Result<(&str, Shape<T>), TextError> {
    let left = left.trim_ascii_end();
    if let Some(open) = left.find('(') {
        let inner = left[open + 1..].strip_suffix(')');
        let inner = inner.ok_or_else(|| TextError::new(open..left.len(), TextProblem::Paren))?;
        return Ok((&left[..open], Shape::parse(inner).map_err(|e| e.shifted(open + 1))?));
    }
    let Some(last) = left.chars().next_back() else { return Ok((left, Shape::Linear)) };
    let rest = &left[..left.len() - last.len_utf8()];
    let at = rest.len()..left.len();
    match last {
        '|' | '!' => Ok((rest, Shape::Hold)),
        '~' => Ok((rest, Shape::Smooth)),
        '0'..='9' | ':' | '.' | '/' | '%' => Ok((left, Shape::Linear)),
        // `48s` is 48 seconds, `48ms` milliseconds; a timecode takes no unit.
        's' if rest.trim_end_matches(['m', 'u']).ends_with(|c: char| c.is_ascii_digit() || c == '.')
            && !rest.contains(':') =>
        {
            Ok((left, Shape::Linear))
        }
        '$' | '-' if !rest.is_empty() => Err(TextError::new(at, TextProblem::MltSmooth(last))),
        c => match Ease::from_letter(c) {
            Some(ease) => Ok((rest, Shape::Ease(ease))),
            None => Err(TextError::new(at, TextProblem::Mark(c))),
        },
    }
}

/// The names of all shapes.
pub fn shape_names() -> impl Iterator<Item = &'static str> {
    ["hold", "linear", "smooth", "bspline", "hermite", "bezier"].into_iter().chain(ease::NAMES)
}

impl<T: Animate> Shape<T> {
    /// Parses a shape by name, with its slopes or handles: `smooth`, `hermite 0.5 0`, `bezier 0.3 0 0.7 -2`.
    ///
    /// # Errors
    /// The name, the count of numbers, or a number is wrong; with its position.
    pub fn parse(text: &str) -> Result<Shape<T>, TextError> {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        // The position of a word, which is a slice of the text.
        let place = |word: &str| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            start..start + word.len()
        };
        let number = |word: &str| literal::number(word).map_err(|e| e.shifted(place(word).start));
        let value = |word: &str| literal::parts::<T>(word).map_err(|e| e.shifted(place(word).start));
        let rest: Vec<&str> = words.collect();
        let shape = match (name, &rest[..]) {
            ("hermite", &[leave, arrive]) => Shape::Hermite { leave: value(leave)?, arrive: value(arrive)? },
            ("bezier", &[x1, y1, x2, y2]) => Shape::Bezier(Handles {
                leave: number(x1)?,
                leave_by: value(y1)?,
                arrive: number(x2)?,
                arrive_by: value(y2)?,
            }),
            ("hermite", _) => return Err(TextError::new(0..text.len(), TextProblem::Hermite)),
            ("bezier", _) => return Err(TextError::new(0..text.len(), TextProblem::Bezier)),
            (_, &[more, ..]) => return Err(TextError::new(place(more), TextProblem::ShapeTakesNone)),
            ("hold", _) => Shape::Hold,
            ("linear", _) => Shape::Linear,
            ("smooth", _) => Shape::Smooth,
            ("bspline", _) => Shape::BSpline,
            (name, _) => match Ease::from_name(name) {
                Some(ease) => Shape::Ease(ease),
                None => return Err(TextError::new(trim(text, 0), TextProblem::Shape)),
            },
        };
        Ok(shape)
    }
}

/// Prints the shape by name; [`Shape::parse`] reads it back.
impl<T: Animate> fmt::Display for Shape<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Hold => f.write_str("hold"),
            Shape::Linear => f.write_str("linear"),
            Shape::Smooth => f.write_str("smooth"),
            Shape::BSpline => f.write_str("bspline"),
            Shape::Ease(ease) => f.write_str(ease.name()),
            Shape::Hermite { leave, arrive } => {
                f.write_str("hermite ")?;
                literal::print_parts(leave, f)?;
                f.write_str(" ")?;
                literal::print_parts(arrive, f)
            }
            Shape::Bezier(h) => {
                f.write_str("bezier ")?;
                literal::print_number(h.leave, f)?;
                f.write_str(" ")?;
                literal::print_parts(&h.leave_by, f)?;
                f.write_str(" ")?;
                literal::print_number(h.arrive, f)?;
                f.write_str(" ")?;
                literal::print_parts(&h.arrive_by, f)
            }
        }
    }
}

impl<T: Animate> FromStr for Curve<T> {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Curve<T>, TextError> {
        parse(text).map(|(curve, _)| curve)
    }
}

/// Prints a text that parses back to the same curve.
impl<T: Animate> fmt::Display for Curve<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.before() != Extrapolation::Hold {
            write!(f, "<{};", self.before().name())?;
        }
        for (i, key) in self.keys().iter().enumerate() {
            write!(f, "{}{}", if i > 0 { ";" } else { "" }, key.at)?;
            match &key.shape {
                Shape::Hold => f.write_str("|")?,
                Shape::Linear => {}
                Shape::Smooth => f.write_str("~")?,
                Shape::Ease(e) if e.letter() != 's' || !matches!(key.at, KeyTime::Frame(_)) => {
                    write!(f, "{}", e.letter())?;
                }
                other => write!(f, "({other})")?,
            }
            f.write_str("=")?;
            key.value.print(f)?;
        }
        if self.after() != Extrapolation::Hold {
            write!(f, ";>{}", self.after().name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;

    #[test]
    fn reads_the_output_of_mlt() {
        let c: Curve = " 0=0; 48 |= 12 ;-1=4;".parse().unwrap();
        let key = |n, value, shape| Key { at: KeyTime::Frame(n), value, shape };
        assert_eq!(
            c.keys(),
            [key(0, 0.0, Shape::Linear), key(48, 12.0, Shape::Hold), key(-1, 4.0, Shape::Linear)]
        );
        assert_eq!(c.to_string(), "0=0;48|=12;-1=4");
        let c: Curve = "00:00:00=1;2.5s!=2;1001/24s=3".parse().unwrap();
        assert_eq!(c.to_string(), "0s=1;2.5s|=2;1001/24s=3");
        let c: Curve<[f64; 2]> = "0=10,20; 5=30 40".parse().unwrap();
        assert_eq!(c.to_string(), "0=10,20;5=30,40");
        assert_eq!(c.value(Ratio::whole(1), Ratio::ZERO), [14.0, 24.0]);
        let c: Curve<[f64; 4]> = "0=black;10=#ff000080".parse().unwrap();
        assert_eq!(c.to_string(), "0=#000000;10=#ff000080");
    }

    #[test]
    fn every_shape_has_its_mark() {
        for (text, printed) in [
            ("0~=1;5=2", "0~=1;5=2"),
            ("0a=1;5D=2", "0a=1;5D=2"),
            ("0 s=1;5(circ-in)=2", "0(circ-in)=1;5(circ-in)=2"),
            ("1ss=1;00:05s=2;6s=3", "1ss=1;5ss=2;6s=3"),
            ("0%=1;12.5%~=2;100%s=3", "0%=1;12.5%~=2;100%s=3"),
            ("500ms=1;1000msb=2", "0.5s=1;1sb=2"),
            ("0(linear)=1;5(hold)=2;6( smooth )=2;7 (sine-in) =3", "0=1;5|=2;6~=2;7a=3"),
            ("0(bspline)=1", "0(bspline)=1"),
            ("0(hermite 0.50 -1e-9)=1", "0(hermite 0.5 -1e-9)=1"),
            ("0(bezier .3 0 0.7 -2)=1", "0(bezier 0.3 0 0.7 -2)=1"),
            ("<mirror;0=1;5=2;>repeat", "<mirror;0=1;5=2;>repeat"),
            ("< hold ; 0=1 ; > extrapolate ;", "0=1;>extrapolate"),
        ] {
            let c: Curve = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(c.to_string(), printed);
            assert_eq!(printed.parse(), Ok(c));
        }
        let text = "0(hermite 1,2 3,4)=5,6;7(bezier 0 -1,0 1 0,-1)=8,9";
        let c: Curve<[f64; 2]> = text.parse().unwrap();
        assert_eq!(c.to_string(), text);
        for name in shape_names().filter(|n| !["hermite", "bezier"].contains(n)) {
            assert_eq!(Shape::<f64>::parse(name).unwrap().to_string(), name);
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        use TextProblem as P;
        for (text, at, problem) in [
            ("0=0;48*=12", 6..7, P::Mark('*')),
            ("0=0;48E=12", 6..7, P::Mark('E')),
            ("0=0;4é=12", 5..7, P::Mark('é')),
            ("0=0;4$=12", 5..6, P::MltSmooth('$')),
            ("0=0;4-=12", 5..6, P::MltSmooth('-')),
            ("0=0; 48 ;9=1", 5..7, P::NoValue),
            ("0=0;;9=1", 4..4, P::NoValue),
            ("0=0;=1", 4..4, P::Time),
            ("0=0;48= ", 7..7, P::Missing),
            ("0=0;48=1,5", 7..10, P::Comma),
            ("0=0; 4:61:0 = 1", 5..11, P::TimeRange),
            ("0=0;48=1;20=3", 9..13, P::Curve(CurveError::Order(2))),
            ("0=0;2s=1", 4..8, P::Curve(CurveError::Mixed(1))),
            ("0s=0;50%=1", 5..10, P::Curve(CurveError::Mixed(1))),
            ("50%=0;20%=1", 6..11, P::Curve(CurveError::Order(1))),
            ("0=0;120%=1", 4..8, P::Percent),
            ("-1s=0", 0..5, P::Curve(CurveError::Negative(0))),
            ("0=2e100", 0..7, P::Curve(CurveError::Value(0))),
            ("0(bezier 2 0 1 0)=1", 0..19, P::Curve(CurveError::Shape(0))),
            ("", 0..0, P::NoValue),
            (";", 0..0, P::NoValue),
            ("0 (smoth)=1", 3..8, P::Shape),
            ("0 ()=1", 3..3, P::Shape),
            ("0(smooth 1)=1", 9..10, P::ShapeTakesNone),
            ("0(smooth=1", 1..8, P::Paren),
            ("0(hermite 1)=1", 2..11, P::Hermite),
            ("0(bezier 1 2 x 3)=1", 13..14, P::Number),
            ("0(hermite 1 2,3)=1", 12..15, P::Parts(1)),
            ("< loop;0=1", 2..6, P::Extend),
            ("0=1;>repeat;5=1", 12..15, P::AfterLast),
            ("0=1;<repeat", 4..11, P::NoValue),
        ] {
            assert_eq!(text.parse::<Curve>(), Err(TextError::new(at, problem)), "{text}");
        }
        let many: String = (0..=MAX_KEYS).map(|i| format!("{i}=0;")).collect();
        let e = many.parse::<Curve>().unwrap_err();
        assert_eq!(e.problem, P::Curve(CurveError::TooMany));
        assert!(many[e.at].starts_with("1048576="));
    }
}
