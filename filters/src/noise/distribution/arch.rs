//! Kernels for H8 and sums, where they are faster than the compiler's vectorization. They return `false`, and do
//! nothing, at levels without a kernel.

use super::{Distribution, shift};
use crate::simd::{Vector, multiversion};

multiversion! {
    /// The centred numbers of whole blocks, as [`centre`](super::centre).
    pub(super) fn centre(level, distribution: Distribution, lanes: usize, words: &[u16], out: &mut [i16]) -> bool => centre_body;
}

#[inline(always)]
fn centre_body<V: Vector>(
    any: V,
    distribution: Distribution,
    lanes: usize,
    words: &[u16],
    out: &mut [i16],
) -> bool {
    match (distribution, lanes) {
        (Distribution::Sum(k), 8) => sums_8(any, k, words, out),
        (Distribution::Sum(k), _) => sums_32(any, k, words, out),
        (Distribution::H8, 8) => transforms_8(any, words, out),
        (Distribution::H8, _) => transforms_32(any, words, out),
    }
    true
}

/// Adds the registers of successive steps: a register with several steps holds as many partial sums of the pixels
/// of a lane.
#[inline(always)]
fn sums_8<V: Vector>(any: V, samples: u32, words: &[u16], out: &mut [i16]) {
    if V::BYTES > 32 {
        return sums_8(any.lower(), samples, words, out);
    }
    let (k, shift) = (samples as usize, shift(samples));
    let (odd, two) = (any.lower().splat16(samples as i16), V::BYTES / 16);
    for (out, words) in out.chunks_exact_mut(8).zip(words.chunks_exact(8 * k)) {
        let mut sum = any.splat16(0);
        for j in (0..k - k % two).step_by(two) {
            sum = sum.add16(any.load(&words[8 * j..]).shr_i16(shift));
        }
        let mut all = sum.lower();
        if two == 2 {
            all = all.add16(sum.upper());
        }
        if k % two == 1 {
            all = all.add16(odd.load(&words[8 * (k - 1)..]).shr_i16(shift));
        }
        all.add16(all).add16(odd).store(out);
    }
}

/// A register holds some lanes of a step.
#[inline(always)]
fn sums_32<V: Vector>(any: V, samples: u32, words: &[u16], out: &mut [i16]) {
    let (k, shift) = (samples as usize, shift(samples));
    let odd = any.splat16(samples as i16);
    for (out, words) in out.chunks_exact_mut(32).zip(words.chunks_exact(32 * k)) {
        for (i, out) in out.chunks_exact_mut(V::BYTES / 2).enumerate() {
            let [first, steps @ ..] = words.as_chunks::<32>().0 else { return };
            let mut sum = any.load(&first[i * V::BYTES / 2..]).shr_i16(shift);
            for step in steps {
                sum = sum.add16(any.load(&step[i * V::BYTES / 2..]).shr_i16(shift));
            }
            sum.add16(sum).add16(odd).store(out);
        }
    }
}

#[inline(always)]
fn transforms_8<V: Vector>(any: V, words: &[u16], out: &mut [i16]) {
    let mut block = [any; 8];
    for (out, words) in out.chunks_exact_mut(64).zip(words.chunks_exact(64)) {
        for (w, words) in block.iter_mut().zip(words.chunks_exact(V::BYTES / 2)) {
            *w = any.load(words);
        }
        let c = h8_in_order(block);
        for (out, c) in out.chunks_exact_mut(V::BYTES / 2).zip(c) {
            c.store(out);
        }
    }
}

#[inline(always)]
fn transforms_32<V: Vector>(any: V, words: &[u16], out: &mut [i16]) {
    for (out, words) in out.as_chunks_mut::<256>().0.iter_mut().zip(words.as_chunks::<256>().0) {
        for first in (0..32).step_by(V::BYTES / 2) {
            let mut w = [any; 8];
            for (q, w) in w.iter_mut().enumerate() {
                *w = any.load(&words[32 * q + first..]);
            }
            for (q, c) in h8(w).into_iter().enumerate() {
                c.store(&mut out[32 * q + first..]);
            }
        }
    }
}

/// H8 of eight steps in eight registers.
#[inline(always)]
pub(in crate::noise) fn h8<V: Vector>(mut w: [V; 8]) -> [V; 8] {
    for w in w.iter_mut() {
        *w = w.shr_i16(3);
    }
    for reach in [4, 2, 1] {
        sums(&mut w, reach);
    }
    w
}

/// Sums and differences of registers at this distance.
#[inline(always)]
fn sums<V: Vector>(w: &mut [V], reach: usize) {
    for pair in w.chunks_exact_mut(2 * reach) {
        let (first, second) = pair.split_at_mut(reach);
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = (a.add16(*b), a.sub16(*b));
        }
    }
}

/// H8 of eight steps of eight lanes, in as few registers as possible: steps that share a register are aligned by
/// exchanging parts of two registers. The slots of each two registers come out interleaved: 0 2 and 1 3, or 0 4 2 6 and
/// 1 5 3 7.
#[inline(always)]
pub(crate) fn h8_by_parts<V: Vector>(mut block: [V; 8]) -> [V; 8] {
    let steps = V::BYTES / 16;
    let w = &mut block[..8 / steps];
    for w in w.iter_mut() {
        *w = w.shr_i16(3);
    }
    for reach in [4, 2, 1] {
        if reach >= steps {
            sums(w, reach / steps);
            continue;
        }
        for [a, b] in w.as_chunks_mut::<2>().0 {
            (*a, *b) = if reach == 2 {
                (a.lower_halves(*b), a.upper_halves(*b))
            } else {
                (a.even_parts(*b), a.odd_parts(*b))
            };
        }
        sums(w, 1);
    }
    block
}

/// The same, in order.
#[inline(always)]
pub(crate) fn h8_in_order<V: Vector>(block: [V; 8]) -> [V; 8] {
    let mut block = h8_by_parts(block);
    if V::BYTES > 16 {
        for [a, b] in block.as_chunks_mut::<2>().0 {
            (*a, *b) = (a.interleave_even_128(*b), a.interleave_odd_128(*b));
        }
    }
    block
}
