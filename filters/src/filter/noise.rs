//! `noise`: fast, exactly repeatable white noise, as of an untuned receiver or a cheap sensor.
//!
//! Each colour plane gets independent noise at its own resolution, added to every sample. There is no state and no
//! sample depends on its neighbours, so the filter works in place on any band of rows in any order. Noise that is
//! correlated in space or time is also a function of the address, computed from several layers: see `field`.
//! Premultiplied colour gets the noise times alpha, which is that of the straight colour.

mod field;
mod settings;

use super::point::alpha_row;
use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::frame::{Alpha, Depth, Format, FrameTime, PlaneMut, PlaneSet, Scratch};
use crate::noise::lfsr31::Lfsr31;
use crate::noise::seed::Layer;
use crate::noise::{CycleStart, Distribution, Shape, ShapeError, Stream};
use crate::pixel::add::{
    NoiseGain, NoiseSample, add, add_f32, add_lfsr31, add_premultiplied, add_premultiplied_f32, can_fuse,
};
use crate::pixel::convert::Code;
use crate::pixel::field::FIELD_SD;
use crate::pixel::grain::rounded_sd;
use crate::settings::{Animated, SettingError, Values};
use crate::simd::Level;
use field::Field;
use settings::NoiseSpec;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<NoiseSpec>(
    "noise",
    "Noise",
    "Adds noise of the same strength everywhere: white, stretched or cloudy",
);

impl Spec for NoiseSpec {
    fn check(&mut self, given: &Values) -> Result<(), SettingError> {
        self.agree(given)
    }

    fn wants_16_bits(&self) -> bool {
        self.octaves > 1
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let refused = |e: ShapeError| SettingError::new("", e);
        let origin = self.register()?.unwrap_or(CycleStart::Seed(seed));
        let distribution = self.distribution();
        let shape = Shape::of(input, self.layout, distribution).map_err(refused)?;
        let source = if let Some(field) = &self.field_settings() {
            let stream = |sizes: &[(u32, u32)], layer| {
                let shape = Shape::new(sizes, self.layout, distribution)?;
                Stream::new(self.generator, &shape, origin, layer, level)
            };
            NoiseSource::Field(Field::new(input, field, stream).map_err(refused)?)
        } else {
            NoiseSource::White(
                Stream::new(self.generator, &shape, origin, Layer::BASE, level).map_err(refused)?,
            )
        };
        let mut noise = Noise {
            format: *input,
            strength: self.strength.clone(),
            kernel: None,
            source,
            monochrome: self.monochrome,
            level,
        };
        noise.kernel = self.strength.constant().map(|s| noise.kernel_of(s));
        Ok(noise.boxed())
    }
}

struct Noise {
    format: Format,
    strength: Animated,
    /// If the strength is constant.
    kernel: Option<RowKernel>,
    source: NoiseSource,
    monochrome: bool,
    level: Level,
}

/// The source of random numbers.
enum NoiseSource {
    White(Stream),
    Field(Field),
}

/// How a row gets its noise: chosen once, by generator, distribution, depth and strength.
#[derive(Clone, Copy)]
enum RowKernel {
    /// Words of `lfsr31` are generated and added in one pass.
    FusedU8(NoiseGain),
    FusedU16(NoiseGain),
    /// Numbers in a buffer are added.
    U8(NoiseGain),
    U16(NoiseGain),
    /// The factor of the numbers.
    F32(f32),
}

impl RowKernel {
    fn is_zero(self) -> bool {
        match self {
            RowKernel::F32(gain) => gain == 0.0,
            RowKernel::FusedU8(scale)
            | RowKernel::FusedU16(scale)
            | RowKernel::U8(scale)
            | RowKernel::U16(scale) => scale.is_zero(),
        }
    }
}

/// Rows per seek.
const ROWS: usize = 32;

impl Noise {
    fn kernel_of(&self, strength: f64) -> RowKernel {
        let deviation = match &self.source {
            NoiseSource::White(stream) => stream.distribution().deviation(),
            NoiseSource::Field(_) => FIELD_SD,
        };
        let Depth::Bits(bits) = self.format.depth else {
            return RowKernel::F32((strength / 255.0 / deviation) as f32);
        };
        let codes = strength * f64::from(1u32 << (bits - 8));
        let (scale, fused) = match &self.source {
            NoiseSource::White(stream) => {
                let distribution = stream.distribution();
                let scale = NoiseGain::new(distribution, codes);
                let fuses = stream.lfsr31().is_some() && !self.is_multiplied();
                (scale, fuses && can_fuse(self.level, distribution, scale))
            }
            NoiseSource::Field(_) => (NoiseGain::of_factor(rounded_sd(codes) / FIELD_SD), false),
        };
        match (bits, fused) {
            (8, true) => RowKernel::FusedU8(scale),
            (8, false) => RowKernel::U8(scale),
            (_, true) => RowKernel::FusedU16(scale),
            (_, false) => RowKernel::U16(scale),
        }
    }

    /// Whether colour is multiplied by alpha.
    fn is_multiplied(&self) -> bool {
        self.format.alpha == Alpha::Premultiplied
    }

    /// The length of a row of alpha, if colour is multiplied by it.
    fn alpha_len(&self) -> usize {
        if self.is_multiplied() { self.format.width as usize } else { 0 }
    }

    /// The plane whose numbers plane `p` uses.
    fn source(&self, p: usize) -> usize {
        let shared = self.monochrome && self.format.is_rgb() && self.format.alpha_plane() != Some(p);
        if shared { 0 } else { p }
    }

    fn legal<T: NoiseSample>(&self, p: usize) -> (T, T) {
        // Integer samples have legal codes.
        let (lo, hi) = self.format.legal(p).unwrap_or_default();
        (T::from_code(lo), T::from_code(hi))
    }

    /// Adds words of `lfsr31` to the rows of plane `p`.
    fn add_lfsr31<T: NoiseSample>(
        &self,
        plane: &mut PlaneMut<'_>,
        p: usize,
        (words, frame): (&Lfsr31, i64),
        (distribution, scale): (Distribution, NoiseGain),
    ) {
        let (frame, source, legal) = (words.frame(frame), self.source(p), self.legal::<T>(p));
        let rows = plane.rows();
        let mut states = [0; ROWS];
        for start in rows.clone().step_by(ROWS) {
            let states = &mut states[..(rows.end - start).min(ROWS)];
            frame.states(source, start as u32, states);
            for (y, state) in (start..).zip(states) {
                let lanes = frame.all_lanes(source, *state);
                add_lfsr31(self.level, plane.row_mut::<T>(y), &lanes, distribution, scale, legal);
            }
        }
    }

    /// Adds numbers `c | or` to row `y` of plane `p`. `alpha` has room for a row of a premultiplied plane.
    fn add(
        &self,
        band: &mut Band<'_>,
        (p, y): (usize, usize),
        kernel: RowKernel,
        (c, or): (&[i16], i16),
        alpha: &mut [f64],
    ) {
        if self.is_multiplied() && self.format.alpha_plane() != Some(p) {
            let alpha = &mut alpha[..self.format.plane_size(p).0];
            alpha_row(&self.format, band, p, y, alpha);
            let (plane, zero) = (band.output.plane_mut(p), Code::of(&self.format, p).zero.into());
            return match kernel {
                RowKernel::U8(scale) | RowKernel::FusedU8(scale) => {
                    add_premultiplied::<u8>(plane.row_mut(y), (c, or), alpha, scale, zero, self.legal(p));
                }
                RowKernel::U16(scale) | RowKernel::FusedU16(scale) => {
                    add_premultiplied::<u16>(plane.row_mut(y), (c, or), alpha, scale, zero, self.legal(p));
                }
                RowKernel::F32(gain) => add_premultiplied_f32(plane.row_mut(y), (c, or), alpha, gain),
            };
        }
        let plane = band.output.plane_mut(p);
        match kernel {
            RowKernel::U8(scale) | RowKernel::FusedU8(scale) => {
                add::<u8>(self.level, plane.row_mut(y), c, or, scale, self.legal(p));
            }
            RowKernel::U16(scale) | RowKernel::FusedU16(scale) => {
                add::<u16>(self.level, plane.row_mut(y), c, or, scale, self.legal(p));
            }
            RowKernel::F32(gain) => add_f32(self.level, plane.row_mut(y), c, or, gain),
        }
    }

    fn white(
        &self,
        stream: &Stream,
        (kernel, at): &(RowKernel, FrameTime),
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let (frame, distribution, block) = (stream.frame(at.index), stream.distribution(), stream.block());
        let ([alpha], scratch) = scratch.buffers_and_rest::<f64, 1>([self.alpha_len()]);
        for p in band.writes.iter() {
            let (width, source) = (self.format.plane_size(p).0, self.source(p));
            let plane = band.output.plane_mut(p);
            match (*kernel, stream.lfsr31()) {
                (RowKernel::FusedU8(scale), Some(words)) => {
                    self.add_lfsr31::<u8>(plane, p, (words, at.index), (distribution, scale));
                    continue;
                }
                (RowKernel::FusedU16(scale), Some(words)) => {
                    self.add_lfsr31::<u16>(plane, p, (words, at.index), (distribution, scale));
                    continue;
                }
                _ => {}
            }
            let whole = width.next_multiple_of(block);
            let sizes = [whole * distribution.words() as usize, whole];
            let [words, centred] = scratch.buffers::<u16, 2>(sizes);
            let centred: &mut [i16] = bytemuck::cast_slice_mut(centred);
            for y in plane.rows() {
                let numbers = if distribution == Distribution::UNIFORM {
                    frame.words(source, y as u32, words);
                    (&bytemuck::cast_slice(words)[..width], 1)
                } else {
                    frame.centred(source, y as u32, words, centred);
                    (&centred[..width], 0)
                };
                self.add(band, (p, y), *kernel, numbers, alpha);
            }
        }
    }

    fn field(
        &self,
        field: &Field,
        (kernel, at): &(RowKernel, FrameTime),
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let parts = field.parts(at);
        let ([alpha], scratch) = scratch.buffers_and_rest::<f64, 1>([self.alpha_len()]);
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (width, _) = self.format.plane_size(p);
            let [buffer, n] = scratch.buffers::<i32, 2>([field.buffer_len(p), width.div_ceil(2)]);
            let n = &mut bytemuck::cast_slice_mut::<i32, i16>(n)[..width];
            let mut rows = field.rows(&parts, p, self.source(p), self.level, buffer);
            for y in band.output.plane(p).rows() {
                rows.row(y, n);
                self.add(band, (p, y), *kernel, (n, 0), alpha);
            }
        }
    }
}

impl Render for Noise {
    type Params = (RowKernel, FrameTime);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let kernel = self.kernel.unwrap_or_else(|| self.kernel_of(self.strength.at(at)));
        if kernel.is_zero() {
            return None;
        }
        let on_request = self.format.alpha_planes();
        let luma = |p: &usize| !(self.monochrome && self.format.is_chroma(*p));
        let writes = self.format.color_planes().iter().filter(luma);
        let writes = writes.fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p));
        Some((Plan { on_request, ..Plan::in_place(writes) }, (kernel, *at)))
    }

    fn memory(&self) -> Memory {
        let width = self.format.plane_size(0).0;
        let alpha = 8 * self.alpha_len().next_multiple_of(8);
        match &self.source {
            NoiseSource::White(stream) => {
                let numbers = 1 + stream.distribution().words() as usize;
                let numbers = 2 * numbers * width.next_multiple_of(stream.block());
                Memory { fixed: 192 << 10, per_frame: numbers + alpha }
            }
            NoiseSource::Field(field) => {
                let rooms = (0..self.format.planes()).map(|p| field.buffer_len(p));
                let buffer = 4 * (rooms.max().unwrap_or(0) + width + 64);
                Memory { fixed: (192 << 10) + (field.streams() << 11), per_frame: buffer + alpha }
            }
        }
    }

    fn render(&self, now: &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        match &self.source {
            NoiseSource::White(stream) => self.white(stream, now, band, scratch),
            NoiseSource::Field(field) => self.field(field, now, band, scratch),
        }
    }
}

#[cfg(test)]
#[path = "noise/tests/field.rs"]
mod field_tests;
#[cfg(test)]
mod tests;
