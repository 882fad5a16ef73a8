//! The planes that are drawn on instead of those of the picture: red, green and blue, as values or light.

use super::draw_plane::{self, DrawPlane, PlaneContent};
use super::image::Image;
use super::style::{Blend, Shape, SplatStyle};
use crate::frame::{Alpha, Family, Format, PlaneSet};
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;

/// The values in which colours are mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum BlendSpace {
    /// The values of the picture.
    #[default]
    Gamma,
    /// Linear light.
    Linear,
}

/// The relation of planes and working samples.
#[derive(Clone, Debug)]
pub(super) struct WorkingSpace {
    pub(super) curve: TransferFunction,
    /// The planes of the picture.
    pub(super) own: Vec<DrawPlane>,
    /// To G, B and R from Y, U and V, and back; `None` where the planes are light themselves.
    pub(super) matrix: Option<[[[f64; 3]; 3]; 2]>,
    /// The number of working samples of light per luma sample: 1 or 3.
    pub(super) lights: usize,
    /// Chroma that lies alike, apart from luma: each has light, and alpha, of its own.
    pub(super) chroma: Vec<PlaneSet>,
    pub(super) alpha: Option<usize>,
    pub(super) kind: Alpha,
    pub(super) level: Level,
}

/// Whether splats of a look may have colours that count one by one.
fn coloured(style: &SplatStyle) -> bool {
    matches!(style.blend, Blend::Screen | Blend::Multiply)
        && match &style.shape {
            Shape::Image(image) => !Image::is_grey(image),
            _ => style.tinted,
        }
}

impl WorkingSpace {
    /// `None` if the planes can be drawn into directly.
    pub(super) fn of(
        format: &Format,
        styles: &[SplatStyle],
        light: BlendSpace,
        matrix: Option<Coefficients>,
        level: Level,
    ) -> Option<WorkingSpace> {
        let curve =
            if light == BlendSpace::Linear { TransferFunction::of(format) } else { TransferFunction::Linear };
        let matrix = matrix.filter(|_| format.family == Family::Yuv);
        if curve == TransferFunction::Linear && !(matrix.is_some() && styles.iter().any(coloured)) {
            return None;
        }
        let own: Vec<DrawPlane> = (0..format.planes()).map(|p| DrawPlane::of(format, p)).collect();
        let mut chroma: Vec<PlaneSet> = Vec::new();
        if matrix.is_some() {
            for p in (1..3).filter(|p| own[*p].cells != own[0].cells) {
                match chroma.iter_mut().find(|set| set.iter().any(|q| own[q].cells == own[p].cells)) {
                    Some(set) => *set = *set | PlaneSet::one(p),
                    None => chroma.push(PlaneSet::one(p)),
                }
            }
        }
        Some(WorkingSpace {
            curve,
            matrix: matrix.map(|m| [m.to_rgb(), m.to_yuv()]),
            lights: if format.family == Family::Gray { 1 } else { 3 },
            chroma,
            alpha: format.alpha_plane(),
            kind: format.alpha,
            own,
            level,
        })
    }

    /// The working planes: light and alpha at the positions of luma, then at those of chroma.
    pub(super) fn places(&self) -> Vec<DrawPlane> {
        let squared = self.curve != TransferFunction::Linear;
        let apart = self.chroma.iter().filter_map(|set| set.iter().next()).map(|p| self.own[p].cells);
        core::iter::once(self.own[0].cells)
            .chain(apart)
            .flat_map(|cells| {
                (0..self.each()).map(move |i| {
                    let content = if i == self.lights { PlaneContent::Alpha } else { PlaneContent::Light(i) };
                    DrawPlane { content, cells, zero: 0.0, span: 1.0, legal: None, squared }
                })
            })
            .collect()
    }

    /// Whether working plane `p` is needed when `writes` are written.
    pub(super) fn wants(&self, p: usize, writes: PlaneSet) -> bool {
        let seen = match self.set_of(p) {
            0 if self.matrix.is_none() => p == self.lights || writes.has(p),
            0 => self.lights == self.component(p) || !self.beside_luma(writes).is_empty(),
            set => self.chroma.get(set - 1).is_some_and(|set| !(*set & writes).is_empty()),
        };
        seen && (self.component(p) < self.lights || self.alpha.is_some_and(|a| writes.has(a)))
    }

    /// Working planes of one kind of cells.
    fn each(&self) -> usize {
        self.lights + usize::from(self.alpha.is_some())
    }

    /// 0 for luma, above for chroma that is apart.
    pub(super) fn set_of(&self, p: usize) -> usize {
        p / self.each()
    }

    /// The index of the light, or alpha after them.
    pub(super) fn component(&self, p: usize) -> usize {
        p % self.each()
    }

    /// The planes of Y, U and V whose cells are luma's.
    pub(super) fn beside_luma(&self, writes: PlaneSet) -> PlaneSet {
        (0..3)
            .filter(|p| self.own[*p].cells == self.own[0].cells && writes.has(*p))
            .fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p))
    }

    /// A colour (0 to 1, as displayed) in the representation of splats: values, or the square roots of light, whose
    /// steps are perceptually more even.
    pub(super) fn packed(&self, rgb: [f64; 3], grey: Option<Coefficients>) -> [u16; 3] {
        let nominal = draw_plane::nominal(if self.lights == 1 { grey } else { None }, rgb);
        nominal.map(|v| {
            let kept =
                if self.curve == TransferFunction::Linear { v } else { self.curve.light(v).max(0.0).sqrt() };
            // `as` saturates and turns NaN into 0.
            (kept * 65535.0 + 0.5) as u16
        })
    }
}
