//! Describes a conversion in one line for users.

use super::light::{curve, curves};
use super::ops::Ops;
use crate::frame::{Alpha, ColorRange, Depth, Family, Format, Matrix, Siting, Transfer};
use crate::pixel::transfer::TransferFunction;

pub(super) fn describe(from: &Format, to: &Format, ops: &Ops) -> String {
    let mut line = format!("{} -> {}", one(from, ops.matrices.0), one(to, ops.matrices.1));
    let mut note = |text: String| line = format!("{line}; {text}");
    for (format, matrix) in [(from, ops.matrices.0), (to, ops.matrices.1)] {
        let unsaid = format.matrix == Matrix::UNSPECIFIED
            || (format.family == Family::Gray && Some(format.matrix) != matrix);
        if let Some(m) = matrix
            && unsaid
        {
            note(format!("no matrix tag: assuming {} for {} rows", name(m), format.height));
        }
    }
    let range = |f: &Format| f.full_range();
    let matters = from.depth != Depth::Float && (range(from) != range(to) || from.family != to.family);
    if matters && from.range == ColorRange::Unspecified && from.family != Family::Rgb {
        note("no range tag: assuming limited".into());
    }
    let sited =
        |f: &Format| f.family == Family::Yuv && f.subsampling != (0, 0) && f.siting == Siting::Unspecified;
    if ops.resampled && (sited(from) || sited(to)) {
        note("no chroma siting tag: assuming left".into());
    }
    if let Ok(Some((a, b))) = curves(from, to) {
        note(format!("{} -> {}", light(a), light(b)));
        if from.transfer == Transfer::UNSPECIFIED && curve(from).is_some() {
            note(format!("no transfer tag: assuming {}", light(a)));
        }
    }
    match (from.alpha, to.alpha) {
        (Alpha::Straight, Alpha::Premultiplied) => note("straight -> premultiplied alpha".into()),
        (Alpha::Premultiplied, Alpha::Straight) => note("premultiplied -> straight alpha".into()),
        _ => {}
    }
    if from.has_alpha() && !to.has_alpha() {
        note("alpha is dropped".into());
    }
    if !from.has_alpha() && to.has_alpha() {
        note("alpha becomes opaque".into());
    }
    line
}

/// The name of a transfer function.
fn light(curve: TransferFunction) -> String {
    match curve {
        TransferFunction::Linear => "linear light".into(),
        TransferFunction::Power(2.4) => "display light of video (BT.1886, a power of 2.4)".into(),
        TransferFunction::Power(gamma) => format!("a power of {gamma}"),
        TransferFunction::Srgb => "sRGB".into(),
        TransferFunction::Pq => "PQ (1 of light is 10,000 cd/m2)".into(),
        TransferFunction::Hlg => "HLG (light of the scene)".into(),
        TransferFunction::Log(decades) => format!("a logarithm of {decades} decades"),
    }
}

fn name(matrix: Matrix) -> String {
    matrix.name().map_or_else(|| format!("matrix {}", matrix.0), Into::into)
}

fn one(format: &Format, used: Option<Matrix>) -> String {
    let mut text = format.name();
    let said = Some(format.matrix).filter(|&m| m != Matrix::UNSPECIFIED);
    if format.family == Family::Yuv
        && let Some(m) = used.or(said)
    {
        text = format!("{text} {}", name(m));
    }
    if format.depth != Depth::Float {
        text += if format.full_range() { " full" } else { " limited" };
    }
    text
}
