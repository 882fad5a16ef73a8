//! Means of blocks of two by two by whole registers.
#![allow(unsafe_code)] // loads and stores of vectors, each within slices that were cut to their length

use core::arch::x86_64::*;

/// How many bytes ahead memory is asked for: luma comes from memory here first.
const AHEAD: usize = 4096;

macro_rules! means {
    ($(#[$doc:meta])* $name:ident, $features:literal, $t:ty, $step:literal, |$a:ident, $b:ident, $o:ident| $body:block) => {
        $(#[$doc])*
        #[target_feature(enable = $features)]
        pub(super) fn $name(out: &mut [$t], upper: &[$t], lower: &[$t]) -> usize {
            let count = out.len().min(upper.len() / 2).min(lower.len() / 2) / $step * $step;
            let blocks = upper.chunks_exact(2 * $step).zip(lower.chunks_exact(2 * $step));
            for (out, (a, b)) in out[..count].chunks_exact_mut($step).zip(blocks) {
                let ($a, $b, $o) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
                // What is asked for ahead may be anywhere.
                _mm_prefetch::<_MM_HINT_T0>($a.wrapping_byte_add(AHEAD).cast());
                _mm_prefetch::<_MM_HINT_T0>($b.wrapping_byte_add(AHEAD).cast());
                // SAFETY: each of the pieces is as long as the body's loads and stores together.
                unsafe { $body }
            }
            count
        }
    };
}

means!(
    /// 64 samples of both rows a turn.
    u8_avx512, "avx512f,avx512bw", u8, 32, |a, b, o| {
        let ones = _mm512_set1_epi8(1);
        let pairs = |p: *const u8| _mm512_maddubs_epi16(_mm512_loadu_si512(p.cast()), ones);
        let sum = _mm512_add_epi16(_mm512_add_epi16(pairs(a), pairs(b)), _mm512_set1_epi16(2));
        _mm256_storeu_si256(o.cast(), _mm512_cvtepi16_epi8(_mm512_srli_epi16::<2>(sum)));
    }
);

means!(
    /// 32 samples of both rows a turn. Samples are moved by 2^15 to be signed.
    u16_avx512, "avx512f,avx512bw", u16, 16, |a, b, o| {
        let (ones, sign) = (_mm512_set1_epi16(1), _mm512_set1_epi16(i16::MIN));
        let pairs =
            |p: *const u16| _mm512_madd_epi16(_mm512_xor_si512(_mm512_loadu_si512(p.cast()), sign), ones);
        let sum = _mm512_add_epi32(_mm512_add_epi32(pairs(a), pairs(b)), _mm512_set1_epi32((4 << 15) + 2));
        _mm256_storeu_si256(o.cast(), _mm512_cvtepi32_epi16(_mm512_srli_epi32::<2>(sum)));
    }
);

means!(
    /// 64 samples of both rows a turn.
    u8_avx2, "avx2", u8, 32, |a, b, o| {
        let ones = _mm256_set1_epi8(1);
        let pairs = |p: *const u8| _mm256_maddubs_epi16(_mm256_loadu_si256(p.cast()), ones);
        let mean = |a, b| {
            _mm256_srli_epi16::<2>(_mm256_add_epi16(_mm256_add_epi16(pairs(a), pairs(b)), _mm256_set1_epi16(2)))
        };
        let both = _mm256_packus_epi16(mean(a, b), mean(a.add(32), b.add(32)));
        _mm256_storeu_si256(o.cast(), _mm256_permute4x64_epi64::<0b11_01_10_00>(both));
    }
);

means!(
    /// 32 samples of both rows a turn. Samples are moved by 2^15 to be signed.
    u16_avx2, "avx2", u16, 16, |a, b, o| {
        let (ones, sign) = (_mm256_set1_epi16(1), _mm256_set1_epi16(i16::MIN));
        let pairs =
            |p: *const u16| _mm256_madd_epi16(_mm256_xor_si256(_mm256_loadu_si256(p.cast()), sign), ones);
        let mean = |a, b| {
            let sum = _mm256_add_epi32(pairs(a), pairs(b));
            _mm256_srli_epi32::<2>(_mm256_add_epi32(sum, _mm256_set1_epi32((4 << 15) + 2)))
        };
        let both = _mm256_packus_epi32(mean(a, b), mean(a.add(16), b.add(16)));
        _mm256_storeu_si256(o.cast(), _mm256_permute4x64_epi64::<0b11_01_10_00>(both));
    }
);
