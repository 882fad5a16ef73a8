//! The styles of splats, prepared for a format.

use super::draw_plane::{self, BlendTerms, DrawPlane, Group};
use super::grid::Grid;
use super::sampler::Prepared;
use super::splat::Splat;
use super::style::{Shape, SplatStyle};
use super::working_space::{BlendSpace, WorkingSpace};
use crate::frame::{Family, Format};
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;
use core::fmt;

/// log2 of a tile's luma samples across and down. Measured: with these a tile and the stamps of one size stay in a
/// first cache of 32 kB, and one splat of 3 samples in eight is in two tiles.
const TILE: [u32; 2] = [6, 5];

/// The largest number of styles of a painter.
pub const MAX_STYLES: usize = 4096;

/// The error of a painter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PainterError {
    /// More than [`MAX_STYLES`].
    Styles(usize),
    /// A gain that is not a number from 0 to 1000.
    Gain(f32),
}

impl fmt::Display for PainterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PainterError::Styles(n) => write!(f, "{n} styles: at most {MAX_STYLES} are possible"),
            PainterError::Gain(g) => write!(f, "a gain is from 0 to 1000, not {g}"),
        }
    }
}

impl core::error::Error for PainterError {}

/// Draws splats into pictures of one format.
#[derive(Clone, Debug)]
pub struct Painter {
    pub(super) format: Format,
    pub(super) styles: Vec<SplatStyle>,
    pub(super) images: Vec<Option<Prepared>>,
    pub(super) places: Vec<DrawPlane>,
    pub(super) groups: Vec<Group>,
    /// The sizes of cells for which there are stamps.
    pub(super) shifts: Vec<[u32; 2]>,
    matrix: Option<Coefficients>,
    /// Set if samples are converted before drawing.
    pub(super) working: Option<Box<WorkingSpace>>,
    pub(super) grid: Grid,
    /// The aspect ratio of a displayed sample.
    pub(super) aspect: f32,
    pub(super) level: Level,
    pub(super) draft: bool,
}

impl Painter {
    /// A painter for pictures (frames or fields) of a format, with the styles to which splats refer by index.
    pub fn new(format: &Format, styles: Vec<SplatStyle>, level: Level) -> Result<Painter, PainterError> {
        Painter::with_space(format, styles, BlendSpace::Gamma, level)
    }

    /// The same with colours mixed in code values, or in linear light by the picture's transfer function (without a
    /// tag, sRGB for R, G and B and BT.1886 for everything else). Colours are display values in either case, and opaque
    /// splats look the same.
    pub fn with_space(
        format: &Format,
        styles: Vec<SplatStyle>,
        light: BlendSpace,
        level: Level,
    ) -> Result<Painter, PainterError> {
        Painter::with_tiles(format, styles, light, TILE, level)
    }

    /// The same with tiles of 2^`log` luma samples across and down, 4 to 9 each.
    pub(super) fn with_tiles(
        format: &Format,
        styles: Vec<SplatStyle>,
        light: BlendSpace,
        log: [u32; 2],
        level: Level,
    ) -> Result<Painter, PainterError> {
        if styles.len() > MAX_STYLES {
            return Err(PainterError::Styles(styles.len()));
        }
        if let Some(style) = styles.iter().find(|l| !(0.0..=1000.0).contains(&l.gain)) {
            return Err(PainterError::Gain(style.gain));
        }
        let matrix = draw_plane::matrix(format);
        let working = WorkingSpace::of(format, &styles, light, matrix, level).map(Box::new);
        let places: Vec<DrawPlane> = match &working {
            Some(working) => working.places(),
            None => (0..format.planes()).map(|p| DrawPlane::of(format, p)).collect(),
        };
        let mut shifts: Vec<[u32; 2]> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for (p, place) in places.iter().enumerate() {
            let kind = shifts.iter().position(|s| *s == place.cells.shift).unwrap_or_else(|| {
                shifts.push(place.cells.shift);
                shifts.len() - 1
            });
            match groups.iter_mut().find(|g| g.cells == place.cells) {
                Some(group) => group.add(p),
                None => groups.push(Group::new(place.cells, kind, p)),
            }
        }
        // Grey is computed from R, G and B in both cases.
        let colours = matrix.filter(|_| working.is_none() || format.family == Family::Gray);
        let curve = working.as_ref().map_or(TransferFunction::Linear, |w| w.curve);
        let images = styles
            .iter()
            .map(|style| match &style.shape {
                Shape::Image(image) => Some(Prepared::of(image, &places, colours, curve, level)),
                _ => None,
            })
            .collect();
        let (w, h) = format.plane_size(0);
        let aspect = format.shape() as f32;
        let grid = Grid::new([w, h], log, groups.iter().map(|g| g.cells)).shown(aspect);
        let format = *format;
        let draft = false;
        Ok(Painter {
            format,
            styles,
            images,
            places,
            groups,
            shifts,
            matrix,
            working,
            grid,
            aspect,
            level,
            draft,
        })
    }

    /// Whether it draws a draft: the same splats, but shapes without a stamp are sampled at no more than 2 x 2 points
    /// per cell, and images at the nearest texel.
    #[must_use]
    pub fn draft(self, draft: bool) -> Painter {
        Painter { draft, ..self }
    }

    /// The matrix and the curve that texels go through.
    pub(super) fn colours(&self) -> (Option<Coefficients>, TransferFunction) {
        let direct = self.working.is_none() || self.format.family == Family::Gray;
        let curve = self.working.as_ref().map_or(TransferFunction::Linear, |w| w.curve);
        (self.matrix.filter(|_| direct), curve)
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
        match &self.working {
            Some(working) => working.packed(rgb, self.matrix),
            None => draw_plane::packed(&self.places, draw_plane::nominal(self.matrix, rgb)),
        }
    }

    /// The effect of a splat on each plane of a group.
    #[inline(always)]
    pub(super) fn effects(&self, group: &Group, splat: &Splat, style: &SplatStyle) -> [BlendTerms; 4] {
        let mut out = [BlendTerms::default(); 4];
        for (out, p) in out.iter_mut().zip(group.planes()) {
            *out = self.places[*p].effect(style.blend, splat.colour, style.gain);
        }
        out
    }
}
