//! Other light and another kind of alpha: what a conversion does beside depth, family and grid.
//!
//! It is made on nominal R, G and B (or grey) in f32, between two conversions of the samples. For a colour `v` with
//! alpha `a`: straight `s = v / a` where colour is premultiplied and `a > 0` (what nothing covers is taken as it is),
//! `s' = code'(light(s))` by the two curves of [`TransferFunction`], and `s' a` where it is to be premultiplied (again as it is
//! where it was not divided). So premultiplied
//! colour is a product in the very values that the file holds: linear light in OpenEXR. A sample that is no finite
//! number stays to the bit, one with such an alpha is neither divided nor multiplied, and none is made.

use super::ConvertError;
use crate::filter::{Band, Memory, Plan, Render};
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, FrameTime, Matrix, Scratch, Siting, Transfer};
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;

/// The curve of a format's values; where none is said, sRGB for R, G and B and for grey of full range, which is that
/// of pictures, else that of video. `None` where there is none to convert by.
pub(super) fn curve(format: &Format) -> Option<TransferFunction> {
    let picture = format.family == Family::Gray && format.range == ColorRange::Full;
    match format.transfer {
        Transfer::UNSPECIFIED if picture => Some(TransferFunction::Srgb),
        Transfer::UNSPECIFIED => Some(TransferFunction::of(format)),
        Transfer::DENSITY => None,
        t => t.name().map(|_| TransferFunction::of(format)),
    }
}

/// From which curve to which, where they differ. A target that says none takes the values as they are.
pub(super) fn curves(
    from: &Format,
    to: &Format,
) -> Result<Option<(TransferFunction, TransferFunction)>, ConvertError> {
    if to.transfer == Transfer::UNSPECIFIED || from.transfer == to.transfer {
        return Ok(None);
    }
    match (curve(from), curve(to)) {
        (Some(a), Some(b)) => Ok((a != b).then_some((a, b))),
        _ => Err(ConvertError::Transfer(from.transfer, to.transfer)),
    }
}

/// The formats that a conversion goes through, the last being `to`: one step, or three where light or alpha change,
/// the middle one of which is `Light`.
pub fn path(from: &Format, to: &Format) -> Result<Vec<Format>, ConvertError> {
    let alpha = from.has_alpha() && to.has_alpha() && from.alpha != to.alpha;
    let curves = curves(from, to)?;
    if !alpha && curves.is_none() {
        return Ok(vec![*to]);
    }
    let gray = from.family == Family::Gray && to.family == Family::Gray;
    let float = |f: &Format| f.depth == Depth::Float && (gray || f.family == Family::Rgb);
    let before = Format {
        family: if gray { Family::Gray } else { Family::Rgb },
        depth: Depth::Float,
        subsampling: (0, 0),
        siting: Siting::Unspecified,
        range: ColorRange::Full,
        matrix: if gray { from.matrix } else { Matrix::RGB },
        alpha: if to.has_alpha() { from.alpha } else { Alpha::None },
        ..*from
    };
    let before = if float(from) && from.alpha == before.alpha { *from } else { before };
    // Where alpha is dropped, premultiplied colour is what is seen over black, and converted as that.
    let kind = if before.has_alpha() { to.alpha } else { Alpha::None };
    let behind = Format { alpha: kind, transfer: to.transfer, primaries: to.primaries, ..before };
    let behind = if float(to) && to.alpha == kind { *to } else { behind };
    let mut list = Vec::new();
    list.extend((before != *from).then_some(before));
    list.push(behind);
    list.extend((behind != *to).then_some(*to));
    Ok(list)
}

/// The transfer of an output that a picture of `from` becomes: linear light of float pictures is for calculating, and
/// integers hold what is shown, sRGB as R, G and B or grey, BT.709 as luma and chroma. Integers that are linear already
/// stay so.
pub fn displayed(from: &Format, to: Format) -> Format {
    let linear = from.transfer == Transfer::LINEAR && from.depth == Depth::Float;
    if !linear || to.transfer != Transfer::LINEAR || to.depth == Depth::Float {
        return to;
    }
    let video = to.family == Family::Yuv && !to.is_rgb();
    Format { transfer: if video { Transfer::BT709 } else { Transfer::SRGB }, ..to }
}

/// The step in the middle: in place, on float R, G, B or grey.
pub(super) struct Light {
    from: Alpha,
    to: Format,
    curves: Option<(TransferFunction, TransferFunction)>,
    level: Level,
}

impl Light {
    /// Between two formats that [`path`] gave, if they are the two in the middle.
    pub(super) fn between(from: &Format, to: &Format, level: Level) -> Result<Option<Light>, ConvertError> {
        let curves = curves(from, to)?;
        let shape = |f: &Format| (f.family, f.depth, f.has_alpha());
        let float = from.depth == Depth::Float && from.family != Family::Yuv && shape(from) == shape(to);
        if !float || (from.alpha == to.alpha && curves.is_none()) {
            return Ok(None);
        }
        Ok(Some(Light { from: from.alpha, to: *to, curves, level }))
    }
}

impl Render for Light {
    type Params = ();
    type State = ();

    fn output(&self) -> &Format {
        &self.to
    }

    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        Some((Plan::in_place(self.to.color_planes()), ()))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 2 * (self.to.width as usize * 4 + 64) }
    }

    fn render(&self, (): &(), (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let width = self.to.width as usize;
        let [before, alpha] = scratch.buffers::<f32, 2>([width; 2]);
        let alpha_plane = self.to.alpha_plane();
        for y in band.rows.clone() {
            if let Some(p) = alpha_plane {
                alpha.copy_from_slice(band.output.plane(p).row(y));
            }
            for p in band.writes.iter().filter(|&p| p < self.to.planes() && Some(p) != alpha_plane) {
                let row = band.output.plane_mut(p).row_mut::<f32>(y);
                before.copy_from_slice(row);
                if self.from == Alpha::Premultiplied {
                    divide(row, alpha);
                }
                if let Some((from, to)) = self.curves {
                    from.linearize(self.level, row);
                    to.encode(self.level, row);
                }
                if self.to.alpha == Alpha::Premultiplied {
                    // what was not divided, a glow that covers nothing, is not multiplied
                    multiply(row, alpha, self.from == Alpha::Straight);
                }
                for (v, old) in row.iter_mut().zip(&*before) {
                    *v = if old.is_finite() { v.clamp(f32::MIN, f32::MAX) } else { *old };
                }
            }
        }
    }
}

fn divide(row: &mut [f32], alpha: &[f32]) {
    for (v, &a) in row.iter_mut().zip(alpha) {
        *v = if a > 0.0 && a.is_finite() { *v / a } else { *v };
    }
}

fn multiply(row: &mut [f32], alpha: &[f32], all: bool) {
    for (v, &a) in row.iter_mut().zip(alpha) {
        *v = if (all || a > 0.0) && a.is_finite() { *v * a } else { *v };
    }
}
