//! Samples at any position of a plane: kernels by phase, edges, and walks along straight lines.
//!
//! Positions are fixed-point numbers with 32 fraction bits, and 0 is the centre of the first sample, so that a position
//! does not depend on the row or band where a walk began. A position is rounded to 1/256 of a sample ([`PHASES`]).

mod arch;
#[cfg(target_arch = "x86_64")]
mod walk_x86;

use super::rows::{Pass, shift};
use super::{Groups, Kernel, Octets};
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, multiversion};
use bytemuck::Pod;

/// The number of positions between two samples.
pub const PHASES: usize = 256;

/// Half a phase: positions are rounded to the nearest.
const HALF: i64 = 1 << 23;

/// Interpolation kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterpolationKernel {
    /// The nearest sample.
    Nearest,
    /// Linear interpolation.
    Bilinear,
    /// The Catmull-Rom cubic.
    Bicubic,
    /// Lanczos with three lobes.
    Lanczos,
}

impl InterpolationKernel {
    /// The number of samples on either side.
    pub(super) const fn radius(self) -> f64 {
        match self {
            InterpolationKernel::Nearest | InterpolationKernel::Bilinear => 1.0,
            InterpolationKernel::Bicubic => 2.0,
            InterpolationKernel::Lanczos => 3.0,
        }
    }

    /// The weight at a distance.
    pub fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            // At half way, the later sample is taken; see [`Phases::new`].
            InterpolationKernel::Nearest => f64::from(u8::from(x < 0.5)),
            InterpolationKernel::Bilinear => (1.0 - x).max(0.0),
            InterpolationKernel::Bicubic if x < 1.0 => 1.0 + x * x * (1.5 * x - 2.5),
            InterpolationKernel::Bicubic if x < 2.0 => 2.0 + x * (x * (2.5 - 0.5 * x) - 4.0),
            InterpolationKernel::Bicubic => 0.0,
            InterpolationKernel::Lanczos if x < 1e-9 => 1.0,
            InterpolationKernel::Lanczos if x < 3.0 => {
                let a = x * core::f64::consts::PI;
                3.0 * libm::sin(a) * libm::sin(a / 3.0) / (a * a)
            }
            InterpolationKernel::Lanczos => 0.0,
        }
    }
}

/// The weights for every phase along one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Phases<S> {
    /// Taps.
    pub taps: usize,
    weights: Vec<S>,
    pairs: Option<Pairs>,
}

/// The weights of 2 or 4 taps for kernels that multiply 16 bits and add pairs.
#[derive(Clone, Debug, PartialEq)]
struct Pairs {
    /// One phase after the other.
    across: Vec<i16>,
    /// For every phase the first two weights, repeated for every column, then the last two.
    down: Vec<i16>,
}

impl Pairs {
    fn new(taps: usize, weights: &[i32]) -> Option<Pairs> {
        if taps != 2 && taps != 4 {
            return None;
        }
        let across: Vec<i16> = weights.iter().map(|&w| i16::try_from(w)).collect::<Result<_, _>>().ok()?;
        let down = across.chunks_exact(2).flat_map(|pair| pair.repeat(taps)).collect();
        Some(Pairs { across, down })
    }
}

impl<S: Pod> Phases<S> {
    /// For a shape; if the source advances by more than one sample per `step`, the kernel is wider in proportion, so
    /// that no samples are skipped ([`InterpolationKernel::Nearest`] skips).
    pub fn new<T: Kernel<Sum = S>>(shape: InterpolationKernel, step: f64) -> Phases<S> {
        let scale = if shape == InterpolationKernel::Nearest { 1.0 } else { step.max(1.0) };
        let taps = Self::taps(shape, step);
        let mut weights = Vec::with_capacity(taps * PHASES);
        for phase in 0..PHASES {
            let place = phase as f64 / PHASES as f64 + (taps / 2 - 1) as f64;
            let list: Vec<f64> = (0..taps).map(|k| shape.weight((place - k as f64) / scale)).collect();
            let list = if phase == PHASES / 2 && shape == InterpolationKernel::Nearest {
                vec![0.0, 1.0]
            } else {
                list
            };
            weights.extend(T::weights(&list));
        }
        let integers = size_of::<T>() < 4;
        // A step that is slightly larger than 1 through rounding widens the kernel by samples with negligible
        // weights.
        let still = |w: &S| bytemuck::bytes_of(w).iter().all(|b| *b == 0);
        let (mut taps, mut weights) = (taps, weights);
        while integers && taps > 2 && weights.chunks_exact(taps).all(|w| still(&w[0]) && still(&w[taps - 1]))
        {
            weights = weights.chunks_exact(taps).flat_map(|w| w[1..taps - 1].iter().copied()).collect();
            taps -= 2;
        }
        let pairs = if integers { Pairs::new(taps, bytemuck::cast_slice(&weights)) } else { None };
        Phases { taps, weights, pairs }
    }

    /// A kernel of 2 or 4 taps for integer samples.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // AVX2 multiplies pairs
    fn pairs(&self) -> Option<&Pairs> {
        self.pairs.as_ref()
    }

    /// Taps of a shape at that step.
    pub fn taps(shape: InterpolationKernel, step: f64) -> usize {
        let scale = if shape == InterpolationKernel::Nearest { 1.0 } else { step.max(1.0) };
        2 * libm::ceil(shape.radius() * scale) as usize
    }

    /// The first sample and the weights for a place.
    #[inline(always)]
    pub fn at(&self, place: i64) -> (i64, &[S]) {
        let place = place + HALF;
        let phase = (place >> 24 & 255) as usize;
        let first = (place >> 32) - (self.taps as i64 / 2 - 1);
        (first, &self.weights[phase * self.taps..][..self.taps])
    }
}

/// The values beyond the edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// One value.
    Color,
    /// The outermost samples are repeated.
    Extend,
    /// The picture mirrored, the edge itself once.
    Mirror,
    /// The picture is repeated.
    Wrap,
}

impl Edge {
    /// The index within `lo..hi` of sample `i`; `None` for the constant value. `lo..hi` must not be empty.
    #[inline]
    pub fn map(self, i: i64, lo: i64, hi: i64) -> Option<i64> {
        if i >= lo && i < hi {
            return Some(i);
        }
        let len = hi - lo;
        match self {
            Edge::Color => None,
            Edge::Extend => Some(i.clamp(lo, hi - 1)),
            Edge::Wrap => Some(lo + (i - lo).rem_euclid(len)),
            Edge::Mirror if len == 1 => Some(lo),
            Edge::Mirror => {
                let at = (i - lo).rem_euclid(2 * (len - 1));
                Some(lo + at.min(2 * (len - 1) - at))
            }
        }
    }
}

/// The source plane.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a, T> {
    /// Its samples, from the first row.
    pub samples: &'a [T],
    /// The distance between rows, in samples.
    pub stride: usize,
    /// The range of columns that exist.
    pub columns: (i64, i64),
    /// The range of rows that exist.
    pub rows: (i64, i64),
    /// The values beyond the edges.
    pub edge: Edge,
    /// The one value.
    pub color: T,
    /// Bits of a sample.
    pub bits: u8,
}

/// A straight line through a plane: its start, and the distance between samples.
#[derive(Clone, Copy, Debug)]
pub struct SampleLine {
    /// Column.
    pub u: i64,
    /// Row.
    pub v: i64,
    /// Columns per step.
    pub du: i64,
    /// Rows per step.
    pub dv: i64,
}

#[inline(always)]
fn sample<T: Kernel>(p: &Patch<'_, T>, x: i64, y: i64) -> T {
    let (Some(x), Some(y)) = (p.edge.map(x, p.columns.0, p.columns.1), p.edge.map(y, p.rows.0, p.rows.1))
    else {
        return p.color;
    };
    p.samples[y as usize * p.stride + x as usize]
}

/// The steps `0..count` of `start + i * step` whose whole part is within `lo..hi`, as a range.
pub(super) fn within(start: i64, step: i64, (lo, hi): (i64, i64), count: usize) -> (usize, usize) {
    let (start, step, count) = (i128::from(start), i128::from(step), count as i128);
    let (lo, hi) = (i128::from(lo) << 32, i128::from(hi) << 32);
    let up = |v: i128| -(-v).div_euclid(step);
    let (first, last) = match step {
        0 if start >= lo && start < hi => (0, count),
        0 => (0, 0),
        1.. => (up(lo - start), up(hi - start)),
        // For negative steps: from the first below hi to the last not below lo.
        _ => ((start - hi).div_euclid(-step) + 1, (start - lo).div_euclid(-step) + 1),
    };
    let first = first.clamp(0, count);
    (first as usize, last.clamp(first, count) as usize)
}

impl SampleLine {
    /// The same from step `i` on.
    fn at(self, i: usize) -> SampleLine {
        SampleLine { u: self.u + i as i64 * self.du, v: self.v + i as i64 * self.dv, ..self }
    }
}

/// The steps whose windows of `taps` samples touch the plane, and those whose windows lie within it. The second range
/// is within the first.
fn parts<T>(p: &Patch<'_, T>, walk: SampleLine, taps: (usize, usize), count: usize) -> [(usize, usize); 2] {
    let both = |slack: (i64, i64)| {
        // Slack 0: from the first window that is inside; otherwise this number of its samples may be outside.
        let range = |(lo, hi): (i64, i64), taps: usize, slack: i64| {
            let (taps, side) = (taps as i64, taps as i64 / 2 - 1);
            (lo + side - slack, hi - taps + 1 + side + slack)
        };
        let x = within(walk.u + HALF, walk.du, range(p.columns, taps.0, slack.0), count);
        let y = within(walk.v + HALF, walk.dv, range(p.rows, taps.1, slack.1), count);
        let first = x.0.max(y.0);
        (first, x.1.min(y.1).max(first))
    };
    [both((taps.0 as i64 - 1, taps.1 as i64 - 1)), both((0, 0))]
}

/// The weights of every phase, for a constant number of taps.
type Taps<T, const N: usize> = [[<T as Kernel>::Sum; N]; PHASES];

/// First vertically, rounded to intermediate values, then horizontally.
#[inline(always)]
fn walk_body<T: Kernel, const N: usize>(
    out: &mut [T],
    p: &Patch<'_, T>,
    walk: SampleLine,
    (across, down): (&Phases<T::Sum>, &Phases<T::Sum>),
) {
    let (widen, narrow) = (shift::<T>(p.bits, Pass::Widen), shift::<T>(p.bits, Pass::Narrow));
    let round = |sum: T::Sum| T::of_sum(sum, narrow.0, narrow.1);
    let wide = |sum: T::Sum| T::Wide::of_sum(sum, widen.0, widen.1);
    let place = |i: usize| (walk.u + i as i64 * walk.du, walk.v + i as i64 * walk.dv);
    // For windows whose samples all exist.
    let (mut first, mut last) = (0, 0);
    let tables: Option<(&Taps<T, N>, &Taps<T, N>)> =
        match (across.weights.as_chunks::<N>(), down.weights.as_chunks::<N>()) {
            ((a, []), (d, [])) => a.try_into().ok().zip(d.try_into().ok()),
            _ => None,
        };
    let side = N as i64 / 2 - 1;
    if tables.is_some() && N > 0 {
        let room = |(lo, hi): (i64, i64)| (lo + side, hi - N as i64 + 1 + side);
        let x = within(walk.u + HALF, walk.du, room(p.columns), out.len());
        let y = within(walk.v + HALF, walk.dv, room(p.rows), out.len());
        first = x.0.max(y.0);
        last = x.1.min(y.1).max(first);
    }
    let outside = |i: usize| {
        let (u, v) = place(i);
        let ((x, wx), (y, wy)) = (across.at(u), down.at(v));
        let mut total = T::ZERO;
        for (j, &w) in (0i64..).zip(wx) {
            let mut column = T::ZERO;
            for (k, &w) in (0i64..).zip(wy) {
                column = sample(p, x + j, y + k).add_to(column, w);
            }
            total = wide(column).add_to(total, w);
        }
        round(total)
    };
    for i in (0..first).chain(last..out.len()) {
        out[i] = outside(i);
    }
    let Some((wx, wy)) = tables else { return };
    let (mut u, mut v) = place(first);
    (u, v) = (u + HALF, v + HALF);
    for out in &mut out[first..last] {
        let mut at = ((v >> 32) - side) as usize * p.stride + ((u >> 32) - side) as usize;
        let (wx, wy) = (&wx[usize::from((u >> 24) as u8)], &wy[usize::from((v >> 24) as u8)]);
        let mut columns = [T::ZERO; N];
        for &w in wy {
            let row = &p.samples[at..at + N];
            for j in 0..N {
                columns[j] = row[j].add_to(columns[j], w);
            }
            at += p.stride;
        }
        let mut total = T::ZERO;
        for j in 0..N {
            total = wide(columns[j]).add_to(total, wx[j]);
        }
        *out = round(total);
        u += walk.du;
        v += walk.dv;
    }
}

#[inline(always)]
fn by_taps<T: Kernel>(
    out: &mut [T],
    p: &Patch<'_, T>,
    walk: SampleLine,
    by: (&Phases<T::Sum>, &Phases<T::Sum>),
) {
    match (by.0.taps, by.1.taps) {
        (2, 2) => walk_body::<T, 2>(out, p, walk, by),
        (4, 4) => walk_body::<T, 4>(out, p, walk, by),
        (6, 6) => walk_body::<T, 6>(out, p, walk, by),
        // For any other width, each sample separately.
        _ => walk_body::<T, 1>(out, p, walk, by),
    }
}

multiversion! {
    fn walk_any<T: Kernel>(level, out: &mut [T], p: &Patch<'_, T>, walk: SampleLine, by: (&Phases<T::Sum>, &Phases<T::Sum>)) = by_taps;
}

/// A sample type for walks.
pub trait Warp: Kernel {
    /// The samples along a walk, with the horizontal and vertical weights.
    fn walk(
        level: Level,
        out: &mut [Self],
        from: &Patch<'_, Self>,
        walk: SampleLine,
        by: (&Phases<Self::Sum>, &Phases<Self::Sum>),
    );

    /// The same over windows of any width.
    fn long_windows(_: Level, _: &mut [Self], _: &[Self::Wide], _: &Octets, _: u8) -> usize {
        0
    }

    /// Copies the nearest source sample where the result of a walk is not finite.
    fn carry(_: &mut [Self], _: &Patch<'_, Self>, _: SampleLine) {}

    /// Weighted sums over windows, to samples of `bits` bits: as many samples as a hand-written kernel can process;
    /// returns their number.
    fn windows(_: Level, _: &mut [Self], _: &[Self::Wide], _: &Groups, _: u8) -> usize {
        0
    }
}

impl<T: CodeSample> Warp for T {
    /// Processes the part that does not touch the edge with hand-written kernels, and the rest with the general ones.
    fn walk(
        level: Level,
        out: &mut [T],
        from: &Patch<'_, T>,
        walk: SampleLine,
        by: (&Phases<i32>, &Phases<i32>),
    ) {
        let [touching, (first, last)] = parts(from, walk, (by.0.taps, by.1.taps), out.len());
        let touching = if from.edge == Edge::Color { touching } else { (0, out.len()) };
        // A window outside of the plane gives the constant value: its weights sum to 1.
        out[..touching.0].fill(from.color);
        out[touching.1..].fill(from.color);
        if touching.0 == touching.1 {
            return;
        }
        let done = first + arch::walk(level, &mut out[first..last], from, walk.at(first), by);
        for (start, end) in [(touching.0.min(first), first), (done, touching.1.max(done))] {
            walk_any(level, &mut out[start..end], from, walk.at(start), by);
        }
    }

    fn windows(level: Level, out: &mut [T], row: &[u16], groups: &Groups, bits: u8) -> usize {
        arch::windows(level, out, row, groups, bits)
    }

    fn long_windows(level: Level, out: &mut [T], row: &[u16], octets: &Octets, bits: u8) -> usize {
        arch::long_windows(level, out, row, octets, bits)
    }
}

impl Warp for f32 {
    fn walk(
        level: Level,
        out: &mut [f32],
        from: &Patch<'_, f32>,
        walk: SampleLine,
        by: (&Phases<f32>, &Phases<f32>),
    ) {
        walk_any(level, out, from, walk, by);
    }

    fn carry(out: &mut [f32], from: &Patch<'_, f32>, walk: SampleLine) {
        for (i, out) in out.iter_mut().enumerate().filter(|(_, v)| !v.is_finite()) {
            let SampleLine { u, v, .. } = walk.at(i);
            let near = |place: i64| (place + HALF + (1 << 31)) >> 32;
            *out = sample(from, near(u), near(v));
        }
    }
}
