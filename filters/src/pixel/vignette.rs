//! Darkening that increases with the distance from a point.
//!
//! The square of a distance is the sum of a term of the column and one of the row, so a row needs its columns' terms
//! ([`term`]), one number and no root:
//!
//! ```text
//! t = clamp(column + row, 0, 65535)          0 where it begins, 65535 where it is full
//! u = mulhi(t, t)   s = u + 2 mulhi(u, 65535 - t)    the smooth step 3t^2 - 2t^3, mulhi(a, b) = floor(a b / 65536)
//! loss = mulhi(s, amount)                    in 1/65536
//! x' = x - (x - zero) * loss                 rounded, halves towards zero's side
//! ```
//!
//! with `zero` the code of black, or of no colour. The loss is within 6/65536 of the exact one.

mod arch;

use crate::math::smooth;
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, multiversion};

/// The terms of columns and rows, with the precision of f64.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Axis {
    /// The position of the centre, in luma samples from the picture's edge.
    pub centre: f64,
    /// Samples per distance of 1.
    pub radius: f64,
}

impl Axis {
    /// The square of the distance of a position.
    pub fn square(self, at: f64) -> f64 {
        let d = (at - self.centre) / self.radius;
        d * d
    }
}

/// Larger than any term that matters.
const MAX_TERM: f64 = (1u32 << 29) as f64;

/// A term for the kernels: in 1/65536 of the way from the start of darkening to its full effect.
pub fn term(square: f64, scale: f64) -> i32 {
    libm::floor((square * scale * 65536.0).clamp(-MAX_TERM, MAX_TERM) + 0.5) as i32
}

/// The part of a difference from `zero` that is lost, in 1/65536.
#[inline(always)]
pub fn loss(column: i32, row: i32, amount: u16) -> u16 {
    loss_at((column + row).clamp(0, 65535) as u16, amount)
}

#[inline(always)]
fn loss_at(t: u16, amount: u16) -> u16 {
    let mulhi = |a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16;
    let u = mulhi(t, t);
    let s = u.wrapping_add(mulhi(u, 65535 - t).wrapping_mul(2));
    mulhi(s, amount)
}

/// `mulhi` rounded, halves up.
#[inline(always)]
fn part(d: u16, loss: u16) -> u16 {
    // The halves of the product are computed separately, as in lanes of 16 bits.
    let high = ((u32::from(d) * u32::from(loss)) >> 16) as u16;
    high.wrapping_add(d.wrapping_mul(loss) >> 15)
}

#[inline(always)]
fn shade(x: u16, zero: u16, loss: u16) -> u16 {
    if x > zero { x - part(x - zero, loss) } else { x + part(zero - x, loss) }
}

/// The terms of a row's columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Columns {
    terms: Vec<i32>,
    /// The same in 16 bits, if all fit.
    narrow: Option<Vec<u16>>,
    /// The maximum of every block of [`SKIP`], which is at one of its ends.
    highest: Vec<i32>,
    /// The block with the minimum.
    middle: usize,
}

/// The number of columns that are skipped together around the centre, where nothing is darkened: a whole
/// number of registers.
const SKIP: usize = 64;

impl Columns {
    /// For terms of at least 0 that fall to the centre and rise after it.
    pub fn new(terms: Vec<i32>) -> Columns {
        let narrow = terms.iter().map(|&t| u16::try_from(t).ok()).collect();
        let highest: Vec<i32> = terms.chunks(SKIP).map(|b| b[0].max(b[b.len() - 1])).collect();
        let middle = (0..highest.len()).min_by_key(|&i| highest[i]).unwrap_or(0);
        Columns { terms, narrow, highest, middle }
    }

    /// The size in bytes for so many columns.
    pub const fn bytes(count: usize) -> usize {
        count * (size_of::<i32>() + size_of::<u16>()) + (count / SKIP + 1) * size_of::<i32>()
    }
}

/// The part that is the same for all columns of a row: their terms rise by `up` and fall by `down`, one of
/// which is 0.
#[derive(Clone, Copy, Debug)]
struct Shade {
    up: u16,
    down: u16,
    amount: u16,
    zero: u16,
}

/// The number of columns that a row is processed in at a time if their terms need more than 16 bits.
const BLOCK: usize = 512;

/// Calls `each` with parts of the row, the terms of their columns, and the numbers by which these rise and fall; not
/// for the part around the centre where nothing is darkened.
fn by_parts<T>(
    level: Level,
    samples: &mut [T],
    columns: &Columns,
    row: i32,
    mut each: impl FnMut(&mut [T], &[u16], (u16, u16)),
) {
    let n = samples.len().min(columns.terms.len());
    let (left, right) = columns.highest.split_at(columns.middle);
    let begin = left.partition_point(|t| t + row > 0);
    let end = left.len() + right.partition_point(|t| t + row <= 0);
    let (begin, end) = ((begin * SKIP).min(n), (end * SKIP).min(n));
    for part in if begin == end { [0..n, n..n] } else { [0..begin, end..n] } {
        if let Some(terms) = &columns.narrow {
            let moved = [row, row.saturating_neg()].map(|r| r.clamp(0, 65535) as u16);
            each(&mut samples[part.clone()], &terms[part], (moved[0], moved[1]));
            continue;
        }
        let mut sums = [0u16; BLOCK];
        let blocks = samples[part.clone()].chunks_mut(BLOCK).zip(columns.terms[part].chunks(BLOCK));
        for (samples, terms) in blocks {
            let sums = &mut sums[..terms.len()];
            add_row(level, sums, terms, row);
            each(samples, sums, (0, 0));
        }
    }
}

#[inline(always)]
fn add_body(sums: &mut [u16], terms: &[i32], row: i32) {
    sums.iter_mut().zip(terms).for_each(|(s, t)| *s = (t + row).clamp(0, 65535) as u16);
}

#[inline(always)]
fn rest_body<T: CodeSample>(samples: &mut [T], terms: &[u16], by: Shade) {
    for (x, t) in samples.iter_mut().zip(terms) {
        let t = t.saturating_add(by.up).saturating_sub(by.down);
        *x = T::from_code(shade(x.code(), by.zero, loss_at(t, by.amount)));
    }
}

/// Darkens a row of 8-bit samples.
pub fn shade_u8(level: Level, samples: &mut [u8], columns: &Columns, row: i32, amount: u16, zero: u8) {
    by_parts(level, samples, columns, row, |samples, terms, (up, down)| {
        rest(level, samples, terms, Shade { up, down, amount, zero: zero.into() });
    });
}

/// Darkens a row of samples of 9 to 16 bits.
pub fn shade_u16(level: Level, samples: &mut [u16], columns: &Columns, row: i32, amount: u16, zero: u16) {
    by_parts(level, samples, columns, row, |samples, terms, (up, down)| {
        let by = Shade { up, down, amount, zero };
        let done = arch::shade_u16(level, samples, terms, by);
        rest(level, &mut samples[done..], &terms[done..], by);
    });
}

/// Darkens a row of float samples, in f32; `amount` is 0 to 1.
pub fn shade_f32(level: Level, samples: &mut [f32], columns: &Columns, row: i32, amount: f32) {
    float_row(level, samples, &columns.terms, row, amount);
}

#[inline(always)]
fn f32_body(samples: &mut [f32], columns: &[i32], row: i32, amount: f32) {
    for (x, &c) in samples.iter_mut().zip(columns) {
        let t = (c + row).clamp(0, 65536) as f32 * (1.0 / 65536.0);
        let s = smooth(t);
        let dark = *x * (1.0 - s * amount);
        *x = if x.is_finite() { dark } else { *x };
    }
}

multiversion! {
    fn add_row(level, sums: &mut [u16], terms: &[i32], row: i32) = add_body;
    fn rest<T: CodeSample>(level, samples: &mut [T], terms: &[u16], by: Shade) = rest_body;
    fn float_row(level, samples: &mut [f32], columns: &[i32], row: i32, amount: f32) = f32_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    #[test]
    fn every_level_is_the_definition() {
        for steep in [2, 40] {
            let columns: Vec<i32> = (0..301).map(|i: i32| (i - 150) * (i - 150) * steep).collect();
            let all = Columns::new(columns.clone());
            assert_eq!(all.narrow.is_some(), steep == 2);
            for amount in [0u16, 1, 20000, 65535] {
                for row in [-900_000, -40_000, -300, 0, 30_000, 1 << 29] {
                    for zero in [0u16, 16, 128, 4096, 32768] {
                        let source: Vec<u16> = (0..301u32).map(|i| (i * 40503 + 7) as u16).collect();
                        let want: Vec<u16> = source
                            .iter()
                            .zip(&columns)
                            .map(|(&x, &c)| {
                                let part = f64::from(loss(c, row, amount)) / 65536.0;
                                let d = f64::from(x) - f64::from(zero);
                                let e = libm::floor(d.abs() * part + 0.5);
                                (f64::from(x) - if d > 0.0 { e } else { -e }) as u16
                            })
                            .collect();
                        for &level in Level::available() {
                            let mut got = source.clone();
                            shade_u16(level, &mut got, &all, row, amount, zero);
                            assert_eq!(got, want, "{level} {amount} {row} {zero}");
                            let bytes: Vec<u8> = source.iter().map(|&x| x as u8).collect();
                            let mut got = bytes.clone();
                            shade_u8(level, &mut got, &all, row, amount, zero as u8);
                            for (i, (&x, &c)) in bytes.iter().zip(&columns).enumerate() {
                                let want = shade(x.into(), (zero as u8).into(), loss(c, row, amount));
                                assert_eq!(u16::from(got[i]), want, "{level} {i}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_loss_is_the_smooth_step() {
        for amount in [65535u16, 30000, 7] {
            for t in 0..=65535 {
                let x = f64::from(t) / 65536.0;
                let exact = x * x * (3.0 - 2.0 * x) * f64::from(amount);
                let off = exact - f64::from(loss(t, 0, amount));
                assert!((-0.5..6.0).contains(&off), "{t} {amount} {off}");
            }
        }
    }
}
