//! Darkening by whole registers, of 128, 256 or 512 bits.
//!
//! A compiler widens products of 16 bits to 32, which halves what a register holds; here their upper halves are asked
//! for. Each function does as much of a row as fills registers and says how many samples that were.
#![allow(unsafe_code)] // loads and stores of whole registers; calls into functions of a level, which was detected

use super::Shade;
use crate::simd::Level;

/// How many bytes ahead memory is asked for: parts of rows around the centre are left out, and the machine does not
/// foresee where it goes on.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Samples of 8 bits; `terms` are as many.
pub(super) fn shade_u8(level: Level, samples: &mut [u8], terms: &[u16], by: Shade) -> usize {
    assert!(samples.len() == terms.len(), "a term for every sample");
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Isa;
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        unsafe {
            match level.isa() {
                Isa::Avx512 => avx512::shade_u8(samples, terms, by),
                Isa::Avx2 => avx2::shade_u8(samples, terms, by),
                Isa::Sse2 => sse2::shade_u8(samples, terms, by),
                Isa::Scalar => 0,
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (level, by);
        0
    }
}

/// Samples of 9 to 16 bits; `terms` are as many.
pub(super) fn shade_u16(level: Level, samples: &mut [u16], terms: &[u16], by: Shade) -> usize {
    assert!(samples.len() == terms.len(), "a term for every sample");
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Isa;
        // SAFETY: as above.
        unsafe {
            match level.isa() {
                Isa::Avx512 => avx512::shade_u16(samples, terms, by),
                Isa::Avx2 => avx2::shade_u16(samples, terms, by),
                Isa::Sse2 => sse2::shade_u16(samples, terms, by),
                Isa::Scalar => 0,
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (level, by);
        0
    }
}

/// The kernels of one width of register. `pair` loads two registers of terms in the order in which samples are unpacked.
#[cfg(target_arch = "x86_64")]
macro_rules! width {
    ($name:ident, $features:literal, $v:ident, $pair:ident, { $($long:ident as $short:ident),* $(,)? }, { $($own:ident as $own_short:ident),* }) => {
        mod $name {
            use super::{AHEAD, Shade};
            use core::arch::x86_64::{$v, _MM_HINT_T0, _mm_prefetch, $($long as $short),*};
            use crate::simd::x86::{$($own as $own_short),*};
            use super::own::$pair as pair;

            /// Bytes of a register.
            const BYTES: usize = size_of::<$v>();

            /// What is lost at places with these terms.
            #[inline]
            #[target_feature(enable = $features)]
            fn loss(term: $v, [up, down, amount]: [$v; 3]) -> $v {
                let t = subs16(adds16(term, up), down);
                let u = mulhi(t, t);
                let v = mulhi(u, xor(t, set16(-1)));
                mulhi(add16(u, add16(v, v)), amount)
            }

            #[target_feature(enable = $features)]
            pub(super) fn shade_u8(samples: &mut [u8], terms: &[u16], by: Shade) -> usize {
                let row = [set16(by.up as i16), set16(by.down as i16), set16(by.amount as i16)];
                let (nought, half) = (set8(by.zero as i8), set16(128));
                let mut done = 0;
                for (block, terms) in samples.chunks_exact_mut(BYTES).zip(terms.chunks_exact(BYTES)) {
                    let p = block.as_mut_ptr().cast::<$v>();
                    // What is asked for ahead may be anywhere.
                    _mm_prefetch::<_MM_HINT_T0>(p.wrapping_byte_add(AHEAD).cast());
                    // SAFETY: the block is as long as a register, its terms as two.
                    let (x, (a, b)) = unsafe { (load(p), pair(terms.as_ptr())) };
                    let (over, under) = (subs8(x, nought), subs8(nought, x));
                    let d = or(over, under);
                    // Unpacked behind zeros a difference is 256 times as large.
                    let part = |d, term| srl16::<8>(add16(mulhi(d, loss(term, row)), half));
                    let e = pack(part(lower8(zero(), d), a), part(upper8(zero(), d), b));
                    let y = add8(sub8(x, min8(e, over)), min8(e, under));
                    // SAFETY: as above.
                    unsafe { store(p, y) };
                    done += BYTES;
                }
                done
            }

            #[target_feature(enable = $features)]
            pub(super) fn shade_u16(samples: &mut [u16], terms: &[u16], by: Shade) -> usize {
                let row = [set16(by.up as i16), set16(by.down as i16), set16(by.amount as i16)];
                let nought = set16(by.zero as i16);
                let mut done = 0;
                let blocks = samples.chunks_exact_mut(BYTES / 2).zip(terms.chunks_exact(BYTES / 2));
                for (block, terms) in blocks {
                    let p = block.as_mut_ptr().cast::<$v>();
                    // What is asked for ahead may be anywhere.
                    _mm_prefetch::<_MM_HINT_T0>(p.wrapping_byte_add(AHEAD).cast());
                    // SAFETY: the block and its terms are as long as a register.
                    let (x, term) = unsafe { (load(p), load(terms.as_ptr().cast())) };
                    let l = loss(term, row);
                    let (over, under) = (subs16(x, nought), subs16(nought, x));
                    let d = or(over, under);
                    let e = add16(mulhi(d, l), srl16::<15>(mullo(d, l)));
                    let y = add16(sub16(x, min16(e, over)), min16(e, under));
                    // SAFETY: as above.
                    unsafe { store(p, y) };
                    done += BYTES / 2;
                }
                done
            }
        }
    };
}

/// What an instruction set has no instruction for.
#[cfg(target_arch = "x86_64")]
mod own {
    use core::arch::x86_64::*;

    /// SAFETY: sixteen numbers are there to load.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) unsafe fn pair_sse2(p: *const u16) -> (__m128i, __m128i) {
        // SAFETY: as the caller says.
        unsafe { (_mm_loadu_si128(p.cast()), _mm_loadu_si128(p.add(8).cast())) }
    }

    /// SAFETY: 32 numbers are there to load.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn pair_avx2(p: *const u16) -> (__m256i, __m256i) {
        // SAFETY: as the caller says.
        let at = |i: usize| unsafe { _mm_loadu_si128(p.add(8 * i).cast()) };
        (_mm256_set_m128i(at(2), at(0)), _mm256_set_m128i(at(3), at(1)))
    }

    /// SAFETY: 64 numbers are there to load.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn pair_avx512(p: *const u16) -> (__m512i, __m512i) {
        // SAFETY: as the caller says.
        let (a, b) = unsafe { (_mm512_loadu_si512(p.cast()), _mm512_loadu_si512(p.add(32).cast())) };
        let lower = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
        let upper = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
        (_mm512_permutex2var_epi64(a, lower, b), _mm512_permutex2var_epi64(a, upper, b))
    }
}

#[cfg(target_arch = "x86_64")]
width!(sse2, "sse2", __m128i, pair_sse2, {
    _mm_set1_epi8 as set8, _mm_set1_epi16 as set16, _mm_setzero_si128 as zero, _mm_loadu_si128 as load,
    _mm_storeu_si128 as store, _mm_unpacklo_epi8 as lower8, _mm_unpackhi_epi8 as upper8,
    _mm_subs_epu8 as subs8, _mm_sub_epi8 as sub8, _mm_add_epi8 as add8, _mm_min_epu8 as min8,
    _mm_adds_epu16 as adds16, _mm_subs_epu16 as subs16, _mm_add_epi16 as add16, _mm_sub_epi16 as sub16, _mm_mullo_epi16 as mullo, _mm_srli_epi16 as srl16,
    _mm_packus_epi16 as pack, _mm_or_si128 as or, _mm_xor_si128 as xor,
}, { mulhi_128 as mulhi, min16_128 as min16 });
#[cfg(target_arch = "x86_64")]
width!(avx2, "avx2", __m256i, pair_avx2, {
    _mm256_set1_epi8 as set8, _mm256_set1_epi16 as set16, _mm256_setzero_si256 as zero,
    _mm256_loadu_si256 as load, _mm256_storeu_si256 as store, _mm256_unpacklo_epi8 as lower8,
    _mm256_unpackhi_epi8 as upper8, _mm256_subs_epu8 as subs8, _mm256_sub_epi8 as sub8,
    _mm256_add_epi8 as add8, _mm256_min_epu8 as min8, _mm256_adds_epu16 as adds16,
    _mm256_subs_epu16 as subs16, _mm256_add_epi16 as add16, _mm256_sub_epi16 as sub16, _mm256_mullo_epi16 as mullo, _mm256_srli_epi16 as srl16,
    _mm256_packus_epi16 as pack, _mm256_or_si256 as or, _mm256_xor_si256 as xor,
    _mm256_min_epu16 as min16,
}, { mulhi_256 as mulhi });
#[cfg(target_arch = "x86_64")]
width!(avx512, "avx512f,avx512bw", __m512i, pair_avx512, {
    _mm512_set1_epi8 as set8, _mm512_set1_epi16 as set16, _mm512_setzero_si512 as zero,
    _mm512_loadu_si512 as load, _mm512_storeu_si512 as store, _mm512_unpacklo_epi8 as lower8,
    _mm512_unpackhi_epi8 as upper8, _mm512_subs_epu8 as subs8, _mm512_sub_epi8 as sub8,
    _mm512_add_epi8 as add8, _mm512_min_epu8 as min8, _mm512_adds_epu16 as adds16,
    _mm512_subs_epu16 as subs16, _mm512_add_epi16 as add16, _mm512_sub_epi16 as sub16, _mm512_mullo_epi16 as mullo, _mm512_srli_epi16 as srl16,
    _mm512_packus_epi16 as pack, _mm512_or_si512 as or, _mm512_xor_si512 as xor,
    _mm512_min_epu16 as min16,
}, { mulhi_512 as mulhi });
