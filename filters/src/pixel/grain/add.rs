//! Adding grain to rows of samples.

use super::arch::{self, GrainSample, Samples};
use super::kernel::Fields;
use super::response::{Codes, Gain, Ramp, Response};
use super::skew::Skew;
use crate::pixel::convert::CodeSample;
use crate::simd::{Isa, Level, multiversion};
use core::iter;

/// One integer sample: the reference. `light` is the sample whose brightness counts.
pub fn reference(sample: u16, light: u16, n: i16, ramp: Ramp, gain: &Gain, (lo, hi): (u16, u16)) -> u16 {
    let grain = gain.codes(n, gain.response.of(ramp.of(light)));
    (i32::from(sample) + grain).clamp(sample.min(lo).into(), sample.max(hi).into()) as u16
}

/// How grain is added to the samples of a plane, chosen once.
#[derive(Clone, Debug)]
pub struct RowKernel {
    level: Level,
    gain: Gain,
    skew: Option<Skew>,
    samples: SampleKind,
}

#[derive(Clone, Debug)]
enum SampleKind {
    /// Integers: from codes to brightness, the legal codes, and the kernel.
    Codes(Ramp, (u16, u16), CodeKernel),
    /// As [`add_f32`].
    Float,
    /// As [`add_linear_f32`], whether they are colour differences.
    Linear(bool),
}

#[derive(Clone, Debug)]
enum CodeKernel {
    /// In steps: at the scalar level, by a table of u, or for grain of more than 16 bits.
    Steps,
    /// In registers, by the nodes of the response.
    Nodes,
    /// In registers, by a table of 8-bit codes.
    Codes(Box<Codes>),
}

impl RowKernel {
    /// For samples of `bits` bits, with a response to the brightness between the codes of `ramp`, kept to the legal codes.
    /// Panics for gains that 8-bit samples cannot need.
    pub fn codes(level: Level, bits: u8, ramp: Ramp, gain: Gain, legal: (u16, u16)) -> RowKernel {
        assert!(bits > 8 || gain.fits_i16(), "grain of more than 4096 codes for 8-bit samples");
        // Elsewhere nodes are faster, but SSE2 has no shuffle that looks them up, and VBMI has one for codes.
        let by_codes = bits == 8 && matches!(level.isa(), Isa::Sse2 | Isa::Avx512Vbmi);
        let codes = if by_codes { Codes::new(ramp, &gain) } else { None };
        let kernel = match (codes, &gain.response) {
            (Some(codes), _) => CodeKernel::Codes(codes),
            (None, Response::Nodes(_)) if gain.shift >= 14 && level > Level::SCALAR => CodeKernel::Nodes,
            _ => CodeKernel::Steps,
        };
        RowKernel { level, gain, skew: None, samples: SampleKind::Codes(ramp, legal, kernel) }
    }

    /// For float samples.
    pub fn float(level: Level, gain: Gain) -> RowKernel {
        RowKernel { level, gain, skew: None, samples: SampleKind::Float }
    }

    /// For samples of linear light. `difference`: they are colour differences.
    pub fn linear(level: Level, gain: Gain, difference: bool) -> RowKernel {
        RowKernel { level, gain, skew: None, samples: SampleKind::Linear(difference) }
    }

    /// The same for grain that is skewed.
    #[must_use]
    pub fn skewed(self, skew: Option<Skew>) -> RowKernel {
        RowKernel { skew, ..self }
    }

    /// Whether no n gives any grain.
    pub fn is_zero(&self) -> bool {
        self.gain.is_zero()
    }

    /// Computes n from its sources and adds it to a row of integer samples, in one pass if there is a kernel: to each as
    /// [`reference()`]. The row's samples are those of `from`; `None`: its own. `light` is the row whose brightness counts;
    /// `None`: the samples themselves. Panics when rows are too short, or for float samples.
    pub(crate) fn finish<T: GrainSample>(&self, (row, from, light): Samples<'_, T>, mut fields: Fields<'_>) {
        let SampleKind::Codes(ramp, legal, kernel) = &self.samples else {
            panic!("a kernel of float samples")
        };
        assert!(iter::once(&fields.first).chain(&fields.second).all(|sources| sources.suffice(row.len())));
        assert!([from, light].iter().flatten().all(|r| r.len() == row.len()));
        let (level, shift) = (self.level, self.gain.shift);
        let (lo, hi) = (T::from_code(legal.0), T::from_code(legal.1));
        let finished = match (kernel, &self.gain.response) {
            _ if self.skew.is_some() => false,
            (CodeKernel::Codes(codes), _) => {
                let [from, light] = [from, light].map(|row| row.map(bytemuck::cast_slice));
                let samples = (bytemuck::cast_slice_mut(&mut *row), from, light);
                let legal = (legal.0 as u8, legal.1 as u8);
                arch::finish_codes(level, samples, &mut fields, codes, legal)
            }
            (CodeKernel::Nodes, Response::Nodes(nodes)) => {
                let response = (*ramp, &**nodes, shift);
                arch::finish(level, (&mut *row, from, light), &mut fields, response, (lo, hi))
            }
            _ => false,
        };
        if finished {
            return;
        }
        if let Some(from) = from {
            row.copy_from_slice(from);
        }
        let n = fields.n(level, row.len());
        if let Some(skew) = &self.skew {
            skew.apply(level, n, light.unwrap_or(row), |v| ramp.of(v.code()));
        }
        let mut done = 0;
        if let (CodeKernel::Nodes | CodeKernel::Codes(_), Response::Nodes(nodes)) =
            (kernel, &self.gain.response)
        {
            done = arch::add(level, row, light, n, (*ramp, nodes, shift), (lo, hi));
        }
        let light = light.map(|l| &l[done..]);
        plain_rows(level, &mut row[done..], light, &n[done..], *ramp, &self.gain, lo, hi);
    }

    /// The same for a row of float samples.
    pub(crate) fn finish_f32(&self, (row, from, light): Samples<'_, f32>, fields: Fields<'_>) {
        if let Some(from) = from {
            row.copy_from_slice(from);
        }
        let n = fields.n(self.level, row.len());
        let linear = matches!(self.samples, SampleKind::Linear(_));
        if let Some(skew) = &self.skew {
            let of = |v: f32| if linear { light_of_linear(v) } else { Ramp::of_float(v) };
            skew.apply(self.level, n, light.unwrap_or(row), of);
        }
        match self.samples {
            SampleKind::Float => add_f32(self.level, row, light, n, &self.gain),
            SampleKind::Linear(difference) => {
                add_linear_f32(self.level, row, light, n, &self.gain, difference);
            }
            SampleKind::Codes(..) => panic!("a kernel of integer samples"),
        }
    }
}

/// SampleKind per iteration: intermediate results stay in registers or the L1 cache.
const BLOCK: usize = 256;

#[inline(always)]
fn gains<T: CodeSample>(out: &mut [i16], light: &[T], ramp: Ramp, response: &Response) {
    match response {
        Response::Nodes(_) => {
            for (s, v) in out.iter_mut().zip(light) {
                *s = response.of(ramp.of(v.code()));
            }
        }
        Response::Table(table) => {
            for (s, v) in out.iter_mut().zip(light) {
                *s = table[usize::from(ramp.of(v.code()) >> 4)];
            }
        }
    }
}

#[inline(always)]
fn plain_body<T: CodeSample>(
    row: &mut [T],
    light: Option<&[T]>,
    n: &[i16],
    ramp: Ramp,
    gain: &Gain,
    lo: T,
    hi: T,
) {
    let mut s = [0i16; BLOCK];
    for start in (0..row.len()).step_by(BLOCK) {
        let here = start..(start + BLOCK).min(row.len());
        let s = &mut s[..here.len()];
        gains(s, light.map_or(&row[here.clone()], |l| &l[here.clone()]), ramp, &gain.response);
        for ((x, &n), &s) in row[here.clone()].iter_mut().zip(&n[here]).zip(&*s) {
            let (least, most) = ((*x).min(lo).code(), (*x).max(hi).code());
            let sum = i32::from(x.code()) + gain.codes(n, s);
            *x = T::from_code(sum.clamp(least.into(), most.into()) as u16);
        }
    }
}

multiversion! {
    fn plain_rows<T: CodeSample>(
        level, row: &mut [T], light: Option<&[T]>, n: &[i16], ramp: Ramp, gain: &Gain, lo: T, hi: T,
    ) = plain_body;
}

#[inline(always)]
fn f32_body(row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32) {
    for (i, (x, &n)) in row.iter_mut().zip(n).enumerate() {
        let u = Ramp::of_float(light.map_or(*x, |l| l[i]));
        let grain = f32::from(n) * (f32::from(gain.response.of(u)) * unit);
        // The NaN payload after an addition differs between machines.
        if x.is_finite() {
            *x += grain;
        }
    }
}

multiversion! {
    fn f32_rows(level, row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32) = f32_body;
}

/// Adds grain to finite float samples: `n * (S * 2^-(shift + 16))`, S by the brightness of the sample or of `light`, in
/// `f32` operations in this order. The gain counts 1/65536 of the way from black to white.
pub fn add_f32(level: Level, row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain) {
    assert!(row.len() == n.len() && light.is_none_or(|l| l.len() == row.len()));
    let unit = float_unit(gain);
    f32_rows(level, row, light, n, gain, unit);
}

fn float_unit(gain: &Gain) -> f32 {
    1.0 / (1u64 << (gain.shift + 16)) as f32
}

/// ACEScct: black of the logarithm, the light below which it is linear, its slope there, and its number of
/// stops.
const TOE: f32 = 0.072_905_53;
const BREAK: f32 = 0.007_812_5;
const STEEP: f32 = 10.540_238;
const STOPS: f32 = 17.52;

/// u of linear light: its logarithm, scaled from black to 1. The logarithm is a parabola between powers of two, with
/// an error of less than a hundredth of a stop.
#[inline(always)]
pub fn light_of_linear(v: f32) -> u16 {
    let bits = v.to_bits();
    let power = (bits >> 23) as i32 - 127;
    let rest = f32::from_bits((bits & 0x7f_ffff) | 0x3f80_0000) - 1.0;
    let log = power as f32 + (rest + 0.344 * (rest * (1.0 - rest)));
    let y = if v > BREAK { (log + 9.72) * (1.0 / STOPS) } else { v * STEEP + TOE };
    // The cast takes NaN and negative numbers to 0.
    ((y - TOE) * (65535.0 / (1.0 - TOE))).min(65535.0) as u16
}

/// 2^z for z within -100..100, to seven digits: the nearest whole power and a polynomial for the rest.
#[inline(always)]
fn power_of_two(z: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to whole numbers.
    const ROUND: f32 = 12_582_912.0;
    let whole = (z + ROUND) - ROUND;
    let x = (z - whole) * core::f32::consts::LN_2;
    let p = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0)))));
    p * f32::from_bits(((whole as i32 + 127) << 23) as u32)
}

#[inline(always)]
fn linear_body(row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32, difference: bool) {
    for (i, (x, &n)) in row.iter_mut().zip(n).enumerate() {
        let v = light.map_or(*x, |l| l[i]);
        let s = gain.response.of(light_of_linear(v));
        let grain = f32::from(n) * (f32::from(s) * unit);
        let dark = grain * (1.0 / STEEP);
        let factor = power_of_two((grain * STOPS).clamp(-100.0, 100.0));
        if x.is_finite() {
            *x = if v.is_finite() && v > BREAK {
                if difference { *x + v * (factor - 1.0) } else { *x * factor }
            } else {
                *x + dark
            };
        }
    }
}

multiversion! {
    fn linear_rows(level, row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32, difference: bool)
        = linear_body;
}

/// Adds grain to the logarithm of finite samples of linear light, in the scale of ACEScct (S-2016-001): `x * 2^(17.52 g)`
/// above 0.0078125, `x + g / 10.54` below, g as in [`add_f32`] with the brightness on that scale. `difference`: the samples
/// are colour differences, which get as much as luma of the brightness `light` would.
pub fn add_linear_f32(
    level: Level,
    row: &mut [f32],
    light: Option<&[f32]>,
    n: &[i16],
    gain: &Gain,
    difference: bool,
) {
    assert!(row.len() == n.len() && light.is_none_or(|l| l.len() == row.len()));
    linear_rows(level, row, light, n, gain, float_unit(gain), difference);
}
