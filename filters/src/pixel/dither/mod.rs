//! Rounding to fewer bits with dither: noise added before the rounding, so that its error is no longer a step of the
//! picture but noise of its own.
//!
//! With v a code of the deeper samples and r a random number in codes of the shallower, from -1 to 1,
//!
//! `out = floor(zero' + (v - zero) * span' / span + r + 1/2)`,
//!
//! in fixed point of 32 bits, r in 1/32768. A sample that would be rounded to a legal code stays legal. Which r:
//!
//! - **tpdf**, triangular: the sum of two uniform numbers. The error has neither a mean nor a variance that hangs on v.
//! - **high-pass tpdf**: the difference of two neighbouring uniform numbers, of the same distribution. It takes one word
//!   a pixel and has 4.4 dB less error at low frequencies, where eyes see it.
//! - **blue**: ranks of a 64x64 [mask](blue), spread to the same triangular distribution, shifted from frame to frame.

pub mod blue;
#[cfg(test)]
mod tests;

use super::convert::{Code, CodeSample};
use crate::simd::{Level, multiversion};

/// The way from deeper to shallower codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduce {
    /// Shallow codes a deep one, and what is added, in 2^-32.
    m: u32,
    b: i64,
    /// The legal codes.
    lo: i64,
    hi: i64,
    /// The highest code of all.
    top: i64,
}

const HALF: i64 = 1 << 31;

impl Reduce {
    /// From codes to fewer; `legal` are the codes that legal samples stay within. Panics when there are not fewer.
    pub fn new(from: Code, to: Code, (lo, hi): (u16, u16)) -> Reduce {
        assert!(to.span < from.span && !from.is_float() && !to.is_float(), "{from:?} to {to:?}");
        let (si, so) = (i128::from(from.span), i128::from(to.span));
        let m = ((so << 32) + si / 2) / si;
        let b = (i128::from(to.zero) << 32) - ((i128::from(from.zero) * so) << 32).div_euclid(si);
        Reduce { m: m as u32, b: b as i64, lo: lo.into(), hi: hi.into(), top: to.top.into() }
    }

    /// One sample: the definition.
    #[inline(always)]
    pub const fn one(&self, v: u16, r: i16) -> u16 {
        let x = v as i64 * self.m as i64 + self.b + HALF;
        let plain = x >> 32;
        let code = (x + ((r as i64) << 17)) >> 32;
        let lo = if plain < self.lo { plain } else { self.lo };
        let hi = if plain > self.hi { plain } else { self.hi };
        let code = if code < lo { lo } else { code };
        let code = if code > hi { hi } else { code };
        // A deep code may lie a little outside of the shallow ones.
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
fn high_pass_body(out: &mut [i16], words: &[u16]) {
    let n = out.len();
    let (first, second) = (&words[..n], &words[1..n + 1]);
    for i in 0..n {
        out[i] = (second[i] >> 1) as i16 - (first[i] >> 1) as i16;
    }
}

multiversion! {
    fn reduce_rows<D: CodeSample>(level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) = reduce_body;
    fn high_pass_rows(level, out: &mut [i16], words: &[u16]) = high_pass_body;
}

/// Rounds a row with the noise given, in 1/32768 of a shallow code. Panics when the rows differ in length.
pub fn reduce_row<D: CodeSample>(level: Level, out: &mut [D], row: &[u16], noise: &[i16], by: &Reduce) {
    assert!(out.len() == row.len() && row.len() == noise.len());
    reduce_rows(level, out, row, noise, by);
}

/// The difference of each word and the one before, both in 1/32768 from 0 to 1; `words` is one longer than `out`.
pub fn high_pass(level: Level, out: &mut [i16], words: &[u16]) {
    assert_eq!(words.len(), out.len() + 1);
    high_pass_rows(level, out, words);
}
