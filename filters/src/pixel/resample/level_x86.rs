//! Sums of windows with AVX2, each rounded immediately: one instruction multiplies two taps.
//!
//! Products are signed, so samples that may have all 16 bits are offset by 32768; weights sum to 2^14, so the offset is
//! a constant in every sum.
#![allow(unsafe_code)] // loads and stores of whole registers

use super::BITS;
use super::level::{Groups, Octets};
use crate::pixel::convert::CodeSample;
use core::arch::x86_64::*;

/// The constant that an offset of 32768 in every sample adds to a sum.
const MIDDLE: i32 = 32768 << BITS;

/// Windows in groups of eight, to samples.
#[target_feature(enable = "avx2")]
pub(super) fn windows<T: CodeSample>(
    out: &mut [T],
    row: &[u16],
    groups: &Groups,
    shift: u32,
    top: u16,
) -> usize {
    match groups.pairs {
        1 => grouped::<T, 1>(out, row, groups, shift, top),
        2 => grouped::<T, 2>(out, row, groups, shift, top),
        3 => grouped::<T, 3>(out, row, groups, shift, top),
        4 => grouped::<T, 4>(out, row, groups, shift, top),
        _ => grouped::<T, 0>(out, row, groups, shift, top),
    }
}

/// For so many pairs of samples, or any number if that is 0.
#[target_feature(enable = "avx2")]
fn grouped<T: CodeSample, const PAIRS: usize>(
    out: &mut [T],
    row: &[u16],
    groups: &Groups,
    shift: u32,
    top: u16,
) -> usize {
    assert!(groups.end <= row.len(), "a window ends behind the row");
    let pairs = if PAIRS == 0 { groups.pairs } else { PAIRS };
    let sign = _mm256_set1_epi16(i16::MIN);
    let half = _mm256_set1_epi32(MIDDLE + (1 << (shift - 1)));
    let (shift, top) = (_mm_cvtsi32_si128(shift as i32), _mm_set1_epi16(top as i16));
    let weights = groups.weights.chunks_exact(pairs.max(1));
    let mut done = 0;
    for (((out, starts), order), weights) in
        out.as_chunks_mut::<8>().0.iter_mut().zip(&groups.starts).zip(&groups.orders).zip(weights)
    {
        // SAFETY: an order is a register.
        let order = unsafe { _mm256_loadu_si256(order.as_ptr().cast()) };
        let mut sums = half;
        for (j, weights) in weights[..pairs].iter().enumerate() {
            // SAFETY: eight samples are there from every pair of samples on; weights are a register.
            let (low, high, weights) = unsafe {
                (
                    _mm_loadu_si128(row.as_ptr().add(starts[0] as usize + 2 * j).cast()),
                    _mm_loadu_si128(row.as_ptr().add(starts[1] as usize + 2 * j).cast()),
                    _mm256_loadu_si256(weights.as_ptr().cast()),
                )
            };
            let samples = _mm256_xor_si256(_mm256_set_m128i(high, low), sign);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_shuffle_epi8(samples, order), weights));
        }
        store(out, _mm256_sra_epi32(sums, shift), top);
        done += 8;
    }
    done
}

/// Stores eight results, clamped.
#[inline]
#[target_feature(enable = "avx2")]
fn store<T: CodeSample>(out: &mut [T; 8], all: __m256i, top: __m128i) {
    let codes = _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all));
    let p = out.as_mut_ptr();
    // SAFETY: there is room for eight.
    unsafe {
        match size_of::<T>() {
            1 => _mm_storel_epi64(p.cast(), _mm_packus_epi16(codes, codes)),
            _ => _mm_storeu_si128(p.cast(), _mm_min_epu16(codes, top)),
        }
    }
}

/// Windows of multiples of eight, to samples.
#[target_feature(enable = "avx2")]
pub(super) fn long_windows<T: CodeSample>(
    out: &mut [T],
    row: &[u16],
    octets: &Octets,
    shift: u32,
    top: u16,
) -> usize {
    assert!(octets.end <= row.len(), "a window ends behind the row");
    let each = octets.weights.len() / octets.starts.len().max(1);
    let sign = _mm256_set1_epi16(i16::MIN);
    let half = _mm256_set1_epi32(MIDDLE + (1 << (shift - 1)));
    let (shift, top) = (_mm_cvtsi32_si128(shift as i32), _mm_set1_epi16(top as i16));
    let mut done = 0;
    let groups = octets.starts.as_chunks::<8>().0.iter().zip(octets.weights.chunks_exact(8 * each.max(1)));
    for (out, (starts, weights)) in out.as_chunks_mut::<8>().0.iter_mut().zip(groups) {
        // The sums of windows `i` and `i + 4`, in four parts each.
        let mut sums = [_mm256_setzero_si256(); 4];
        for k in 0..each {
            for i in 0..4 {
                // SAFETY: every window lies within the row, and there are `each` groups of weights for each.
                let (low, high, w, v) = unsafe {
                    (
                        _mm_loadu_si128(row.as_ptr().add(starts[i] as usize + 8 * k).cast()),
                        _mm_loadu_si128(row.as_ptr().add(starts[i + 4] as usize + 8 * k).cast()),
                        _mm_loadu_si128(weights.as_ptr().add(each * i + k).cast()),
                        _mm_loadu_si128(weights.as_ptr().add(each * (i + 4) + k).cast()),
                    )
                };
                let samples = _mm256_xor_si256(_mm256_set_m128i(high, low), sign);
                sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(samples, _mm256_set_m128i(v, w)));
            }
        }
        let [a, b, c, d] = sums;
        let (a, b) = (_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        let all = _mm256_sra_epi32(_mm256_add_epi32(_mm256_hadd_epi32(a, b), half), shift);
        store(out, all, top);
        done += 8;
    }
    done
}
