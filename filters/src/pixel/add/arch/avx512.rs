//! 512 bits: a register holds four steps, and the last 32 steps are eight registers.
#![allow(unsafe_code)] // loads and stores of whole registers

use super::kernels::{by_vectors, kernels, unrolled};
use super::{AHEAD, Job};
use crate::noise::lfsr31::Lanes;
use core::arch::x86_64::*;
#[rustfmt::skip]
use core::arch::x86_64::{
    _mm512_set1_epi8 as set8, _mm512_set1_epi16 as set16, _mm512_mulhi_epi16 as mulhi,
    _mm512_add_epi16 as add16, _mm512_adds_epi8 as adds8, _mm512_adds_epi16 as adds16,
    _mm512_min_epu8 as minu8, _mm512_max_epu8 as maxu8, _mm512_min_epi16 as min16,
    _mm512_max_epi16 as max16, _mm512_sra_epi16 as sra16, _mm512_or_si512 as or,
    _mm512_xor_si512 as xor, _mm512_loadu_si512 as load, _mm512_storeu_si512 as store,
};

/// Four steps; lane i of step s in element 8s + i.
type Steps = __m512i;

/// Registers of 32 steps.
const RING: usize = 8;

/// The four steps that begin `$n` steps (of two 64-bit elements each) after `$a`, which `$b` follows.
macro_rules! after {
    ($a:expr, $b:expr, $n:literal) => {
        _mm512_alignr_epi64::<{ 2 * $n }>($b, $a)
    };
}

/// Steps 0 to 31 of a row, with bit 0 set. As the plain start: fewer and fewer rounds of lags 28 and 31 times 1, 2, 4 and 8 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn start(lanes: &Lanes) -> [Steps; RING] {
    // SAFETY: both are eight words.
    let (hi, lo) =
        unsafe { (_mm_loadu_si128(lanes.hi.as_ptr().cast()), _mm_loadu_si128(lanes.lo.as_ptr().cast())) };
    let one = |a, b| {
        let x = _mm_xor_si128(_mm_slli_epi16::<4>(a), _mm_slli_epi16::<1>(a));
        _mm_xor_si128(x, _mm_xor_si128(_mm_srli_epi16::<12>(b), _mm_srli_epi16::<15>(b)))
    };
    let w0 = one(hi, lo);
    let w1 = one(lo, w0);
    let w2 = _mm_xor_si128(
        _mm_xor_si128(_mm_slli_epi16::<8>(hi), _mm_slli_epi16::<2>(hi)),
        _mm_xor_si128(_mm_srli_epi16::<8>(lo), _mm_srli_epi16::<14>(lo)),
    );
    // Group g is steps 4g - 2 to 4g + 1; near by one step further, as after!.
    let pair = |a, b| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
    let g0 = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(pair(hi, lo)), pair(w0, w1));
    let y0 = after!(g0, _mm512_castsi128_si512(w2), 1);
    let g1 = xor3(
        _mm512_xor_si512(_mm512_slli_epi16::<8>(g0), _mm512_slli_epi16::<2>(g0)),
        _mm512_srli_epi16::<8>(y0),
        _mm512_srli_epi16::<14>(y0),
    );
    let seven = |g, y| xor3(y, _mm512_slli_epi16::<4>(g), _mm512_srli_epi16::<12>(y));
    let fourteen = |g, y, z| xor3(z, _mm512_slli_epi16::<8>(g), _mm512_srli_epi16::<8>(y));
    let g2 = seven(g0, y0);
    let y1 = after!(g1, g2, 1);
    let g3 = seven(g1, y1);
    let v0 = after!(g0, g1, 2);
    let v1 = after!(g1, g2, 2);
    let v2 = after!(g2, g3, 2);
    let g4 = fourteen(g0, y0, v0);
    let g5 = fourteen(g1, y1, v1);
    let g6 = fourteen(g2, after!(g2, g3, 1), v2);
    let v3 = after!(g3, g4, 2);
    let g7 = fourteen(g3, after!(g3, g4, 1), v3);
    let g8 = _mm512_xor_si512(g1, y0);
    let mut ring =
        [v0, v1, v2, v3, after!(g4, g5, 2), after!(g5, g6, 2), after!(g6, g7, 2), after!(g7, g8, 2)];
    for w in &mut ring {
        *w = _mm512_or_si512(*w, _mm512_set1_epi16(1));
    }
    ring
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: Steps, b: Steps, c: Steps) -> Steps {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// Register m of the next turn: w[n] = w[n-28] ^ w[n-31], that is the register after the one replaced and, of the two,
/// what begins one step later. Bits never meet others, so bit 0 may be set as well: one instruction does both.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn next(ring: &[Steps; RING], m: usize) -> Steps {
    let near = ring[(m + 1) % RING];
    _mm512_ternarylogic_epi64::<0xbe>(near, after!(ring[m], near, 1), _mm512_set1_epi16(1))
}

/// Two registers for the next turn.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn next_dealt(ring: &[Steps; RING], m: usize) -> [Steps; 2] {
    let first = next(ring, m);
    let near = if m + 2 == RING { ring[0] } else { ring[m + 2] };
    let second = _mm512_ternarylogic_epi64::<0xbe>(near, after!(ring[m + 1], near, 1), _mm512_set1_epi16(1));
    [first, second]
}

use self::start as start_dealt;

const ODD: bool = true;

/// Two registers of eight steps: those four apart stand in different registers; the others are brought there by taking
/// parts of both. What comes out, by parts of 128 bits: slots 0 4 2 6 and 1 5 3 7.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn h8_pairs([x, y]: [Steps; 2]) -> [Steps; 2] {
    let sum = |x, y| (_mm512_add_epi16(x, y), _mm512_sub_epi16(x, y));
    let (x, y) = sum(_mm512_srai_epi16::<3>(x), _mm512_srai_epi16::<3>(y));
    let (x, y) =
        sum(_mm512_shuffle_i64x2::<0b01_00_01_00>(x, y), _mm512_shuffle_i64x2::<0b11_10_11_10>(x, y));
    let (x, y) =
        sum(_mm512_shuffle_i64x2::<0b10_00_10_00>(x, y), _mm512_shuffle_i64x2::<0b11_01_11_01>(x, y));
    [x, y]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn h8(w: [Steps; 2]) -> [Steps; 2] {
    let [x, y] = h8_pairs(w);
    [
        _mm512_permutex2var_epi64(x, _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), y),
        _mm512_permutex2var_epi64(x, _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2), y),
    ]
}

/// Packing goes by 128-bit lanes; the shuffle puts them in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high_pairs(a: __m512i, b: __m512i, half: __m512i) -> __m512i {
    // The rounding product by 128 is (a + 128) >> 8 exactly.
    let both = _mm512_packs_epi16(_mm512_mulhrs_epi16(a, half), _mm512_mulhrs_epi16(b, half));
    _mm512_shuffle_i64x2::<0b11_01_10_00>(both, both)
}

/// Packing goes by 128-bit lanes; the permutation puts them in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high(a: __m512i, b: __m512i, half: __m512i) -> __m512i {
    let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    let both = _mm512_packs_epi16(_mm512_mulhrs_epi16(a, half), _mm512_mulhrs_epi16(b, half));
    _mm512_permutexvar_epi64(order, both)
}

use self::high as high_dealt;

kernels!("avx512f,avx512bw,avx512vl");

/// With VBMI one instruction takes the high bytes of two registers.
pub(super) mod vbmi {
    use super::*;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn high(a: __m512i, b: __m512i, half: __m512i) -> __m512i {
        // Every odd byte of the two.
        const AT: [u8; 64] = odd_bytes([0, 1, 2, 3, 4, 5, 6, 7]);
        // SAFETY: 64 bytes are 64 bytes.
        let odd = unsafe { load(AT.as_ptr().cast()) };
        _mm512_permutex2var_epi8(add16(a, half), odd, add16(b, half))
    }

    use self::high as high_dealt;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn high_pairs(a: __m512i, b: __m512i, half: __m512i) -> __m512i {
        const AT: [u8; 64] = odd_bytes([0, 4, 2, 6, 1, 5, 3, 7]);
        // SAFETY: as above.
        let odd = unsafe { load(AT.as_ptr().cast()) };
        _mm512_permutex2var_epi8(add16(a, half), odd, add16(b, half))
    }

    /// Indices of the odd bytes of two registers, whose parts of 128 bits are taken in this order.
    const fn odd_bytes(parts: [u8; 8]) -> [u8; 64] {
        let mut odd = [0; 64];
        let mut i = 0;
        while i < 64 {
            odd[i] = 16 * parts[i / 8] + 2 * (i % 8) as u8 + 1;
            i += 1;
        }
        odd
    }

    kernels!("avx512f,avx512bw,avx512vl,avx512vbmi");
}
