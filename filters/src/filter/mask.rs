//! Masks over the frame, from pictures: obstacles of simulations, and liquid that begins as a shape.

use crate::choices;
use crate::frame::{Alpha, Family};
use crate::particle::fluid::SignedDistanceField;
use crate::settings::{ImageAsset, SettingError};
use std::sync::Arc;

choices! {
    /// Which areas of an obstacle are solid.
    pub(super) enum Side {
        /// the bright ones
        Bright = "bright",
        /// the dark ones
        Dark = "dark",
    }
}

/// A picture over the frame, row by row: 1 where it is on the selected side of a threshold, else 0.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Mask {
    pub(super) size: [usize; 2],
    pub(super) values: Vec<f32>,
}

impl Mask {
    /// The areas of a setting's picture on one side of the threshold.
    ///
    /// # Errors
    /// The picture has not been read, or is YUV.
    pub(super) fn new(
        setting: &'static str,
        picture: &ImageAsset,
        threshold: f64,
        side: Side,
    ) -> Result<Mask, SettingError> {
        let frame = picture.require().map_err(|e| SettingError::new(setting, e))?;
        let format = frame.format();
        if format.family == Family::Yuv {
            return Err(SettingError::new(setting, "a mask must be grey or RGB, not YUV: save it as PNG"));
        }
        let (w, h) = format.plane_size(0);
        let limit = threshold as f32;
        let value = |x: usize, y: usize| {
            let at = |p: usize| frame.value(p, x, y);
            let luma = if format.family == Family::Gray {
                at(0)
            } else {
                0.7152 * at(0) + 0.0722 * at(1) + 0.2126 * at(2)
            };
            let alpha = format.alpha_plane().map_or(1.0, at);
            let luma = if format.alpha == Alpha::Straight { luma * alpha } else { luma };
            f32::from(u8::from((luma > limit) != (side == Side::Dark)))
        };
        let values = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| value(x, y)).collect();
        Ok(Mask { size: [w, h], values })
    }

    /// The covered part of the frame.
    pub(super) fn coverage(&self) -> f64 {
        self.values.iter().map(|v| f64::from(*v)).sum::<f64>() / self.values.len().max(1) as f64
    }

    /// The nearest texel at a position in fractions of width and height.
    pub(super) fn at(&self, u: f64, v: f64) -> f32 {
        let place = |t: f64, n: usize| ((t * n as f64).max(0.0) as usize).min(n - 1);
        self.values[place(v, self.size[1]) * self.size[0] + place(u, self.size[0])]
    }

    /// The mean over a square around a position, from three by three samples.
    fn mean(&self, at: [f64; 2], size: [f64; 2]) -> f32 {
        let part = |k: i32| (f64::from(k) + 0.5) / 3.0 - 0.5;
        let mut sum = 0.0;
        for j in 0..3 {
            for i in 0..3 {
                sum += self.at(at[0] + part(i) * size[0], at[1] + part(j) * size[1]);
            }
        }
        sum / 9.0
    }

    /// The distance from the mask over a frame of width `aspect` and height 1 whose corner is at `origin`, with `per`
    /// nodes per unit and one node beyond the edges. Beyond the edges the mask continues if `extends`.
    pub(super) fn distance_field(
        &self,
        aspect: f64,
        origin: [f64; 2],
        per: f64,
        extends: bool,
    ) -> Option<Arc<SignedDistanceField>> {
        let n = [aspect, 1.0].map(|v| (v * per) as usize + 3);
        let one = 1.0 / per;
        let step = [one / aspect, one];
        let mut inside = Vec::with_capacity(n[0] * n[1]);
        for j in 0..n[1] {
            for i in 0..n[0] {
                let at = [(i as f64 - 1.0) * step[0], (j as f64 - 1.0) * step[1]];
                let beyond = at.iter().any(|v| !(0.0..=1.0).contains(v));
                inside.push((extends || !beyond) && self.mean(at, step) > 0.5);
            }
        }
        SignedDistanceField::new(n, origin.map(|v| (v - one) as f32), per as f32, &inside).map(Arc::new)
    }
}

/// The obstacle of a simulation, from an image or from a frame of the source.
///
/// # Errors
/// Those of [`Mask::new`].
pub(super) fn obstacle(
    image: Option<&ImageAsset>,
    frame: Option<&ImageAsset>,
    threshold: f64,
    solid: Side,
) -> Result<Option<Mask>, SettingError> {
    let image = image.map(|picture| ("obstacle", picture));
    let given = image.or_else(|| frame.map(|picture| ("obstacle_frame", picture)));
    given.map(|(setting, picture)| Mask::new(setting, picture, threshold, solid)).transpose()
}

/// Refuses two obstacles.
///
/// # Errors
/// If there are two.
pub(super) fn check_obstacle(
    image: Option<&ImageAsset>,
    frame: Option<&ImageAsset>,
) -> Result<(), SettingError> {
    if image.is_some() && frame.is_some() {
        return Err(SettingError::new("obstacle_frame", "replaces `obstacle`: give only one of the two"));
    }
    Ok(())
}
