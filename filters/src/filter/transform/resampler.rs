//! Moves whole pictures, for `transform` and `weave`.

use super::super::point::{key, nominal, weights};
use crate::filter::{self, Band, Memory, Reach, Render};
use crate::frame::{Alpha, Depth, Format, FrameTime, PictureStructure, PlaneMut, PlaneRef, Scratch};
use crate::host::{Host, PrepareError};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::resample::{
    Edge, Groups, InterpolationKernel, Pass, Patch, Phases, SampleLine, Warp, accumulate1, convolve_row,
    convolve_rows, dot_row, round_saturate,
};
use crate::settings::SettingError;
use crate::simd::Level;

/// The mapping of output positions to the source, in luma samples of the frame from its upper left corner:
/// `source = matrix * output + shift`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::filter) struct Placement {
    pub matrix: [[f64; 2]; 2],
    pub shift: [f64; 2],
    /// Fractions of width and height that are cropped: left, right, top, bottom.
    pub crop: [f64; 4],
}

impl Placement {
    /// The identity.
    pub(in crate::filter) const SAME: Placement =
        Placement { matrix: [[1.0, 0.0], [0.0, 1.0]], shift: [0.0; 2], crop: [0.0; 4] };

    /// The source of a position.
    fn source(&self, at: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|i: usize| self.matrix[i][0] * at[0] + self.matrix[i][1] * at[1] + self.shift[i])
    }

    /// The key of the prepared state.
    pub(in crate::filter) fn key(&self) -> u128 {
        let [[a, b], [c, d]] = self.matrix;
        let [x, y] = self.shift;
        let [l, r, t, u] = self.crop;
        key(&[a, b, c, d, x, y, l, r, t, u])
    }
}

/// A resampler for pictures of one format.
pub(in crate::filter) struct Resampler {
    format: Format,
    level: Level,
    shape: InterpolationKernel,
    edge: Edge,
    weights: Coefficients,
}

/// A filter that moves the picture.
pub(in crate::filter) struct Mover<F> {
    pub resampler: Resampler,
    /// The largest distance of two source samples that are neighbours in the result.
    pub farthest: f64,
    /// Where the picture is at a time, and the colour beyond its edges.
    pub at: F,
}

impl<F: Fn(&FrameTime) -> (Placement, [f64; 4]) + Send + Sync + 'static> Render for Mover<F> {
    type Params = (Placement, [f64; 4]);
    type State = Plans;

    fn at(&self, at: &FrameTime) -> Option<(filter::Plan, Self::Params)> {
        let (placement, color) = (self.at)(at);
        if placement == Placement::SAME {
            return None;
        }
        let writes = self.resampler.format.all_planes();
        let state = Some(placement.key());
        let plan = filter::Plan { reach: Reach::Whole, state, ..filter::Plan::in_place(writes) };
        Some((plan, (placement, color)))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.resampler.memory(self.farthest) }
    }

    fn prepare(
        &self,
        (placement, _): &Self::Params,
        _: Plans,
        host: &Host<'_>,
    ) -> Result<Plans, PrepareError> {
        host.check()?;
        Ok(self.resampler.prepare(placement))
    }

    fn render(&self, now: &Self::Params, plans: &Plans, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.resampler.render(now, plans, band, scratch);
        if self.resampler.format.depth == Depth::Float {
            limit_alpha(&self.resampler.format, band);
        }
    }
}

/// Takes float alpha back to 0 to 1, where kernels overshoot beside its edges, and products by the same factor; negative
/// ones become 0. Integers are clipped to their codes.
fn limit_alpha(format: &Format, band: &mut Band<'_>) {
    let Some(a) = format.alpha_plane().filter(|a| band.writes.has(*a)) else { return };
    let is_product = |p: &usize| format.alpha == Alpha::Premultiplied && *p < a && !format.is_chroma(*p);
    let products: Vec<usize> = band.writes.iter().filter(is_product).collect();
    let (colour, alpha) = band.output.planes_mut().split_at_mut(a);
    for y in alpha[0].rows() {
        let alpha = alpha[0].row_mut::<f32>(y);
        for &p in &products {
            for (v, a) in colour[p].row_mut::<f32>(y).iter_mut().zip(&*alpha) {
                if v.is_finite() && a.is_finite() && *a > 1.0 {
                    *v /= *a;
                } else if v.is_finite() && *a < 0.0 {
                    *v = v.max(0.0);
                }
            }
        }
        alpha.iter_mut().filter(|a| a.is_finite()).for_each(|a| *a = a.clamp(0.0, 1.0));
    }
}

/// Kernels grow with the step up to this many samples per sample; for larger steps samples are skipped. Only a small
/// zoom of pixels that are far from square reaches the limit.
const MAX_STEP: f64 = 80.0;

/// The positions of a plane's samples, and the data that all its rows share.
pub(in crate::filter) struct Plan<T: Warp> {
    start: SampleLine,
    /// The step from row to row: columns, rows.
    down: (i64, i64),
    phases: (Phases<T::Sum>, Phases<T::Sum>),
    columns: Option<Columns<T>>,
}

/// The plans of the planes whose samples lie differently, each after the sites of the samples.
type BySites<T> = Vec<([(u8, i32); 2], Plan<T>)>;

/// The plans of all planes.
#[derive(Default)]
pub(in crate::filter) enum Plans {
    #[default]
    None,
    U8(BySites<u8>),
    U16(BySites<u16>),
    F32(BySites<f32>),
}

/// The windows of all columns, without rotation.
struct Columns<T: Warp> {
    /// The first sample of the row that any window needs, and one after the last.
    range: (i64, i64),
    /// The first sample of each window, relative to the range.
    at: Vec<u32>,
    /// The weights of the windows, one after the other; those of one window if all are equal.
    weights: Vec<T::Sum>,
    alike: bool,
    groups: Groups,
}

/// A position with 32 fraction bits.
fn fixed(v: f64) -> i64 {
    libm::floor(v.clamp(-1.0e9, 1.0e9) * 4_294_967_296.0 + 0.5) as i64
}

impl Resampler {
    /// A resampler for pictures of the input.
    ///
    /// # Errors
    /// Some pictures have no colours.
    pub(in crate::filter) fn new(
        input: &Format,
        level: Level,
        shape: InterpolationKernel,
        edge: Edge,
    ) -> Result<Resampler, SettingError> {
        Ok(Resampler { format: *input, level, shape, edge, weights: weights(input)? })
    }

    /// Bytes per frame for reductions of up to `farthest`: tables, and rows within reach.
    pub(in crate::filter) fn memory(&self, farthest: f64) -> usize {
        let width = self.format.width as usize;
        let step = if farthest > 1.0 { MAX_STEP } else { 1.0 };
        let taps = Phases::<i32>::taps(self.shape, step);
        // Luma, U and V may lie differently.
        let tables = width * (4 + 4 * taps) + 2 * 256 * taps * 4;
        3 * (tables + Groups::bytes(width, taps) + 256 * (2 + 8) * taps.min(4))
            + 4 * (6 * width + (width as f64 * farthest) as usize + 4 * taps + 4096)
    }

    pub(in crate::filter) fn prepare(&self, placement: &Placement) -> Plans {
        match self.format.depth {
            Depth::Bits(8) => Plans::U8(self.plans(placement)),
            Depth::Bits(_) => Plans::U16(self.plans(placement)),
            Depth::Float => Plans::F32(self.plans(placement)),
        }
    }

    fn plans<T: Warp>(&self, placement: &Placement) -> BySites<T> {
        let mut plans: BySites<T> = Vec::new();
        for p in 0..self.format.planes() {
            let sites = self.format.sites(p);
            if plans.iter().all(|(s, _)| *s != sites) {
                plans.push((sites, self.plan(placement, p)));
            }
        }
        plans
    }

    fn plan<T: Warp>(&self, placement: &Placement, p: usize) -> Plan<T> {
        // The luma position of sample i: step * i + first.
        let (first, step) = self.format.frame_sites(p);
        let [[a, b], [c, d]] = placement.matrix;
        let m = [[a, b * step[1] / step[0]], [c * step[0] / step[1], d]];
        let source = placement.source(first);
        let origin = [0, 1].map(|i: usize| (source[i] - first[i]) / step[i]);
        let speed = |row: [f64; 2]| (row[0] * row[0] + row[1] * row[1]).sqrt().min(MAX_STEP);
        let phases = (Phases::new::<T>(self.shape, speed(m[0])), Phases::new::<T>(self.shape, speed(m[1])));
        let start =
            SampleLine { u: fixed(origin[0]), v: fixed(origin[1]), du: fixed(m[0][0]), dv: fixed(m[1][0]) };
        let down = (fixed(m[0][1]), fixed(m[1][1]));
        let (width, _) = self.format.plane_size(p);
        let columns = (start.dv == 0 && down.0 == 0).then(|| Columns::new(start, &phases.0, width));
        Plan { start, down, phases, columns }
    }

    /// Whether every luma sample of the frame comes from between its luma samples, so that nothing may come from beyond
    /// the edge. The last sample of a chroma plane or of a field may lie before the last luma sample of the frame.
    fn is_filled(&self, placement: &Placement) -> bool {
        let far = [f64::from(self.format.width) - 0.5, f64::from(self.format.height) - 0.5];
        let corners = [[0.5; 2], far, [0.5, far[1]], [far[0], 0.5]].map(|at| placement.source(at));
        // Rounding may move a position a little.
        let inside = |at: &[f64; 2]| (0..2).all(|i| at[i] > 0.5 - 1e-6 && at[i] < far[i] + 1e-6);
        placement.crop == [0.0; 4] && corners.iter().all(inside)
    }

    /// Renders the written planes of a band.
    pub(in crate::filter) fn render(
        &self,
        (placement, color): &(Placement, [f64; 4]),
        plans: &Plans,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        match plans {
            Plans::None => {}
            Plans::U8(plans) => self.planes(placement, *color, plans, band, scratch),
            Plans::U16(plans) => self.planes(placement, *color, plans, band, scratch),
            Plans::F32(plans) => self.planes(placement, *color, plans, band, scratch),
        }
    }

    fn planes<T: Warp>(
        &self,
        placement: &Placement,
        color: [f64; 4],
        plans: &BySites<T>,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let input = band.source();
        let [r, g, b, a] = color;
        let by = if self.format.alpha == Alpha::Premultiplied { a } else { 1.0 };
        let values = nominal(&self.format, self.weights, [r * by, g * by, b * by, a]);
        let filled = self.edge == Edge::Color && self.is_filled(placement);
        let field = self.format.picture != PictureStructure::Frame;
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (width, height) = self.format.plane_size(p);
            let sites = self.format.sites(p);
            let plan = plans.iter().find(|(s, _)| *s == sites).filter(|_| width > 0 && height > 0);
            let Some((_, plan)) = plan else { continue };
            let own = Code::of(&self.format, p);
            let value = f64::from(own.zero) + values[p] * f64::from(own.span);
            let bits = self.format.depth.bits().unwrap_or(0);
            let value = match self.format.depth {
                Depth::Bits(bits) => value.clamp(0.0, f64::from((1u32 << bits) - 1)),
                Depth::Float => value,
            };
            let cut = |len: usize, before: f64, behind: f64| {
                let part = |v: f64| libm::floor(v * len as f64 + 0.5) as i64;
                let lo = part(before).min(len as i64 - 1);
                (lo, (len as i64 - part(behind)).max(lo + 1))
            };
            let [left, right, top, bottom] = placement.crop;
            let plane = input.plane(p);
            let (samples, stride) = plane.samples::<T>();
            let patch = Patch {
                samples,
                stride,
                columns: cut(width, left, right),
                rows: cut(height, top, bottom),
                edge: if filled && (field || sites != self.format.sites(0)) {
                    Edge::Extend
                } else {
                    self.edge
                },
                color: T::from_f64(value),
                bits,
            };
            let output = band.output.plane_mut(p);
            if let Some(columns) = &plan.columns {
                self.level_rows(plan, columns, &patch, plane, output, scratch);
            }
            for y in output.rows() {
                let row = y as i64;
                let SampleLine { u, v, du, dv } = plan.start;
                let walk = SampleLine { u: u + row * plan.down.0, v: v + row * plan.down.1, du, dv };
                let out = output.row_mut(y);
                if plan.columns.is_none() {
                    T::walk(self.level, out, &patch, walk, (&plan.phases.0, &plan.phases.1));
                }
                T::carry(out, &patch, walk);
            }
        }
    }

    /// Vertically first, then horizontally.
    fn level_rows<T: Warp>(
        &self,
        plan: &Plan<T>,
        columns: &Columns<T>,
        patch: &Patch<'_, T>,
        input: PlaneRef<'_>,
        output: &mut PlaneMut<'_>,
        scratch: &mut Scratch,
    ) {
        let (lo, hi) = patch.columns;
        let (from, to) = columns.range;
        // The part of the source's rows that is needed; all of it if the picture is repeated.
        let again = matches!(patch.edge, Edge::Mirror | Edge::Wrap) && (from < lo || to > hi);
        let (first, last) = match again {
            true => (lo, hi),
            false => {
                let first = from.clamp(lo, hi - 1);
                (first, to.clamp(first + 1, hi))
            }
        };
        let (count, padded_len) = ((last - first) as usize, (to - from) as usize);
        let width = columns.at.len();
        let lens = [count.max(width), count, padded_len + Groups::ROOM, count];
        let [acc, wide, padded, blank] = scratch.buffers::<u32, 4>(lens);
        let acc: &mut [T::Sum] = bytemuck::cast_slice_mut(acc);
        let wide = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(wide)[..count];
        let padded = &mut bytemuck::cast_slice_mut::<u32, T::Wide>(padded)[..padded_len + Groups::ROOM];
        let blank = &mut bytemuck::cast_slice_mut::<u32, T>(blank)[..count];
        blank.fill(patch.color);
        // The constant value with the precision between two passes.
        accumulate1(self.level, &mut acc[..1], &blank[..1], plan.whole(), false);
        round_saturate(self.level, &mut wide[..1], &acc[..1], patch.bits, Pass::Widen);
        let color = wide[0];
        for y in output.rows() {
            let (top, weights) = plan.phases.1.at(plan.start.v + y as i64 * plan.down.1);
            let row = |k: usize| match patch.edge.map(top + k as i64, patch.rows.0, patch.rows.1) {
                Some(r) => &input.row::<T>(r as usize)[first as usize..last as usize],
                None => &*blank,
            };
            // If the whole row is needed, compute it in place.
            let direct = from <= first && last <= to;
            let offset = (first - from).max(0) as usize;
            let made = if direct { &mut padded[offset..offset + count] } else { &mut *wide };
            convolve_rows(self.level, (made, acc), weights, row, (patch.bits, Pass::Widen));
            if direct {
                for i in (from..first).chain(last..to) {
                    let value = patch.edge.map(i, lo, hi).map_or(color, |i| padded[(i - from) as usize]);
                    padded[(i - from) as usize] = value;
                }
            } else {
                for (place, i) in padded.iter_mut().zip(from..to) {
                    *place = patch.edge.map(i, lo, hi).map_or(color, |i| wide[(i - first) as usize]);
                }
            }
            let out = output.row_mut::<T>(y);
            if columns.alike {
                let shifted = &padded[columns.at[0] as usize..];
                let to = (patch.bits, Pass::Narrow);
                convolve_row(self.level, (out, acc), shifted, &columns.weights, to);
                continue;
            }
            let done = T::windows(self.level, out, padded, &columns.groups, patch.bits);
            let weights = &columns.weights[done * plan.phases.0.taps..];
            dot_row(self.level, &mut acc[done..width], padded, &columns.at[done..], weights);
            round_saturate(self.level, &mut out[done..], &acc[done..width], patch.bits, Pass::Narrow);
        }
    }
}

impl<T: Warp> Plan<T> {
    /// A weight of 1.
    fn whole(&self) -> T::Sum {
        T::weights(&[1.0])[0]
    }
}

impl<T: Warp> Columns<T> {
    fn new(start: SampleLine, phases: &Phases<T::Sum>, width: usize) -> Columns<T> {
        let place = |x: usize| start.u + x as i64 * start.du;
        let firsts: Vec<i64> = (0..width).map(|x| phases.at(place(x)).0).collect();
        let from = firsts.iter().copied().min().unwrap_or(0);
        let to = firsts.iter().copied().max().unwrap_or(0) + phases.taps as i64;
        let alike = start.du == 1 << 32;
        let of = if alike { 1.min(width) } else { width };
        let weights: Vec<T::Sum> = (0..of).flat_map(|x| phases.at(place(x)).1.iter().copied()).collect();
        let at: Vec<u32> = firsts.iter().map(|f| (f - from) as u32).collect();
        let whole = size_of::<T>() < 4 && !alike;
        let groups = if whole { Groups::new(&at, bytemuck::cast_slice(&weights)) } else { Groups::default() };
        Columns { range: (from, to), at, weights, alike, groups }
    }
}
