//! Conversion of one plane to one plane: depth and range, exactly rounded.

use super::Code;
use crate::frame::Sample;
use crate::simd::{Level, multiversion};

/// An integer sample.
pub trait CodeSample: Sample + Ord {
    /// Its code.
    fn code(self) -> u16;
    /// The sample of a code, which fits.
    fn from_code(code: u16) -> Self;
}

impl CodeSample for u8 {
    #[inline(always)]
    fn code(self) -> u16 {
        self.into()
    }
    #[inline(always)]
    fn from_code(code: u16) -> u8 {
        code as u8
    }
}

impl CodeSample for u16 {
    #[inline(always)]
    fn code(self) -> u16 {
        self
    }
    #[inline(always)]
    fn from_code(code: u16) -> u16 {
        code
    }
}

/// `round((v - zero) * span' / span + zero')`, halves up, clamped: exact for every pair of [`Code`]s.
///
/// Codes above the depth's highest, which a `u16` can hold, count as the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    from: Code,
    to: Code,
    method: Method,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    Copy,
    /// More bits, limited range.
    Left(u32),
    /// Fewer bits, limited range.
    Right(u32),
    /// `v * k`: full range, if the highest codes are divisible (8 to 16 bits: 257).
    Times(u16),
    /// 16 to 8 bits, full range.
    By257,
    /// `(v * m + b) >> SHIFT`, less `BIAS`.
    Wide {
        m: u64,
        b: u64,
    },
}

/// Fraction bits of the general form: results that differ are at least 2^-18 apart.
const SHIFT: u32 = 40;
/// Keeps the general form positive: codes are smaller than this.
const BIAS: u64 = 1 << 17;

impl Scale {
    /// From integer codes to integer codes. Panics if either is float.
    pub fn new(from: Code, to: Code) -> Scale {
        assert!(!from.is_float() && !to.is_float(), "Scale is for integer codes");
        let shift_up = |a: Code, b: Code| {
            let n = (u32::from(b.top) + 1).checked_div(u32::from(a.top) + 1)?.checked_ilog2()?;
            (a.zero << n == b.zero && a.span << n == b.span).then_some(n)
        };
        let method = if from == to {
            Method::Copy
        } else if let Some(n) = shift_up(from, to) {
            Method::Left(n)
        } else if let Some(n) = shift_up(to, from) {
            Method::Right(n)
        } else if from.zero == 0 && to.zero == 0 && to.span % from.span == 0 && to.span == i32::from(to.top) {
            Method::Times((to.span / from.span) as u16)
        } else if from == Code::luma(16, true) && to == Code::luma(8, true) {
            Method::By257
        } else {
            // out + 1/2 + half a step of the exact quotient's denominator, so that the error of m does not cross
            // a code
            let (si, so) = (i128::from(from.span), i128::from(to.span));
            let m = ((so << SHIFT) + si / 2) / si;
            let num = 2 * i128::from(to.zero) * si - 2 * i128::from(from.zero) * so + si;
            let b = ((2 * num + 1) << SHIFT).div_euclid(4 * si) + (i128::from(BIAS) << SHIFT);
            Method::Wide { m: m as u64, b: b as u64 }
        };
        Scale { from, to, method }
    }

    /// The reference, for one code.
    pub fn one(&self, code: u16) -> u16 {
        if self.method == Method::Copy {
            return code;
        }
        let v = i64::from(code.min(self.from.top));
        let (zi, si) = (i64::from(self.from.zero), i64::from(self.from.span));
        let (zo, so) = (i64::from(self.to.zero), i64::from(self.to.span));
        let exact = (2 * (v - zi) * so + (2 * zo + 1) * si).div_euclid(2 * si);
        exact.clamp(0, self.to.top.into()) as u16
    }

    /// [`one`](Scale::one) for every sample of a row. Panics if the rows differ in length.
    pub fn row<S: CodeSample, D: CodeSample>(&self, level: Level, out: &mut [D], row: &[S]) {
        assert_eq!(out.len(), row.len());
        rows(level, self, out, row);
    }
}

#[inline(always)]
fn body<S: CodeSample, D: CodeSample>(scale: &Scale, out: &mut [D], row: &[S]) {
    let top_in = scale.from.top;
    let top = scale.to.top;
    let each = out.iter_mut().zip(row);
    match scale.method {
        Method::Copy => each.for_each(|(o, &v)| *o = D::from_code(v.code())),
        Method::Left(n) => each.for_each(|(o, &v)| *o = D::from_code(v.code().min(top_in) << n)),
        Method::Right(n) => {
            // saturation gives the highest code, as the clamp would
            let half = (1u16 << n) >> 1;
            each.for_each(|(o, &v)| *o = D::from_code((v.code().saturating_add(half) >> n).min(top)));
        }
        Method::Times(k) => each.for_each(|(o, &v)| *o = D::from_code(v.code().min(top_in) * k)),
        Method::By257 => {
            each.for_each(|(o, &v)| *o = D::from_code(((u32::from(v.code()) * 255 + 32895) >> 16) as u16));
        }
        Method::Wide { m, b } => each.for_each(|(o, &v)| {
            let x = u64::from(v.code().min(top_in)) * m + b;
            let code = (x >> SHIFT) as i32 - BIAS as i32;
            *o = D::from_code(code.clamp(0, top.into()) as u16);
        }),
    }
}

multiversion! {
    fn rows<S: CodeSample, D: CodeSample>(level, scale: &Scale, out: &mut [D], row: &[S]) = body;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> Vec<Code> {
        let mut all = Vec::new();
        for bits in 8..=16 {
            for full in [false, true] {
                all.extend([
                    Code::luma(bits, full),
                    Code::chroma(bits, full),
                    Code::chroma_ycgco(bits, full),
                ]);
            }
        }
        all
    }

    #[test]
    fn every_code_of_every_pair_is_exact_at_every_level() {
        for from in codes() {
            for to in codes() {
                let scale = Scale::new(from, to);
                // including codes beyond the highest; a copy does not change them
                let last = if scale.method == Method::Copy { from.top } else { from.top.saturating_add(300) };
                let row: Vec<u16> = (0..=last).collect();
                let want: Vec<u16> = row.iter().map(|&v| scale.one(v)).collect();
                for &level in Level::available() {
                    let mut out = vec![0u16; row.len()];
                    scale.row(level, &mut out, &row);
                    assert_eq!(out, want, "{from:?} {to:?} {level}");
                }
            }
        }
    }

    #[test]
    fn sample_types_tails_and_offsets_agree() {
        let row8: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        let row16: Vec<u16> = (0..600u32).map(|i| (i * 48271 % 65536) as u16).collect();
        for (from, to) in [
            (Code::luma(8, true), Code::luma(16, true)),
            (Code::luma(8, false), Code::luma(10, false)),
            (Code::luma(8, false), Code::luma(8, true)),
            (Code::chroma(8, true), Code::chroma(8, false)),
        ] {
            for &level in Level::available() {
                for (start, len) in [(0, 0), (1, 1), (3, 17), (1, 31), (5, 64), (7, 129), (2, 500)] {
                    let (up, down) = (Scale::new(from, to), Scale::new(to, from));
                    let src = &row8[start..start + len];
                    let mut out = vec![0u16; len + 1];
                    up.row(level, &mut out[1..], src);
                    assert!(
                        out[1..].iter().zip(src).all(|(&o, &v)| o == up.one(v.into())),
                        "{from:?} {to:?} {level}"
                    );
                    let src = &row16[start..start + len];
                    let mut out = vec![0u8; len + 1];
                    down.row(level, &mut out[1..], src);
                    assert!(
                        out[1..].iter().zip(src).all(|(&o, &v)| u16::from(o) == down.one(v)),
                        "{to:?} {from:?} {level}"
                    );
                    if to.top == 255 {
                        let mut out = vec![0u8; len];
                        up.row(level, &mut out, &row8[start..start + len]);
                        assert!(
                            out.iter().zip(&row8[start..]).all(|(&o, &v)| u16::from(o) == up.one(v.into()))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn known_codes() {
        let one = |a, b, v| Scale::new(a, b).one(v);
        let (l8, f8) = (Code::luma(8, false), Code::luma(8, true));
        assert_eq!([16, 126, 235].map(|v| one(l8, f8, v)), [0, 128, 255]);
        assert_eq!([0, 128, 255].map(|v| one(f8, l8, v)), [16, 126, 235]);
        assert_eq!([0, 2, 1023].map(|v| one(Code::luma(10, false), l8, v)), [0, 1, 255]);
        let (c8, c16) = (Code::chroma(8, true), Code::chroma(16, true));
        assert_eq!([0, 127, 128, 129, 255].map(|v| one(c8, c16, v)), [0, 32511, 32768, 33025, 65407]);
        assert_eq!([0, 255].map(|v| one(c8, Code::chroma(8, false), v)), [16, 240]);
    }

    #[test]
    fn more_bits_and_back_is_where_it_began() {
        for full in [false, true] {
            for make in [Code::luma, Code::chroma, Code::chroma_ycgco] {
                for a in 8..=16u8 {
                    for b in a..=16 {
                        let (up, down) = (
                            Scale::new(make(a, full), make(b, full)),
                            Scale::new(make(b, full), make(a, full)),
                        );
                        for v in 0..=make(a, full).top {
                            assert_eq!(down.one(up.one(v)), v, "{a} {b} {full}");
                        }
                    }
                }
            }
        }
    }
}
