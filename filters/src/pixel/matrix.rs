//! One plane from three: the rows of a colour matrix.

use crate::simd::multiversion;

/// `floor(a * m[0] + b * m[1] + c * m[2] + offset + 1/2)`, within `lo..=hi`; 8-bit samples count in 2^-14, deeper ones
/// in 2^-24, so that the error is at most half a code plus 0.03 (8 bits) or 0.01 codes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatrixRow {
    m: [i32; 3],
    offset: i64,
    real: ([f32; 3], f32),
    lo: u16,
    hi: u16,
    bits: u32,
}

const NARROW: u32 = 14;
const WIDE: u32 = 24;
/// Keeps the sums of the wide body positive.
const LIFT: i64 = 1 << 20;

impl MatrixRow {
    /// The largest absolute weight; larger ones are limited.
    pub const MAX_WEIGHT: f64 = 32.0;

    /// For samples of `bits` bits (0: float, without limits): the weights of the three planes, and an offset in codes.
    pub fn new(bits: u8, m: [f64; 3], offset: f64, (lo, hi): (u16, u16)) -> MatrixRow {
        let fraction = if bits == 8 { NARROW } else { WIDE };
        let fixed = |v: f64| libm::floor(v * f64::from(1u32 << fraction) + 0.5) as i64;
        let m = m.map(|v| v.clamp(-MatrixRow::MAX_WEIGHT, MatrixRow::MAX_WEIGHT));
        let real = (m.map(|v| v as f32), offset as f32);
        MatrixRow { m: m.map(|v| fixed(v) as i32), offset: fixed(offset + 0.5), real, lo, hi, bits: fraction }
    }

    /// The only plane that counts, if there is one.
    pub fn single(&self) -> Option<usize> {
        (0..3).find(|i| (0..3).all(|j| j == *i || self.m[j] == 0))
    }

    /// One integer sample: the reference.
    pub fn of(&self, [a, b, c]: [u16; 3]) -> u16 {
        let term = |x: u16, i: usize| i64::from(x) * i64::from(self.m[i]);
        let sum = term(a, 0) + term(b, 1) + term(c, 2) + self.offset;
        (sum >> self.bits).clamp(self.lo.into(), self.hi.into()) as u16
    }
}

#[inline(always)]
fn u8_body(out: &mut [u8], [a, b, c]: [&[u8]; 3], by: &MatrixRow) {
    let n = out.len();
    let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
    let ([p, q, r], offset) = (by.m, by.offset as i32);
    let (lo, hi) = (by.lo as u8, by.hi as u8);
    for i in 0..n {
        let sum = i32::from(a[i]) * p + i32::from(b[i]) * q + i32::from(c[i]) * r;
        out[i] = (sum.wrapping_add(offset) >> NARROW).clamp(0, 255).clamp(lo.into(), hi.into()) as u8;
    }
}

#[inline(always)]
fn u16_body(out: &mut [u16], [a, b, c]: [&[u16]; 3], by: &MatrixRow) {
    let n = out.len();
    let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
    let [p, q, r] = by.m.map(i64::from);
    let offset = by.offset + (LIFT << WIDE);
    let (lo, hi) = (i32::from(by.lo), i32::from(by.hi));
    let sample = |sum: i64| {
        // There is no arithmetic shift of 64 bits below AVX-512.
        let whole = ((sum + offset) as u64 >> WIDE) as i32 - LIFT as i32;
        whole.clamp(lo, hi) as u16
    };
    if let Some(single) = by.single() {
        let (row, weight) = ([a, b, c][single], i64::from(by.m[single]));
        for i in 0..n {
            out[i] = sample(i64::from(row[i]) * weight);
        }
        return;
    }
    for i in 0..n {
        out[i] = sample(i64::from(a[i]) * p + i64::from(b[i]) * q + i64::from(c[i]) * r);
    }
}

#[inline(always)]
fn f32_body(out: &mut [f32], rows: [&[f32]; 3], by: &MatrixRow) {
    let n = out.len();
    let [a, b, c] = rows.map(|r| &r[..n]);
    let ([p, q, r], offset) = by.real;
    for i in 0..n {
        let sum = a[i] * p + b[i] * q + c[i] * r + offset;
        // Non-finite samples stay, and do not spread to the other planes.
        out[i] = if sum.is_finite() && out[i].is_finite() { sum } else { out[i] };
    }
}

multiversion! {
    /// A row of 8-bit samples.
    pub fn mix_u8(level, out: &mut [u8], rows: [&[u8]; 3], by: &MatrixRow) = u8_body;
    /// A row of samples of 9 to 16 bits.
    pub fn mix_u16(level, out: &mut [u16], rows: [&[u16]; 3], by: &MatrixRow) = u16_body;
    /// A row of float samples into `out`, whose samples stay unchanged if they or the sums are not finite.
    pub fn mix_f32(level, out: &mut [f32], rows: [&[f32]; 3], by: &MatrixRow) = f32_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    #[test]
    fn every_level_is_the_definition_and_near_the_exact_sum() {
        for (m, part) in [
            ([1.0, 0.0, 0.0], 0.0),
            ([0.3, 1.7, -0.9], 0.1),
            ([32.0, 32.0, 32.0], -1.0),
            ([-32.0, -32.0, -32.0], 2.0),
            ([0.0, -1.3, 0.0], 1.1),
            ([0.0, 0.0, 0.0], 0.5),
            ([4.5, -3.0, 0.001], 0.5),
        ] {
            for bits in [8u8, 10, 16] {
                let top = ((1u32 << bits) - 1) as u16;
                let sample = |i: u32, k: u32| {
                    ((i.wrapping_mul(k) >> 7) as u16 & top).max(if i.is_multiple_of(11) { top } else { 0 })
                };
                let rows = [40503, 9973, 65521].map(|k| (0..517).map(|i| sample(i, k)).collect::<Vec<u16>>());
                let by = MatrixRow::new(bits, m, part * f64::from(top), (3, top - 5));
                let want: Vec<u16> = (0..517).map(|i| by.of([rows[0][i], rows[1][i], rows[2][i]])).collect();
                for i in 0..517 {
                    let x = [0, 1, 2].map(|k| f64::from(rows[k][i]));
                    let exact = x[0] * m[0] + x[1] * m[1] + x[2] * m[2] + part * f64::from(top);
                    let off = (f64::from(want[i]) - exact.clamp(3.0, f64::from(top - 5))).abs();
                    assert!(off <= if bits == 8 { 0.53 } else { 0.51 }, "{bits} {m:?} {off}");
                }
                for &level in Level::available() {
                    if bits == 8 {
                        let rows = rows.clone().map(|r| r.iter().map(|&v| v as u8).collect::<Vec<u8>>());
                        let mut got = vec![0; 517];
                        mix_u8(level, &mut got[1..], [&rows[0][1..], &rows[1][1..], &rows[2][1..]], &by);
                        assert!(got[1..].iter().zip(&want[1..]).all(|(&a, &b)| u16::from(a) == b), "{level}");
                    } else {
                        let mut got = vec![0; 517];
                        mix_u16(level, &mut got[1..], [&rows[0][1..], &rows[1][1..], &rows[2][1..]], &by);
                        assert_eq!(got[1..], want[1..], "{level} {bits}");
                    }
                }
            }
        }
    }
}
