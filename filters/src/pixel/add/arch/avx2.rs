//! 256 bits: a register holds two steps, and the last 32 steps lie in a ring of sixteen on the stack.
#![allow(unsafe_code)] // loads and stores of whole registers

use super::kernels::{by_vectors, kernels, unrolled};
use super::{AHEAD, Job};
use crate::noise::lfsr31::Lanes;
use core::arch::x86_64::*;
#[rustfmt::skip]
use core::arch::x86_64::{
    _mm256_set1_epi8 as set8, _mm256_set1_epi16 as set16, _mm256_mulhi_epi16 as mulhi,
    _mm256_add_epi16 as add16, _mm256_adds_epi8 as adds8, _mm256_adds_epi16 as adds16,
    _mm256_min_epu8 as minu8, _mm256_max_epu8 as maxu8, _mm256_min_epi16 as min16,
    _mm256_max_epi16 as max16, _mm256_sra_epi16 as sra16, _mm256_or_si256 as or,
    _mm256_xor_si256 as xor, _mm256_loadu_si256 as load, _mm256_storeu_si256 as store,
};

/// Two steps; lane i of step s in element 8s + i.
type Steps = __m256i;

/// Registers of 32 steps.
const RING: usize = 16;

/// Steps 0 to 31 of a row: as the plain start, in rounds of lags 28 and 31 times 1, 2, 4 and 8 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn start(lanes: &Lanes) -> [Steps; RING] {
    let xor = |a, b| _mm256_xor_si256(a, b);
    // The upper step of one and the lower of the next.
    let between = |a, b| _mm256_permute2x128_si256::<0x21>(a, b);
    // SAFETY: both are eight words.
    let (hi, lo) =
        unsafe { (_mm_loadu_si128(lanes.hi.as_ptr().cast()), _mm_loadu_si128(lanes.lo.as_ptr().cast())) };
    let one = |a, b| {
        let x = _mm_xor_si128(_mm_slli_epi16::<4>(a), _mm_slli_epi16::<1>(a));
        _mm_xor_si128(x, _mm_xor_si128(_mm_srli_epi16::<12>(b), _mm_srli_epi16::<15>(b)))
    };
    let w0 = one(hi, lo);
    let w1 = one(lo, w0);
    // p[m] is steps 2m - 2 and 2m - 1; odd[m] begins a step later.
    let mut p = [_mm256_setzero_si256(); RING + 1];
    let mut odd = [_mm256_setzero_si256(); RING];
    p[0] = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(hi), lo);
    p[1] = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(w0), w1);
    odd[0] = between(p[0], p[1]);
    for m in 2..4 {
        let (a, b) = (p[m - 2], odd[m - 2]);
        let near = xor(_mm256_slli_epi16::<8>(a), _mm256_srli_epi16::<8>(b));
        p[m] = xor(near, xor(_mm256_slli_epi16::<2>(a), _mm256_srli_epi16::<14>(b)));
        odd[m - 1] = between(p[m - 1], p[m]);
    }
    for m in 4..8 {
        let far = xor(_mm256_slli_epi16::<4>(p[m - 4]), _mm256_srli_epi16::<12>(odd[m - 4]));
        p[m] = xor(odd[m - 4], far);
        odd[m - 1] = between(p[m - 1], p[m]);
    }
    for m in 8..RING {
        let far = xor(_mm256_slli_epi16::<8>(p[m - 8]), _mm256_srli_epi16::<8>(odd[m - 8]));
        p[m] = xor(p[m - 7], far);
        if m == 8 {
            odd[7] = between(p[7], p[8]);
        }
    }
    p[RING] = xor(p[RING - 14], odd[0]);
    let mut ring = [p[1]; RING];
    ring.copy_from_slice(&p[1..]);
    ring
}

/// Vector m of the next turn: w[n] = w[n-28] ^ w[n-31]. The first is two vectors after the one replaced; the second is
/// its upper half and the lower half of its neighbour.
#[inline]
#[target_feature(enable = "avx2")]
fn next(ring: &[Steps; RING], m: usize) -> Steps {
    let far = _mm256_permute2x128_si256::<0x21>(ring[m], ring[(m + 1) % RING]);
    _mm256_xor_si256(ring[(m + 2) % RING], far)
}

/// Four registers of eight steps: those four and two apart stand in different registers, neighbours in one, where lower
/// and upper halves of two registers are brought together. The pairs that come out are the even slots and the odd ones.
#[inline]
#[target_feature(enable = "avx2")]
fn h8_pairs(w: [Steps; 4]) -> [Steps; 4] {
    let sum = |x, y| (_mm256_add_epi16(x, y), _mm256_sub_epi16(x, y));
    let one = |x, y| {
        let (lower, upper) =
            (_mm256_permute2x128_si256::<0x20>(x, y), _mm256_permute2x128_si256::<0x31>(x, y));
        sum(lower, upper)
    };
    let [a, b, c, d] = w;
    let v = |w| _mm256_srai_epi16::<3>(w);
    let (a, b, c, d) = (v(a), v(b), v(c), v(d));
    let ((a, c), (b, d)) = (sum(a, c), sum(b, d));
    let ((a, b), (c, d)) = (sum(a, b), sum(c, d));
    let ((a, b), (c, d)) = (one(a, b), one(c, d));
    [a, b, c, d]
}

#[inline]
#[target_feature(enable = "avx2")]
fn h8(w: [Steps; 4]) -> [Steps; 4] {
    let order = |x, y| [_mm256_permute2x128_si256::<0x20>(x, y), _mm256_permute2x128_si256::<0x31>(x, y)];
    let [a, b, c, d] = h8_pairs(w);
    let ([a, b], [c, d]) = (order(a, b), order(c, d));
    [a, b, c, d]
}

/// Packing goes by 128-bit lanes, and so it puts even and odd slots in order.
#[inline]
#[target_feature(enable = "avx2")]
fn high_pairs(a: Steps, b: Steps, half: Steps) -> Steps {
    // The rounding product by 128 is (a * 128 + 2^14) >> 15, which is (a + 128) >> 8 exactly, in one instruction.
    _mm256_packs_epi16(_mm256_mulhrs_epi16(a, half), _mm256_mulhrs_epi16(b, half))
}

/// Packing goes by 128-bit lanes; the permutation puts them in order.
#[inline]
#[target_feature(enable = "avx2")]
fn high(a: Steps, b: Steps, half: Steps) -> Steps {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(high_pairs(a, b, half))
}

/// Four steps s dealt to two registers: s and s + 2, s + 1 and s + 3, which packing by 128-bit lanes puts in order.
#[inline]
#[target_feature(enable = "avx2")]
fn start_dealt(lanes: &Lanes) -> [Steps; RING] {
    let mut ring = start(lanes);
    for m in (0..RING).step_by(2) {
        let (a, b) = (ring[m], ring[m + 1]);
        ring[m] = _mm256_permute2x128_si256::<0x20>(a, b);
        ring[m + 1] = _mm256_permute2x128_si256::<0x31>(a, b);
    }
    ring
}

/// The pair of registers from m on, for the next turn. 28 steps before is the next pair; 31 before is, for the even steps,
/// the odd register beside them, and for the odd ones the second half of the even register and the first of the next.
#[inline]
#[target_feature(enable = "avx2")]
fn next_dealt(ring: &[Steps; RING], m: usize) -> [Steps; 2] {
    let (even, odd) = (ring[(m + 2) % RING], ring[(m + 3) % RING]);
    let far = _mm256_permute2x128_si256::<0x21>(ring[m], even);
    [_mm256_xor_si256(even, ring[m + 1]), _mm256_xor_si256(odd, far)]
}

use self::high_pairs as high_dealt;

const ODD: bool = false;

kernels!("avx2");
