//! Frame ranges as text: `1001-1100`, `1-10x2`, `5,7,9-12`, `-5--1`, `100-`.
//!
//! ```text
//! ranges    = item { separator item }      separator = "," | "+" | white space, any number of them
//! item      = number                       one frame
//!           | number "-" number            both ends inclusive
//!           | number "-"                   from there on, unbounded
//!           | (either of the two) "x" step every step-th, counted from the first
//! number    = ["-"] digit { digit }        a frame number; negative ones do not count from the end
//! ```
//!
//! `+` exists because `,` ends a filter in a chain: `enable=0-48+96-120` needs no quotes.

use core::fmt;

/// The largest number of items in one text. The limit keeps [`contains`](Ranges::contains) fast.
pub const MAX_RANGES: usize = 1 << 16;

/// Frame numbers in the order of the text. The default is empty; a valid text has at least one number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    pub(super) parts: Vec<Part>,
}

/// `first`, `first + step`, ... up to `last`, inclusive. Unbounded if `last` is `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) step: u64,
}

impl Part {
    /// The largest member.
    fn top(self) -> i64 {
        self.first.saturating_add_unsigned(self.last.abs_diff(self.first) / self.step * self.step)
    }

    fn contains(self, n: i64) -> bool {
        (self.first..=self.last).contains(&n) && n.abs_diff(self.first).is_multiple_of(self.step)
    }

    fn next_from(self, n: i64) -> Option<i64> {
        let steps = if n <= self.first { 0 } else { n.abs_diff(self.first).div_ceil(self.step) };
        let found = self.first.checked_add_unsigned(steps.checked_mul(self.step)?)?;
        (found <= self.last).then_some(found)
    }

    fn iter(self) -> impl Iterator<Item = i64> + Clone {
        let next = move |&n: &i64| n.checked_add_unsigned(self.step).filter(|&m| m <= self.last);
        core::iter::successors(Some(self.first), next)
    }
}

/// Single frames.
impl FromIterator<i64> for Ranges {
    fn from_iter<I: IntoIterator<Item = i64>>(frames: I) -> Ranges {
        Ranges { parts: frames.into_iter().map(|n| Part { first: n, last: n, step: 1 }).collect() }
    }
}

impl Ranges {
    /// All frames from `first` to `last`, inclusive.
    ///
    /// # Errors
    /// `last` is before `first`.
    pub fn span(first: i64, last: i64) -> Result<Ranges, RangesError> {
        if last < first {
            return Err(RangesError { at: 0, problem: RangesProblem::Reversed(first, last) });
        }
        Ok(Ranges { parts: vec![Part { first, last, step: 1 }] })
    }

    /// Whether frame `n` is a member.
    pub fn contains(&self, n: i64) -> bool {
        self.parts.iter().any(|p| p.contains(n))
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The numbers in the order of the text; duplicates are repeated. It is lazy; an unbounded range continues to
    /// `i64::MAX`.
    pub fn iter(&self) -> impl Iterator<Item = i64> + Clone + '_ {
        self.parts.iter().flat_map(|p| p.iter())
    }

    /// The numbers in ascending order without duplicates, lazily.
    pub fn ascending(&self) -> impl Iterator<Item = i64> + Clone + '_ {
        let next = |&n: &i64| self.next_from(n.checked_add(1)?);
        core::iter::successors(self.min(), next)
    }

    /// The lowest member that is at least `n`.
    pub fn next_from(&self, n: i64) -> Option<i64> {
        self.parts.iter().filter_map(|p| p.next_from(n)).min()
    }

    /// The first and the last number of each run of numbers, ascending, with nothing missing inside a run; `None` if the
    /// numbers of a range are at a distance.
    pub fn runs(&self) -> Option<Vec<(i64, i64)>> {
        self.normalized().parts.iter().map(|p| (p.step == 1).then_some((p.first, p.last))).collect()
    }

    /// The number of items that [`iter`](Ranges::iter) yields, at most `u64::MAX`.
    pub fn count(&self) -> u64 {
        let one = |p: &Part| (p.last.abs_diff(p.first) / p.step).saturating_add(1);
        self.parts.iter().map(one).fold(0, u64::saturating_add)
    }

    /// The lowest number.
    pub fn min(&self) -> Option<i64> {
        self.parts.iter().map(|p| p.first).min()
    }

    /// The highest number; `i64::MAX` for an unbounded range without a step.
    pub fn max(&self) -> Option<i64> {
        self.parts.iter().map(|p| p.top()).max()
    }

    /// Whether one of the ranges is unbounded.
    pub fn is_unbounded(&self) -> bool {
        self.parts.iter().any(|p| p.last == i64::MAX && p.first < i64::MAX)
    }

    /// The same frames with unbounded ranges cut off after `last`; those that begin beyond it are removed.
    #[must_use]
    pub fn bounded(&self, last: i64) -> Ranges {
        let parts = self.parts.iter().filter(|p| p.last != i64::MAX || p.first <= last);
        Ranges {
            parts: parts
                .map(|&p| Part { last: if p.last == i64::MAX { last } else { p.last }, ..p })
                .collect(),
        }
    }

    /// The same frames in a canonical form: parts in ascending order, ends that are members, adjacent ranges
    /// merged. (Overlapping ranges with steps are not merged.)
    #[must_use]
    pub fn normalized(&self) -> Ranges {
        let mut parts: Vec<Part> = self.parts.clone();
        for p in &mut parts {
            // Leave a range with a step unbounded: its last member would be a meaningless number.
            let open = p.last == i64::MAX && p.top() > p.first;
            p.last = if open { p.last } else { p.top() };
            if p.first == p.last {
                p.step = 1;
            }
        }
        parts.sort_unstable_by_key(|p| (p.first, p.last, p.step));
        let mut joined: Vec<Part> = Vec::new();
        for p in parts {
            match joined.last_mut() {
                Some(q) if q.step == 1 && p.step == 1 && p.first <= q.last.saturating_add(1) => {
                    q.last = q.last.max(p.last);
                }
                Some(q) if *q == p => {}
                _ => joined.push(p),
            }
        }
        Ranges { parts: joined }
    }
}

impl IntoIterator for Ranges {
    type Item = i64;
    type IntoIter = Box<dyn Iterator<Item = i64> + Send>;

    /// The same as [`iter`](Ranges::iter).
    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.parts.into_iter().flat_map(Part::iter))
    }
}

/// Prints a text that parses to the same ranges; an empty text, which does not parse, for no frames.
impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, p) in self.parts.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            write!(f, "{}", p.first)?;
            match p.last {
                last if last == p.first => {}
                i64::MAX => f.write_str("-")?,
                last => write!(f, "-{last}")?,
            }
            if p.step != 1 {
                write!(f, "x{}", p.step)?;
            }
        }
        Ok(())
    }
}

/// An error in the text of frame ranges, and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct RangesError {
    /// Byte offset of the character.
    pub at: usize,
    /// The error.
    pub problem: RangesProblem,
}

/// See [`RangesError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RangesProblem {
    /// The text is empty.
    #[error("expected frames: 17, 1001-1100, 1-10x2 or 100-")]
    Empty,
    /// A number is missing here.
    #[error("a frame number is missing here")]
    Number,
    /// `-` without a number, or with white space around it.
    #[error("'-' needs a number next to it: 1001-1100, 100- (to the end) or -5")]
    LoneMinus,
    /// An unexpected character.
    #[error("{0:?} is not part of a frame range: write 17, 1001-1100, 1-10x2, 100- or 2s-5.5s")]
    Unexpected(char),
    /// Not a time.
    #[error("not a time: write 12.5s, 500ms, 00:01:30.5, 25% or tc:01:00:10:00")]
    Time,
    /// Minutes or seconds beyond 59, or a number with too many digits to be exact.
    #[error("minutes and seconds are at most 59, and a time has at most 15 decimals")]
    TimeRange,
    /// A percentage outside 0 to 100.
    #[error("a percentage is from 0% to 100%")]
    Percent,
    /// Not a timecode, or one without `tc:`.
    #[error(
        "a timecode is written tc:HH:MM:SS:FF, or tc:HH:MM:SS;FF with drop frame; a time is HH:MM:SS.fraction"
    )]
    Timecode,
    /// The end is not later than the start.
    #[error("the end must be later than the start; a time or a percentage as an end is not included")]
    NoTime,
    /// A number that does not fit 64 bits.
    #[error("a frame number must fit in 64 bits")]
    TooLarge,
    /// A step of 0.
    #[error("a step must be 1 or more: x1 is every frame")]
    ZeroStep,
    /// The end of the range is before its start.
    #[error("{0} is after {1}: use {1}-{0}")]
    Reversed(i64, i64),
    /// More than [`MAX_RANGES`] items.
    #[error("more than {MAX_RANGES} ranges in one list")]
    TooMany,
}

/// No frames if the range is empty.
impl From<core::ops::Range<i64>> for Ranges {
    fn from(range: core::ops::Range<i64>) -> Ranges {
        let part = Part { first: range.start, last: range.end.saturating_sub(1), step: 1 };
        Ranges { parts: if range.is_empty() { Vec::new() } else { vec![part] } }
    }
}

/// No frames if the range is empty.
impl From<core::ops::RangeInclusive<i64>> for Ranges {
    fn from(range: core::ops::RangeInclusive<i64>) -> Ranges {
        Ranges::span(*range.start(), *range.end()).unwrap_or(Ranges { parts: Vec::new() })
    }
}

#[cfg(test)]
#[path = "ranges_tests.rs"]
mod tests;
