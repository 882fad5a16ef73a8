//! Rounding to fewer bits with dither: noise is added before the rounding, so that the error becomes noise instead of
//! visible steps.
//!
//! With v a code of the deeper samples and r a random number in codes of the shallower, from -1 to 1,
//!
//! `out = floor(zero' + (v - zero) * span' / span + r + 1/2)`,
//!
//! in fixed point of 32 bits, r in 1/32768. A sample that would be rounded to a legal code stays legal. The noise r is
//! one of:
//!
//! - **tpdf**, triangular: the sum of two uniform numbers. Neither the mean nor the variance of the error depends on v.
//! - **high-pass tpdf**: the difference of two neighbouring uniform numbers, of the same distribution: of a sample's
//!   own and that to its left where column and row are both odd or both even, else that above it (as the squares of a
//!   chess board). Each number is subtracted at one neighbour, so no noise is left at the lowest frequencies of either
//!   direction.
//! - **uniform**: ranks of a 64x64 [mask](blue), from -1/2 to 1/2, both excluded: exact codes stay as they are.
//! - **blue**: ranks of a 64x64 [mask](blue), spread to the same triangular distribution, shifted from frame to frame.

pub mod blue;
#[cfg(test)]
mod tests;

use super::convert::{Code, CodeSample};
use crate::simd::{Level, Vector, multiversion};

/// The conversion from deeper to shallower codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduce {
    /// Shallow codes per deep code, and the constant that is added, in 2^-32.
    m: u32,
    b: i64,
    /// The legal codes.
    lo: i64,
    hi: i64,
    /// The highest code.
    top: i64,
}

const HALF: i64 = 1 << 31;

impl Reduce {
    /// A conversion to fewer codes; `legal` are the codes that legal samples stay within. Panics if the codes are
    /// not fewer.
    pub fn new(from: Code, to: Code, (lo, hi): (u16, u16)) -> Reduce {
        assert!(to.span < from.span && !from.is_float() && !to.is_float(), "{from:?} to {to:?}");
        let (si, so) = (i128::from(from.span), i128::from(to.span));
        let m = ((so << 32) + si / 2) / si;
        let b = (i128::from(to.zero) << 32) - ((i128::from(from.zero) * so) << 32).div_euclid(si);
        Reduce { m: m as u32, b: b as i64, lo: lo.into(), hi: hi.into(), top: to.top.into() }
    }

    /// The factor of uniform noise, in 1/32768: exact codes have been rounded to deeper ones, and half of a deep code
    /// must not carry them to the next code.
    pub const fn uniform_part(&self) -> i16 {
        32767 - (self.m >> 17) as i16
    }

    /// One sample: the reference.
    #[inline(always)]
    pub const fn one(&self, v: u16, r: i16) -> u16 {
        let x = v as i64 * self.m as i64 + self.b + HALF;
        let plain = x >> 32;
        let code = (x + ((r as i64) << 17)) >> 32;
        let lo = if plain < self.lo { plain } else { self.lo };
        let hi = if plain > self.hi { plain } else { self.hi };
        let code = if code < lo { lo } else { code };
        let code = if code > hi { hi } else { code };
        // A deep code may be slightly outside of the shallow codes.
        let code = if code < 0 { 0 } else { code };
        (if code > self.top { self.top } else { code }) as u16
    }
}

#[inline(always)]
fn reduce_body<D: CodeSample>(out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) {
    let by = *by;
    out.iter_mut().zip(row).zip(noise).for_each(|((o, &v), &r)| *o = D::of(by.one(v, r)));
}

#[inline(always)]
fn high_pass_body(out: &mut [i16], above: &[u16], own: &[u16], odd: bool) {
    let n = out.len();
    let (left, above, own) = (&own[..n], &above[1..n + 1], &own[1..n + 1]);
    for i in 0..n {
        let beside = if (i % 2 == 1) == odd { left[i] } else { above[i] };
        out[i] = (own[i] >> 1) as i16 - (beside >> 1) as i16;
    }
}

/// From 16 bits to 8, where a code equals 256 or 257 deep codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToBytes {
    /// Full range: codes of 257 are rescaled to 256.
    full: bool,
    /// Aligns the codes of full-range chroma to multiples of 257.
    offset: u16,
    lo: u8,
    hi: u8,
}

impl ToBytes {
    /// `None` for any other depths.
    pub fn new(from: Code, to: Code, (lo, hi): (u16, u16)) -> Option<ToBytes> {
        let full = (from.span, to.span) == (65535, 255);
        let limited = from.span == to.span << 8 && from.zero == to.zero << 8;
        let fits =
            !from.is_float() && !to.is_float() && (from.top, to.top) == (65535, 255) && (full || limited);
        let offset = if full { to.zero * 257 - from.zero } else { 0 };
        fits.then(|| ToBytes { full, offset: offset as u16, lo: lo.min(255) as u8, hi: hi.min(255) as u8 })
    }

    /// One sample with a level of the mask, 0 to 255: the reference.
    #[inline(always)]
    pub const fn one(&self, v: u16, level: u16) -> u8 {
        let v = if self.full {
            // Near black, chroma has no space for the whole offset.
            let v = v.saturating_add(if v < self.offset { v } else { self.offset });
            v - (v >> 8)
        } else {
            v
        };
        let code = (v.saturating_add(level) >> 8) as u8;
        let plain = (v.saturating_add(128) >> 8) as u8;
        let lo = if plain < self.lo { plain } else { self.lo };
        let hi = if plain > self.hi { plain } else { self.hi };
        let code = if code < lo { lo } else { code };
        if code > hi { hi } else { code }
    }
}

#[inline(always)]
fn uniform_body(out: &mut [u8], row: &[u16], levels: &[u16], by: &ToBytes) {
    out.iter_mut().zip(row).zip(levels).for_each(|((o, &v), &t)| *o = by.one(v, t));
}

/// Whole tiles in registers; returns their number.
#[inline(always)]
fn uniform_registers<V: Vector>(
    any: V,
    out: &mut [[u8; blue::SIDE]],
    row: &[[u16; blue::SIDE]],
    places: &[usize],
    by: &ToBytes,
) -> usize {
    let levels = blue::levels();
    let (offset, half) = (any.splat16(by.offset as i16), any.splat16(128));
    let (lo, hi) = (any.splat8(by.lo), any.splat8(by.hi));
    let code = |v: V| {
        if by.full {
            let v = v.adds_u16(v.min_u16(offset));
            v.sub16(v.shr_u16(8))
        } else {
            v
        }
    };
    let bytes = |a: V, b: V| a.shr_u16(8).pack_u16(b.shr_u16(8)).unshuffle_after_pack();
    for ((out, row), &at) in out.iter_mut().zip(row).zip(places) {
        let samples = row.chunks_exact(V::BYTES).zip(levels[at..][..blue::SIDE].chunks_exact(V::BYTES));
        for (out, (v, t)) in out.chunks_exact_mut(V::BYTES).zip(samples) {
            let (v, t) = (v.split_at(V::BYTES / 2), t.split_at(V::BYTES / 2));
            let (a, b) = (code(any.load(v.0)), code(any.load(v.1)));
            let sum = bytes(a.adds_u16(any.load(t.0)), b.adds_u16(any.load(t.1)));
            let plain = bytes(a.adds_u16(half), b.adds_u16(half));
            sum.max_u8(plain.min_u8(lo)).min_u8(plain.max_u8(hi)).store(out);
        }
    }
    row.len()
}

multiversion! {
    fn reduce_rows<D: CodeSample>(level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) = reduce_body;
    fn high_pass_rows(level, out: &mut [i16], above: &[u16], own: &[u16], odd: bool) = high_pass_body;
    fn uniform_rest(level, out: &mut [u8], row: &[u16], levels: &[u16], by: &ToBytes) = uniform_body;
    fn uniform_tiles(
        level, out: &mut [[u8; blue::SIDE]], row: &[[u16; blue::SIDE]], places: &[usize], by: &ToBytes,
    ) -> usize => uniform_registers;
}

/// Rounds a row with the given noise, in 1/32768 of a shallow code. Panics if the rows differ in length.
pub fn reduce_row<D: CodeSample>(level: Level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) {
    assert!(out.len() == row.len() && row.len() == noise.len());
    reduce_rows(level, out, row, noise, by);
}

/// Rounds a row with uniform noise; each tile of [`blue::SIDE`] samples uses the noise of its
/// [`blue::place`].
pub fn uniform_row(level: Level, out: &mut [u8], row: &[u16], places: &[usize], by: &ToBytes) {
    assert!(out.len() == row.len() && places.len() == row.len().div_ceil(blue::SIDE));
    let tiles = out.as_chunks_mut().0;
    let done = uniform_tiles(level, tiles, row.as_chunks().0, places, by);
    let (out, row) = (&mut out[done * blue::SIDE..], &row[done * blue::SIDE..]);
    for ((out, row), &at) in out.chunks_mut(blue::SIDE).zip(row.chunks(blue::SIDE)).zip(&places[done..]) {
        uniform_rest(level, out, row, &blue::levels()[at..], by);
    }
}

/// The difference of each word and the one before it in its row (where the column is as `odd` as the row) or the one
/// above, both in 1/32768 from 0 to 1. `rows` are the words above and its own, each one longer than `out`, one word
/// before.
pub fn high_pass(level: Level, out: &mut [i16], [above, own]: [&[u16]; 2], odd: bool) {
    assert!(above.len() == out.len() + 1 && own.len() == out.len() + 1);
    high_pass_rows(level, out, above, own, odd);
}
