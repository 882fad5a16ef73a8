//! Response and addition by AVX2, for responses of 17 nodes and grain that fits 16-bit lanes.
//!
//! The sixteen stretches between nodes are just as many as a byte shuffle has entries: their values and slopes are
//! looked up by bytes, low and high apart.
#![allow(unsafe_code)] // loads and stores of vectors, each within a slice that was cut to its length

use super::apply::Job;
use core::arch::x86_64::*;

/// Samples a turn.
const STEP: usize = 16;

#[target_feature(enable = "avx2")]
fn bytes_of(words: [i16; 16]) -> (__m256i, __m256i) {
    let half = |shift: u32| {
        let b: [i8; 16] = core::array::from_fn(|i| (words[i] >> shift) as i8);
        // SAFETY: sixteen bytes are there to load.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(b.as_ptr().cast()) })
    };
    (half(0), half(8))
}

struct Tables {
    base: (__m256i, __m256i),
    slope: (__m256i, __m256i),
    low: __m256i,
    span: __m256i,
    stretch: __m256i,
    up: __m128i,
    half: __m256i,
    down: __m128i,
}

#[target_feature(enable = "avx2")]
fn tables(job: &Job<'_>) -> Tables {
    Tables {
        base: bytes_of(job.bases()),
        slope: bytes_of(job.slopes()),
        low: _mm256_set1_epi16(job.ramp.low as i16),
        span: _mm256_set1_epi16(job.ramp.span as i16),
        stretch: _mm256_set1_epi16(job.ramp.stretch as i16),
        up: _mm_cvtsi32_si128(job.ramp.shift as i32),
        half: _mm256_set1_epi16(1 << (job.shift - 17)),
        down: _mm_cvtsi32_si128(job.shift as i32 - 16),
    }
}

/// The grain of sixteen n in codes.
#[inline]
#[target_feature(enable = "avx2")]
fn grain(t: &Tables, light: __m256i, n: __m256i) -> __m256i {
    let above = _mm256_min_epu16(_mm256_subs_epu16(light, t.low), t.span);
    let inside = _mm256_sll_epi16(above, t.up);
    let u = _mm256_add_epi16(inside, _mm256_mulhi_epu16(inside, t.stretch));
    let i = _mm256_srli_epi16::<12>(u);
    // A byte whose highest bit is set looks up nothing.
    let first = _mm256_or_si256(i, _mm256_set1_epi16(-0x8000));
    let second = _mm256_or_si256(_mm256_slli_epi16::<8>(i), _mm256_set1_epi16(0x80));
    let both = |(low, high): (__m256i, __m256i)| {
        _mm256_or_si256(_mm256_shuffle_epi8(low, first), _mm256_shuffle_epi8(high, second))
    };
    let part = _mm256_srli_epi16::<1>(_mm256_slli_epi16::<4>(u));
    let s = _mm256_add_epi16(both(t.base), _mm256_mulhi_epi16(both(t.slope), part));
    _mm256_sra_epi16(_mm256_add_epi16(_mm256_mulhi_epi16(n, s), t.half), t.down)
}

/// Adds grain to whole steps of a row and says how many samples that were.
#[target_feature(enable = "avx2")]
pub(super) fn add_u8(
    row: &mut [u8],
    light: Option<&[u8]>,
    n: &[i16],
    job: &Job<'_>,
    lo: u8,
    hi: u8,
) -> usize {
    let t = tables(job);
    let (lo, hi) = (_mm256_set1_epi16(lo.into()), _mm256_set1_epi16(hi.into()));
    let whole = row.len() / STEP * STEP;
    let (row, n) = (&mut row[..whole], &n[..whole]);
    let light = light.map(|l| &l[..whole]);
    for x in (0..whole).step_by(STEP) {
        // SAFETY: x + 16 is within the three slices, which were cut to `whole`.
        let (samples, n, light) = unsafe {
            let samples = _mm256_cvtepu8_epi16(_mm_loadu_si128(row.as_ptr().add(x).cast()));
            let light = match light {
                Some(l) => _mm256_cvtepu8_epi16(_mm_loadu_si128(l.as_ptr().add(x).cast())),
                None => samples,
            };
            (samples, _mm256_loadu_si256(n.as_ptr().add(x).cast()), light)
        };
        let sum = _mm256_add_epi16(samples, grain(&t, light, n));
        let sum = _mm256_min_epi16(sum, _mm256_max_epi16(samples, hi));
        let sum = _mm256_max_epi16(sum, _mm256_min_epi16(samples, lo));
        let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi16(sum, sum));
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(row.as_mut_ptr().add(x).cast(), _mm256_castsi256_si128(packed)) };
    }
    whole
}

/// As [`add_u8`], of deeper samples.
#[target_feature(enable = "avx2")]
pub(super) fn add_u16(
    row: &mut [u16],
    light: Option<&[u16]>,
    n: &[i16],
    job: &Job<'_>,
    lo: u16,
    hi: u16,
) -> usize {
    let t = tables(job);
    let sign = _mm256_set1_epi16(-0x8000);
    let signed = |v: u16| _mm256_set1_epi16((v ^ 0x8000) as i16);
    let (lo, hi) = (signed(lo), signed(hi));
    let whole = row.len() / STEP * STEP;
    let (row, n) = (&mut row[..whole], &n[..whole]);
    let light = light.map(|l| &l[..whole]);
    for x in (0..whole).step_by(STEP) {
        // SAFETY: x + 16 is within the three slices, which were cut to `whole`.
        let (samples, n, light) = unsafe {
            let samples = _mm256_loadu_si256(row.as_ptr().add(x).cast());
            let light = match light {
                Some(l) => _mm256_loadu_si256(l.as_ptr().add(x).cast()),
                None => samples,
            };
            (samples, _mm256_loadu_si256(n.as_ptr().add(x).cast()), light)
        };
        let v = _mm256_xor_si256(samples, sign);
        let sum = _mm256_adds_epi16(v, grain(&t, light, n));
        let sum = _mm256_min_epi16(sum, _mm256_max_epi16(v, hi));
        let sum = _mm256_max_epi16(sum, _mm256_min_epi16(v, lo));
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().add(x).cast(), _mm256_xor_si256(sum, sign)) };
    }
    whole
}
