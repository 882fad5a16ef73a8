//! Linear functions in whole registers.
//!
//! A compiler widens products of 16 bits to 32, which halves the number of lanes; these kernels take the upper halves
//! directly. Each function processes as many samples as fill registers and returns their number.

use super::{ByteLine, Clamp, WordLine};
use crate::simd::{Vector, multiversion};

multiversion! {
    /// 8-bit samples through lanes of 16 bits.
    pub(super) fn lanes_u8(level, row: &mut [u8], lanes: ByteLine, limits: Clamp<u8>) -> usize => lanes_body;
    /// Samples of 9 to 16 bits along a line.
    pub(super) fn line_u16(level, row: &mut [u16], line: &WordLine, limits: Clamp<u16>) -> usize => line_body;
}

#[inline(always)]
fn lanes_body<V: Vector>(zero: V, row: &mut [u8], lanes: ByteLine, limits: Clamp<u8>) -> usize {
    match limits {
        Clamp::None => lanes_within::<V, 0>(zero, row, lanes, (0, 255)),
        Clamp::All(lo, hi) => lanes_within::<V, 1>(zero, row, lanes, (lo, hi)),
        Clamp::Legal(lo, hi) => lanes_within::<V, 2>(zero, row, lanes, (lo, hi)),
    }
}

#[inline(always)]
fn lanes_within<V: Vector, const LIMIT: u8>(
    zero: V,
    row: &mut [u8],
    lanes: ByteLine,
    ends: (u8, u8),
) -> usize {
    match (lanes.sub > 0, lanes.whole) {
        (false, false) => lanes_of::<V, LIMIT, false, false>(zero, row, lanes, ends),
        (false, true) => lanes_of::<V, LIMIT, false, true>(zero, row, lanes, ends),
        (true, false) => lanes_of::<V, LIMIT, true, false>(zero, row, lanes, ends),
        (true, true) => lanes_of::<V, LIMIT, true, true>(zero, row, lanes, ends),
    }
}

#[inline(always)]
fn lanes_of<V: Vector, const LIMIT: u8, const SUB: bool, const WHOLE: bool>(
    zero: V,
    row: &mut [u8],
    lanes: ByteLine,
    (lo, hi): (u8, u8),
) -> usize {
    let (lo, hi) = (zero.splat8(lo), zero.splat8(hi));
    let mut done = 0;
    for block in row.chunks_exact_mut(V::BYTES) {
        let x = zero.load(block);
        // Unpacked above zeros, a sample is 256 times as large.
        let mut y = [zero.unpack_low8(x), zero.unpack_high8(x)];
        for t in &mut y {
            let v = if SUB { t.subs_u16(zero.splat16(lanes.sub as i16)) } else { *t };
            let product = v.mulhi_u16(zero.splat16(lanes.part as i16));
            let sum = if WHOLE { product.adds_u16(v) } else { product };
            *t = sum.adds_u16(zero.splat16(lanes.add as i16)).shr_u16(8);
        }
        let y = y[0].pack_u16(y[1]);
        let y = match LIMIT {
            0 => y,
            1 => y.max_u8(lo).min_u8(hi),
            _ => y.max_u8(lo.min_u8(x)).min_u8(hi.max_u8(x)),
        };
        y.store(block);
        done += V::BYTES;
    }
    done
}

#[inline(always)]
fn line_body<V: Vector>(zero: V, row: &mut [u16], line: &WordLine, limits: Clamp<u16>) -> usize {
    if !V::PAIR_PRODUCTS {
        return 0; // the compiler makes fewer instructions of the plain body
    }
    match limits {
        Clamp::None => line_within::<V, 0>(zero, row, line, (0, u16::MAX)),
        Clamp::All(lo, hi) => line_within::<V, 1>(zero, row, line, (lo, hi)),
        Clamp::Legal(lo, hi) => line_within::<V, 2>(zero, row, line, (lo, hi)),
    }
}

#[inline(always)]
fn line_within<V: Vector, const LIMIT: u8>(
    zero: V,
    row: &mut [u16],
    line: &WordLine,
    ends: (u16, u16),
) -> usize {
    if line.second == 0 {
        line_of::<V, LIMIT, false>(zero, row, line, ends)
    } else {
        line_of::<V, LIMIT, true>(zero, row, line, ends)
    }
}

/// `STEEP`: the gain is in two parts.
#[inline(always)]
fn line_of<V: Vector, const LIMIT: u8, const STEEP: bool>(
    zero: V,
    row: &mut [u16],
    line: &WordLine,
    (lo, hi): (u16, u16),
) -> usize {
    // Products are signed, so samples are centred at the middle of all codes.
    let sign = zero.splat16(i16::MIN);
    let second = if STEEP { line.second } else { 1 };
    let gain = zero.splat32(i32::from(line.first as u16) | i32::from(second) << 16);
    let (low, offset) = (zero.splat16(line.low as i16), zero.splat32(line.offset));
    let (from, to) = line.range.unwrap_or((0, u16::MAX));
    let (from, to) = (zero.splat16(from as i16), zero.splat16(to as i16));
    let (lo, hi) = (zero.splat16(lo as i16), zero.splat16(hi as i16));
    let mut done = 0;
    for block in row.chunks_exact_mut(V::BYTES / 2) {
        let x = zero.load(block);
        let kept = if LIMIT > 0 && line.range.is_some() { x.max_u16(from).min_u16(to) } else { x };
        let (v, fine) = (kept.xor(sign), kept.mulhi_u16(low));
        let [a, b] = if STEEP {
            let sums = [fine.unpack_low16(zero), fine.unpack_high16(zero)];
            v.add_products16(v, gain, [sums[0].add32(offset), sums[1].add32(offset)])
        } else {
            v.add_products16(fine.xor(sign), gain, [offset; 2])
        };
        let y = a.shr_i32(15).pack_i32(b.shr_i32(15)).xor(sign);
        let y = match LIMIT {
            0 => y,
            1 => y.max_u16(lo).min_u16(hi),
            _ => y.max_u16(lo.min_u16(x)).min_u16(hi.max_u16(x)),
        };
        y.store(block);
        done += V::BYTES / 2;
    }
    done
}
