//! From steps to a chain bound to a format.

use super::Step;
use crate::filter::convert::{self, Convert, ConvertError};
use crate::filter::dither::{Dither, Mode};
use crate::filter::{Filter, Memory, Render, Spec};
use crate::frame::{ColorRange, Depth, Family, FieldOrder, Format, Matrix, Parity, PlaneSet, Ranges};
use crate::noise::ShapeError;
use crate::noise::seed::filter_seed;
use crate::settings::{Animated, Planes, SettingError, Values};
use crate::simd::Level;
use core::fmt;

/// How interlaced pictures are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fields {
    /// As whole frames.
    Frame,
    /// As two half-height pictures, this one being earlier in time.
    First(Parity),
}

impl Fields {
    /// What the format's field order asks for. Where it changes from frame to frame, fields are right for both
    /// kinds, top first.
    pub fn of(order: FieldOrder) -> Fields {
        match order {
            FieldOrder::Unspecified | FieldOrder::Progressive => Fields::Frame,
            FieldOrder::TopFirst | FieldOrder::Mixed => Fields::First(Parity::Top),
            FieldOrder::BottomFirst => Fields::First(Parity::Bottom),
        }
    }
}

/// What a chain is bound with, besides steps and formats.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The user's seed.
    pub seed: u64,
    /// Instructions to use.
    pub level: Level,
    /// Number of the source's last frame, for keys that count from the end.
    pub last: Option<i64>,
    /// How interlaced pictures are filtered.
    pub fields: Fields,
}

/// Why a chain cannot be bound.
#[derive(Clone, PartialEq, Debug)]
pub enum ChainError {
    /// A filter refuses its settings.
    Setting {
        /// The filter's name.
        filter: &'static str,
        /// Its place in the chain, from 1.
        place: usize,
        /// What is wrong.
        error: SettingError,
    },
    /// The output's format cannot be made of what the filters give.
    Convert(ConvertError),
    /// No noise can be laid over pictures of this size.
    Shape(ShapeError),
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainError::Setting { filter, place, error } => {
                write!(f, "filter {place}, '{filter}': {error}")
            }
            ChainError::Convert(e) => e.fmt(f),
            ChainError::Shape(e) => e.fmt(f),
        }
    }
}

impl core::error::Error for ChainError {}

/// One filter, and what is done around it.
pub(super) struct Stage {
    /// One for whole frames, two (top, bottom) for fields.
    pub filters: Vec<Box<dyn Filter>>,
    pub enable: Option<Ranges>,
    pub planes: Option<PlaneSet>,
    pub opacity: Animated,
    /// Every frame has the number of frame 0.
    pub still: bool,
    /// What the whole frame is after this layer.
    pub output: Format,
    /// Whether a step of the recipe asks for it; the others only convert.
    pub asked: bool,
}

/// Filters in order, bound to a format; any frame can be run through it, on any thread.
pub struct Chain {
    pub(super) input: Format,
    pub(super) layers: Vec<Stage>,
    pub(super) fields: Fields,
    pub(super) level: Level,
    notes: Vec<String>,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("input", &self.input).field("layers", &self.layers.len()).finish()
    }
}

impl Chain {
    /// Binds `steps` to pictures of the format `input`; what comes out is asked of `target`, which is given the
    /// format that the filters make (at the source's depth) and answers with the one that is wanted.
    ///
    /// Filters work at the source's depth, or in 16 bits when one of them asks for it, when the output is shallower
    /// than the source, or when the last of them is a `dither`. Where the output is shallower than that, the chain ends
    /// with dither: as its last filter says if that is one, else uniform, which leaves exact codes as they are. A filter that
    /// works at the final depth ([`Spec::works_at_final_depth`]) has it before itself, too.
    pub fn bind<E: From<ChainError>>(
        steps: &[Step],
        input: Format,
        options: &Options,
        target: impl FnOnce(&Format) -> Result<Format, E>,
    ) -> Result<Chain, E> {
        let fail =
            |i: usize, error| ChainError::Setting { filter: steps[i].filter.name, place: i + 1, error };
        let mut specs = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let mut values = step.values.clone();
            values.resolve(options.last).map_err(|e| fail(i, e))?;
            specs.push((step.filter.build)(&values).map_err(|e| fail(i, e))?);
        }
        // The first binding finds out what the filters make of the picture; only then is the target, and with it
        // the working depth, known.
        let natural = steps.iter().zip(&specs).enumerate().try_fold(input, |format, (i, (_, spec))| {
            let bound = spec.bind(&format, 0, options.level).map_err(|e| fail(i, e))?;
            Ok::<_, ChainError>(*bound.output())
        })?;
        let target = target(&natural)?;

        let ending = final_dithering(steps, &specs).map_err(|(i, error)| fail(i, error))?;
        // Dither alone has nothing to do on what the source has exactly.
        let by_yuv =
            |step: &Step, format: &Format| format.is_rgb() && step.planes.is_some_and(Planes::name_yuv);
        let wants_16 = specs.iter().any(|s| s.wants_16_bits())
            || steps.iter().any(|s| by_yuv(s, &input))
            || (ending.is_some() && steps.len() > 1);
        let shallower = matches!((input.depth, target.depth), (Depth::Bits(a), Depth::Bits(b)) if b < a);
        let integer = matches!(input.depth, Depth::Bits(_));
        let work_depth = if integer && !steps.is_empty() && (wants_16 || shallower) {
            Depth::Bits(16)
        } else {
            input.depth
        };

        let fields = if has_fields(&input) && has_fields(&target) { options.fields } else { Fields::Frame };
        let mut chain = Chain { input, layers: Vec::new(), fields, level: options.level, notes: Vec::new() };
        chain.convert(Format { depth: work_depth, ..input })?;
        // Where nothing is lost or gained for it, nobody has to know in which depth the chain works.
        let unseen = !shallower && ending.is_none();
        if unseen {
            chain.notes.clear();
        }
        for (i, step) in steps.iter().enumerate() {
            for (setting, _) in step.values.iter_given().filter(|(_, value)| value.has_idle_mark()) {
                chain.notes.push(format!(
                    "filter {}, '{}': {}: the mark on the last key has no effect, because a mark applies from its \
                        key to the next; put it on an earlier key, as in '0c=0;48=1'",
                    i + 1,
                    step.filter.name,
                    setting.id
                ));
            }
        }
        let mut before: Vec<&str> = Vec::new();
        let mut lent: Option<Format> = None;
        let mut settled = false;
        for (i, (step, spec)) in steps.iter().zip(&specs).enumerate() {
            let name = step.filter.name;
            let nth = before.iter().filter(|n| **n == name).count() as u64;
            before.push(name);
            let seed = step.values.seed().unwrap_or_else(|| filter_seed(options.seed, name, nth));
            // Luma and colour differences of R, G and B are lent: converted for the steps that name them, and back.
            match lent {
                None if by_yuv(step, chain.output()) => {
                    lent = Some(*chain.output());
                    chain.convert(as_yuv(chain.output()))?;
                }
                Some(rgb) if !by_yuv(step, &rgb) => {
                    chain.convert(Format { depth: chain.output().depth, ..rgb })?;
                    lent = None;
                }
                _ => {}
            }
            let to = if spec.works_at_final_depth() { target.depth } else { work_depth };
            if settled || spec.works_at_final_depth() {
                let seed = filter_seed(options.seed, "depth", i as u64);
                chain.settle_depth(to, ending, seed)?;
            }
            settled = spec.works_at_final_depth();
            let input = *chain.output();
            if input.family == Family::Gray && step.planes.is_some_and(Planes::name_chroma_only) {
                chain.notes.push(format!(
                    "filter {}, '{name}': skipped, because a grey picture has no colour",
                    i + 1
                ));
                continue;
            }
            let mut filters = Vec::new();
            for format in pictures(&input, fields) {
                filters.push(spec.bind(&format, seed, options.level).map_err(|e| fail(i, e))?);
            }
            let output = Format { picture: input.picture, ..*filters[0].output() };
            let opacity = step
                .opacity
                .resolve(options.last)
                .map_err(|e| fail(i, SettingError { setting: "opacity", problem: e.to_string() }))?;
            let planes = step.planes.map(|p| p.resolve(&input));
            if planes.is_some_and(PlaneSet::is_empty) {
                let named = step.planes.map_or_else(String::new, |p| p.to_string());
                let problem = format!("{} has no plane '{named}'", input.name());
                return Err(fail(i, SettingError { setting: "planes", problem }).into());
            }
            if (step.planes.is_some() || opacity.constant() != Some(1.0)) && !output.same_samples(&input) {
                let setting = if step.planes.is_some() { "planes" } else { "opacity" };
                let problem =
                    "this filter changes the size or format of the picture, so enable, planes and opacity do not \
                        apply".into();
                return Err(fail(i, SettingError { setting, problem }).into());
            }
            let (enable, still) = (step.enable.clone(), step.values.is_static());
            chain.layers.push(Stage { filters, enable, planes, opacity, still, output, asked: true });
        }
        let made = *chain.output();
        let target = Format { rate: made.rate, aspect: made.aspect, fields: made.fields, ..target };
        // A last filter that only says how to end is the one that ends; any other draws noise of its own.
        let only = specs.last().and_then(|s| s.final_dithering()).is_some_and(|(_, only)| only);
        let nth = before.iter().filter(|n| **n == "dither").count() - usize::from(only);
        let asked = steps.last().map(|last| &last.values);
        let seed = asked.filter(|_| only).and_then(Values::seed);
        let seed = seed.unwrap_or_else(|| filter_seed(options.seed, "dither", nth as u64));
        // Where nothing else changes from frame to frame, rounding does not either.
        let all_still = !steps.is_empty() && steps.iter().all(|s| s.values.is_static());
        let still = all_still || (ending.is_some() && asked.is_some_and(Values::is_static));
        chain.finish(target, (ending.unwrap_or(Mode::Uniform), unseen), seed, still)?;
        Ok(chain)
    }

    /// Brings integer samples to the depth that a step works at, unannounced.
    fn settle_depth(&mut self, depth: Depth, ending: Option<Mode>, seed: u64) -> Result<(), ChainError> {
        let now = *self.output();
        if now.depth == depth || now.depth == Depth::Float || depth == Depth::Float {
            return Ok(());
        }
        let notes = self.notes.len();
        self.finish(Format { depth, ..now }, (ending.unwrap_or(Mode::Uniform), true), seed, false)?;
        self.notes.truncate(notes);
        Ok(())
    }

    /// Ends with the format `to`: where depth is lost, everything else is converted first, in 16 bits.
    fn finish(
        &mut self,
        to: Format,
        (mode, unseen): (Mode, bool),
        seed: u64,
        still: bool,
    ) -> Result<(), ChainError> {
        let from = *self.output();
        let shrinks = match (from.depth, to.depth) {
            (Depth::Bits(a), Depth::Bits(b)) => b < a,
            (Depth::Float, Depth::Bits(b)) => b < 16,
            (_, Depth::Float) => false,
        };
        if !shrinks || mode == Mode::None {
            return self.convert(to);
        }
        let same = Format { depth: from.depth, ..to };
        let deep = if same == from && from.depth != Depth::Float {
            from
        } else {
            Format { depth: Depth::Bits(16), ..to }
        };
        self.convert(deep)?;
        let mut filters: Vec<Box<dyn Filter>> = Vec::new();
        for (a, b) in pictures(&deep, self.fields).zip(pictures(&to, self.fields)) {
            let dither = Dither::new(&a, &b, mode, seed, self.level).map_err(ChainError::Shape)?;
            if filters.is_empty() && !(unseen && deep == from) {
                self.notes.push(dither.describe());
            }
            filters.push(dither.boxed());
        }
        self.always(filters, still, to);
        Ok(())
    }

    /// A layer of our own, that no setting of the chain's touches.
    fn always(&mut self, filters: Vec<Box<dyn Filter>>, still: bool, output: Format) {
        self.layers.push(Stage {
            filters,
            enable: None,
            planes: None,
            opacity: Animated::Constant(1.0),
            still,
            output,
            asked: false,
        });
    }

    fn convert(&mut self, to: Format) -> Result<(), ChainError> {
        let from = *self.output();
        if from == to {
            return Ok(());
        }
        let first = |f: &Format| pictures(f, self.fields).next().unwrap_or(*f);
        let whole = Convert::new(&first(&from), &first(&to), self.level).map_err(ChainError::Convert)?;
        self.notes.push(whole.describe());
        let mut before = from;
        for to in convert::path(&from, &to).map_err(ChainError::Convert)? {
            let steps = pictures(&before, self.fields).zip(pictures(&to, self.fields));
            let filters = steps.map(|(a, b)| convert::bind(&a, &b, self.level)).collect::<Result<_, _>>();
            self.always(filters.map_err(ChainError::Convert)?, false, to);
            before = to;
        }
        Ok(())
    }

    /// What goes in.
    pub fn input(&self) -> &Format {
        &self.input
    }

    /// What comes out.
    pub fn output(&self) -> &Format {
        self.layers.last().map_or(&self.input, |l| &l.output)
    }

    /// Whether a frame follows from those before it: one of the filters is a simulation.
    pub fn is_simulation(&self) -> bool {
        self.layers.iter().flat_map(|l| &l.filters).any(|f| f.is_simulation())
    }

    /// Conversions that happen, one line each, to be announced.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// An upper bound of what it needs beside the source's frame.
    pub fn memory(&self) -> Memory {
        let mut total = Memory::default();
        let mut largest = 0;
        for layer in &self.layers {
            for m in layer.filters.iter().map(|f| f.memory()) {
                total.fixed += m.fixed;
                total.per_frame += m.per_frame;
            }
            largest = largest.max(padded_bytes(&layer.output));
        }
        // Two frames to go back and forth between, where anything is not done in place.
        if !self.layers.is_empty() {
            total.per_frame += 2 * largest;
        }
        total
    }
}

/// R, G and B as Y, U and V: nothing is lost but by the rounding of 16 bits.
fn as_yuv(rgb: &Format) -> Format {
    let depth = if rgb.depth == Depth::Float { Depth::Float } else { Depth::Bits(16) };
    let (family, matrix, range) = (Family::Yuv, Matrix::BT709, ColorRange::Full);
    Format { family, matrix, range, depth, ..*rgb }
}

/// What the last filter says about how depth is reduced; refuses a `dither` that could not do what it is asked for.
fn final_dithering(steps: &[Step], specs: &[Box<dyn Spec>]) -> Result<Option<Mode>, (usize, SettingError)> {
    let mut last = None;
    for (i, (step, spec)) in steps.iter().zip(specs).enumerate() {
        let Some((mode, only)) = spec.final_dithering() else { continue };
        let fail = |setting, problem: &str| Err((i, SettingError { setting, problem: problem.into() }));
        if i + 1 == steps.len() {
            last = Some(mode);
        } else if only {
            return fail(
                "bits",
                "only the last filter can omit them: give bits, or move the filter to the end",
            );
        }
        let part = [
            ("enable", step.enable.is_some()),
            ("planes", step.planes.is_some()),
            ("opacity", step.opacity.constant() != Some(1.0)),
        ];
        if let Some((setting, _)) = part.into_iter().find(|(_, given)| *given) {
            return fail(setting, "all frames and planes need the same depth: leave this out");
        }
    }
    Ok(last)
}

fn padded_bytes(format: &Format) -> usize {
    (0..format.planes())
        .map(|p| format.plane_size(p))
        .map(|(w, h)| (w * format.depth.bytes()).next_multiple_of(64) * h)
        .sum()
}

/// Whether every plane has a row of either field.
fn has_fields(format: &Format) -> bool {
    (0..format.planes()).all(|p| format.plane_size(p).1 >= 2)
}

/// The pictures that a frame is filtered as: itself, or its top and bottom field.
fn pictures(format: &Format, fields: Fields) -> impl Iterator<Item = Format> + use<> {
    let format = *format;
    let list = match fields {
        Fields::Frame => vec![format],
        Fields::First(_) => vec![format.field(Parity::Top), format.field(Parity::Bottom)],
    };
    list.into_iter()
}
