//! Bare 64-bit keys in registers of eight.
#![allow(unsafe_code)] // loads and stores by pointer; views of tuples as words; calls for a detected level

use super::Words;
use crate::pma::Key;
use crate::pma::total::kernel::{Piece, Rules, merge_body};
use crate::pma::total::{SEGMENT, packed};
use crate::simd::{Isa, Level, prefetch};
use core::any::TypeId;
use core::arch::x86_64::*;
use grainfield_filters::pma::Ranked;

/// Whether keys are `u64` and payloads and ranks are empty, so that elements, heads and keys are words.
#[inline(always)]
pub(super) fn bare<K: Key, V: Ranked>() -> bool {
    TypeId::of::<K>() == TypeId::of::<u64>()
        && size_of::<(K, V)>() == 8
        && size_of::<(K, V::Rank)>() == 8
        && align_of::<(K, V)>() == 8
        && align_of::<(K, V::Rank)>() == 8
}

/// Elements and heads as words.
#[inline(always)]
pub(super) fn read_words<'a, K: Key, V: Ranked>(
    heads: &'a [(K, V::Rank)],
    incoming: &'a [(K, V)],
) -> (&'a [u64], &'a [u64]) {
    assert!(bare::<K, V>());
    // SAFETY: `bare` holds: each tuple is 8 bytes, aligned to 8, and has a u64 in it, which therefore is all of it.
    unsafe {
        (
            core::slice::from_raw_parts(heads.as_ptr().cast(), heads.len()),
            core::slice::from_raw_parts(incoming.as_ptr().cast(), incoming.len()),
        )
    }
}

/// All data of a merge as words.
#[inline(always)]
pub(super) fn words<'a, K: Key, V: Ranked>(
    keys: &'a mut [K],
    masks: &'a mut [u64],
    heads: &'a mut [(K, V::Rank)],
    incoming: &'a [(K, V)],
) -> Words<'a> {
    let (_, incoming) = read_words::<K, V>(&[], incoming);
    // SAFETY: as in `read_words`; `K` is u64; any word is a u64, so what is written through the views is valid.
    unsafe {
        Words {
            keys: core::slice::from_raw_parts_mut(keys.as_mut_ptr().cast(), keys.len()),
            masks,
            heads: core::slice::from_raw_parts_mut(heads.as_mut_ptr().cast(), heads.len()),
            incoming,
        }
    }
}

/// Merges with AVX-512.
///
/// # Panics
/// At a lower level.
pub(super) fn merge(level: Level, words: Words<'_>, first: usize, plan: &[Piece]) -> u64 {
    assert!(level.isa() >= Isa::Avx512);
    // SAFETY: detection of levels from AVX-512 on includes the features that `merge_512` is compiled for.
    unsafe { merge_512(words, first, plan) }
}

/// Plans with AVX-512.
///
/// # Panics
/// At a lower level.
pub(super) fn plan(
    level: Level,
    segments: (&[u64], &[u64]),
    incoming: &[u64],
    rules: &Rules,
    out: (&mut Vec<Piece>, &mut Vec<u32>),
) {
    assert!(level.isa() >= Isa::Avx512);
    // SAFETY: detection of levels from AVX-512 on includes the features that `plan_512` is compiled for.
    unsafe { plan_512(segments, incoming, rules, out) }
}

/// The prefetch distance in items, ahead of the one being merged: the hardware prefetcher does not follow the gaps
/// between the elements of segments.
const AHEAD: usize = 8;

/// The remaining elements of a segment are compressed into a buffer; comparing the segment with each incoming key
/// gives the positions of those keys; then each output register is expanded from both.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn merge_512(words: Words<'_>, first: usize, plan: &[Piece]) -> u64 {
    let Words { keys, masks, heads, incoming } = words;
    let mut moves = 0;
    let mut buffer = [0u64; SEGMENT + 8];
    for (i, piece) in plan.iter().enumerate() {
        if let Some(soon) = plan.get(i + AHEAD) {
            let segment = soon.segment as usize - first;
            let used = SEGMENT - masks[segment].leading_zeros() as usize;
            for line in 0..used.div_ceil(8) {
                prefetch(&keys[segment * SEGMENT + 8 * line]);
            }
        }
        let segment = piece.segment as usize - first;
        let keys = &mut keys[segment * SEGMENT..][..SEGMENT];
        let (from, to) = (piece.from as usize, piece.to as usize);
        let mask = masks[segment];
        let (held, coming) = (mask.count_ones() as usize, to - from);
        let total = held + coming;
        if to + 8 > incoming.len() || from > to || total > SEGMENT {
            // The last few, for which reading eight keys would go beyond the end.
            let mut rest = [(0u64, ()); SEGMENT];
            let rest = &mut rest[..coming];
            rest.iter_mut().zip(&incoming[from..to]).for_each(|(r, k)| r.0 = *k);
            masks[segment] = merge_body(keys, &mut [(); SEGMENT], mask, rest);
        } else {
            let used = SEGMENT - mask.leading_zeros() as usize;
            let mut at = 0;
            for r in 0..used.div_ceil(8) {
                let m = (mask >> (8 * r)) as u8;
                // SAFETY: `r < 8` and there are 64 keys; `at <= 8 r`, and the buffer has 72 words.
                unsafe {
                    let v = _mm512_loadu_si512(keys.as_ptr().add(8 * r).cast());
                    let kept = _mm512_maskz_compress_epi64(m, v);
                    _mm512_storeu_si512(buffer.as_mut_ptr().add(at).cast(), kept);
                }
                at += m.count_ones() as usize;
            }
            // Bit i: element i of the result is an incoming one.
            let mut outside = 0u64;
            for (j, key) in incoming[from..to].iter().enumerate() {
                let key = _mm512_set1_epi64(*key as i64);
                let mut below = 0u64;
                for r in 0..used.div_ceil(8) {
                    // SAFETY: as above.
                    let v = unsafe { _mm512_loadu_si512(keys.as_ptr().add(8 * r).cast()) };
                    below |= u64::from(_mm512_cmple_epu64_mask(v, key)) << (8 * r);
                }
                outside |= 1 << ((below & mask).count_ones() as usize + j);
            }
            let (mut inner, mut outer) = (0, from);
            for r in 0..total.div_ceil(8) {
                let m = (outside >> (8 * r)) as u8;
                // SAFETY: `inner <= 64` and the buffer has 72 words; `outer <= to` and eight words follow `to`;
                // `r < 8` and there are 64 keys.
                unsafe {
                    let a = _mm512_loadu_si512(buffer.as_ptr().add(inner).cast());
                    let b = _mm512_loadu_si512(incoming.as_ptr().add(outer).cast());
                    let v = _mm512_mask_expand_epi64(_mm512_maskz_expand_epi64(!m, a), m, b);
                    _mm512_storeu_si512(keys.as_mut_ptr().add(8 * r).cast(), v);
                }
                let n = m.count_ones() as usize;
                outer += n;
                inner += 8 - n;
            }
            masks[segment] = packed(total);
        }
        if total > 0 {
            heads[segment] = keys[0];
        }
        moves += total as u64;
    }
    moves
}

/// Counts the incoming elements of each segment by comparing eight keys at once with the next head.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn plan_512(
    (masks, heads): (&[u64], &[u64]),
    incoming: &[u64],
    rules: &Rules,
    (plan, outside): (&mut Vec<Piece>, &mut Vec<u32>),
) {
    let mut next = 0;
    let none = Piece { segment: 0, from: 0, to: 0 };
    plan.clear();
    plan.resize(heads.len(), none);
    let mut pieces = 0;
    for (segment, &mask) in masks.iter().enumerate() {
        let from = next;
        match heads.get(segment + 1) {
            Some(end) => {
                let head = _mm512_set1_epi64(*end as i64);
                while next + 8 <= incoming.len() {
                    // SAFETY: eight keys follow.
                    let v = unsafe { _mm512_loadu_si512(incoming.as_ptr().add(next).cast()) };
                    let n = _mm512_cmplt_epu64_mask(v, head).count_ones() as usize;
                    next += n;
                    if n < 8 {
                        break;
                    }
                }
                if next + 8 > incoming.len() {
                    while next < incoming.len() && incoming[next] < *end {
                        next += 1;
                    }
                }
            }
            None => next = incoming.len(),
        }
        let count = mask.count_ones() as usize + next - from;
        if !rules.hold(count) {
            outside.push(segment as u32);
        }
        // Always written, and kept if there is something to do: branchless.
        plan[pieces] = Piece { segment: segment as u32, from: from as u32, to: next as u32 };
        pieces += usize::from(next > from || mask & mask.wrapping_add(1) != 0);
    }
    plan.truncate(pieces);
}
