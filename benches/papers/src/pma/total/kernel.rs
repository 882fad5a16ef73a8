//! Merging incoming elements into one segment, and the entries of the plan.

use super::{Key, SEGMENT, packed, tag};
use grainfield_filters::pma::Ranked;

/// A segment that changes, and the range of its incoming elements in the sorted list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) segment: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The bounds of a single segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) low: usize,
    pub(super) high: usize,
}

impl Rules {
    #[inline(always)]
    pub(super) fn hold(&self, count: usize) -> bool {
        // One comparison: differences below zero wrap around.
        count.wrapping_sub(self.low) <= self.high - self.low
    }
}

/// Closes the gaps of a segment (`mask` has the slots in use) and merges `incoming` (sorted) into it; existing
/// elements come before equal incoming ones. Returns the new mask. All elements must fit.
///
/// This is the reference and the general implementation.
#[inline(always)]
pub(super) fn merge_body<K: Key, V: Ranked>(
    keys: &mut [K],
    vals: &mut [V],
    mask: u64,
    incoming: &[(K, V)],
) -> u64 {
    let (keys, vals) = (&mut keys[..SEGMENT], &mut vals[..SEGMENT]);
    let mut held = mask.trailing_ones() as usize;
    let mut rest = if held >= 64 { 0 } else { mask >> held << held };
    while rest != 0 {
        let at = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        keys[held] = keys[at];
        vals[held] = vals[at];
        held += 1;
    }
    let total = held + incoming.len();
    // From the end: each slot is read before it is written.
    let mut to = total;
    for item in incoming.iter().rev() {
        let t = tag(item);
        while held > 0 && (keys[held - 1], vals[held - 1].rank()) > t {
            held -= 1;
            to -= 1;
            keys[to] = keys[held];
            vals[to] = vals[held];
        }
        to -= 1;
        keys[to] = item.0;
        vals[to] = item.1;
    }
    packed(total)
}

/// The number of `incoming` (sorted) before `end`: eight comparisons per step without branches on single ones.
#[inline(always)]
pub(super) fn before<K: Key, V: Ranked>(incoming: &[(K, V)], end: (K, V::Rank)) -> usize {
    let mut n = 0;
    while let Some(eight) = incoming[n..].first_chunk::<8>() {
        let here: usize = eight.iter().map(|item| usize::from(tag(item) < end)).sum();
        n += here;
        if here < 8 {
            return n;
        }
    }
    n + incoming[n..].iter().take_while(|item| tag(item) < end).count()
}
