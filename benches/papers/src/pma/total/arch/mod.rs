//! Hand-written kernels where the compiler's code is slow: bare 64-bit keys with AVX-512.

use super::kernel::{Piece, Rules};
use crate::pma::Key;
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;
use crate::simd::Level;
use grainfield_filters::pma::Ranked;

#[cfg(target_arch = "x86_64")]
mod x86;

/// The data of a merge, as words.
pub(super) struct Words<'a> {
    pub(super) keys: &'a mut [u64],
    pub(super) masks: &'a mut [u64],
    pub(super) heads: &'a mut [u64],
    pub(super) incoming: &'a [u64],
}

/// The keys, masks and heads of some segments.
pub(super) type Segments<'a, K, V> = (&'a mut [K], &'a mut [u64], &'a mut [(K, <V as Ranked>::Rank)]);

/// Merges incoming elements, as `Partition::merge` does, if there is a kernel for this machine and these types;
/// returns the number of elements written.
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

/// Walks the segments and the incoming elements together, as `plan_body` does, if there is a kernel.
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
