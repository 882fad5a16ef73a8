//! The light of the scene on splats: a coarse grid of factors, by which their colours are multiplied.

use super::painter::Painter;
use super::splat::{STEPS, Splat};
use super::style::{Blend, Shape, SplatStyle};
use crate::frame::Family;
use crate::pixel::transfer::TransferFunction;

/// The light of a picture on a grid of cells, in the values of a painter's colours.
#[derive(Clone, Debug)]
pub struct SceneLight {
    size: [usize; 2],
    /// Cells in a step of a splat's position.
    scale: [f32; 2],
    factors: Vec<f32>,
    /// The chroma of colours has its zero in the middle.
    chroma: bool,
}

impl SceneLight {
    /// Multiplies the colours of what covers the picture, other than images, by the light at its centre.
    pub(super) fn shine(&self, styles: &[SplatStyle], splats: &mut [Splat]) {
        let zero = if self.chroma { 32768.0 } else { 0.0 };
        for splat in splats {
            let Some(style) = styles.get(usize::from(splat.style)) else { continue };
            let covers = matches!(style.blend, Blend::Over | Blend::Screen);
            if !covers || matches!(style.shape, Shape::Image(_) | Shape::Picture) {
                continue;
            }
            let factor = self.at([splat.x, splat.y]);
            let scaled = |c: u16, zero: f32| ((f32::from(c) - zero) * factor + zero + 0.5) as u16;
            let [a, b, c] = splat.colour;
            splat.colour = [scaled(a, 0.0), scaled(b, zero), scaled(c, zero)];
        }
    }

    /// The factor at a position, bilinear between the centres of cells.
    fn at(&self, position: [i32; 2]) -> f32 {
        let [(left, right, across), (top, bottom, down)] = [0, 1].map(|a| {
            let last = self.size[a] - 1;
            let place = (position[a] as f32 * self.scale[a] - 0.5).clamp(0.0, last as f32);
            let first = place as usize;
            (first, (first + 1).min(last), place - first as f32)
        });
        let row = |y: usize| {
            let row = &self.factors[y * self.size[0]..][..self.size[0]];
            row[left] + across * (row[right] - row[left])
        };
        row(top) + down * (row(bottom) - row(top))
    }
}

impl Painter {
    /// The light, from 0 to 1, on a grid of this size, row by row; its cells are of so many luma samples and rows of the
    /// picture.
    ///
    /// # Panics
    /// A side of the grid is 0, or there are not as many values as cells.
    pub fn scene_light(&self, light: Vec<f32>, size: [usize; 2], cell: [usize; 2]) -> SceneLight {
        assert!(!light.is_empty() && light.len() == size[0] * size[1], "a grid of light has cells");
        let mut factors = light;
        if self.space.curve == TransferFunction::Linear {
            TransferFunction::of(&self.format).encode(self.level, &mut factors);
        } else {
            // Colours are the square roots of light.
            factors.iter_mut().for_each(|f| *f = f.sqrt());
        }
        let scale = cell.map(|c| 1.0 / (c as f32 * STEPS));
        SceneLight { size, scale, factors, chroma: self.space.is_direct && self.format.family == Family::Yuv }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bins, BlendSpace};
    use super::*;
    use crate::frame::{Depth, Format, Frame, PlaneSet, Scratch};
    use crate::host::CurrentThread;
    use crate::simd::Level;

    /// White discs in a light of 1/4 at the left and 1 at the right: as discs of the grey that the light gives.
    #[test]
    fn colours_are_multiplied_by_the_light_of_their_place() {
        for (name, space) in ["gray", "yuv420p", "yuv444p10", "gbrp16", "gbrpf32"]
            .into_iter()
            .flat_map(|name| [BlendSpace::Gamma, BlendSpace::Linear].map(|space| (name, space)))
        {
            let format = Format::from_name(name, 64, 16).unwrap();
            let styles = vec![SplatStyle::new(Shape::disc(0.0).unwrap(), Blend::Over)];
            let painter = Painter::new(&format, styles, space, Level::best()).unwrap();
            let disc = |x: f32, rank: u64, rgb: [f64; 3]| Splat {
                rank,
                colour: painter.colour(rgb),
                ..Splat::new([x, 8.0], [6.0, 6.0])
            };
            let orange = [1.0, 0.5, 0.25];
            let lit = [disc(8.0, 0, orange), disc(32.0, 1, orange), disc(56.0, 2, orange)];
            let scene = painter.scene_light(vec![0.25, 0.25, 1.0, 1.0], [4, 1], [16, 16]);
            let draw = |splats: &[Splat], light: Option<&SceneLight>| {
                let (mut bins, mut frame) = (Bins::default(), Frame::new(format));
                painter.bin(splats, &mut bins, &CurrentThread);
                painter.draw_lit(&bins, light, &mut frame.as_mut(), PlaneSet::ALL, &mut Scratch::default());
                frame
            };
            let got = draw(&lit, Some(&scene));
            let curve = TransferFunction::of(&format);
            // Between the two cells in the middle the values, not the light, are interpolated.
            let factor = match space {
                BlendSpace::Gamma => [curve.code(0.25), 0.5 + 0.5 * curve.code(0.25), 1.0],
                BlendSpace::Linear => [0.25, 0.75 * 0.75, 1.0],
            };
            let want: Vec<Splat> = (0..3)
                .map(|i| {
                    let shade = |v: f64| match space {
                        BlendSpace::Gamma => v * factor[i],
                        BlendSpace::Linear => curve.code(curve.light(v) * factor[i]),
                    };
                    disc([8.0, 32.0, 56.0][i], i as u64, orange.map(shade))
                })
                .collect();
            let want = draw(&want, None);
            for p in 0..format.planes() {
                for y in 0..format.plane_size(p).1 {
                    let row = |f: &Frame| -> Vec<f64> {
                        match format.depth {
                            Depth::Bits(8) => f.row::<u8>(p, y).iter().map(|v| f64::from(*v)).collect(),
                            Depth::Bits(bits) => {
                                let unit = f64::from(1u32 << (bits - 8));
                                f.row::<u16>(p, y).iter().map(|v| f64::from(*v) / unit).collect()
                            }
                            Depth::Float => {
                                f.row::<f32>(p, y).iter().map(|v| f64::from(*v) * 255.0).collect()
                            }
                        }
                    };
                    for (x, (got, want)) in row(&got).into_iter().zip(row(&want)).enumerate() {
                        assert!(
                            (got - want).abs() <= 1.01,
                            "{name} {space:?} {p} {x},{y}: {got}, not {want}"
                        );
                    }
                }
            }
        }
    }
}
