//! Drawing bands of a picture.

use super::bins::{Bins, CHUNK};
use super::composite::{DrawBuffers, paint};
use super::draw_plane::{self, DrawPlane};
use super::grid::Grid;
use super::image::Prepared;
use super::light::{BlendSpace, WorkingSpace};
use super::splat::{LEAST, Splat};
use super::stamp::{RADII, Stamp};
use super::style::{Shape, SplatStyle};
use super::tile::{Group, Tile};
use crate::frame::{Family, Format, FrameMut, PlaneSet, Scratch};
use crate::lend::Executor;
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;
use crate::simd::Level;
use core::fmt;

/// log2 of a tile's luma samples across and down. Measured: with these a tile and the stamps of one size stay in a
/// first cache of 32 kB, and one splat of 3 samples in eight is in two tiles.
const TILE: [u32; 2] = [6, 5];

/// `f32`s of a splat.
const SPLAT: usize = size_of::<Splat>() / size_of::<f32>();

/// The most looks that one painter may have.
pub const MAX_STYLES: usize = 4096;

/// A painter cannot be made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PainterError {
    /// More than [`MAX_STYLES`].
    Looks(usize),
    /// A gain that is not a number from 0 to 1000.
    Gain(f32),
}

impl fmt::Display for PainterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PainterError::Looks(n) => write!(f, "{n} looks: at most {MAX_STYLES} are possible"),
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
    /// Sizes of cells for which there are stamps.
    pub(super) shifts: Vec<[u32; 2]>,
    matrix: Option<Coefficients>,
    /// Where it does not draw into the planes as they are.
    pub(super) working: Option<Box<WorkingSpace>>,
    pub(super) grid: Grid,
    /// Width over height of a sample as shown.
    pub(super) aspect: f32,
    level: Level,
    pub(super) draft: bool,
}

/// Stamps that were wanted so far. They follow from looks and format alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    /// By look and radius: 1 and up, the place in `sets`; 0 nothing made yet; `NONE` no stamp.
    index: Vec<u16>,
    /// A stamp for each size of cell, and how many sizes there are.
    sets: Vec<Stamp>,
    kinds: usize,
}

const NONE: u16 = u16::MAX;
/// The most discs that stamps are made for, a bound on memory.
const MAX_STAMP_SETS: usize = 512;

impl Stamps {
    /// The number of a splat's set of stamps, 0 or a high one if there is none.
    #[inline(always)]
    pub(super) fn set(&self, splat: &Splat) -> u16 {
        let [x, y] = splat.half;
        let radius = usize::from(x.wrapping_sub(LEAST));
        if x != y || radius >= RADII {
            return 0;
        }
        self.index.get(usize::from(splat.style) * RADII + radius).copied().unwrap_or(0)
    }

    /// The stamp of a set for one size of cell.
    #[inline(always)]
    pub(super) fn stamp(&self, set: u16, kind: usize) -> Option<&Stamp> {
        self.sets.get(usize::from(set.wrapping_sub(1)) * self.kinds + kind)
    }

    fn want(&mut self, painter: &Painter, used: &[bool]) {
        self.index.resize(painter.styles.len() * RADII, 0);
        self.kinds = painter.shifts.len();
        for (i, _) in used.iter().enumerate().filter(|(_, u)| **u) {
            let Some(0) = self.index.get(i) else { continue };
            let soft = match painter.styles.get(i / RADII).map(|l| &l.shape) {
                Some(Shape::Disc { soft }) => *soft,
                _ => 0.0,
            };
            let radius = (i % RADII) as u16 + LEAST;
            let made = painter
                .shifts
                .iter()
                .map(|s| Stamp::of(radius, soft, *s, painter.aspect))
                .collect::<Option<Vec<_>>>();
            self.index[i] = match made {
                Some(set) if self.sets.len() < MAX_STAMP_SETS * self.kinds => {
                    self.sets.extend(set);
                    (self.sets.len() / self.kinds) as u16
                }
                _ => NONE,
            };
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.index.capacity() * 2 + self.sets.iter().map(Stamp::bytes).sum::<usize>()
    }
}

impl Painter {
    /// For pictures (frames or fields) of a format, with the looks that splats name by their place in the list.
    pub fn new(format: &Format, styles: Vec<SplatStyle>, level: Level) -> Result<Painter, PainterError> {
        Painter::with_space(format, styles, BlendSpace::Gamma, level)
    }

    /// The same with colours mixed in the values that the picture holds, or in linear light, by its transfer function
    /// (sRGB for R, G and B and BT.1886 for everything else where none is said). Colours are given as displayed in either
    /// case, and what covers wholly looks the same.
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
            return Err(PainterError::Looks(styles.len()));
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
        // Grey is made of R, G and B either way.
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

    /// Whether it draws for a quick look: the same splats, but of shapes that have no stamp the edges are taken from at most
    /// 2 x 2 places of a cell, and of images the nearest texel.
    #[must_use]
    pub fn draft(self, draft: bool) -> Painter {
        Painter { draft, ..self }
    }

    /// The format it was made for.
    pub fn format(&self) -> &Format {
        &self.format
    }

    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// Luma rows of a tile: bands of a multiple of it cost least.
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

    /// Sorts splats into tiles. The result depends on the splats as a set alone, given that their ranks differ; when
    /// they come in order of rank it is quickest.
    pub fn bin(&self, splats: &[Splat], bins: &mut Bins, executor: &dyn Executor) {
        bins.sort(self.level, self.grid, &self.styles, splats, executor);
        self.stamp(bins);
    }

    /// The same for splats that are made on the way: `make(i, out)` pushes the `i`-th part of them, for `i` below
    /// `parts`, in any order and at the same time. Parts of some [`PART`](Painter::PART) splats are best; ranks
    /// that rise from part to part are quickest.
    pub fn bin_with(
        &self,
        parts: usize,
        make: &(dyn Fn(usize, &mut Vec<Splat>) + Sync),
        bins: &mut Bins,
        executor: &dyn Executor,
    ) {
        bins.fill(self.level, self.grid, &self.styles, parts, make, executor);
        self.stamp(bins);
    }

    /// The best number of splats to be made at a time.
    pub const PART: usize = CHUNK;

    fn stamp(&self, bins: &mut Bins) {
        let mut used = Vec::new();
        bins.used(&mut used);
        let mut stamps = core::mem::take(&mut bins.stamps);
        stamps.want(self, &used);
        bins.stamps = stamps;
    }

    /// Draws the rows of `out`, a band of the picture, in the planes of `writes`. Bins must be this painter's.
    ///
    /// Alpha, where it is in `writes`, becomes what picture and splats cover together; where it is not, the picture's
    /// colour is changed as if it were opaque.
    pub fn draw(&self, bins: &Bins, out: &mut FrameMut<'_>, writes: PlaneSet, scratch: &mut Scratch) {
        let rows = out.plane(0).rows();
        let Some(grid) = bins.grid().filter(|g| **g == self.grid && !rows.is_empty()) else { return };
        let high = grid.tile_rows();
        let mut buffers = DrawBuffers::EMPTY;
        for down in rows.start / high..=(rows.end - 1) / high {
            let y = (down * high).max(rows.start)..((down + 1) * high).min(rows.end);
            for across in 0..grid.tiles[0] {
                let number = down * grid.tiles[0] + across;
                if bins.count(number) == 0 {
                    continue;
                }
                let from = across << grid.log[0];
                let x = from..(from + (1 << grid.log[0])).min(grid.size[0]);
                let tile = Tile::new(self, x, y.clone(), writes);
                let kept = if self.working.is_some() { tile.len() } else { 0 };
                let [samples, list, before] =
                    scratch.buffers::<f32, 3>([tile.len(), bins.room(number) * SPLAT, kept]);
                let list: &mut [Splat] = bytemuck::cast_slice_mut(list);
                match &self.working {
                    None => tile.load(self, out, samples),
                    Some(working) => match self.format.depth.bytes() {
                        1 => working.load::<u8>(&tile, out, samples, before),
                        2 => working.load::<u16>(&tile, out, samples, before),
                        _ => working.load::<f32>(&tile, out, samples, before),
                    },
                }
                bins.each_batch(number, list, &mut |splats| {
                    paint(self.level, &tile, self, &bins.stamps, splats, &mut buffers, samples, self.level);
                });
                match &self.working {
                    None => tile.store(self, out, samples),
                    Some(working) => match self.format.depth.bytes() {
                        1 => working.store::<u8>(&tile, out, samples, before, writes),
                        2 => working.store::<u16>(&tile, out, samples, before, writes),
                        _ => working.store::<f32>(&tile, out, samples, before, writes),
                    },
                }
            }
        }
    }

    /// The most bytes that bins of so many splats take.
    pub fn memory(&self, splats: usize) -> usize {
        let chunks = splats.div_ceil(CHUNK);
        let discs = self.styles.iter().filter(|l| matches!(l.shape, Shape::Disc { .. })).count();
        let stamps = (discs * RADII).min(MAX_STAMP_SETS) * self.shifts.len() * Stamp::MAX_BYTES;
        let images: usize = self.images.iter().flatten().map(Prepared::bytes).sum();
        images + splats * 9 * size_of::<Splat>() + chunks * (self.grid.len() + 1) * 4 + stamps
    }
}
