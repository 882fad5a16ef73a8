//! Adding a row of n to the samples of each depth.

use super::{Grain, Response, Space};
use crate::frame::Sample;
use crate::pixel::grain::{
    Luma, Ramp, Sources, add_f32, add_linear_f32, add_u8, add_u16, finish_u8, finish_u16, light_of_linear,
};

/// A sample type that grain can be added to.
pub(super) trait GrainSample: Sample + Luma {
    /// Computes n in the given buffer and adds it to samples of plane `p`, in one fused pass if possible.
    fn finish(
        grain: &Grain,
        p: usize,
        row: &mut [Self],
        light: Option<&[Self]>,
        made: (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    );
}

impl GrainSample for u8 {
    fn finish(
        grain: &Grain,
        p: usize,
        row: &mut [u8],
        light: Option<&[u8]>,
        (sources, n): (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    ) {
        let (ramp, (lo, hi)) = grain.codes(p);
        if let Some(skew) = &response.skew {
            sources.n(grain.level, n);
            skew.apply(grain.level, n, light.unwrap_or(row), |v| ramp.of(v.into()));
            return add_u8(grain.level, row, light, n, ramp, &response.gain, (lo as u8, hi as u8));
        }
        let way = (ramp, &response.gain, response.codes.as_deref());
        finish_u8(grain.level, row, light, (sources, n), way, (lo as u8, hi as u8));
    }
}

impl GrainSample for u16 {
    fn finish(
        grain: &Grain,
        p: usize,
        row: &mut [u16],
        light: Option<&[u16]>,
        (sources, n): (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    ) {
        let (ramp, legal) = grain.codes(p);
        if let Some(skew) = &response.skew {
            sources.n(grain.level, n);
            skew.apply(grain.level, n, light.unwrap_or(row), |v| ramp.of(v));
            return add_u16(grain.level, row, light, n, ramp, &response.gain, legal);
        }
        finish_u16(grain.level, row, light, (sources, n), (ramp, &response.gain), legal);
    }
}

impl GrainSample for f32 {
    fn finish(
        grain: &Grain,
        p: usize,
        row: &mut [f32],
        light: Option<&[f32]>,
        (sources, n): (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    ) {
        sources.n(grain.level, n);
        if let Some(skew) = &response.skew {
            let linear = grain.space == Space::Linear;
            let of = |v: f32| if linear { light_of_linear(v) } else { Ramp::of_float(v) };
            skew.apply(grain.level, n, light.unwrap_or(row), of);
        }
        // Chroma of linear light consists of small sums of it; it gets the grain of luma at its position.
        if grain.space == Space::Linear {
            add_linear_f32(grain.level, row, light, n, &response.gain, grain.format.is_chroma(p));
        } else {
            add_f32(grain.level, row, light, n, &response.gain);
        }
    }
}
