//! Walks of two and of four taps with AVX2: the samples around eight positions are combined, summed vertically in
//! pairs, rounded, and summed horizontally in pairs.
//!
//! Products are signed, so samples that may have all 16 bits are offset by 32768; weights sum to 2^14, so the offset is
//! a constant in every sum.
#![allow(unsafe_code)] // loads of samples and weights at computed places, all checked before the walk

use super::{PHASES, Phases, SampleLine};
use crate::pixel::convert::CodeSample;
use crate::pixel::resample::BITS;
use core::arch::x86_64::*;

/// The constant that an offset of 32768 in every sample adds to a sum.
const MIDDLE: i32 = 32768 << BITS;

/// The samples of one plane, and their rounding.
pub(super) struct From<'a, T> {
    pub(super) samples: &'a [T],
    pub(super) stride: usize,
    /// Bits that sums are shifted by: down, across.
    pub(super) shifts: (u32, u32),
    pub(super) top: u16,
}

/// Positions in a plane: the first sample of a window, and the phases.
struct Places {
    u: i64,
    v: i64,
    du: i64,
    dv: i64,
    stride: usize,
}

impl Places {
    #[inline(always)]
    fn next(&mut self) -> (usize, usize, usize) {
        let at = (self.v >> 32) as usize * self.stride + (self.u >> 32) as usize;
        let place = (at, (self.u >> 24 & 255) as usize, (self.v >> 24 & 255) as usize);
        // Beyond the last position, which nobody reads, they may overflow.
        self.u = self.u.wrapping_add(self.du);
        self.v = self.v.wrapping_add(self.dv);
        place
    }
}

/// The positions of a walk for windows of `n` samples, after a check that all windows lie within the samples.
fn places<T>(from: &From<'_, T>, walk: SampleLine, n: usize, count: usize) -> Places {
    // In 128 bits, in which nothing overflows.
    let start = |at: i64| i128::from(at) + (1 << 23) - ((n as i128 / 2 - 1) << 32);
    let ends = |start: i128, step: i64| {
        let end = start + count.saturating_sub(1) as i128 * i128::from(step);
        (start.min(end) >> 32, start.max(end) >> 32)
    };
    let (u, v) = (start(walk.u), start(walk.v));
    let ((left, right), (top, bottom)) = (ends(u, walk.du), ends(v, walk.dv));
    assert!(left >= 0 && top >= 0, "a window begins before the plane");
    // Positions have 31 whole bits.
    let whole = |v: i128| i32::try_from(v).ok().map(|v| v as usize);
    let end = whole(bottom).and_then(|row| row.checked_add(n - 1)?.checked_mul(from.stride));
    let end = end.and_then(|row| row.checked_add(whole(right)?)?.checked_add(n));
    assert!(end.is_some_and(|end| end <= from.samples.len()), "a window ends behind the plane");
    Places { u: u as i64, v: v as i64, du: walk.du, dv: walk.dv, stride: from.stride }
}

/// The tables of weights, one entry for every phase; `None` when they are not for `N` taps.
fn tables<const N: usize>(across: &Phases<i32>, down: &Phases<i32>) -> Option<(*const i16, *const i16)> {
    let (a, d) = (across.pairs()?, down.pairs()?);
    let fits = across.taps == N && down.taps == N;
    let fits = fits && a.across.len() == N * PHASES && d.down.len() == (if N == 2 { 4 } else { 16 }) * PHASES;
    fits.then_some((a.across.as_ptr(), d.down.as_ptr()))
}

#[inline]
#[target_feature(enable = "avx2")]
fn round_saturate(sums: __m256i, half: __m256i, shift: __m128i) -> __m256i {
    _mm256_sra_epi32(_mm256_add_epi32(sums, half), shift)
}

/// Two registers in one.
#[inline]
#[target_feature(enable = "avx2")]
fn both(low: __m128i, high: __m128i) -> __m256i {
    _mm256_set_m128i(high, low)
}

/// Processes as many samples as fill registers and returns their number. Four taps.
#[target_feature(enable = "avx2")]
pub(super) fn four<T: CodeSample>(
    out: &mut [T],
    from: &From<'_, T>,
    walk: SampleLine,
    (across, down): (&Phases<i32>, &Phases<i32>),
) -> usize {
    let Some((wx, wy)) = tables::<4>(across, down) else { return 0 };
    let count = out.len() / 8 * 8;
    if count == 0 {
        return 0;
    }
    let mut places = places(from, walk, 4, count);
    let sign = _mm256_set1_epi16(i16::MIN);
    let bias = if size_of::<T>() == 2 { MIDDLE } else { 0 };
    let (first, second) = (from.shifts.0 as i32, from.shifts.1 as i32);
    let half =
        (_mm256_set1_epi32(bias + ((1 << first) >> 1)), _mm256_set1_epi32(MIDDLE + (1 << (second - 1))));
    let shift = (_mm_cvtsi32_si128(first), _mm_cvtsi32_si128(second));
    let base = from.samples.as_ptr();
    for out in out.as_chunks_mut::<8>().0 {
        // Four positions in a register.
        let mut quads = [_mm256_setzero_si256(); 2];
        for quad in &mut quads {
            let p = [places.next(), places.next(), places.next(), places.next()];
            let column = |i: usize, j: usize| {
                // SAFETY: `places` has checked the windows of all places, `tables` the tables' lengths.
                unsafe {
                    let (a, b) = rows4(base.add(p[i].0), base.add(p[j].0), from.stride);
                    let weights = |n: usize| _mm_loadu_si128(wy.add(16 * p[i].2 + n).cast());
                    let others = |n: usize| _mm_loadu_si128(wy.add(16 * p[j].2 + n).cast());
                    let upper = _mm256_madd_epi16(a, both(weights(0), others(0)));
                    let lower = _mm256_madd_epi16(b, both(weights(8), others(8)));
                    round_saturate(_mm256_add_epi32(upper, lower), half.0, shift.0)
                }
            };
            let columns = _mm256_packus_epi32(column(0, 1), column(2, 3));
            // SAFETY: as above.
            let weight = |i: usize| unsafe { wx.add(4 * p[i].1).cast::<i64>().read_unaligned() };
            let weights = both(_mm_set_epi64x(weight(2), weight(0)), _mm_set_epi64x(weight(3), weight(1)));
            *quad = _mm256_madd_epi16(_mm256_xor_si256(columns, sign), weights);
        }
        let sums = round_saturate(_mm256_hadd_epi32(quads[0], quads[1]), half.1, shift.1);
        // Even positions in the lower half, odd ones in the upper.
        let codes = _mm256_packus_epi32(sums, sums);
        let (even, odd) = (_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
        store(out, _mm_unpacklo_epi16(even, odd), from.top);
    }
    count
}

/// The same of two taps.
#[target_feature(enable = "avx2")]
pub(super) fn two<T: CodeSample>(
    out: &mut [T],
    from: &From<'_, T>,
    walk: SampleLine,
    (across, down): (&Phases<i32>, &Phases<i32>),
) -> usize {
    let Some((wx, wy)) = tables::<2>(across, down) else { return 0 };
    let count = out.len() / 8 * 8;
    if count == 0 {
        return 0;
    }
    let mut places = places(from, walk, 2, count);
    let sign = _mm256_set1_epi16(i16::MIN);
    let bias = if size_of::<T>() == 2 { MIDDLE } else { 0 };
    let (first, second) = (from.shifts.0 as i32, from.shifts.1 as i32);
    let half =
        (_mm256_set1_epi32(bias + ((1 << first) >> 1)), _mm256_set1_epi32(MIDDLE + (1 << (second - 1))));
    let shift = (_mm_cvtsi32_si128(first), _mm_cvtsi32_si128(second));
    let base = from.samples.as_ptr();
    for out in out.as_chunks_mut::<8>().0 {
        let p: [_; 8] = core::array::from_fn(|_| places.next());
        // SAFETY: `places` has checked the windows of all places, `tables` the tables' lengths.
        let (a, b) = unsafe { rows2(base, &p, from.stride) };
        // SAFETY: as above.
        let weight = |i: usize| unsafe { wy.add(4 * p[i].2).cast::<i64>().read_unaligned() };
        let weights = |i: usize| {
            both(_mm_set_epi64x(weight(i + 1), weight(i)), _mm_set_epi64x(weight(i + 5), weight(i + 4)))
        };
        let column = |rows, weights| round_saturate(_mm256_madd_epi16(rows, weights), half.0, shift.0);
        let columns = _mm256_packus_epi32(column(a, weights(0)), column(b, weights(2)));
        // SAFETY: as above.
        let weight = |i: usize| unsafe { wx.add(2 * p[i].1).cast::<i32>().read_unaligned() };
        let weights = _mm256_setr_epi32(
            weight(0),
            weight(1),
            weight(2),
            weight(3),
            weight(4),
            weight(5),
            weight(6),
            weight(7),
        );
        let sums = _mm256_madd_epi16(_mm256_xor_si256(columns, sign), weights);
        let sums = round_saturate(sums, half.1, shift.1);
        let (low, high) = (_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        store(out, _mm_packus_epi32(low, high), from.top);
    }
    count
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<T: CodeSample>(out: &mut [T; 8], codes: __m128i, top: u16) {
    let to = out.as_mut_ptr();
    // SAFETY: eight samples are written, as many as there are: a code sample has one byte or two.
    unsafe {
        match size_of::<T>() {
            1 => _mm_storel_epi64(to.cast(), _mm_packus_epi16(codes, codes)),
            _ => _mm_storeu_si128(to.cast(), _mm_min_epu16(codes, _mm_set1_epi16(top as i16))),
        }
    }
}

/// Loads windows of 4x4 samples at two positions, interleaved for `madd`: the first two rows, and the last two. Samples
/// of more than 8 bits have an offset of 32768.
///
/// # Safety
/// All of them must be readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rows4<T: CodeSample>(a: *const T, b: *const T, stride: usize) -> (__m256i, __m256i) {
    if size_of::<T>() == 1 {
        // SAFETY: as the caller says.
        let row = |p: *const T, k: usize| unsafe { p.add(k * stride).cast::<i32>().read_unaligned() };
        let rows = |p| _mm_setr_epi32(row(p, 0), row(p, 1), row(p, 2), row(p, 3));
        let rows = both(rows(a), rows(b));
        let upper = _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
        let lower = _mm_setr_epi8(8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1);
        return (
            _mm256_shuffle_epi8(rows, both(upper, upper)),
            _mm256_shuffle_epi8(rows, both(lower, lower)),
        );
    }
    // SAFETY: as the caller says.
    let row = |p: *const T, k: usize| unsafe { _mm_loadl_epi64(p.add(k * stride).cast()) };
    let pairs = |p, k| _mm_unpacklo_epi16(row(p, k), row(p, k + 1));
    let sign = _mm256_set1_epi16(i16::MIN);
    let rows = |k| _mm256_xor_si256(both(pairs(a, k), pairs(b, k)), sign);
    (rows(0), rows(2))
}

/// Loads windows of 2x2 samples at eight positions in pairs: positions 0, 1, 4, 5 and 2, 3, 6, 7. Samples of more than 8
/// bits have an offset of 32768.
///
/// # Safety
/// All of them must be readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rows2<T: CodeSample>(
    base: *const T,
    p: &[(usize, usize, usize); 8],
    stride: usize,
) -> (__m256i, __m256i) {
    if size_of::<T>() == 1 {
        let four = |i: usize| {
            let p = base.wrapping_add(p[i].0);
            // SAFETY: as the caller says.
            let row = |k: usize| u32::from(unsafe { p.add(k * stride).cast::<u16>().read_unaligned() });
            (row(0) | row(1) << 16) as i32
        };
        let all = _mm256_setr_epi32(four(0), four(1), four(2), four(3), four(4), four(5), four(6), four(7));
        let first = _mm_setr_epi8(0, -1, 2, -1, 1, -1, 3, -1, 4, -1, 6, -1, 5, -1, 7, -1);
        let second = _mm_setr_epi8(8, -1, 10, -1, 9, -1, 11, -1, 12, -1, 14, -1, 13, -1, 15, -1);
        return (
            _mm256_shuffle_epi8(all, both(first, first)),
            _mm256_shuffle_epi8(all, both(second, second)),
        );
    }
    let row = |i: usize, k: usize| {
        // SAFETY: as the caller says.
        unsafe { base.add(p[i].0 + k * stride).cast::<i32>().read_unaligned() }
    };
    let rows = |k: usize| {
        let r = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| row(i, k));
        _mm256_setr_epi32(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
    };
    let sign = _mm256_set1_epi16(i16::MIN);
    let (a, b) = (_mm256_xor_si256(rows(0), sign), _mm256_xor_si256(rows(1), sign));
    (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(stride: usize, walk: SampleLine) {
        places(&From { samples: &[0u8; 64], stride, shifts: (0, 0), top: 255 }, walk, 2, 8);
    }

    #[test]
    #[should_panic = "behind the plane"]
    fn a_stride_that_wraps_the_check_is_refused() {
        // The last row of the windows begins at sample 4 << 62, which is 0 in 64 bits.
        place(1 << 62, SampleLine { u: 0, v: 3 << 32, du: 1 << 32, dv: 0 });
    }

    #[test]
    #[should_panic = "behind the plane"]
    fn a_step_that_wraps_the_check_is_refused() {
        // Seven steps are 1 in 64 bits.
        place(8, SampleLine { u: 0, v: 0, du: 0x6db6_db6d_b6db_6db7, dv: 0 });
    }

    #[test]
    #[should_panic = "behind the plane"]
    fn a_start_that_wraps_the_check_is_refused() {
        place(8, SampleLine { u: i64::MAX, v: 0, du: 0, dv: 0 });
    }
}
