//! The styles of splats, prepared for a format.

use super::draw_plane::{self, BlendTerms, DrawPlane, Group};
use super::grid::Grid;
use super::sampler::{ColourConversion, Prepared};
use super::splat::Splat;
use super::style::{Shape, SplatStyle};
use super::working_space::{BlendSpace, WorkingSpace};
use crate::frame::{Family, Format};
use crate::pixel::convert::Coefficients;
use crate::simd::Level;

/// log2 of a tile's luma samples across and down. Measured: with these a tile and the stamps of one size stay in a
/// first cache of 32 kB, and one splat of 3 samples in eight is in two tiles.
const TILE: [u32; 2] = [6, 5];

/// The largest number of styles of a painter.
pub const MAX_STYLES: usize = 4096;

/// The error of a painter.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum PainterError {
    /// More than [`MAX_STYLES`].
    #[error("{0} styles: at most {MAX_STYLES} are possible")]
    Styles(usize),
    /// A gain that is not a number from 0 to 1000.
    #[error("a gain is from 0 to 1000, not {0}")]
    Gain(f32),
}

/// Draws splats into pictures of one format.
#[derive(Clone, Debug)]
pub struct Painter {
    pub(super) format: Format,
    pub(super) styles: Vec<SplatStyle>,
    pub(super) images: Vec<Option<Prepared>>,
    /// The planes that are drawn on.
    pub(super) planes: Vec<DrawPlane>,
    pub(super) groups: Vec<Group>,
    /// The sizes of cells for which there are stamps.
    pub(super) shifts: Vec<[u32; 2]>,
    matrix: Option<Coefficients>,
    pub(super) space: WorkingSpace,
    pub(super) grid: Grid,
    /// The aspect ratio of a displayed sample.
    pub(super) aspect: f32,
    pub(super) level: Level,
    pub(super) draft: bool,
}

impl Painter {
    /// A painter for pictures (frames or fields) of a format, with the styles to which splats refer by index. Colours are
    /// mixed in code values, or in linear light by the picture's transfer function (without a tag, sRGB for R, G and B and
    /// BT.1886 for everything else). They are display values in either case, and opaque splats look the same.
    ///
    /// # Errors
    /// There are too many styles, or a style's gain is not a number from 0 to 1000.
    pub fn new(
        format: &Format,
        styles: Vec<SplatStyle>,
        space: BlendSpace,
        level: Level,
    ) -> Result<Painter, PainterError> {
        if styles.len() > MAX_STYLES {
            return Err(PainterError::Styles(styles.len()));
        }
        if let Some(style) = styles.iter().find(|l| !(0.0..=1000.0).contains(&l.gain)) {
            return Err(PainterError::Gain(style.gain));
        }
        let matrix = draw_plane::matrix(format);
        let space = WorkingSpace::new(format, &styles, space, matrix);
        let planes = space.planes();
        let mut shifts: Vec<[u32; 2]> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for (p, plane) in planes.iter().enumerate() {
            let kind = shifts.iter().position(|s| *s == plane.cells.shift).unwrap_or_else(|| {
                shifts.push(plane.cells.shift);
                shifts.len() - 1
            });
            match groups.iter_mut().find(|g| g.cells == plane.cells) {
                Some(group) => group.add(p),
                None => groups.push(Group::new(plane.cells, kind, p)),
            }
        }
        let (w, h) = format.plane_size(0);
        let aspect = format.shape() as f32;
        let grid = Grid::new([w, h], TILE, groups.iter().map(|g| g.cells)).displayed(aspect);
        let mut painter = Painter {
            format: *format,
            styles,
            images: Vec::new(),
            planes,
            groups,
            shifts,
            matrix,
            space,
            grid,
            aspect,
            level,
            draft: false,
        };
        let colours = painter.colours();
        let prepared = |style: &SplatStyle| match &style.shape {
            Shape::Image(image) => Some(Prepared::new(image, &colours)),
            _ => None,
        };
        painter.images = painter.styles.iter().map(prepared).collect();
        Ok(painter)
    }

    /// The same with tiles of 2^`log` luma samples across and down, 4 to 9 each.
    #[cfg(test)]
    pub(super) fn with_tiles(self, log: [u32; 2]) -> Painter {
        Painter { grid: self.grid.divided(log), ..self }
    }

    /// Whether it draws a draft: the same splats, but shapes without a stamp are sampled at no more than 2 x 2 points
    /// per cell, and images at the nearest texel.
    #[must_use]
    pub fn draft(self, draft: bool) -> Painter {
        Painter { draft, ..self }
    }

    /// The conversion of texels to working colours.
    pub(super) fn colours(&self) -> ColourConversion {
        let grey = self.format.family == Family::Gray;
        // Grey is computed from R, G and B in both cases.
        let matrix = self.matrix.filter(|_| self.space.is_direct || grey);
        ColourConversion { matrix, grey, curve: self.space.curve, level: self.level }
    }

    /// The format.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The luma rows of a tile: bands of a multiple of it are the fastest.
    pub fn tile_rows(&self) -> usize {
        self.grid.tile_rows()
    }

    /// R, G and B, from 0 to 1 as displayed, as a splat's colour.
    pub fn colour(&self, rgb: [f64; 3]) -> [u16; 3] {
        self.space.packed(rgb, self.matrix)
    }

    /// The effect of a splat on each plane of a group.
    #[inline(always)]
    pub(super) fn effects(&self, group: &Group, splat: &Splat, style: &SplatStyle) -> [BlendTerms; 4] {
        let mut out = [BlendTerms::default(); 4];
        for (out, p) in out.iter_mut().zip(group.planes()) {
            *out = self.planes[*p].splat_terms(style, splat.colour);
        }
        out
    }
}
