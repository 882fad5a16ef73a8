//! 128 bits: a register holds one step, and the last 32 steps lie in a ring on the stack.
#![allow(unsafe_code)] // loads and stores of whole registers

use super::kernels::{by_vectors, kernels, unrolled};
use super::{AHEAD, Job};
use crate::noise::lfsr31::Lanes;
use core::arch::x86_64::*;
#[rustfmt::skip]
use core::arch::x86_64::{
    _mm_set1_epi8 as set8, _mm_set1_epi16 as set16, _mm_mulhi_epi16 as mulhi, _mm_add_epi16 as add16,
    _mm_adds_epi8 as adds8, _mm_adds_epi16 as adds16, _mm_min_epu8 as minu8, _mm_max_epu8 as maxu8,
    _mm_min_epi16 as min16, _mm_max_epi16 as max16, _mm_sra_epi16 as sra16, _mm_or_si128 as or,
    _mm_xor_si128 as xor, _mm_loadu_si128 as load, _mm_storeu_si128 as store,
};

/// One step.
type Steps = __m128i;

/// Registers of 32 steps.
const RING: usize = 32;

/// Steps 0 to 31 of a row: as the plain start, in rounds of lags 28 and 31 times 1, 2, 4 and 8 bits.
#[inline]
#[target_feature(enable = "sse2")]
fn start(lanes: &Lanes) -> [Steps; RING] {
    let xor = |a, b| _mm_xor_si128(a, b);
    // w[n + 2] is step n.
    let mut w = [_mm_setzero_si128(); RING + 2];
    // SAFETY: both are eight words.
    (w[0], w[1]) =
        unsafe { (_mm_loadu_si128(lanes.hi.as_ptr().cast()), _mm_loadu_si128(lanes.lo.as_ptr().cast())) };
    for n in 2..4 {
        let (a, b) = (w[n - 2], w[n - 1]);
        let near = xor(_mm_slli_epi16::<4>(a), _mm_srli_epi16::<12>(b));
        w[n] = xor(near, xor(_mm_slli_epi16::<1>(a), _mm_srli_epi16::<15>(b)));
    }
    for n in 4..8 {
        let (a, b) = (w[n - 4], w[n - 3]);
        let near = xor(_mm_slli_epi16::<8>(a), _mm_srli_epi16::<8>(b));
        w[n] = xor(near, xor(_mm_slli_epi16::<2>(a), _mm_srli_epi16::<14>(b)));
    }
    for n in 8..16 {
        let far = xor(_mm_slli_epi16::<4>(w[n - 8]), _mm_srli_epi16::<12>(w[n - 7]));
        w[n] = xor(w[n - 7], far);
    }
    for n in 16..32 {
        let far = xor(_mm_slli_epi16::<8>(w[n - 16]), _mm_srli_epi16::<8>(w[n - 15]));
        w[n] = xor(w[n - 14], far);
    }
    for n in 32..34 {
        w[n] = xor(w[n - 28], w[n - 31]);
    }
    core::array::from_fn(|n| w[n + 2])
}

/// Vector m of the next turn: w[n] = w[n-28] ^ w[n-31].
#[inline]
#[target_feature(enable = "sse2")]
fn next(ring: &[Steps; RING], m: usize) -> Steps {
    _mm_xor_si128(ring[(m + 4) % RING], ring[(m + 1) % RING])
}

#[inline]
#[target_feature(enable = "sse2")]
fn h8(w: [Steps; 8]) -> [Steps; 8] {
    let sum = |x, y| (_mm_add_epi16(x, y), _mm_sub_epi16(x, y));
    let [a, b, c, d, e, f, g, h] = w;
    let v = |w| _mm_srai_epi16::<3>(w);
    let (a, b, c, d, e, f, g, h) = (v(a), v(b), v(c), v(d), v(e), v(f), v(g), v(h));
    let ((a, e), (b, f), (c, g), (d, h)) = (sum(a, e), sum(b, f), sum(c, g), sum(d, h));
    let ((a, c), (b, d), (e, g), (f, h)) = (sum(a, c), sum(b, d), sum(e, g), sum(f, h));
    let ((a, b), (c, d), (e, f), (g, h)) = (sum(a, b), sum(c, d), sum(e, f), sum(g, h));
    [a, b, c, d, e, f, g, h]
}

#[inline]
#[target_feature(enable = "sse2")]
fn high(a: Steps, b: Steps, half: Steps) -> Steps {
    _mm_packs_epi16(_mm_srai_epi16::<8>(add16(a, half)), _mm_srai_epi16::<8>(add16(b, half)))
}

/// Already in order.
#[inline]
#[target_feature(enable = "sse2")]
fn h8_pairs(w: [Steps; 8]) -> [Steps; 8] {
    h8(w)
}

#[inline]
#[target_feature(enable = "sse2")]
fn high_pairs(a: Steps, b: Steps, half: Steps) -> Steps {
    high(a, b, half)
}

/// Steps are in the order of packing.
use self::{high as high_dealt, start as start_dealt};

/// Two registers for the next turn.
#[inline]
#[target_feature(enable = "sse2")]
fn next_dealt(ring: &[Steps; RING], m: usize) -> [Steps; 2] {
    [next(ring, m), next(ring, m + 1)]
}

const ODD: bool = false;

kernels!("sse2");
