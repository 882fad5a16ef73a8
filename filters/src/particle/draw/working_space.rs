//! The colours that a tile is drawn in: those of the planes themselves, or red, green and blue (or grey), as values or
//! as light.

use super::draw_plane::{self, DrawPlane, PlaneContent};
use super::style::{Blend, SplatStyle};
use crate::frame::{Alpha, Depth, Family, Format, PlaneSet};
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;

/// The values in which colours are mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum BlendSpace {
    /// The values of the picture.
    #[default]
    Gamma,
    /// Linear light.
    Linear,
}

/// How working colours follow from the planes of a picture.
#[derive(Clone, Debug)]
pub(super) struct WorkingSpace {
    /// The planes of the picture.
    pub(super) own: Vec<DrawPlane>,
    /// Whether working colours are the samples of the planes, less the code of nothing.
    pub(super) is_direct: bool,
    pub(super) curve: TransferFunction,
    /// Whether the rise of a value towards white is [softened](super::store::soften).
    pub(super) softens: bool,
    /// Whether what a value has above white is kept apart: screened light would darken it.
    pub(super) keeps_above_white: bool,
    /// To G, B and R from Y, U and V, and back; `None` where the planes are light themselves.
    pub(super) matrix: Option<[[[f64; 3]; 3]; 2]>,
    /// The number of working colours of a cell.
    colours: usize,
    /// Chroma with the same cells, other than luma's: it has working colours of its own.
    chroma: Vec<PlaneSet>,
    pub(super) alpha: Option<usize>,
    kind: Alpha,
}

impl WorkingSpace {
    pub(super) fn new(
        format: &Format,
        styles: &[SplatStyle],
        space: BlendSpace,
        matrix: Option<Coefficients>,
    ) -> WorkingSpace {
        let curve =
            if space == BlendSpace::Linear { TransferFunction::of(format) } else { TransferFunction::Linear };
        let matrix = matrix.filter(|_| format.family == Family::Yuv);
        // Covering is a weighted mean, which is the same in Y, U and V as in R, G and B. What adds or multiplies light
        // is limited per channel, and is not.
        let covers = styles.iter().all(|s| s.blend == Blend::Over);
        let adds = !styles.is_empty() && styles.iter().all(|s| s.blend == Blend::Add);
        // What is below a picture with alpha is not known yet, nor where white is.
        let softens = adds && format.depth != Depth::Float && format.alpha == Alpha::None;
        let screens = styles.iter().any(|s| s.blend == Blend::Screen)
            && styles.iter().all(|s| matches!(s.blend, Blend::Add | Blend::Screen));
        let keeps_above_white = screens && format.depth == Depth::Float;
        let is_direct = curve == TransferFunction::Linear
            && !softens
            && !keeps_above_white
            && (matrix.is_none() || covers);
        let own: Vec<DrawPlane> = (0..format.planes()).map(|p| DrawPlane::of(format, p)).collect();
        let mut chroma: Vec<PlaneSet> = Vec::new();
        if matrix.is_some() && !is_direct {
            for p in (1..3).filter(|p| own[*p].cells != own[0].cells) {
                match chroma.iter_mut().find(|set| set.iter().any(|q| own[q].cells == own[p].cells)) {
                    Some(set) => *set = *set | PlaneSet::one(p),
                    None => chroma.push(PlaneSet::one(p)),
                }
            }
        }
        WorkingSpace {
            is_direct,
            curve,
            softens,
            keeps_above_white,
            matrix: matrix.filter(|_| !is_direct).map(|m| [m.to_rgb(), m.to_yuv()]),
            colours: if format.family == Family::Gray { 1 } else { 3 },
            chroma,
            alpha: format.alpha_plane(),
            kind: format.alpha,
            own,
        }
    }

    /// The working planes: those of the picture, or colours and alpha in luma's cells, then colours in those of chroma.
    pub(super) fn planes(&self) -> Vec<DrawPlane> {
        if self.is_direct {
            return self.own.clone();
        }
        let squared = self.curve != TransferFunction::Linear;
        let colours = |cells| {
            (0..self.colours).map(move |i| {
                let content = PlaneContent::Light(i);
                DrawPlane { content, cells, zero: 0.0, span: 1.0, legal: None, squared }
            })
        };
        let apart = self.chroma.iter().filter_map(|set| set.iter().next()).map(|p| self.own[p].cells);
        let mut planes: Vec<DrawPlane> = colours(self.own[0].cells).collect();
        planes.extend(self.alpha.map(|a| self.own[a]));
        planes.extend(apart.flat_map(colours));
        planes
    }

    /// Whether working plane `p` of grid `grid` (luma's, then those of chroma) is needed when `writes` are written.
    pub(super) fn wants(&self, p: usize, content: PlaneContent, grid: usize, writes: PlaneSet) -> bool {
        match (content, self.alpha) {
            (PlaneContent::Alpha, Some(alpha)) => writes.has(alpha),
            _ if self.is_direct || self.matrix.is_none() => writes.has(p),
            _ => !(self.planes_of(grid) & writes).is_empty(),
        }
    }

    /// The planes of Y, U and V that working colours of a grid stand for.
    pub(super) fn planes_of(&self, grid: usize) -> PlaneSet {
        match grid.checked_sub(1) {
            None => PlaneSet::ALL.filter(|p| p < 3 && !self.chroma.iter().any(|set| set.has(p))),
            Some(set) => self.chroma.get(set).copied().unwrap_or(PlaneSet::NONE),
        }
    }

    /// Whether colour depends on alpha, where alpha is written.
    pub(super) fn is_multiplied(&self) -> bool {
        match self.kind {
            Alpha::Premultiplied => self.curve != TransferFunction::Linear,
            Alpha::Straight => true,
            Alpha::None => false,
        }
    }

    /// Whether the samples of the picture are multiplied by alpha.
    pub(super) fn is_premultiplied(&self) -> bool {
        self.kind == Alpha::Premultiplied
    }

    /// A colour (0 to 1, as displayed) in the representation of splats: values, or the square roots of light, whose
    /// steps are perceptually more even.
    pub(super) fn packed(&self, rgb: [f64; 3], matrix: Option<Coefficients>) -> [u16; 3] {
        if self.is_direct {
            return draw_plane::packed(&self.own, draw_plane::nominal(matrix, rgb));
        }
        let nominal = draw_plane::nominal(matrix.filter(|_| self.colours == 1), rgb);
        nominal.map(|v| {
            let kept =
                if self.curve == TransferFunction::Linear { v } else { self.curve.light(v).max(0.0).sqrt() };
            // `as` saturates and turns NaN into 0.
            (kept * 65535.0 + 0.5) as u16
        })
    }
}
