//! Compositing of the rows of a band, plane by plane.

use super::super::Band;
use super::super::point::nominal;
use super::paint::{
    self, AlphaPlane, Backdrop, LIGHTS, LiquidLook, PaintSample, PlaneColors, Row, RowShading, SceneLight,
};
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

/// Samples per cell of the light, in each direction.
const SAMPLES: usize = 4;
/// The mean brightness in which the liquid has the colours of its settings.
const USUAL: f64 = 0.4;
/// How much the light of the place counts; the rest is that of the whole picture.
const LOCAL: f64 = 0.7;

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

    /// The light of the scene: mean brightnesses of the picture, from some of its samples, 1 at [`USUAL`]. The liquid has
    /// no light of its own.
    fn light<T: PaintSample>(&self, input: &FrameRef<'_>) -> SceneLight {
        let format = self.format;
        let luma = if format.is_rgb() { self.weights.to_yuv()[0] } else { [1.0, 0.0, 0.0] };
        let planes: [_; 4] = core::array::from_fn(|p| {
            let p = p.min(format.planes() - 1);
            let c = convert::Code::of(format, p);
            (backdrop::<T>(input, p), f64::from(c.zero), f64::from(c.span))
        });
        let number = |p: usize, x: usize, y: usize| {
            let (from, zero, span) = &planes[p];
            let ([w, h], [across, down]) = (from.size, LIGHTS.map(|n| SAMPLES * n));
            let v = from.samples[(y * h / down) * from.stride + x * w / across].number();
            let v = (f64::from(v) - zero) / span;
            if v > 0.0 { v.min(1.0) } else { 0.0 }
        };
        let cell = |i: usize, j: usize| {
            let (mut sum, mut all) = (0.0, 0.0);
            for (y, x) in (0..SAMPLES).flat_map(|y| (0..SAMPLES).map(move |x| (y, x))) {
                let (x, y) = (SAMPLES * i + x, SAMPLES * j + y);
                let alpha = format.alpha_plane().map_or(1.0, |a| number(a, x, y));
                let v: f64 = (0..3).filter(|p| luma[*p] != 0.0).map(|p| luma[p] * number(p, x, y)).sum();
                sum += if format.alpha == Alpha::Straight { v * alpha } else { v };
                all += alpha;
            }
            if all > 0.0 { sum / (all * USUAL) } else { 1.0 }
        };
        let mut cells = [[0.0; LIGHTS[0]]; LIGHTS[1]];
        for (j, row) in cells.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(i, v)| *v = cell(i, j));
        }
        let mean = cells.as_flattened().iter().sum::<f64>() / (LIGHTS[0] * LIGHTS[1]) as f64;
        cells.map(|row| row.map(|v| (LOCAL * v + (1.0 - LOCAL) * mean) as f32))
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
            scratch.buffers::<f32, 7>([5 * surface.size[0], n, n, n, n, n, n]);
        let line: &mut [Node] = bytemuck::cast_slice_mut(line);
        let mut all = RowShading { cover, x, y, back, tint, white };
        let tall = format.height as f32;
        let light = self.light::<T>(&input);
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
                    light: paint::light_row(&light, (first[1] + y as f32 * step[1]) / tall),
                    lights: LIGHTS[0] as f32 * tall / (self.sample * width as f32),
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
