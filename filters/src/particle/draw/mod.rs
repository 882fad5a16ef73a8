//! The drawing of splats (sprites, discs, streaks and their like) by screen tile.
//!
//! A [`Splat`] says where, how large, of which [`SplatStyle`], in which colour. [`Bins`] sorts a slice of them into the tiles
//! that each one touches, and a [`Painter`], bound to a format, draws the tiles of a band of rows: a tile's samples
//! are taken out of the planes as `f32`, all its splats are laid over them in order of rank, and the result is rounded
//! once. So a million splats over each other neither overflow nor lose what is faint.
//!
//! **What a sample becomes** is defined without tiles, and so does not depend on them, on bands, on threads or on the
//! level. The sample stands for a cell: of one luma sample for luma and alpha, for chroma of the block's size around the
//! place where the chroma sample is sited. The splat's shape covers a part `c` of the cell (the mean over 16 x 16 places
//! of it); with `a = c * opacity`, every blend is `p * (1 - a * fade) + a * ink`, where `fade` and `ink` follow from blend,
//! colour and plane ([`Blend`]). Colour under straight alpha is multiplied by it first and divided by it in the end. All
//! of it is + - * / and sqrt of `f32` in one order.
//!
//! A painter with tinted styles that screen or multiply on Y, U and V, or one that works in [linear
//! light](BlendSpace::Linear), takes samples of G, B and R out of the planes, draws on these as above, and puts back the
//! difference that was made.
//!
//! Sizes are measured as shown: a sample of another shape than a square makes no other shape of a splat.
//!
//! Cells of small soft discs come from tables of 16 x 16 sub-sample places with the slopes between them, all others are
//! worked out where the edge passes. Both are within 1/255 of the 16 x 16 places. A splat smaller than a sample is
//! made a sample large and as much fainter, so that it does not flicker as it moves.
//!
//! ```
//! use grainfield_filters::frame::{Depth, Family, Format, Frame, PlaneSet, Scratch};
//! use grainfield_filters::lend::CurrentThread;
//! use grainfield_filters::particle::draw::*;
//! use grainfield_filters::simd::Level;
//!
//! let format = Format::new(320, 180, Family::Yuv, Depth::Bits(8), (1, 1));
//! let painter = Painter::new(&format, vec![SplatStyle::new(Shape::disc(1.0)?, Blend::Over)], Level::best())?;
//! let white = painter.colour([1.0, 1.0, 1.0]);
//! let splats: Vec<Splat> = (0..100)
//!     .map(|i| Splat { rank: i, colour: white, ..Splat::new([3.0 * i as f32, 90.0], [1.5, 1.5]) })
//!     .collect();
//! let mut bins = Bins::default();
//! painter.bin(&splats, &mut bins, &CurrentThread);
//! let mut frame = Frame::new(format);
//! painter.draw(&bins, &mut frame.as_mut(), PlaneSet::ALL, &mut Scratch::default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bins;
mod composite;
mod coverage;
mod draw_large;
mod draw_plane;
mod grid;
mod image;
mod light;
#[cfg(test)]
mod light_tests;
mod painter;
mod picture;
mod rasterize;
mod render;
mod sampler;
mod speck;
mod splat;
mod stamp;
mod style;
#[cfg(test)]
mod tests;
mod tile;
mod working_space;

pub use bins::Bins;
pub use grid::Grid;
pub use image::{Image, ImageError, MAX_IMAGE_SIDE};
pub use painter::{MAX_STYLES, Painter, PainterError};
pub use picture::Picture;
pub use splat::{Splat, rank};
pub(crate) use splat::{SplatColumns, deepness, lanes, ranked};
pub use style::{Blend, MAX_CORNERS, Shape, ShapeError, SplatStyle};
pub use working_space::BlendSpace;
