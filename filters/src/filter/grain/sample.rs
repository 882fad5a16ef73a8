//! Adding a row of n to the samples of each depth.

use super::{Grain, Response, Space};
use crate::frame::Sample;
use crate::pixel::grain::{Luma, Sources, add_f32, add_linear_f32, finish_u8, finish_u16};

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
        made: (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    ) {
        let (ramp, (lo, hi)) = grain.codes(p);
        let way = (ramp, &response.gain, response.codes.as_deref());
        finish_u8(grain.level, row, light, made, way, (lo as u8, hi as u8));
    }
}

impl GrainSample for u16 {
    fn finish(
        grain: &Grain,
        p: usize,
        row: &mut [u16],
        light: Option<&[u16]>,
        made: (&mut Sources<'_>, &mut [i16]),
        response: &Response,
    ) {
        let (ramp, legal) = grain.codes(p);
        finish_u16(grain.level, row, light, made, (ramp, &response.gain), legal);
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
        // Chroma of linear light consists of small sums of it; it gets the grain of luma at its position.
        if grain.space == Space::Linear {
            add_linear_f32(grain.level, row, light, n, &response.gain, grain.format.is_chroma(p));
        } else {
            add_f32(grain.level, row, light, n, &response.gain);
        }
    }
}
