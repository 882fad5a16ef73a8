//! From positions to states, many at a time.
//!
//! Each takes three products with matrices picked by the digits of its position (the first digit is a look-up), and
//! each product waits for the one before. The plain product, compiled for any instruction set, takes 10 ns, since the
//! compiler finds no good way to turn the bits of a number into masks; by hand it is a comparison. In a loop over rows
//! the machine works on several of them at a time.
#![allow(unsafe_code)] // loads of whole vectors from the rows of a matrix, and calls guarded by a detected level

use crate::gf2::Jump32;
use crate::simd::{Isa, Level};

fn plain(jump: &Jump32, first: &[u32; 256], places: &mut [u32]) {
    for place in places {
        let [a, b, c, d] = place.to_le_bytes();
        let state = jump.digit(1, b).apply(first[a as usize]);
        *place = jump.digit(3, d).apply(jump.digit(2, c).apply(state));
    }
}

/// Turns positions below 2^32 into states, in place. `first` has the image of the origin by each lowest digit.
pub(super) fn seek(level: Level, jump: &Jump32, first: &[u32; 256], places: &mut [u32]) {
    match level.isa() {
        Isa::Scalar => plain(jump, first, places),
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 => unsafe { x86::sse2(jump, first, places) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::avx2(jump, first, places) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::avx512(jump, first, places) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain(jump, first, places),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::gf2::{Jump32, Matrix32};
    use core::arch::x86_64::*;

    /// Bit i in element i.
    static BITS: Matrix32 = Matrix32::IDENTITY;

    macro_rules! seek {
        ($name:ident, $features:literal, $apply:ident, $set:ident, $get:expr) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(jump: &Jump32, first: &[u32; 256], places: &mut [u32]) {
                for place in places {
                    let [a, b, c, d] = place.to_le_bytes();
                    let x = $set(first[a as usize] as i32);
                    let x = $apply(x, jump.digit(1, b));
                    let x = $apply(x, jump.digit(2, c));
                    let x = $apply(x, jump.digit(3, d));
                    *place = $get(x) as u32;
                }
            }
        };
    }

    seek!(sse2, "sse2", apply_sse2, _mm_set1_epi32, _mm_cvtsi128_si32);
    seek!(avx2, "avx2", apply_avx2, _mm256_set1_epi32, |x| _mm_cvtsi128_si32(_mm256_castsi256_si128(x)));
    seek!(avx512, "avx512f,avx2", apply_avx512, _mm512_set1_epi32, |x| _mm_cvtsi128_si32(
        _mm512_castsi512_si128(x)
    ));

    /// `x * m`, x and the result in all elements.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn apply_sse2(x: __m128i, m: &Matrix32) -> __m128i {
        let mut sum = _mm_setzero_si128();
        for i in (0..32).step_by(4) {
            // SAFETY: rows are 32 words at an address aligned to 64 bytes, and i + 4 <= 32.
            let (bits, rows) = unsafe {
                (
                    _mm_load_si128(BITS.rows.as_ptr().add(i).cast()),
                    _mm_load_si128(m.rows.as_ptr().add(i).cast()),
                )
            };
            let set = _mm_cmpeq_epi32(_mm_and_si128(x, bits), bits);
            sum = _mm_xor_si128(sum, _mm_and_si128(set, rows));
        }
        let sum = _mm_xor_si128(sum, _mm_shuffle_epi32(sum, 0b01_00_11_10));
        _mm_xor_si128(sum, _mm_shuffle_epi32(sum, 0b10_11_00_01))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(x: __m256i, m: &Matrix32) -> __m256i {
        let mut sum = _mm256_setzero_si256();
        for i in (0..32).step_by(8) {
            // SAFETY: rows are 32 words at an address aligned to 64 bytes, and i + 8 <= 32.
            let (bits, rows) = unsafe {
                (
                    _mm256_load_si256(BITS.rows.as_ptr().add(i).cast()),
                    _mm256_load_si256(m.rows.as_ptr().add(i).cast()),
                )
            };
            let set = _mm256_cmpeq_epi32(_mm256_and_si256(x, bits), bits);
            sum = _mm256_xor_si256(sum, _mm256_and_si256(set, rows));
        }
        let sum = _mm256_xor_si256(sum, _mm256_permute4x64_epi64(sum, 0b01_00_11_10));
        let sum = _mm256_xor_si256(sum, _mm256_shuffle_epi32(sum, 0b01_00_11_10));
        _mm256_xor_si256(sum, _mm256_shuffle_epi32(sum, 0b10_11_00_01))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx2")]
    fn apply_avx512(x: __m512i, m: &Matrix32) -> __m512i {
        // SAFETY: rows are 32 words at an address aligned to 64 bytes.
        let (low, high, bits_low, bits_high) = unsafe {
            let (rows, bits) = (m.rows.as_ptr(), BITS.rows.as_ptr());
            (
                _mm512_load_si512(rows.cast()),
                _mm512_load_si512(rows.add(16).cast()),
                _mm512_load_si512(bits.cast()),
                _mm512_load_si512(bits.add(16).cast()),
            )
        };
        let low = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, bits_low), low);
        let high = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, bits_high), high);
        let sum = _mm512_xor_si512(low, high);
        let sum = _mm512_xor_si512(sum, _mm512_shuffle_i64x2(sum, sum, 0b01_00_11_10));
        let sum = _mm512_xor_si512(sum, _mm512_shuffle_i64x2(sum, sum, 0b10_11_00_01));
        let sum = _mm512_xor_si512(sum, _mm512_shuffle_epi32(sum, 0b01_00_11_10));
        _mm512_xor_si512(sum, _mm512_shuffle_epi32(sum, 0b10_11_00_01))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gf2::M31;
    use crate::noise::lfsr31::place::matrix;
    use crate::noise::seed::mix64;

    #[test]
    fn every_level_is_the_plain_product() {
        let jump = Jump32::new(&matrix());
        let first: [u32; 256] = core::array::from_fn(|d| jump.digit(0, d as u8).apply(0x1234_5678));
        let mut places: Vec<u32> = (0..1000).map(|i| mix64(i + 1) as u32).collect();
        places.extend([0, 1, 255, 256, M31 - 1, u32::MAX]);
        let want: Vec<u32> = places.iter().map(|&n| matrix().pow(n.into()).apply(0x1234_5678)).collect();
        for &level in Level::available() {
            let mut got = places.clone();
            seek(level, &jump, &first, &mut got);
            assert_eq!(got, want, "{level}");
        }
    }
}
