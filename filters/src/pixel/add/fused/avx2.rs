//! 256 bits: a register holds two steps, and the last 32 steps lie in a ring of sixteen on the stack.
#![allow(unsafe_code)] // loads and stores of whole vectors

use super::{AHEAD, Job, by_vectors};
use crate::noise::lfsr31::{LANES, Lanes};
use core::arch::x86_64::*;

/// Two steps; lane i of step s in element 8s + i.
type Steps = __m256i;

/// Vectors of the ring, and pixels they are for.
const RING: usize = 16;
const PIXELS: usize = 32 * LANES;

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
    core::array::from_fn(|m| p[m + 1])
}

/// Vector m of the next turn: w[n] = w[n-28] ^ w[n-31]. The first is two vectors after the one replaced; the second is
/// its upper half and the lower half of its neighbour.
#[inline]
#[target_feature(enable = "avx2")]
fn next(ring: &[Steps; RING], m: usize) -> Steps {
    let far = _mm256_permute2x128_si256::<0x21>(ring[m], ring[(m + 1) % RING]);
    _mm256_xor_si256(ring[(m + 2) % RING], far)
}

/// What 8-bit samples are changed by.
struct Bytes {
    gain: Steps,
    or: Steps,
    half: Steps,
    sign: Steps,
    lo: Steps,
    hi: Steps,
}

impl Bytes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(job: Job<u8>, or: i16) -> Bytes {
        Bytes {
            gain: _mm256_set1_epi16(job.gain),
            or: _mm256_set1_epi16(or),
            half: _mm256_set1_epi16(job.round),
            sign: _mm256_set1_epi8(-128),
            lo: _mm256_set1_epi8(job.lo as i8),
            hi: _mm256_set1_epi8(job.hi as i8),
        }
    }

    /// Samples and two vectors of their words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&self, x: Steps, a: Steps, b: Steps) -> Steps {
        // Noise times 256, and a self.half: its high byte is the noise.
        let n = |w| {
            let high = _mm256_mulhi_epi16(_mm256_or_si256(w, self.or), self.gain);
            _mm256_srai_epi16::<8>(_mm256_add_epi16(high, self.half))
        };
        // Packing goes by 128-bit lanes; the permutation puts them in order.
        let n = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(n(a), n(b)));
        let sum = _mm256_xor_si256(_mm256_adds_epi8(_mm256_xor_si256(x, self.sign), n), self.sign);
        let (top, bottom) = (_mm256_max_epu8(x, self.hi), _mm256_min_epu8(x, self.lo));
        _mm256_max_epu8(_mm256_min_epu8(sum, top), bottom)
    }
}

/// What 16-bit samples are changed by.
struct Words {
    gain: Steps,
    or: Steps,
    half: Steps,
    shift: __m128i,
    sign: Steps,
    lo: Steps,
    hi: Steps,
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(job: Job<u16>, or: i16) -> Words {
        Words {
            gain: _mm256_set1_epi16(job.gain),
            or: _mm256_set1_epi16(or),
            half: _mm256_set1_epi16(job.round),
            shift: _mm_cvtsi32_si128(job.shift as i32),
            sign: _mm256_set1_epi16(i16::MIN),
            lo: _mm256_set1_epi16(job.lo as i16),
            hi: _mm256_set1_epi16(job.hi as i16),
        }
    }

    /// Samples and a vector of their words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&self, x: Steps, w: Steps) -> Steps {
        let high = _mm256_mulhi_epi16(_mm256_or_si256(w, self.or), self.gain);
        let n = _mm256_sra_epi16(_mm256_add_epi16(high, self.half), self.shift);
        let x = _mm256_xor_si256(x, self.sign);
        let (top, bottom) = (_mm256_max_epi16(x, self.hi), _mm256_min_epi16(x, self.lo));
        let sum = _mm256_max_epi16(_mm256_min_epi16(_mm256_adds_epi16(x, n), top), bottom);
        _mm256_xor_si256(sum, self.sign)
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn bytes(row: &mut [u8], lanes: &Lanes, job: Job<u8>) {
    let k = Bytes::new(job, 1);
    const N: usize = size_of::<Steps>();
    let mut ring = start(lanes);
    let mut blocks = row.chunks_exact_mut(PIXELS);
    for block in &mut blocks {
        unrolled!(q in 0 1 2 3 4 5 6 7 {
            let (a, b) = (ring[2 * q], ring[2 * q + 1]);
            let x = block[q * N..][..N].as_mut_ptr();
            // SAFETY: a vector of samples is here; what is asked for ahead may be anywhere.
            unsafe {
                if q % 2 == 0 {
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(AHEAD).cast_const().cast());
                }
                _mm256_storeu_si256(x.cast(), k.add(_mm256_loadu_si256(x.cast()), a, b));
            }
            ring[2 * q] = next(&ring, 2 * q);
            ring[2 * q + 1] = next(&ring, 2 * q + 1);
        });
    }
    for (q, x) in blocks.into_remainder().chunks_mut(N).enumerate() {
        let mut whole = [0u8; N];
        whole[..x.len()].copy_from_slice(x);
        // SAFETY: a vector of samples is here.
        unsafe {
            let p = whole.as_mut_ptr().cast();
            _mm256_storeu_si256(p, k.add(_mm256_loadu_si256(p), ring[2 * q], ring[2 * q + 1]));
        }
        x.copy_from_slice(&whole[..x.len()]);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn words(row: &mut [u16], lanes: &Lanes, job: Job<u16>) {
    let k = Words::new(job, 1);
    const N: usize = size_of::<Steps>() / 2;
    let mut ring = start(lanes);
    let mut blocks = row.chunks_exact_mut(PIXELS);
    for block in &mut blocks {
        unrolled!(m in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 {
            let w = ring[m];
            let x = block[m * N..][..N].as_mut_ptr();
            // SAFETY: a vector of samples is here; what is asked for ahead may be anywhere.
            unsafe {
                if m % 2 == 0 {
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_byte_add(AHEAD).cast_const().cast());
                }
                _mm256_storeu_si256(x.cast(), k.add(_mm256_loadu_si256(x.cast()), w));
            }
            ring[m] = next(&ring, m);
        });
    }
    for (m, x) in blocks.into_remainder().chunks_mut(N).enumerate() {
        let mut whole = [0u16; N];
        whole[..x.len()].copy_from_slice(x);
        // SAFETY: a vector of samples is here.
        unsafe {
            let p = whole.as_mut_ptr().cast();
            _mm256_storeu_si256(p, k.add(_mm256_loadu_si256(p), ring[m]));
        }
        x.copy_from_slice(&whole[..x.len()]);
    }
}

/// Adds numbers that are there: `c | or`, as many as samples.
#[target_feature(enable = "avx2")]
pub(super) fn add_bytes(row: &mut [u8], c: &[u16], or: i16, job: Job<u8>) {
    let k = Bytes::new(job, or);
    const N: usize = size_of::<Steps>();
    by_vectors::<u8, N>(row, c, |x, c| {
        // SAFETY: N samples and numbers are here, and N of these are two vectors.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(c.cast()), _mm256_loadu_si256(c.add(N / 2).cast()));
            _mm256_storeu_si256(x.cast(), k.add(_mm256_loadu_si256(x.cast()), a, b));
        }
    });
}

/// The same for 16 bits.
#[target_feature(enable = "avx2")]
pub(super) fn add_words(row: &mut [u16], c: &[u16], or: i16, job: Job<u16>) {
    let k = Words::new(job, or);
    const N: usize = size_of::<Steps>() / 2;
    by_vectors::<u16, N>(row, c, |x, c| {
        // SAFETY: N samples and numbers are here.
        unsafe {
            let sum = k.add(_mm256_loadu_si256(x.cast()), _mm256_loadu_si256(c.cast()));
            _mm256_storeu_si256(x.cast(), sum);
        }
    });
}
