//! The styles of splats.

use super::image::Image;
use std::sync::Arc;

/// The largest number of corners of a polygon.
pub const MAX_CORNERS: usize = 16;

/// The blend mode; `a` is coverage times opacity, `c` the splat's colour, `p` the premultiplied sample below, all from
/// 0 to 1. All but over work on R, G and B one by one, whatever the planes hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Blend {
    /// `p (1 - a) + c a`; alpha becomes the combined coverage of both.
    Over,
    /// `p + c a`; alpha values are added.
    Add,
    /// `p + c a - p c a`; alpha as for over.
    Screen,
    /// `p (1 - a + c a)`; alpha stays.
    Multiply,
}

/// A shape of half width and half height 1, which is scaled to a splat's size and rotated.
#[derive(Clone, Debug)]
pub enum Shape {
    /// An ellipse, solid in the middle, that fades over the outer part `soft` of its radius.
    Disc {
        /// 0 (hard) to 1 (fades from the middle on).
        soft: f32,
    },
    /// An ellipse with a hole.
    Ring {
        /// Radius of the hole, 0 to below 1.
        inner: f32,
        /// The part of the band that fades to either side, 0 to 1.
        soft: f32,
    },
    /// A line with round ends: half its length with the ends is the splat's half width, half its thickness the half
    /// height.
    Streak {
        /// The part of the half thickness that fades.
        soft: f32,
        /// The part of its length, from the left end on, over which it widens from nothing.
        taper: f32,
    },
    /// A convex polygon around the middle.
    Polygon {
        /// Corners, in order around, each coordinate -1 to 1.
        corners: Arc<[[f32; 2]]>,
        /// The fraction of the distance to the centre that fades.
        soft: f32,
    },
    /// A small ellipse with an edge as soft as a cell: for shapes up to a few cells long and at most two wide, which it
    /// draws much faster than a disc.
    Speck,
    /// A picture with the width and height of the splat. The splat's colour is ignored, or moves a picture that
    /// [repeats](Image::repeating).
    Image(Arc<Image>),
    /// One of the pictures made for the frame ([`Bins::set_pictures`](super::Bins::set_pictures)); the splat is that of
    /// [`Painter::splat_of`](super::Painter::splat_of).
    Picture,
}

/// Errors of shapes.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ShapeError {
    /// Softness outside 0 to 1.
    #[error("softness is from 0 to 1, not {0}")]
    Soft(f32),
    /// A hole outside 0 to below 1.
    #[error("the hole of a ring is from 0 to below 1, not {0}")]
    Inner(f32),
    /// Fewer than 3 corners or more than [`MAX_CORNERS`].
    #[error("a polygon has 3 to {MAX_CORNERS} corners, not {0}")]
    Corners(usize),
    /// Not convex around the middle, or a corner outside -1 to 1.
    #[error(
        "the corners of a polygon must lie within -1 to 1 and go once around the middle, as a convex polygon"
    )]
    Convex,
}

fn soft(v: f32) -> Result<f32, ShapeError> {
    if (0.0..=1.0).contains(&v) { Ok(v) } else { Err(ShapeError::Soft(v)) }
}

impl Shape {
    /// A disc.
    ///
    /// # Errors
    /// The softness is not in 0..=1.
    pub fn disc(softness: f32) -> Result<Shape, ShapeError> {
        Ok(Shape::Disc { soft: soft(softness)? })
    }

    /// A ring.
    ///
    /// # Errors
    /// `inner` is not in 0..1, or the softness is not in 0..=1.
    pub fn ring(inner: f32, softness: f32) -> Result<Shape, ShapeError> {
        if !(0.0..1.0).contains(&inner) {
            return Err(ShapeError::Inner(inner));
        }
        Ok(Shape::Ring { inner, soft: soft(softness)? })
    }

    /// A streak.
    ///
    /// # Errors
    /// The softness or the taper is not in 0..=1.
    pub fn streak(softness: f32, taper: f32) -> Result<Shape, ShapeError> {
        Ok(Shape::Streak { soft: soft(softness)?, taper: soft(taper)? })
    }

    /// A convex polygon, its corners in either sense of rotation.
    ///
    /// # Errors
    /// The corners are too few or too many, not convex or beyond -1 to 1, or the softness is not in 0..=1.
    pub fn polygon(corners: &[[f32; 2]], softness: f32) -> Result<Shape, ShapeError> {
        let n = corners.len();
        if !(3..=MAX_CORNERS).contains(&n) {
            return Err(ShapeError::Corners(n));
        }
        if !corners.iter().flatten().all(|v| (-1.0..=1.0).contains(v)) {
            return Err(ShapeError::Convex);
        }
        let cross = |a: [f32; 2], b: [f32; 2]| a[0] * b[1] - a[1] * b[0];
        let turn = |i: usize| cross(corners[i], corners[(i + 1) % n]);
        let sense = if turn(0) < 0.0 { -1.0 } else { 1.0 };
        let ordered: Vec<[f32; 2]> =
            if sense > 0.0 { corners.to_vec() } else { corners.iter().rev().copied().collect() };
        let at = |i: usize| ordered[i % n];
        let mut right_angles = 0;
        for i in 0..n {
            let (a, b, c) = (at(i), at(i + 1), at(i + 2));
            let bend = cross([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
            if !(cross(a, b) > 1e-6 && bend > -1e-6) {
                return Err(ShapeError::Convex);
            }
            // The normals of the edges must go around exactly once.
            right_angles += i32::from(a[1] < 0.0 && b[1] >= 0.0);
        }
        if right_angles != 1 {
            return Err(ShapeError::Convex);
        }
        Ok(Shape::Polygon { corners: ordered.into(), soft: soft(softness)? })
    }
}

/// The common properties of many splats.
#[derive(Clone, Debug)]
pub struct SplatStyle {
    /// The shape.
    pub shape: Shape,
    /// The blend mode.
    pub blend: Blend,
    /// The factor of colours, for light beyond white. Not for images.
    pub gain: f32,
}

impl SplatStyle {
    /// A style of normal brightness.
    pub const fn new(shape: Shape, blend: Blend) -> SplatStyle {
        SplatStyle { shape, blend, gain: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_convex_around_the_middle() {
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        assert!(Shape::polygon(&square, 0.0).is_ok());
        let back: Vec<_> = square.iter().rev().copied().collect();
        assert!(Shape::polygon(&back, 0.0).is_ok());
        let dented = [[-1.0, -1.0], [0.0, -0.1], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        assert_eq!(Shape::polygon(&dented, 0.0).err(), Some(ShapeError::Convex));
        let aside = [[0.1, 0.1], [1.0, 0.1], [1.0, 1.0]];
        assert_eq!(Shape::polygon(&aside, 0.0).err(), Some(ShapeError::Convex));
        let star: Vec<[f32; 2]> = (0..5)
            .map(|i| (0.4 * i as f32) * core::f32::consts::TAU)
            .map(|t| [t.cos(), t.sin()].map(|v| v * 0.99))
            .collect();
        assert_eq!(Shape::polygon(&star, 0.0).err(), Some(ShapeError::Convex));
        assert_eq!(Shape::polygon(&square[..2], 0.0).err(), Some(ShapeError::Corners(2)));
        assert!(Shape::polygon(&[[f32::NAN; 2]; 3], 0.0).is_err());
        assert!(
            Shape::disc(1.1).is_err() && Shape::disc(f32::NAN).is_err() && Shape::ring(1.0, 0.0).is_err()
        );
    }
}
