//! The kernels that settings amount to.

use super::COARSER;
use super::look::{Axis, kernel};
use crate::frame::{Format, PictureStructure};

/// The settings that make kernels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes {
    /// `size`.
    pub size: f64,
    /// `sharpness`.
    pub sharpness: f64,
    /// `chroma-size`.
    pub chroma: f64,
}

/// The separable kernel that makes white noise as coarse as grain.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Its weights, horizontally and vertically; the numbers are odd.
    pub weights: [Vec<f64>; 2],
    /// The variance of grain of strength 1 at this width of the picture.
    pub variance: f64,
}

/// The kernels of a plane: of the fine grain, and of the coarse grain that `variation` mixes in.
pub fn kernels(format: &Format, p: usize, sizes: &Sizes) -> [Kernel; 2] {
    [1.0, COARSER].map(|times| {
        let axes = axes(format, p, &Sizes { size: times * sizes.size, ..*sizes });
        let variance = axes[0].gain * axes[1].gain;
        Kernel { weights: axes.map(|axis| kernel(axis.taps, &axis.coarse)), variance }
    })
}

/// The directions of the grain of plane `p`.
pub(super) fn axes(format: &Format, p: usize, sizes: &Sizes) -> [Axis; 2] {
    let scale = f64::from(format.width) / 1920.0;
    let field = !matches!(format.picture, PictureStructure::Frame);
    let (sx, sy) = format.plane_subsampling(p);
    let size = if format.is_chroma(p) { sizes.size * sizes.chroma } else { sizes.size };
    let part = |n: u32| 1.0 / f64::from(1u32 << n);
    let across = Axis::scaled(size * part(sx.into()), sizes.sharpness, scale);
    let down = Axis::scaled(size * part(u32::from(sy) + u32::from(field)), sizes.sharpness, scale);
    [across, down]
}
