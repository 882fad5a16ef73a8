//! Pictures as sprites.
//!
//! A picture is a raster of little squares of one colour each (texels). A cell takes the mean of the picture over a
//! rectangle around the cell's centre, turned as the picture is, as large as the cell but not smaller than a texel: at
//! its own size a sprite on whole samples is copied exactly, between samples it is what straight interpolation makes, and
//! where it is made smaller every texel counts. Where a rectangle would hold many texels, it is taken of the
//! picture halved once or more.

use super::place::{self, Holds, Place};
use super::splat::{SIZES, Splat};
use super::sweep::Bounds;
use crate::pixel::convert::Coefficients;
use core::fmt;

/// The largest width or height.
pub const MOST_SIDE: usize = 8192;

/// A picture with alpha.
#[derive(Clone, PartialEq)]
pub struct Image {
    size: [usize; 2],
    /// R, G, B multiplied by alpha, and alpha.
    texels: Vec<[f32; 4]>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} x {})", self.size[0], self.size[1])
    }
}

/// A picture that cannot be a sprite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// Empty, or wider or higher than [`MOST_SIDE`].
    Size(usize, usize),
    /// The number of texels is not width times height.
    Count(usize, usize),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Size(w, h) => {
                write!(f, "a sprite of {w}x{h}: width and height must be 1 to {MOST_SIDE}")
            }
            ImageError::Count(got, want) => write!(f, "{got} texels where the size asks for {want}"),
        }
    }
}

impl core::error::Error for ImageError {}

impl Image {
    /// From rows of R, G, B and alpha, 0 to 1, as displayed, colour not multiplied by alpha. Values outside are kept to
    /// 0..1, and what is not a number is 0.
    pub fn new(width: usize, height: usize, rgba: &[[f32; 4]]) -> Result<Image, ImageError> {
        let sides = 1..=MOST_SIDE;
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(ImageError::Size(width, height));
        }
        if rgba.len() != width * height {
            return Err(ImageError::Count(rgba.len(), width * height));
        }
        let unit = |v: f32| if v > 0.0 { v.min(1.0) } else { 0.0 };
        let texels = rgba.iter().map(|t| t.map(unit)).map(|[r, g, b, a]| [r * a, g * a, b * a, a]).collect();
        Ok(Image { size: [width, height], texels })
    }

    /// Width and height in texels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// A part of it, as one picture of a flip-book: frame `index` of a sheet of `across` by `down`, row by row. The last
    /// texels of a side that cannot be divided are left out.
    pub fn part(&self, index: usize, across: usize, down: usize) -> Result<Image, ImageError> {
        let (across, down) = (across.max(1), down.max(1));
        let [w, h] = [self.size[0] / across, self.size[1] / down];
        if w == 0 || h == 0 {
            return Err(ImageError::Size(w, h));
        }
        let (x, y) = (index % across * w, index / across % down * h);
        let rows = (y..y + h).flat_map(|row| &self.texels[row * self.size[0] + x..][..w]);
        Ok(Image { size: [w, h], texels: rows.copied().collect() })
    }
}

/// A picture in the colours of a format's planes, with its halvings.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    halvings: Vec<Raster>,
}

/// Texels: nominal values of the first three planes, multiplied by alpha, and alpha.
#[derive(Clone, Debug)]
struct Raster {
    size: [usize; 2],
    texels: Vec<[f32; 4]>,
}

/// Fewer than this many texels along either side of a cell are summed.
const FEW: f32 = 4.0;
/// ... and this many along its longer side.
const MANY: f32 = 16.0;

impl Prepared {
    pub(super) fn of(image: &Image, places: &[Place], matrix: Option<Coefficients>) -> Prepared {
        let gray = places.iter().filter(|p| p.holds != Holds::Alpha).count() == 1;
        let colour = |t: &[f32; 4]| {
            let [y, u, v] = place::nominal(matrix, [t[0], t[1], t[2]].map(f64::from));
            if gray { [y as f32, 0.0, 0.0, t[3]] } else { [y as f32, u as f32, v as f32, t[3]] }
        };
        let mut last = Raster { size: image.size, texels: image.texels.iter().map(colour).collect() };
        let mut halvings = Vec::new();
        while last.size.iter().any(|s| *s > 1) {
            let next = last.halved();
            halvings.push(core::mem::replace(&mut last, next));
        }
        halvings.push(last);
        Prepared { halvings }
    }

    /// The picture at a splat's size, turned by this cosine and sine, for cells of a size.
    pub(super) fn sampler(&self, splat: &Splat, [cos, sin]: [f32; 2], cell: [f32; 2]) -> Sampler<'_> {
        let [rx, ry] = splat.half.map(|h| f32::from(h) * (1.0 / SIZES));
        let size = self.halvings[0].size.map(|s| s as f32);
        let mut per = [0.5 * size[0] / rx, 0.5 * size[1] / ry];
        let mut middle = size.map(|s| 0.5 * s);
        let long = |a: f32, b: f32| (a * a + b * b).sqrt();
        let mut wide =
            [per[0] * long(cell[0] * cos, cell[1] * sin), per[1] * long(cell[0] * sin, cell[1] * cos)];
        let mut halving = 0;
        let too_many = |w: [f32; 2]| w[0].min(w[1]) >= FEW || w[0].max(w[1]) >= MANY;
        while too_many(wide) && halving + 1 < self.halvings.len() {
            halving += 1;
            per = per.map(|v| 0.5 * v);
            middle = middle.map(|v| 0.5 * v);
            wide = wide.map(|v| 0.5 * v);
        }
        let raster = &self.halvings[halving];
        let wide = wide.map(|w| w.max(1.0));
        Sampler {
            raster,
            cos,
            sin,
            per,
            middle,
            half: wide.map(|w| 0.5 * w),
            share: 1.0 / (wide[0] * wide[1]),
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.halvings.iter().map(|r| r.texels.len() * 16).sum()
    }
}

impl Raster {
    /// Each texel the mean of two by two; beyond the edges is nothing.
    fn halved(&self) -> Raster {
        let size = self.size.map(|s| s.div_ceil(2));
        let at = |x: usize, y: usize| {
            if x < self.size[0] && y < self.size[1] { self.texels[y * self.size[0] + x] } else { [0.0; 4] }
        };
        let mut texels = Vec::with_capacity(size[0] * size[1]);
        for y in 0..size[1] {
            for x in 0..size[0] {
                let four =
                    [at(2 * x, 2 * y), at(2 * x + 1, 2 * y), at(2 * x, 2 * y + 1), at(2 * x + 1, 2 * y + 1)];
                texels.push(
                    [0, 1, 2, 3].map(|c| 0.25 * ((four[0][c] + four[1][c]) + (four[2][c] + four[3][c]))),
                );
            }
        }
        Raster { size, texels }
    }
}

/// See [`Prepared::sampler`].
pub(super) struct Sampler<'a> {
    raster: &'a Raster,
    cos: f32,
    sin: f32,
    /// Texels in a luma sample, and the texel in the middle.
    per: [f32; 2],
    middle: [f32; 2],
    /// Half a rectangle in texels, and 1 over its area.
    half: [f32; 2],
    share: f32,
}

impl Sampler<'_> {
    /// Where cells have their centres that take anything of the picture.
    pub(super) fn bounds(&self) -> Bounds {
        let half = [0, 1].map(|a| {
            let beyond = self.raster.size[a] as f32 - self.middle[a];
            // With room for what places are known to.
            (beyond.max(self.middle[a]) + self.half[a]) / self.per[a] * (257.0 / 256.0) + 0.25
        });
        Bounds { cos: self.cos, sin: self.sin, half, round: f32::INFINITY }
    }

    /// The texel under a cell's centre, for a quick look.
    pub(super) fn nearest(&self, at: [f32; 2]) -> [f32; 4] {
        let [u, v] = self.texel(at);
        let [w, h] = self.raster.size;
        // `as` saturates and makes NaN 0.
        let (x, y) = (u as usize, v as usize);
        if u >= 0.0 && v >= 0.0 && x < w && y < h { self.raster.texels[y * w + x] } else { [0.0; 4] }
    }

    /// A place in texels.
    #[inline(always)]
    fn texel(&self, at: [f32; 2]) -> [f32; 2] {
        let u = (at[0] * self.cos + at[1] * self.sin) * self.per[0] + self.middle[0];
        let v = (at[1] * self.cos - at[0] * self.sin) * self.per[1] + self.middle[1];
        [u, v]
    }

    /// The mean around a cell's centre, `at` luma samples from the splat's: nominal values multiplied by alpha, and
    /// alpha.
    #[inline(always)]
    pub(super) fn cell(&self, at: [f32; 2]) -> [f32; 4] {
        let [u, v] = self.texel(at);
        let (left, right) = (u - self.half[0], u + self.half[0]);
        let (top, bottom) = (v - self.half[1], v + self.half[1]);
        let [w, h] = self.raster.size;
        // `as` saturates and makes NaN 0.
        let (x0, x1) = (left.max(0.0) as usize, (right.max(0.0).ceil() as usize).min(w));
        let (y0, y1) = (top.max(0.0) as usize, (bottom.max(0.0).ceil() as usize).min(h));
        let mut sum = [0.0f32; 4];
        for y in y0..y1 {
            let down = bottom.min((y + 1) as f32) - top.max(y as f32);
            let row = self.raster.texels.get(y * w + x0.min(x1)..y * w + x1).unwrap_or(&[]);
            for (x, texel) in (x0..).zip(row) {
                let part = down * (right.min((x + 1) as f32) - left.max(x as f32));
                for (s, t) in sum.iter_mut().zip(texel) {
                    *s += t * part;
                }
            }
        }
        sum.map(|s| s * self.share)
    }
}
