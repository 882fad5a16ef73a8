//! Linear functions of 16-bit samples in whole registers.
//!
//! A compiler widens products of 16 bits to 32, which halves the number of lanes; this kernel takes the upper halves
//! directly. It processes as many samples as fill registers and returns their number.

use super::{Clamp, WordLine};
use crate::simd::{Vector, multiversion};

multiversion! {
    /// Samples of 9 to 16 bits along a line: those of the row, or codes that are the upper halves of samples.
    pub(super) fn line_u16(
        level, row: &mut [u16], codes: Option<&[u8]>, line: &WordLine, limits: Clamp,
    ) -> usize => line_body;
}

#[inline(always)]
fn line_body<V: Vector>(
    zero: V,
    out: &mut [u16],
    codes: Option<&[u8]>,
    line: &WordLine,
    limits: Clamp,
) -> usize {
    // Otherwise the compiler makes fewer instructions of the plain body, and a table of bytes is faster.
    if !V::PAIR_PRODUCTS || (V::BYTE_TABLES && codes.is_some()) {
        return 0;
    }
    match limits {
        Clamp::None => line_within::<V, 0>(zero, out, codes, line, (0, u16::MAX)),
        Clamp::All(lo, hi) => line_within::<V, 1>(zero, out, codes, line, (lo, hi)),
        Clamp::Legal(lo, hi) => line_within::<V, 2>(zero, out, codes, line, (lo, hi)),
    }
}

#[inline(always)]
fn line_within<V: Vector, const LIMIT: u8>(
    zero: V,
    out: &mut [u16],
    codes: Option<&[u8]>,
    line: &WordLine,
    ends: (u16, u16),
) -> usize {
    let by = Line::new(zero, line, ends);
    if line.second == 0 {
        line_of::<V, LIMIT, false>(zero, out, codes, &by)
    } else {
        line_of::<V, LIMIT, true>(zero, out, codes, &by)
    }
}

#[inline(always)]
fn line_of<V: Vector, const LIMIT: u8, const STEEP: bool>(
    zero: V,
    out: &mut [u16],
    codes: Option<&[u8]>,
    by: &Line<V>,
) -> usize {
    let mut done = 0;
    if let Some(codes) = codes {
        for (out, block) in out.chunks_exact_mut(V::BYTES).zip(codes.chunks_exact(V::BYTES)) {
            let x = zero.load(block).preshuffle_for_unpack();
            by.of::<LIMIT, STEEP>(zero.unpack_low8(x)).store(out);
            by.of::<LIMIT, STEEP>(zero.unpack_high8(x)).store(&mut out[V::BYTES / 2..]);
            done += V::BYTES;
        }
        return done;
    }
    for block in out.chunks_exact_mut(V::BYTES / 2) {
        by.of::<LIMIT, STEEP>(zero.load(block)).store(block);
        done += V::BYTES / 2;
    }
    done
}

/// A line in registers.
struct Line<V> {
    zero: V,
    sign: V,
    /// The gain, in one part (beside a weight of 1) and in two.
    gain: [V; 2],
    low: V,
    offset: V,
    /// The limits of samples and of results.
    range: Option<[V; 2]>,
    ends: [V; 2],
}

impl<V: Vector> Line<V> {
    #[inline(always)]
    fn new(zero: V, line: &WordLine, (lo, hi): (u16, u16)) -> Line<V> {
        let gain = |second: i16| zero.splat32(i32::from(line.first as u16) | i32::from(second) << 16);
        let mut range = None;
        if let Some((from, to)) = line.range {
            range = Some([zero.splat16(from as i16), zero.splat16(to as i16)]);
        }
        Line {
            zero,
            // Products are signed, so samples are centred at the middle of all codes.
            sign: zero.splat16(i16::MIN),
            gain: [gain(1), gain(line.second)],
            low: zero.splat16(line.low as i16),
            offset: zero.splat32(line.offset),
            range,
            ends: [zero.splat16(lo as i16), zero.splat16(hi as i16)],
        }
    }

    /// `STEEP`: the gain is in two parts.
    #[inline(always)]
    fn of<const LIMIT: u8, const STEEP: bool>(&self, x: V) -> V {
        let Line { zero, sign, offset, ends: [lo, hi], .. } = *self;
        let kept = match self.range {
            Some([from, to]) if LIMIT > 0 => x.max_u16(from).min_u16(to),
            _ => x,
        };
        let (v, fine) = (kept.xor(sign), kept.mulhi_u16(self.low));
        let [a, b] = if STEEP {
            let sums = [fine.unpack_low16(zero), fine.unpack_high16(zero)];
            v.add_products16(v, self.gain[1], [sums[0].add32(offset), sums[1].add32(offset)])
        } else {
            v.add_products16(fine.xor(sign), self.gain[0], [offset; 2])
        };
        let y = a.shr_i32(15).pack_i32(b.shr_i32(15)).xor(sign);
        match LIMIT {
            0 => y,
            1 => y.max_u16(lo).min_u16(hi),
            _ => y.max_u16(lo.min_u16(x)).min_u16(hi.max_u16(x)),
        }
    }
}
