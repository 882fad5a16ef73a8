//! `noise`: fast, exactly repeatable white noise, as of an untuned receiver or a cheap sensor.
//!
//! Each colour plane gets independent noise at its own resolution, added to every sample. There is no state and no
//! sample depends on its neighbours, so the filter works in place on any band of rows in any order. Noise that is
//! correlated in space or time is also a function of the address, computed from several layers: see `field`.

mod field;
mod settings;

use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, PlaneMut, PlaneSet, Scratch};
use crate::noise::seed::Layer;
use crate::noise::{CycleStart, Distribution, RowStart, Shape, ShapeError, Stream};
use crate::pixel::add::{Noise as Row, Scale, add_f32, add_lfsr31_u8, add_lfsr31_u16, add_u8, add_u16};
use crate::pixel::field::DEVIATION;
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
        let whole = |e: ShapeError| SettingError { setting: "", problem: e.to_string() };
        let origin = self.register()?.unwrap_or(CycleStart::Seed(seed));
        let distribution = self.distribution();
        let shape = Shape::of(input, self.layout, distribution).map_err(whole)?;
        let source = if let Some(field) = &self.field_settings() {
            let stream = |sizes: &[(u32, u32)], layer| {
                let shape = Shape::new(sizes, self.layout, distribution)?;
                Stream::new(self.generator, &shape, origin, layer, level)
            };
            NoiseSource::Field(Field::new(input, field, stream).map_err(whole)?)
        } else {
            NoiseSource::White(
                Stream::new(self.generator, &shape, origin, Layer::BASE, level).map_err(whole)?,
            )
        };
        let mut noise = Noise {
            format: *input,
            strength: self.strength.clone(),
            scale: None,
            distribution,
            source,
            monochrome: self.monochrome,
            level,
        };
        noise.scale = self.strength.constant().map(|s| noise.gain_of(s));
        Ok(noise.boxed())
    }
}

/// The factor of a centred random number.
#[derive(Clone, Copy)]
enum Gain {
    Whole(Scale),
    Float(f32),
}

impl Gain {
    fn new(distribution: Distribution, depth: Depth, strength: f64) -> Gain {
        match depth {
            Depth::Bits(bits) => {
                Gain::Whole(Scale::new(distribution, strength * f64::from(1u32 << (bits - 8))))
            }
            Depth::Float => Gain::Float((strength / 255.0 / distribution.deviation()) as f32),
        }
    }

    /// The same for the approximately normal values of a field.
    fn of_field(depth: Depth, strength: f64) -> Gain {
        match depth {
            Depth::Bits(bits) => {
                let codes = rounded_sd(strength * f64::from(1u32 << (bits - 8)));
                Gain::Whole(Scale::of_factor(codes / DEVIATION))
            }
            Depth::Float => Gain::Float((strength / 255.0 / DEVIATION) as f32),
        }
    }

    fn is_zero(self) -> bool {
        match self {
            Gain::Whole(scale) => scale.is_zero(),
            Gain::Float(gain) => gain == 0.0,
        }
    }
}

struct Noise {
    format: Format,
    strength: Animated,
    /// If the strength is constant.
    scale: Option<Gain>,
    distribution: Distribution,
    source: NoiseSource,
    monochrome: bool,
    level: Level,
}

/// The source of random numbers.
enum NoiseSource {
    White(Stream),
    Field(Field),
}

/// Rows per seek.
const ROWS: usize = 32;

/// Words generated at a time: few enough to fit in the L1 cache beside the row, enough to make the cost of a restart
/// negligible.
const CHUNK: usize = 8192;

impl Noise {
    fn gain_of(&self, strength: f64) -> Gain {
        match self.source {
            NoiseSource::White(_) => Gain::new(self.distribution, self.format.depth, strength),
            NoiseSource::Field(_) => Gain::of_field(self.format.depth, strength),
        }
    }

    fn gain(&self, at: &FrameTime) -> Gain {
        self.scale.unwrap_or_else(|| self.gain_of(self.strength.at(at)))
    }

    /// The plane whose numbers plane `p` uses.
    fn source(&self, p: usize) -> usize {
        let shared = self.monochrome && self.format.is_rgb() && self.format.alpha_plane() != Some(p);
        if shared { 0 } else { p }
    }

    /// Adds the noise of a part of row `y` that begins at sample `start`.
    fn add(
        &self,
        plane: &mut PlaneMut<'_>,
        p: usize,
        (y, start): (usize, usize),
        noise: Row<'_>,
        gain: Gain,
    ) {
        let here = start..start + noise.len();
        match (gain, self.format.legal(p), self.format.depth) {
            (Gain::Whole(scale), Some((lo, hi)), Depth::Bits(8)) => {
                let row = &mut plane.row_mut::<u8>(y)[here];
                add_u8(self.level, row, noise, scale, (lo as u8, hi as u8));
            }
            (Gain::Whole(scale), Some(legal), _) => {
                add_u16(self.level, &mut plane.row_mut(y)[here], noise, scale, legal);
            }
            (Gain::Float(gain), _, _) => {
                add_f32(self.level, &mut plane.row_mut(y)[here], noise, gain);
            }
            (Gain::Whole(_), None, _) => unreachable!("integer samples have legal codes"),
        }
    }

    fn field(
        &self,
        field: &Field,
        (gain, at): &(Gain, FrameTime),
        band: &mut Band<'_>,
        scratch: &mut Scratch,
    ) {
        let parts = field.parts(at);
        for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
            let (width, _) = self.format.plane_size(p);
            let [buffer, n] = scratch.buffers::<i32, 2>([field.buffer_len(p), width.div_ceil(2)]);
            let n = &mut bytemuck::cast_slice_mut::<i32, i16>(n)[..width];
            let mut rows = field.rows(&parts, p, self.source(p), self.level, buffer);
            let plane = band.output.plane_mut(p);
            for y in plane.rows() {
                rows.row(y, n);
                self.add(plane, p, (y, 0), Row::Centred(n), *gain);
            }
        }
    }
}

impl Render for Noise {
    type Params = (Gain, FrameTime);
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)> {
        let gain = self.gain(at);
        if gain.is_zero() {
            return None;
        }
        let on_request = self.format.alpha_planes();
        let luma = |p: &usize| !(self.monochrome && self.format.is_chroma(*p));
        let writes = self.format.color_planes().iter().filter(luma);
        let writes = writes.fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p));
        Some((Plan { on_request, ..Plan::in_place(writes) }, (gain, *at)))
    }

    fn memory(&self) -> Memory {
        match &self.source {
            NoiseSource::White(_) => Memory { fixed: 192 << 10, per_frame: 4 * CHUNK },
            NoiseSource::Field(field) => {
                let rooms = (0..self.format.planes()).map(|p| field.buffer_len(p));
                let buffer = 4 * (rooms.max().unwrap_or(0) + self.format.plane_size(0).0 + 64);
                Memory { fixed: (192 << 10) + (field.streams() << 11), per_frame: buffer }
            }
        }
    }

    fn render(&self, now: &Self::Params, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let stream = match &self.source {
            NoiseSource::White(stream) => stream,
            NoiseSource::Field(field) => return self.field(field, now, band, scratch),
        };
        let (gain, frame) = (now.0, stream.frame(now.1.index));
        let (distribution, block) = (stream.distribution(), stream.block());
        // Pixels of a chunk, in whole blocks.
        let pixels = CHUNK / distribution.words() as usize / block * block;
        let [words, centred] = scratch.buffers::<u16, 2>([pixels * distribution.words() as usize, pixels]);
        let centred: &mut [i16] = bytemuck::cast_slice_mut(centred);
        for p in band.writes.iter() {
            let (width, _) = self.format.plane_size(p);
            let legal = self.format.legal(p);
            let source = self.source(p);
            let plane = band.output.plane_mut(p);
            let mut places = [RowStart::default(); ROWS];
            for (i, y) in plane.rows().enumerate() {
                if i % ROWS == 0 {
                    let left = (plane.rows().end - y).min(ROWS);
                    frame.row_starts(source, y as u32, &mut places[..left]);
                }
                let mut place = frame.at(source, places[i % ROWS]);
                if let (Gain::Whole(scale), Some(legal)) = (gain, legal)
                    && let Some(lanes) = place.lfsr31()
                    && match self.format.depth {
                        Depth::Bits(8) => {
                            let legal = (legal.0 as u8, legal.1 as u8);
                            add_lfsr31_u8(self.level, plane.row_mut(y), lanes, distribution, scale, legal)
                        }
                        _ => add_lfsr31_u16(self.level, plane.row_mut(y), lanes, distribution, scale, legal),
                    }
                {
                    continue;
                }
                for start in (0..width).step_by(pixels) {
                    let count = pixels.min(width - start);
                    let whole = count.next_multiple_of(block);
                    let noise = if distribution == Distribution::UNIFORM {
                        place.words(&mut words[..whole]);
                        Row::Words(&words[..count])
                    } else {
                        place.centred(words, &mut centred[..whole]);
                        Row::Centred(&centred[..count])
                    };
                    self.add(plane, p, (y, start), noise, gain);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "noise/tests/field.rs"]
mod field_tests;
#[cfg(test)]
mod tests;
