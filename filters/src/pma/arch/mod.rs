//! Bodies by hand for what the compiler makes too slow: bare 64-bit keys with AVX-512.

use super::total::{Piece, Rules};
use super::{Key, Ranked};
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;
use crate::simd::{Level, multiversion};

pub(super) use crate::simd::prefetch;

#[cfg(target_arch = "x86_64")]
mod x86;

multiversion! {
    /// Moves elements to where the cursors of their goals stand, which go on by one: element `i` to the cursor of cell
    /// `goals[i] & mask`, unless `cursors`, which begin at cell `low`, have none for it. The places count from `first`, the
    /// number of `into[0]`.
    pub(super) fn scatter<P: Copy>(
        level, from: (&[P], &[u32]), mask: u32, cursors: (u32, &mut [u32]), into: (u32, &mut [P]),
    ) = scatter_body;
}

/// How many elements ahead of the one being moved memory is asked for, in one go of [`STRETCH`] elements.
const AHEAD: usize = 512;
const STRETCH: usize = 64;

/// The definition of [`scatter`], and its body: elements of 32 bytes go in one piece where registers are as wide.
#[inline(always)]
fn scatter_body<P: Copy>(
    (items, goals): (&[P], &[u32]),
    mask: u32,
    (low, cursors): (u32, &mut [u32]),
    (first, into): (u32, &mut [P]),
) {
    let line = (64 / size_of::<P>().max(1)).max(1);
    for (i, (stretch, goals)) in items.chunks(STRETCH).zip(goals.chunks(STRETCH)).enumerate() {
        let from = i * STRETCH + AHEAD;
        if let Some(soon) = items.get(from..from + STRETCH) {
            soon.iter().step_by(line).for_each(prefetch);
        }
        for (item, goal) in stretch.iter().zip(goals) {
            if let Some(to) = cursors.get_mut((goal & mask).wrapping_sub(low) as usize) {
                into[(*to - first) as usize] = *item;
                *to += 1;
            }
        }
    }
}

/// What one task merges, as bare words.
pub(super) struct Words<'a> {
    pub(super) keys: &'a mut [u64],
    pub(super) masks: &'a mut [u64],
    pub(super) heads: &'a mut [u64],
    pub(super) incoming: &'a [u64],
}

/// The keys, masks and heads of some segments.
pub(super) type Segments<'a, K, V> = (&'a mut [K], &'a mut [u64], &'a mut [(K, <V as Ranked>::Rank)]);

/// Merges what comes in, as `Partition::merge` does, if this machine and these types have a body for it; the number of
/// elements written.
#[inline]
pub(super) fn merge<K: Key, V: Ranked>(
    level: Level,
    (keys, masks, heads): Segments<'_, K, V>,
    first: usize,
    plan: &[Piece],
    incoming: &[(K, V)],
) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= Isa::Avx512 && x86::bare::<K, V>() {
        let words = x86::words::<K, V>(keys, masks, heads, incoming);
        return Some(x86::merge(level, words, first, plan));
    }
    let _ = (level, keys, masks, heads, first, plan, incoming);
    None
}

/// Walks the segments and what comes in together, as `plan_body` does, if there is a body for it.
#[inline]
pub(super) fn plan<K: Key, V: Ranked>(
    level: Level,
    (masks, heads): (&[u64], &[(K, V::Rank)]),
    incoming: &[(K, V)],
    rules: &Rules,
    (plan, outside): (&mut Vec<Piece>, &mut Vec<u32>),
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= Isa::Avx512 && x86::bare::<K, V>() {
        let (heads, incoming) = x86::read_words::<K, V>(heads, incoming);
        x86::plan(level, (masks, heads), incoming, rules, (plan, outside));
        return true;
    }
    let _ = (level, masks, heads, incoming, rules, plan, outside);
    false
}
