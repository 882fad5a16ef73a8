//! The drawing of splats (sprites, discs, streaks and their like) by screen tile.
//!
//! A [`Splat`] has a position, a size, a [`SplatStyle`] and a colour. [`Bins`] sorts a slice of splats into the tiles
//! that each one touches, and a [`Painter`], bound to a format, draws the tiles of a band of rows: it reads the samples
//! of a tile as `f32`, composites all its splats in order of rank, and rounds the result once. So a million overlapping
//! splats neither overflow nor lose faint ones.
//!
//! **The result** is defined without tiles, and so does not depend on them, on bands, on threads or on the level. A
//! sample represents a cell: one luma sample for luma and alpha, a block around the chroma position for chroma. The
//! splat's shape covers a part `c` of the cell (the mean over 16 x 16 points of it); with `a = c * opacity`, every
//! blend is `p * (1 - a * fade) + a * ink`, where `fade` and `ink` depend on blend, colour and plane ([`Blend`]).
//! Colour with straight alpha is multiplied by alpha first and divided by it at the end. All arithmetic is + - * / and
//! sqrt of `f32` in one order.
//!
//! A painter whose styles add, screen or multiply light on Y, U and V, or one that works in [linear
//! light](BlendSpace::Linear), converts the samples to G, B and R, draws on these as above, and adds the difference to
//! the planes, so that added light darkens no channel. If all its styles add light, and the picture has codes and no alpha, the rise of a channel bends towards
//! white in its last quarter, as on film, instead of stopping there: hues of bright light last longer.
//!
//! Sizes are displayed sizes: the sample aspect ratio does not change the shape of a splat.
//!
//! The coverage of small soft discs is interpolated in tables for 16 x 16 sub-sample positions; other coverage is
//! computed where the edge passes through a cell. Both are within 1/255 of the mean over 16 x 16 points. A splat
//! smaller than a sample is enlarged to a sample and made fainter in proportion, so that it does not flicker as it
//! moves.
//!
//! # The files, in the order of the work
//!
//! Positions of splats are in 1/256 of a luma sample of the picture, half sizes in 1/16 of one.
//!
//! | file | what it does | coordinates |
//! |---|---|---|
//! | `splat`, `style`, `image`, `picture` | what a caller describes: splats, shapes and blends, sprites, pictures of one frame | luma samples |
//! | `painter` | prepares the styles for a format | |
//! | `draw_plane`, `working_space` | the cells and codes of each plane; the colours that are drawn in | cells |
//! | `grid`, `bins` | which tiles a splat touches; sorts splats by tile | 1/256 luma sample |
//! | `render` | calls the next stages for the tiles of a band | tiles |
//! | `tile` | reads the samples of a tile as `f32`, with a margin | cells of the tile |
//! | `paint` | draws the splats of a tile, small soft discs by `stamp` | cells of the tile |
//! | `draw_large` | draws one other splat, clipped to the tile, by one of the next three | cells of the tile |
//! | `coverage`, `point_rule`, `rasterize` | the coverage by shapes: one cell, the points in it, many cells | luma samples from the splat's centre |
//! | `scene_light` | darkens the colours of splats by the light of the scene | 1/256 luma sample |
//! | `speck` | the coverage of small ellipses, once per cell | the same |
//! | `raster`, `sampler`, `blend_image` | a sprite's texels, their mean over a cell, and their blend | texels |
//! | `store` | writes the tile back to the planes | cells of the tile |
//!
//! ```
//! use grainfield_filters::frame::{Depth, Family, Format, Frame, PlaneSet, Scratch};
//! use grainfield_filters::host::CurrentThread;
//! use grainfield_filters::particle::draw::*;
//! use grainfield_filters::simd::Level;
//!
//! let format = Format::new(320, 180, Family::Yuv, Depth::Bits(8), (1, 1));
//! let styles = vec![SplatStyle::new(Shape::disc(1.0)?, Blend::Over)];
//! let painter = Painter::new(&format, styles, BlendSpace::Gamma, Level::best())?;
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
mod blend_image;
mod coverage;
mod draw_large;
mod draw_plane;
mod grid;
mod image;
mod paint;
mod painter;
mod picture;
mod point_rule;
mod raster;
mod rasterize;
mod render;
mod sampler;
mod scene_light;
mod speck;
mod splat;
mod stamp;
mod store;
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
pub use scene_light::SceneLight;
pub use splat::{Splat, rank};
pub(crate) use splat::{SplatColumns, deepness, lanes, ranked};
pub use style::{Blend, MAX_CORNERS, Shape, ShapeError, SplatStyle};
#[cfg(test)]
pub(crate) use tests::reference;
pub use working_space::BlendSpace;
