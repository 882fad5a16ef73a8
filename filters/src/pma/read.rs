//! Reading by cell, or in the order of slots.

use super::layout::Segment;
use super::{CellPma, FREE, Ranked, Slot, WIDTH};
use crate::simd::{multiversion, prefetch};
use core::ops::Range;

/// The prefetch distance in segments: in measurements, the hardware prefetcher stopped at every gap.
const AHEAD: usize = 2;

impl<P: Ranked> CellPma<P> {
    /// Calls `f(cell, slot, payload)` for the elements of a range of cells, by cell, then by rank. Reads only the
    /// segments of these cells.
    pub fn read(&self, cells: Range<u32>, mut f: impl FnMut(u32, Slot, &P)) {
        let Some(&route) = self.route.get(cells.start as usize) else { return };
        let mut at = route as usize;
        if let Some(segment) = self.segments.get(at) {
            // To the first segment of a run, unless the run is that of a cell before these.
            at = if segment.base + segment.span > cells.start {
                at + 1 - segment.run as usize
            } else {
                at + 1
            };
        }
        while let Some(segment) = self.segments.get(at).filter(|segment| segment.base < cells.end) {
            self.prefetch_segment(at + AHEAD, cells.end);
            if segment.span == 1 {
                at += self.read_run(at, &mut f);
                continue;
            }
            let tags = cells.start.saturating_sub(segment.base)..cells.end - segment.base;
            self.read_segment(at, tags, &mut f);
            at += 1;
        }
    }

    /// Reads the elements of a run, whose first segment is `first`; returns its length.
    fn read_run(&self, first: usize, f: &mut impl FnMut(u32, Slot, &P)) -> usize {
        let segments = self.segments[first..].iter();
        let len = 1 + segments.take_while(|segment| segment.run == 1).count();
        let mut slots = Vec::with_capacity(len * WIDTH);
        for at in first..first + len {
            self.for_each_of(at, |slot, _| slots.push(slot as Slot));
        }
        slots.sort_unstable_by_key(|slot| self.slots[*slot as usize].rank());
        let cell = self.segments[first].base;
        slots.iter().for_each(|slot| f(cell, *slot, &self.slots[*slot as usize]));
        len
    }

    /// Reads the elements of a segment with tags in the given range.
    fn read_segment(&self, at: usize, range: Range<u32>, f: &mut impl FnMut(u32, Slot, &P)) {
        let Segment { base, mut mask, .. } = self.segments[at];
        let first = at * WIDTH;
        let (Some(tags), Some(items)) =
            (self.tags[first..].first_chunk::<WIDTH>(), self.slots[first..].first_chunk::<WIDTH>())
        else {
            return;
        };
        let (low, high) = (range.start.min(u32::from(FREE)) as u8, range.end.min(u32::from(FREE)) as u8);
        if low > 0 || high < FREE {
            mask = tags_within(self.level, tags, low, high);
        }
        let mut list = [0; WIDTH];
        let len = sort_slots(self.level, &mask, tags, items, &mut list);
        for slot in list[..len].iter().map(|slot| usize::from(*slot)) {
            f(base + u32::from(tags[slot]), (first + slot) as Slot, &items[slot]);
        }
    }

    /// Calls `f(slot, cell, payload)` for all elements in the order of slots, which depends on the history.
    pub fn for_each(&self, mut f: impl FnMut(Slot, u32, &P)) {
        for at in 0..self.segments.len() {
            self.prefetch_segment(at + AHEAD, u32::MAX);
            self.for_each_of(at, |slot, cell| f(slot as Slot, cell, &self.slots[slot]));
        }
    }

    /// Calls `f(slot, cell)` for the elements of a segment in the order of slots.
    #[inline(always)]
    pub(super) fn for_each_of(&self, at: usize, mut f: impl FnMut(usize, u32)) {
        let base = self.segments[at].base;
        for_each_bit(&self.segments[at].mask, |slot| {
            let slot = at * WIDTH + slot;
            f(slot, base + u32::from(self.tags[slot]));
        });
    }

    /// Prefetches the payloads of a segment, if it begins before cell `end`.
    #[inline(always)]
    fn prefetch_segment(&self, at: usize, end: u32) {
        let per_line = (64 / size_of::<P>().max(1)).max(1);
        if self.segments.get(at).is_some_and(|segment| segment.base < end) {
            self.slots[at * WIDTH..][..WIDTH].iter().step_by(per_line).for_each(prefetch);
        }
    }
}

/// Calls `f` for each bit that is set, ascending.
#[inline(always)]
fn for_each_bit(mask: &[u64; WIDTH / 64], mut f: impl FnMut(usize)) {
    for (w, word) in mask.iter().enumerate() {
        if *word == u64::MAX {
            // Most words are full, and a loop without a test is faster.
            (64 * w..64 * w + 64).for_each(&mut f);
        } else {
            let mut rest = *word;
            while rest != 0 {
                f(64 * w + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}

multiversion! {
    /// The slots of a segment with tags in `low..high`.
    fn tags_within(level, tags: &[u8; WIDTH], low: u8, high: u8) -> [u64; WIDTH / 64] = tags_within_body;
    /// Lists the slots of `mask` by tag, then by the rank of their items; returns their number.
    fn sort_slots<P: Ranked>(
        level, mask: &[u64; WIDTH / 64], tags: &[u8; WIDTH], items: &[P; WIDTH], list: &mut [u8; WIDTH],
    ) -> usize = sort_slots_body;
}

#[inline(always)]
fn tags_within_body(tags: &[u8; WIDTH], low: u8, high: u8) -> [u64; WIDTH / 64] {
    let within = tags.map(|tag| u8::from(tag.wrapping_sub(low) < high - low));
    let words = within.as_chunks::<8>().0;
    core::array::from_fn(|w| {
        // The product moves the lowest bit of byte `i` to bit `56 + i`.
        let bits = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        (0..8).map(|i| bits(&words[8 * w + i]) << (8 * i)).sum()
    })
}

#[inline(always)]
fn sort_slots_body<P: Ranked>(
    mask: &[u64; WIDTH / 64],
    tags: &[u8; WIDTH],
    items: &[P; WIDTH],
    list: &mut [u8; WIDTH],
) -> usize {
    // A counting sort by tag.
    let mut starts = [0u16; WIDTH];
    for_each_bit(mask, |slot| starts[usize::from(tags[slot])] += 1);
    let (mut len, mut most) = (0, 0);
    for start in &mut starts {
        let count = core::mem::replace(start, len);
        len += count;
        most = most.max(count);
    }
    let len = usize::from(len);
    let (mut slots, mut sorted, mut ranks) = ([0u8; WIDTH], [0u8; WIDTH], [items[0].rank(); WIDTH]);
    for_each_bit(mask, |slot| {
        let start = &mut starts[usize::from(tags[slot])];
        let to = usize::from(*start as u8);
        *start += 1;
        (slots[to], sorted[to], ranks[to]) = (slot as u8, tags[slot], items[slot].rank());
    });
    // Then by rank: each pair of one tag in the wrong order moves its first behind its second. All pairs at one distance
    // are compared at once, as branches on ranks would be mispredicted.
    let mut places: [u8; WIDTH] = core::array::from_fn(|i| i as u8);
    for distance in 1..usize::from(most) {
        let mut wrong = [0u8; WIDTH];
        let tags = sorted[..len].iter().zip(&sorted[distance..len]);
        let ranks = ranks[..len].iter().zip(&ranks[distance..len]);
        for ((wrong, (tag, other)), (rank, later)) in wrong.iter_mut().zip(tags).zip(ranks) {
            *wrong = u8::from(tag == other) & u8::from(rank > later);
        }
        places.iter_mut().zip(&wrong).for_each(|(place, wrong)| *place += wrong);
        places[distance..].iter_mut().zip(&wrong).for_each(|(place, wrong)| *place -= wrong);
    }
    for (slot, place) in slots[..len].iter().zip(&places) {
        list[usize::from(*place)] = *slot;
    }
    len
}
