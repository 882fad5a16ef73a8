//! Response and addition by AVX-512, for responses of 17 nodes and grain that fits 16-bit lanes: a permutation of words
//! looks values and slopes up.
#![allow(unsafe_code)] // loads and stores of vectors, each within a slice that was cut to its length

use super::apply::Job;
use core::arch::x86_64::*;

/// Samples a turn.
const STEP: usize = 32;

struct Tables {
    base: __m512i,
    slope: __m512i,
    low: __m512i,
    span: __m512i,
    stretch: __m512i,
    up: __m128i,
    half: __m512i,
    down: __m128i,
}

#[target_feature(enable = "avx512f,avx512bw")]
fn twice(words: [i16; 16]) -> __m512i {
    // SAFETY: sixteen words are there to load.
    _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
}

#[target_feature(enable = "avx512f,avx512bw")]
fn tables(job: &Job<'_>) -> Tables {
    Tables {
        base: twice(job.bases()),
        slope: twice(job.slopes()),
        low: _mm512_set1_epi16(job.ramp.low as i16),
        span: _mm512_set1_epi16(job.ramp.span as i16),
        stretch: _mm512_set1_epi16(job.ramp.stretch as i16),
        up: _mm_cvtsi32_si128(job.ramp.shift as i32),
        half: _mm512_set1_epi16(1 << (job.shift - 17)),
        down: _mm_cvtsi32_si128(job.shift as i32 - 16),
    }
}

/// The grain of 32 n in codes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn grain(t: &Tables, light: __m512i, n: __m512i) -> __m512i {
    let above = _mm512_min_epu16(_mm512_subs_epu16(light, t.low), t.span);
    let inside = _mm512_sll_epi16(above, t.up);
    let u = _mm512_add_epi16(inside, _mm512_mulhi_epu16(inside, t.stretch));
    let i = _mm512_srli_epi16::<12>(u);
    let part = _mm512_srli_epi16::<1>(_mm512_slli_epi16::<4>(u));
    let slope = _mm512_permutexvar_epi16(i, t.slope);
    let s = _mm512_add_epi16(_mm512_permutexvar_epi16(i, t.base), _mm512_mulhi_epi16(slope, part));
    _mm512_sra_epi16(_mm512_add_epi16(_mm512_mulhi_epi16(n, s), t.half), t.down)
}

/// Adds grain to whole steps of a row and says how many samples that were.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn add_u8(
    row: &mut [u8],
    light: Option<&[u8]>,
    n: &[i16],
    job: &Job<'_>,
    lo: u8,
    hi: u8,
) -> usize {
    let t = tables(job);
    let (lo, hi) = (_mm512_set1_epi16(lo.into()), _mm512_set1_epi16(hi.into()));
    let whole = row.len() / STEP * STEP;
    let (row, n) = (&mut row[..whole], &n[..whole]);
    let light = light.map(|l| &l[..whole]);
    for x in (0..whole).step_by(STEP) {
        // SAFETY: x + 32 is within the three slices, which were cut to `whole`.
        let (samples, n, light) = unsafe {
            let samples = _mm512_cvtepu8_epi16(_mm256_loadu_si256(row.as_ptr().add(x).cast()));
            let light = match light {
                Some(l) => _mm512_cvtepu8_epi16(_mm256_loadu_si256(l.as_ptr().add(x).cast())),
                None => samples,
            };
            (samples, _mm512_loadu_si512(n.as_ptr().add(x).cast()), light)
        };
        let sum = _mm512_add_epi16(samples, grain(&t, light, n));
        let sum = _mm512_min_epi16(sum, _mm512_max_epi16(samples, hi));
        let sum = _mm512_max_epi16(sum, _mm512_min_epi16(samples, lo));
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().add(x).cast(), _mm512_cvtepi16_epi8(sum)) };
    }
    whole
}

/// As [`add_u8`], of deeper samples.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn add_u16(
    row: &mut [u16],
    light: Option<&[u16]>,
    n: &[i16],
    job: &Job<'_>,
    lo: u16,
    hi: u16,
) -> usize {
    let t = tables(job);
    let sign = _mm512_set1_epi16(-0x8000);
    let signed = |v: u16| _mm512_set1_epi16((v ^ 0x8000) as i16);
    let (lo, hi) = (signed(lo), signed(hi));
    let whole = row.len() / STEP * STEP;
    let (row, n) = (&mut row[..whole], &n[..whole]);
    let light = light.map(|l| &l[..whole]);
    for x in (0..whole).step_by(STEP) {
        // SAFETY: x + 32 is within the three slices, which were cut to `whole`.
        let (samples, n, light) = unsafe {
            let samples = _mm512_loadu_si512(row.as_ptr().add(x).cast());
            let light = match light {
                Some(l) => _mm512_loadu_si512(l.as_ptr().add(x).cast()),
                None => samples,
            };
            (samples, _mm512_loadu_si512(n.as_ptr().add(x).cast()), light)
        };
        let v = _mm512_xor_si512(samples, sign);
        let sum = _mm512_adds_epi16(v, grain(&t, light, n));
        let sum = _mm512_min_epi16(sum, _mm512_max_epi16(v, hi));
        let sum = _mm512_max_epi16(sum, _mm512_min_epi16(v, lo));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().add(x).cast(), _mm512_xor_si512(sum, sign)) };
    }
    whole
}
