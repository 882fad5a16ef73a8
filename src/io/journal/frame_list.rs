//! A selection of the requested frames.

use grainfield_filters::frame::Ranges;
use serde::{Deserialize, Serialize};

/// Which ends of the source are rendered. Sound, subtitles and chapters are cut at the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceEnds {
    /// Whether the first rendered frame is the source's first.
    pub first: bool,
    /// Whether the last rendered frame is the source's last.
    pub last: bool,
}

impl SourceEnds {
    /// The whole source is rendered.
    pub const BOTH: SourceEnds = SourceEnds { first: true, last: true };
}

/// Where frames are left out between ranges: a video and its sound go on there without them.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cuts {
    /// The first frame after each cut, as the source numbers it.
    pub frames: Vec<i64>,
    /// The number of frames before each cut.
    pub counts: Vec<u64>,
    /// The number of all frames; `u64::MAX` for a list without an end.
    pub total: u64,
}

impl Cuts {
    /// Those between ascending ranges, whose numbers are `offset` above those of the source. Frames at a distance (`0-99x10`)
    /// keep it: nothing is cut there.
    pub fn between(ranges: &Ranges, offset: i64) -> Cuts {
        let mut cuts = Cuts::default();
        for (first, last) in ranges.runs().unwrap_or_default() {
            if cuts.total > 0 {
                cuts.frames.push(first.saturating_sub(offset));
                cuts.counts.push(cuts.total);
            }
            let count = if last == i64::MAX { u64::MAX } else { last.abs_diff(first) + 1 };
            cuts.total = cuts.total.saturating_add(count);
        }
        cuts
    }

    /// The number of cuts before a frame of the source.
    pub fn before(&self, frame: i64) -> usize {
        self.frames.partition_point(|&n| n <= frame)
    }
}

/// A part of a list of frames, in order.
#[derive(Clone, Debug)]
pub struct FrameList {
    /// The list.
    pub numbers: Ranges,
    /// Indices in `numbers`: the first, and one after the last.
    pub part: (u64, u64),
    /// The lowest and the highest number. If this is a limit, `numbers` must be ascending.
    pub within: (i64, i64),
    /// Numbers to leave out, ascending.
    pub skip: Vec<i64>,
}

impl FrameList {
    /// All of them.
    pub fn all(numbers: Ranges) -> FrameList {
        FrameList { numbers, part: (0, u64::MAX), within: (i64::MIN, i64::MAX), skip: Vec::new() }
    }

    /// Whether these are all of the list.
    pub fn is_all(&self) -> bool {
        self.part == (0, u64::MAX) && self.within == (i64::MIN, i64::MAX) && self.skip.is_empty()
    }

    /// The intersection of [`within`](FrameList::within) and two more bounds.
    pub fn bounds_within(&self, first: i64, last: i64) -> (i64, i64) {
        (self.within.0.max(first), self.within.1.min(last))
    }

    /// The numbers.
    pub fn iter(&self) -> Box<dyn Iterator<Item = i64> + Send> {
        self.clone().into_numbers()
    }

    /// The numbers, as an owned iterator.
    pub fn into_numbers(self) -> Box<dyn Iterator<Item = i64> + Send> {
        let FrameList { numbers, part, within: (first, last), skip } = self;
        let all: Box<dyn Iterator<Item = i64> + Send> = if (first, last) == (i64::MIN, i64::MAX) {
            Box::new(numbers.into_iter())
        } else {
            let start = numbers.next_from(first);
            let next = move |&n: &i64| numbers.next_from(n.checked_add(1)?);
            Box::new(std::iter::successors(start, next).take_while(move |&n| n <= last))
        };
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let part = all.skip(index(part.0)).take(index(part.1 - part.0));
        Box::new(part.filter(move |n| skip.binary_search(n).is_err()))
    }
}
