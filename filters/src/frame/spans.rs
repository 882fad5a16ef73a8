//! Frames by number, time, percentage or timecode: `0-48`, `12.5s-00:01:00`, `25%-50%`, `tc:01:00:10:00-`.
//!
//! ```text
//! spans = item { separator item }          as for Ranges, and for its numbers also
//! point = number                           a frame; as an end it is included
//!       | time                             12.5s, 500ms, 20us, [HH:]MM:SS[.frac], since the first frame of the source
//!       | number "%"                       of the number of frames: 0% is the first frame, 100% the end
//!       | "tc:" HH:MM:SS:FF                counts from the source's start timecode; ";" before FF is drop frame
//! ```
//!
//! A start by time is the first frame whose time is at least that. An end by time, percentage or timecode is excluded,
//! so that `0s-10s` and `10s-20s` have no frame in common. A single point is the frame that is shown at that time.

use super::ranges::{Part, Ranges};
use super::timecode::Timecode;
use crate::curve::KeyTime;
use crate::ratio::Ratio;
use core::fmt;

/// A place in a source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Point {
    Frame(i64),
    Time(Ratio),
    Percent(Ratio),
    Timecode(Timecode),
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Point::Frame(n) => n.fmt(f),
            Point::Time(t) => KeyTime::Seconds(t).fmt(f),
            Point::Percent(p) => KeyTime::Percent(p).fmt(f),
            Point::Timecode(t) => write!(f, "tc:{t}"),
        }
    }
}

/// The end of a span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum End {
    /// There is only one frame.
    Alone,
    /// It is unbounded.
    Open,
    To(Point),
}

/// The frames from `first` to `end`, every `step`-th.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Span {
    pub(super) first: Point,
    pub(super) end: End,
    pub(super) step: u64,
}

impl Span {
    /// The same by numbers, if it consists of numbers.
    pub(super) fn part(&self) -> Option<Part> {
        let Point::Frame(first) = self.first else { return None };
        let last = match self.end {
            End::Alone => first,
            End::Open => i64::MAX,
            End::To(Point::Frame(last)) => last,
            End::To(_) => return None,
        };
        Some(Part { first, last, step: self.step })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match self.end {
            End::Alone => {}
            End::Open => f.write_str("-")?,
            End::To(end) => write!(f, "-{end}")?,
        }
        if self.step != 1 {
            write!(f, "x{}", self.step)?;
        }
        Ok(())
    }
}

/// Frames by number, time, percentage or timecode, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spans(pub(super) Vec<Span>);

/// The properties of a source for [`Spans::resolve`].
#[derive(Clone, Debug)]
pub struct ClipFrames {
    /// The number of the first frame.
    pub first: i64,
    /// The number of the last frame, if it is known.
    pub last: Option<i64>,
    /// Frames per second.
    pub rate: Ratio,
    /// The timecode of the first frame, if it has one.
    pub timecode: Option<String>,
}

/// Spans that do not fit a source, or a place where they are used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpansError {
    /// A percentage of an unknown length.
    #[error(
        "{0}: a percentage needs a source of known length, which a pipe is not; use a frame number or a time"
    )]
    NoLength(String),
    /// It begins after the source's end.
    #[error("{0} is after the end of the source, whose last frame is {1}")]
    Beyond(String, i64),
    /// No frame begins in it.
    #[error("no frame begins within {0}")]
    Empty(String),
    /// The source has no start timecode.
    #[error("{0}: the source has no start timecode; use a time since the first frame, as in 00:01:00")]
    NoTimecode(String),
    /// A timecode that its source cannot have.
    #[error("{0}: there is no such timecode in a source that starts at {1} with {2} frames per second")]
    Timecode(String, String, Ratio),
    /// A single time where only ranges are possible.
    #[error("{0}: a single time is not possible here; write a range of times ({0}-) or a frame number")]
    Lone(String),
    /// A step from a time where only numbers can be counted.
    #[error("{0}: a step is counted from a frame: begin the range with a frame number")]
    Step(String),
    /// A timecode where only times are possible.
    #[error("{0}: a timecode is not possible here; use a time since the first frame, as in 00:01:00")]
    TimecodeHere(String),
}

/// The first frame at or after a percentage of the source, or the one that contains it.
fn frame_at_percent(percent: Ratio, first: i64, last: Option<i64>, contains: bool) -> Option<i64> {
    let count = i128::from(last?) - i128::from(first) + 1;
    let (num, den) = (count * i128::from(percent.num()), i128::from(percent.den()) * 100);
    let steps = if contains { num.div_euclid(den).min(count - 1) } else { -(-num).div_euclid(den) };
    i64::try_from(i128::from(first) + steps).ok()
}

impl Spans {
    /// The same as numbers, if all are numbers.
    pub fn numbers(&self) -> Option<Ranges> {
        Some(Ranges { parts: self.0.iter().map(Span::part).collect::<Option<_>>()? })
    }

    /// Whether there is exactly one span, of a single frame.
    pub fn is_single(&self) -> bool {
        matches!(self.0[..], [Span { end: End::Alone, step: 1, .. }])
    }

    /// From a time to another, which is excluded; by default from the start and to the end.
    pub fn between(start: Option<Ratio>, end: Option<Ratio>) -> Spans {
        let first = Point::Time(start.unwrap_or(Ratio::ZERO));
        Spans(vec![Span { first, end: end.map_or(End::Open, |end| End::To(Point::Time(end))), step: 1 }])
    }

    /// The canonical form: numbers [normalized](Ranges::normalized); others unchanged.
    #[must_use]
    pub fn normalized(&self) -> Spans {
        self.numbers().map_or_else(|| self.clone(), |numbers| numbers.normalized().into())
    }

    /// The numbers of the frames in a source, and whether the last is only an upper bound, because the source's end is
    /// not known and an end is a time. `frame_from(time, after)` is the number of the first frame whose time is at
    /// least `time`, or if `after`, more than that. After the last frame it counts one that begins at the source's end.
    ///
    /// # Errors
    /// Those of `frame_from`, or [`SpansError`].
    pub fn resolve<E: From<SpansError>>(
        &self,
        clip: &ClipFrames,
        frame_from: &mut dyn FnMut(Ratio, bool) -> Result<i64, E>,
    ) -> Result<(Ranges, bool), E> {
        let mut parts = Vec::with_capacity(self.0.len());
        let mut is_bound = false;
        for span in &self.0 {
            let alone = span.end == End::Alone;
            let mut frame = |point: Point, contains: bool| -> Result<i64, E> {
                Ok(match point {
                    Point::Frame(n) => n,
                    Point::Time(time) => frame_from(time, contains)? - i64::from(contains),
                    Point::Percent(p) => frame_at_percent(p, clip.first, clip.last, contains)
                        .ok_or_else(|| SpansError::NoLength(point.to_string()))?,
                    Point::Timecode(timecode) => clip.frame_of(timecode)?,
                })
            };
            let first = frame(span.first, alone)?;
            let last = match span.end {
                End::Alone => first,
                End::Open => i64::MAX,
                End::To(Point::Frame(last)) => last,
                End::To(end) => {
                    let last = frame(end, false)? - 1;
                    is_bound |= clip.last.is_none();
                    clip.last.map_or(last, |known| last.min(known.max(first)))
                }
            };
            let beyond = clip.last.filter(|known| !matches!(span.first, Point::Frame(_)) && first > *known);
            if let Some(last) = beyond {
                return Err(SpansError::Beyond(span.first.to_string(), last).into());
            }
            if last < first {
                return Err(SpansError::Empty(span.to_string()).into());
            }
            parts.push(Part { first, last, step: span.step });
        }
        Ok((Ranges { parts }, is_bound))
    }

    /// For [`contains`](Spans::contains): without percentages, in a source with the frames `first` to `last`.
    ///
    /// # Errors
    /// A percentage of an unknown length, or a point that a time alone does not decide.
    pub fn bind(&self, first: i64, last: Option<i64>) -> Result<Spans, SpansError> {
        let mut bound = Vec::with_capacity(self.0.len());
        for span in &self.0 {
            let alone = span.end == End::Alone;
            let point = |point: Point, by: i64| match point {
                Point::Percent(p) => match frame_at_percent(p, first, last, alone) {
                    Some(n) => Ok(Point::Frame(n.saturating_add(by))),
                    None => Err(SpansError::NoLength(point.to_string())),
                },
                Point::Time(_) if alone => Err(SpansError::Lone(point.to_string())),
                Point::Timecode(_) => Err(SpansError::TimecodeHere(point.to_string())),
                plain => Ok(plain),
            };
            let begin = point(span.first, 0)?;
            if span.step != 1 && matches!(begin, Point::Time(_)) {
                return Err(SpansError::Step(span.to_string()));
            }
            let end = if let End::To(end) = span.end { End::To(point(end, -1)?) } else { span.end };
            bound.push(Span { first: begin, end, step: span.step });
        }
        Ok(Spans(bound))
    }

    /// Whether they contain a frame by its number and its time; they must be [bound](Spans::bind).
    pub fn contains(&self, number: i64, time: Ratio) -> bool {
        self.0.iter().any(|span| {
            let begun = match span.first {
                Point::Frame(n) => number >= n && number.abs_diff(n).is_multiple_of(span.step),
                Point::Time(t) => time >= t,
                Point::Percent(_) | Point::Timecode(_) => false,
            };
            begun
                && match span.end {
                    End::Alone => span.first == Point::Frame(number),
                    End::Open => true,
                    End::To(Point::Frame(n)) => number <= n,
                    End::To(Point::Time(t)) => time < t,
                    End::To(Point::Percent(_) | Point::Timecode(_)) => false,
                }
        })
    }
}

impl ClipFrames {
    /// The number of the frame with a timecode.
    fn frame_of(&self, timecode: Timecode) -> Result<i64, SpansError> {
        let text = || format!("tc:{timecode}");
        let Some(start) = &self.timecode else { return Err(SpansError::NoTimecode(text())) };
        let since = start.parse::<Timecode>().ok().and_then(|start| {
            let same = start.is_drop() == timecode.is_drop();
            let frames = timecode.frames(self.rate)? - start.frames(self.rate)?;
            (same && frames >= 0).then_some(frames)
        });
        let none = || SpansError::Timecode(text(), start.clone(), self.rate);
        Ok(self.first.saturating_add(since.ok_or_else(none)?))
    }
}

impl From<Ranges> for Spans {
    fn from(ranges: Ranges) -> Spans {
        let span = |p: Part| Span {
            first: Point::Frame(p.first),
            end: match p.last {
                last if last == p.first => End::Alone,
                i64::MAX => End::Open,
                last => End::To(Point::Frame(last)),
            },
            step: p.step,
        };
        Spans(ranges.parts.into_iter().map(span).collect())
    }
}

impl From<core::ops::Range<i64>> for Spans {
    fn from(range: core::ops::Range<i64>) -> Spans {
        Ranges::from(range).into()
    }
}

impl From<core::ops::RangeFrom<i64>> for Spans {
    fn from(range: core::ops::RangeFrom<i64>) -> Spans {
        Spans(vec![Span { first: Point::Frame(range.start), end: End::Open, step: 1 }])
    }
}

impl From<core::ops::RangeInclusive<i64>> for Spans {
    fn from(range: core::ops::RangeInclusive<i64>) -> Spans {
        Ranges::from(range).into()
    }
}

/// Prints a text that parses to the same spans; an empty text, which does not parse, for none.
impl fmt::Display for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, span) in self.0.iter().enumerate() {
            write!(f, "{}{span}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
