//! Computes the rows of a band.

use super::ops::{Group, Op, Ops};
use crate::filter::Band;
use crate::frame::{Depth, Format, FrameMut, FrameRef, PlaneSet, Scratch};
use crate::pixel::convert::{Accumulate, CodeSample, Mix, Num, PAD, pad};
use crate::simd::Level;

/// The scratch memory of [`render`] for pictures of that width, at most.
pub(super) fn scratch_bytes(width: usize) -> usize {
    // four sources, each with a padded row before and one after horizontal resampling
    4 * 2 * (buffer_len(width) * 4 + 64)
}

fn buffer_len(width: usize) -> usize {
    (width + 2 * PAD).next_multiple_of(16)
}

/// Writes every row of the band's planes.
pub(super) fn render(
    from: &Format,
    to: &Format,
    ops: &Ops,
    level: Level,
    band: &mut Band<'_>,
    scratch: &mut Scratch,
) {
    let input = band.source();
    let (output, writes) = (&mut band.output, band.writes);
    let mut job = Job { from, to, ops, level, input, output, writes, scratch };
    match (from.depth.bytes(), to.depth.bytes()) {
        (1, 1) => job.codes::<u8, u8>(),
        (1, 2) => job.codes::<u8, u16>(),
        (2, 1) => job.codes::<u16, u8>(),
        (2, 2) => job.codes::<u16, u16>(),
        (1, _) => job.groups::<u8, f32, f32>(),
        (2, _) => job.groups::<u16, f32, f32>(),
        (_, 1) => job.groups::<f32, f32, u8>(),
        (_, 2) => job.groups::<f32, f32, u16>(),
        _ => {
            job.copies();
            job.groups::<f32, f32, f32>();
        }
    }
    job.fills();
}

struct Job<'a, 'b, 'c> {
    from: &'a Format,
    to: &'a Format,
    ops: &'a Ops,
    level: Level,
    input: FrameRef<'b>,
    output: &'a mut FrameMut<'c>,
    writes: PlaneSet,
    scratch: &'a mut Scratch,
}

impl<'a> Job<'a, '_, '_> {
    /// The operations of the planes that are written.
    fn written(&self) -> impl Iterator<Item = (usize, &'a Op)> + use<'a> {
        let writes = self.writes;
        self.ops.planes.iter().enumerate().filter(move |(p, _)| writes.has(*p))
    }

    fn codes<S: CodeSample + Accumulate<i32>, D: CodeSample + Mix<i32>>(&mut self) {
        for (p, op) in self.written() {
            let Op::Scale { source, scale } = op else { continue };
            let (source, plane) = (self.input.plane(*source), self.output.plane_mut(p));
            for y in plane.rows() {
                scale.row::<S, D>(self.level, plane.row_mut(y), source.row(y));
            }
        }
        self.groups::<S, i32, D>();
    }

    fn copies(&mut self) {
        for (p, op) in self.written() {
            let Op::Copy { source } = op else { continue };
            let (source, plane) = (self.input.plane(*source), self.output.plane_mut(p));
            for y in plane.rows() {
                plane.row_bytes_mut(y).copy_from_slice(source.row_bytes(y));
            }
        }
    }

    fn fills(&mut self) {
        for (p, op) in self.written() {
            let &Op::Fill { code, real } = op else { continue };
            let plane = self.output.plane_mut(p);
            for y in plane.rows() {
                match self.to.depth {
                    Depth::Float => plane.row_mut::<f32>(y).fill(real),
                    Depth::Bits(0..=8) => plane.row_mut::<u8>(y).fill(code as u8),
                    Depth::Bits(_) => plane.row_mut::<u16>(y).fill(code),
                }
            }
        }
    }

    fn groups<S: Accumulate<A>, A: Num, D: Mix<A>>(&mut self) {
        for group in &self.ops.groups {
            self.group::<S, A, D>(group);
        }
    }

    fn group<S: Accumulate<A>, A: Num, D: Mix<A>>(&mut self, group: &Group) {
        let Some(first) = group.outputs.iter().find(|o| self.writes.has(o.plane)) else { return };
        let (width, _) = self.to.plane_size(first.plane);
        let planes: Vec<_> = group.outputs.iter().map(|o| (&o.terms[..], o.code)).collect();
        let forms = D::forms(&planes);
        let size = buffer_len(self.from.width as usize);
        // a row before horizontal resampling and one after it, for each source
        let [lines, ready] = self.scratch.buffers::<A, 2>([size * group.sources.len(); 2]);
        for y in self.output.plane(first.plane).rows() {
            for (i, source) in group.sources.iter().enumerate() {
                let still = source.across.is_identity();
                let (line, ready) = (&mut lines[size * i..][..size], &mut ready[size * i..][..width]);
                let plane = self.input.plane(source.plane);
                let (len, _) = self.from.plane_size(source.plane);
                let sum = if still { &mut *ready } else { &mut line[PAD..PAD + len] };
                if plane.height() == 0 {
                    // the bottom field of a picture with one row of chroma has no chroma rows, so it has no
                    // colour
                    sum.fill(A::from_i32(source.code.zero << source.down.bits));
                } else {
                    let (first, weights) = source.down.at(y);
                    for (n, &weight) in weights.iter().enumerate() {
                        let at = (first + n as i64).clamp(0, plane.height() as i64 - 1);
                        let row: &[S] = plane.row(at as usize);
                        S::accumulate(self.level, sum, row, weight, source.code.top, n > 0);
                    }
                }
                if !still {
                    pad(&mut line[..len + 2 * PAD], len);
                    A::across(self.level, ready, &line[..len + 2 * PAD], &source.across);
                }
            }
            for (output, form) in group.outputs.iter().zip(&forms).filter(|(o, _)| self.writes.has(o.plane)) {
                let mut rows: [&[A]; 3] = [&[]; 3];
                for (row, &i) in rows.iter_mut().zip(&output.used) {
                    *row = &ready[size * i..][..width];
                }
                let out = self.output.plane_mut(output.plane).row_mut::<D>(y);
                D::mix(self.level, form, out, &rows[..output.used.len()]);
            }
        }
    }
}
