//! Tables as text.
//!
//! ```text
//! filmgrn1
//! E start end apply seed update
//!     p lag coefficient-shift grain-shift scaling-shift chroma-from-luma overlap own luma offset own luma offset
//!     sY count x y ...
//!     sCb count x y ...
//!     sCr count x y ...
//!     cY coefficient ...
//!     cCb coefficient ... luma
//!     cCr coefficient ... luma
//! ```
//!
//! The lines after `E` follow only if `update` is 1. The output is that of libaom. The reader also accepts any white
//! space between numbers, blank lines, and lines that end in CR LF.

use super::{ChromaIndex, MAX_POINTS, Params, Segment, Table};
use core::fmt;
use core::str::{FromStr, SplitWhitespace};

/// The largest size of a table's text, in bytes.
pub const MAX_TEXT: usize = 32 << 20;
/// The largest number of segments.
pub const MAX_SEGMENTS: usize = 1 << 16;

/// The lines of a segment's parameters.
const LINES: [&str; 7] = ["p", "sY", "sCb", "sCr", "cY", "cCb", "cCr"];

/// An error in the text of a film grain table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// See [`TableError`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The text does not begin with `filmgrn1`.
    #[error("a film grain table starts with the line 'filmgrn1'")]
    NoTable,
    /// The text or the list of segments is too long.
    #[error("a film grain table has at most {} segments and {} MiB of text", MAX_SEGMENTS, MAX_TEXT >> 20)]
    TooLong,
    /// A line does not begin with the expected word.
    #[error("{}", match found.as_str() {
        "" => format!("the table ends before a line '{expected} ...'"),
        _ => format!("expected a line '{expected} ...', found '{found}'"),
    })]
    Line {
        /// The expected word.
        expected: &'static str,
        /// The first word of the line; empty at the end of the text.
        found: String,
    },
    /// A number is missing.
    #[error("{what} is missing at the end of the line")]
    Missing {
        /// The name of the number.
        what: &'static str,
    },
    /// A word that is not a number, or a number out of range.
    #[error("{what} is '{found}': expected a whole number from {} to {}", .range.0, .range.1)]
    Number {
        /// The name of the number.
        what: &'static str,
        /// The word.
        found: String,
        /// The lowest and highest value allowed.
        range: (i64, i64),
    },
    /// There is text after the last number.
    #[error("unexpected '{found}' at the end of the line '{line}'")]
    More {
        /// The line's first word.
        line: &'static str,
        /// The text.
        found: String,
    },
    /// A segment ends before it begins.
    #[error("the segment ends before it starts: E START END ...")]
    Ends,
    /// The brightness of points does not increase.
    #[error("points must be in ascending order of brightness (x)")]
    Falls,
    /// `update 0` without an earlier segment that has parameters.
    #[error(
        "update 0 keeps the grain of the previous segment, but no earlier segment has any: the first one needs update 1 and \
         the lines p to cCr"
    )]
    NothingBefore,
}

/// The part of a word that an error shows.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

/// The words of a line after the first.
struct Words<'a> {
    line: usize,
    name: &'static str,
    words: SplitWhitespace<'a>,
}

impl Words<'_> {
    fn fail<T>(&self, problem: Problem) -> Result<T, TableError> {
        Err(TableError { line: self.line, problem })
    }

    fn number<T: TryFrom<i64>>(&mut self, what: &'static str, range: (i64, i64)) -> Result<T, TableError> {
        let Some(word) = self.words.next() else { return self.fail(Problem::Missing { what }) };
        let number = word.parse::<i64>().ok().filter(|v| (range.0..=range.1).contains(v));
        match number.and_then(|v| T::try_from(v).ok()) {
            Some(v) => Ok(v),
            None => self.fail(Problem::Number { what, found: shown(word), range }),
        }
    }

    fn switch(&mut self, what: &'static str) -> Result<bool, TableError> {
        Ok(self.number::<u8>(what, (0, 1))? == 1)
    }

    fn end(mut self) -> Result<(), TableError> {
        match self.words.next() {
            None => Ok(()),
            Some(found) => self.fail(Problem::More { line: self.name, found: shown(found) }),
        }
    }
}

/// The lines that are not blank.
struct Reader<'a> {
    lines: core::iter::Enumerate<core::str::Lines<'a>>,
    last: usize,
}

impl<'a> Reader<'a> {
    /// The next line, with any first word.
    fn any(&mut self, name: &'static str) -> Option<(&'a str, Words<'a>)> {
        for (i, text) in self.lines.by_ref() {
            self.last = i + 1;
            let mut words = text.split_whitespace();
            if let Some(first) = words.next() {
                return Some((first, Words { line: i + 1, name, words }));
            }
        }
        None
    }

    /// The next line, whose first word must match.
    fn line(&mut self, name: &'static str) -> Result<Words<'a>, TableError> {
        match self.any(name) {
            Some((first, words)) if first == name => Ok(words),
            Some((first, words)) => words.fail(Problem::Line { expected: name, found: shown(first) }),
            None => {
                let problem = Problem::Line { expected: name, found: String::new() };
                Err(TableError { line: self.last + 1, problem })
            }
        }
    }

    fn params(&mut self) -> Result<Params, TableError> {
        let mut p = self.line(LINES[0])?;
        let lag = p.number("the lag", (0, 3))?;
        let coefficient_shift = p.number("the coefficients' shift", (6, 9))?;
        let grain_shift = p.number("the grain's shift", (0, 3))?;
        let scaling_shift = p.number("the strength's shift", (8, 11))?;
        let chroma_from_luma = p.switch("the flag 'chroma from luma'")?;
        let overlap = p.switch("the flag 'overlap'")?;
        let mut index = || {
            Ok(ChromaIndex {
                own: p.number("a factor of chroma", (0, 255))?,
                luma: p.number("a factor of luma", (0, 255))?,
                offset: p.number("an offset", (0, 511))?,
            })
        };
        let index = [index()?, index()?];
        p.end()?;
        let points = [self.points(0)?, self.points(1)?, self.points(2)?];
        let coefficients =
            [self.coefficients(0, lag)?, self.coefficients(1, lag)?, self.coefficients(2, lag)?];
        Ok(Params {
            points,
            lag,
            coefficients,
            coefficient_shift,
            grain_shift,
            scaling_shift,
            chroma_from_luma,
            overlap,
            index,
            clip: false,
        })
    }

    fn points(&mut self, plane: usize) -> Result<Vec<[u8; 2]>, TableError> {
        let mut line = self.line(LINES[1 + plane])?;
        let count = line.number("the number of points", (0, MAX_POINTS[plane] as i64))?;
        let mut points: Vec<[u8; 2]> = Vec::with_capacity(count);
        for _ in 0..count {
            let point = [line.number("a point's x", (0, 255))?, line.number("a point's y", (0, 255))?];
            if points.last().is_some_and(|last| last[0] >= point[0]) {
                return line.fail(Problem::Falls);
            }
            points.push(point);
        }
        line.end()?;
        Ok(points)
    }

    fn coefficients(&mut self, plane: usize, lag: u8) -> Result<Vec<i8>, TableError> {
        let mut line = self.line(LINES[4 + plane])?;
        let count = Params::coefficient_count(lag, plane);
        let all = (0..count).map(|_| line.number("a coefficient", (-128, 127))).collect::<Result<_, _>>()?;
        line.end()?;
        Ok(all)
    }
}

/// Parses the format that [`Display`](fmt::Display) writes.
impl FromStr for Table {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Table, TableError> {
        if text.len() > MAX_TEXT {
            return Err(TableError { line: 1, problem: Problem::TooLong });
        }
        let mut reader = Reader { lines: text.lines().enumerate(), last: 0 };
        match reader.any("filmgrn1") {
            Some(("filmgrn1", words)) => words.end()?,
            Some((_, words)) => return words.fail(Problem::NoTable),
            None => return Err(TableError { line: 1, problem: Problem::NoTable }),
        }
        let mut table = Table::default();
        let mut known = false;
        while let Some((first, mut e)) = reader.any("E") {
            if first != "E" {
                return e.fail(Problem::Line { expected: "E", found: shown(first) });
            }
            if table.segments.len() == MAX_SEGMENTS {
                return e.fail(Problem::TooLong);
            }
            let start = e.number("the start", (0, i64::MAX))?;
            let end = e.number("the end", (0, i64::MAX))?;
            if end < start {
                return e.fail(Problem::Ends);
            }
            let apply = e.switch("the flag 'apply'")?;
            let seed = e.number("the seed", (0, 65535))?;
            let update = e.switch("the flag 'update'")?;
            if apply && !update && !known {
                return e.fail(Problem::NothingBefore);
            }
            e.end()?;
            let params = if update { Some(reader.params()?) } else { None };
            known |= update;
            table.segments.push(Segment { start, end, apply, seed, params });
        }
        Ok(table)
    }
}

/// Writes the format of libaom.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("filmgrn1\n")?;
        for s in &self.segments {
            let (apply, update) = (u8::from(s.apply), u8::from(s.params.is_some()));
            writeln!(f, "E {} {} {apply} {} {update}", s.start, s.end, s.seed)?;
            if let Some(params) = &s.params {
                params.fmt(f)?;
            }
        }
        Ok(())
    }
}

/// The lines of a segment after `E`.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [cb, cr] = self.index;
        writeln!(
            f,
            "\tp {} {} {} {} {} {} {} {} {} {} {} {}",
            self.lag,
            self.coefficient_shift,
            self.grain_shift,
            self.scaling_shift,
            u8::from(self.chroma_from_luma),
            u8::from(self.overlap),
            cb.own,
            cb.luma,
            cb.offset,
            cr.own,
            cr.luma,
            cr.offset
        )?;
        for (plane, points) in self.points.iter().enumerate() {
            // libaom writes a space after the number of luma's points.
            write!(f, "\t{} {}{}", LINES[1 + plane], points.len(), if plane == 0 { " " } else { "" })?;
            for [x, y] in points {
                write!(f, " {x} {y}")?;
            }
            f.write_str("\n")?;
        }
        for (plane, coefficients) in self.coefficients.iter().enumerate() {
            write!(f, "\t{}", LINES[4 + plane])?;
            for c in coefficients {
                write!(f, " {c}")?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}
