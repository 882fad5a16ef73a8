//! Where the compiler's vectors lose: the bodies of [`xs64`](super::xs64) and of H8 in whole wide registers.
#![allow(unsafe_code)] // loads and stores of whole vectors

use super::xs64;
use core::arch::x86_64::*;

/// 32 words of a slice.
///
/// # Safety
/// `words[at..at + 32]` must exist.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(words: &[u16], at: usize) -> __m512i {
    debug_assert!(at + 32 <= words.len());
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(words.as_ptr().add(at).cast()) }
}

/// xs64 with a register for each of the four planes.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn xs64_avx512(lanes: &mut xs64::Lanes, out: &mut [u16]) {
    // SAFETY: each plane is 32 words.
    let [mut a, mut b, mut c, mut d] = lanes.w.each_ref().map(|plane| unsafe { load(plane, 0) });
    for out in out.chunks_exact_mut(xs64::LANES) {
        let t = _mm512_xor_si512(a, _mm512_slli_epi16::<7>(a));
        // SAFETY: 32 words are here.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_add_epi16(t, c)) };
        let r = _mm512_ternarylogic_epi64::<0x96>(b, _mm512_slli_epi16::<4>(b), t);
        let r = _mm512_xor_si512(r, _mm512_srli_epi16::<7>(t));
        (a, b, c, d) = (b, c, d, r);
    }
    for (plane, v) in lanes.w.iter_mut().zip([a, b, c, d]) {
        // SAFETY: each plane is 32 words.
        unsafe { _mm512_storeu_si512(plane.as_mut_ptr().cast(), v) };
    }
}

/// H8 of 32 lanes.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn h8_32_avx512(words: &[u16], out: &mut [i16]) {
    for (out, words) in out.chunks_exact_mut(256).zip(words.chunks_exact(256)) {
        // SAFETY: 8 times 32 words are here.
        let v = core::array::from_fn(|q| _mm512_srai_epi16::<3>(unsafe { load(words, 32 * q) }));
        let [a, b, c, d, e, f, g, h]: [__m512i; 8] = v;
        let sum = |x, y| (_mm512_add_epi16(x, y), _mm512_sub_epi16(x, y));
        let ((a, e), (b, f), (c, g), (d, h)) = (sum(a, e), sum(b, f), sum(c, g), sum(d, h));
        let ((a, c), (b, d), (e, g), (f, h)) = (sum(a, c), sum(b, d), sum(e, g), sum(f, h));
        let ((a, b), (c, d), (e, f), (g, h)) = (sum(a, b), sum(c, d), sum(e, f), sum(g, h));
        for (q, v) in [a, b, c, d, e, f, g, h].into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(32 * q).cast(), v) };
        }
    }
}

/// H8 of eight lanes: two registers are a block, and steps four apart stand one above the other.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn h8_8_avx512(words: &[u16], out: &mut [i16]) {
    for (out, words) in out.chunks_exact_mut(64).zip(words.chunks_exact(64)) {
        // SAFETY: twice 32 words are here.
        let (x, y) = unsafe { (load(words, 0), load(words, 32)) };
        let (x, y) = (_mm512_srai_epi16::<3>(x), _mm512_srai_epi16::<3>(y));
        let (x, y) = (_mm512_add_epi16(x, y), _mm512_sub_epi16(x, y));
        // Steps two apart, then one apart, by swapping parts of a register: the first of a pair becomes the sum, the
        // second the difference.
        let two = |v| {
            let w = _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v);
            _mm512_mask_sub_epi16(_mm512_add_epi16(v, w), 0xffff_0000, w, v)
        };
        let one = |v| {
            let w = _mm512_shuffle_i64x2::<0b10_11_00_01>(v, v);
            _mm512_mask_sub_epi16(_mm512_add_epi16(v, w), 0xff00_ff00, w, v)
        };
        // SAFETY: as above.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().cast(), one(two(x)));
            _mm512_storeu_si512(out.as_mut_ptr().add(32).cast(), one(two(y)));
        }
    }
}

/// H8 of eight lanes: four registers are a block.
#[target_feature(enable = "avx2")]
pub(super) fn h8_8_avx2(words: &[u16], out: &mut [i16]) {
    for (out, words) in out.chunks_exact_mut(64).zip(words.chunks_exact(64)) {
        // SAFETY: four times 16 words are here.
        let v = core::array::from_fn(|q| unsafe { _mm256_loadu_si256(words.as_ptr().add(16 * q).cast()) });
        let [a, b, c, d]: [__m256i; 4] = v.map(|v| _mm256_srai_epi16::<3>(v));
        let sum = |x, y| (_mm256_add_epi16(x, y), _mm256_sub_epi16(x, y));
        let ((a, c), (b, d)) = (sum(a, c), sum(b, d));
        let ((a, b), (c, d)) = (sum(a, b), sum(c, d));
        for (q, v) in [a, b, c, d].into_iter().enumerate() {
            let w = _mm256_permute4x64_epi64::<0b01_00_11_10>(v);
            let v = _mm256_blend_epi32::<0b1111_0000>(_mm256_add_epi16(v, w), _mm256_sub_epi16(w, v));
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(16 * q).cast(), v) };
        }
    }
}
