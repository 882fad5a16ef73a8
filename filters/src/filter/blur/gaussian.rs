//! The Gaussian of a plane.
//!
//! Both directions are halved until sigma is less than 4 samples. A step down weights four samples by 1/8, 3/8, 3/8 and
//! 1/8, and a step back interpolates linearly, which are the same weights; each has a variance of 3/4, and the Gaussian
//! at the lowest resolution has the rest of sigma^2. Positions of halved samples do not depend on the band, so that bands
//! agree.

use super::Job;
use crate::frame::{PlaneMut, PlaneRef, Scratch};
use crate::pixel::resample::smooth::{
    COLUMNS_ROOM, MAX_REACH, ROW_ROOM, Smooth, Weights, between_rows, blur_columns, blur_row, double_row,
    halve_row, halve_rows,
};
use crate::pixel::resample::{Kernel, Pass, convolve_row};
use crate::simd::Level;

/// The sigma in samples from which a direction is halved.
const HALVED_FROM: f64 = 4.0;

/// Samples that a halved picture has beyond each edge; the outermost of them equals those farther out.
const MARGIN: i64 = 2;

/// The blur of one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Axis {
    /// The number of halvings.
    halvings: u32,
    /// Sigma at the lowest resolution, in its samples.
    sigma: f64,
}

impl Axis {
    pub(super) fn new(sigma: f64) -> Axis {
        let mut halvings = 0;
        while sigma / f64::from(1u32 << halvings) >= HALVED_FROM {
            halvings += 1;
        }
        let d = f64::from(1u32 << halvings);
        Axis { halvings, sigma: (sigma * sigma - 0.5 * (d * d - 1.0)).max(0.0).sqrt() / d }
    }

    /// Weights to either side of the middle, out to 3.5 sigma.
    fn taps(self) -> usize {
        (libm::ceil(3.5 * self.sigma - 0.5) as usize).clamp(1, MAX_REACH)
    }

    /// The distance in samples at which it reads.
    pub(super) fn reach(self) -> usize {
        let d = 1 << self.halvings;
        self.taps() * d + 3 * (d - 1)
    }

    /// The weights from the middle on.
    fn weights<W: Smooth>(self) -> Weights<W> {
        let weight = |i: usize| libm::exp(-((i * i) as f64) / (2.0 * self.sigma * self.sigma).max(1e-9));
        Weights::new(&(0..=self.taps()).map(weight).collect::<Vec<_>>())
    }

    fn is_halved(self) -> bool {
        self.halvings > 0
    }
}

/// One direction of a picture at one resolution.
#[derive(Clone, Copy)]
struct Extent {
    axis: Axis,
    /// Samples from edge to edge.
    len: i64,
    /// Samples that are stored beyond each edge.
    margin: i64,
}

impl Extent {
    fn halved(self) -> Extent {
        if !self.axis.is_halved() {
            return self;
        }
        let axis = Axis { halvings: self.axis.halvings - 1, ..self.axis };
        Extent { axis, len: (self.len + 1) / 2, margin: MARGIN }
    }

    /// The samples stored, with their margins.
    fn stored(self) -> usize {
        (self.len + 2 * self.margin) as usize
    }

    /// The halved samples between which these lie.
    fn around(self, [first, last]: [i64; 2]) -> [i64; 2] {
        if self.axis.is_halved() { [(first - 1) >> 1, (last + 1) >> 1] } else { [first, last] }
    }

    /// The samples on which the blur of these depends.
    fn sources(self, range: [i64; 2]) -> [i64; 2] {
        if self.axis.is_halved() {
            let [first, last] = self.halved().sources(self.around(range));
            return [2 * first - 1, 2 * last + 2];
        }
        let taps = self.axis.taps() as i64;
        [range[0] - taps, range[1] + taps]
    }

    /// The stored rows of a range of samples.
    fn rows(self, [first, last]: [i64; 2]) -> core::ops::Range<usize> {
        let row = |i: i64| (i.clamp(-self.margin, self.len - 1 + self.margin) + self.margin) as usize;
        row(first)..row(last) + 1
    }
}

/// Blurs the rows of the output in this band.
pub(super) fn render<T: Kernel<Wide: Smooth>>(job: Job<'_, '_>, axes: [Axis; 2], scratch: &mut Scratch) {
    let Job { level, bits, input, output, width } = job;
    let [x, y] = [(axes[0], width), (axes[1], input.height())].map(|(axis, len)| Extent {
        axis,
        len: len as i64,
        margin: 0,
    });
    if matches!(bits, 0 | 16) {
        smooth::<T::Wide>(level, input, output, [x, y], scratch);
        return;
    }
    // Other depths are blurred in 16 bits.
    let rows = output.rows();
    if rows.is_empty() {
        return;
    }
    let near = y.rows(y.sources([rows.start as i64, rows.end as i64 - 1]));
    let lens = [width * near.len(), width * rows.len()];
    let ([wide, soft], scratch) = scratch.buffers_and_rest::<T::Wide, 2>(lens);
    let (mut wide, mut soft) =
        (plane(wide, width, near.clone(), input.height()), plane(soft, width, rows.clone(), input.height()));
    let one = T::weights(&[1.0]);
    let [acc] = scratch.buffers::<T::Sum, 1>([width]);
    for y in near {
        let to = (wide.row_mut::<T::Wide>(y), &mut *acc);
        convolve_row(level, to, input.row::<T>(y), &one, (bits, Pass::Widen));
    }
    smooth::<T::Wide>(level, wide.as_ref(), &mut soft, [x, y], scratch);
    let [acc] = scratch.buffers::<T::Sum, 1>([width]);
    for y in rows {
        let (from, to) = (soft.as_ref().row::<T::Wide>(y), (output.row_mut::<T>(y), &mut *acc));
        convolve_row(level, to, from, &one, (bits, Pass::Narrow));
    }
}

/// The bytes of memory that the blur of so many samples takes, at most.
pub(super) fn memory(width: usize, height: usize, sample_bytes: usize) -> usize {
    // Rows are blurred in one direction, or halved in one; depths of fewer than 16 bits are copied besides.
    4 * (width + 2 * ROW_ROOM) * (height + 64) * sample_bytes + (64 << 10)
}

/// Rows of a picture in a buffer.
pub(super) fn plane<W: Smooth>(
    data: &mut [W],
    width: usize,
    rows: core::ops::Range<usize>,
    height: usize,
) -> PlaneMut<'_> {
    let bytes = width * size_of::<W>();
    PlaneMut::of_rows(bytemuck::cast_slice_mut(data), bytes, bytes, rows, height)
}

/// Blurs the rows of the output. Rows of the input stand for those beyond them.
fn smooth<W: Smooth>(
    level: Level,
    input: PlaneRef<'_>,
    output: &mut PlaneMut<'_>,
    [x, y]: [Extent; 2],
    scratch: &mut Scratch,
) {
    let rows = output.rows();
    if rows.is_empty() {
        return;
    }
    let stored = input.rows();
    let row =
        |i: i64| input.row::<W>((i + y.margin).clamp(stored.start as i64, stored.end as i64 - 1) as usize);
    let first = rows.start as i64 - y.margin;
    if !x.axis.is_halved() && !y.axis.is_halved() {
        return lowest(level, row, first, output, [x, y], scratch);
    }
    let (low_x, low_y) = (x.halved(), y.halved());
    let around = y.around([first, rows.end as i64 - 1 - y.margin]);
    let (soft_rows, low_rows) = (low_y.rows(around), low_y.rows(low_y.sources(around)));
    let (width, height) = (low_x.stored(), low_y.stored());
    // A row, and a margin that makes it as long as a row of halved samples needs.
    let (before, room) = ((2 * MARGIN + 1 - x.margin) as usize, 2 * width + 2);
    let lens = [width * low_rows.len(), width * soft_rows.len(), room.max(x.stored())];
    let ([low, soft, padded], scratch) = scratch.buffers_and_rest::<W, 3>(lens);
    let mut low = plane(low, width, low_rows.clone(), height);
    let mut soft = plane(soft, width, soft_rows, height);
    let (before, padded) = if x.axis.is_halved() { (before, &mut padded[..room]) } else { (0, padded) };

    for j in low_rows {
        let i = j as i64 - low_y.margin;
        let wide = &mut padded[before..before + x.stored()];
        if y.axis.is_halved() {
            halve_rows(level, wide, [-1, 0, 1, 2].map(|k| row(2 * i + k)));
        } else {
            wide.copy_from_slice(row(i));
        }
        if x.axis.is_halved() {
            extend(padded, before, x.stored());
            halve_row(level, low.row_mut(j), padded);
        } else {
            low.row_mut::<W>(j).copy_from_slice(wide);
        }
    }
    smooth::<W>(level, low.as_ref(), &mut soft, [low_x, low_y], scratch);
    let soft = soft.as_ref();
    let soft_row = |i: i64| soft.row::<W>((i + low_y.margin) as usize);
    for j in rows {
        let i = j as i64 - y.margin;
        let out = output.row_mut::<W>(j);
        let near = if y.axis.is_halved() { soft_row(i >> 1) } else { soft_row(i) };
        let far = if y.axis.is_halved() { soft_row(((i - 1) >> 1) + (i & 1)) } else { near };
        if x.axis.is_halved() {
            let wide = &mut padded[..width];
            between_rows(level, wide, near, far);
            // Both margins begin at a halved sample.
            double_row(level, out, &wide[(MARGIN - 1 - x.margin / 2) as usize..]);
        } else {
            between_rows(level, out, near, far);
        }
    }
}

/// Blurs at the lowest resolution: vertically, then horizontally.
fn lowest<'a, W: Smooth>(
    level: Level,
    row: impl Fn(i64) -> &'a [W],
    first: i64,
    output: &mut PlaneMut<'_>,
    [x, y]: [Extent; 2],
    scratch: &mut Scratch,
) {
    let (across, down) = (x.axis.weights::<W>(), y.axis.weights::<W>());
    let (width, left, up, rows) = (x.stored(), across.reach(), down.reach() as i64, output.rows());
    let pitch = ROW_ROOM + width + 2 * left;
    let [wide, room] = scratch.buffers::<W, 2>([pitch * rows.len(), COLUMNS_ROOM]);
    blur_columns(level, (&mut wide[left..], pitch, width), |i| row(first + i as i64 - up), &down, room);
    for (j, wide) in rows.zip(wide.chunks_exact_mut(pitch)) {
        extend(wide, left, width);
        blur_row(level, output.row_mut(j), wide, &across);
    }
}

/// Repeats the end samples of a row of `len` samples from `before` on.
fn extend<W: Copy>(padded: &mut [W], before: usize, len: usize) {
    let (first, last) = (padded[before], padded[before + len - 1]);
    padded[..before].fill(first);
    padded[before + len..].fill(last);
}
