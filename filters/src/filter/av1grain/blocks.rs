//! Applies blocks of grain to a picture.

use super::template::{LENGTH, Register, STRIDE, Templates, halved, round2};
use crate::film_grain::{ChromaIndex, Params};
use crate::filter::Band;
use crate::frame::{Depth, Format, PlaneSet, Sample, Scratch};
use crate::pixel::tone::Table;
use crate::simd::{Level, multiversion};

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

/// `floor(strength grain / 2^15 + 1/2)`.
#[inline(always)]
fn noise(strength: i16, grain: i16) -> i16 {
    (((i32::from(strength) * i32::from(grain)) as u32 >> 14).wrapping_add(1) >> 1) as i16
}

/// Weights of the previous block and of the current one, in 32nds, from the start of their overlap on. It has at most
/// two samples; more are weighted because registers have more.
type Weights = [(i16, i16); 8];
const WHOLE: &Weights = &[(27, 17), (17, 27), ALONE, ALONE, ALONE, ALONE, ALONE, ALONE];
const HALVED: &Weights = &[(23, 22), ALONE, ALONE, ALONE, ALONE, ALONE, ALONE, ALONE];
const ALONE: (i16, i16) = (0, 32);

#[inline(always)]
fn blend(old: i16, new: i16, (a, b): (i16, i16), limit: i16) -> i16 {
    let sum = i32::from(old) * i32::from(a) + i32::from(new) * i32::from(b);
    round2(sum, 5).clamp(-i32::from(limit), i32::from(limit) - 1) as i16
}

/// The source positions of the blocks of a stripe in a template, and their overlap.
#[derive(Clone, Copy)]
struct Layout<'a> {
    template: &'a [i16],
    /// For each block, four bits horizontally and four vertically.
    offsets: &'a [i16],
    /// The position of the first block, and the distance of one step of an offset.
    origin: (usize, usize),
    step: (usize, usize),
    /// `None`: blocks do not overlap.
    weights: Option<&'a Weights>,
    limit: i16,
}

#[inline(always)]
fn fill<const W: usize>(out: &mut [i16], row: usize, of: Layout<'_>) {
    let mut before: Option<&[i16; 8]> = None;
    for (block, &offset) in out.chunks_mut(W).zip(of.offsets) {
        let (x, y) = (offset as usize >> 4, offset as usize & 15);
        let at = (of.origin.1 + y * of.step.1 + row) * STRIDE + of.origin.0 + x * of.step.0;
        let (from, after) = of.template[at..].split_at(W);
        match (block.as_chunks_mut::<W>().0.first_mut(), from.first_chunk()) {
            (Some(block), Some(from)) => *block = *from,
            _ => block.copy_from_slice(&from[..block.len()]),
        }
        if let (Some(before), Some(weights)) = (before, of.weights) {
            let joined = |i: usize, v: i16| blend(before[i], v, weights[i], of.limit);
            match block.first_chunk_mut::<8>() {
                Some(block) => *block = core::array::from_fn(|i| joined(i, block[i])),
                None => block.iter_mut().enumerate().for_each(|(i, v)| *v = joined(i, *v)),
            }
        }
        before = after.first_chunk();
    }
}

#[inline(always)]
fn fill_body(out: &mut [i16], row: usize, width: usize, of: Layout<'_>) {
    match width {
        32 => fill::<32>(out, row, of),
        16 => fill::<16>(out, row, of),
        _ => fill::<8>(out, row, of),
    }
}

#[inline(always)]
fn join_body(out: &mut [i16], above: &[i16], weights: (i16, i16), limit: i16) {
    for (v, &old) in out.iter_mut().zip(above) {
        *v = blend(old, *v, weights, limit);
    }
}

/// Sample types to which grain is added directly.
trait Grained: Sample + Into<u16> {
    fn from_i16(v: i16) -> Self;
}

impl Grained for u8 {
    #[inline(always)]
    fn from_i16(v: i16) -> u8 {
        v as u8
    }
}

impl Grained for u16 {
    #[inline(always)]
    fn from_i16(v: i16) -> u16 {
        v as u16
    }
}

#[inline(always)]
fn tops_body<T: Grained>(tops: &mut [u8], codes: &[T], shift: u32) {
    for (top, &code) in tops.iter_mut().zip(codes) {
        let code: u16 = code.into();
        *top = (code >> shift).min(255) as u8;
    }
}

#[inline(always)]
fn shift_body(strength: &mut [i16], low: &[u8], left: u32) {
    for (s, &low) in strength.iter_mut().zip(low) {
        *s = i16::from(low) << left;
    }
}

/// `shift` is 2 or 4, so the result fits 16 bits.
#[inline(always)]
fn between_body<T: Grained>(
    strength: &mut [i16],
    codes: &[T],
    low: &[u8],
    high: &[u8],
    shift: u32,
    left: u32,
) {
    for (((s, &code), &low), &high) in strength.iter_mut().zip(codes).zip(low).zip(high) {
        let code: u16 = code.into();
        let (low, high) = (i16::from(low), i16::from(high));
        let part = (code & ((1 << shift) - 1)) as i16;
        *s = (low + (((high - low) * part + (1 << (shift - 1))) >> shift)) << left;
    }
}

#[inline(always)]
fn add_body<T: Grained>(row: &mut [T], grain: &[i16], strength: &[i16], low: i16, high: i16) {
    for ((v, &g), &s) in row.iter_mut().zip(grain).zip(strength) {
        let code: u16 = (*v).into();
        *v = T::from_i16((code as i16).wrapping_add(noise(s, g)).clamp(low, high));
    }
}

/// The index of chroma's strength, as a mix of the mean of luma and the chroma sample.
#[derive(Clone, Copy)]
struct Mix {
    /// log2 of luma samples per chroma sample, horizontally.
    across: u8,
    /// Whether the index is luma only.
    luma_alone: bool,
    luma: i32,
    own: i32,
    offset: i32,
    top: i32,
}

impl Mix {
    fn new(blocks: &Blocks, params: &Params, plane: usize) -> Mix {
        let ChromaIndex { own, luma, offset } = params.index[plane - 1];
        Mix {
            across: blocks.format.plane_subsampling(plane).0,
            luma_alone: params.chroma_from_luma,
            luma: i32::from(luma) - 128,
            own: i32::from(own) - 128,
            offset: (i32::from(offset) - 256) << (blocks.bits - 8),
            top: (256 << (blocks.bits - 8)) - 1,
        }
    }

    #[inline(always)]
    fn index(self, luma: i32, own: u16) -> u16 {
        let combined = luma * self.luma + i32::from(own) * self.own;
        let mixed = ((combined >> 6) + self.offset).clamp(0, self.top);
        (if self.luma_alone { luma } else { mixed }) as u16
    }
}

#[inline(always)]
fn mix_body<T: Grained>(index: &mut [u16], luma: &[T], own: &[T], mix: Mix) {
    let code = |v: T| -> u16 { v.into() };
    if mix.across == 0 {
        for ((i, &y), &own) in index.iter_mut().zip(luma).zip(own) {
            *i = mix.index(code(y).into(), code(own));
        }
        return;
    }
    if mix.across == 1 {
        for ((i, &[a, b]), &own) in index.iter_mut().zip(luma.as_chunks::<2>().0).zip(own) {
            *i = mix.index((i32::from(code(a)) + i32::from(code(b)) + 1) >> 1, code(own));
        }
    }
    // The last sample of an odd width; all samples if there are four luma samples for each.
    let first = if mix.across == 1 { luma.len() / 2 } else { 0 };
    for (x, (i, &own)) in index.iter_mut().zip(own).enumerate().skip(first) {
        let at = x << mix.across;
        let sum = i32::from(code(luma[at])) + i32::from(code(luma[(at + 1).min(luma.len() - 1)]));
        *i = mix.index((sum + 1) >> 1, code(own));
    }
}

multiversion! {
    /// Fills row `row` of a stripe of blocks that is `width` wide.
    fn fill_row(level, out: &mut [i16], row: usize, width: usize, of: Layout<'_>) = fill_body;
    /// Blends a row with that of the stripe above.
    fn join(level, out: &mut [i16], above: &[i16], weights: (i16, i16), limit: i16) = join_body;
    /// The upper eight bits of codes.
    fn tops<T: Grained>(level, tops: &mut [u8], codes: &[T], shift: u32) = tops_body;
    /// Shifts the strength so that [`noise`] is 15 bits to the right.
    fn shift_row(level, strength: &mut [i16], low: &[u8], left: u32) = shift_body;
    /// The same, interpolated between two strengths.
    fn between<T: Grained>(level, strength: &mut [i16], codes: &[T], low: &[u8], high: &[u8], shift: u32, left: u32)
        = between_body;
    /// Adds grain times strength, and clips.
    fn add<T: Grained>(level, row: &mut [T], grain: &[i16], strength: &[i16], low: i16, high: i16) = add_body;
    /// The codes with which chroma's strength is looked up.
    fn mix_row<T: Grained>(level, index: &mut [u16], luma: &[T], own: &[T], mix: Mix) = mix_body;
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
    /// The offsets of the blocks of this stripe and of the stripe above, and the stripe's number.
    offsets: &'a mut [i16],
    offsets_above: &'a mut [i16],
    stripe: Option<usize>,
}

impl Buffers<'_> {
    fn new<'a>(blocks: &Blocks, scratch: &'a mut Scratch) -> Buffers<'a> {
        let [grain, above, strength, low, high, index, luma, before, after, offsets, offsets_above] =
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
            offsets,
            offsets_above,
            stripe,
        }
    }
}

impl Rows<'_> {
    fn offsets(&self, stripe: usize, to: &mut [i16]) {
        let byte = |factor: usize, sum: usize| (stripe.wrapping_mul(factor).wrapping_add(sum) & 255) as u16;
        let mut random = Register(self.seed ^ byte(37, 178) << 8 ^ byte(173, 105));
        to.fill_with(|| random.bits(8) as i16);
    }

    /// Writes the grain of row `y` of a plane to `grain`.
    fn grain(&self, plane: usize, y: usize, width: usize, buffers: &mut Buffers<'_>) {
        let (sx, sy) = self.blocks.format.plane_subsampling(plane);
        let (across, down) = halved(&self.blocks.format, plane);
        let pick = |halved: bool| if halved { (6, 1, HALVED) } else { (9, 2, WHOLE) };
        let ((x0, dx, weights), (y0, dy, weights_down)) = (pick(across), pick(down));
        let (block, rows) = (BLOCK >> sx, BLOCK >> sy);
        let (stripe, row) = (y / rows, y % rows);
        if buffers.stripe != Some(stripe) {
            self.offsets(stripe, buffers.offsets);
            if stripe > 0 {
                self.offsets(stripe - 1, buffers.offsets_above);
            }
            buffers.stripe = Some(stripe);
        }
        let layout = Layout {
            template: self.state.templates.plane(plane),
            offsets: buffers.offsets,
            origin: (x0, y0),
            step: (dx, dy),
            weights: self.params.overlap.then_some(weights),
            limit: 128 << (self.blocks.bits - 8),
        };
        let grain = &mut buffers.grain[..width];
        fill_row(self.level, grain, row, block, layout);
        if self.params.overlap
            && stripe > 0
            && let Some(&weights) = weights_down.get(row).filter(|w| **w != ALONE)
        {
            let above = &mut buffers.above[..width];
            fill_row(
                self.level,
                above,
                rows + row,
                block,
                Layout { offsets: buffers.offsets_above, ..layout },
            );
            join(self.level, grain, above, weights, layout.limit);
        }
    }

    /// Looks up the strength of codes in `scale`; `strength` and the two other slices are at least as long as
    /// `codes`.
    fn look_up<T: Grained>(
        &self,
        scale: &ScalingLut,
        codes: &[T],
        (strength, low, high): (&mut [i16], &mut [u8], &mut [u8]),
    ) {
        let [Some(first), Some(next)] = &scale.0 else { return };
        let (low, high) = (&mut low[..codes.len()], &mut high[..codes.len()]);
        let (shift, left) = (self.blocks.bits - 8, 15 - u32::from(self.params.scaling_shift));
        tops(self.level, low, codes, shift);
        if shift == 0 {
            first.apply_u8(self.level, low);
            shift_row(self.level, strength, low, left);
        } else {
            high.copy_from_slice(low);
            first.apply_u8(self.level, low);
            next.apply_u8(self.level, high);
            between(self.level, strength, codes, low, high, shift, left);
        }
    }

    /// Adds grain to samples of the depth at which grain is added.
    fn direct<T: Grained>(&self, band: &mut Band<'_>, scratch: &mut Scratch) {
        let mut buffers = Buffers::new(self.blocks, scratch);
        for p in chroma_first(band.writes) {
            // A decoder treats B and R as chroma, and G as luma.
            let mix = (p > 0).then(|| Mix::new(self.blocks, self.params, p));
            let (down, (low, high)) =
                (self.blocks.format.plane_subsampling(p).1, self.blocks.limits(self.params, p));
            buffers.stripe = None;
            for y in band.output.plane(p).rows() {
                let row = band.output.plane(p);
                let row = row.row::<T>(y);
                let width = row.len();
                self.grain(p, y, width, &mut buffers);
                let scale = &self.state.scales[p];
                let (grain, strength) = (&buffers.grain[..width], &mut buffers.strength[..width]);
                match mix {
                    Some(mix) => {
                        let index = &mut buffers.index[..width];
                        let luma = band.output.plane(0);
                        mix_row(self.level, index, luma.row::<T>(y << down), row, mix);
                        self.look_up::<u16>(scale, index, (strength, buffers.low, buffers.high));
                    }
                    None => self.look_up(scale, row, (strength, buffers.low, buffers.high)),
                }
                add(self.level, band.output.plane_mut(p).row_mut::<T>(y), grain, strength, low, high);
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
            let (down, (low, high)) =
                (self.blocks.format.plane_subsampling(p).1, self.blocks.limits(self.params, p));
            buffers.stripe = None;
            for y in band.output.plane(p).rows() {
                let width = band.output.plane(p).row::<T>(y).len();
                self.grain(p, y, width, &mut buffers);
                let (grain, strength) = (&buffers.grain[..width], &mut buffers.strength[..width]);
                let (before, after) = (&mut buffers.before[..width], &mut buffers.after[..width]);
                let codes = |to: &mut [u16], chroma, row: &[T]| {
                    to.iter_mut().zip(row).for_each(|(c, &v)| *c = code(chroma, v));
                };
                codes(before, chroma, band.output.plane(p).row(y));
                after.copy_from_slice(before);
                let scale = &self.state.scales[p];
                if p > 0 {
                    let row = band.output.plane(0);
                    let row = row.row::<T>(y << down);
                    let luma = &mut buffers.luma[..row.len()];
                    codes(luma, false, row);
                    mix_row(self.level, &mut buffers.index[..width], luma, before, mix);
                    let index = &buffers.index[..width];
                    self.look_up(scale, index, (strength, buffers.low, buffers.high));
                } else {
                    self.look_up::<u16>(scale, before, (strength, buffers.low, buffers.high));
                }
                add(self.level, after, grain, strength, low, high);
                for ((v, &b), &a) in
                    band.output.plane_mut(p).row_mut::<T>(y).iter_mut().zip(&*before).zip(&*after)
                {
                    *v = change(*v, b, a);
                }
            }
        }
    }
}
