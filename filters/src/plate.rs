//! Grain taken from a plate, cut into tiles.
//!
//! Any pictures of nothing but grain will do: each is cut into square tiles, whose planes belong together. The mean of
//! each tile is taken off, and what is left is divided by its strength: that of the first plane, for chroma that of both
//! of its planes. So the tiles have the strength 1, and the correlation of planes and the proportions of U and V, or of
//! the channels of RGB, are the plate's.

use crate::frame::{Depth, Family, Format, Frame, md5};

/// The side of a tile in luma samples, of pictures that are large enough.
pub const TILE: usize = 160;
/// The smallest side of a picture.
pub const MIN_SIDE: usize = 32;
/// The largest number of tiles. Each can be mirrored, so pictures of up to 1024 cells show none twice.
pub const MAX_TILES: usize = 256;
/// The strength of tiles: a code of theirs is 1/1024 of the standard deviation.
pub const PLATE_SD: f64 = 1024.0;
/// Samples beyond so many standard deviations are clipped: dust, and what else is no grain.
const CLIP: f64 = 8.0;
/// Tiles are of whole blocks of chroma, in any format.
const STEP: usize = 4;

/// Tiles of grain.
#[derive(Clone, PartialEq, Debug)]
pub struct Plate {
    family: Family,
    subsampling: (u8, u8),
    side: usize,
    /// For each plane, tile after tile.
    planes: Vec<Vec<i16>>,
}

/// A reason why pictures are no grain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlateError {
    /// They are smaller than [`MIN_SIDE`].
    #[error("its pictures are {}x{}: grain needs at least {MIN_SIDE}x{MIN_SIDE} samples", size.0, size.1)]
    Small {
        /// Width and height.
        size: (u32, u32),
    },
    /// All samples of the first plane are equal in each tile.
    #[error("it has no grain: its pictures are of one colour")]
    Flat,
    /// A float sample is not a number, or infinite.
    #[error("picture {picture} (counted from 0) has samples that are infinite or not numbers")]
    NotFinite {
        /// The picture, counted from 0.
        picture: usize,
    },
    /// There are no pictures.
    #[error("it has no pictures")]
    None,
}

/// Collects tiles.
#[derive(Debug)]
pub struct PlateBuilder {
    format: Format,
    side: usize,
    /// Samples as they are, for each plane, tile after tile.
    planes: Vec<Vec<f32>>,
    pictures: usize,
}

impl PlateBuilder {
    /// For pictures of a format.
    ///
    /// # Errors
    /// If they are too small.
    pub fn new(format: &Format) -> Result<PlateBuilder, PlateError> {
        let (width, height) = format.plane_size(0);
        let side = TILE.min(width).min(height) / STEP * STEP;
        if side < MIN_SIDE {
            return Err(PlateError::Small { size: (format.width, format.height) });
        }
        let planes = vec![Vec::new(); format.color_planes().iter().count()];
        Ok(PlateBuilder { format: *format, side, planes, pictures: 0 })
    }

    /// The number of tiles so far.
    fn count(&self) -> usize {
        self.planes[0].len() / (self.side * self.side)
    }

    /// Whether there are as many tiles as a plate holds; more pictures have no effect.
    pub fn is_full(&self) -> bool {
        self.count() >= MAX_TILES
    }

    /// Adds a picture of the format.
    ///
    /// # Errors
    /// If samples are not finite.
    pub fn add(&mut self, picture: &Frame) -> Result<(), PlateError> {
        assert_eq!(picture.format(), &self.format, "pictures of one format");
        let (width, height) = self.format.plane_size(0);
        let across = width / self.side;
        let tiles = (across * (height / self.side)).min(MAX_TILES - self.count().min(MAX_TILES));
        for (p, samples) in self.planes.iter_mut().enumerate() {
            let (sx, sy) = self.format.plane_subsampling(p);
            let (w, h) = (self.side >> sx, self.side >> sy);
            for tile in 0..tiles {
                let (x, y) = (tile % across * w, tile / across * h);
                for y in y..y + h {
                    match self.format.depth {
                        Depth::Bits(8) => {
                            samples.extend(picture.row::<u8>(p, y)[x..x + w].iter().map(|&v| f32::from(v)));
                        }
                        Depth::Bits(_) => {
                            samples.extend(picture.row::<u16>(p, y)[x..x + w].iter().map(|&v| f32::from(v)));
                        }
                        Depth::Float => samples.extend(&picture.row::<f32>(p, y)[x..x + w]),
                    }
                }
            }
            if samples[samples.len() - tiles * w * h..].iter().any(|v| !v.is_finite()) {
                return Err(PlateError::NotFinite { picture: self.pictures });
            }
        }
        self.pictures += 1;
        Ok(())
    }

    /// The tiles, of strength 1.
    ///
    /// # Errors
    /// If there is no grain in them.
    pub fn finish(self) -> Result<Plate, PlateError> {
        if self.pictures == 0 {
            return Err(PlateError::None);
        }
        let format = &self.format;
        let count = self.count();
        let mut powers = Vec::new();
        let mut means = Vec::new();
        for samples in &self.planes {
            let tiles = samples.chunks_exact(samples.len() / count);
            let mean = |tile: &[f32]| tile.iter().map(|&v| f64::from(v)).sum::<f64>() / tile.len() as f64;
            let of: Vec<f64> = tiles.clone().map(mean).collect();
            let square = |(tile, mean): (&[f32], &f64)| {
                tile.iter().map(|&v| (f64::from(v) - mean) * (f64::from(v) - mean)).sum::<f64>()
            };
            powers.push(tiles.zip(&of).map(square).sum::<f64>() / samples.len() as f64);
            means.push(of);
        }
        // Sums of squares of float samples may be infinite or vanish.
        if !(powers[0] > 0.0 && powers.iter().all(|p| p.is_finite())) {
            return Err(PlateError::Flat);
        }
        let whole = |(p, (samples, means)): (usize, (&Vec<f32>, &Vec<f64>))| {
            let power = if format.is_chroma(p) { 0.5 * (powers[1] + powers[2]) } else { powers[0] };
            let scale = if power > 0.0 { PLATE_SD / power.sqrt() } else { 0.0 };
            let tiles = samples.chunks_exact(samples.len() / count).zip(means);
            let code = |v: f64| libm::floor(v + 0.5).clamp(-CLIP * PLATE_SD, CLIP * PLATE_SD) as i16;
            let tile = |(tile, mean): (&[f32], &f64)| {
                tile.iter().map(|&v| code((f64::from(v) - mean) * scale)).collect::<Vec<i16>>()
            };
            tiles.flat_map(tile).collect()
        };
        let planes = self.planes.iter().zip(&means).enumerate().map(whole).collect();
        Ok(Plate { family: format.family, subsampling: format.subsampling, side: self.side, planes })
    }
}

impl Plate {
    /// The MD5 of everything that affects pictures.
    pub fn digest(&self) -> u128 {
        let (x, y) = self.subsampling;
        let mut all = vec![self.family as u8, x, y, self.planes.len() as u8];
        all.extend((self.side as u32).to_le_bytes());
        all.extend(self.planes.iter().flatten().flat_map(|v| v.to_le_bytes()));
        md5(all)
    }

    /// The side of a tile in luma samples.
    pub fn side(&self) -> usize {
        self.side
    }

    /// The number of tiles.
    pub fn count(&self) -> usize {
        self.planes[0].len() / (self.side * self.side)
    }

    /// The samples of a plane, tile after tile, in units of [`PLATE_SD`].
    pub fn samples(&self, plane: usize) -> &[i16] {
        &self.planes[plane]
    }

    /// The plane whose grain plane `p` of a picture gets: the same one, or the first, if the picture has other planes
    /// than the plate.
    pub fn plane_for(&self, format: &Format, p: usize) -> usize {
        let same = (self.family, self.subsampling) == (format.family, format.subsampling);
        if same && p < self.planes.len() { p } else { 0 }
    }

    /// Subsampling of a plane.
    pub fn plane_subsampling(&self, plane: usize) -> (u8, u8) {
        if plane > 0 && self.family == Family::Yuv { self.subsampling } else { (0, 0) }
    }

    /// The distance of neighbouring patches in luma samples.
    pub fn distance(&self) -> usize {
        self.side - self.overlap()
    }

    /// The samples in which neighbouring patches overlap.
    pub fn overlap(&self) -> usize {
        overlap(self.side)
    }
}

/// The samples in which neighbouring patches of tiles of this side overlap.
pub fn overlap(side: usize) -> usize {
    side / 5 / STEP * STEP
}
