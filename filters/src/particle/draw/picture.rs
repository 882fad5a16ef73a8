//! Pictures that are made for one frame, each for a place in it.
//!
//! A picture has one texel per luma sample and lies on whole samples, so a plane with cells of one luma sample takes its
//! texels as they are; a larger cell takes the mean of the texels that it covers.

use super::draw_plane::{Cells, Premultiplied};
use super::painter::Painter;
use super::raster::Raster;
use super::sampler::{ColourConversion, Sampler};
use super::splat::Splat;
use crate::simd::multiversion;

/// A picture at a place of the frame, in the colours of a painter. Only what is between the first and the last texel that
/// is not empty of each row is kept.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The first column and row, in luma samples.
    at: [i32; 2],
    raster: Raster,
}

impl Picture {
    /// The largest width or height: twice the largest half size of a splat.
    pub const MAX_SIDE: usize = 8180;

    /// Without rows, whose first sample is `at`.
    pub fn new(at: [i32; 2], width: usize) -> Picture {
        Picture { at, raster: Raster::empty(width.min(Picture::MAX_SIDE)) }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.raster.bytes()
    }

    /// The largest size in bytes of a picture of so many texels in so many rows.
    pub const fn most_bytes(texels: usize, rows: usize) -> usize {
        size_of::<Picture>() + size_of::<Premultiplied>() * texels + 64 * rows
    }

    /// Adds the rows of a picture of the same width.
    pub fn append(&mut self, other: Picture) {
        self.raster.append(other.raster);
    }

    /// The picture on cells that are displayed `aspect` times as wide as luma samples are high.
    pub(super) fn sampler(&self, cells: &Cells, aspect: f32) -> Sampler<'_> {
        let middle = self.raster.size.map(|s| 0.5 * s as f32);
        Sampler::new(&self.raster, [1.0, 0.0], [1.0 / aspect, 1.0], middle, cells.size(), None)
    }
}

multiversion! {
    /// Adds a row of R, G, B and alpha.
    fn push_row(level, raster: &mut Raster, row: &[Premultiplied], colours: &ColourConversion) = push_row_body;
}

#[inline(always)]
fn push_row_body(raster: &mut Raster, row: &[Premultiplied], colours: &ColourConversion) {
    colours.convert_row(raster.push(row));
}

impl Painter {
    /// Adds a row to a picture: premultiplied R, G, B, and alpha, from 0 to 1, as displayed. Rows beyond the largest
    /// number are left out.
    pub fn add_row(&self, picture: &mut Picture, rgba: &[[f32; 4]]) {
        let [width, rows] = picture.raster.size;
        if rows < Picture::MAX_SIDE {
            let row = &rgba[..rgba.len().min(width)];
            push_row(self.level, &mut picture.raster, row, &self.colours());
        }
    }

    /// The splat of picture `index` of [`Bins::pictures`](super::Bins::pictures), which names a style of
    /// [`Shape::Picture`](super::Shape::Picture).
    pub fn splat_of(&self, picture: &Picture, index: usize, style: u16) -> Splat {
        let size = picture.raster.size.map(|s| s as f32);
        let centre = [0, 1].map(|a: usize| picture.at[a] as f32 + 0.5 * size[a]);
        let splat = Splat::new(centre, [0.5 * size[0] * self.aspect + 0.1, 0.5 * size[1] + 0.1]);
        let colour = [index as u16, (index >> 16) as u16, 0];
        Splat { style, colour, opacity: 65535, ..splat }
    }

    /// The index of the picture of such a splat.
    pub(super) fn picture_index(splat: &Splat) -> usize {
        usize::from(splat.colour[0]) | usize::from(splat.colour[1]) << 16
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bins, Blend, BlendSpace, Image, Shape, SplatStyle};
    use super::*;
    use crate::frame::{Depth, Format, Frame, Parity, PlaneSet, Scratch};
    use crate::host::CurrentThread;
    use crate::noise::seed::mix64;
    use crate::simd::Level;
    use std::sync::Arc;

    /// A picture is what an image of the same texels is, which is drawn at the size of its texels.
    #[test]
    fn a_picture_is_an_image_of_a_texel_per_sample() {
        let any = |i: usize| (mix64(i as u64) >> 40) as f32 / (1u64 << 24) as f32;
        let mut compared = 0;
        for (case, name) in ["grayf32", "yuv420p10", "yuv411p", "yuv440p", "yuva422p", "gbrapf32", "gbrp"]
            .into_iter()
            .enumerate()
        {
            for light in [BlendSpace::Gamma, BlendSpace::Linear] {
                let mut format = Format::from_name(name, 83, 50).unwrap();
                if case % 2 == 1 {
                    format = format.field(Parity::Bottom);
                }
                let (w, h) = (37, 13);
                let texels: Vec<[f32; 4]> = (0..w * h)
                    .map(|i| [0, 1, 2, 3].map(|c| any(4 * i + c) * if i % w < 9 { 0.0 } else { 1.0 }))
                    .collect();
                let image = Arc::new(Image::new(w, h, &texels).unwrap());
                let styles = [Shape::Image(image), Shape::Picture].map(|s| SplatStyle::new(s, Blend::Over));
                for at in [[5, 3], [-9, -4], [60, 20]] {
                    let draw = |own: bool, level: Level| {
                        let painter = Painter::new(&format, styles.to_vec(), light, level).unwrap();
                        let mut bins = Bins::default();
                        let mut splat = Splat::new(
                            [at[0] as f32 + 0.5 * w as f32, at[1] as f32 + 0.5 * h as f32],
                            [0.5 * w as f32, 0.5 * h as f32],
                        );
                        if own {
                            let mut picture = Picture::new(at, w);
                            for row in texels.chunks(w) {
                                let row: Vec<_> =
                                    row.iter().map(|[r, g, b, a]| [r * a, g * a, b * a, *a]).collect();
                                painter.add_row(&mut picture, &row);
                            }
                            splat = painter.splat_of(&picture, 0, 1);
                            bins.set_pictures(vec![picture]);
                        }
                        painter.bin(&[splat.faded(0.8)], &mut bins, &CurrentThread);
                        let mut frame = Frame::new(format);
                        for p in 0..format.planes() {
                            for y in 0..format.plane_size(p).1 {
                                match format.depth {
                                    Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(120),
                                    Depth::Bits(_) => frame.row_mut::<u16>(p, y).fill(480),
                                    Depth::Float => frame.row_mut::<f32>(p, y).fill(0.4),
                                }
                            }
                        }
                        painter.draw(&bins, &mut frame.as_mut(), PlaneSet::ALL, &mut Scratch::default());
                        frame
                    };
                    let (want, got) = (draw(false, Level::SCALAR), draw(true, Level::SCALAR));
                    for level in Level::available() {
                        assert!(draw(true, *level) == got, "{name} {light:?} {level}");
                    }
                    for p in 0..format.planes() {
                        for y in 0..format.plane_size(p).1 {
                            let near = |a: &[f64], b: &[f64], far: f64| {
                                assert!(
                                    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= far),
                                    "{name} {light:?} {at:?} {p} {y}"
                                );
                                a.iter().filter(|v| **v != a[0]).count()
                            };
                            compared += match format.depth {
                                Depth::Float => {
                                    let of = |f: &Frame| -> Vec<f64> {
                                        f.row::<f32>(p, y).iter().map(|v| f64::from(*v)).collect()
                                    };
                                    near(&of(&want), &of(&got), 1e-4)
                                }
                                Depth::Bits(8) => {
                                    let of = |f: &Frame| -> Vec<f64> {
                                        f.row::<u8>(p, y).iter().map(|v| f64::from(*v)).collect()
                                    };
                                    near(&of(&want), &of(&got), 1.0)
                                }
                                Depth::Bits(_) => {
                                    let of = |f: &Frame| -> Vec<f64> {
                                        f.row::<u16>(p, y).iter().map(|v| f64::from(*v)).collect()
                                    };
                                    near(&of(&want), &of(&got), 1.0)
                                }
                            };
                        }
                    }
                }
            }
        }
        assert!(compared > 10_000, "{compared}");
    }
}
