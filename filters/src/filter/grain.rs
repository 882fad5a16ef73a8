//! `grain`: film grain that follows the brightness of the picture.
//!
//! Only the response to brightness depends on the picture, sample by sample; the field of
//! grain is a function of the address alone. So it works on any band of rows in any order. In place, chroma is grained
//! before luma, whose samples it still has to see.
//!
//! | planes | grain | follows |
//! |---|---|---|
//! | Y, grey | its own | the sample itself |
//! | U, V | their own, weaker by `chroma`, on their own raster but as coarse as luma's to the eye | the mean of the luma of their block |
//! | R, G, B | `chroma` of their own, strongest in B and coarser by `chroma-size`, the rest in common, equally strong in all, times `red` and `blue` | the sample itself, so that none grows in a channel that is black |
//!
//! The kernel, the response and the rounding are stated in [`crate::pixel::grain`]. Size and strength are those of a
//! picture 1920 wide; at another width the grain is the same after both pictures are scaled to the smaller width
//! (`Axis::scaled`). In a field of an interlaced picture rows are twice as far apart, so the kernel is half
//! as long down as across. Float samples get the same field; scene
//! linear ones are multiplied by powers of two, which adds to their logarithm. Grain of several sizes (`variation`) is
//! the sum of two fields. Grain that was taken from a plate replaces the fields, sample for sample at any width.

mod coarse;
mod field;
mod look;
mod plate;
mod settings;
mod space;
#[cfg(test)]
mod tests;

use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, MAX_SIDE, Parity, PictureStructure, PlaneSet, Sample, Scratch};
use crate::noise::seed::Layer;
use crate::noise::{CycleStart, Distribution, Layout, Shape, ShapeError, Stream};
use crate::pixel::field::ar1_weights;
use crate::pixel::grain::{
    Fields, Gain, Luma, Ramp, RowKernel, Skew, Sources, TURN, Taps, limited_near_end, mean_row, rounded_sd,
};
use crate::plate::{PLATE_SD, Plate};
use crate::settings::{Animated, FileAsset, SettingError, Values};
use crate::simd::Level;
use coarse::White;
use field::Rows;
use look::Field;
pub use look::{Kernel, Sizes, kernels};
use plate::PlateTiling;
pub use settings::response;
use settings::{Curve, GrainSpec};
use space::Space;
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<GrainSpec>(
    "grain",
    "Film grain",
    "Adds film grain whose strength follows the brightness of the picture",
);

impl Spec for GrainSpec {
    fn check(&mut self, given: &Values) -> Result<(), SettingError> {
        self.agree(given)
    }

    fn wants_16_bits(&self) -> bool {
        false
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let read = |file: &FileAsset| file.require::<Arc<Plate>>().cloned();
        let plate = self.plate.as_ref().map(read).transpose().map_err(|e| SettingError::new("plate", e))?;
        let mut grain = Grain {
            format: *input,
            set: self.clone(),
            plate,
            curve: self.response(),
            space: Space::of(self.space, input),
            seed,
            level,
            look: None,
            kernels: None,
        };
        let look = [&self.size, &self.sharpness, &self.chroma_size, &self.variation].map(Animated::constant);
        if let [Some(size), Some(sharpness), Some(chroma_size), Some(variation)] = look {
            let look = grain.look_of(size, sharpness, chroma_size, variation);
            let amounts = self.amounts().map(Animated::constant);
            if let [Some(strength), Some(chroma), Some(skew), Some(red), Some(blue)] = amounts {
                let amounts = [strength, chroma, skew, red, blue];
                grain.kernels = Some(Arc::new(grain.kernels_of(&look, amounts)));
            }
            grain.look = Some(Arc::new(look));
        }
        Ok(grain.boxed())
    }
}

/// The fields whose sum is the grain: one, or a fine and a coarse one; none for grain from a plate.
type Look = Vec<GrainFields>;

/// The fields of all planes, and the streams of white noise for them.
#[derive(Clone)]
struct GrainFields {
    fields: [Field; 4],
    /// The parts of the variance of what the channels of RGB have in common, and of other grain.
    shares: [f64; 2],
    own: Stream,
    /// The grain that the channels of RGB have in common.
    common: Stream,
}

/// How grain is added to the colour planes.
type Kernels = [RowKernel; 3];

/// The strength of the independent grain of G, B and R, relative to the strength: the blue layer of film has the
/// fastest, coarsest grains.
const LAYERS: [f64; 3] = [1.0, 1.5, 1.1];

struct Grain {
    format: Format,
    set: GrainSpec,
    plate: Option<Arc<Plate>>,
    curve: Curve,
    space: Space,
    seed: u64,
    level: Level,
    /// Set if nothing changes over time.
    look: Option<Arc<Look>>,
    kernels: Option<Arc<Kernels>>,
}

/// The coarsest possible grain.
const MOST_SIZE: f64 = 16.0;
/// The factor of coarseness of chroma.
const MOST_CHROMA: f64 = 12.0;

/// How much coarser the second field of grain of several sizes is.
const COARSER: f64 = 2.5;

/// The brightness on both sides of a place over which the slope of the strength is taken; enough for the slope of a
/// piecewise linear curve to be continuous to the eye.
const SLOPE: f64 = 1.0 / 64.0;

/// How fields of grain are summed in one plane.
struct Sum {
    /// The factors of two grains, in 1/32768, at most 32767; without meaning for a single one.
    weights: [i16; 2],
    /// The factor of the strength at this width of the picture.
    strength: f64,
    /// The standard deviation of the sum.
    deviation: f64,
}

impl GrainFields {
    /// The part of the variance of these fields, of common and own grain with these variances.
    fn part(&self, mix: [f64; 2]) -> f64 {
        (mix[0] * self.shares[0] + mix[1] * self.shares[1]) / (mix[0] + mix[1])
    }
}

impl Sum {
    /// The sum in plane `p`, with the variances of all common and of all own grain.
    fn new(look: &Look, p: usize, mix: [f64; 2]) -> Sum {
        if look.is_empty() {
            return Sum { weights: [0; 2], strength: 1.0, deviation: PLATE_SD };
        }
        let parts = look.iter().map(|set| {
            let field = &set.fields[p];
            (set.part(mix).sqrt() * field.strength(), field.deviation(Distribution::H8.deviation()))
        });
        let parts: Vec<(f64, f64)> = parts.collect();
        let &[first, second] = &parts[..] else {
            return Sum { weights: [0; 2], strength: parts[0].0, deviation: parts[0].1 };
        };
        let parts = [first, second];
        let most = parts.iter().fold(0.0, |most: f64, (s, d)| most.max(s / d));
        let weights = parts.map(|(s, d)| libm::floor(s / d / most * 32767.0 + 0.5));
        let made = weights.iter().zip(parts).map(|(w, (_, d))| (w / 32768.0 * d) * (w / 32768.0 * d));
        let (made, wanted) = (made.sum::<f64>(), parts.iter().map(|(s, _)| s * s).sum::<f64>());
        Sum { weights: weights.map(|w| w as i16), strength: wanted.sqrt(), deviation: made.sqrt() }
    }
}

/// The fraction bits of the weights of fields and patterns, and the start of a sum that is rounded.
const SHIFT: u32 = 15;
const HALF: i32 = 1 << (SHIFT - 1);

/// The largest number of pixels that a stream generates at a time.
const MOST_BLOCK: usize = 256;

/// Twice the reach of all passes, and a little more.
const BEYOND: usize = 508;

/// The 16-bit range from black to white.
const FULL: f64 = 65536.0;

impl Grain {
    /// The fields of all planes.
    fn fields_of(&self, size: f64, sharpness: f64, chroma_size: f64) -> [Field; 4] {
        let format = &self.format;
        let sizes = Sizes { size, sharpness, chroma: chroma_size };
        [0, 1, 2, 3].map(|p| {
            let p = p.min(format.planes() - 1);
            Field::new(format.plane_size(p), look::axes(format, p, &sizes))
        })
    }

    fn look_of(&self, size: f64, sharpness: f64, chroma_size: f64, variation: f64) -> Look {
        if self.plate.is_some() {
            return Vec::new();
        }
        let fine = self.fields_of(size, sharpness, chroma_size);
        // RGB has no chroma whose field could be coarser: there, more of the channels' own grain is in the coarse field.
        let clumped = self.format.is_rgb() && !self.set.monochrome && chroma_size > 1.0;
        let (coarser, own) = match clumped {
            true if variation > 0.0 => {
                let more = ((chroma_size - 1.0) / (COARSER - 1.0)).min(1.0);
                (COARSER, variation + (1.0 - variation) * more)
            }
            true => (chroma_size, 1.0),
            false => (COARSER, variation),
        };
        let shares = [variation, own];
        let mut look = vec![self.set_of(fine, shares.map(|s| 1.0 - s), [Layer::BASE, Layer::COMMON])];
        if own > 0.0 {
            let coarse = self.fields_of(coarser * size, sharpness, chroma_size);
            look.push(self.set_of(coarse, shares, [Layer::COARSE, Layer::COARSE_COMMON]));
        }
        look
    }

    /// Fields and the streams of these layers.
    fn set_of(&self, fields: [Field; 4], shares: [f64; 2], layers: [Layer; 2]) -> GrainFields {
        let format = &self.format;
        // The streams have the shape of the larger field, including the coarsest grain beyond its edges, so that the
        // numbers do not depend on the size.
        let field = !matches!(format.picture, PictureStructure::Frame);
        let whole = if field { format.field(Parity::Top) } else { *format };
        let side = |n: usize| (n + BEYOND).min(MAX_SIDE as usize) as u32;
        let sizes = [0, 1, 2, 3].map(|p| {
            let (w, h) = whole.plane_size(p.min(format.planes() - 1));
            (side(w), side(h))
        });
        let bound = || {
            let shape = Shape::new(&sizes[..format.planes()], Layout::Keyed, Distribution::H8)?;
            let (generator, origin) = (self.set.generator, CycleStart::Seed(self.seed));
            let stream = |layer| Stream::new(generator, &shape, origin, layer, self.level);
            let [own, common] = layers.map(stream);
            Ok::<_, ShapeError>(GrainFields { fields, shares, own: own?, common: common? })
        };
        // A checked format has 1 to 4 planes of a legal size, keyed layouts take any layer, and a seed always gives a
        // state.
        bound().unwrap_or_else(|e| unreachable!("streams of {}x{}: {e}", format.width, format.height))
    }

    /// The fraction of independent grain of each channel of RGB.
    fn own(&self, chroma: f64) -> f64 {
        if self.set.monochrome { 0.0 } else { chroma.min(1.0) }
    }

    /// The variances of what plane `p` has in common with others, and of the rest, for strength 1.
    fn mix(&self, p: usize, own: f64) -> [f64; 2] {
        if self.format.is_rgb() { [1.0 - own * own, own * own * LAYERS[p] * LAYERS[p]] } else { [0.0, 1.0] }
    }

    /// The kernels for values of [`GrainSpec::amounts`].
    fn kernels_of(&self, look: &Look, [strength, chroma, skew, red, blue]: [f64; 5]) -> Kernels {
        let factors = [1.0, blue, red];
        let gain = |p: usize, strength: f64| {
            let sum = Sum::new(look, p, self.mix(p, self.own(chroma)));
            let (strength, deviation) = (strength * sum.strength, sum.deviation);
            let shift = self.curve.clip_shift(self.format.is_chroma(p));
            let video = self.space == Space::Video;
            // Codes of this depth per 8-bit code; float counts 65536 from black to white.
            match self.format.depth {
                Depth::Bits(bits) => {
                    let per = f64::from(1u32 << (bits - 8));
                    let nodes = video && self.curve.has_nodes();
                    // Black and white clip grain, which shifts the mean.
                    let span = if self.format.full_range() { 255.0 } else { 219.0 };
                    Gain::new(nodes, |u| {
                        let mut wanted = strength * self.curve.at(self.space.light(u)) * self.space.slope(u);
                        if let Some(shift) = shift.filter(|_| nodes) {
                            wanted = limited_near_end(wanted, span * u.min(1.0 - u), shift);
                        }
                        rounded_sd(wanted * per) / deviation
                    })
                }
                Depth::Float => {
                    let peak = strength / 255.0 * FULL * self.space.scale() / deviation;
                    // The kernel for linear light looks up the curve at its own logarithm.
                    let itself = video || self.space == Space::Linear;
                    Gain::new(itself && self.curve.has_nodes(), |u| {
                        let light = if itself { u } else { self.space.light(u) };
                        peak * self.curve.at(light)
                    })
                }
            }
        };
        let kernel = |p: usize| {
            let part = if self.format.is_rgb() && self.plate.is_none() {
                self.mix(p, self.own(chroma)).iter().sum::<f64>().sqrt()
            } else if !self.format.is_chroma(p) {
                1.0
            } else if self.set.monochrome {
                0.0
            } else {
                chroma
            };
            let strength = strength * part * factors[p];
            let (skew, gain) = (self.skew_of(look, p, [strength, chroma, skew]), gain(p, strength));
            let kernel = match self.format.depth {
                Depth::Bits(bits) => {
                    let all = (0, ((1u32 << bits) - 1) as u16);
                    let ramp = Ramp::new(bits, self.format.legal(0).unwrap_or(all));
                    let legal = self.format.legal(p).filter(|_| self.set.protect).unwrap_or(all);
                    RowKernel::codes(self.level, bits, ramp, gain, legal)
                }
                Depth::Float if self.space == Space::Linear => {
                    RowKernel::linear(self.level, gain, self.format.is_chroma(p))
                }
                Depth::Float => RowKernel::float(self.level, gain),
            };
            kernel.skewed(skew)
        };
        // Grey has one plane, and equal U and V share theirs.
        let first = kernel(0);
        let second = if self.format.planes() > 2 { kernel(1) } else { first.clone() };
        let apart = self.format.planes() > 2 && (self.format.is_rgb() || blue != red);
        let third = if apart { kernel(2) } else { second.clone() };
        [first, second, third]
    }

    fn look(&self, at: &FrameTime) -> Arc<Look> {
        self.look.clone().unwrap_or_else(|| {
            let set = &self.set;
            let [size, sharpness, chroma_size, variation] =
                [&set.size, &set.sharpness, &set.chroma_size, &set.variation].map(|s| s.at(at));
            Arc::new(self.look_of(size, sharpness, chroma_size, variation))
        })
    }

    fn kernels(&self, at: &FrameTime, look: &Look) -> Arc<Kernels> {
        self.kernels.clone().unwrap_or_else(|| {
            Arc::new(self.kernels_of(look, self.set.amounts().map(|setting| setting.at(at))))
        })
    }

    /// The number of the grain pattern of a picture. The fields of a frame have separate patterns.
    fn pattern(&self, at: &FrameTime) -> i64 {
        let (frame, field) = at.split(self.format.picture);
        frame.div_euclid(self.set.hold) * self.format.picture.per_frame() + field
    }

    /// The weights of the frames of a window, by the correlation; the squares sum to 1.
    fn weights(&self, at: &FrameTime) -> Vec<f64> {
        let rho = self.set.temporal.at(at);
        ar1_weights(rho, window(rho))
    }

    /// The patterns that are summed, and their weights.
    fn patterns<'a>(&self, now: &'a AtFrame, share: f64) -> impl Iterator<Item = (i64, i16)> + 'a {
        let step = self.format.picture.per_frame();
        (0..).zip(&now.weights).map(move |(j, weight)| {
            let fixed = libm::floor(weight * share * 32768.0 + 0.5).min(32767.0);
            (now.pattern.wrapping_sub(j * step), fixed as i16)
        })
    }

    /// The white noise of plane `p`: of one frame, or of a window of frames; in RGB the common part and that of each
    /// channel.
    fn white<'a>(&self, now: &'a AtFrame, look: &'a GrainFields, p: usize) -> White<'a> {
        let mix = self.mix(p, now.own);
        let [common, own] = [0, 1].map(|i| mix[i] * look.shares[i]);
        // Fields without any share get a weight of 0 later.
        let (own, all) = if common + own > 0.0 { (own, common + own) } else { (1.0, 1.0) };
        let streams = [(&look.common, 0, (common / all).sqrt()), (&look.own, p, (own / all).sqrt())];
        let mut parts = Vec::new();
        for (stream, plane, share) in streams.into_iter().filter(|s| s.2 > 0.0) {
            let patterns = self.patterns(now, share);
            parts.extend(patterns.map(|(pattern, weight)| (stream.frame(pattern), plane, weight)));
        }
        White { parts, block: look.own.block() }
    }
}

/// The state of the grain in a frame.
struct AtFrame {
    look: Arc<Look>,
    kernels: Arc<Kernels>,
    /// The number of the pattern, and the weights of it and of those before.
    pattern: i64,
    weights: Vec<f64>,
    /// The part of the grain that each channel of RGB has for itself.
    own: f64,
}

/// The number of frames that correlated grain sums: as `ar1` of `noise`, but at most 16, because each frame costs a pattern.
fn window(rho: f64) -> usize {
    match rho {
        r if r <= 0.0 => 1,
        r if r <= 0.1 => 2,
        r if r <= 0.3 => 3,
        r if r <= 0.5 => 6,
        r if r <= 0.7 => 8,
        _ => 16,
    }
}

impl Render for Grain {
    type Params = AtFrame;
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, AtFrame)> {
        let look = self.look(at);
        let kernels = self.kernels(at, &look);
        let wanted = |p: &usize| !kernels[*p].is_zero();
        let writes = self.format.color_planes().iter().filter(wanted);
        let writes = writes.fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p));
        if writes.is_empty() {
            return None;
        }
        let own = self.own(self.set.chroma.at(at));
        let (pattern, weights) = (self.pattern(at), self.weights(at));
        let reach = |p: usize| {
            let samples = look.iter().map(|set| set.fields[p].reach()).max().unwrap_or(0);
            (samples << self.format.plane_subsampling(p).1) as u32
        };
        let reach = 2 * writes.iter().filter(|&p| p < self.format.planes()).map(reach).max().unwrap_or(0);
        Some((
            Plan { reach: Reach::Sample, extra_rows: reach, ..Plan::in_place(writes) },
            AtFrame { look, kernels, pattern, weights, own },
        ))
    }

    fn memory(&self) -> Memory {
        // For animated settings, the largest size and softness need the most.
        let size = self.set.size.constant().unwrap_or(MOST_SIZE);
        let chroma_size = self.set.chroma_size.constant().unwrap_or(MOST_CHROMA);
        let sharpness = self.set.sharpness.constant().unwrap_or(-1.0);
        let room = |size: f64| {
            let fields = self.fields_of(size, sharpness, chroma_size);
            fields.iter().map(|f| Rows::buffer_len(f, MOST_BLOCK) + 2 * f.size.0 + 64).max().unwrap_or(0)
        };
        if self.plate.is_some() {
            return Memory { fixed: 0, per_frame: 16 * (self.format.width as usize + 2 * TURN) };
        }
        let clumped = if self.format.is_rgb() { chroma_size } else { 1.0 };
        let coarse = self.set.variation.constant() != Some(0.0) || clumped > 1.0;
        let coarse = if coarse { room(COARSER.max(clumped) * size) } else { 0 };
        Memory { fixed: 256 << 10, per_frame: 4 * (room(size) + coarse) }
    }

    fn render(&self, now: &AtFrame, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let AtFrame { look, kernels, .. } = now;
        // Luma is last: chroma depends on the luma of the source, which it may overwrite.
        let planes = band.writes.iter().filter(|&p| p < self.format.planes());
        let (chroma, others): (Vec<usize>, Vec<usize>) = planes.partition(|&p| self.format.is_chroma(p));
        for p in chroma.into_iter().chain(others) {
            let kernel = &kernels[p];
            let (width, _) = self.format.plane_size(p);
            let whole = width.next_multiple_of(TURN);
            if let Some(plate) = &self.plate {
                let tiling = PlateTiling::new(plate, &self.format, p, self.set.monochrome);
                let parts: Vec<_> = self.patterns(now, 1.0).collect();
                let halves = whole.div_ceil(2);
                let [sum, h, made, n, light] =
                    scratch.buffers::<i32, 5>([width, halves, halves, halves, width]);
                let [h, made, n] = [h, made, n].map(bytemuck::cast_slice_mut::<i32, i16>);
                for y in band.output.plane(p).rows() {
                    tiling.rows(self.level, (self.seed, &parts), y, made, (h, sum));
                    let fields = Fields { first: finished(made), second: None, weights: [0; 2], n };
                    self.add_any(band, (p, y), fields, kernel, light);
                }
                continue;
            }
            let needed = |set: &GrainFields| Rows::buffer_len(&set.fields[p], set.own.block());
            let second = look.get(1);
            let room = [needed(&look[0]), second.map_or(0, needed), width, width];
            let [fine, coarse, n, light] = scratch.buffers::<i32, 4>(room);
            let n = bytemuck::cast_slice_mut(n);
            let rows = |i: usize, room| {
                Rows::new(&look[i].fields[p], self.white(now, &look[i], p), self.level, room)
            };
            let mut fine = rows(0, fine);
            let mut coarse = second.map(|_| rows(1, coarse));
            let weights = Sum::new(look, p, self.mix(p, now.own)).weights;
            for y in band.output.plane(p).rows() {
                let second = coarse.as_mut().map(|coarse| coarse.sources(y));
                let fields = Fields { first: fine.sources(y), second, weights, n };
                self.add_any(band, (p, y), fields, kernel, light);
            }
        }
    }
}

/// Sources for an already filtered row.
fn finished(row: &[i16]) -> Sources<'_> {
    let none = Taps::new(0.0, 0.0);
    Sources { h: [row; 5], fresh: None, across: none, down: none }
}

impl Grain {
    /// Adds grain to row `y` of plane `p`. `light` has room for a row of any samples.
    fn add_any(
        &self,
        band: &mut Band<'_>,
        at: (usize, usize),
        fields: Fields<'_>,
        kernel: &RowKernel,
        light: &mut [i32],
    ) {
        match self.format.depth {
            Depth::Bits(8) => kernel.finish(self.row::<u8>(band, at, light), fields),
            Depth::Bits(_) => kernel.finish(self.row::<u16>(band, at, light), fields),
            Depth::Float => kernel.finish_f32(self.row(band, at, light), fields),
        }
    }

    /// Row `y` of plane `p` to write, of the input if there is one, and for chroma the luma that its strength follows.
    fn row<'b, T: Sample + Luma>(
        &self,
        band: &'b mut Band<'_>,
        (p, y): (usize, usize),
        light: &'b mut [i32],
    ) -> (&'b mut [T], Option<&'b [T]>, Option<&'b [T]>) {
        let light = self.format.is_chroma(p).then(|| {
            let light = &mut bytemuck::cast_slice_mut(light)[..self.format.plane_size(p).0];
            let (sx, sy) = self.format.plane_subsampling(p);
            let luma = band.input.map_or(band.output.plane(0), |input| input.plane(0));
            if let Some(last) = luma.rows().last() {
                // A band has whole blocks, so a block is cut only at the picture's last row of luma.
                let rows = [0, 1, 2, 3].map(|i| luma.row::<T>(((y << sy) + i).min(last)));
                mean_row(self.level, light, &rows[..1 << sy], sx.into());
            }
            &*light
        });
        let from = band.input.map(|input| input.plane(p).row(y));
        (band.output.plane_mut(p).row_mut(y), from, light)
    }

    /// How grain of a plane is skewed: by twice the slope of its strength.
    fn skew_of(&self, look: &Look, p: usize, [strength, chroma, skew]: [f64; 3]) -> Option<Skew> {
        if skew == 0.0 || self.format.is_chroma(p) || self.plate.is_some() {
            return None;
        }
        let sum = Sum::new(look, p, self.mix(p, self.own(chroma)));
        let span = if self.format.full_range() { 255.0 } else { 219.0 };
        let itself = self.space == Space::Linear;
        let wanted = |u: f64| {
            let (light, slope) = if itself { (u, 1.0) } else { (self.space.light(u), self.space.slope(u)) };
            strength * sum.strength / span * self.curve.at(light) * slope
        };
        let skewness = |u: f64| {
            let (low, high) = ((u - SLOPE).max(0.0), (u + SLOPE).min(1.0));
            2.0 * skew * (wanted(high) - wanted(low)) / (high - low)
        };
        Some(Skew::new(skewness, sum.deviation))
    }
}
