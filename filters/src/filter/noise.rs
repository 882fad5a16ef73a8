//! `noise`: fast, white, exactly repeatable noise, as on an untuned receiver or a cheap sensor.
//!
//! Each colour plane gets noise of its own, drawn at the plane's own resolution and added to every sample. Nothing is
//! prepared and no neighbour is looked at, so it works in place on any band of rows in any order.

use super::{Band, Entry, Filter, Memory, Plan, Spec, State};
use crate::frame::{Depth, Format, Moment, PlaneSet, Scratch};
use crate::noise::seed::Layer;
use crate::noise::{Generator, Law, Layout, Origin, Place, Shape, ShapeError, Stream};
use crate::pixel::add::{Noise as Row, Scale, add_f32, add_lfsr31_u8, add_lfsr31_u16, add_u8, add_u16};
use crate::settings::{Animated, Choice, Kind, Setting, SettingError, Unit, Value, Values};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry {
    name: "noise",
    label: "Noise",
    help: "Adds white noise, new in every frame, of the same strength everywhere",
    settings: SETTINGS,
    build,
};

const SETTINGS: &[Setting] = &[
    Setting {
        id: "strength",
        label: "Strength",
        help: "How strong: the standard deviation of the noise in 8-bit code values, whatever the distribution and \
               the depth. 2 is barely seen, 6 is plain, 20 is a bad receiver.",
        kind: Kind::Number { min: 0.0, max: 255.0 },
        unit: Unit::Code8,
        default: Some(Value::Number(Animated::Constant(6.0))),
    },
    Setting {
        id: "distribution",
        label: "Distribution",
        help: "How often small and large values come.",
        kind: Kind::Choice(&[
            Choice { id: "uniform", help: "all values within +-1.73 strengths equally often; the fastest" },
            Choice { id: "binomial", help: "a sum of `samples` uniform numbers: near to a bell curve" },
            Choice { id: "gaussian", help: "a bell curve, nearer to it than binomial and faster" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("uniform")),
    },
    Setting {
        id: "samples",
        label: "Samples",
        help: "How many uniform numbers a binomial sums: 2 is a triangle, more come nearer to a bell curve and cost \
               as much more.",
        kind: Kind::Whole { min: 2, max: 16 },
        unit: Unit::None,
        default: Some(Value::Whole(4)),
    },
    Setting {
        id: "seed",
        label: "Seed",
        help: "Another number gives other noise of the same kind. When absent it follows from the render's seed and \
               this filter's place in the chain.",
        kind: Kind::Seed,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "generator",
        label: "Generator",
        help: "Where the random numbers come from.",
        kind: Kind::Choice(&[
            Choice { id: "lfsr31", help: "shift registers of 31 bits: the fastest" },
            Choice { id: "xs64", help: "registers of 64 bits, whose numbers stand up to any statistics" },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("lfsr31")),
    },
    Setting {
        id: "state",
        label: "Register state",
        help: "Starts the shift register lfsr31 at this very state (32 bits, of which the lower 31 count) in place of \
               one made from a seed. When absent the seed decides.",
        kind: Kind::Seed,
        unit: Unit::None,
        default: None,
    },
    Setting {
        id: "static",
        label: "Static",
        help: "Every frame gets the noise of frame 0, as dirt on a lens.",
        kind: Kind::Switch,
        unit: Unit::None,
        default: Some(Value::Switch(false)),
    },
    Setting {
        id: "layout",
        label: "Layout",
        help: "How rows of pixels are laid over the cycle of lfsr31.",
        kind: Kind::Choice(&[
            Choice { id: "keyed", help: "each row at a hashed place: frames never echo each other" },
            Choice {
                id: "sequential",
                help: "one row behind the other, as a tape; an echo of the picture comes back after 2^27 words (65 \
                       frames of 1080p luma)",
            },
        ]),
        unit: Unit::None,
        default: Some(Value::Choice("keyed")),
    },
];

struct NoiseSpec {
    strength: Animated,
    law: Law,
    generator: Generator,
    seed: Option<u64>,
    state: Option<u32>,
    fixed: bool,
    layout: Layout,
}

fn err<T>(setting: &'static str, problem: impl Into<String>) -> Result<T, SettingError> {
    Err(SettingError { setting, problem: problem.into() })
}

fn build(values: &Values) -> Result<Box<dyn Spec>, SettingError> {
    let distribution = values.choice("distribution");
    if distribution != "binomial" && values.given("samples").is_some() {
        return err(
            "samples",
            "only a binomial has samples: give distribution=binomial too, or leave it out",
        );
    }
    let law = match distribution {
        "binomial" => Law::Sum(values.whole("samples") as u32),
        "gaussian" => Law::H8,
        _ => Law::UNIFORM,
    };
    let generator = match values.choice("generator") {
        "xs64" => Generator::Xs64,
        _ => Generator::Lfsr31,
    };
    if generator != Generator::Lfsr31 {
        for id in ["state", "layout"] {
            if values.given(id).is_some() {
                return err(id, "only lfsr31 has it: give generator=lfsr31, or leave it out");
            }
        }
    }
    let layout = match values.choice("layout") {
        "sequential" => Layout::Sequential,
        _ => Layout::Keyed,
    };
    let seed = values.seed("seed");
    let (state, fixed) = (state(values)?, values.switch("static"));
    Ok(Box::new(NoiseSpec {
        strength: values.number("strength"),
        law,
        generator,
        seed,
        state,
        fixed,
        layout,
    }))
}

fn state(values: &Values) -> Result<Option<u32>, SettingError> {
    let Some(wide) = values.seed("state") else { return Ok(None) };
    if values.given("seed").is_some() {
        return err("state", "stands in the place of the seed: give one of the two");
    }
    let Ok(state) = u32::try_from(wide) else {
        return err("state", format!("{wide:#x} has more than 32 bits"));
    };
    match Origin::State(state).state() {
        Ok(_) => Ok(Some(state)),
        Err(e) => err("state", e.to_string()),
    }
}

impl Spec for NoiseSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let whole = |e: ShapeError| SettingError { setting: "", problem: e.to_string() };
        let origin = self.state.map_or(Origin::Seed(self.seed.unwrap_or(seed)), Origin::State);
        let shape = Shape::of(input, self.layout, self.law).map_err(whole)?;
        let stream = Stream::new(self.generator, &shape, origin, Layer::BASE, level).map_err(whole)?;
        Ok(Box::new(Noise {
            format: *input,
            strength: self.strength.clone(),
            scale: self.strength.constant().map(|s| Gain::new(self.law, input.depth, s)),
            stream,
            fixed: self.fixed,
            level,
        }))
    }
}

/// What a centred number is multiplied by.
#[derive(Clone, Copy)]
enum Gain {
    Whole(Scale),
    Float(f32),
}

impl Gain {
    fn new(law: Law, depth: Depth, strength: f64) -> Gain {
        match depth {
            Depth::Bits(bits) => Gain::Whole(Scale::new(law, strength * f64::from(1u32 << (bits - 8)))),
            Depth::Float => Gain::Float((strength / 255.0 / law.deviation()) as f32),
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
    /// When the strength never changes.
    scale: Option<Gain>,
    stream: Stream,
    fixed: bool,
    level: Level,
}

/// Rows sought at a time.
const ROWS: usize = 32;

/// Words made at a time: few enough to stay in the first cache beside the row, enough that starting again is nothing.
const CHUNK: usize = 8192;

impl Noise {
    fn gain(&self, at: &Moment) -> Gain {
        self.scale.unwrap_or_else(|| Gain::new(self.stream.law(), self.format.depth, self.strength.at(at)))
    }
}

impl Filter for Noise {
    fn output(&self) -> &Format {
        &self.format
    }

    fn plan(&self, at: &Moment) -> Plan {
        if self.gain(at).is_zero() {
            return Plan::IDLE;
        }
        let on_request = self.format.alpha_plane().map_or(PlaneSet::NONE, PlaneSet::one);
        Plan { on_request, ..Plan::in_place(self.format.color_planes()) }
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 192 << 10, per_frame: 4 * CHUNK }
    }

    fn render(&self, at: &Moment, _: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let gain = self.gain(at);
        let frame = self.stream.frame(if self.fixed { 0 } else { at.index });
        let (law, block) = (self.stream.law(), self.stream.block());
        // Pixels of a chunk, whole blocks of them.
        let pixels = CHUNK / law.words() as usize / block * block;
        let [words, centred] = scratch.buffers::<u16, 2>([pixels * law.words() as usize, pixels]);
        let centred: &mut [i16] = bytemuck::cast_slice_mut(centred);
        for p in band.writes.iter() {
            let (width, _) = self.format.plane_size(p);
            let legal = self.format.legal(p);
            let plane = band.output.plane_mut(p);
            let mut places = [Place::default(); ROWS];
            for (i, y) in plane.rows().enumerate() {
                if i % ROWS == 0 {
                    let left = (plane.rows().end - y).min(ROWS);
                    frame.places(p, y as u32, &mut places[..left]);
                }
                let mut place = frame.at(p, places[i % ROWS]);
                if let (Gain::Whole(scale), Some(legal)) = (gain, legal)
                    && let Some(lanes) = place.lfsr31()
                    && match self.format.depth {
                        Depth::Bits(8) => {
                            let legal = (legal.0 as u8, legal.1 as u8);
                            add_lfsr31_u8(self.level, plane.row_mut(y), lanes, law, scale, legal)
                        }
                        _ => add_lfsr31_u16(self.level, plane.row_mut(y), lanes, law, scale, legal),
                    }
                {
                    continue;
                }
                for start in (0..width).step_by(pixels) {
                    let count = pixels.min(width - start);
                    let whole = count.next_multiple_of(block);
                    let noise = if law == Law::UNIFORM {
                        place.words(&mut words[..whole]);
                        Row::Words(&words[..count])
                    } else {
                        place.centred(words, &mut centred[..whole]);
                        Row::Centred(&centred[..count])
                    };
                    let here = start..start + count;
                    match (gain, legal, self.format.depth) {
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
            }
        }
    }
}

#[cfg(test)]
mod tests;
