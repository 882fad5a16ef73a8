//! Adding grain to rows of samples.

use super::arch;
use super::kernel::mulhi;
use super::response::{Gain, NODES, Nodes, Ramp, Response, slope};
use crate::simd::{Level, multiversion};

/// One integer sample: the reference. `light` is the sample whose brightness counts.
pub fn reference(sample: u16, light: u16, n: i16, ramp: Ramp, gain: &Gain, (lo, hi): (u16, u16)) -> u16 {
    let grain = gain.codes(n, gain.response.of(ramp.of(light)));
    (i32::from(sample) + grain).clamp(sample.min(lo).into(), sample.max(hi).into()) as u16
}

/// The input of the hand-written kernels: a response of nodes, and grain whose codes fit 16-bit lanes.
pub(super) struct KernelParams<'a> {
    pub(super) ramp: Ramp,
    nodes: &'a Nodes,
    /// 14 to 30; for 8-bit samples at least 17.
    pub(super) shift: u32,
}

impl<'a> KernelParams<'a> {
    pub(super) fn new(ramp: Ramp, gain: &'a Gain) -> Option<KernelParams<'a>> {
        match &gain.response {
            Response::Nodes(nodes) if gain.shift >= 14 => {
                Some(KernelParams { ramp, nodes, shift: gain.shift })
            }
            _ => None,
        }
    }

    /// For all of u, for the first and for the last sixteenth: S at the sixteen lower nodes, and twice the difference
    /// to the next node.
    pub(super) fn tables(&self) -> [[[i16; 16]; 2]; 3] {
        let table = |nodes: &[i16; NODES]| {
            [core::array::from_fn(|i| nodes[i]), core::array::from_fn(|i| slope(nodes, i))]
        };
        [table(&self.nodes.all), table(&self.nodes.ends[0]), table(&self.nodes.ends[1])]
    }
}

/// Samples per iteration: intermediate results stay in registers or the L1 cache.
const BLOCK: usize = 256;

#[inline(always)]
fn gains(out: &mut [i16], light: impl Iterator<Item = u16>, ramp: Ramp, response: &Response) {
    match response {
        Response::Nodes(_) => {
            for (s, v) in out.iter_mut().zip(light) {
                *s = response.of(ramp.of(v));
            }
        }
        Response::Table(table) => {
            for (s, v) in out.iter_mut().zip(light) {
                *s = table[usize::from(ramp.of(v) >> 4)];
            }
        }
    }
}

/// `mulhi(n, s)` rounded by the rest of the shift, in 16-bit lanes.
#[inline(always)]
fn scale_i16(n: i16, s: i16, shift: u32) -> i16 {
    let k = shift - 16;
    // mulhi is within 8192 and the half at most 8192: no overflow.
    mulhi(n, s).wrapping_add(1 << (k - 1)) >> k
}

#[inline(always)]
fn u8_body(row: &mut [u8], light: Option<&[u8]>, n: &[i16], ramp: Ramp, gain: &Gain, lo: u8, hi: u8) {
    let mut s = [0i16; BLOCK];
    let shift = gain.shift;
    let mut start = 0;
    while start < row.len() {
        let end = (start + BLOCK).min(row.len());
        let s = &mut s[..end - start];
        let source = light.map_or(&row[start..end], |l| &l[start..end]);
        gains(s, source.iter().map(|&v| v.into()), ramp, &gain.response);
        for ((x, &n), &s) in row[start..end].iter_mut().zip(&n[start..end]).zip(&*s) {
            let sum = i16::from(*x) + scale_i16(n, s, shift);
            *x = sum.min((*x).max(hi).into()).max((*x).min(lo).into()) as u8;
        }
        start = end;
    }
}

#[inline(always)]
fn u16_body(row: &mut [u16], light: Option<&[u16]>, n: &[i16], ramp: Ramp, gain: &Gain, lo: u16, hi: u16) {
    // Shifted by 2^15 the codes fit signed lanes, whose saturating addition, minimum and maximum exist at every
    // level.
    let signed = |x: u16| (x ^ 0x8000) as i16;
    let (lo, hi) = (signed(lo), signed(hi));
    let mut s = [0i16; BLOCK];
    let shift = gain.shift;
    let mut start = 0;
    while start < row.len() {
        let end = (start + BLOCK).min(row.len());
        let s = &mut s[..end - start];
        let source = light.map_or(&row[start..end], |l| &l[start..end]);
        gains(s, source.iter().copied(), ramp, &gain.response);
        let each = row[start..end].iter_mut().zip(&n[start..end]).zip(&*s);
        if shift >= 17 {
            for ((x, &n), &s) in each {
                let v = signed(*x);
                let sum = v.saturating_add(scale_i16(n, s, shift)).min(v.max(hi)).max(v.min(lo));
                *x = sum as u16 ^ 0x8000;
            }
        } else {
            for ((x, &n), &s) in each {
                let v = i32::from(signed(*x));
                let sum = v + ((i32::from(n) * i32::from(s) + (1 << (shift - 1))) >> shift);
                *x = sum.min(v.max(hi.into())).max(v.min(lo.into())) as u16 ^ 0x8000;
            }
        }
        start = end;
    }
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
    fn u8_rows(level, row: &mut [u8], light: Option<&[u8]>, n: &[i16], ramp: Ramp, gain: &Gain, lo: u8, hi: u8)
        = u8_body;
    fn u16_rows(level, row: &mut [u16], light: Option<&[u16]>, n: &[i16], ramp: Ramp, gain: &Gain, lo: u16, hi: u16)
        = u16_body;
    fn f32_rows(level, row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32) = f32_body;
}

/// Adds grain n to 8-bit samples, each [`reference()`]. `light` is the row whose brightness counts; `None`: the
/// samples themselves. Panics when the rows differ in length, or for gains that 8-bit samples cannot need.
pub fn add_u8(
    level: Level,
    row: &mut [u8],
    light: Option<&[u8]>,
    n: &[i16],
    ramp: Ramp,
    gain: &Gain,
    (lo, hi): (u8, u8),
) {
    assert!(gain.fits_i16(), "grain of more than 8192 codes for 8-bit samples");
    assert!(row.len() == n.len() && light.is_none_or(|l| l.len() == row.len()));
    let done =
        KernelParams::new(ramp, gain).map_or(0, |params| arch::add(level, row, light, n, &params, (lo, hi)));
    u8_rows(level, &mut row[done..], light.map(|l| &l[done..]), &n[done..], ramp, gain, lo, hi);
}

/// As [`add_u8`], for samples of 9 to 16 bits and grain of any strength.
pub fn add_u16(
    level: Level,
    row: &mut [u16],
    light: Option<&[u16]>,
    n: &[i16],
    ramp: Ramp,
    gain: &Gain,
    (lo, hi): (u16, u16),
) {
    assert!(row.len() == n.len() && light.is_none_or(|l| l.len() == row.len()));
    let done =
        KernelParams::new(ramp, gain).map_or(0, |params| arch::add(level, row, light, n, &params, (lo, hi)));
    u16_rows(level, &mut row[done..], light.map(|l| &l[done..]), &n[done..], ramp, gain, lo, hi);
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
fn linear_body(row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32, flat: bool) {
    for (i, (x, &n)) in row.iter_mut().zip(n).enumerate() {
        let v = light.map_or(*x, |l| l[i]);
        let s = gain.response.of(light_of_linear(v));
        let grain = f32::from(n) * (f32::from(s) * unit);
        let dark = grain * (1.0 / STEEP);
        let factor = power_of_two((grain * STOPS).clamp(-100.0, 100.0));
        if x.is_finite() {
            *x = if v.is_finite() && v > BREAK {
                if flat { *x + v * (factor - 1.0) } else { *x * factor }
            } else {
                *x + dark
            };
        }
    }
}

multiversion! {
    fn linear_rows(level, row: &mut [f32], light: Option<&[f32]>, n: &[i16], gain: &Gain, unit: f32, flat: bool)
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
