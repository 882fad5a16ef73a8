//! 512 bits: a register holds four steps, and the last 31 steps are eight registers.
#![allow(unsafe_code)] // loads and stores of whole vectors, masked at the end of a row

use super::{AHEAD, Job, by_vectors};
use crate::noise::lfsr31::Lanes;
use core::arch::x86_64::*;

/// Four steps; lane i of step s in element 8s + i.
type Steps = __m512i;

/// The four steps that begin `$n` steps (of two 64-bit elements each) after `$a`, which `$b` follows.
macro_rules! after {
    ($a:expr, $b:expr, $n:literal) => {
        _mm512_alignr_epi64::<{ 2 * $n }>($b, $a)
    };
}

/// Steps 0 to 31 of a row. As the plain start: fewer and fewer rounds of lags 28 and 31 times 1, 2, 4 and 8 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn start(lanes: &Lanes) -> [Steps; 8] {
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
    [v0, v1, v2, v3, after!(g4, g5, 2), after!(g5, g6, 2), after!(g6, g7, 2), after!(g7, g8, 2)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: Steps, b: Steps, c: Steps) -> Steps {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// The next 32 steps: w[n] = w[n-28] ^ w[n-31], that is a register further and the one step after this.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn(v: &mut [Steps; 8]) {
    for m in 0..7 {
        v[m] = _mm512_xor_si512(v[m + 1], after!(v[m], v[m + 1], 1));
    }
    v[7] = _mm512_xor_si512(v[0], after!(v[7], v[0], 1));
}

/// High bytes of two vectors, in the order of the pixels.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high_bytes(a: __m512i, b: __m512i) -> __m512i {
    // Packing goes by 128-bit lanes; the permutation puts them in order.
    let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    let both = _mm512_packs_epi16(_mm512_srai_epi16::<8>(a), _mm512_srai_epi16::<8>(b));
    _mm512_permutexvar_epi64(order, both)
}

/// The same in one instruction.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn high_bytes_vbmi(a: __m512i, b: __m512i) -> __m512i {
    // Every odd byte of the two.
    let odd: [u8; 64] = core::array::from_fn(|i| 2 * i as u8 + 1);
    // SAFETY: 64 bytes are 64 bytes.
    let odd = unsafe { _mm512_loadu_si512(odd.as_ptr().cast()) };
    _mm512_permutex2var_epi8(a, odd, b)
}

/// What 8-bit samples are changed by.
struct Bytes {
    gain: __m512i,
    or: __m512i,
    half: __m512i,
    sign: __m512i,
    lo: __m512i,
    hi: __m512i,
}

impl Bytes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(job: Job<u8>, or: i16) -> Bytes {
        Bytes {
            gain: _mm512_set1_epi16(job.gain),
            or: _mm512_set1_epi16(or),
            half: _mm512_set1_epi16(job.round),
            sign: _mm512_set1_epi8(-128),
            lo: _mm512_set1_epi8(job.lo as i8),
            hi: _mm512_set1_epi8(job.hi as i8),
        }
    }

    /// Noise times 256, and a half: its high byte is the noise.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn noise(&self, w: __m512i) -> __m512i {
        _mm512_add_epi16(_mm512_mulhi_epi16(_mm512_or_si512(w, self.or), self.gain), self.half)
    }

    /// 64 samples and their noise.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn add(&self, x: __m512i, n: __m512i) -> __m512i {
        let sum = _mm512_adds_epi8(_mm512_xor_si512(x, self.sign), n);
        let (top, bottom) = (_mm512_max_epu8(x, self.hi), _mm512_min_epu8(x, self.lo));
        _mm512_max_epu8(_mm512_min_epu8(_mm512_xor_si512(sum, self.sign), top), bottom)
    }
}

/// What 16-bit samples are changed by.
struct Words {
    gain: __m512i,
    or: __m512i,
    half: __m512i,
    shift: __m128i,
    sign: __m512i,
    lo: __m512i,
    hi: __m512i,
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(job: Job<u16>, or: i16) -> Words {
        Words {
            gain: _mm512_set1_epi16(job.gain),
            or: _mm512_set1_epi16(or),
            half: _mm512_set1_epi16(job.round),
            shift: _mm_cvtsi32_si128(job.shift as i32),
            sign: _mm512_set1_epi16(i16::MIN),
            lo: _mm512_set1_epi16(job.lo as i16),
            hi: _mm512_set1_epi16(job.hi as i16),
        }
    }

    /// 32 samples and their words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn add(&self, x: __m512i, w: __m512i) -> __m512i {
        let high = _mm512_mulhi_epi16(_mm512_or_si512(w, self.or), self.gain);
        let n = _mm512_sra_epi16(_mm512_add_epi16(high, self.half), self.shift);
        let x = _mm512_xor_si512(x, self.sign);
        let (top, bottom) = (_mm512_max_epi16(x, self.hi), _mm512_min_epi16(x, self.lo));
        let sum = _mm512_max_epi16(_mm512_min_epi16(_mm512_adds_epi16(x, n), top), bottom);
        _mm512_xor_si512(sum, self.sign)
    }
}

macro_rules! bytes {
    ($uniform:ident, $add:ident, $features:literal, $high:ident) => {
        #[target_feature(enable = $features)]
        pub(super) fn $uniform(row: &mut [u8], lanes: &Lanes, job: Job<u8>) {
            let k = Bytes::new(job, 1);
            let mut v = start(lanes);
            let mut blocks = row.chunks_exact_mut(256);
            for block in &mut blocks {
                for (q, x) in block.chunks_exact_mut(64).enumerate() {
                    let n = $high(k.noise(v[2 * q]), k.noise(v[2 * q + 1]));
                    let x = x.as_mut_ptr();
                    // SAFETY: 64 samples are here; what is asked for ahead may be anywhere.
                    unsafe {
                        _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(AHEAD).cast_const().cast());
                        _mm512_storeu_si512(x.cast(), k.add(_mm512_loadu_si512(x.cast()), n));
                    }
                }
                turn(&mut v);
            }
            for (q, x) in blocks.into_remainder().chunks_mut(64).enumerate() {
                let n = $high(k.noise(v[2 * q]), k.noise(v[2 * q + 1]));
                let mask = u64::MAX >> (64 - x.len());
                let x = x.as_mut_ptr().cast();
                // SAFETY: as many samples are here as the mask has bits.
                unsafe { _mm512_mask_storeu_epi8(x, mask, k.add(_mm512_maskz_loadu_epi8(mask, x), n)) };
            }
        }

        /// Adds numbers that are there: `c | or`, as many as samples.
        #[target_feature(enable = $features)]
        pub(super) fn $add(row: &mut [u8], c: &[u16], or: i16, job: Job<u8>) {
            let k = Bytes::new(job, or);
            by_vectors::<u8, 64>(row, c, |x, c| {
                // SAFETY: 64 samples and numbers are here.
                unsafe {
                    let (a, b) = (_mm512_loadu_si512(c.cast()), _mm512_loadu_si512(c.add(32).cast()));
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(AHEAD).cast_const().cast());
                    let sum = k.add(_mm512_loadu_si512(x.cast()), $high(k.noise(a), k.noise(b)));
                    _mm512_storeu_si512(x.cast(), sum);
                }
            });
        }
    };
}

bytes!(bytes, add_bytes, "avx512f,avx512bw,avx512vl", high_bytes);
bytes!(bytes_vbmi, add_bytes_vbmi, "avx512f,avx512bw,avx512vl,avx512vbmi", high_bytes_vbmi);

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn words(row: &mut [u16], lanes: &Lanes, job: Job<u16>) {
    let k = Words::new(job, 1);
    let mut v = start(lanes);
    let mut blocks = row.chunks_exact_mut(256);
    for block in &mut blocks {
        for (x, w) in block.chunks_exact_mut(32).zip(v) {
            let x = x.as_mut_ptr();
            // SAFETY: 32 samples are here; what is asked for ahead may be anywhere.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(x.wrapping_byte_add(AHEAD).cast_const().cast());
                _mm512_storeu_si512(x.cast(), k.add(_mm512_loadu_si512(x.cast()), w));
            }
        }
        turn(&mut v);
    }
    for (x, w) in blocks.into_remainder().chunks_mut(32).zip(v) {
        let mask = u32::MAX >> (32 - x.len());
        let x = x.as_mut_ptr().cast();
        // SAFETY: as many samples are here as the mask has bits.
        unsafe { _mm512_mask_storeu_epi16(x, mask, k.add(_mm512_maskz_loadu_epi16(mask, x), w)) };
    }
}

/// Adds numbers that are there: `c | or`, as many as samples.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn add_words(row: &mut [u16], c: &[u16], or: i16, job: Job<u16>) {
    let k = Words::new(job, or);
    by_vectors::<u16, 32>(row, c, |x, c| {
        // SAFETY: 32 samples and numbers are here; what is asked for ahead may be anywhere.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(x.wrapping_byte_add(AHEAD).cast_const().cast());
            let sum = k.add(_mm512_loadu_si512(x.cast()), _mm512_loadu_si512(c.cast()));
            _mm512_storeu_si512(x.cast(), sum);
        }
    });
}
