//! Response and addition by AVX2, for responses of 17 nodes and grain that fits 16-bit lanes.
//!
//! The sixteen stretches between nodes are just as many as a byte shuffle has entries: their values and slopes are
//! looked up by bytes, low and high apart.
#![allow(unsafe_code)] // loads and stores of vectors, each within a slice that was cut to its length

use super::apply::Job;
use super::finish::{MARGIN, Sources};
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

/// How many bytes ahead of the samples that are being changed memory is asked for.
const AHEAD: usize = 2048;

/// Where n comes from: see [`Sources`]. `FRESH` is the reach across of the fresh row, 0 where there is none.
struct Field<const FRESH: u8, const FIVE: bool> {
    h: [*const i16; 5],
    white: *const i16,
    out: *mut i16,
    across: (__m256i, __m256i),
    down: (__m256i, __m256i),
}

impl<const FRESH: u8, const FIVE: bool> Field<FRESH, FIVE> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(sources: &mut Sources<'_>) -> Self {
        let both = |t: super::Taps| (_mm256_set1_epi16(t.a), _mm256_set1_epi16(t.b));
        let (across, down) = (both(sources.across), both(sources.down));
        let (white, out) = match &mut sources.fresh {
            Some((white, out)) => (white[MARGIN..].as_ptr(), out.as_mut_ptr()),
            None => (core::ptr::null(), core::ptr::null_mut()),
        };
        Field { h: sources.h.map(|h| h.as_ptr()), white, out, across, down }
    }

    /// Sixteen numbers n.
    ///
    /// # Safety
    /// Rows must reach to x + 16, the white one two numbers further on either side; `FRESH` only where there is one.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn at(&self, x: usize) -> __m256i {
        // SAFETY: the caller's promise, for this and all that follow.
        let load = |row: *const i16, d: isize| unsafe { _mm256_loadu_si256(row.add(x).offset(d).cast()) };
        let h = |i: usize| load(self.h[i], 0);
        let fresh = if FRESH > 0 {
            let (s, l, r) = (load(self.white, 0), load(self.white, -1), load(self.white, 1));
            let mut v = _mm256_add_epi16(s, _mm256_mulhi_epi16(_mm256_add_epi16(l, r), self.across.0));
            if FRESH == 2 {
                let far = _mm256_add_epi16(load(self.white, -2), load(self.white, 2));
                v = _mm256_adds_epi16(v, _mm256_mulhi_epi16(far, self.across.1));
            }
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(self.out.add(x).cast(), v) };
            v
        } else {
            h(if FIVE { 4 } else { 3 })
        };
        let near = _mm256_adds_epi16(h(1), if FIVE { h(3) } else { fresh });
        let mut n = _mm256_adds_epi16(h(2), _mm256_mulhi_epi16(near, self.down.0));
        if FIVE {
            n = _mm256_adds_epi16(n, _mm256_mulhi_epi16(_mm256_adds_epi16(h(0), fresh), self.down.1));
        }
        n
    }
}

/// Fused, 8-bit samples.
#[target_feature(enable = "avx2")]
pub(super) fn finish_u8<const FRESH: u8, const FIVE: bool>(
    row: &mut [u8],
    light: Option<&[u8]>,
    sources: &mut Sources<'_>,
    job: &Job<'_>,
    (lo, hi): (u8, u8),
) {
    let field = Field::<FRESH, FIVE>::new(sources);
    let t = tables(job);
    let (lo, hi) = (_mm256_set1_epi8(lo as i8), _mm256_set1_epi8(hi as i8));
    let zero = _mm256_setzero_si256();
    // Packing and unpacking both go by parts of 128 bits: samples are brought into an order in which words unpack to
    // consecutive ones, and stay in it until they are packed.
    let turn = |samples: *mut u8, light: *const u8, x: usize| {
        // SAFETY: rows of the field are whole turns of 64, and the callers below have 32 samples at both pointers.
        unsafe {
            let old = _mm256_loadu_si256(samples.cast());
            let light = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_loadu_si256(light.cast()));
            let (l0, l1) = (_mm256_unpacklo_epi8(light, zero), _mm256_unpackhi_epi8(light, zero));
            let x0 = _mm256_permute4x64_epi64::<0b11_01_10_00>(old);
            let (x0, x1) = (_mm256_unpacklo_epi8(x0, zero), _mm256_unpackhi_epi8(x0, zero));
            let s0 = _mm256_add_epi16(x0, grain(&t, l0, field.at(x)));
            let s1 = _mm256_add_epi16(x1, grain(&t, l1, field.at(x + STEP)));
            let sum = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(s0, s1));
            let sum = _mm256_min_epu8(sum, _mm256_max_epu8(old, hi));
            let sum = _mm256_max_epu8(sum, _mm256_min_epu8(old, lo));
            _mm256_storeu_si256(samples.cast(), sum);
        }
    };
    let mut x = 0;
    let mut chunks = row.chunks_exact_mut(32);
    for samples in &mut chunks {
        let samples = samples.as_mut_ptr();
        _mm_prefetch::<_MM_HINT_T0>(samples.wrapping_add(AHEAD).cast_const().cast());
        turn(samples, light.map_or(samples.cast_const(), |l| l[x..x + 32].as_ptr()), x);
        x += 32;
    }
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        let (mut samples, mut lights) = ([0; 32], [0; 32]);
        samples[..rest.len()].copy_from_slice(rest);
        lights[..rest.len()].copy_from_slice(light.map_or(&*rest, |l| &l[x..]));
        turn(samples.as_mut_ptr(), lights.as_ptr(), x);
        rest.copy_from_slice(&samples[..rest.len()]);
    }
}

/// Fused, deeper samples.
#[target_feature(enable = "avx2")]
pub(super) fn finish_u16<const FRESH: u8, const FIVE: bool>(
    row: &mut [u16],
    light: Option<&[u16]>,
    sources: &mut Sources<'_>,
    job: &Job<'_>,
    (lo, hi): (u16, u16),
) {
    let field = Field::<FRESH, FIVE>::new(sources);
    let t = tables(job);
    let sign = _mm256_set1_epi16(-0x8000);
    let signed = |v: u16| _mm256_set1_epi16((v ^ 0x8000) as i16);
    let (lo, hi) = (signed(lo), signed(hi));
    let turn = |samples: *mut u16, light: *const u16, x: usize| {
        // SAFETY: rows of the field are whole turns of 64, and the callers below have 16 samples at both pointers.
        unsafe {
            let v = _mm256_xor_si256(_mm256_loadu_si256(samples.cast()), sign);
            let light = _mm256_loadu_si256(light.cast());
            let sum = _mm256_adds_epi16(v, grain(&t, light, field.at(x)));
            let sum = _mm256_min_epi16(sum, _mm256_max_epi16(v, hi));
            let sum = _mm256_max_epi16(sum, _mm256_min_epi16(v, lo));
            _mm256_storeu_si256(samples.cast(), _mm256_xor_si256(sum, sign));
        }
    };
    let mut x = 0;
    let mut chunks = row.chunks_exact_mut(STEP);
    for samples in &mut chunks {
        let samples = samples.as_mut_ptr();
        _mm_prefetch::<_MM_HINT_T0>(samples.wrapping_byte_add(AHEAD).cast_const().cast());
        turn(samples, light.map_or(samples.cast_const(), |l| l[x..x + STEP].as_ptr()), x);
        x += STEP;
    }
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        let (mut samples, mut lights) = ([0; STEP], [0; STEP]);
        samples[..rest.len()].copy_from_slice(rest);
        lights[..rest.len()].copy_from_slice(light.map_or(&*rest, |l| &l[x..]));
        turn(samples.as_mut_ptr(), lights.as_ptr(), x);
        rest.copy_from_slice(&samples[..rest.len()]);
    }
}
