//! Compositing of the rows of a band, plane by plane.

use super::super::Band;
use super::super::point::nominal;
use super::paint::{self, AlphaPlane, Backdrop, LiquidLook, PaintSample, PlaneColors, Row, RowShading};
use super::surface::{Node, Surface};
use crate::frame::{Alpha, Format, FrameRef, Scratch};
use crate::pixel::convert::{self, Coefficients};
use crate::simd::Level;

/// The overlay of a frame.
pub(super) struct SurfaceLayer<'a> {
    pub(super) format: &'a Format,
    pub(super) level: Level,
    pub(super) look: LiquidLook,
    /// Red, green, blue, alpha.
    pub(super) tint: [f64; 4],
    pub(super) weights: Coefficients,
    /// Sample aspect ratio.
    pub(super) sample: f32,
}

fn backdrop<'a, T: PaintSample>(input: &FrameRef<'a>, p: usize) -> Backdrop<'a, T> {
    let plane = input.plane(p);
    let (samples, stride) = plane.samples::<T>();
    let (w, h) = input.format.plane_size(p);
    Backdrop { samples, stride, size: [w, h] }
}

impl SurfaceLayer<'_> {
    fn plane_colors(&self, p: usize) -> PlaneColors {
        let c = convert::Code::of(self.format, p);
        let of = |rgba: [f64; 4]| (nominal(self.format, self.weights, rgba)[p] * f64::from(c.span)) as f32;
        let [r, g, b, _] = self.tint;
        let top = f32::from(self.format.codes().1);
        let still = self.look.bend == 0.0;
        PlaneColors { zero: c.zero as f32, tint: of([r, g, b, 1.0]), white: of([1.0; 4]), top, still }
    }

    /// Writes the band's rows of the selected planes.
    pub(super) fn composite<T: PaintSample>(
        &self,
        surface: &Surface,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let Some(input) = band.input else { return };
        let format = self.format;
        let planes = || band.writes.iter().filter(|&p| p < format.planes());
        let width = format.width as usize;
        let n = width;
        let [line, cover, x, y, back, tint, white] =
            scratch.buffers::<f32, 7>([4 * surface.size[0], n, n, n, n, n, n]);
        let line: &mut [Node] = bytemuck::cast_slice_mut(line);
        let mut all = RowShading { cover, x, y, back, tint, white };
        let tall = format.height as f32;
        let plane_colors: [PlaneColors; 4] =
            core::array::from_fn(|p| self.plane_colors(p.min(format.planes() - 1)));
        // In luma samples of the frame.
        let sites = |p: usize| {
            let (first, step) = format.frame_sites(p);
            (first.map(|v| v as f32), step.map(|v| v as f32))
        };
        let alpha = format.alpha_plane().filter(|a| band.writes.has(*a));
        let mut done = 0u8;
        for p in planes() {
            if done >> p & 1 == 1 {
                continue;
            }
            let (first, step) = sites(p);
            // Planes with the same sample positions share the result.
            let same: Vec<usize> = planes().filter(|&q| sites(q) == (first, step)).collect();
            for y in band.output.plane(p).rows() {
                let row = Row {
                    y: (first[1] + y as f32 * step[1]) / tall,
                    x: first[0] * self.sample / tall,
                    step: step[0] * self.sample / tall,
                    scale: [tall / (self.sample * step[0]), tall / step[1]],
                };
                let (w, _) = format.plane_size(p);
                let seen = &mut all.first(w);
                paint::shade_row(self.level, surface, &self.look, &row, line, seen);
                for &q in &same {
                    let back = backdrop::<T>(&input, q);
                    let out = band.output.plane_mut(q).row_mut::<T>(y);
                    match alpha {
                        None => paint::composite(self.level, seen, y, back, plane_colors[q], out),
                        Some(a) => {
                            let to = sites(a);
                            // Converts this plane's samples to those of alpha.
                            let by = [0, 1].map(|i: usize| step[i] / to.1[i]);
                            let first = [0, 1].map(|i: usize| (first[i] - to.0[i]) / to.1[i]);
                            let alpha_plane = AlphaPlane {
                                alpha: backdrop::<T>(&input, a),
                                full: f32::from(format.codes().1).max(1.0),
                                by,
                                first,
                                straight: format.alpha == Alpha::Straight,
                            };
                            let ink = (q != a).then_some(plane_colors[q]);
                            paint::composite_with_alpha(seen, y, back, alpha_plane, ink, out);
                        }
                    }
                }
            }
            same.iter().for_each(|q| done |= 1 << q);
        }
    }
}
