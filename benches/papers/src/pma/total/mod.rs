//! Total order: elements sorted by key, then rank, in segments of 64 slots.
//!
//! Within a segment the elements are packed to the left, so a segment's validity is one word of the bitmask (its low
//! bits at rest; a batch clears bits first and closes the gaps when it merges what comes in). Beside the keys lie the
//! segments' *heads*: a tag (key and rank) that divides what is before a segment from what is in it, so that finding
//! a segment searches one small dense array. A segment that leaves its bounds is settled by sharing out evenly the
//! elements of the smallest window around it that keeps to its own.

mod arch;
mod batch;
mod check;
mod kernel;
mod plan;
mod rebalance;
mod scan;
#[cfg(test)]
pub(super) mod tests;

use super::bounds::Limits;
use super::{Bounds, BoundsError, Key, MAX_SLOTS};
use crate::simd::Level;
pub use batch::Batch;
use batch::Workspace;
use grainfield_filters::pma::{PmaError, Ranked, Slot};
pub use scan::Iter;

/// Slots per segment.
pub const SEGMENT: usize = 64;

/// The sort key of elements.
type Tag<K, V> = (K, <V as Ranked>::Rank);

/// A packed memory array in total order.
///
/// Any number of elements may have one key; they are ordered by [`Ranked::rank`].
#[derive(Clone)]
pub struct Pma<K: Key, V: Ranked> {
    bounds: Bounds,
    limits: Limits,
    level: Level,
    keys: Vec<K>,
    vals: Vec<V>,
    /// Validity, one word per segment.
    masks: Vec<u64>,
    /// All elements before segment `s` are `<= heads[s] <=` all from it on.
    heads: Vec<Tag<K, V>>,
    len: usize,
    moves: u64,
    work: Workspace<K, V>,
}

/// The low `count` bits.
#[inline(always)]
fn packed(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[inline(always)]
fn tag<K: Key, V: Ranked>(item: &(K, V)) -> Tag<K, V> {
    (item.0, item.1.rank())
}

impl<K: Key, V: Ranked> Pma<K, V> {
    /// An empty array.
    pub fn new(bounds: Bounds, level: Level) -> Result<Self, BoundsError> {
        bounds.check(SEGMENT)?;
        Ok(Pma {
            bounds,
            limits: Limits::new(&bounds, SEGMENT, 0),
            level,
            keys: Vec::new(),
            vals: Vec::new(),
            masks: Vec::new(),
            heads: Vec::new(),
            len: 0,
            moves: 0,
            work: Workspace::default(),
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of slots, in use or not.
    pub fn slots(&self) -> usize {
        self.masks.len() * SEGMENT
    }

    /// The density of the whole array.
    pub fn density(&self) -> f64 {
        self.len as f64 / self.slots().max(1) as f64
    }

    /// The bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The instruction set.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The number of times that an element has been written to a slot since the array was created: O(log^2 N) per
    /// insertion, amortised, for any keys, and O(log N) for random keys.
    pub fn element_moves(&self) -> u64 {
        self.moves
    }

    /// Validity: bit `i` of word `w` says whether slot `64 w + i` holds an element.
    pub fn validity(&self) -> &[u64] {
        &self.masks
    }

    /// Removes all elements and keeps the memory.
    pub fn clear(&mut self) {
        self.masks.fill(0);
        self.len = 0;
        self.resize_limits(0);
        self.masks.truncate(1);
        self.heads.truncate(1);
    }

    fn resize_limits(&mut self, height: u32) {
        if self.limits.height() != height {
            self.limits = Limits::new(&self.bounds, SEGMENT, height);
        }
    }

    #[inline(always)]
    fn count(&self, segment: usize) -> usize {
        self.masks[segment].count_ones() as usize
    }

    /// The element of a slot in use.
    #[inline(always)]
    fn tag_at(&self, slot: usize) -> Tag<K, V> {
        (self.keys[slot], self.vals[slot].rank())
    }

    /// The segment of a tag: the last whose head is not after it.
    fn segment_of(&self, tag: &Tag<K, V>) -> usize {
        self.heads.partition_point(|h| h <= tag).saturating_sub(1)
    }

    /// The first slot of `segment` (packed) for which `before` fails, or the end of its elements.
    fn bound_in(&self, segment: usize, before: impl Fn(Tag<K, V>) -> bool) -> usize {
        let (mut low, mut high) = (segment * SEGMENT, segment * SEGMENT + self.count(segment));
        while low < high {
            let mid = (low + high) / 2;
            if before(self.tag_at(mid)) { low = mid + 1 } else { high = mid }
        }
        low
    }

    /// The first slot in order that is in use and for which `before` fails; `before` must hold for a head if and
    /// only if it can hold for an element after it.
    fn first_from(&self, before: impl Fn(Tag<K, V>) -> bool) -> Option<usize> {
        let mut segment = self.heads.partition_point(|h| before(*h)).saturating_sub(1);
        while segment < self.masks.len() {
            let at = self.bound_in(segment, &before);
            if at < segment * SEGMENT + self.count(segment) {
                return Some(at);
            }
            segment += 1;
        }
        None
    }

    /// The first slot of the elements with this key.
    pub fn find(&self, key: K) -> Option<Slot> {
        self.first_from(|t| t.0 < key).filter(|&s| self.keys[s] == key).map(|s| s as Slot)
    }

    /// A slot of an element with this key and rank.
    pub fn find_ranked(&self, key: K, rank: V::Rank) -> Option<Slot> {
        let wanted = (key, rank);
        self.first_from(|t| t < wanted).filter(|&s| self.tag_at(s) == wanted).map(|s| s as Slot)
    }

    /// The element in a slot.
    pub fn get(&self, slot: Slot) -> Option<(K, &V)> {
        let slot = self.held(slot)?;
        Some((self.keys[slot], &self.vals[slot]))
    }

    /// The payload of a slot, for changes except to its rank.
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        let slot = self.held(slot)?;
        Some(&mut self.vals[slot])
    }

    fn held(&self, slot: Slot) -> Option<usize> {
        let mask = self.masks.get(slot as usize / SEGMENT)?;
        (mask >> (slot as usize % SEGMENT) & 1 == 1).then_some(slot as usize)
    }

    /// Adds one element.
    ///
    /// # Errors
    /// [`PmaError::TooMany`] if it would need more than 2^31 slots.
    pub fn insert(&mut self, key: K, val: V) -> Result<(), PmaError> {
        let item = (key, val);
        if self.masks.is_empty() || self.len + 1 > self.limits.most() {
            let height = self.height_for(self.len + 1)?;
            self.resize(height, &[item]);
            return Ok(());
        }
        let segment = self.segment_of(&tag(&item));
        let count = self.count(segment);
        let whole = self.limits.height();
        if count + 1 > self.limits.high(0) && whole > 0 {
            let (from, to) = self.window(segment, 1);
            self.rebalance(from, to, &[item]);
        } else {
            let at = self.bound_in(segment, |t| t <= tag(&item));
            let end = segment * SEGMENT + count;
            self.keys.copy_within(at..end, at + 1);
            self.vals.copy_within(at..end, at + 1);
            self.keys[at] = key;
            self.vals[at] = val;
            self.masks[segment] = packed(count + 1);
            self.heads[segment] = self.tag_at(segment * SEGMENT);
            self.moves += (end - at) as u64 + 1;
        }
        self.len += 1;
        Ok(())
    }

    /// Removes the element of a slot; `None` if there is none.
    pub fn remove(&mut self, slot: Slot) -> Option<(K, V)> {
        let at = self.held(slot)?;
        let item = (self.keys[at], self.vals[at]);
        let segment = at / SEGMENT;
        let count = self.count(segment);
        let end = segment * SEGMENT + count;
        self.keys.copy_within(at + 1..end, at);
        self.vals.copy_within(at + 1..end, at);
        self.masks[segment] = packed(count - 1);
        if count > 1 {
            self.heads[segment] = self.tag_at(segment * SEGMENT);
        }
        self.moves += (end - at - 1) as u64;
        self.len -= 1;
        if let Some(height) = self.smaller() {
            self.resize(height, &[]);
        } else if count - 1 < self.limits.low(0) && self.limits.height() > 0 {
            let (from, to) = self.window(segment, 0);
            self.rebalance(from, to, &[]);
        }
        Some(item)
    }

    /// The height of the smallest array for `len` elements.
    fn height_for(&self, len: usize) -> Result<u32, PmaError> {
        let too_many = PmaError::TooMany { len, most: (self.bounds.tauh * MAX_SLOTS as f64) as usize };
        (0..=MAX_SLOTS.ilog2() - SEGMENT.ilog2())
            .find(|h| len <= self.bounds.most(SEGMENT, *h))
            .ok_or(too_many)
    }

    /// The height to shrink to, if the density is too low and a smaller array is possible.
    fn smaller(&self) -> Option<u32> {
        if self.limits.height() == 0 || self.len >= self.limits.least() {
            return None;
        }
        self.height_for(self.len).ok().filter(|h| *h < self.limits.height())
    }
}

impl<K: Key, V: Ranked> core::fmt::Debug for Pma<K, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pma").field("len", &self.len).field("slots", &self.slots()).finish_non_exhaustive()
    }
}
