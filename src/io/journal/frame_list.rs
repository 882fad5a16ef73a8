//! A selection of the requested frames.

use grainfield_filters::frame::Ranges;

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

    /// The intersection of [`within`](FrameList::within) and two more bounds.
    pub fn meet(&self, first: i64, last: i64) -> (i64, i64) {
        (self.within.0.max(first), self.within.1.min(last))
    }

    /// The numbers.
    pub fn iter(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        let (first, last) = self.within;
        let skip = usize::try_from(self.part.0).unwrap_or(usize::MAX);
        let take = usize::try_from(self.part.1 - self.part.0).unwrap_or(usize::MAX);
        let kept = |n: &i64| self.skip.binary_search(n).is_err();
        if (first, last) == (i64::MIN, i64::MAX) {
            return Box::new(self.numbers.iter().skip(skip).take(take).filter(kept));
        }
        let next = |&n: &i64| self.numbers.next_from(n.checked_add(1)?);
        let all = std::iter::successors(self.numbers.next_from(first), next).take_while(move |&n| n <= last);
        Box::new(all.skip(skip).take(take).filter(kept))
    }

    /// The numbers, as an owned iterator.
    pub fn into_numbers(self) -> Box<dyn Iterator<Item = i64> + Send> {
        let FrameList { numbers, part, within: (first, last), skip: left_out } = self;
        let skip = usize::try_from(part.0).unwrap_or(usize::MAX);
        let take = usize::try_from(part.1 - part.0).unwrap_or(usize::MAX);
        let kept = move |n: &i64| left_out.binary_search(n).is_err();
        if (first, last) == (i64::MIN, i64::MAX) {
            return Box::new(numbers.into_iter().skip(skip).take(take).filter(kept));
        }
        let start = numbers.next_from(first);
        let next = move |&n: &i64| numbers.next_from(n.checked_add(1)?);
        let all = std::iter::successors(start, next).take_while(move |&n| n <= last);
        Box::new(all.skip(skip).take(take).filter(kept))
    }
}
