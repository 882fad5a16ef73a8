//! `vignette`: darkens the picture towards its edges.
//!
//! With r the distance from the centre (1 from the middle of the picture to a corner), the darkening is 0 up to
//! `radius` and `amount` from `radius + softness` on; between them it follows the smooth step `3t^2 - 2t^3` of `t =
//! (r^2 - radius^2) / ((radius + softness)^2 - radius^2)`. Black and zero colour differences do not change.
//! [`crate::pixel::vignette`] defines the kernel, its integer arithmetic and its error. A slow ramp would show bands in
//! 8 bits, so the chain works in 16 and ends with dither.

use super::point::key;
use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError};
use crate::pixel::convert::Code;
use crate::pixel::vignette::{Axis, Columns, shade_f32, shade_u8, shade_u16, term};
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<VignetteSpec>("vignette", "Vignette", "Darkens the picture towards its edges");

settings! {
    struct VignetteSpec {
        /// Darkening at the darkest place: 0 is none, 1 is black.
        amount: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction),
        /// Where darkening begins: 0 is the centre, 1 the corners.
        radius: Animated = number(0.0..=2.0).default(0.35),
        /// Width of the transition: 1 is the distance from the centre to a corner, 0 a hard edge.
        softness: Animated = number(0.0..=4.0).default(0.75).soft(0.0..=2.0),
        /// Shape: 0 is an ellipse with the proportions of the picture, 1 a circle.
        roundness: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// Position of the centre in fractions of width and height: 0.5,0.5 is the middle.
        center: Animated<[f64; 2]> =
            position(-2.0..=3.0).default([0.5, 0.5]).label("Centre").unit(Unit::Fraction).soft(0.0..=1.0),
    }
}

impl Spec for VignetteSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(Vignette { format: *input, set: self.clone(), level }.boxed())
    }

    fn wants_16_bits(&self) -> bool {
        true
    }
}

struct Vignette {
    format: Format,
    set: VignetteSpec,
    level: Level,
}

/// The shape of the darkening at a time, in luma samples of the frame.
#[derive(Clone, Copy)]
struct Shape {
    across: Axis,
    down: Axis,
    begin: f64,
    /// The factor of a squared distance.
    scale: f64,
}

impl Vignette {
    fn shape(&self, at: &FrameTime) -> Shape {
        let (w, h) = (f64::from(self.format.width), f64::from(self.format.height));
        let aspect = self.format.shape();
        let diagonal = (w * aspect * w * aspect + h * h).sqrt() / 2.0;
        let root = core::f64::consts::SQRT_2 / 2.0;
        let round = self.set.roundness.at(at);
        let radius = |side: f64, circle: f64| side * root + (circle - side * root) * round;
        let [x, y] = self.set.center.at(at);
        let begin = self.set.radius.at(at);
        let end = begin + self.set.softness.at(at);
        let (begin, end) = (begin * begin, end * end);
        Shape {
            across: Axis { centre: x * w, radius: radius(w, diagonal / aspect) },
            down: Axis { centre: y * h, radius: radius(h, diagonal) },
            begin,
            // For a hard edge, a very steep one is equivalent.
            scale: 1.0 / (end - begin).max(1e-4),
        }
    }

    /// The terms of the columns of plane `p`.
    fn columns(&self, shape: &Shape, p: usize) -> Columns {
        let (first, step) = self.format.frame_sites(p);
        let place = |x: usize| first[0] + x as f64 * step[0];
        let (width, _) = self.format.plane_size(p);
        Columns::new((0..width).map(|x| term(shape.across.square(place(x)), shape.scale)).collect())
    }

    /// The term of row `y` of plane `p`.
    fn row(&self, shape: &Shape, p: usize, y: usize) -> i32 {
        let (first, step) = self.format.frame_sites(p);
        term(shape.down.square(first[1] + y as f64 * step[1]) - shape.begin, shape.scale)
    }
}

impl Render for Vignette {
    /// With the amount.
    type Params = (Shape, f64);
    /// The terms of the columns of luma and of chroma.
    type State = Vec<Columns>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let amount = self.set.amount.at(at);
        if amount <= 0.0 {
            return None;
        }
        let s = self.shape(at);
        let state = key(&[s.across.centre, s.across.radius, s.scale]);
        Some((Plan { state: Some(state), ..Plan::in_place(self.format.color_planes()) }, (s, amount)))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 2 * Columns::bytes(self.format.width as usize) + 64 }
    }

    fn prepare(
        &self,
        (shape, _): &Self::Params,
        _: Vec<Columns>,
        host: &Host<'_>,
    ) -> Result<Vec<Columns>, PrepareError> {
        host.check()?;
        let planes = if self.format.is_chroma(1) { 2 } else { 1 };
        Ok((0..planes).map(|p| self.columns(shape, p)).collect())
    }

    fn render(
        &self,
        (shape, amount): &Self::Params,
        columns: &Vec<Columns>,
        band: &mut Band<'_>,
        _: &mut Scratch,
    ) {
        let fixed = libm::floor(amount * 65535.0 + 0.5) as u16;
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let columns = &columns[usize::from(self.format.is_chroma(p))];
            let zero = Code::of(&self.format, p).zero;
            let plane = band.output.plane_mut(p);
            for y in plane.rows() {
                let row = self.row(shape, p, y);
                match self.format.depth {
                    Depth::Bits(8) => shade_u8(self.level, plane.row_mut(y), columns, row, fixed, zero as u8),
                    Depth::Bits(_) => {
                        shade_u16(self.level, plane.row_mut(y), columns, row, fixed, zero as u16)
                    }
                    Depth::Float => shade_f32(self.level, plane.row_mut(y), columns, row, *amount as f32),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
