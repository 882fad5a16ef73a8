//! 128 bits: a register holds one step, and the last 32 steps lie in a ring on the stack.
#![allow(unsafe_code)] // loads and stores of whole vectors

use super::{AHEAD, Job, by_vectors};
use crate::noise::lfsr31::{LANES, Lanes};
use core::arch::x86_64::*;

/// One step.
type Steps = __m128i;

/// Vectors of the ring, and pixels they are for.
const RING: usize = 32;
const PIXELS: usize = 32 * LANES;

/// Steps 0 to 31 of a row: as the plain start, in rounds of lags 28 and 31 times 1, 2, 4 and 8 bits.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn start(lanes: &Lanes) -> [Steps; RING] {
    let xor = |a, b| _mm_xor_si128(a, b);
    // w[n + 2] is step n.
    let mut w = [_mm_setzero_si128(); RING + 2];
    // SAFETY: both are eight words.
    (w[0], w[1]) =
        unsafe { (_mm_loadu_si128(lanes.hi.as_ptr().cast()), _mm_loadu_si128(lanes.lo.as_ptr().cast())) };
    for n in 2..4 {
        let (a, b) = (w[n - 2], w[n - 1]);
        let near = xor(_mm_slli_epi16::<4>(a), _mm_srli_epi16::<12>(b));
        w[n] = xor(near, xor(_mm_slli_epi16::<1>(a), _mm_srli_epi16::<15>(b)));
    }
    for n in 4..8 {
        let (a, b) = (w[n - 4], w[n - 3]);
        let near = xor(_mm_slli_epi16::<8>(a), _mm_srli_epi16::<8>(b));
        w[n] = xor(near, xor(_mm_slli_epi16::<2>(a), _mm_srli_epi16::<14>(b)));
    }
    for n in 8..16 {
        let far = xor(_mm_slli_epi16::<4>(w[n - 8]), _mm_srli_epi16::<12>(w[n - 7]));
        w[n] = xor(w[n - 7], far);
    }
    for n in 16..32 {
        let far = xor(_mm_slli_epi16::<8>(w[n - 16]), _mm_srli_epi16::<8>(w[n - 15]));
        w[n] = xor(w[n - 14], far);
    }
    for n in 32..34 {
        w[n] = xor(w[n - 28], w[n - 31]);
    }
    core::array::from_fn(|n| w[n + 2])
}

/// Vector m of the next turn: w[n] = w[n-28] ^ w[n-31].
#[inline]
#[target_feature(enable = "sse2")]
fn next(ring: &[Steps; RING], m: usize) -> Steps {
    _mm_xor_si128(ring[(m + 4) % RING], ring[(m + 1) % RING])
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
    #[target_feature(enable = "sse2")]
    fn new(job: Job<u8>, or: i16) -> Bytes {
        Bytes {
            gain: _mm_set1_epi16(job.gain),
            or: _mm_set1_epi16(or),
            half: _mm_set1_epi16(job.round),
            sign: _mm_set1_epi8(-128),
            lo: _mm_set1_epi8(job.lo as i8),
            hi: _mm_set1_epi8(job.hi as i8),
        }
    }

    /// Samples and two vectors of their words.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn add(&self, x: Steps, a: Steps, b: Steps) -> Steps {
        // Noise times 256, and a self.half: its high byte is the noise.
        let n = |w| {
            let high = _mm_mulhi_epi16(_mm_or_si128(w, self.or), self.gain);
            _mm_srai_epi16::<8>(_mm_add_epi16(high, self.half))
        };
        let n = _mm_packs_epi16(n(a), n(b));
        let sum = _mm_xor_si128(_mm_adds_epi8(_mm_xor_si128(x, self.sign), n), self.sign);
        let (top, bottom) = (_mm_max_epu8(x, self.hi), _mm_min_epu8(x, self.lo));
        _mm_max_epu8(_mm_min_epu8(sum, top), bottom)
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
    #[target_feature(enable = "sse2")]
    fn new(job: Job<u16>, or: i16) -> Words {
        Words {
            gain: _mm_set1_epi16(job.gain),
            or: _mm_set1_epi16(or),
            half: _mm_set1_epi16(job.round),
            shift: _mm_cvtsi32_si128(job.shift as i32),
            sign: _mm_set1_epi16(i16::MIN),
            lo: _mm_set1_epi16(job.lo as i16),
            hi: _mm_set1_epi16(job.hi as i16),
        }
    }

    /// Samples and a vector of their words.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn add(&self, x: Steps, w: Steps) -> Steps {
        let high = _mm_mulhi_epi16(_mm_or_si128(w, self.or), self.gain);
        let n = _mm_sra_epi16(_mm_add_epi16(high, self.half), self.shift);
        let x = _mm_xor_si128(x, self.sign);
        let (top, bottom) = (_mm_max_epi16(x, self.hi), _mm_min_epi16(x, self.lo));
        let sum = _mm_max_epi16(_mm_min_epi16(_mm_adds_epi16(x, n), top), bottom);
        _mm_xor_si128(sum, self.sign)
    }
}

#[target_feature(enable = "sse2")]
pub(super) fn bytes(row: &mut [u8], lanes: &Lanes, job: Job<u8>) {
    let k = Bytes::new(job, 1);
    const N: usize = size_of::<Steps>();
    let mut ring = start(lanes);
    let mut blocks = row.chunks_exact_mut(PIXELS);
    for block in &mut blocks {
        unrolled!(q in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 {
            let (a, b) = (ring[2 * q], ring[2 * q + 1]);
            let x = block[q * N..][..N].as_mut_ptr();
            // SAFETY: a vector of samples is here; what is asked for ahead may be anywhere.
            unsafe {
                if q % 4 == 0 {
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(AHEAD).cast_const().cast());
                }
                _mm_storeu_si128(x.cast(), k.add(_mm_loadu_si128(x.cast()), a, b));
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
            _mm_storeu_si128(p, k.add(_mm_loadu_si128(p), ring[2 * q], ring[2 * q + 1]));
        }
        x.copy_from_slice(&whole[..x.len()]);
    }
}

#[target_feature(enable = "sse2")]
pub(super) fn words(row: &mut [u16], lanes: &Lanes, job: Job<u16>) {
    let k = Words::new(job, 1);
    const N: usize = size_of::<Steps>() / 2;
    let mut ring = start(lanes);
    let mut blocks = row.chunks_exact_mut(PIXELS);
    for block in &mut blocks {
        unrolled!(m in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 {
            let w = ring[m];
            let x = block[m * N..][..N].as_mut_ptr();
            // SAFETY: a vector of samples is here; what is asked for ahead may be anywhere.
            unsafe {
                if m % 4 == 0 {
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_byte_add(AHEAD).cast_const().cast());
                }
                _mm_storeu_si128(x.cast(), k.add(_mm_loadu_si128(x.cast()), w));
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
            _mm_storeu_si128(p, k.add(_mm_loadu_si128(p), ring[m]));
        }
        x.copy_from_slice(&whole[..x.len()]);
    }
}

/// Adds numbers that are there: `c | or`, as many as samples.
#[target_feature(enable = "sse2")]
pub(super) fn add_bytes(row: &mut [u8], c: &[u16], or: i16, job: Job<u8>) {
    let k = Bytes::new(job, or);
    const N: usize = size_of::<Steps>();
    by_vectors::<u8, N>(row, c, |x, c| {
        // SAFETY: N samples and numbers are here, and N of these are two vectors.
        unsafe {
            let (a, b) = (_mm_loadu_si128(c.cast()), _mm_loadu_si128(c.add(N / 2).cast()));
            _mm_storeu_si128(x.cast(), k.add(_mm_loadu_si128(x.cast()), a, b));
        }
    });
}

/// The same for 16 bits.
#[target_feature(enable = "sse2")]
pub(super) fn add_words(row: &mut [u16], c: &[u16], or: i16, job: Job<u16>) {
    let k = Words::new(job, or);
    const N: usize = size_of::<Steps>() / 2;
    by_vectors::<u16, N>(row, c, |x, c| {
        // SAFETY: N samples and numbers are here.
        unsafe {
            let sum = k.add(_mm_loadu_si128(x.cast()), _mm_loadu_si128(c.cast()));
            _mm_storeu_si128(x.cast(), sum);
        }
    });
}
