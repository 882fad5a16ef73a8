//! `transform`: pan, zoom, rotation and crop, all of which can be animated.
//!
//! For every sample of the output, the position in the source is computed in fixed point with 32 fraction bits, and the
//! samples around it are weighted by the kernel: vertically, rounded to 16 bits, then horizontally. When the picture is
//! reduced, the kernel is wider in proportion, to avoid aliasing. Without rotation, columns and rows are resampled in
//! two passes with the same weights and rounding. Sine and cosine are computed once per frame.
//! [`crate::pixel::resample`] defines kernels and rounding. Alpha moves with the picture, and stays within 0 to 1; straight
//! R, G, B and grey are multiplied by it meanwhile, so that transparent samples have no weight.

mod resampler;
#[cfg(test)]
mod tests;

pub(super) use resampler::{Mover, Placement, Resampler};

use super::scale::products;
use super::{Entry, Filter, Render, Role, Spec};
use crate::frame::{Alpha, Family, Format, FrameTime};
use crate::pixel::resample::{Edge, InterpolationKernel};
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<TransformSpec>("transform", "Transform", "Pans, zooms, rotates and crops")
        .with_role(Role::Moves);

/// The smallest zoom.
const MIN_ZOOM: f64 = 0.05;

settings! {
    struct TransformSpec {
        /// Magnification: 2 is twice as large, 0.5 half. zoom='0c=1;100=1.3' moves in slowly.
        zoom: Animated = number(MIN_ZOOM..=100.0).default(1.0).soft(0.25..=4.0).logarithmic(),
        /// Moves the picture right and down, in fractions of its width and height: 0.1,0 moves it a tenth to the right.
        pan: Animated<[f64; 2]> = position(-10.0..=10.0).default([0.0; 2]).unit(Unit::Fraction).soft(-1.0..=1.0),
        /// Rotates the picture clockwise.
        rotate: Animated = number(-36000.0..=36000.0).default(0.0).unit(Unit::Degrees).soft(-180.0..=180.0),
        /// Fixed point of zoom and rotation, in fractions of width and height: 0.5,0.5 is the middle.
        anchor: Animated<[f64; 2]> = position(-2.0..=3.0).default([0.5; 2]).unit(Unit::Fraction).soft(0.0..=1.0),
        /// Crops this fraction of the width on the left. The cropped area is filled as `edge` says.
        crop_left as "crop-left": Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Crop"),
        /// Crops this fraction of the width on the right.
        crop_right as "crop-right": Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Crop"),
        /// Crops this fraction of the height at the top.
        crop_top as "crop-top": Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Crop"),
        /// Crops this fraction of the height at the bottom.
        crop_bottom as "crop-bottom": Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Crop"),
        /// Interpolation between samples.
        kernel: InterpolationKernel = choice("bicubic"),
        /// What fills the area beyond the edges of the picture.
        edge: Edge = choice("color"),
        /// Fill colour for edge=color, with its alpha. Default: black; transparent in pictures with alpha.
        color: Animated<[f64; 4]> = colour().default([0.0; 4]).only_when("edge", &["color"]),
    }
}

choices! {
    for InterpolationKernel {
        /// the nearest sample: hard pixels
        Nearest = "nearest",
        /// linear interpolation: soft
        Bilinear = "bilinear",
        /// cubic (Catmull-Rom): sharp, almost no halos
        Bicubic = "bicubic",
        /// Lanczos with three lobes: sharpest, faint halos
        Lanczos = "lanczos",
    }
}

choices! {
    for Edge {
        /// the colour `color`
        Color = "color",
        /// the outermost samples, repeated
        Extend = "extend",
        /// the picture, mirrored
        Mirror = "mirror",
        /// the opposite side of the picture
        Wrap = "wrap",
    }
}

impl Spec for TransformSpec {
    fn working_format(&self, input: &Format) -> Format {
        if self.kernel == InterpolationKernel::Nearest { *input } else { without_rim(input) }
    }

    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let (set, format) = (self.clone(), *input);
        let resampler = Resampler::new(input, level, self.kernel, self.edge)?;
        let at = move |at: &FrameTime| (set.placement(&format, at), set.color.at(at));
        Ok(Mover { resampler, farthest: 1.0 / MIN_ZOOM + 2.0, at }.boxed())
    }
}

/// The format in which straight alpha can be averaged: for R, G, B and grey, products with alpha. Y, U and V stay, because a
/// step may name them.
pub(super) fn without_rim(input: &Format) -> Format {
    let light = input.is_rgb() || input.family == Family::Gray;
    if input.alpha == Alpha::Straight && light { products(input) } else { *input }
}

/// Sine and cosine of an angle in degrees; exact at multiples of 90.
pub(super) fn turn(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        a => {
            let a = a * (core::f64::consts::PI / 180.0);
            (libm::sin(a), libm::cos(a))
        }
    }
}

impl TransformSpec {
    fn placement(&self, format: &Format, at: &FrameTime) -> Placement {
        let size = [f64::from(format.width), f64::from(format.height)];
        let aspect = format.shape();
        let (sin, cos) = turn(self.rotate.at(at));
        let scale = 1.0 / self.zoom.at(at);
        // The inverse rotation, in square samples.
        let matrix = [[cos * scale, sin * scale / aspect], [-sin * scale * aspect, cos * scale]];
        let (anchor, pan) = (self.anchor.at(at), self.pan.at(at));
        let anchor = [anchor[0] * size[0], anchor[1] * size[1]];
        let moved = [anchor[0] + pan[0] * size[0], anchor[1] + pan[1] * size[1]];
        let shift = [0, 1].map(|i: usize| anchor[i] - matrix[i][0] * moved[0] - matrix[i][1] * moved[1]);
        // Rounding must not move the exact centre.
        let same = matrix == Placement::SAME.matrix && pan == [0.0; 2];
        let shift = if same { [0.0; 2] } else { shift };
        let crop = [&self.crop_left, &self.crop_right, &self.crop_top, &self.crop_bottom].map(|v| v.at(at));
        Placement { matrix, shift, crop }
    }
}
