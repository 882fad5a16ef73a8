//! Where the compiler's vectors lose: the bodies of [`xs64`], H8 and sums in whole registers.
#![allow(unsafe_code)] // loads and stores of whole vectors

use crate::noise::law::shift;
use crate::noise::xs64;
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
pub(in crate::noise) fn xs64_avx512(lanes: &mut xs64::Lanes, out: &mut [u16]) {
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

macro_rules! h8 {
    ($(#[$doc:meta])* $name:ident, $features:literal, $lanes:literal by $tile:literal,
     $load:ident $store:ident $srai:ident $add:ident $sub:ident) => {
        $(#[$doc])*
        #[target_feature(enable = $features)]
        pub(in crate::noise) fn $name(words: &[u16], out: &mut [i16]) {
            const BLOCK: usize = 8 * $lanes;
            for (out, words) in out.chunks_exact_mut(BLOCK).zip(words.chunks_exact(BLOCK)) {
                for first in (0..$lanes).step_by($tile) {
                    // SAFETY: each of the eight steps has the words first to first + $tile - 1.
                    let step = |q| unsafe { $load(words.as_ptr().add($lanes * q + first).cast()) };
                    let [a, b, c, d, e, f, g, h] = core::array::from_fn(|q| $srai::<3>(step(q)));
                    let sum = |x, y| ($add(x, y), $sub(x, y));
                    let ((a, e), (b, f), (c, g), (d, h)) = (sum(a, e), sum(b, f), sum(c, g), sum(d, h));
                    let ((a, c), (b, d), (e, g), (f, h)) = (sum(a, c), sum(b, d), sum(e, g), sum(f, h));
                    let ((a, b), (c, d), (e, f), (g, h)) = (sum(a, b), sum(c, d), sum(e, f), sum(g, h));
                    for (q, v) in [a, b, c, d, e, f, g, h].into_iter().enumerate() {
                        // SAFETY: as above.
                        unsafe { $store(out.as_mut_ptr().add($lanes * q + first).cast(), v) };
                    }
                }
            }
        }
    };
}

h8!(
    /// H8 of 32 lanes.
    h8_32_avx512, "avx512f,avx512bw", 32 by 32,
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_srai_epi16 _mm512_add_epi16 _mm512_sub_epi16
);
h8!(
    /// H8 of 32 lanes.
    h8_32_avx2, "avx2", 32 by 16,
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_srai_epi16 _mm256_add_epi16 _mm256_sub_epi16
);
h8!(
    /// H8 of 32 lanes.
    h8_32_sse2, "sse2", 32 by 8,
    _mm_loadu_si128 _mm_storeu_si128 _mm_srai_epi16 _mm_add_epi16 _mm_sub_epi16
);
h8!(
    /// H8 of eight lanes.
    h8_8_sse2, "sse2", 8 by 8,
    _mm_loadu_si128 _mm_storeu_si128 _mm_srai_epi16 _mm_add_epi16 _mm_sub_epi16
);

macro_rules! sums {
    ($(#[$doc:meta])* $name:ident, $features:literal, $lanes:literal by $tile:literal,
     $load:ident $store:ident $sra:ident $add:ident $set:ident) => {
        $(#[$doc])*
        #[target_feature(enable = $features)]
        pub(in crate::noise) fn $name(samples: u32, words: &[u16], out: &mut [i16]) {
            let (k, shift) = (samples as usize, _mm_cvtsi32_si128(shift(samples) as i32));
            let odd = $set(samples as i16);
            for (out, words) in out.chunks_exact_mut($lanes).zip(words.chunks_exact($lanes * k)) {
                for first in (0..$lanes).step_by($tile) {
                    // SAFETY: each of the k steps has the words first to first + $tile - 1.
                    let step = |j| $sra(unsafe { $load(words.as_ptr().add($lanes * j + first).cast()) }, shift);
                    let sum = (1..k).fold(step(0), |sum, j| $add(sum, step(j)));
                    // SAFETY: so many pixels are here.
                    unsafe { $store(out.as_mut_ptr().add(first).cast(), $add($add(sum, sum), odd)) };
                }
            }
        }
    };
}

sums!(
    /// Sums of 32 lanes.
    sums_32_avx512, "avx512f,avx512bw", 32 by 32,
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_sra_epi16 _mm512_add_epi16 _mm512_set1_epi16
);
sums!(
    /// Sums of 32 lanes.
    sums_32_avx2, "avx2", 32 by 16,
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_sra_epi16 _mm256_add_epi16 _mm256_set1_epi16
);
sums!(
    /// Sums of 32 lanes.
    sums_32_sse2, "sse2", 32 by 8,
    _mm_loadu_si128 _mm_storeu_si128 _mm_sra_epi16 _mm_add_epi16 _mm_set1_epi16
);
sums!(
    /// Sums of eight lanes.
    sums_8_sse2, "sse2", 8 by 8,
    _mm_loadu_si128 _mm_storeu_si128 _mm_sra_epi16 _mm_add_epi16 _mm_set1_epi16
);

/// Sums of eight lanes: two steps in a register, whose halves are added in the end.
#[target_feature(enable = "avx2")]
pub(in crate::noise) fn sums_8_avx2(samples: u32, words: &[u16], out: &mut [i16]) {
    let (k, shift) = (samples as usize, _mm_cvtsi32_si128(shift(samples) as i32));
    let odd = _mm_set1_epi16(samples as i16);
    for (out, words) in out.chunks_exact_mut(8).zip(words.chunks_exact(8 * k)) {
        let at = |j: usize| words[8 * j..].as_ptr();
        let mut sum = _mm256_setzero_si256();
        for j in (0..k - k % 2).step_by(2) {
            // SAFETY: steps j and j + 1 are here.
            let two = unsafe { _mm256_loadu_si256(at(j).cast()) };
            sum = _mm256_add_epi16(sum, _mm256_sra_epi16(two, shift));
        }
        let mut sum = _mm_add_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        if k % 2 == 1 {
            // SAFETY: the last step is here.
            let last = unsafe { _mm_loadu_si128(at(k - 1).cast()) };
            sum = _mm_add_epi16(sum, _mm_sra_epi16(last, shift));
        }
        // SAFETY: eight pixels are here.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm_add_epi16(_mm_add_epi16(sum, sum), odd)) };
    }
}

/// H8 of eight lanes: two registers are a block, and steps four apart stand one above the other.
#[target_feature(enable = "avx512f,avx512bw")]
pub(in crate::noise) fn h8_8_avx512(words: &[u16], out: &mut [i16]) {
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
pub(in crate::noise) fn h8_8_avx2(words: &[u16], out: &mut [i16]) {
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

/// The 32 lanes of a key: [`xs64::Lanes::of_key`] by eight 64-bit products at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn lanes_of_key(key: u64) -> [__m512i; 4] {
    const GOLDEN: u64 = crate::noise::seed::GOLDEN;
    let odd = |m: u64| _mm512_set1_epi64(m as i64);
    let ramp = _mm512_mullo_epi64(_mm512_set_epi64(8, 7, 6, 5, 4, 3, 2, 1), odd(GOLDEN));
    let first = _mm512_add_epi64(odd(key), ramp);
    let mut w = core::array::from_fn(|j| {
        let z = _mm512_add_epi64(first, odd(GOLDEN.wrapping_mul(8 * j as u64)));
        let z = _mm512_xor_si512(z, _mm512_srli_epi64::<30>(z));
        let z = _mm512_mullo_epi64(z, odd(0xbf58_476d_1ce4_e5b9));
        let z = _mm512_xor_si512(z, _mm512_srli_epi64::<27>(z));
        let z = _mm512_mullo_epi64(z, odd(0x94d0_49bb_1331_11eb));
        _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z))
    });
    w[3] = _mm512_or_si512(w[3], _mm512_set1_epi16(1));
    w
}

/// Half of the H8 numbers of the row of a key, from its first pixel: words never leave the registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(in crate::noise) fn halves_avx512(key: u64, out: &mut [i16]) {
    let [mut a, mut b, mut c, mut d] = lanes_of_key(key);
    for out in out.chunks_exact_mut(8 * xs64::LANES) {
        let mut step = || {
            let t = _mm512_xor_si512(a, _mm512_slli_epi16::<7>(a));
            let word = _mm512_add_epi16(t, c);
            let r = _mm512_ternarylogic_epi64::<0x96>(b, _mm512_slli_epi16::<4>(b), t);
            let r = _mm512_xor_si512(r, _mm512_srli_epi16::<7>(t));
            (a, b, c, d) = (b, c, d, r);
            _mm512_srai_epi16::<3>(word)
        };
        let v = [step(), step(), step(), step(), step(), step(), step(), step()];
        let [a, b, c, d, e, f, g, h] = v;
        let sum = |x, y| (_mm512_add_epi16(x, y), _mm512_sub_epi16(x, y));
        let ((a, e), (b, f), (c, g), (d, h)) = (sum(a, e), sum(b, f), sum(c, g), sum(d, h));
        let ((a, c), (b, d), (e, g), (f, h)) = (sum(a, c), sum(b, d), sum(e, g), sum(f, h));
        let ((a, b), (c, d), (e, f), (g, h)) = (sum(a, b), sum(c, d), sum(e, f), sum(g, h));
        for (out, v) in out.chunks_exact_mut(32).zip([a, b, c, d, e, f, g, h]) {
            // SAFETY: 32 numbers are here.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_srai_epi16::<1>(v)) };
        }
    }
}

/// The same, sixteen lanes at a time.
#[target_feature(enable = "avx2")]
pub(in crate::noise) fn halves_avx2(key: u64, out: &mut [i16]) {
    let lanes = xs64::Lanes::of_key(key);
    for first in [0, 16] {
        // SAFETY: each plane is 32 words.
        let load = |plane: &[u16; 32]| unsafe { _mm256_loadu_si256(plane[first..].as_ptr().cast()) };
        let [mut a, mut b, mut c, mut d] = lanes.w.each_ref().map(load);
        for out in out.chunks_exact_mut(8 * xs64::LANES) {
            let mut step = || {
                let t = _mm256_xor_si256(a, _mm256_slli_epi16::<7>(a));
                let word = _mm256_add_epi16(t, c);
                let r = _mm256_xor_si256(_mm256_xor_si256(b, _mm256_slli_epi16::<4>(b)), t);
                let r = _mm256_xor_si256(r, _mm256_srli_epi16::<7>(t));
                (a, b, c, d) = (b, c, d, r);
                _mm256_srai_epi16::<3>(word)
            };
            let v = [step(), step(), step(), step(), step(), step(), step(), step()];
            let [a, b, c, d, e, f, g, h] = v;
            let sum = |x, y| (_mm256_add_epi16(x, y), _mm256_sub_epi16(x, y));
            let ((a, e), (b, f), (c, g), (d, h)) = (sum(a, e), sum(b, f), sum(c, g), sum(d, h));
            let ((a, c), (b, d), (e, g), (f, h)) = (sum(a, c), sum(b, d), sum(e, g), sum(f, h));
            let ((a, b), (c, d), (e, f), (g, h)) = (sum(a, b), sum(c, d), sum(e, f), sum(g, h));
            for (out, v) in out.chunks_exact_mut(32).zip([a, b, c, d, e, f, g, h]) {
                // SAFETY: sixteen numbers are here.
                unsafe {
                    _mm256_storeu_si256(
                        out[first..first + 16].as_mut_ptr().cast(),
                        _mm256_srai_epi16::<1>(v),
                    );
                };
            }
        }
    }
}
