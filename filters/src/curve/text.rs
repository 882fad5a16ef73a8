//! Curves as text, in MLT's form: `0=0;48|=12;-1=4`.
//!
//! ```text
//! curve = key { ";" key } [ ";" ]
//! key   = time [ mark ] "=" value            white space is allowed between all of these
//! time  = frame number                       -1 is the last frame, -2 the one before it
//!       | number "s"                         seconds: 1.5s, 1001/24s
//!       | [ hours ":" ] minutes ":" seconds  00:00:01.5
//! mark  =                                    none: a straight line to the next key
//!       | "|" | "!"                          holds the value until the next key
//! value = a number | x,y | a colour
//! ```
//!
//! The mark rules the stretch from its key to the next.

use super::literal::{TextError, TextProblem};
use super::{Animate, At, Curve, CurveError, Key, MAX_KEYS, Shape};
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

/// A curve, and where each key stands in the text.
pub(crate) type Spanned<T> = (Curve<T>, Vec<Range<usize>>);

/// Reads a curve, keeping where its keys stand.
pub(crate) fn parse<T: Animate>(text: &str) -> Result<Spanned<T>, TextError> {
    let (mut keys, mut spans) = (Vec::new(), Vec::new());
    let mut at = 0;
    for piece in text.split(';') {
        let span = trim(piece, at);
        at += piece.len() + 1;
        // A last `;` ends the last key.
        if span.is_empty() && at > text.len() && !keys.is_empty() {
            break;
        }
        if keys.len() == MAX_KEYS {
            return Err(TextError::new(span, TextProblem::Curve(CurveError::TooMany)));
        }
        keys.push(key(&text[span.clone()]).map_err(|e| e.shifted(span.start))?);
        spans.push(span);
    }
    match Curve::new(keys) {
        Ok(curve) => Ok((curve, spans)),
        Err(e) => {
            let at = e.key().and_then(|i| spans.get(i).cloned()).unwrap_or(0..text.len());
            Err(TextError::new(at, TextProblem::Curve(e)))
        }
    }
}

/// Where the text without white space round it stands, `piece` itself standing at `at`.
pub(crate) fn trim(piece: &str, at: usize) -> Range<usize> {
    let start = at + (piece.len() - piece.trim_ascii_start().len());
    start..start.max(at + piece.trim_ascii_end().len())
}

fn key<T: Animate>(text: &str) -> Result<Key<T>, TextError> {
    let Some((left, right)) = text.split_once('=') else {
        return Err(TextError::new(0..text.len(), TextProblem::NoValue));
    };
    let (time, shape) = mark(left)?;
    let when = trim(time, 0);
    let at: At = text[when.clone()].parse().map_err(|e: TextError| e.shifted(when.start))?;
    let value = trim(right, left.len() + 1);
    if value.is_empty() {
        return Err(TextError::new(value, TextProblem::Missing));
    }
    let value = T::parse(&text[value.clone()]).map_err(|e| e.shifted(value.start))?;
    Ok(Key { at, value, shape })
}

/// Splits the mark off what stands before `=`.
fn mark(left: &str) -> Result<(&str, Shape), TextError> {
    let left = left.trim_ascii_end();
    let Some(last) = left.chars().next_back() else { return Ok((left, Shape::Linear)) };
    let rest = &left[..left.len() - last.len_utf8()];
    match last {
        '|' | '!' => Ok((rest, Shape::Hold)),
        // `48s` is 48 seconds.
        '0'..='9' | ':' | '.' | '/' => Ok((left, Shape::Linear)),
        's' if rest.ends_with(|c: char| c.is_ascii_digit() || c == '.') => Ok((left, Shape::Linear)),
        c => Err(TextError::new(rest.len()..left.len(), TextProblem::Mark(c))),
    }
}

impl<T: Animate> FromStr for Curve<T> {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Curve<T>, TextError> {
        parse(text).map(|(curve, _)| curve)
    }
}

/// Prints what parses back to the same curve.
impl<T: Animate> fmt::Display for Curve<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.keys().iter().enumerate() {
            let mark = match key.shape {
                Shape::Hold => "|",
                Shape::Linear => "",
            };
            write!(f, "{}{}{mark}=", if i > 0 { ";" } else { "" }, key.at)?;
            key.value.print(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;

    #[test]
    fn reads_what_mlt_writes() {
        let c: Curve = " 0=0; 48 |= 12 ;-1=4;".parse().unwrap();
        let key = |n, value, shape| Key { at: At::Frame(n), value, shape };
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
    fn errors_point_at_the_place() {
        use TextProblem as P;
        for (text, at, problem) in [
            ("0=0;48*=12", 6..7, P::Mark('*')),
            ("0=0;4é=12", 5..7, P::Mark('é')),
            ("0=0; 48 ;9=1", 5..7, P::NoValue),
            ("0=0;;9=1", 4..4, P::NoValue),
            ("0=0;=1", 4..4, P::Time),
            ("0=0;48= ", 7..7, P::Missing),
            ("0=0;48=1,5", 7..10, P::Comma),
            ("0=0; 4:61:0 = 1", 5..11, P::TimeRange),
            ("0=0;48=1;20=3", 9..13, P::Curve(CurveError::Order(2))),
            ("0=0;2s=1", 4..8, P::Curve(CurveError::Mixed(1))),
            ("-1s=0", 0..5, P::Curve(CurveError::Negative(0))),
            ("", 0..0, P::NoValue),
            (";", 0..0, P::NoValue),
        ] {
            assert_eq!(text.parse::<Curve>(), Err(TextError::new(at, problem)), "{text}");
        }
        let many: String = (0..=MAX_KEYS).map(|i| format!("{i}=0;")).collect();
        let e = many.parse::<Curve>().unwrap_err();
        assert_eq!(e.problem, P::Curve(CurveError::TooMany));
        assert!(many[e.at].starts_with("65536="));
    }
}
