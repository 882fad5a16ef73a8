//! Response and addition by AVX-512, for responses of 17 nodes and grain that fits 16-bit lanes: a permutation of words
//! looks values and slopes up.
#![allow(unsafe_code)] // loads and stores of vectors, each within a slice that was cut to its length

use super::apply::Job;
use super::finish::{Codes, MARGIN, Sources};
use core::arch::x86_64::*;

/// Samples a turn.
const STEP: usize = 32;

struct Tables {
    base: __m512i,
    slope: __m512i,
    low: __m512i,
    span: __m512i,
    stretch: __m512i,
    up: __m512i,
    half: __m512i,
    down: __m512i,
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
        up: _mm512_set1_epi16(job.ramp.shift as i16),
        half: _mm512_set1_epi16(1 << (job.shift - 17)),
        down: _mm512_set1_epi16(job.shift as i16 - 16),
    }
}

/// The grain of 32 n in codes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn grain(t: &Tables, light: __m512i, n: __m512i) -> __m512i {
    let above = _mm512_min_epu16(_mm512_subs_epu16(light, t.low), t.span);
    let inside = _mm512_sllv_epi16(above, t.up);
    let u = _mm512_add_epi16(inside, _mm512_mulhi_epu16(inside, t.stretch));
    let i = _mm512_srli_epi16::<12>(u);
    let part = _mm512_srli_epi16::<1>(_mm512_slli_epi16::<4>(u));
    let slope = _mm512_permutexvar_epi16(i, t.slope);
    let s = _mm512_add_epi16(_mm512_permutexvar_epi16(i, t.base), _mm512_mulhi_epi16(slope, part));
    _mm512_srav_epi16(_mm512_add_epi16(_mm512_mulhi_epi16(n, s), t.half), t.down)
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

/// How many bytes ahead of the samples that are being changed memory is asked for.
const AHEAD: usize = 2048;

/// Where n comes from: see [`Sources`]. `FRESH` is the reach across of the fresh row, 0 where there is none.
struct Field<const FRESH: u8, const FIVE: bool> {
    h: [*const i16; 5],
    white: *const i16,
    out: *mut i16,
    across: (__m512i, __m512i),
    down: (__m512i, __m512i),
}

impl<const FRESH: u8, const FIVE: bool> Field<FRESH, FIVE> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(sources: &mut Sources<'_>) -> Self {
        let both = |t: super::Taps| (_mm512_set1_epi16(t.a), _mm512_set1_epi16(t.b));
        let (across, down) = (both(sources.across), both(sources.down));
        let (white, out) = match &mut sources.fresh {
            Some((white, out)) => (white[MARGIN..].as_ptr(), out.as_mut_ptr()),
            None => (core::ptr::null(), core::ptr::null_mut()),
        };
        Field { h: sources.h.map(|h| h.as_ptr()), white, out, across, down }
    }

    /// 32 numbers n.
    ///
    /// # Safety
    /// Rows must reach to x + 32, the white one two numbers further on either side; `FRESH` only where there is one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn at(&self, x: usize) -> __m512i {
        // SAFETY: the caller's promise, for this and all that follow.
        let load = |row: *const i16, d: isize| unsafe { _mm512_loadu_si512(row.add(x).offset(d).cast()) };
        let h = |i: usize| load(self.h[i], 0);
        let fresh = if FRESH > 0 {
            let (s, l, r) = (load(self.white, 0), load(self.white, -1), load(self.white, 1));
            let mut v = _mm512_add_epi16(s, _mm512_mulhi_epi16(_mm512_add_epi16(l, r), self.across.0));
            if FRESH == 2 {
                let far = _mm512_add_epi16(load(self.white, -2), load(self.white, 2));
                v = _mm512_adds_epi16(v, _mm512_mulhi_epi16(far, self.across.1));
            }
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(self.out.add(x).cast(), v) };
            v
        } else {
            h(if FIVE { 4 } else { 3 })
        };
        let near = _mm512_adds_epi16(h(1), if FIVE { h(3) } else { fresh });
        let mut n = _mm512_adds_epi16(h(2), _mm512_mulhi_epi16(near, self.down.0));
        if FIVE {
            n = _mm512_adds_epi16(n, _mm512_mulhi_epi16(_mm512_adds_epi16(h(0), fresh), self.down.1));
        }
        n
    }
}

/// Bytes of a register by a table of 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up(t: &[__m512i; 4], i: __m512i, upper: __mmask64) -> __m512i {
    let (a, b) = (_mm512_permutex2var_epi8(t[0], i, t[1]), _mm512_permutex2var_epi8(t[2], i, t[3]));
    _mm512_mask_mov_epi8(a, upper, b)
}

/// Fused, 8-bit samples by a table of their codes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn finish_codes<const FRESH: u8, const FIVE: bool>(
    row: &mut [u8],
    light: Option<&[u8]>,
    sources: &mut Sources<'_>,
    codes: &Codes,
    (lo, hi): (u8, u8),
) {
    let field = Field::<FRESH, FIVE>::new(sources);
    let table = |t: &[u8; 256]| {
        // SAFETY: 64 bytes are there to load in each quarter.
        core::array::from_fn(|i| unsafe { _mm512_loadu_si512(t[64 * i..64 * i + 64].as_ptr().cast()) })
    };
    let (low, high): ([__m512i; 4], [__m512i; 4]) = (table(&codes.low), table(&codes.high));
    let half = _mm512_set1_epi16(1 << (codes.shift - 17));
    let down = _mm512_set1_epi16(codes.shift as i16 - 16);
    let sign = _mm512_set1_epi8(-128);
    let (lo, hi) = (_mm512_set1_epi8(lo as i8), _mm512_set1_epi8(hi as i8));
    // Unpacking goes by parts of 128 bits: with eight samples of either half in each, words come out in order.
    let order = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    const EVEN: [u8; 64] = {
        let mut even = [0; 64];
        let mut i = 0;
        while i < 64 {
            even[i] = 2 * i as u8;
            i += 1;
        }
        even
    };
    // SAFETY: 64 bytes are 64 bytes.
    let even = unsafe { _mm512_loadu_si512(EVEN.as_ptr().cast()) };
    let width = row.len();
    let samples = row.as_mut_ptr();
    let light = light.map_or(samples.cast_const(), |l| l.as_ptr());
    let turn = |x: usize, mask: __mmask64| {
        // SAFETY: rows of the field are whole turns, and samples are read and written where `mask` has them.
        unsafe {
            let old = _mm512_maskz_loadu_epi8(mask, samples.add(x).cast());
            let i = _mm512_permutexvar_epi64(order, _mm512_maskz_loadu_epi8(mask, light.add(x).cast()));
            let upper = _mm512_movepi8_mask(i);
            let (l, h) = (look_up(&low, i, upper), look_up(&high, i, upper));
            let (s0, s1) = (_mm512_unpacklo_epi8(l, h), _mm512_unpackhi_epi8(l, h));
            let grain = |n, s| _mm512_srav_epi16(_mm512_add_epi16(_mm512_mulhi_epi16(n, s), half), down);
            let (g0, g1) = (grain(field.at(x), s0), grain(field.at(x + 32), s1));
            let n = _mm512_permutex2var_epi8(g0, even, g1);
            let sum = _mm512_xor_si512(_mm512_adds_epi8(_mm512_xor_si512(old, sign), n), sign);
            let sum = _mm512_min_epu8(sum, _mm512_max_epu8(old, hi));
            let sum = _mm512_max_epu8(sum, _mm512_min_epu8(old, lo));
            _mm512_mask_storeu_epi8(samples.add(x).cast(), mask, sum);
        }
    };
    let whole = width / 64 * 64;
    for x in (0..whole).step_by(64) {
        // What is asked for ahead may be anywhere.
        _mm_prefetch::<_MM_HINT_T0>(samples.wrapping_add(x + AHEAD).cast_const().cast());
        turn(x, !0);
    }
    if whole < width {
        turn(whole, (1 << (width - whole)) - 1);
    }
}

/// Fused, deeper samples by the nodes of the response.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn finish_u16<const FRESH: u8, const FIVE: bool>(
    row: &mut [u16],
    light: Option<&[u16]>,
    sources: &mut Sources<'_>,
    job: &Job<'_>,
    (lo, hi): (u16, u16),
) {
    let field = Field::<FRESH, FIVE>::new(sources);
    let t = tables(job);
    let sign = _mm512_set1_epi16(-0x8000);
    let signed = |v: u16| _mm512_set1_epi16((v ^ 0x8000) as i16);
    let (lo, hi) = (signed(lo), signed(hi));
    let width = row.len();
    let samples = row.as_mut_ptr();
    let light = light.map_or(samples.cast_const(), |l| l.as_ptr());
    let turn = |x: usize, mask: __mmask32| {
        // SAFETY: rows of the field are whole turns, and samples are read and written where `mask` has them.
        unsafe {
            let old = _mm512_maskz_loadu_epi16(mask, samples.add(x).cast());
            let light = _mm512_maskz_loadu_epi16(mask, light.add(x).cast());
            let v = _mm512_xor_si512(old, sign);
            let sum = _mm512_adds_epi16(v, grain(&t, light, field.at(x)));
            let sum = _mm512_min_epi16(sum, _mm512_max_epi16(v, hi));
            let sum = _mm512_max_epi16(sum, _mm512_min_epi16(v, lo));
            _mm512_mask_storeu_epi16(samples.add(x).cast(), mask, _mm512_xor_si512(sum, sign));
        }
    };
    let whole = width / STEP * STEP;
    for x in (0..whole).step_by(STEP) {
        // What is asked for ahead may be anywhere.
        _mm_prefetch::<_MM_HINT_T0>(samples.wrapping_add(x).wrapping_byte_add(AHEAD).cast_const().cast());
        turn(x, !0);
    }
    if whole < width {
        turn(whole, (1 << (width - whole)) - 1);
    }
}
