//! Reads the text of frame ranges, with or without times.

use super::ranges::{MAX_RANGES, Ranges, RangesError, RangesProblem};
use super::spans::{End, Point, Span, Spans};
use crate::curve::{KeyTime, TextError, TextProblem};
use core::str::FromStr;

/// The remaining text and its position.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether times, percentages and timecodes are allowed.
    times: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn err<T>(&self, at: usize, problem: RangesProblem) -> Result<T, RangesError> {
        Err(RangesError { at, problem })
    }

    fn spans(text: &str, times: bool) -> Result<Vec<Span>, RangesError> {
        let mut reader = Reader { text, at: 0, times };
        let mut spans = Vec::new();
        reader.skip_separators();
        while reader.at < text.len() {
            if spans.len() == MAX_RANGES {
                return reader.err(reader.at, RangesProblem::TooMany);
            }
            spans.push(reader.span()?);
            reader.skip_separators();
        }
        if spans.is_empty() {
            return reader.err(0, RangesProblem::Empty);
        }
        Ok(spans)
    }

    fn skip_separators(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(|c: char| is_separator(c)).len();
    }

    /// Digits with an optional sign.
    fn number<T: FromStr>(&mut self, signed: bool) -> Result<T, RangesError> {
        let start = self.at;
        let minus = signed && self.eat('-');
        let digits = self.at;
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if self.at == digits {
            return match self.peek() {
                None => self.err(start, if minus { RangesProblem::LoneMinus } else { RangesProblem::Number }),
                Some(c) if is_separator(c) && minus => self.err(start, RangesProblem::LoneMinus),
                Some(c) if is_separator(c) => self.err(start, RangesProblem::Number),
                Some(c) => self.err(digits, RangesProblem::Unexpected(c)),
            };
        }
        match self.text[start..self.at].parse() {
            Ok(n) => Ok(n),
            Err(_) => self.err(start, RangesProblem::TooLarge),
        }
    }

    /// A time, a percentage or a timecode, if there is one here.
    fn time(&mut self) -> Result<Option<Point>, RangesError> {
        let (at, rest) = (self.at, &self.text[self.at..]);
        let token = rest.split(|c| is_separator(c) || matches!(c, '-' | 'x')).next().unwrap_or_default();
        let timecode = token.strip_prefix("tc:");
        let begins = token.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if !self.times || timecode.is_none() && !(begins && token.contains([':', ';', '%', 's'])) {
            return Ok(None);
        }
        self.at += token.len();
        if let Some(text) = timecode {
            let timecode = text.parse().map_err(|()| RangesError { at, problem: RangesProblem::Timecode })?;
            return Ok(Some(Point::Timecode(timecode)));
        }
        match token.parse() {
            Ok(KeyTime::Seconds(t)) => Ok(Some(Point::Time(t))),
            Ok(KeyTime::Percent(p)) => Ok(Some(Point::Percent(p))),
            Ok(KeyTime::Frame(_)) => self.err(at, RangesProblem::Time),
            Err(TextError { problem, .. }) => self.err(
                at,
                match problem {
                    TextProblem::TimeRange => RangesProblem::TimeRange,
                    TextProblem::Percent => RangesProblem::Percent,
                    TextProblem::FrameTimecode => RangesProblem::Timecode,
                    _ => RangesProblem::Time,
                },
            ),
        }
    }

    fn point(&mut self) -> Result<Point, RangesError> {
        match self.time()? {
            Some(point) => Ok(point),
            None => self.number(true).map(Point::Frame),
        }
    }

    fn span(&mut self) -> Result<Span, RangesError> {
        let start = self.at;
        let first = self.point()?;
        let end = if !self.eat('-') {
            End::Alone
        } else if self.peek().is_none_or(|c| is_separator(c) || c == 'x') {
            End::Open
        } else {
            End::To(self.point()?)
        };
        match (first, end) {
            (Point::Frame(first), End::To(Point::Frame(last))) if last < first => {
                return self.err(start, RangesProblem::Reversed(first, last));
            }
            (Point::Time(first), End::To(Point::Time(end)))
            | (Point::Percent(first), End::To(Point::Percent(end)))
                if end <= first =>
            {
                return self.err(start, RangesProblem::NoTime);
            }
            _ => {}
        }
        let mut step = 1;
        let step_at = self.at + 1;
        if self.eat('x') {
            step = self.number(false)?;
        }
        if step == 0 {
            return self.err(step_at, RangesProblem::ZeroStep);
        }
        match self.peek() {
            Some(c) if !is_separator(c) => self.err(self.at, RangesProblem::Unexpected(c)),
            _ => Ok(Span { first, end, step }),
        }
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ',' | '+') || c.is_ascii_whitespace()
}

impl FromStr for Ranges {
    type Err = RangesError;

    fn from_str(text: &str) -> Result<Ranges, RangesError> {
        let spans = Reader::spans(text, false)?;
        Ok(Ranges { parts: spans.iter().filter_map(Span::part).collect() })
    }
}

impl FromStr for Spans {
    type Err = RangesError;

    fn from_str(text: &str) -> Result<Spans, RangesError> {
        Reader::spans(text, true).map(Spans)
    }
}
