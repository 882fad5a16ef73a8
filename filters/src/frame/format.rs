//! The format of a picture.

use super::{ColorRange, FieldOrder, Matrix, Primaries, Siting, Transfer};
use crate::ratio::Ratio;
use core::ops::{BitAnd, BitOr};

/// The largest width or height: beyond any practical picture, and small enough that no size computed from it
/// overflows.
pub const MAX_SIDE: u32 = 1 << 16;

/// The components of the planes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Luma only.
    Gray,
    /// Luma and two colour differences, planes `Y U V`.
    Yuv,
    /// Planes `G B R`, FFmpeg's order.
    Rgb,
}

/// How a sample is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Depth {
    /// 8 to 16 bits, unsigned. 8 is stored in a `u8`, more in the low bits of a `u16`.
    Bits(u8),
    /// `f32`, nominal 0..1 (chroma -0.5..0.5); other values, infinities and NaN are legal.
    Float,
}

impl Depth {
    /// Bytes a sample.
    pub const fn bytes(self) -> usize {
        match self {
            Depth::Bits(0..=8) => 1,
            Depth::Bits(_) => 2,
            Depth::Float => 4,
        }
    }

    /// The bits of an integer sample; `None` for float.
    pub const fn bits(self) -> Option<u8> {
        match self {
            Depth::Bits(n) => Some(n),
            Depth::Float => None,
        }
    }
}

/// Whether there is an alpha plane (always the last), and whether colour is premultiplied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Alpha {
    /// No alpha plane.
    #[default]
    None,
    /// Colour is independent of alpha (PNG, most video).
    Straight,
    /// Colour has been multiplied by alpha (EXR).
    Premultiplied,
}

impl Alpha {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Alpha::None => "none",
            Alpha::Straight => "straight",
            Alpha::Premultiplied => "premultiplied",
        }
    }
}

/// Even lines (0, 2, ...) or odd lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Parity {
    /// Lines 0, 2, 4, ...
    Top,
    /// Lines 1, 3, 5, ...
    Bottom,
}

/// Whether a picture is a whole frame or one field of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PictureStructure {
    /// The whole frame.
    #[default]
    Frame,
    /// One field: every second line of every plane, as a separate picture.
    Field(Parity),
}

impl PictureStructure {
    /// Number of pictures of this kind per frame.
    pub const fn per_frame(self) -> i64 {
        match self {
            PictureStructure::Frame => 1,
            PictureStructure::Field(_) => 2,
        }
    }
}

/// A set of planes, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlaneSet(pub u8);

impl PlaneSet {
    /// No plane.
    pub const NONE: PlaneSet = PlaneSet(0);
    /// Every plane.
    pub const ALL: PlaneSet = PlaneSet(0b1111);

    /// The set of plane `p`.
    pub const fn one(p: usize) -> PlaneSet {
        PlaneSet(1 << p)
    }

    /// Whether the set contains plane `p`.
    pub const fn has(self, p: usize) -> bool {
        self.0 >> p & 1 == 1
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The planes of the set that satisfy a predicate.
    #[must_use]
    pub fn filter(self, holds: impl Fn(usize) -> bool) -> PlaneSet {
        self.iter().filter(|&p| holds(p)).fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p))
    }

    /// The planes in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..4).filter(move |&p| self.has(p))
    }
}

impl BitAnd for PlaneSet {
    type Output = PlaneSet;
    fn bitand(self, o: PlaneSet) -> PlaneSet {
        PlaneSet(self.0 & o.0)
    }
}

impl BitOr for PlaneSet {
    type Output = PlaneSet;
    fn bitor(self, o: PlaneSet) -> PlaneSet {
        PlaneSet(self.0 | o.0)
    }
}

/// The properties that are constant over a stream of pictures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// Luma samples per row, 1 to [`MAX_SIDE`].
    pub width: u32,
    /// Luma rows of the whole frame (of both fields), 1 to [`MAX_SIDE`]. Filters use
    /// [`plane_size`](Format::plane_size).
    pub height: u32,
    /// Whether this is the frame or one of its fields.
    pub picture: PictureStructure,
    /// Components of the planes.
    pub family: Family,
    /// Storage of a sample.
    pub depth: Depth,
    /// log2 of luma samples per chroma sample, horizontally and vertically: 4:2:0 is `(1, 1)`, 4:1:1 `(2, 0)`,
    /// 4:4:4 `(0, 0)`.
    pub subsampling: (u8, u8),
    /// Alpha plane.
    pub alpha: Alpha,
    /// Chroma location.
    pub siting: Siting,
    /// Range as tagged; see [`full_range`](Format::full_range).
    pub range: ColorRange,
    /// Matrix as tagged.
    pub matrix: Matrix,
    /// Primaries as tagged.
    pub primaries: Primaries,
    /// Transfer as tagged.
    pub transfer: Transfer,
    /// Field order.
    pub fields: FieldOrder,
    /// Sample aspect ratio, width over height; zero if unknown.
    pub aspect: Ratio,
    /// Frames per second; nominal if the rate varies.
    pub rate: Ratio,
}

/// An error in a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// Width or height is 0 or beyond [`MAX_SIDE`].
    #[error("a picture of {0}x{1}: width and height must be 1 to {MAX_SIDE}")]
    Size(u32, u32),
    /// Not 8 to 16 bits.
    #[error("{0} bits per sample: it must be 8 to 16, or float")]
    Bits(u8),
    /// Subsampling outside 0..=2, or in a family without chroma.
    #[error("chroma divided by 2^{0} across and 2^{1} down: the largest factor is 4")]
    Subsampling(u8, u8),
    /// The rate is zero or negative.
    #[error("a rate of {0} frames per second: it must be above zero")]
    Rate(Ratio),
}

impl Format {
    /// A progressive format of the given size, 24 frames per second, with all other properties unspecified.
    pub const fn new(width: u32, height: u32, family: Family, depth: Depth, subsampling: (u8, u8)) -> Format {
        Format {
            width,
            height,
            picture: PictureStructure::Frame,
            family,
            depth,
            subsampling,
            alpha: Alpha::None,
            siting: Siting::Unspecified,
            range: ColorRange::Unspecified,
            matrix: Matrix::UNSPECIFIED,
            primaries: Primaries::UNSPECIFIED,
            transfer: Transfer::UNSPECIFIED,
            fields: FieldOrder::Unspecified,
            aspect: Ratio::ZERO,
            rate: Ratio::whole(24),
        }
    }

    /// Checks the limits that all other code relies on. Sources call it before the first frame.
    ///
    /// # Errors
    /// The format exceeds a limit, or its properties contradict each other.
    pub fn check(&self) -> Result<(), FormatError> {
        if !(1..=MAX_SIDE).contains(&self.width) || !(1..=MAX_SIDE).contains(&self.height) {
            return Err(FormatError::Size(self.width, self.height));
        }
        if let Depth::Bits(n) = self.depth
            && !(8..=16).contains(&n)
        {
            return Err(FormatError::Bits(n));
        }
        let (x, y) = self.subsampling;
        if x > 2 || y > 2 || (self.family != Family::Yuv && (x, y) != (0, 0)) {
            return Err(FormatError::Subsampling(x, y));
        }
        if self.rate <= Ratio::ZERO {
            return Err(FormatError::Rate(self.rate));
        }
        Ok(())
    }

    /// The number of planes including alpha: 1 to 4.
    pub const fn planes(&self) -> usize {
        let color = match self.family {
            Family::Gray => 1,
            Family::Yuv | Family::Rgb => 3,
        };
        color + self.has_alpha() as usize
    }

    /// Whether there is an alpha plane.
    pub const fn has_alpha(&self) -> bool {
        !matches!(self.alpha, Alpha::None)
    }

    /// The number of the alpha plane, if there is one.
    pub const fn alpha_plane(&self) -> Option<usize> {
        if self.has_alpha() { Some(self.planes() - 1) } else { None }
    }

    /// All planes, including alpha.
    pub const fn all_planes(&self) -> PlaneSet {
        PlaneSet(((1u16 << self.planes()) - 1) as u8)
    }

    /// The set of the alpha plane; empty if there is none.
    pub const fn alpha_planes(&self) -> PlaneSet {
        PlaneSet(self.all_planes().0 & !self.color_planes().0)
    }

    /// All planes except alpha.
    pub const fn color_planes(&self) -> PlaneSet {
        PlaneSet((1 << (self.planes() - self.has_alpha() as usize)) - 1)
    }

    /// Whether the planes are G, B and R: in the RGB family, or as YUV 4:4:4 with the RGB matrix tag.
    pub const fn is_rgb(&self) -> bool {
        match self.family {
            Family::Gray => false,
            Family::Yuv => self.matrix.0 == Matrix::RGB.0 && matches!(self.subsampling, (0, 0)),
            Family::Rgb => true,
        }
    }

    /// Whether plane `p` is a colour difference.
    pub const fn is_chroma(&self, p: usize) -> bool {
        matches!(self.family, Family::Yuv) && (p == 1 || p == 2) && !self.is_rgb()
    }

    /// log2 of luma samples per sample of plane `p`, horizontally and vertically.
    pub const fn plane_subsampling(&self, p: usize) -> (u8, u8) {
        if self.is_chroma(p) { self.subsampling } else { (0, 0) }
    }

    /// Width and height of plane `p` of this picture (the frame or the field) in samples.
    pub const fn plane_size(&self, p: usize) -> (usize, usize) {
        let (sx, sy) = self.plane_subsampling(p);
        let w = (self.width as usize).div_ceil(1 << sx);
        let h = (self.height as usize).div_ceil(1 << sy);
        match self.picture {
            PictureStructure::Frame => (w, h),
            PictureStructure::Field(Parity::Top) => (w, h.div_ceil(2)),
            PictureStructure::Field(Parity::Bottom) => (w, h / 2),
        }
    }

    /// The format of one field as a separate picture.
    pub const fn field(&self, parity: Parity) -> Format {
        Format { picture: PictureStructure::Field(parity), ..*self }
    }

    /// The format of the same pictures as float R, G and B of full range, with alpha of this kind.
    pub fn float_rgb(&self, alpha: Alpha) -> Format {
        Format {
            family: Family::Rgb,
            depth: Depth::Float,
            subsampling: (0, 0),
            siting: Siting::Unspecified,
            range: ColorRange::Full,
            matrix: Matrix::RGB,
            alpha,
            ..*self
        }
    }

    /// The displayed shape of a sample, width over height: the [aspect](Format::aspect) if it is known, else 1. Values
    /// outside 0.1 to 10 are tagging errors and are clamped.
    pub fn shape(&self) -> f64 {
        if self.aspect > Ratio::ZERO { self.aspect.to_f64().clamp(0.1, 10.0) } else { 1.0 }
    }

    /// The size of a frame in bytes, without padding.
    pub fn frame_bytes(&self) -> usize {
        (0..self.planes()).map(|p| self.plane_size(p)).map(|(w, h)| w * h * self.depth.bytes()).sum()
    }

    /// Whether samples use all codes. If the range is unspecified, RGB and float are full and everything else
    /// is limited.
    pub const fn full_range(&self) -> bool {
        match self.range {
            ColorRange::Full => true,
            ColorRange::Limited => false,
            ColorRange::Unspecified => {
                matches!(self.family, Family::Rgb) || matches!(self.depth, Depth::Float)
            }
        }
    }

    /// The lowest and highest possible code; 0 and 0 for float.
    pub const fn codes(&self) -> (u16, u16) {
        match self.depth {
            Depth::Bits(bits) => (0, ((1u32 << bits) - 1) as u16),
            Depth::Float => (0, 0),
        }
    }

    /// The distance of this picture's rows in luma rows of the frame, and the frame row of its first row: the rows
    /// of a field are two apart.
    pub const fn field_rows(&self) -> (f64, f64) {
        match self.picture {
            PictureStructure::Frame => (1.0, 0.0),
            PictureStructure::Field(Parity::Top) => (2.0, 0.0),
            PictureStructure::Field(Parity::Bottom) => (2.0, 1.0),
        }
    }

    /// The lowest and highest legal code of plane `p`; `None` for float. Alpha always uses all codes.
    pub const fn legal(&self, p: usize) -> Option<(u16, u16)> {
        let Depth::Bits(bits) = self.depth else { return None };
        let is_alpha = self.has_alpha() && p == self.planes() - 1;
        if self.full_range() || is_alpha {
            return Some((0, ((1u32 << bits) - 1) as u16));
        }
        let top = if self.is_chroma(p) { 240 } else { 235 };
        Some((16 << (bits - 8), top << (bits - 8)))
    }

    /// Whether two formats are equal except for frame rate and sample aspect ratio.
    pub fn same_samples(&self, o: &Format) -> bool {
        Format { rate: o.rate, aspect: o.aspect, ..*self } == *o
    }
}
