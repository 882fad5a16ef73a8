//! The format that a pixel format name means for a source.

use super::light::displayed;
use crate::frame::{Alpha, ColorRange, Family, Format, Matrix, NameError, Siting};

/// The matrix of a picture, and whether it is [assumed](Matrix::assumed) because there is no tag. RGB is [`Matrix::RGB`].
pub fn assumed_matrix(format: &Format) -> (Matrix, bool) {
    match (format.family, format.matrix) {
        (Family::Rgb, _) => (Matrix::RGB, false),
        (_, Matrix::UNSPECIFIED) => (Matrix::assumed(format.height), true),
        (_, tagged) => (tagged, false),
    }
}

/// A format for pictures of `input` in another size: without a tag the matrix follows from the height, but the colours
/// are those of the input.
pub fn with_matrix_of(input: &Format, output: Format) -> Format {
    let (own, assumed) = assumed_matrix(input);
    let differs = assumed && input.family == Family::Yuv && assumed_matrix(&output).0 != own;
    Format { matrix: if differs { own } else { output.matrix }, ..output }
}

/// The format for the pixel format `name` from the source `from`: the name's family, depth, subsampling and alpha,
/// with matching tags.
///
/// To RGB: matrix RGB, full range. From RGB to YUV: limited range and the matrix by height; to grey: the range that
/// RGB had. Between YUV and grey, range and matrix stay. `yuvj...` is full range. The siting stays if the subsampling
/// does; newly subsampled chroma is at the left. Alpha keeps its kind. Linear light of float pictures becomes
/// display-referred in integers ([`displayed`]). Other properties are those of `from`.
///
/// # Errors
/// No pixel format has this name, or it does not suit the size.
pub fn retarget(from: &Format, name: &str) -> Result<Format, NameError> {
    let named = Format::from_name(name, from.width, from.height)?;
    let alpha = match (named.alpha, from.alpha) {
        (Alpha::None, _) => Alpha::None,
        (named, Alpha::None) => named,
        (_, kept) => kept,
    };
    let mut to =
        Format { family: named.family, depth: named.depth, subsampling: named.subsampling, alpha, ..*from };
    match (from.is_rgb(), to.family) {
        (true, Family::Rgb) => to.matrix = Matrix::RGB,
        (false, Family::Rgb) => (to.matrix, to.range) = (Matrix::RGB, ColorRange::Full),
        // planes G, B and R with a YUV name may stay so unless one would be subsampled
        (true, Family::Yuv) if from.family == Family::Yuv && to.subsampling == (0, 0) => {}
        (true, Family::Yuv) => (to.matrix, to.range) = (Matrix::assumed(to.height), ColorRange::Limited),
        (true, Family::Gray) => {
            to.matrix = Matrix::assumed(to.height);
            to.range = if from.full_range() { ColorRange::Full } else { ColorRange::Limited };
        }
        // grey from an image library may have the RGB matrix, which in YUV would mean planes G, B and R
        (false, Family::Yuv) if to.matrix == Matrix::RGB => to.matrix = Matrix::assumed(to.height),
        (false, _) => {}
    }
    if named.range != ColorRange::Unspecified {
        to.range = named.range;
    }
    let kept = from.family == Family::Yuv && to.family == Family::Yuv && from.subsampling == to.subsampling;
    if !kept {
        to.siting = if to.subsampling == (0, 0) { Siting::Unspecified } else { Siting::Left };
    }
    Ok(displayed(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str) -> Format {
        Format::from_name(name, 720, 576).unwrap()
    }

    #[test]
    fn tags_follow_the_family() {
        let video = Format { matrix: Matrix::BT709, siting: Siting::Center, ..source("yuva420p10") };
        let rgb = retarget(&video, "gbrap16").unwrap();
        assert_eq!((rgb.matrix, rgb.range, rgb.siting), (Matrix::RGB, ColorRange::Full, Siting::Unspecified));
        assert_eq!((rgb.name().as_str(), rgb.alpha, rgb.rate), ("gbrap16", Alpha::Straight, video.rate));
        let back = retarget(&rgb, "yuv420p").unwrap();
        assert_eq!(
            (back.matrix, back.range, back.siting),
            (Matrix::SMPTE170M, ColorRange::Limited, Siting::Left)
        );
        assert_eq!(retarget(&video, "yuv420p").unwrap().siting, Siting::Center);
        assert_eq!(retarget(&video, "yuv422p").unwrap().siting, Siting::Left);
        assert_eq!(retarget(&video, "yuvj420p").unwrap().range, ColorRange::Full);
        let gray = retarget(&rgb, "gray").unwrap();
        assert_eq!((gray.range, gray.alpha), (ColorRange::Full, Alpha::None));
        assert_eq!(retarget(&gray, "yuv444p").unwrap().range, ColorRange::Full);
        assert_eq!(retarget(&video, "gray").unwrap().range, ColorRange::Unspecified);
        let png = Format { matrix: Matrix::RGB, ..source("gray") };
        assert_eq!(retarget(&png, "yuv420p").unwrap().matrix, Matrix::SMPTE170M);
        let exr = Format { alpha: Alpha::Premultiplied, ..source("gbrapf32") };
        assert_eq!(retarget(&exr, "gbrap16").unwrap().alpha, Alpha::Premultiplied);
        assert!(retarget(&video, "rgb24").is_err());
    }

    #[test]
    fn the_matrix_is_the_tags_else_by_height() {
        let at = |height, matrix| assumed_matrix(&Format { height, matrix, ..source("yuv420p") });
        assert_eq!(at(576, Matrix::UNSPECIFIED), (Matrix::SMPTE170M, true));
        assert_eq!(at(577, Matrix::UNSPECIFIED), (Matrix::BT709, true));
        assert_eq!(at(480, Matrix::BT2020NC), (Matrix::BT2020NC, false));
        assert_eq!(assumed_matrix(&source("gbrp")), (Matrix::RGB, false));
    }
}
