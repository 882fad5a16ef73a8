//! Pictures for sprites.

use core::fmt;

/// The largest width or height.
pub const MAX_IMAGE_SIDE: usize = 8192;

/// A picture with alpha.
#[derive(Clone, PartialEq)]
pub struct Image {
    pub(super) size: [usize; 2],
    pub(super) repeats: bool,
    /// Premultiplied R, G, B, and alpha.
    pub(super) texels: Vec<[f32; 4]>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} x {})", self.size[0], self.size[1])
    }
}

/// The error of a picture that cannot be a sprite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImageError {
    /// Empty, or wider or higher than [`MAX_IMAGE_SIDE`].
    #[error("a sprite of {0}x{1}: width and height must be 1 to {MAX_IMAGE_SIDE}")]
    Size(usize, usize),
    /// The number of texels is not width times height.
    #[error("{0} texels instead of {1}, which the size requires")]
    Count(usize, usize),
}

impl Image {
    /// From rows of R, G, B and alpha, 0 to 1, display values, not premultiplied. Values are clamped to 0..1, and NaN
    /// is 0.
    ///
    /// # Errors
    /// The image is empty or too large, or the number of texels is not width times height.
    pub fn new(width: usize, height: usize, rgba: &[[f32; 4]]) -> Result<Image, ImageError> {
        let sides = 1..=MAX_IMAGE_SIDE;
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(ImageError::Size(width, height));
        }
        if rgba.len() != width * height {
            return Err(ImageError::Count(rgba.len(), width * height));
        }
        let unit = |v: f32| if v > 0.0 { v.min(1.0) } else { 0.0 };
        let texels = rgba.iter().map(|t| t.map(unit)).map(|[r, g, b, a]| [r * a, g * a, b * a, a]).collect();
        Ok(Image { size: [width, height], repeats: false, texels })
    }

    /// Width and height in texels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// A page of a flip-book: frame `index` of a sheet of `across` by `down`, row by row. If a side is not divisible,
    /// its last texels are left out.
    ///
    /// # Errors
    /// A page would be empty.
    pub fn part(&self, index: usize, across: usize, down: usize) -> Result<Image, ImageError> {
        let (across, down) = (across.max(1), down.max(1));
        let [w, h] = [self.size[0] / across, self.size[1] / down];
        if w == 0 || h == 0 {
            return Err(ImageError::Size(w, h));
        }
        let (x, y) = (index % across * w, index / across % down * h);
        let rows = (y..y + h).flat_map(|row| &self.texels[row * self.size[0] + x..][..w]);
        Ok(Image { size: [w, h], repeats: self.repeats, texels: rows.copied().collect() })
    }

    /// The same as a picture that each splat moves within its own frame: to the right by the first component of the
    /// splat's colour in 1/65536 of the width, down by the second in 1/65536 of the height.
    #[must_use]
    pub fn repeating(self) -> Image {
        Image { repeats: true, ..self }
    }
}
