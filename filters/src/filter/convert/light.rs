//! Conversion between transfer functions and between kinds of alpha.
//!
//! It works on nominal R, G and B (or grey) in f32, between two conversions of the samples. A colour `v` with alpha `a`
//! becomes straight, `s = v / a`, if it is premultiplied and `a > 0` (else `s = v`); then `s' = code'(light(s))` by the
//! two curves of [`TransferFunction`]; then `s' a` if the result is premultiplied (unchanged if it was not divided). So
//! premultiplied colour is a product in the values of the file: linear light in OpenEXR. A sample that is not finite is
//! unchanged, to the bit; one with such an alpha is neither divided nor multiplied; no sample becomes non-finite.

use super::ConvertError;
use crate::filter::{Band, Memory, Plan, Render};
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, FrameTime, Scratch, Transfer};
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;

/// The transfer function of a format. If it is unspecified: sRGB for R, G and B and for full-range grey, as in
/// images, else that of video. `None` if it is not supported.
pub(super) fn curve(format: &Format) -> Option<TransferFunction> {
    let picture = format.family == Family::Gray && format.range == ColorRange::Full;
    match format.transfer {
        Transfer::UNSPECIFIED if picture => Some(TransferFunction::Srgb),
        Transfer::UNSPECIFIED => Some(TransferFunction::of(format)),
        Transfer::DENSITY => None,
        t => t.name().map(|_| TransferFunction::of(format)),
    }
}

/// The transfer that conversions assume for a format without one.
pub fn assumed_transfer(format: &Format) -> Transfer {
    match curve(&Format { transfer: Transfer::UNSPECIFIED, ..*format }) {
        Some(TransferFunction::Srgb) => Transfer::SRGB,
        _ => Transfer::BT709,
    }
}

/// The source and target curve, if they differ. If the target's is unspecified, values are not changed.
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

/// The formats that a conversion goes through, the last of which is `to`: one step, or three if transfer or alpha
/// change, of which the second is `Light`.
///
/// # Errors
/// As that of `Convert::new`.
pub fn path(from: &Format, to: &Format) -> Result<Vec<Format>, ConvertError> {
    let alpha = from.has_alpha() && to.has_alpha() && from.alpha != to.alpha;
    let curves = curves(from, to)?;
    if !alpha && curves.is_none() {
        return Ok(vec![*to]);
    }
    let gray = from.family == Family::Gray && to.family == Family::Gray;
    let float = |f: &Format| f.depth == Depth::Float && (gray || f.family == Family::Rgb);
    let rgb = from.float_rgb(if to.has_alpha() { from.alpha } else { Alpha::None });
    let before = if gray { Format { family: from.family, matrix: from.matrix, ..rgb } } else { rgb };
    let before = if float(from) && from.alpha == before.alpha { *from } else { before };
    // If alpha is dropped, premultiplied colour is the picture over black, and is converted as such.
    let kind = if before.has_alpha() { to.alpha } else { Alpha::None };
    let behind = Format { alpha: kind, transfer: to.transfer, primaries: to.primaries, ..before };
    let behind = if float(to) && to.alpha == kind { *to } else { behind };
    let mut list = Vec::new();
    list.extend((before != *from).then_some(before));
    list.push(behind);
    list.extend((behind != *to).then_some(*to));
    Ok(list)
}

/// The transfer of the output for a picture of `from`. Linear light of float pictures is for calculations; integers get
/// display values, sRGB as R, G and B or grey, BT.709 as luma and chroma. Integers that are linear stay linear.
pub fn displayed(from: &Format, to: Format) -> Format {
    let linear = from.transfer == Transfer::LINEAR && from.depth == Depth::Float;
    if !linear || to.transfer != Transfer::LINEAR || to.depth == Depth::Float {
        return to;
    }
    let video = to.family == Family::Yuv && !to.is_rgb();
    Format { transfer: if video { Transfer::BT709 } else { Transfer::SRGB }, ..to }
}

/// The middle step: in place, on float R, G, B or grey.
pub(super) struct Light {
    from: Alpha,
    to: Format,
    curves: Option<(TransferFunction, TransferFunction)>,
    level: Level,
}

impl Light {
    /// The conversion between two formats of [`path`], if they are the two in the middle.
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
                    // samples that were not divided, such as a glow without coverage, are not multiplied
                    multiply(row, alpha, self.from == Alpha::Straight);
                }
                for (v, old) in row.iter_mut().zip(&*before) {
                    *v = if old.is_finite() { v.clamp(f32::MIN, f32::MAX) } else { *old };
                }
            }
        }
    }
}

/// Straight values from premultiplied ones, where alpha is positive.
pub(in crate::filter) fn divide(row: &mut [f32], alpha: &[f32]) {
    for (v, &a) in row.iter_mut().zip(alpha) {
        *v = if a > 0.0 && a.is_finite() { *v / a } else { *v };
    }
}

/// Premultiplied values from straight ones, where alpha is positive, or everywhere with `all`.
pub(in crate::filter) fn multiply(row: &mut [f32], alpha: &[f32], all: bool) {
    for (v, &a) in row.iter_mut().zip(alpha) {
        *v = if (all || a > 0.0) && a.is_finite() { *v * a } else { *v };
    }
}
