//! From the planes of a picture to the lines of a raster, as luma and the colour differences U and V of ITU-R BT.470, and
//! back.

use super::line::{blend, modulate_row};
use super::signal::Picture;
use super::system::Raster;
use crate::filter::point::mean_alpha;
use crate::filter::scale::axis;
use crate::for_depth;
use crate::frame::{Alpha, Depth, Family, Format, FrameMut, FrameRef, Matrix, Primaries, Scratch, Siting};
use crate::pixel::convert::{Code, Coefficients, coefficients};
use crate::pixel::f32_rows::{ConvertF32, to_f32};
use crate::pixel::resample::{Axis, InterpolationKernel, dot_row};
use crate::simd::{Level, multiversion};
use core::ops::Range;

/// U and V of analogue television are these parts of Cb and Cr.
const U: f64 = 0.493 * 1.772;
const V: f64 = 0.877 * 1.402;

/// Both ways between a format and a raster, bound.
pub(super) struct Rows {
    pub format: Format,
    pub level: Level,
    pub width: usize,
    /// Lines of the raster, of the frame or the field.
    pub lines: usize,
    pub planes: Vec<PlaneRows>,
    /// Luma, U and V from the planes, and the planes from them.
    to_signal: [[f64; 3]; 3],
    pub from_signal: [[f64; 3]; 3],
}

/// The tables of a plane.
pub(super) struct PlaneRows {
    read: [Axis<f32>; 2],
    pub write: [Axis<f32>; 2],
}

#[inline(always)]
fn clean_body(row: &mut [f32]) {
    for v in row {
        *v = if v.abs() < 16.0 { *v } else { 0.0 };
    }
}

/// The weighted mean of eight samples around each cycle of four; beyond the ends the outermost samples are repeated.
#[inline(always)]
fn quarter_body(row: &[f32], out: &mut [f32]) {
    const W: [f32; 8] =
        [1.0 / 32.0, 3.0 / 32.0, 5.0 / 32.0, 7.0 / 32.0, 7.0 / 32.0, 5.0 / 32.0, 3.0 / 32.0, 1.0 / 32.0];
    let last = row.len() - 1;
    for (k, out) in out.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (i, w) in W.iter().enumerate() {
            sum += w * row[(4 * k + i).max(2).min(last + 2) - 2];
        }
        *out = sum;
    }
}

multiversion! {
    fn clean(level, row: &mut [f32]) = clean_body;
    fn quarter(level, row: &[f32], out: &mut [f32]) = quarter_body;
}

impl Rows {
    /// For a raster of so many lines of a frame; `None` if the colours have no linear matrix.
    pub(super) fn new(format: &Format, raster: &Raster, lines: usize, level: Level) -> Option<Rows> {
        let standard = Coefficients::Luma { kr: 0.299, kb: 0.114 };
        let planes = if format.family == Family::Gray { 1 } else { 3 };
        let (mut to_signal, mut from_signal) = if format.is_rgb() {
            (standard.to_yuv(), standard.to_rgb())
        } else if planes == 1 {
            ([[1.0, 0.0, 0.0]; 3], [[1.0, 0.0, 0.0]; 3])
        } else {
            let untagged = format.matrix == Matrix::UNSPECIFIED;
            let matrix = if untagged { Matrix::assumed(format.height) } else { format.matrix };
            let own = coefficients(matrix, format.primaries)?;
            (own.to_other(standard), standard.to_other(own))
        };
        for (i, by) in [(1, U), (2, V)] {
            to_signal[i].iter_mut().for_each(|m| *m *= by);
            from_signal.iter_mut().for_each(|row| row[i] /= by);
        }
        let signal = Format {
            width: raster.width as u32,
            height: lines as u32,
            depth: Depth::Float,
            subsampling: if planes == 3 && !format.is_rgb() { (2, 0) } else { (0, 0) },
            siting: Siting::Center,
            alpha: Alpha::None,
            primaries: Primaries::UNSPECIFIED,
            ..*format
        };
        let of_plane = |p| PlaneRows {
            read: [
                axis::<f32>(format, &signal, InterpolationKernel::Bicubic, p, 0),
                axis::<f32>(format, &signal, InterpolationKernel::Bilinear, p, 1),
            ],
            write: [0, 1].map(|i| axis::<f32>(&signal, format, InterpolationKernel::Bicubic, p, i)),
        };
        Some(Rows {
            format: *format,
            level,
            width: raster.width,
            lines: signal.plane_size(0).1,
            planes: (0..planes).map(of_plane).collect(),
            to_signal,
            from_signal,
        })
    }

    /// Whether the planes are G, B and R, which need whole lines of chroma.
    pub(super) const fn is_rgb(&self) -> bool {
        self.format.is_rgb()
    }

    /// The lines from which these rows of luma are computed, with the chroma that belongs to them.
    pub(super) fn needed(&self, rows: &FrameMut<'_>) -> Range<usize> {
        let mut needed = self.lines..0;
        for (p, plane) in self.planes.iter().enumerate() {
            for y in rows.plane(p).rows() {
                let top = plane.write[1].at[y] as usize;
                needed = needed.start.min(top)..needed.end.max(top + plane.write[1].taps);
            }
        }
        needed.start.min(needed.end)..needed.end
    }

    /// The bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        let axes = self.planes.iter().flat_map(|p| p.read.iter().chain(&p.write));
        axes.map(|a| a.at.len() * (8 + 4 * a.taps)).sum()
    }

    /// Samples of the scratch rows of [`read`](Rows::read) and [`write`](Rows::write).
    pub(super) fn room(&self) -> usize {
        (self.format.width as usize).max(self.width)
    }

    /// Reads the lines of a picture.
    pub(super) fn read(&self, input: FrameRef<'_>, picture: &mut Picture<'_>, scratch: &mut Scratch) {
        for_depth!(self.format.depth, T => self.read_planes::<T>(input, picture, scratch));
    }

    fn read_planes<T: ConvertF32>(
        &self,
        input: FrameRef<'_>,
        picture: &mut Picture<'_>,
        scratch: &mut Scratch,
    ) {
        let (level, room) = (self.level, self.room());
        let m = self.to_signal.map(|row| row.map(|m| m as f32));
        let ([row, sum, a, b, c], scratch) = scratch.buffers_and_rest::<f32, 5>([room; 5]);
        let w = self.width;
        for i in 0..picture.count() {
            let line = picture.first + i;
            let [y, u, v] = picture.row(i);
            if !self.is_rgb() {
                self.line::<T>(input, 0, line, y, [&mut *row, &mut *sum], scratch);
                if self.planes.len() < 3 {
                    u.fill(0.0);
                    v.fill(0.0);
                    continue;
                }
                self.line::<T>(input, 1, line, u, [&mut *row, &mut *sum], scratch);
                self.line::<T>(input, 2, line, v, [&mut *row, &mut *sum], scratch);
                if [m[0][1], m[0][2]] != [0.0; 2] {
                    modulate_row(level, y, u, v, ([m[0][1]; 4], [m[0][2]; 4]));
                }
                mix(u, v, [[m[1][1], m[1][2]], [m[2][1], m[2][2]]]);
                continue;
            }
            for (p, to) in [(0, &mut *a), (1, &mut *b), (2, &mut *c)] {
                self.line::<T>(input, p, line, &mut to[..w], [&mut *row, &mut *sum], scratch);
            }
            for (k, to) in [y, &mut *u, &mut *v].into_iter().enumerate() {
                let sum = &mut sum[..w];
                sum.copy_from_slice(&a[..w]);
                blend(level, sum, &b[..w], m[k][0], m[k][1]);
                blend(level, sum, &c[..w], 1.0, m[k][2]);
                if k == 0 {
                    to.copy_from_slice(sum);
                } else {
                    quarter(level, sum, to);
                }
            }
        }
    }

    /// A line of a plane, nominal.
    fn line<T: ConvertF32>(
        &self,
        input: FrameRef<'_>,
        p: usize,
        line: usize,
        out: &mut [f32],
        [row, sum]: [&mut [f32]; 2],
        scratch: &mut Scratch,
    ) {
        let Code { zero, span, .. } = Code::of(&self.format, p);
        let (width, height) = self.format.plane_size(p);
        if height == 0 {
            out.fill(0.0);
            return;
        }
        let [across, down] = &self.planes[p].read;
        let (row, sum) = (&mut row[..width], &mut sum[..width]);
        sum.fill(0.0);
        let (top, weights) = down.window(line);
        for (y, &w) in (top..).zip(weights).filter(|(_, w)| **w != 0.0) {
            to_f32(self.level, input.plane(p).row::<T>(y), zero as f32, row);
            if let Some(a) = self.multiplied() {
                let [alpha] = scratch.buffers::<f64, 1>([width]);
                mean_alpha(&self.format, input.plane(a), p, y, alpha);
                row.iter_mut().zip(&*alpha).for_each(|(v, a)| *v /= *a as f32);
            }
            if self.format.depth == Depth::Float || self.multiplied().is_some() {
                // Rows of integers hold codes: only float samples, and quotients, can be anything.
                row.iter_mut().for_each(|v| *v /= span as f32);
                clean(self.level, row);
                row.iter_mut().for_each(|v| *v *= span as f32);
            }
            blend(self.level, sum, row, 1.0, w / span as f32);
        }
        dot_row(self.level, out, sum, &across.at, &across.weights);
    }

    /// The alpha plane by which colour is multiplied.
    pub(super) fn multiplied(&self) -> Option<usize> {
        self.format.alpha_plane().filter(|_| self.format.alpha == Alpha::Premultiplied)
    }

    /// Makes R, G and B of the lines, each as wide as luma, in the order of planes of `rgb`.
    pub(super) fn rgb(&self, picture: &mut Picture<'_>, m: &[[f64; 3]; 3], rgb: [&mut [f32]; 3]) {
        let (count, w) = (picture.count(), self.width);
        for (to, m) in rgb.into_iter().zip(m) {
            for i in 0..count {
                let [y, u, v] = picture.row(i);
                let to = &mut to[i * w..][..w];
                to.copy_from_slice(y);
                modulate_row(self.level, to, u, v, ([m[1] as f32; 4], [m[2] as f32; 4]));
            }
        }
    }

    /// G, B and R from luma, U and V.
    pub(super) fn to_rgb() -> [[f64; 3]; 3] {
        let mut m = Coefficients::Luma { kr: 0.299, kb: 0.114 }.to_rgb();
        m.iter_mut().for_each(|row| (row[1], row[2]) = (row[1] / U, row[2] / V));
        m
    }
}

/// The colour differences by a matrix of two rows, in place.
pub(super) fn mix(u: &mut [f32], v: &mut [f32], [[a, b], [c, d]]: [[f32; 2]; 2]) {
    for (u, v) in u.iter_mut().zip(v) {
        (*u, *v) = (*u * a + *v * b, *u * c + *v * d);
    }
}
