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
use crate::simd::{Level, multiversion};

/// The conversion from deeper to shallower codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduce {
    /// Shallow codes per deep code, and the constant that is added, in 2^-32.
    m: u32,
    b: i64,
    /// The highest deep code; what is above counts as it.
    deepest: u16,
    /// The legal codes.
    lo: i32,
    hi: i32,
    /// The highest code.
    top: i32,
}

const HALF: i64 = 1 << 31;
/// Keeps sums of the kernel positive: two codes, in 2^-16.
const BIAS: u32 = 2 << 16;

impl Reduce {
    /// A conversion to fewer codes; `legal` are the codes that legal samples stay within. Panics if the codes are
    /// not fewer.
    pub fn new(from: Code, to: Code, (lo, hi): (u16, u16)) -> Reduce {
        assert!(to.span < from.span && !from.is_float() && !to.is_float(), "{from:?} to {to:?}");
        let (si, so) = (i128::from(from.span), i128::from(to.span));
        let m = ((so << 32) + si / 2) / si;
        let b = (i128::from(to.zero) << 32) - ((i128::from(from.zero) * so) << 32).div_euclid(si);
        let (lo, hi, top) = (lo.into(), hi.into(), to.top.into());
        Reduce { m: m as u32, b: b as i64, deepest: from.top, lo, hi, top }
    }

    /// The factor of uniform noise, in 1/32768: exact codes have been rounded to deeper ones, and half of a deep code
    /// must not carry them to the next code.
    const fn uniform_part(&self) -> i32 {
        32767 - (self.m >> 17) as i32
    }

    /// One sample: the reference.
    pub fn one(&self, v: u16, r: i16) -> u16 {
        let x = i64::from(v.min(self.deepest)) * i64::from(self.m) + self.b + HALF;
        self.legalize((x >> 32) as i32, ((x + (i64::from(r) << 17)) >> 32) as i32)
    }

    /// A rounded code with noise: if it is legal without noise, it stays legal.
    #[inline(always)]
    fn legalize(&self, plain: i32, code: i32) -> u16 {
        // A deep code may be slightly outside of the shallow codes.
        code.max(plain.min(self.lo)).min(plain.max(self.hi)).max(0).min(self.top) as u16
    }
}

#[inline(always)]
fn reduce_body<D: CodeSample>(out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) {
    let by = *by;
    // The sum of the reference in 2^-16, from two products of 32 bits.
    let (high, low) = (by.m >> 16, by.m & 0xffff);
    let b = by.b + HALF + (i64::from(BIAS) << 16);
    let (b_high, b_low) = ((b >> 16) as u32, (b & 0xffff) as u32);
    let code = |sum: u32| (sum >> 16) as i32 - (BIAS >> 16) as i32;
    for ((o, &v), &r) in out.iter_mut().zip(row).zip(noise) {
        let v = u32::from(v.min(by.deepest));
        let sum = (v * high).wrapping_add(b_high).wrapping_add((v * low + b_low) >> 16);
        *o = D::from_code(by.legalize(code(sum), code(sum.wrapping_add_signed(2 * i32::from(r)))));
    }
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

/// Uniform noise from 16 bits, where a shallow code equals a power of two of deep codes, or 257 of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UniformReduce {
    /// Deep codes of a shallow one, as a power of two.
    shift: u32,
    /// Full range to 8 bits: codes of 257 are rescaled to 256.
    full: bool,
    /// Aligns the codes of full-range chroma to multiples of 257.
    offset: u16,
    lo: u16,
    hi: u16,
}

impl UniformReduce {
    /// `None` for other codes: fewer than 16 bits, or full range to more than 8 bits.
    pub fn new(from: Code, to: Code, (lo, hi): (u16, u16)) -> Option<UniformReduce> {
        if from.is_float() || to.is_float() || from.top != u16::MAX {
            return None;
        }
        let full = (from.span, to.span) == (65535, 255);
        let shift = u16::BITS - (u32::from(to.top) + 1).ilog2();
        let aligned = from.span == to.span << shift && from.zero == to.zero << shift;
        let offset = if full { to.zero * 257 - from.zero } else { 0 };
        (full || aligned).then(|| UniformReduce {
            shift,
            full,
            offset: offset as u16,
            lo,
            hi: hi.min(to.top),
        })
    }

    /// One sample with a [level](blue::levels) of the mask: the reference.
    #[inline(always)]
    pub fn one(&self, v: u16, level: u16) -> u16 {
        let v = if self.full {
            // Near black, chroma has no space for the whole offset.
            let v = v.saturating_add(v.min(self.offset));
            v - (v >> 8)
        } else {
            v
        };
        let code = v.saturating_add(level) >> self.shift;
        let plain = v.saturating_add(1 << (self.shift - 1)) >> self.shift;
        code.max(plain.min(self.lo)).min(plain.max(self.hi))
    }
}

/// The samples of a tile of the mask.
type Tile<T> = [T; blue::SIDE];

#[inline(always)]
fn uniform_body<D: CodeSample>(out: &mut [Tile<D>], row: &[Tile<u16>], places: &[usize], by: &UniformReduce) {
    let (by, levels) = (*by, blue::levels(by.shift));
    for ((out, row), &at) in out.iter_mut().zip(row).zip(places) {
        let levels = levels[at..][..blue::SIDE].iter();
        out.iter_mut().zip(row).zip(levels).for_each(|((o, &v), &level)| *o = D::from_code(by.one(v, level)));
    }
}

multiversion! {
    fn reduce_rows<D: CodeSample>(level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) = reduce_body;
    fn high_pass_rows(level, out: &mut [i16], above: &[u16], own: &[u16], odd: bool) = high_pass_body;
    fn uniform_tiles<D: CodeSample>(
        level, out: &mut [Tile<D>], row: &[Tile<u16>], places: &[usize], by: &UniformReduce,
    ) = uniform_body;
}

/// Rounds a row with the given noise, in 1/32768 of a shallow code. Panics if the rows differ in length.
pub fn reduce_row<D: CodeSample>(level: Level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) {
    assert!(out.len() == row.len() && row.len() == noise.len());
    reduce_rows(level, out, row, noise, by);
}

/// Rounds a row with uniform noise; each tile of [`blue::SIDE`] samples uses the noise of its
/// [`blue::place`]. Panics if the lengths differ.
pub fn uniform_row<D: CodeSample>(
    level: Level,
    out: &mut [D],
    row: &[u16],
    places: &[usize],
    by: &UniformReduce,
) {
    assert!(out.len() == row.len() && places.len() == row.len().div_ceil(blue::SIDE));
    let ((tiles, out), (row, rest)) = (out.as_chunks_mut(), row.as_chunks());
    uniform_tiles(level, tiles, row, places, by);
    if !rest.is_empty() {
        let (mut last, mut samples) = ([D::from_code(0); blue::SIDE], [0; blue::SIDE]);
        samples[..rest.len()].copy_from_slice(rest);
        uniform_tiles(level, core::slice::from_mut(&mut last), &[samples], &places[tiles.len()..], by);
        out.copy_from_slice(&last[..out.len()]);
    }
}

/// Fills a row with uniform noise of less than half a code, in 1/32768; each tile of [`blue::SIDE`] samples uses the
/// noise of its [`blue::place`].
pub fn uniform_noise(out: &mut [i16], places: &[usize], by: &Reduce) {
    let part = by.uniform_part();
    for (out, &at) in out.chunks_mut(blue::SIDE).zip(places) {
        let ranks = &blue::doubled_ranks()[at..][..out.len()];
        out.iter_mut().zip(ranks).for_each(|(o, &rank)| *o = blue::uniform(rank, part));
    }
}

/// The difference of each word and the one before it in its row (where the column is as `odd` as the row) or the one
/// above, both in 1/32768 from 0 to 1. `rows` are the words above and its own, each one longer than `out`, one word
/// before.
pub fn high_pass(level: Level, out: &mut [i16], [above, own]: [&[u16]; 2], odd: bool) {
    assert!(above.len() == out.len() + 1 && own.len() == out.len() + 1);
    high_pass_rows(level, out, above, own, odd);
}
