//! `color`: brightness, contrast, saturation, hue and temperature.
//!
//! The five settings together are one linear map of nominal Y, U, V (luma 0 to 1), composed in this order:
//!
//! 1. hue rotates (U, V) by its angle, saturation scales it;
//! 2. contrast scales Y about 1/2, and U and V with it; brightness is added to Y;
//! 3. temperature adds to red and subtracts from blue in proportion to that Y, without a change of luma, so black stays
//!    black: at 1, a quarter of Y.
//!
//! R, G and B go through the same map by the luma weights of their primaries. Integers use an integer matrix
//! ([`crate::pixel::matrix`]), rounded once and clipped to the legal codes; for subsampled chroma, luma is the mean of
//! its block. With premultiplied colour, the offsets are multiplied by alpha.

use super::point::{alpha_row, weights};
use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::for_depth;
use crate::frame::{Alpha, Depth, Family, Format, FrameTime, PlaneSet, Sample, Scratch};
use crate::pixel::convert::{Code, Coefficients};
use crate::pixel::f32_rows::ConvertF32;
use crate::pixel::grain::{Luma, mean_row};
use crate::pixel::matrix::{MatrixRow, mix_f32, mix_u8, mix_u16};
use crate::pixel::tone::PremultipliedScale;
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<ColorSpec>(
    "color",
    "Colour",
    "Adjusts brightness, contrast, saturation, hue and temperature",
);

settings! {
    struct ColorSpec {
        /// Offset added to the picture: 1 moves black to white.
        brightness: Animated = number(-1.0..=1.0).default(0.0).unit(Unit::Fraction),
        /// Slope around middle grey: 0 is plain grey, 1 is unchanged, 2 is twice as steep.
        contrast: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0),
        /// Colourfulness: 0 is black and white, 1 is unchanged, 2 is twice as much.
        saturation: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0),
        /// Rotates all colours around the colour wheel: red towards yellow, yellow towards green.
        hue: Animated = number(-36000.0..=36000.0).default(0.0).unit(Unit::Degrees).soft(-180.0..=180.0),
        /// Below 0 is colder (bluer), above 0 warmer (redder). Brightness is kept. With saturation=0 it tones a
        /// black-and-white picture.
        temperature: Animated = number(-1.0..=1.0).default(0.0),
    }
}

impl Spec for ColorSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(Color { format: *input, set: self.clone(), weights: weights(input)?, level }.boxed())
    }
}

struct Color {
    format: Format,
    set: ColorSpec,
    weights: Coefficients,
    level: Level,
}

/// A map of nominal values: a matrix and an offset.
type Map = ([[f64; 3]; 3], [f64; 3]);

/// The part of luma that the highest temperature adds to red.
const WARMTH: f64 = 0.25;

/// The map of nominal Y, U, V.
fn map(weights: Coefficients, [brightness, contrast, saturation, hue, temperature]: [f64; 5]) -> Map {
    let (sin, cos) = match hue.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        degrees => {
            let angle = degrees * (core::f64::consts::PI / 180.0);
            (libm::sin(angle), libm::cos(angle))
        }
    };
    let s = contrast * saturation;
    let offset = 0.5 - 0.5 * contrast + brightness;
    // Red up, blue down, and green such that luma does not change.
    let t = WARMTH * temperature;
    let [kg, kb, kr] = weights.to_yuv()[0];
    let gbr = [(kb - kr) * t / kg, -t, t];
    let warm = weights.to_yuv().map(|m| m[0] * gbr[0] + m[1] * gbr[1] + m[2] * gbr[2]);
    // From red towards yellow and green, V falls and U falls too: the rotation is from V to -U.
    let matrix = [
        [contrast, 0.0, 0.0],
        [warm[1] * contrast, s * cos, -s * sin],
        [warm[2] * contrast, s * sin, s * cos],
    ];
    (matrix, [offset, warm[1] * offset, warm[2] * offset])
}

/// The same map for nominal G, B, R.
fn map_rgb(weights: Coefficients, (m, offset): Map) -> Map {
    let times = |a: [[f64; 3]; 3], b: [[f64; 3]; 3]| {
        a.map(|row| [0, 1, 2].map(|j: usize| row[0] * b[0][j] + row[1] * b[1][j] + row[2] * b[2][j]))
    };
    let to_rgb = weights.to_rgb();
    let offset = to_rgb.map(|m| m[0] * offset[0] + m[1] * offset[1] + m[2] * offset[2]);
    (times(to_rgb, times(m, weights.to_yuv())), offset)
}

impl Color {
    fn numbers(&self, at: &FrameTime) -> [f64; 5] {
        let set = &self.set;
        [&set.brightness, &set.contrast, &set.saturation, &set.hue, &set.temperature].map(|v| v.at(at))
    }

    /// The rows of the matrix in codes, for each plane.
    fn rows(&self, (m, offset): Map) -> [MatrixRow; 3] {
        let bits = self.format.depth.bits().unwrap_or(0);
        [0, 1, 2].map(|i: usize| {
            let p = i.min(self.format.planes() - 1);
            let own = Code::of(&self.format, p);
            let span = f64::from(own.span);
            let mut sum = f64::from(own.zero) + offset[i] * span;
            let row = [0, 1, 2].map(|j: usize| {
                let from = Code::of(&self.format, j.min(self.format.planes() - 1));
                let weight = m[i][j] * span / f64::from(from.span);
                let weight = weight.clamp(-MatrixRow::MAX_WEIGHT, MatrixRow::MAX_WEIGHT);
                sum -= weight * f64::from(from.zero);
                weight
            });
            let legal = self.format.legal(p).unwrap_or(self.format.codes());
            MatrixRow::new(bits, row, sum, legal)
        })
    }
}

/// The map for premultiplied samples, whose offset is multiplied by alpha, too.
struct PremultipliedMap(Map, [PremultipliedScale; 3]);

impl PremultipliedMap {
    fn new(format: &Format, map: Map) -> PremultipliedMap {
        let scale = |i: usize| {
            let p = i.min(format.planes() - 1);
            let low = if format.is_chroma(p) { -0.5 } else { 0.0 };
            PremultipliedScale::new(format, p, (low, low + 1.0))
        };
        PremultipliedMap(map, [0, 1, 2].map(scale))
    }

    /// Computes a row of plane `p`.
    fn row<T: ConvertF32>(&self, out: &mut [T], p: usize, rows: [&[T]; 3], alpha: &[f64]) {
        let PremultipliedMap((m, offset), scales) = self;
        for (i, out) in out.iter_mut().enumerate() {
            let v = [0, 1, 2].map(|j: usize| scales[j].value(rows[j][i]) * m[p][j]);
            *out = scales[p].sample(*out, v[0] + v[1] + v[2] + offset[p] * alpha[i], alpha[i]);
        }
    }
}

impl Render for Color {
    type Params = ([MatrixRow; 3], Option<PremultipliedMap>);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let numbers = self.numbers(at);
        let [brightness, contrast, saturation, hue, temperature] = numbers;
        let luma = brightness != 0.0 || contrast != 1.0;
        let colour = contrast * saturation != 1.0 || hue.rem_euclid(360.0) != 0.0 || temperature != 0.0;
        let planes = match self.format.family {
            Family::Gray => (luma, false),
            _ if self.format.is_rgb() => (luma || colour, luma || colour),
            Family::Yuv | Family::Rgb => (luma, colour),
        };
        let writes = PlaneSet(u8::from(planes.0) | (0b110 * u8::from(planes.1)));
        if writes.is_empty() {
            return None;
        }
        let map = map(self.weights, numbers);
        let map = if self.format.is_rgb() { map_rgb(self.weights, map) } else { map };
        let multiplied = self.format.alpha == Alpha::Premultiplied;
        let over = multiplied.then(|| PremultipliedMap::new(&self.format, map));
        Some((Plan::in_place(writes), (self.rows(map), over)))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: 8 * (4 * self.format.width as usize + 64) }
    }

    fn map_codes(&self, (rows, over): &Self::Params, (): &(), p: usize, codes: &mut [u16]) -> Option<u32> {
        if over.is_some() || self.format.depth.bytes() != 2 || rows[p].single() != Some(p) {
            return None;
        }
        let from = codes.to_vec();
        mix_u16(self.level, codes, [&from; 3], &rows[p]);
        Some(3)
    }

    fn render(&self, (rows, over): &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let over = over.as_ref();
        for_depth!(self.format.depth, T => self.planes::<T>(rows, over, band, scratch));
    }
}

/// Sample types that have matrix kernels.
trait MatrixSample: Sample + Luma + ConvertF32 {
    fn mix(level: Level, out: &mut [Self], rows: [&[Self]; 3], by: &MatrixRow);
}

impl MatrixSample for u8 {
    fn mix(level: Level, out: &mut [u8], rows: [&[u8]; 3], by: &MatrixRow) {
        mix_u8(level, out, rows, by);
    }
}

impl MatrixSample for u16 {
    fn mix(level: Level, out: &mut [u16], rows: [&[u16]; 3], by: &MatrixRow) {
        mix_u16(level, out, rows, by);
    }
}

impl MatrixSample for f32 {
    fn mix(level: Level, out: &mut [f32], rows: [&[f32]; 3], by: &MatrixRow) {
        mix_f32(level, out, rows, by);
    }
}

impl Color {
    fn planes<T: MatrixSample>(
        &self,
        by: &[MatrixRow; 3],
        over: Option<&PremultipliedMap>,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let rgb = self.format.is_rgb();
        let width = self.format.width as usize;
        let [a, b, c, alpha] = scratch.buffers::<f64, 4>([width; 4]);
        let [a, b, c] = [a, b, c].map(|row| &mut bytemuck::cast_slice_mut::<f64, T>(row)[..width]);
        let mix = |band: &mut Band<'_>, p: usize, y: usize, rows: [&[T]; 3], alpha: &[f64]| {
            let out = band.output.plane_mut(p).row_mut(y);
            match over {
                Some(map) => map.row(out, p, rows, alpha),
                None => T::mix(self.level, out, rows, &by[p]),
            }
        };
        // Colour differences first: they need the luma of the source.
        let both = if rgb { PlaneSet(0b111) } else { PlaneSet(0b110) };
        if self.format.family != Family::Gray && !(band.writes & both).is_empty() {
            let width = self.format.plane_size(1).0;
            let [a, b, c] = [&mut a[..width], &mut b[..width], &mut c[..width]];
            let alpha = &mut alpha[..width];
            // Contrast and saturation change each plane alone; of floats, a weight of 0 lets numbers that are none through.
            let alone =
                self.format.depth != Depth::Float && [1, 2].iter().all(|&p| by[p].single() == Some(p));
            let mixes = over.is_some() || !alone;
            for y in band.output.plane(1).rows() {
                if rgb || mixes {
                    self.luma(a, y, band);
                }
                b.copy_from_slice(band.output.plane(1).row(y));
                c.copy_from_slice(band.output.plane(2).row(y));
                if over.is_some() {
                    alpha_row(&self.format, band, 1, y, alpha);
                }
                for p in (band.writes & both).iter() {
                    mix(band, p, y, [a, b, c], alpha);
                }
            }
        }
        if !rgb && band.writes.has(0) {
            for y in band.output.plane(0).rows() {
                a.copy_from_slice(band.output.plane(0).row(y));
                if over.is_some() {
                    alpha_row(&self.format, band, 0, y, alpha);
                }
                // Luma depends only on itself: the other weights are 0.
                mix(band, 0, y, [a, a, a], alpha);
            }
        }
    }

    /// Luma at the positions of chroma's row `y`; for RGB it is plane 0.
    fn luma<T: MatrixSample>(&self, out: &mut [T], y: usize, band: &Band<'_>) {
        let (sx, sy) = self.format.plane_subsampling(1);
        let plane = band.output.plane(0);
        // A band consists of whole blocks, so its last row of luma is that of the picture if a block is cut
        // off.
        let Some(last) = plane.rows().last() else { return };
        let rows = [0, 1, 2, 3].map(|i: usize| plane.row::<T>(((y << sy) + i).min(last)));
        mean_row(self.level, out, &rows[..1 << sy], sx.into());
    }
}

#[cfg(test)]
mod tests;
