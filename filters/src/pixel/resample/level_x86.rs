//! Sums of rows, of neighbours and of windows with AVX2, each rounded immediately: two taps take one instruction.
//!
//! Products are signed, so samples that may have all 16 bits are offset by 32768; weights sum to 2^14, so the offset is
//! a constant in every sum.
#![allow(unsafe_code)] // loads and stores of whole registers

use super::BITS;
use super::level::Quads;
use crate::pixel::convert::CodeSample;
use core::arch::x86_64::*;

/// The constant that an offset of 32768 in every sample adds to a sum.
const MIDDLE: i32 = 32768 << BITS;

/// Weights of `P` pairs of taps, and the rounding of their sums.
struct Sums<const P: usize> {
    pairs: [__m256i; P],
    half: __m256i,
    shift: __m128i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn sums<const P: usize>(w: &[i16], shift: u32, bias: i32) -> Sums<P> {
    let mut pairs = [_mm256_setzero_si256(); P];
    for (pair, w) in pairs.iter_mut().zip(w.chunks_exact(2)) {
        *pair = _mm256_set1_epi32(i32::from(w[0] as u16) | i32::from(w[1]) << 16);
    }
    let half = _mm256_set1_epi32(bias + ((1 << shift) >> 1));
    Sums { pairs, half, shift: _mm_cvtsi32_si128(shift as i32) }
}

/// Sixteen results of 16 bits from the two rows of every pair.
#[inline]
#[target_feature(enable = "avx2")]
fn sixteen<const P: usize>(by: &Sums<P>, rows: [(__m256i, __m256i); P]) -> __m256i {
    let (mut low, mut high) = (by.half, by.half);
    for ((a, b), w) in rows.into_iter().zip(by.pairs) {
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
    }
    // Unpacking and packing change the order in the same way.
    _mm256_packus_epi32(_mm256_sra_epi32(low, by.shift), _mm256_sra_epi32(high, by.shift))
}

/// Weighted sums of rows, for any even number of taps up to the maximum.
#[target_feature(enable = "avx2")]
pub(super) fn down<T: CodeSample>(out: &mut [u16], rows: &[&[T]], w: &[i16], shift: u32) -> usize {
    match w.len() {
        2 => down_by::<T, 1>(out, rows, w, shift),
        4 => down_by::<T, 2>(out, rows, w, shift),
        6 => down_by::<T, 3>(out, rows, w, shift),
        8 => down_by::<T, 4>(out, rows, w, shift),
        _ => 0,
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn down_by<T: CodeSample, const P: usize>(out: &mut [u16], rows: &[&[T]], w: &[i16], shift: u32) -> usize {
    let n = out.len();
    assert!(rows.len() == 2 * P && rows.iter().all(|r| r.len() >= n));
    let by = sums::<P>(w, shift, if size_of::<T>() == 1 { 0 } else { MIDDLE });
    let starts: [_; P] = core::array::from_fn(|k| (rows[2 * k].as_ptr(), rows[2 * k + 1].as_ptr()));
    let mut done = 0;
    for out in out.chunks_exact_mut(16) {
        let row = |p: *const T| {
            let p = p.wrapping_add(done);
            // SAFETY: every row has sixteen samples from here on, as `out` has.
            unsafe {
                match size_of::<T>() {
                    1 => _mm256_cvtepu8_epi16(_mm_loadu_si128(p.cast())),
                    _ => _mm256_xor_si256(_mm256_loadu_si256(p.cast()), _mm256_set1_epi16(i16::MIN)),
                }
            }
        };
        let mut all = [(_mm256_setzero_si256(), _mm256_setzero_si256()); P];
        for (pair, (a, b)) in all.iter_mut().zip(starts) {
            *pair = (row(a), row(b));
        }
        // SAFETY: there is room for sixteen.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sixteen(&by, all)) };
        done += 16;
    }
    done
}

/// Sums of neighbours, in 16 bits.
///
/// # Safety
/// `2 P + 15` samples must be readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn neighbours<const P: usize>(by: &Sums<P>, row: *const u16) -> __m256i {
    let sign = _mm256_set1_epi16(i16::MIN);
    // SAFETY: the last of 2 P registers of sixteen begins 2 P - 1 samples later.
    let at = |k: usize| unsafe { _mm256_xor_si256(_mm256_loadu_si256(row.wrapping_add(k).cast()), sign) };
    let mut all = [(sign, sign); P];
    for (k, pair) in all.iter_mut().enumerate() {
        *pair = (at(2 * k), at(2 * k + 1));
    }
    sixteen(by, all)
}

/// Weighted sums of a row and its neighbours to samples, for any even number of taps up to the maximum.
#[target_feature(enable = "avx2")]
pub(super) fn along<T: CodeSample>(out: &mut [T], row: &[u16], w: &[i16], shift: u32, top: u16) -> usize {
    match w.len() {
        2 => along_by::<T, 1>(out, row, w, shift, top),
        4 => along_by::<T, 2>(out, row, w, shift, top),
        6 => along_by::<T, 3>(out, row, w, shift, top),
        8 => along_by::<T, 4>(out, row, w, shift, top),
        _ => 0,
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn along_by<T: CodeSample, const P: usize>(
    out: &mut [T],
    row: &[u16],
    w: &[i16],
    shift: u32,
    top: u16,
) -> usize {
    assert!(row.len() + 1 >= out.len() + 2 * P);
    let (by, top) = (sums::<P>(w, shift, MIDDLE), _mm256_set1_epi16(top as i16));
    let mut done = 0;
    for out in out.chunks_exact_mut(32 / size_of::<T>()) {
        let p = row[done..].as_ptr();
        // SAFETY: the row has 2 P - 1 samples more than the output, which has room for a whole register here: of 32
        // samples of a byte, or sixteen of two.
        unsafe {
            let all = if size_of::<T>() == 1 {
                let all = _mm256_packus_epi16(neighbours(&by, p), neighbours(&by, p.wrapping_add(16)));
                _mm256_permute4x64_epi64::<0b11_01_10_00>(all)
            } else {
                _mm256_min_epu16(neighbours(&by, p), top)
            };
            _mm256_storeu_si256(out.as_mut_ptr().cast(), all);
        }
        done += out.len();
    }
    done
}

/// Windows of four, to samples.
#[target_feature(enable = "avx2")]
pub(super) fn windows<T: CodeSample>(
    out: &mut [T],
    row: &[u16],
    quads: &Quads,
    shift: u32,
    top: u16,
) -> usize {
    assert!(quads.end() <= row.len(), "a window ends behind the row");
    let sign = _mm256_set1_epi16(i16::MIN);
    let half = _mm256_set1_epi32(MIDDLE + (1 << (shift - 1)));
    let (shift, top) = (_mm_cvtsi32_si128(shift as i32), _mm_set1_epi16(top as i16));
    let starts = quads.starts.as_chunks::<2>().0.iter();
    let orders = quads.orders.as_chunks::<2>().0.iter().zip(quads.weights.as_chunks::<2>().0);
    let mut done = 0;
    for ((out, starts), (orders, weights)) in out.chunks_exact_mut(8).zip(starts).zip(orders) {
        let four = |i: usize| {
            // SAFETY: eight samples are there from every start; an order and its weights are a register each.
            let (samples, order, weights) = unsafe {
                (
                    _mm_loadu_si128(row.as_ptr().add(starts[i] as usize).cast()),
                    _mm256_loadu_si256(orders[i].as_ptr().cast()),
                    _mm256_loadu_si256(weights[i].as_ptr().cast()),
                )
            };
            let samples = _mm256_xor_si256(_mm256_broadcastsi128_si256(samples), sign);
            _mm256_madd_epi16(_mm256_shuffle_epi8(samples, order), weights)
        };
        let all = _mm256_hadd_epi32(four(0), four(1));
        let all = _mm256_sra_epi32(_mm256_add_epi32(all, half), shift);
        // 0, 1, 4, 5 and 2, 3, 6, 7.
        let codes = _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all));
        let (codes, p) = (_mm_shuffle_epi32::<0b11_01_10_00>(codes), out.as_mut_ptr());
        // SAFETY: there is room for eight.
        unsafe {
            match size_of::<T>() {
                1 => _mm_storel_epi64(p.cast(), _mm_packus_epi16(codes, codes)),
                _ => _mm_storeu_si128(p.cast(), _mm_min_epu16(codes, top)),
            }
        }
        done += 8;
    }
    done
}
