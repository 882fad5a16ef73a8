//! Lines and tables by whole registers, of 128, 256 or 512 bits.
//!
//! A compiler widens products of 16 bits to 32, which halves what a register holds; here their upper halves are asked
//! for. Each function does as much of a row as fills registers and says how many samples that were.
#![allow(unsafe_code)] // loads and stores of whole registers; calls into functions of a level, which was detected

use super::affine::{Lanes, Limits, Wide};
use crate::simd::Level;

/// 8-bit samples through lanes of 16 bits.
pub(super) fn lanes_u8(level: Level, row: &mut [u8], lanes: Lanes, limits: Limits<u8>) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Isa;
        // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
        unsafe {
            match level.isa() {
                Isa::Avx512 => avx512::lanes_u8(row, lanes, limits),
                Isa::Avx2 => avx2::lanes_u8(row, lanes, limits),
                Isa::Sse2 => sse2::lanes_u8(row, lanes, limits),
                Isa::Scalar => 0,
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (level, row, lanes, limits);
        0
    }
}

/// Samples of 9 to 16 bits along a line.
pub(super) fn line_u16(level: Level, row: &mut [u16], line: &Wide, limits: Limits<u16>) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Isa;
        // SAFETY: as above.
        unsafe {
            match level.isa() {
                Isa::Avx512 => avx512::line_u16(row, line, limits),
                Isa::Avx2 => avx2::line_u16(row, line, limits),
                Isa::Sse2 => sse2::line_u16(row, line, limits),
                Isa::Scalar => 0,
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (level, row, line, limits);
        0
    }
}

/// 8-bit samples through a table.
pub(super) fn table_u8(level: Level, row: &mut [u8], table: &[u8; 256]) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Isa;
        match level.isa() {
            // SAFETY: the level, and what is asked for beyond it, were detected.
            Isa::Avx512 if is_x86_feature_detected!("avx512vbmi") => {
                return unsafe { table_vbmi(row, table) };
            }
            // SAFETY: the level was detected.
            Isa::Avx512 | Isa::Avx2 => return unsafe { table_avx2(row, table) },
            _ => {}
        }
    }
    let _ = (level, row, table);
    0
}

/// The kernels of one width of register.
#[cfg(target_arch = "x86_64")]
macro_rules! width {
    ($name:ident, $features:literal, $v:ident, { $($long:ident as $short:ident),* $(,)? }, { $($own:ident as $own_short:ident),* }) => {
        mod $name {
            use super::super::affine::{Lanes, Limits, Wide};
            use core::arch::x86_64::{$v, $($long as $short),*};
            use crate::simd::x86::{$($own as $own_short),*};

            /// Bytes of a register.
            const BYTES: usize = size_of::<$v>();

            #[target_feature(enable = $features)]
            pub(super) fn lanes_u8(row: &mut [u8], lanes: Lanes, limits: Limits<u8>) -> usize {
                match (lanes.sub > 0, lanes.whole, limits) {
                    (false, false, Limits::None) => lanes_of::<false, false, 0>(row, lanes, (0, 255)),
                    (false, true, Limits::None) => lanes_of::<false, true, 0>(row, lanes, (0, 255)),
                    (true, false, Limits::None) => lanes_of::<true, false, 0>(row, lanes, (0, 255)),
                    (true, true, Limits::None) => lanes_of::<true, true, 0>(row, lanes, (0, 255)),
                    (false, false, Limits::All(lo, hi)) => lanes_of::<false, false, 1>(row, lanes, (lo, hi)),
                    (false, true, Limits::All(lo, hi)) => lanes_of::<false, true, 1>(row, lanes, (lo, hi)),
                    (true, false, Limits::All(lo, hi)) => lanes_of::<true, false, 1>(row, lanes, (lo, hi)),
                    (true, true, Limits::All(lo, hi)) => lanes_of::<true, true, 1>(row, lanes, (lo, hi)),
                    (false, false, Limits::Legal(lo, hi)) => lanes_of::<false, false, 2>(row, lanes, (lo, hi)),
                    (false, true, Limits::Legal(lo, hi)) => lanes_of::<false, true, 2>(row, lanes, (lo, hi)),
                    (true, false, Limits::Legal(lo, hi)) => lanes_of::<true, false, 2>(row, lanes, (lo, hi)),
                    (true, true, Limits::Legal(lo, hi)) => lanes_of::<true, true, 2>(row, lanes, (lo, hi)),
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn lanes_of<const SUB: bool, const WHOLE: bool, const LIMIT: u8>(
                row: &mut [u8],
                lanes: Lanes,
                (lo, hi): (u8, u8),
            ) -> usize {
                let [sub, part, add] = [lanes.sub, lanes.part, lanes.add].map(|v| set16(v as i16));
                let (lo, hi) = (set8(lo as i8), set8(hi as i8));
                let one = |t| {
                    let t = if SUB { subs16(t, sub) } else { t };
                    let sum = if WHOLE { adds16(mulhi(t, part), t) } else { mulhi(t, part) };
                    srl16::<8>(adds16(sum, add))
                };
                let mut done = 0;
                for block in row.chunks_exact_mut(BYTES) {
                    let p = block.as_mut_ptr().cast::<$v>();
                    // SAFETY: the block is as long as a register.
                    let x = unsafe { load(p) };
                    // Unpacked behind zeros a sample is 256 times as large.
                    let y = pack(one(lower8(zero(), x)), one(upper8(zero(), x)));
                    let y = match LIMIT {
                        0 => y,
                        1 => min8(max8(y, lo), hi),
                        _ => min8(max8(y, min8(lo, x)), max8(hi, x)),
                    };
                    // SAFETY: as above.
                    unsafe { store(p, y) };
                    done += BYTES;
                }
                done
            }

            #[target_feature(enable = $features)]
            pub(super) fn line_u16(row: &mut [u16], line: &Wide, limits: Limits<u16>) -> usize {
                let steep = line.second != 0;
                match (steep, limits) {
                    (false, Limits::None) => line_of::<false, 0>(row, line, (0, u16::MAX)),
                    (true, Limits::None) => line_of::<true, 0>(row, line, (0, u16::MAX)),
                    (false, Limits::All(lo, hi)) => line_of::<false, 1>(row, line, (lo, hi)),
                    (true, Limits::All(lo, hi)) => line_of::<true, 1>(row, line, (lo, hi)),
                    (false, Limits::Legal(lo, hi)) => line_of::<false, 2>(row, line, (lo, hi)),
                    (true, Limits::Legal(lo, hi)) => line_of::<true, 2>(row, line, (lo, hi)),
                }
            }

            /// `STEEP`: the gain is in two parts.
            #[inline]
            #[target_feature(enable = $features)]
            fn line_of<const STEEP: bool, const LIMIT: u8>(
                row: &mut [u16],
                line: &Wide,
                (lo, hi): (u16, u16),
            ) -> usize {
                // Products are signed, so samples stand around the middle of all codes.
                let sign = set16(i16::MIN);
                let pair = |a: i16, b: i16| set32(i32::from(a as u16) | i32::from(b) << 16);
                let gain = if STEEP { pair(line.first, line.second) } else { pair(line.first, 1) };
                let (low, offset) = (set16(line.low as i16), set32(line.offset));
                let range = line.range.map(|(from, to)| (set16(from as i16), set16(to as i16)));
                let (lo, hi) = (set16(lo as i16), set16(hi as i16));
                let mut done = 0;
                for block in row.chunks_exact_mut(BYTES / 2) {
                    let p = block.as_mut_ptr().cast::<$v>();
                    // SAFETY: the block is as long as a register.
                    let x = unsafe { load(p) };
                    let kept = match range {
                        Some((from, to)) if LIMIT > 0 => min16(max16(x, from), to),
                        _ => x,
                    };
                    let (v, fine) = (xor(kept, sign), mulhi(kept, low));
                    let (a, b) = if STEEP {
                        let sum = |v, fine| add32(madd(v, gain), fine);
                        let a = sum(lower16(v, v), lower16(fine, zero()));
                        (a, sum(upper16(v, v), upper16(fine, zero())))
                    } else {
                        let fine = xor(fine, sign);
                        (madd(lower16(v, fine), gain), madd(upper16(v, fine), gain))
                    };
                    let y = packs(sra32::<15>(add32(a, offset)), sra32::<15>(add32(b, offset)));
                    let y = xor(y, sign);
                    let y = match LIMIT {
                        0 => y,
                        1 => min16(max16(y, lo), hi),
                        _ => min16(max16(y, min16(lo, x)), max16(hi, x)),
                    };
                    // SAFETY: as above.
                    unsafe { store(p, y) };
                    done += BYTES / 2;
                }
                done
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
width!(sse2, "sse2", __m128i, {
    _mm_set1_epi8 as set8, _mm_set1_epi16 as set16, _mm_set1_epi32 as set32, _mm_setzero_si128 as zero,
    _mm_loadu_si128 as load, _mm_storeu_si128 as store, _mm_unpacklo_epi8 as lower8,
    _mm_unpackhi_epi8 as upper8, _mm_unpacklo_epi16 as lower16, _mm_unpackhi_epi16 as upper16,
    _mm_subs_epu16 as subs16, _mm_adds_epu16 as adds16, _mm_srli_epi16 as srl16,
    _mm_packus_epi16 as pack, _mm_min_epu8 as min8, _mm_max_epu8 as max8, _mm_xor_si128 as xor,
    _mm_madd_epi16 as madd, _mm_add_epi32 as add32, _mm_srai_epi32 as sra32, _mm_packs_epi32 as packs,
}, { mulhi_128 as mulhi, min16_128 as min16, max16_128 as max16 });
#[cfg(target_arch = "x86_64")]
width!(avx2, "avx2", __m256i, {
    _mm256_set1_epi8 as set8, _mm256_set1_epi16 as set16, _mm256_set1_epi32 as set32,
    _mm256_setzero_si256 as zero, _mm256_loadu_si256 as load, _mm256_storeu_si256 as store,
    _mm256_unpacklo_epi8 as lower8, _mm256_unpackhi_epi8 as upper8, _mm256_unpacklo_epi16 as lower16,
    _mm256_unpackhi_epi16 as upper16, _mm256_subs_epu16 as subs16, _mm256_adds_epu16 as adds16, _mm256_srli_epi16 as srl16, _mm256_packus_epi16 as pack,
    _mm256_min_epu8 as min8, _mm256_max_epu8 as max8, _mm256_xor_si256 as xor, _mm256_madd_epi16 as madd,
    _mm256_add_epi32 as add32, _mm256_srai_epi32 as sra32, _mm256_packs_epi32 as packs,
    _mm256_min_epu16 as min16, _mm256_max_epu16 as max16,
}, { mulhi_256 as mulhi });
#[cfg(target_arch = "x86_64")]
width!(avx512, "avx512f,avx512bw", __m512i, {
    _mm512_set1_epi8 as set8, _mm512_set1_epi16 as set16, _mm512_set1_epi32 as set32,
    _mm512_setzero_si512 as zero, _mm512_loadu_si512 as load, _mm512_storeu_si512 as store,
    _mm512_unpacklo_epi8 as lower8, _mm512_unpackhi_epi8 as upper8, _mm512_unpacklo_epi16 as lower16,
    _mm512_unpackhi_epi16 as upper16, _mm512_subs_epu16 as subs16, _mm512_adds_epu16 as adds16, _mm512_srli_epi16 as srl16, _mm512_packus_epi16 as pack,
    _mm512_min_epu8 as min8, _mm512_max_epu8 as max8, _mm512_xor_si512 as xor, _mm512_madd_epi16 as madd,
    _mm512_add_epi32 as add32, _mm512_srai_epi32 as sra32, _mm512_packs_epi32 as packs,
    _mm512_min_epu16 as min16, _mm512_max_epu16 as max16,
}, { mulhi_512 as mulhi });

/// Four registers hold the table; two shuffles look up either half of it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn table_vbmi(row: &mut [u8], table: &[u8; 256]) -> usize {
    use core::arch::x86_64::*;
    // SAFETY: every quarter of the table is as long as a register.
    let part = |i: usize| unsafe { _mm512_loadu_si512(table[64 * i..64 * i + 64].as_ptr().cast()) };
    let [a, b, c, d] = [part(0), part(1), part(2), part(3)];
    let mut done = 0;
    for block in row.chunks_exact_mut(64) {
        let p = block.as_mut_ptr().cast::<__m512i>();
        // SAFETY: the block is as long as a register.
        let x = unsafe { _mm512_loadu_si512(p) };
        let (low, high) = (_mm512_permutex2var_epi8(a, x, b), _mm512_permutex2var_epi8(c, x, d));
        let y = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(p, y) };
        done += 64;
    }
    done
}

/// Sixteen shuffles look up sixteen entries each; bits 4 to 7 of a sample pick among them. A shuffle gives 0 where bit 7
/// is set, which puts two of them together without asking.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn table_avx2(row: &mut [u8], table: &[u8; 256]) -> usize {
    use core::arch::x86_64::*;
    let parts: [__m256i; 16] = core::array::from_fn(|i| {
        // SAFETY: sixteen entries are there to load.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table[16 * i..16 * i + 16].as_ptr().cast()) })
    });
    let (own, top) = (_mm256_set1_epi8(0x8f_u8 as i8), _mm256_set1_epi8(0x80_u8 as i8));
    let mut done = 0;
    for block in row.chunks_exact_mut(32) {
        let p = block.as_mut_ptr().cast::<__m256i>();
        // SAFETY: the block is as long as a register.
        let x = unsafe { _mm256_loadu_si256(p) };
        let low = _mm256_and_si256(x, own);
        let high = _mm256_xor_si256(low, top);
        let one = |i: usize| {
            _mm256_or_si256(_mm256_shuffle_epi8(parts[i], low), _mm256_shuffle_epi8(parts[i + 8], high))
        };
        let (bit4, bit5, bit6) =
            (_mm256_slli_epi16::<3>(x), _mm256_slli_epi16::<2>(x), _mm256_slli_epi16::<1>(x));
        let two = |i: usize| _mm256_blendv_epi8(one(i), one(i + 1), bit4);
        let four = |i: usize| _mm256_blendv_epi8(two(i), two(i + 2), bit5);
        let y = _mm256_blendv_epi8(four(0), four(4), bit6);
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(p, y) };
        done += 32;
    }
    done
}
