//! The linear form that makes an output sample from up to three resampled input samples with one rounding.

use super::{Code, CodeSample, Num};
use crate::frame::Sample;
use crate::simd::{Level, multiversion};

/// One input of the form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Term {
    /// Output codes per unit of the input, nominal to nominal, including the input's `2^bits` and the spans of both
    /// codes. Never 0.
    pub coef: f64,
    /// The input value of nominal 0: `zero << bits`.
    pub zero: i32,
    /// The highest input value: `top << bits`.
    pub top: i32,
}

impl Term {
    /// `nominal` times a plane of `from` codes summed with weights of `2^bits` in all, in codes of `to`.
    pub fn new(nominal: f64, from: Code, bits: u32, to: Code) -> Term {
        let unit = f64::from(1u32 << bits);
        Term {
            coef: nominal * f64::from(to.span) / f64::from(from.span) / unit,
            zero: from.zero << bits,
            top: i32::from(from.top) << bits,
        }
    }
}

/// A form that makes samples of rows of `A`.
pub trait Mix<A: Num>: Sample {
    /// The form, bound.
    type Form: Send + Sync;
    /// Binds the forms of a pixel's planes, each of up to three terms, together: equal terms get equal coefficients
    /// and rounding, so that grey stays grey.
    fn forms(planes: &[(&[Term], Code)]) -> Vec<Self::Form>;
    /// Makes a row from as many input rows as there are terms, in their order. Panics if their lengths
    /// differ.
    fn mix(level: Level, form: &Self::Form, out: &mut [Self], rows: &[&[A]]);
}

/// In integers: `(sum(coef * in) + bias) >> shift`, clamped.
///
/// Sums have 32 bits if enough fraction bits remain for an error of at most 1/32 of a code before rounding, otherwise
/// 64 bits with a much smaller error. The error is known when the form is bound and is added to the rounding
/// constant, so that values exactly between two codes are rounded up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fixed {
    coef: [i32; 3],
    terms: usize,
    bias: i64,
    shift: u32,
    wide: bool,
    to: Code,
}

/// Keeps 64-bit sums positive, in codes: the result of a form is within a few times 2^16.
const LIFT: i64 = 1 << 20;

impl Fixed {
    /// Binds the forms of a pixel's planes, of up to three terms each, with the same fraction bits and rounding.
    pub fn bind(planes: &[(&[Term], Code)]) -> Vec<Fixed> {
        assert!(planes.iter().all(|p| p.0.len() <= 3), "a pixel has three colours");
        let all = |shift, wide| -> Option<Vec<(Fixed, f64)>> {
            planes.iter().map(|&(terms, to)| Fixed::with(terms, to, shift, wide)).collect()
        };
        let narrow = (1..=29).rev().find_map(|shift| all(shift, false));
        let Some(found) = narrow.or_else(|| (1..=40).rev().find_map(|shift| all(shift, true))) else {
            unreachable!("coefficients are below 2^10: 8 bits to 16 bits times 2.2 at most")
        };
        // so that rounding half up does so despite the error
        let guard = found.iter().map(|f| f.1).fold(0.0, f64::max).ceil() as i64;
        found.into_iter().map(|(form, _)| Fixed { bias: form.bias + guard, ..form }).collect()
    }

    /// The form with this many fraction bits, and its largest error; `None` if it overflows or is too coarse.
    fn with(terms: &[Term], to: Code, shift: u32, wide: bool) -> Option<(Fixed, f64)> {
        let one = (1i64 << shift) as f64;
        let mut coef = [0i32; 3];
        let mut bias = (i64::from(to.zero) << shift) + (1 << (shift - 1));
        let (mut reach, mut error) = (0, 0.0);
        for (c, t) in coef.iter_mut().zip(terms) {
            let fixed = (t.coef * one + 0.5).floor();
            if fixed.abs() > f64::from(i32::MAX) {
                return None;
            }
            *c = fixed as i32;
            bias -= i64::from(*c) * i64::from(t.zero);
            reach += i64::from(c.abs()) * i64::from(t.top);
            error += (fixed - t.coef * one).abs() * f64::from(t.zero.max(t.top - t.zero));
        }
        // the guard that is added is an error, too, of this plane or another: at most 1/32 of a code
        if !wide && (reach + bias.abs() + (1 << shift >> 5) >= i32::MAX.into() || error * 32.0 > one) {
            return None;
        }
        Some((Fixed { coef, terms: terms.len(), bias, shift, wide, to }, error))
    }

    /// The reference, for one sample.
    pub fn one(&self, x: &[i32]) -> u16 {
        let sum: i64 = self.coef.iter().zip(x).map(|(&c, &x)| i64::from(c) * i64::from(x)).sum();
        ((sum + self.bias) >> self.shift).clamp(0, self.to.top.into()) as u16
    }
}

#[inline(always)]
fn fixed_body<D: CodeSample>(form: &Fixed, out: &mut [D], a: &[i32], b: &[i32], c: &[i32]) {
    let n = out.len();
    let (shift, top) = (form.shift, i32::from(form.to.top));
    let put = |v: i32| D::from_code(v.clamp(0, top) as u16);
    if !form.wide {
        let ([p, q, r], bias) = (form.coef, form.bias as i32);
        match form.terms {
            1 => out.iter_mut().zip(a).for_each(|(o, &a)| *o = put((a * p + bias) >> shift)),
            2 => {
                let (a, b) = (&a[..n], &b[..n]);
                for i in 0..n {
                    out[i] = put((a[i] * p + b[i] * q + bias) >> shift);
                }
            }
            _ => {
                let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
                for i in 0..n {
                    out[i] = put((a[i] * p + b[i] * q + c[i] * r + bias) >> shift);
                }
            }
        }
        return;
    }
    let [p, q, r] = form.coef.map(i64::from);
    let bias = form.bias + (LIFT << shift);
    // sums are positive, so that a logical shift is sufficient; AVX2 has no arithmetic shift of 64 bits
    let put = |v: i64| put((v as u64 >> shift) as i32 - LIFT as i32);
    match form.terms {
        1 => out.iter_mut().zip(a).for_each(|(o, &a)| *o = put(i64::from(a) * p + bias)),
        2 => {
            let (a, b) = (&a[..n], &b[..n]);
            for i in 0..n {
                out[i] = put(i64::from(a[i]) * p + i64::from(b[i]) * q + bias);
            }
        }
        _ => {
            let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
            for i in 0..n {
                out[i] = put(i64::from(a[i]) * p + i64::from(b[i]) * q + i64::from(c[i]) * r + bias);
            }
        }
    }
}

/// In f32: `sum(coef * (in - zero)) + zero'`, in the order of the terms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Real {
    coef: [f32; 3],
    zero: [f32; 3],
    terms: usize,
    plus: f32,
    top: f32,
}

impl Real {
    /// Binds the forms of a pixel's planes, of up to three terms each.
    pub fn bind(planes: &[(&[Term], Code)]) -> Vec<Real> {
        planes.iter().map(|&(terms, to)| Real::one(terms, to)).collect()
    }

    fn one(terms: &[Term], to: Code) -> Real {
        assert!(terms.len() <= 3, "a pixel has three colours");
        let mut form = Real {
            coef: [0.0; 3],
            zero: [0.0; 3],
            terms: terms.len(),
            plus: to.zero as f32,
            top: to.top.into(),
        };
        for (i, t) in terms.iter().enumerate() {
            form.coef[i] = t.coef as f32;
            form.zero[i] = t.zero as f32;
        }
        form
    }

    #[inline(always)]
    fn sum<const T: usize>(&self, x: [f32; T]) -> f32 {
        let mut sum = (x[0] - self.zero[0]) * self.coef[0];
        for ((x, zero), coef) in x.iter().zip(self.zero).zip(self.coef).skip(1) {
            sum += (x - zero) * coef;
        }
        sum + self.plus
    }
}

/// The conversion of a float result to a sample.
pub trait FromReal: Sample {
    /// The result for a form's sum.
    fn from_real(v: f32, form: &Real) -> Self;
}

impl FromReal for f32 {
    /// The NaN of a sum depends on how it was compiled, so all NaN become the same.
    #[inline(always)]
    fn from_real(v: f32, _: &Real) -> f32 {
        if v.is_nan() { f32::NAN } else { v }
    }
}

macro_rules! from_real_code {
    ($($t:ty)+) => {$(
        impl FromReal for $t {
            /// NaN becomes nominal 0; other values are rounded, halves up, and clamped to the codes.
            #[inline(always)]
            fn from_real(v: f32, form: &Real) -> $t {
                let v = if v.is_nan() { form.plus } else { v };
                (v.max(0.0).min(form.top) + 0.5) as i32 as $t
            }
        }
    )+};
}
from_real_code! { u8 u16 }

#[inline(always)]
fn real_body<D: FromReal>(form: &Real, out: &mut [D], a: &[f32], b: &[f32], c: &[f32]) {
    let n = out.len();
    match form.terms {
        1 => out.iter_mut().zip(a).for_each(|(o, &a)| *o = D::from_real(form.sum([a]), form)),
        2 => {
            let (a, b) = (&a[..n], &b[..n]);
            for i in 0..n {
                out[i] = D::from_real(form.sum([a[i], b[i]]), form);
            }
        }
        _ => {
            let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
            for i in 0..n {
                out[i] = D::from_real(form.sum([a[i], b[i], c[i]]), form);
            }
        }
    }
}

multiversion! {
    fn fixed<D: CodeSample>(level, form: &Fixed, out: &mut [D], a: &[i32], b: &[i32], c: &[i32]) = fixed_body;
    fn real<D: FromReal>(level, form: &Real, out: &mut [D], a: &[f32], b: &[f32], c: &[f32]) = real_body;
}

/// The rows of up to three terms, limited to the length of the output; empty beyond the terms.
fn inputs<'a, A>(terms: usize, len: usize, rows: &[&'a [A]]) -> [&'a [A]; 3] {
    assert!(terms == rows.len() && rows.iter().all(|r| r.len() == len));
    [0, 1, 2].map(|i| rows.get(i).copied().unwrap_or_default())
}

impl<D: CodeSample> Mix<i32> for D {
    type Form = Fixed;
    fn forms(planes: &[(&[Term], Code)]) -> Vec<Fixed> {
        Fixed::bind(planes)
    }
    fn mix(level: Level, form: &Fixed, out: &mut [D], rows: &[&[i32]]) {
        let [a, b, c] = inputs(form.terms, out.len(), rows);
        if form.terms > 0 {
            fixed(level, form, out, a, b, c);
        }
    }
}

impl<D: FromReal> Mix<f32> for D {
    type Form = Real;
    fn forms(planes: &[(&[Term], Code)]) -> Vec<Real> {
        Real::bind(planes)
    }
    fn mix(level: Level, form: &Real, out: &mut [D], rows: &[&[f32]]) {
        let [a, b, c] = inputs(form.terms, out.len(), rows);
        if form.terms > 0 {
            real(level, form, out, a, b, c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32, n: usize, top: i32) -> Vec<i32> {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            ((i64::from(x) * (i64::from(top) + 1)) >> 32) as i32
        };
        (0..n).map(|_| next()).collect()
    }

    /// Terms like those of every conversion: coefficients to 2.2, chroma with up to 11 bits of weights.
    fn forms() -> Vec<(Vec<Term>, Code)> {
        let mut all = Vec::new();
        for from in [8, 10, 12, 16] {
            for to in [8, 9, 14, 16] {
                for bits in [0, 3, 4, 11] {
                    for n in 1..=3 {
                        let (y, c) = (Code::luma(from, false), Code::chroma(from, true));
                        let to = Code::luma(to, true);
                        let terms = [
                            Term::new(1.0, y, 0, to),
                            Term::new(-0.187_324, c, bits, to),
                            Term::new(2.1, c, bits, to),
                        ];
                        all.push((terms[..n].to_vec(), to));
                    }
                }
            }
        }
        all
    }

    #[test]
    fn within_a_sixteenth_of_the_exact_value_and_equal_at_every_level() {
        for (terms, to) in forms() {
            let form = Fixed::bind(&[(&terms, to)])[0];
            let rows: Vec<Vec<i32>> = (1..).zip(&terms).map(|(i, t)| noise(i, 300, t.top)).collect();
            for start in [0, 1, 5] {
                for len in [0, 1, 7, 32, 33, 295] {
                    let refs: Vec<&[i32]> = rows.iter().map(|r| &r[start..start + len]).collect();
                    let want: Vec<u16> =
                        (0..len).map(|i| form.one(&refs.iter().map(|r| r[i]).collect::<Vec<_>>())).collect();
                    for (i, &got) in want.iter().enumerate() {
                        let exact: f64 = terms
                            .iter()
                            .zip(&refs)
                            .map(|(t, r)| t.coef * f64::from(r[i] - t.zero))
                            .sum::<f64>()
                            + f64::from(to.zero);
                        let exact = exact.clamp(0.0, to.top.into());
                        assert!(
                            (f64::from(got) - exact).abs() <= 0.5 + 1.0 / 16.0,
                            "{terms:?} {got} {exact}"
                        );
                    }
                    for &level in Level::available() {
                        let mut out = vec![0u16; len];
                        u16::mix(level, &form, &mut out, &refs);
                        assert_eq!(out, want, "{level}");
                        if to.top == 255 {
                            let mut out = vec![0u8; len];
                            u8::mix(level, &form, &mut out, &refs);
                            assert!(out.iter().zip(&want).all(|(&a, &b)| u16::from(a) == b), "{level}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn eight_and_ten_bits_are_narrow_sixteen_are_wide() {
        let wide = |from, to| {
            let (y, c, to) = (Code::luma(from, false), Code::chroma(from, false), Code::luma(to, true));
            Fixed::bind(&[(&[Term::new(1.0, y, 0, to), Term::new(1.5748, c, 3, to)], to)])[0].wide
        };
        assert_eq!([wide(8, 8), wide(10, 10), wide(16, 16)], [false, false, true]);
    }

    #[test]
    fn halves_go_up() {
        let (from, to) = (Code::luma(16, true), Code::luma(8, true));
        let form = Fixed::bind(&[(&[Term::new(1.0, from, 0, to)], to)])[0];
        // 8-bit codes have no 16-bit code midway between them, as 257 is odd; with a weight of 2 there are
        // some
        assert_eq!([120, 137].map(|v| form.one(&[v])), [0, 1]);
        let form = Fixed::bind(&[(&[Term::new(1.0, from, 1, to)], to)])[0];
        assert_eq!([240, 257, 274].map(|v| form.one(&[v])), [0, 1, 1]);
    }

    #[test]
    fn floats_carry_on_and_land_the_same_everywhere() {
        let values =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.3, 0.0, 0.25, 0.5, 1.0, 1.7, 1e30, -f32::NAN];
        let row: Vec<f32> = values.iter().copied().cycle().take(75).collect();
        let other: Vec<f32> = row.iter().rev().copied().collect();
        let to = Code::luma(8, false);
        let (code, float) = (
            Real::one(&[Term::new(1.0, Code::FLOAT, 0, to)], to),
            Real::one(
                &[Term::new(0.7, Code::FLOAT, 0, Code::FLOAT), Term::new(0.3, Code::FLOAT, 0, Code::FLOAT)],
                Code::FLOAT,
            ),
        );
        for &level in Level::available() {
            let mut out = vec![0u8; 75];
            u8::mix(level, &code, &mut out, &[&row]);
            assert_eq!(out[..11], [16, 255, 0, 0, 16, 71, 126, 235, 255, 255, 16], "{level}");
            let mut out = vec![0f32; 75];
            f32::mix(level, &float, &mut out, &[&row, &other]);
            for (i, o) in out.iter().enumerate() {
                let want = (row[i] * 0.7 + other[i] * 0.3) + 0.0;
                let want = if want.is_nan() { f32::NAN } else { want };
                assert_eq!(o.to_bits(), want.to_bits(), "{i} {level}");
            }
        }
    }
}
