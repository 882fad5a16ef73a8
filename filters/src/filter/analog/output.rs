//! From the lines of a raster to the planes of a picture.

use super::line::modulate_row;
use super::raster::{Rows, mix};
use super::signal::Picture;
use crate::filter::point::mean_alpha;
use crate::for_depth;
use crate::frame::{FrameMut, FrameRef, PlaneSet, Scratch};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::{ConvertF32, from_f32};
use crate::pixel::resample::{Pass, convolve_rows, dot_row};

impl Rows {
    /// Writes planes of an output whose rows need no other lines than those of `picture`. `rgb` is room for three planes
    /// of the picture's lines, or empty if the format has luma.
    pub(super) fn write(
        &self,
        input: FrameRef<'_>,
        picture: &mut Picture<'_>,
        rgb: [&mut [f32]; 3],
        (output, writes): (&mut FrameMut<'_>, PlaneSet),
        scratch: &mut Scratch,
    ) {
        let (level, first, w) = (self.level, picture.first, self.width);
        let m = self.from_signal.map(|row| row.map(|m| m as f32));
        let planes: [(&[f32], usize); 3] = if self.is_rgb() {
            let [g, b, r] = rgb;
            self.rgb(picture, &self.from_signal, [&mut *g, &mut *b, &mut *r]);
            [(g, w), (b, w), (r, w)]
        } else {
            if self.planes.len() == 3 {
                for i in 0..picture.count() {
                    let [y, u, v] = picture.row(i);
                    if [m[0][1], m[0][2]] != [0.0; 2] {
                        modulate_row(level, y, u, v, ([m[0][1]; 4], [m[0][2]; 4]));
                    }
                    mix(u, v, [[m[1][1], m[1][2]], [m[2][1], m[2][2]]]);
                }
            }
            [(&*picture.y, w), (&*picture.u, w / 4), (&*picture.v, w / 4)]
        };
        for p in writes.iter().filter(|&p| p < self.planes.len()) {
            let (lines, n) = planes[p];
            let line = |y: usize| &lines[(y - first) * n..][..n];
            for_depth!(self.format.depth, T => self.write_plane::<T>(p, input, line, output, scratch));
        }
    }

    fn write_plane<'a, T: ConvertF32>(
        &self,
        p: usize,
        input: FrameRef<'_>,
        line: impl Fn(usize) -> &'a [f32],
        output: &mut FrameMut<'_>,
        scratch: &mut Scratch,
    ) {
        let Code { zero, span, .. } = Code::of(&self.format, p);
        let legal = self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
        let [across, down] = &self.planes[p].write;
        let (to, from) = (output.plane_mut(p), input.plane(p));
        let width = self.format.plane_size(p).0;
        let ([column, sum, values], scratch) = scratch.buffers_and_rest::<f32, 3>([self.room(); 3]);
        let values = &mut values[..width];
        for y in to.rows() {
            let (top, weights) = down.window(y);
            let n = line(top).len();
            let (column, sum) = (&mut column[..n], &mut *sum);
            convolve_rows(self.level, (&mut *column, sum), weights, |k| line(top + k), (0, Pass::Direct));
            column.iter_mut().for_each(|v| *v *= span as f32);
            dot_row(self.level, values, column, &across.at, &across.weights);
            to.row_mut::<T>(y).copy_from_slice(from.row(y));
            let Some(a) = self.multiplied() else {
                from_f32(self.level, values, zero as f32, legal, to.row_mut::<T>(y));
                continue;
            };
            let [alpha] = scratch.buffers::<f64, 1>([width]);
            mean_alpha(&self.format, input.plane(a), p, y, alpha);
            for ((out, v), a) in to.row_mut::<T>(y).iter_mut().zip(&*values).zip(&*alpha) {
                // Samples without coverage have no colour.
                if *a > 0.0 && a.is_finite() {
                    *out = out.replaced(v * *a as f32, zero as f32, legal);
                }
            }
        }
    }
}
