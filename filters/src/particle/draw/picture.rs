//! Pictures that are made for one frame, each for a place in it.
//!
//! A picture has one texel per luma sample and lies on whole samples. A plane with cells of one luma sample takes its texels
//! as they are; a larger cell takes the mean of the texels that it covers. So drawing is a copy, whatever the level,
//! tile or band.

use super::draw_plane::{self, BlendTerms, DrawPlane, PlaneContent};
use super::painter::Painter;
use super::sampler::linearize;
use super::splat::Splat;
use super::style::{Blend, SplatStyle};
use super::tile::Part;
use crate::pixel::transfer::TransferFunction;
use core::ops::Range;

/// A picture at a place of the frame, in the colours of a painter. Only what is between the first and the last texel that
/// is not empty of each row is kept.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The first column and row, in luma samples.
    at: [i32; 2],
    width: usize,
    /// Of each row: the first column and the first texel.
    rows: Vec<[u32; 2]>,
    /// Premultiplied nominal values of the first three planes, and alpha.
    texels: Vec<[f32; 4]>,
}

impl Picture {
    /// The largest width or height: twice the largest half size of a splat.
    pub const MAX_SIDE: usize = 8180;

    /// Without rows, whose first sample is `at`.
    pub fn new(at: [i32; 2], width: usize) -> Picture {
        Picture { at, width: width.min(Picture::MAX_SIDE), rows: Vec::new(), texels: Vec::new() }
    }

    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The columns and texels of row `y` that are kept.
    #[inline(always)]
    fn row(&self, y: usize) -> (usize, &[[f32; 4]]) {
        let Some([from, start]) = self.rows.get(y) else { return (0, &[]) };
        let end = self.rows.get(y + 1).map_or(self.texels.len(), |r| r[1] as usize);
        (*from as usize, self.texels.get(*start as usize..end).unwrap_or(&[]))
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 8 + self.texels.capacity() * 16
    }

    /// The largest size in bytes of a picture of so many texels in so many rows.
    pub const fn most_bytes(texels: usize, rows: usize) -> usize {
        size_of::<Picture>() + 2 * (16 * texels + 8 * rows)
    }

    /// The mean of the texels in a rectangle of luma samples of the frame.
    #[inline(always)]
    fn mean(&self, [left, right]: [f32; 2], [top, bottom]: [f32; 2]) -> [f32; 4] {
        let share = 1.0 / ((right - left) * (bottom - top));
        let (left, right) = (left - self.at[0] as f32, right - self.at[0] as f32);
        let (top, bottom) = (top - self.at[1] as f32, bottom - self.at[1] as f32);
        let mut sum = [0.0f32; 4];
        // `as` saturates.
        for y in top.max(0.0) as usize..(bottom.max(0.0).ceil() as usize).min(self.rows.len()) {
            let down = bottom.min((y + 1) as f32) - top.max(y as f32);
            let (from, row) = self.row(y);
            let (x0, x1) =
                ((left.max(0.0) as usize).max(from), (right.max(0.0).ceil() as usize).min(from + row.len()));
            for x in x0..x1 {
                let part = down * (right.min((x + 1) as f32) - left.max(x as f32));
                for (s, t) in sum.iter_mut().zip(&row[x - from]) {
                    *s += t * part;
                }
            }
        }
        sum.map(|s| s * share)
    }
}

impl Painter {
    /// Adds a row to a picture: premultiplied R, G, B, and alpha, from 0 to 1, as displayed. Rows beyond the largest
    /// number are left out.
    pub fn add_row(&self, picture: &mut Picture, rgba: &[[f32; 4]]) {
        if picture.rows.len() >= Picture::MAX_SIDE {
            return;
        }
        let rgba = &rgba[..rgba.len().min(picture.width)];
        let from = rgba.iter().position(|t| t[3] > 0.0).unwrap_or(0);
        let to = rgba.iter().rposition(|t| t[3] > 0.0).map_or(from, |i| i + 1);
        picture.rows.push([from as u32, picture.texels.len() as u32]);
        let (matrix, curve) = self.colours();
        let gray = self.places.iter().filter(|p| p.content != PlaneContent::Alpha).count() == 1;
        picture.texels.extend(rgba[from..to].iter().map(|t| {
            let [y, u, v] = draw_plane::nominal(matrix, [t[0], t[1], t[2]].map(f64::from));
            let mut texel =
                [y as f32, if gray { 0.0 } else { u as f32 }, if gray { 0.0 } else { v as f32 }, t[3]];
            if curve != TransferFunction::Linear {
                linearize(&mut texel, curve, self.level);
            }
            texel
        }));
    }

    /// The splat of picture `index` of [`Bins::pictures`](super::Bins::pictures), which names a style of
    /// [`Shape::Picture`](super::Shape::Picture).
    pub fn splat_of(&self, picture: &Picture, index: usize, style: u16) -> Splat {
        let size = [picture.width as f32, picture.rows.len() as f32];
        let centre = [0, 1].map(|a: usize| picture.at[a] as f32 + 0.5 * size[a]);
        let splat = Splat::new(centre, [0.5 * size[0] * self.aspect + 0.1, 0.5 * size[1] + 0.1]);
        let colour = [index as u16, (index >> 16) as u16, 0];
        Splat { style, colour, opacity: 65535, ..splat }
    }

    /// Composes a picture onto the cells of a part.
    #[inline(always)]
    pub(super) fn blend_picture(
        &self,
        part: &Part,
        splat: &Splat,
        style: &SplatStyle,
        pictures: &[Picture],
        samples: &mut [f32],
    ) {
        let index = usize::from(splat.colour[0]) | usize::from(splat.colour[1]) << 16;
        let Some(picture) = pictures.get(index) else { return };
        let opacity = f32::from(splat.opacity) * (1.0 / 65535.0);
        let cells = &part.group.cells;
        let range = |a: usize, long: usize| -> Range<i32> {
            let (low, high) = (picture.at[a] * 256, (picture.at[a] + long as i32) * 256);
            let (low, high) = cells.touched(a, low, high);
            let end = part.from[a] + part.size[a] as i32;
            low.clamp(part.from[a], end)..high.clamp(part.from[a], end)
        };
        let (columns, rows) = (range(0, picture.width), range(1, picture.rows.len()));
        let whole = cells.shift == [0, 0];
        for j in rows {
            let place = |i: i32| part.index([i, j], 0);
            if whole {
                let (from, row) = picture.row((j - picture.at[1]).max(0) as usize);
                let from = picture.at[0] + from as i32;
                let seen = columns.start.max(from)..columns.end.min(from + row.len() as i32);
                for i in seen {
                    self.blend_texel(part, style.blend, opacity, row[(i - from) as usize], place(i), samples);
                }
                continue;
            }
            let [wide, high] = cells.size();
            let y = ((j << (8 + cells.shift[1])) + cells.first[1]) as f32 * (1.0 / 256.0);
            for i in columns.clone() {
                let x = ((i << (8 + cells.shift[0])) + cells.first[0]) as f32 * (1.0 / 256.0);
                let texel = picture.mean([x - 0.5 * wide, x + 0.5 * wide], [y - 0.5 * high, y + 0.5 * high]);
                self.blend_texel(part, style.blend, opacity, texel, place(i), samples);
            }
        }
    }

    #[inline(always)]
    fn blend_texel(
        &self,
        part: &Part,
        blend: Blend,
        opacity: f32,
        texel: [f32; 4],
        place: usize,
        samples: &mut [f32],
    ) {
        if texel[3] <= 0.0 {
            return;
        }
        for (base, p) in part.base[..part.group.count].iter().zip(part.group.planes()) {
            let plane: &DrawPlane = &self.places[*p];
            let BlendTerms { fade, ink } = plane.effect_of_image(blend, texel);
            let p = &mut samples[base + place];
            *p = *p * (1.0 - opacity * fade) + opacity * ink;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bins, BlendSpace, Image, Shape};
    use super::*;
    use crate::frame::{Depth, Format, Frame, Parity, PlaneSet, Scratch};
    use crate::lend::CurrentThread;
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
                        let painter = Painter::with_space(&format, styles.to_vec(), light, level).unwrap();
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
