//! Applies blocks of grain to a picture.

use super::kernels::{
    Adding, Grained, HALVED, Layout, Mix, WHOLE, add, between, fill_row, join, mix_row, tops,
};
use super::template::{LENGTH, Register, STRIDE, Templates, halved, round2};
use crate::film_grain::{ChromaIndex, Params};
use crate::filter::Band;
use crate::frame::{Depth, Format, PlaneSet, Sample, Scratch};
use crate::pixel::tone::Table;
use crate::simd::Level;

/// Luma samples of a block, in each direction.
const BLOCK: usize = 32;

/// The layout of blocks over a picture.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    format: Format,
    /// The depth at which grain is added: 8, 10 or 12 bits.
    pub bits: u32,
}

impl Blocks {
    pub(super) fn new(format: &Format) -> Blocks {
        let bits = match format.depth {
            Depth::Bits(8) => 8,
            Depth::Bits(9 | 10) => 10,
            _ => 12,
        };
        Blocks { format: *format, bits }
    }

    fn across(&self) -> usize {
        (self.format.width as usize).div_ceil(BLOCK)
    }

    fn scratch(&self) -> [usize; 11] {
        let (w, blocks) = (self.format.width as usize, self.across());
        let bytes = w.div_ceil(2);
        [w, w, w, bytes, bytes, w, w, w, w, blocks, blocks]
    }

    /// Bytes of a [`State`].
    pub(super) fn state_bytes(&self) -> usize {
        3 * (2 * LENGTH + 2 * 256)
    }

    /// Bytes of scratch that [`Rows::render`] uses.
    pub(super) fn scratch_bytes(&self) -> usize {
        self.scratch().iter().map(|len| (2 * len).next_multiple_of(64)).sum()
    }

    /// The lowest and highest code of a plane after grain.
    fn limits(&self, params: &Params, plane: usize) -> (i16, i16) {
        let code = |v: i16| v << (self.bits - 8);
        match (params.clip && !self.format.full_range(), self.format.is_chroma(plane)) {
            (false, _) => (0, code(256) - 1),
            (true, false) => (code(16), code(235)),
            (true, true) => (code(16), code(240)),
        }
    }
}

/// The state that the bands of a frame share.
#[derive(Default)]
pub(super) struct State {
    pub templates: Templates,
    /// Scaling functions of the planes.
    pub scales: [ScalingLut; 3],
}

/// The strength of a plane over brightness in 8-bit codes, interpolated between its points
/// ([`Params::points`]).
fn curve(params: &Params, plane: usize) -> [u8; 256] {
    let points = &params.points[if params.chroma_from_luma { 0 } else { plane }];
    let (Some(&[first, low]), Some(&[last, high])) = (points.first(), points.last()) else { return [0; 256] };
    let mut curve = [low; 256];
    curve[usize::from(first.max(last))..].fill(high);
    for pair in points.windows(2) {
        let [[x, y], [to, top]] = [pair[0], pair[1]].map(|p| p.map(i32::from));
        let width = to - x;
        let slope = (top - y) * ((65536 + (width >> 1)) / width);
        for i in 0..width {
            curve[(x + i) as usize] = (y + ((i * slope + 32768) >> 16)) as u8;
        }
    }
    curve
}

/// The strength at the upper eight bits of a code and at the next value; the lower bits interpolate.
#[derive(Default)]
pub(super) struct ScalingLut([Option<Table>; 2]);

impl ScalingLut {
    pub(super) fn new(params: &Params, plane: usize) -> ScalingLut {
        let curve = curve(params, plane);
        let at = |next: u16| Table::new(8, |x| curve[usize::from((x + next).min(255))].into());
        ScalingLut([Some(at(0)), Some(at(1))])
    }
}

impl Mix {
    fn new(blocks: &Blocks, params: &Params, plane: usize) -> Mix {
        let ChromaIndex { own, luma, offset } = params.index[plane - 1];
        let across = blocks.format.plane_subsampling(plane).0;
        let top = (256 << (blocks.bits - 8)) - 1;
        if params.chroma_from_luma {
            return Mix { across, luma: 64, own: 0, offset: 0, top };
        }
        // It has nine bits.
        let offset = (offset as i16 - 256) << (blocks.bits - 8);
        Mix { across, luma: i16::from(luma) - 128, own: i16::from(own) - 128, offset, top }
    }
}

/// Sample types to which grain is added, directly or at a lower depth.
pub(super) trait Depths: Sample {
    fn render(rows: &Rows<'_>, band: &mut Band<'_>, scratch: &mut Scratch);
}

impl Depths for u8 {
    fn render(rows: &Rows<'_>, band: &mut Band<'_>, scratch: &mut Scratch) {
        rows.direct::<u8>(band, scratch);
    }
}

impl Depths for u16 {
    fn render(rows: &Rows<'_>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let Depth::Bits(bits) = rows.blocks.format.depth else { return };
        let (bits, grained) = (u32::from(bits), rows.blocks.bits);
        if bits == grained {
            return rows.direct::<u16>(band, scratch);
        }
        let (down, up) = (bits.saturating_sub(grained), grained.saturating_sub(bits));
        let top = ((1u32 << bits) - 1) as i32;
        rows.converted::<u16>(
            band,
            scratch,
            |_, v| v >> down << up,
            |v, before, after| {
                let change = i32::from(after) - i32::from(before);
                (i32::from(v) + round2(change << down, up)).clamp(0, top) as u16
            },
        );
    }
}

impl Depths for f32 {
    fn render(rows: &Rows<'_>, band: &mut Band<'_>, scratch: &mut Scratch) {
        rows.converted::<f32>(
            band,
            scratch,
            // NaN becomes 0 and stays below the range.
            |chroma, v| (v * 4095.0 + if chroma { 2048.5 } else { 0.5 }).clamp(0.0, 4095.0) as u16,
            |v, before, after| {
                let changed = v + (f32::from(after) - f32::from(before)) / 4095.0;
                if v.is_finite() { changed } else { v }
            },
        );
    }
}

/// Chroma before luma, since its strength depends on the original luma.
fn chroma_first(planes: PlaneSet) -> impl Iterator<Item = usize> {
    [1, 2, 0].into_iter().filter(move |&p| planes.has(p))
}

/// Adds the grain of a frame to its rows.
pub(super) struct Rows<'a> {
    pub blocks: &'a Blocks,
    pub params: &'a Params,
    pub seed: u16,
    pub state: &'a State,
    pub level: Level,
}

/// Buffers of intermediate rows.
struct Buffers<'a> {
    grain: &'a mut [i16],
    above: &'a mut [i16],
    strength: &'a mut [i16],
    /// Looked-up bytes.
    low: &'a mut [u8],
    high: &'a mut [u8],
    index: &'a mut [u16],
    luma: &'a mut [u16],
    before: &'a mut [u16],
    after: &'a mut [u16],
    /// Where the blocks of this stripe and of the stripe above begin in the template, and the stripe's number.
    starts: &'a mut [i16],
    starts_above: &'a mut [i16],
    stripe: Option<usize>,
}

impl Buffers<'_> {
    fn new<'a>(blocks: &Blocks, scratch: &'a mut Scratch) -> Buffers<'a> {
        let [grain, above, strength, low, high, index, luma, before, after, starts, starts_above] =
            scratch.buffers::<i16, 11>(blocks.scratch());
        let [low, high] = [low, high].map(bytemuck::cast_slice_mut);
        let [index, luma, before, after] = [index, luma, before, after].map(bytemuck::cast_slice_mut);
        let stripe = None;
        Buffers {
            grain,
            above,
            strength,
            low,
            high,
            index,
            luma,
            before,
            after,
            starts,
            starts_above,
            stripe,
        }
    }
}

/// Codes whose strength is looked up.
trait LookUp: Grained {
    /// Looks up the strength of codes in `scale`. `strength` is as long as `codes`, the buffers are at least as long.
    fn look_up(
        rows: &Rows<'_>,
        scale: &ScalingLut,
        codes: &[Self],
        strength: &mut [Self::Strength],
        buffers: (&mut [u8], &mut [u8]),
    );
}

impl LookUp for u8 {
    fn look_up(
        rows: &Rows<'_>,
        scale: &ScalingLut,
        codes: &[u8],
        strength: &mut [u8],
        _: (&mut [u8], &mut [u8]),
    ) {
        let [Some(table), _] = &scale.0 else { return };
        strength.copy_from_slice(codes);
        table.apply_u8(rows.level, strength);
    }
}

impl LookUp for u16 {
    fn look_up(
        rows: &Rows<'_>,
        scale: &ScalingLut,
        codes: &[u16],
        strength: &mut [i16],
        (low, high): (&mut [u8], &mut [u8]),
    ) {
        let [Some(first), Some(next)] = &scale.0 else { return };
        let (low, high) = (&mut low[..codes.len()], &mut high[..codes.len()]);
        let shift = rows.blocks.bits - 8;
        tops(rows.level, low, codes, shift);
        high.copy_from_slice(low);
        first.apply_u8(rows.level, low);
        next.apply_u8(rows.level, high);
        between(rows.level, strength, codes, low, high, shift, rows.adding(0).left);
    }
}

impl Rows<'_> {
    /// Where the blocks of a stripe begin in a template: at `origin`, and so many times the steps to the right and down as
    /// the upper and the lower half of eight random bits say.
    fn starts(&self, stripe: usize, origin: (usize, usize), step: (usize, usize), to: &mut [i16]) {
        let byte = |factor: usize, sum: usize| (stripe.wrapping_mul(factor).wrapping_add(sum) & 255) as u16;
        let mut random = Register(self.seed ^ byte(37, 178) << 8 ^ byte(173, 105));
        to.fill_with(|| {
            let offset = usize::from(random.bits(8));
            let (x, y) = (offset >> 4, offset & 15);
            ((origin.1 + y * step.1) * STRIDE + origin.0 + x * step.0) as i16
        });
    }

    /// Writes the grain of row `y` of a plane to `grain`.
    fn grain(&self, plane: usize, y: usize, width: usize, buffers: &mut Buffers<'_>) {
        let (sx, sy) = self.blocks.format.plane_subsampling(plane);
        let (across, down) = halved(&self.blocks.format, plane);
        // The origin, the step, which is also the length of an overlap, and its weights.
        let pick = |halved: bool| if halved { (6, 1, HALVED) } else { (9, 2, WHOLE) };
        let ((x0, dx, weights), (y0, dy, weights_down)) = (pick(across), pick(down));
        let (block, rows) = (BLOCK >> sx, BLOCK >> sy);
        let (stripe, row) = (y / rows, y % rows);
        if buffers.stripe != Some(stripe) {
            self.starts(stripe, (x0, y0), (dx, dy), buffers.starts);
            if stripe > 0 {
                self.starts(stripe - 1, (x0, y0), (dx, dy), buffers.starts_above);
            }
            buffers.stripe = Some(stripe);
        }
        let layout = Layout {
            template: self.state.templates.plane(plane),
            starts: buffers.starts,
            row,
            weights: self.params.overlap.then_some(weights),
            limit: 128 << (self.blocks.bits - 8),
        };
        let grain = &mut buffers.grain[..width];
        fill_row(self.level, grain, block, layout);
        if self.params.overlap
            && stripe > 0
            && let Some(&weights) = weights_down.as_chunks::<2>().0[..dy].get(row)
        {
            let above = &mut buffers.above[..width];
            let starts = &*buffers.starts_above;
            fill_row(self.level, above, block, Layout { starts, row: rows + row, ..layout });
            join(self.level, grain, above, weights, layout.limit);
        }
    }

    fn adding(&self, plane: usize) -> Adding {
        let left = 15 - u32::from(self.params.scaling_shift);
        Adding { left, limits: self.blocks.limits(self.params, plane) }
    }

    /// Adds grain to samples of the depth at which grain is added.
    fn direct<T: LookUp>(&self, band: &mut Band<'_>, scratch: &mut Scratch) {
        let mut buffers = Buffers::new(self.blocks, scratch);
        for p in chroma_first(band.writes) {
            // A decoder treats B and R as chroma, and G as luma.
            let mix = (p > 0).then(|| Mix::new(self.blocks, self.params, p));
            let (down, by) = (self.blocks.format.plane_subsampling(p).1, self.adding(p));
            buffers.stripe = None;
            for y in band.output.plane(p).rows() {
                let row = band.output.plane(p);
                let row = row.row::<T>(y);
                let width = row.len();
                self.grain(p, y, width, &mut buffers);
                let scale = &self.state.scales[p];
                let strength = &mut bytemuck::cast_slice_mut(buffers.strength)[..width];
                let codes = match mix {
                    Some(mix) => {
                        let index = &mut bytemuck::cast_slice_mut(buffers.index)[..width];
                        let luma = band.output.plane(0);
                        mix_row(self.level, index, luma.row::<T>(y << down), row, mix);
                        index
                    }
                    None => row,
                };
                T::look_up(self, scale, codes, strength, (buffers.low, buffers.high));
                let row = band.output.plane_mut(p).row_mut::<T>(y);
                add(self.level, row, &buffers.grain[..width], strength, by);
            }
        }
    }

    /// Adds grain to other samples: `code` converts a sample to a code (given whether it is chroma), and `change`
    /// applies the change of the code to it.
    fn converted<T: Sample>(
        &self,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
        code: impl Fn(bool, T) -> u16,
        change: impl Fn(T, u16, u16) -> T,
    ) {
        let mut buffers = Buffers::new(self.blocks, scratch);
        for p in chroma_first(band.writes) {
            let chroma = self.blocks.format.is_chroma(p);
            let mix = Mix::new(self.blocks, self.params, p.max(1));
            let (down, by) = (self.blocks.format.plane_subsampling(p).1, self.adding(p));
            buffers.stripe = None;
            for y in band.output.plane(p).rows() {
                let width = band.output.plane(p).row::<T>(y).len();
                self.grain(p, y, width, &mut buffers);
                let (grain, strength) = (&buffers.grain[..width], &mut buffers.strength[..width]);
                let (before, after) = (&mut buffers.before[..width], &mut buffers.after[..width]);
                let to_codes = |to: &mut [u16], chroma, row: &[T]| {
                    to.iter_mut().zip(row).for_each(|(c, &v)| *c = code(chroma, v));
                };
                to_codes(before, chroma, band.output.plane(p).row(y));
                after.copy_from_slice(before);
                let scale = &self.state.scales[p];
                let codes = if p > 0 {
                    let row = band.output.plane(0);
                    let row = row.row::<T>(y << down);
                    let luma = &mut buffers.luma[..row.len()];
                    to_codes(luma, false, row);
                    mix_row(self.level, &mut buffers.index[..width], luma, before, mix);
                    &buffers.index[..width]
                } else {
                    &*before
                };
                u16::look_up(self, scale, codes, strength, (buffers.low, buffers.high));
                add(self.level, after, grain, strength, by);
                for ((v, &b), &a) in
                    band.output.plane_mut(p).row_mut::<T>(y).iter_mut().zip(&*before).zip(&*after)
                {
                    *v = change(*v, b, a);
                }
            }
        }
    }
}
