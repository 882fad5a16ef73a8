//! `deband`: smooths the steps of shallow gradients.
//!
//! Each sample looks at four others, the corners of a rectangle around it whose half sides are random for every sample
//! and frame. `m` is the largest difference of the four from the sample, or twice that of the mean of two opposite
//! corners if that is larger. In an area that is flat, `m` at most the threshold, the sample goes to their mean; from
//! there to twice the threshold it goes less and less far, so no new edges appear where an area stops being flat. The
//! means keep lines and grain: on a slope with steps they are within half a step of the sample, but from a line they
//! differ by its whole contrast. With several iterations, the rectangles reach over equal parts of `range`, and the
//! sample changes by the mean of the changes of each.
//!
//! The corners are symmetric, so slopes stay where they are; at the edges of the picture the rectangle is narrower. The
//! result lies between samples of the picture, so legal codes stay legal. The chain works in 16 bits; dither at its end
//! keeps the smoothness at 8.

use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::for_depth;
use crate::frame::{Format, FrameTime, Scratch};
use crate::noise::seed::Layer;
use crate::noise::{CycleStart, Distribution, Generator, Layout, Shape, Stream};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::ConvertF32;
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::{Level, multiversion};

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<DebandSpec>("deband", "Deband", "Smooths the steps of shallow gradients");

settings! {
    struct DebandSpec {
        /// Differences up to this count as a flat area that is smoothed; twice as large ones do not change, nor do thin
        /// lines of this contrast. In 255ths of the range from black to white: steps of a gradient are about 1, after
        /// strong compression 2 to 4.
        threshold: Animated = number(0.0..=32.0).default(1.5).soft(0.0..=8.0),
        /// The same for the colour differences of YUV. Default: `threshold`.
        threshold_uv as "threshold-uv": Option<Animated> = number(0.0..=32.0).soft(0.0..=8.0),
        /// How far it looks, in luma samples of a picture 1920 wide: about half of the width of the bands.
        range: Animated = number(0.0..=64.0).default(24.0).unit(Unit::Pixels),
        /// Rectangles per sample, over equal parts of the range: more are smoother and slower, and reach less far on
        /// average.
        iterations: i64 = integer(1..=4).default(2),
    }
    with static, seed
}

impl Spec for DebandSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let bound = |shape: &Shape| {
            let stream = |i| {
                let layer = Layer(Layer::DEBAND.0 + i);
                Stream::new(Generator::Xs64, shape, CycleStart::Seed(seed), layer, level)
            };
            (0..self.iterations as u32).map(stream).collect::<Result<Vec<_>, _>>()
        };
        let shape = Shape::of(input, Layout::Keyed, Distribution::UNIFORM);
        let streams = shape.and_then(|shape| bound(&shape)).map_err(|e| SettingError::new("", e))?;
        Ok(Deband { format: *input, set: self.clone(), streams, level }.boxed())
    }
}

struct Deband {
    format: Format,
    set: DebandSpec,
    /// The random numbers of each iteration.
    streams: Vec<Stream>,
    level: Level,
}

/// The parameters of a plane at a time.
#[derive(Clone, Copy, Default)]
struct Now {
    frame: i64,
    /// The threshold in codes.
    threshold: f32,
    iterations: usize,
    /// Half of the largest sides of each iteration's rectangle.
    far: [[u32; 2]; 4],
}

impl Deband {
    fn plane_at(&self, at: &FrameTime, p: usize) -> Now {
        let set = &self.set;
        let of_colour = set.threshold_uv.as_ref().filter(|_| self.format.is_chroma(p));
        let threshold = of_colour.unwrap_or(&set.threshold).at(at) / 255.0;
        let (sx, sy) = self.format.plane_subsampling(p);
        let steps = [f64::from(1u32 << sx), f64::from(1u32 << sy) * self.format.field_rows().0];
        let range = set.range.at(at) * f64::from(self.format.width) / 1920.0;
        let iterations = set.iterations as usize;
        let mut far = [[0; 2]; 4];
        for (i, far) in far.iter_mut().enumerate().take(iterations) {
            *far = steps.map(|step| {
                let part = range / step * (i + 1) as f64 / iterations as f64;
                libm::floor(part + 0.5).min(255.0) as u32
            });
        }
        let unit = f64::from(Code::of(&self.format, p).span);
        Now { frame: at.index, threshold: (threshold * unit) as f32, iterations, far }
    }

    fn planes<T: ConvertF32>(&self, now: &[Now; 4], band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (from, to) = (input.plane(p), band.output.plane_mut(p));
            let (samples, stride) = from.samples::<T>();
            let len = self.format.plane_size(p).0.next_multiple_of(self.streams[0].block());
            let [words] = scratch.buffers::<u16, 1>([len * self.streams.len()]);
            for y in to.rows() {
                for (stream, words) in self.streams.iter().zip(words.chunks_exact_mut(len)) {
                    stream.frame(now[p].frame).words(p, y as u32, words);
                }
                let row = Row { y, first: from.rows().start, height: from.height(), stride };
                smooth::<T>(self.level, to.row_mut(y), samples, &row, words, &now[p]);
            }
        }
    }
}

/// The position of a row in its plane.
struct Row {
    y: usize,
    /// The first row of the samples.
    first: usize,
    height: usize,
    stride: usize,
}

/// Samples whose corners are computed before they are read.
const BLOCK: usize = 64;

/// A word of `words` for each sample and iteration, row by row, determines the half sides.
#[inline(always)]
fn smooth_body<T: ConvertF32>(out: &mut [T], samples: &[T], row: &Row, words: &[u16], now: &Now) {
    let &Row { y, first, height, stride } = row;
    let width = out.len();
    let tallest = y.min(height - 1 - y) as u32;
    // The rows above that are read: places count from the first of them, so they fit into 32 bits.
    let above = now.far.iter().fold(0, |most, far| far[1].max(most)).min(tallest) as usize;
    let samples = &samples[(y - first - above) * stride..];
    let own = &samples[above * stride..][..width];
    let (limit, slope) = (2.0 * now.threshold, 1.0 / now.threshold);
    let each = 0.25 / now.iterations as f32;
    // Upper left, upper right, lower left and lower right. Nothing but the reads is done sample by sample.
    let mut places = [[0u32; BLOCK]; 4];
    let mut corners = [[T::zeroed(); BLOCK]; 4];
    for start in (0..width).step_by(BLOCK) {
        let n = BLOCK.min(width - start);
        let own = &own[start..start + n];
        let mut change = [0f32; BLOCK];
        for (far, words) in now.far.iter().zip(words.chunks_exact(words.len() / now.iterations)) {
            for (i, &word) in words[start..start + n].iter().enumerate() {
                let x = start + i;
                let widest = x.min(width - 1 - x) as u32;
                let across = (((u32::from(word) & 255) * (far[0] + 1)) >> 8).min(widest);
                let down = (((u32::from(word) >> 8) * (far[1] + 1)) >> 8).min(tallest);
                let at = (above * stride + x) as u32;
                let (upper, lower) = (at - down * stride as u32, at + down * stride as u32);
                let all = [upper - across, upper + across, lower - across, lower + across];
                for (places, at) in places.iter_mut().zip(all) {
                    places[i] = at;
                }
            }
            for (corners, places) in corners.iter_mut().zip(&places) {
                for (corner, &at) in corners[..n].iter_mut().zip(&places[..n]) {
                    *corner = samples[at as usize];
                }
            }
            for i in 0..n {
                let value = own[i].number();
                let [a, b, c, d] = [0, 1, 2, 3].map(|k: usize| corners[k][i].number() - value);
                let most = |a: f32, b: f32| if a > b { a } else { b };
                let (falling, rising) = (a + d, b + c);
                let curved = most(falling.abs(), rising.abs());
                let most = most(most(most(a.abs(), b.abs()), most(c.abs(), d.abs())), curved);
                let sum = falling + rising;
                let part = (limit - most) * slope;
                let part = if part < 1.0 { part } else { 1.0 };
                // A corner or sample that is not finite makes the sum so.
                change[i] += if most < limit && sum.is_finite() { each * part * sum } else { 0.0 };
            }
        }
        for ((out, own), change) in out[start..start + n].iter_mut().zip(own).zip(change) {
            *out =
                if change == 0.0 { *own } else { own.replaced(own.number() + change, 0.0, (0.0, 65535.0)) };
        }
    }
}

multiversion! {
    fn smooth<T: ConvertF32>(level, out: &mut [T], samples: &[T], row: &Row, words: &[u16], now: &Now) = smooth_body;
}

impl Render for Deband {
    type Params = [Now; 4];
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, [Now; 4])> {
        let now = [0, 1, 2, 3].map(|p| self.plane_at(at, p));
        let acts = |p: usize| now[p].threshold > 0.0 && now[p].far.as_flattened().iter().any(|&n| n > 0);
        let writes = self.format.color_planes().filter(acts);
        let rows = |p: usize| {
            let far = now[p].far.iter().map(|far| far[1]).max().unwrap_or(0);
            far << self.format.plane_subsampling(p).1
        };
        let reach = Reach::Rows(writes.iter().map(rows).max()?);
        Some((Plan { reach, ..Plan::in_place(writes) }, now))
    }

    fn memory(&self) -> Memory {
        let row = (self.format.width as usize).next_multiple_of(self.streams[0].block());
        Memory { fixed: 0, per_frame: 2 * row * self.streams.len() + 64 }
    }

    fn render(&self, now: &[Now; 4], (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        for_depth!(self.format.depth, T => self.planes::<T>(now, band, scratch));
    }
}

#[cfg(test)]
mod tests;
