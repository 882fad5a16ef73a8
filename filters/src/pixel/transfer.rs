//! The transfer functions of H.273, between sample values and light.
//!
//! Light is that of a reference display, from 0 (black) to 1 (the brightest nominal value), for each of R, G and B:
//! video curves are shown as ITU-R BT.1886 says (a power of 2.4 with a black of 0), sRGB by IEC 61966-2-1, PQ by SMPTE
//! ST 2084 with 1 being 10,000 cd/m2. HLG is taken to the light of the scene (ITU-R BT.2100, without the gamma that a
//! display adds for all three together). The logarithmic curves begin at a hundredth or a 316th of white: light is
//! counted from there. Values below 0 mirror those above, so nothing is lost on the way there and back.
//!
//! [`TransferFunction::light`] and [`TransferFunction::code`] are the definition. Rows go through `f32`, powers being
//! made of + - * / in one order, to within two millionths of the value.

use crate::frame::{Family, Format, Matrix, Transfer};
use crate::simd::{Level, multiversion};

/// A transfer function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TransferFunction {
    /// Values are linear light.
    Linear,
    /// `v^gamma`.
    Power(f64),
    /// IEC 61966-2-1.
    Srgb,
    /// SMPTE ST 2084.
    Pq,
    /// ARIB STD-B67, scene light.
    Hlg,
    /// This number of decades from black to white.
    Log(f64),
}

/// ST 2084: its exponents, 1 - c1 (which is c3 - c2 with the opposite sign), and c3.
const M1: f64 = 2610.0 / 16384.0;
const M2: f64 = 2523.0 / 32.0;
const GAP: f64 = 1.0 - 3424.0 / 4096.0;
const C3: f64 = 2392.0 / 128.0;
/// BT.2100, HLG.
const A: f64 = 0.178_832_77;
const B: f64 = 0.284_668_92;
const C: f64 = 0.559_910_73;
/// IEC 61966-2-1: the end of its linear part, as a value and as light.
const TOE: f64 = 0.040_45;
const TOE_LIGHT: f64 = 0.003_130_8;

impl TransferFunction {
    /// The transfer of a format; without a tag, sRGB for R, G and B, and that of video otherwise.
    pub fn of(format: &Format) -> TransferFunction {
        match format.transfer {
            Transfer::LINEAR => TransferFunction::Linear,
            Transfer::GAMMA22 => TransferFunction::Power(2.2),
            Transfer::GAMMA28 => TransferFunction::Power(2.8),
            Transfer::SRGB => TransferFunction::Srgb,
            Transfer::PQ => TransferFunction::Pq,
            Transfer::HLG => TransferFunction::Hlg,
            Transfer::LOG100 => TransferFunction::Log(2.0),
            Transfer::LOG316 => TransferFunction::Log(2.5),
            Transfer::SMPTE428 => TransferFunction::Power(2.6),
            Transfer::BT709
            | Transfer::SMPTE170M
            | Transfer::SMPTE240M
            | Transfer::IEC61966_2_4
            | Transfer::BT1361E
            | Transfer::BT2020_10
            | Transfer::BT2020_12 => TransferFunction::Power(2.4),
            _ if format.family == Family::Rgb || format.matrix == Matrix::RGB => TransferFunction::Srgb,
            _ => TransferFunction::Power(2.4),
        }
    }

    /// The light of a value.
    pub fn light(self, v: f64) -> f64 {
        let x = v.abs();
        let light = match self {
            TransferFunction::Linear => return v,
            TransferFunction::Log(decades) => {
                let least = libm::pow(10.0, -decades);
                return (libm::pow(10.0, decades * (v - 1.0)) - least) / (1.0 - least);
            }
            TransferFunction::Power(gamma) => libm::pow(x, gamma),
            TransferFunction::Srgb if x <= TOE => x / 12.92,
            TransferFunction::Srgb => libm::pow((x + 0.055) / 1.055, 2.4),
            TransferFunction::Pq => {
                let gone = 1.0 - libm::pow(x, 1.0 / M2);
                let gone = gone.max(f64::from(-BEYOND));
                libm::pow((GAP - gone).max(0.0) / (GAP + C3 * gone), 1.0 / M1)
            }
            TransferFunction::Hlg if x <= 0.5 => x * x / 3.0,
            TransferFunction::Hlg => (libm::exp((x - C) / A) + B) / 12.0,
        };
        libm::copysign(light, v)
    }

    /// The value of a light.
    pub fn code(self, light: f64) -> f64 {
        let x = light.abs();
        let v = match self {
            TransferFunction::Linear => return light,
            TransferFunction::Log(decades) => {
                let least = libm::pow(10.0, -decades);
                return 1.0 + libm::log10((light * (1.0 - least) + least).max(least * 1e-3)) / decades;
            }
            TransferFunction::Power(gamma) => libm::pow(x, 1.0 / gamma),
            TransferFunction::Srgb if x <= TOE_LIGHT => 12.92 * x,
            TransferFunction::Srgb => 1.055 * libm::pow(x, 1.0 / 2.4) - 0.055,
            TransferFunction::Pq => {
                let p = libm::pow(x, M1);
                libm::pow(1.0 - GAP * (1.0 - p) / (1.0 + C3 * p), M2)
            }
            TransferFunction::Hlg if x <= 1.0 / 12.0 => (3.0 * x).sqrt(),
            TransferFunction::Hlg => A * libm::log(12.0 * x - B) + C,
        };
        libm::copysign(v, light)
    }

    /// The light of a row of values. The result for NaN is a number.
    pub fn linearize(self, level: Level, row: &mut [f32]) {
        if self != TransferFunction::Linear {
            linearize(level, self, row);
        }
    }

    /// The values of a row of light. The result for NaN is a number.
    pub fn encode(self, level: Level, row: &mut [f32]) {
        if self != TransferFunction::Linear {
            encode(level, self, row);
        }
    }
}

/// The limit of PQ above its maximum: values up to about 1.6.
const BEYOND: f32 = 0.006;
/// Smaller values count as 0.
const LEAST: f32 = 1e-30;

/// log2(1 + f) for f from -0.3 to 0.42: the series of the inverse hyperbolic tangent.
#[inline(always)]
fn log2_near(f: f32) -> f32 {
    const K: f64 = 2.0 * core::f64::consts::LOG2_E;
    let s = f / (2.0 + f);
    let z = s * s;
    let more = (K / 5.0) as f32 + z * ((K / 7.0) as f32 + z * (K / 9.0) as f32);
    s * (K as f32 + z * ((K / 3.0) as f32 + z * more))
}

/// log2 of values above [`LEAST`].
#[inline(always)]
fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    // From sqrt(1/2) to sqrt(2).
    let whole = (bits.wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let part = f32::from_bits(bits.wrapping_sub((whole as u32) << 23));
    whole as f32 + log2_near(part - 1.0)
}

/// 2^t - 1 for t from -0.5 to 0.5, to full relative precision.
#[inline(always)]
fn exp2_near(t: f32) -> f32 {
    use core::f64::consts::LN_2 as L;
    // Powers of ln 2 over factorials.
    const K: [f32; 7] = [
        L as f32,
        (L * L / 2.0) as f32,
        (L * L * L / 6.0) as f32,
        (L * L * L * L / 24.0) as f32,
        (L * L * L * L * L / 120.0) as f32,
        (L * L * L * L * L * L / 720.0) as f32,
        (L * L * L * L * L * L * L / 5040.0) as f32,
    ];
    t * (K[0] + t * (K[1] + t * (K[2] + t * (K[3] + t * (K[4] + t * (K[5] + t * K[6]))))))
}

/// 2^y, for y limited to -126..127.
#[inline(always)]
pub(crate) fn exp2(y: f32) -> f32 {
    /// Adding it rounds to whole numbers.
    const MAGIC: f32 = 12_582_912.0;
    let y = if y > -126.0 { y } else { -126.0 };
    let y = if y < 127.0 { y } else { 127.0 };
    let shifted = y + MAGIC;
    let t = y - (shifted - MAGIC);
    let whole = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23;
    (1.0 + exp2_near(t)) * f32::from_bits(whole)
}

/// x^e for x of at least 0.
#[inline(always)]
fn power(x: f32, e: f32) -> f32 {
    let raised = exp2(e * log2(if x > LEAST { x } else { LEAST }));
    if x > LEAST { raised } else { 0.0 }
}

/// Applies the function to the absolute values of a row and restores the signs.
#[inline(always)]
fn mirrored(row: &mut [f32], f: impl Fn(f32) -> f32) {
    for v in row {
        let x = v.abs();
        let to = f(if x > 0.0 { x } else { 0.0 });
        *v = if *v < 0.0 { -to } else { to };
    }
}

#[inline(always)]
fn linearize_body(curve: TransferFunction, row: &mut [f32]) {
    match curve {
        TransferFunction::Linear => {}
        TransferFunction::Power(gamma) => mirrored(row, |x| power(x, gamma as f32)),
        TransferFunction::Srgb => mirrored(row, |x| {
            let (toe, rest) = (x * (1.0 / 12.92) as f32, power((x + 0.055) * (1.0 / 1.055) as f32, 2.4));
            if x > TOE as f32 { rest } else { toe }
        }),
        TransferFunction::Pq => mirrored(row, |x| {
            let root = (1.0 / M2) as f32 * log2(if x > LEAST { x } else { LEAST });
            let root = if root > -0.5 { root } else { -0.5 };
            let gone = -exp2_near(root);
            let gone = if gone > -BEYOND { gone } else { -BEYOND };
            let left = GAP as f32 - gone;
            let left = if left > 0.0 { left } else { 0.0 };
            power(left / (GAP as f32 + C3 as f32 * gone), (1.0 / M1) as f32)
        }),
        TransferFunction::Hlg => mirrored(row, |x| {
            let scaled = (x - C as f32) * (core::f64::consts::LOG2_E / A) as f32;
            let high = (exp2(scaled) + B as f32) * (1.0 / 12.0) as f32;
            if x > 0.5 { high } else { x * x * (1.0 / 3.0) as f32 }
        }),
        TransferFunction::Log(decades) => {
            let least = libm::pow(10.0, -decades);
            let (by, start) = ((decades * core::f64::consts::LOG2_10) as f32, least as f32);
            let scale = (1.0 / (1.0 - least)) as f32;
            for v in row {
                *v = (exp2(by * (*v - 1.0)) - start) * scale;
            }
        }
    }
}

#[inline(always)]
fn encode_body(curve: TransferFunction, row: &mut [f32]) {
    match curve {
        TransferFunction::Linear => {}
        TransferFunction::Power(gamma) => mirrored(row, |x| power(x, (1.0 / gamma) as f32)),
        TransferFunction::Srgb => mirrored(row, |x| {
            let (toe, rest) = (12.92 * x, 1.055 * power(x, (1.0 / 2.4) as f32) - 0.055);
            if x > TOE_LIGHT as f32 { rest } else { toe }
        }),
        TransferFunction::Pq => mirrored(row, |x| {
            let p = power(x, M1 as f32);
            // This form loses no precision when it is raised to the 79th power.
            let gone = GAP as f32 * (1.0 - p) / (1.0 + C3 as f32 * p);
            exp2(M2 as f32 * log2_near(-gone))
        }),
        TransferFunction::Hlg => mirrored(row, |x| {
            let inside = 12.0 * x - B as f32;
            let inside = if inside > 0.5 { inside } else { 0.5 };
            let high = (A * core::f64::consts::LN_2) as f32 * log2(inside) + C as f32;
            if x > (1.0 / 12.0) as f32 { high } else { (3.0 * x).sqrt() }
        }),
        TransferFunction::Log(decades) => {
            let least = libm::pow(10.0, -decades);
            let (scale, start) = ((1.0 - least) as f32, least as f32);
            let lowest = (least * 1e-3) as f32;
            let by = (1.0 / (decades * core::f64::consts::LOG2_10)) as f32;
            for v in row {
                let inside = *v * scale + start;
                let inside = if inside > lowest { inside } else { lowest };
                *v = 1.0 + by * log2(inside);
            }
        }
    }
}

multiversion! {
    fn linearize(level, curve: TransferFunction, row: &mut [f32]) = linearize_body;
    fn encode(level, curve: TransferFunction, row: &mut [f32]) = encode_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Depth;

    fn all() -> Vec<TransferFunction> {
        let format = Format::new(8, 8, Family::Yuv, Depth::Bits(8), (1, 1));
        let mut all: Vec<TransferFunction> =
            (0..=20).map(|t| TransferFunction::of(&Format { transfer: Transfer(t), ..format })).collect();
        all.push(TransferFunction::of(&Format { family: Family::Rgb, ..format }));
        all
    }

    #[test]
    fn known_lights() {
        let near = |got: f64, want: f64| assert!((got - want).abs() <= 1e-4 * want, "{got} {want}");
        // BT.2408: HDR reference white of 203 cd/m2 is 58 % of PQ, and 75 % of HLG is 0.265 of scene light.
        near(TransferFunction::Pq.light(0.580_69), 0.0203);
        near(TransferFunction::Pq.light(0.508_078), 0.01);
        near(TransferFunction::Hlg.light(0.75), 0.264_96);
        near(TransferFunction::Srgb.light(0.5), 0.214_041);
        near(
            TransferFunction::of(&Format::new(8, 8, Family::Gray, Depth::Float, (0, 0))).light(0.5),
            0.189_465,
        );
        near(TransferFunction::Log(2.0).light(0.5), 0.09 / 0.99);
        for curve in all() {
            near(curve.light(1.0), 1.0);
            assert!(curve.light(0.0).abs() < 1e-12, "{curve:?}");
        }
    }

    #[test]
    fn rows_are_the_definition_at_every_level() {
        // Within and around the nominal range, and far beyond.
        let values: Vec<f32> = (-6000..=70_000).map(|i| i as f32 / 65_535.0).collect();
        let far: Vec<f32> = (-200..=200).map(|i| i as f32 * 0.02).chain([1e-9, -1e-12, 0.0, -0.0]).collect();
        for curve in all() {
            let highest = if curve == TransferFunction::Pq { 1.5 } else { 4.0 };
            for (list, most) in [(&values, 2e-6), (&far, 1e-5)] {
                // Far below black the logarithm has no precision.
                let lowest = if matches!(curve, TransferFunction::Log(_)) { 0.0 } else { -highest };
                let list: Vec<f32> =
                    list.iter().copied().filter(|v| (lowest..=highest).contains(v)).collect();
                let mut first: Option<(Vec<f32>, Vec<f32>)> = None;
                for &level in Level::available() {
                    let mut light = list.clone();
                    curve.linearize(level, &mut light);
                    let mut back = light.clone();
                    curve.encode(level, &mut back);
                    for ((v, l), b) in list.iter().zip(&light).zip(&back) {
                        let want = curve.light(f64::from(*v));
                        let slack = 1e-5 * want.abs() + 1e-8;
                        assert!((f64::from(*l) - want).abs() <= slack, "{curve:?} {v}: {l} {want}");
                        let want = curve.code(f64::from(*l));
                        let off = (f64::from(*b) - want).abs();
                        assert!(off <= most * want.abs().max(0.5), "{curve:?} {l}: {b} {want}");
                        assert!((b - v).abs() <= 4e-6 * v.abs().max(0.5), "{curve:?} {v} {l} {b}");
                    }
                    let (want, again) = first.get_or_insert_with(|| (light.clone(), back.clone()));
                    let same =
                        |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same(want, &light) && same(again, &back), "{curve:?} {level}");
                }
            }
        }
    }

    #[test]
    fn nan_does_not_panic() {
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, -1e38, 1e-45];
        for curve in all().into_iter().filter(|c| *c != TransferFunction::Linear) {
            let mut bits: Option<Vec<u32>> = None;
            for &level in Level::available() {
                let mut row = odd.repeat(5);
                curve.linearize(level, &mut row);
                assert!(!row.iter().any(|v| v.is_nan()), "{curve:?} {row:?}");
                let mut codes = odd.repeat(5);
                curve.encode(level, &mut codes);
                assert!(!codes.iter().any(|v| v.is_nan()), "{curve:?} {codes:?}");
                let got: Vec<u32> = row.iter().chain(&codes).map(|v| v.to_bits()).collect();
                assert_eq!(*bits.get_or_insert_with(|| got.clone()), got, "{curve:?} {level}");
            }
        }
    }
}
