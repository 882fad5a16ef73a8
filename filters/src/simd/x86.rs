//! Instructions that a compiler does not leave as they are, or that a set lacks.
//!
//! The upper half of a product of 16 bits is written down as arithmetic of 32 bits by the standard library, and where
//! another operation follows the compiler goes on in 32 bits, at twice to four times the cost. So it is asked for by name.
#![allow(unsafe_code)] // instructions by name, of registers alone

use core::arch::asm;
use core::arch::x86_64::*;

/// `floor(a b / 65536)` of unsigned numbers.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn mulhi_128(a: __m128i, b: __m128i) -> __m128i {
    let mut out = a;
    // SAFETY: it reads and writes registers alone, and the function's level has it.
    unsafe {
        asm!("pmulhuw {out}, {b}", out = inout(xmm_reg) out, b = in(xmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

/// `floor(a b / 65536)` of unsigned numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn mulhi_256(a: __m256i, b: __m256i) -> __m256i {
    let out;
    // SAFETY: it reads and writes registers alone, and the function's level has it.
    unsafe {
        asm!("vpmulhuw {out}, {a}, {b}", out = lateout(ymm_reg) out, a = in(ymm_reg) a, b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

/// `floor(a b / 65536)` of unsigned numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn mulhi_512(a: __m512i, b: __m512i) -> __m512i {
    let out;
    // SAFETY: it reads and writes registers alone, and the function's level has it.
    unsafe {
        asm!("vpmulhuw {out}, {a}, {b}", out = lateout(zmm_reg) out, a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

/// The larger of unsigned numbers.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn max16_128(a: __m128i, b: __m128i) -> __m128i {
    _mm_adds_epu16(_mm_subs_epu16(a, b), b)
}

/// The smaller of unsigned numbers.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn min16_128(a: __m128i, b: __m128i) -> __m128i {
    _mm_sub_epi16(a, _mm_subs_epu16(a, b))
}
