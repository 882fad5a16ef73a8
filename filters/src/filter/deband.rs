//! `deband`: smooths the steps of shallow gradients.
//!
//! Each sample looks at four others, the corners of a rectangle around it whose half sides are random for every sample
//! and frame. `m` is the largest difference of the four from the sample. In an area that is flat, `m` at most the
//! threshold, the sample goes to their mean; from there to twice the threshold it goes less and less far, so no new
//! edges appear where an area stops being flat. With several iterations, the rectangles reach over equal parts of
//! `range`, and the sample goes by the mean of what each wants.
//!
//! The corners are symmetric, so slopes stay where they are; at the edges of the picture the rectangle is narrower. The
//! result lies between samples of the picture, so legal codes stay legal. The chain works in 16 bits; dither at its end
//! keeps the smoothness at 8.

use super::{Band, Entry, Filter, Plan, Reach, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, Scratch};
use crate::noise::seed::{GOLDEN, Layer, key, mix64};
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
        /// Differences up to this count as a flat area that is smoothed; twice as large ones do not change. In codes
        /// of 8 bits: steps of a gradient are 1, after strong compression 2 to 4.
        threshold: Animated = number(0.0..=32.0).default(1.5).soft(0.0..=8.0),
        /// The same for the colour differences of YUV. Default: `threshold`.
        threshold_uv as "threshold-uv": Option<Animated> = number(0.0..=32.0).soft(0.0..=8.0),
        /// How far it looks, in luma samples of a picture 1920 wide: about half of the width of the bands.
        range: Animated = number(0.0..=64.0).default(24.0).unit(Unit::Pixels),
        /// Rectangles per sample: more are smoother and slower.
        iterations: i64 = integer(1..=4).default(2),
    }
    with static, seed
}

impl Spec for DebandSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(Deband { format: *input, set: self.clone(), seed, level }.boxed())
    }
}

struct Deband {
    format: Format,
    set: DebandSpec,
    seed: u64,
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

    fn planes<T: ConvertF32>(&self, now: &[Now; 4], band: &mut Band<'_>) {
        let Some(input) = band.input else { unreachable!("a plan with a reach is given the input") };
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (from, to) = (input.plane(p), band.output.plane_mut(p));
            let (samples, stride) = from.samples::<T>();
            for y in to.rows() {
                let row = Row {
                    y,
                    height: from.height(),
                    stride,
                    key: key(self.seed, now[p].frame, Layer::DEBAND.plane(p as u32), y as u32),
                };
                smooth::<T>(self.level, to.row_mut(y), samples, &row, &now[p]);
            }
        }
    }
}

/// The position of a row in its plane.
struct Row {
    y: usize,
    height: usize,
    stride: usize,
    key: u64,
}

#[inline(always)]
fn smooth_body<T: ConvertF32>(out: &mut [T], samples: &[T], row: &Row, now: &Now) {
    let &Row { y, height, stride, key } = row;
    let width = out.len();
    let tallest = y.min(height - 1 - y);
    let own = &samples[y * stride..][..width];
    let (limit, slope) = (2.0 * now.threshold, 1.0 / now.threshold);
    let each = 1.0 / now.iterations as f32;
    for (x, out) in out.iter_mut().enumerate() {
        let random = mix64(key.wrapping_add((x as u64).wrapping_mul(GOLDEN)));
        let value = own[x].number();
        let widest = x.min(width - 1 - x);
        let mut change = 0.0;
        for (i, far) in now.far.iter().enumerate().take(now.iterations) {
            let bits = (random >> (16 * i)) as u32;
            let across = ((((bits & 255) * (far[0] + 1)) >> 8) as usize).min(widest);
            let down = (((((bits >> 8) & 255) * (far[1] + 1)) >> 8) as usize).min(tallest);
            let (above, below) = ((y - down) * stride + x, (y + down) * stride + x);
            let corners = [above - across, above + across, below - across, below + across];
            let [a, b, c, d] = corners.map(|i| samples[i].number() - value);
            let (ab, cd) = (a + b, c + d);
            let most = |a: f32, b: f32| if a > b { a } else { b };
            let most = most(most(a.abs(), b.abs()), most(c.abs(), d.abs()));
            let sum = ab + cd;
            let part = (limit - most) * slope;
            let part = if part < 1.0 { part } else { 1.0 };
            // A corner or sample that is not finite makes the sum so.
            if most < limit && sum.is_finite() {
                change += 0.25 * each * part * sum;
            }
        }
        *out = if change == 0.0 { own[x] } else { own[x].replaced(value + change, 0.0, (0.0, 65535.0)) };
    }
}

multiversion! {
    fn smooth<T: ConvertF32>(level, out: &mut [T], samples: &[T], row: &Row, now: &Now) = smooth_body;
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

    fn render(&self, now: &[Now; 4], (): &(), band: &mut Band<'_>, _: &mut Scratch) {
        match self.format.depth {
            Depth::Bits(8) => self.planes::<u8>(now, band),
            Depth::Bits(_) => self.planes::<u16>(now, band),
            Depth::Float => self.planes::<f32>(now, band),
        }
    }
}

#[cfg(test)]
mod tests;
