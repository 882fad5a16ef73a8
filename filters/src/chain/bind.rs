//! Binds the steps of a recipe to a format, which makes a chain.

use super::Step;
use super::bound::{Chain, Fields, Mask, Options, Stage};
use crate::filter::convert::{self, Convert, ConvertError};
use crate::filter::dither::{Dither, Mode};
use crate::filter::{Filter, Render, Spec};
use crate::frame::{ColorRange, Depth, Family, Format, Matrix, Parity, Spans, Transfer};
use crate::noise::ShapeError;
use crate::noise::seed::filter_seed;
use crate::settings::common::{ENABLE, OPACITY, PLANES};
use crate::settings::{Planes, SettingError, Values};

/// Why a chain cannot be bound.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ChainError {
    /// A filter rejects its settings.
    #[error("filter {place}, '{filter}': {error}")]
    Setting {
        /// The filter's name.
        filter: &'static str,
        /// Its position in the chain, from 1.
        place: usize,
        /// What is wrong.
        error: SettingError,
    },
    /// The filters' result cannot be converted to the output format.
    #[error("{0}")]
    Convert(ConvertError),
    /// The filters change the size, but the output must have another one.
    #[error(
        "the filters make the picture {}x{}, but here it must stay {}x{}: leave out what changes the size, or restore \
         it with a last scale=width={}:height={}",
        .0.0, .0.1, .1.0, .1.1, .1.0, .1.1
    )]
    Size((u32, u32), (u32, u32)),
    /// Noise cannot be generated for pictures of this size.
    #[error("{0}")]
    Shape(ShapeError),
}

impl Chain {
    /// Binds `steps` to pictures of the format `input`. `target` chooses the output format: it receives the format that
    /// the filters make (at the source's depth) and returns the wanted one.
    ///
    /// Filters work at the source's depth, or in 16 bits when
    /// - one of them requires it,
    /// - the output is shallower than the source,
    /// - one names luma or chroma of RGB, or
    /// - the last of several is a `dither`.
    ///
    /// If the output is shallower than the working depth, the chain ends with dither: as the last filter sets it if
    /// that is a `dither`, else `uniform`, which does not change exact codes. A filter that works at the final depth
    /// ([`Spec::works_at_final_depth`]) gets input of that depth, too.
    ///
    /// # Errors
    /// The error of `target`, or a [`ChainError`].
    pub fn bind<E: From<ChainError>>(
        steps: &[Step],
        input: Format,
        options: &Options,
        target: impl FnOnce(&Format) -> Result<Format, E>,
    ) -> Result<Chain, E> {
        let mut specs = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let mut values = step.values.clone();
            values.resolve(options.first, options.last).map_err(|e| rejected(steps, i, e))?;
            specs.push((step.filter.build)(&values).map_err(|e| rejected(steps, i, e))?);
        }
        let filtered = specs.iter().fold(input, |format, spec| spec.output_format(&format));
        Ok(Binding::new(steps, &specs, input, target(&filtered)?, options)?.bind()?)
    }
}

/// The error of step `i`.
fn rejected(steps: &[Step], i: usize, error: SettingError) -> ChainError {
    ChainError::Setting { filter: steps[i].filter.name, place: i + 1, error }
}

/// A chain whose steps are bound one after the other.
struct Binding<'a> {
    chain: Chain,
    steps: &'a [Step],
    specs: &'a [Box<dyn Spec>],
    options: &'a Options,
    target: Format,
    work_depth: Depth,
    /// The mode of the last filter if that is a `dither`.
    final_dither: Option<Mode>,
    /// The result does not depend on the working depth, so its conversions are not announced.
    depth_change_is_internal: bool,
    /// The format of RGB pictures that are YUV for the steps that name luma or colour differences.
    rgb_to_restore: Option<Format>,
    /// The step before works at the final depth.
    at_final_depth: bool,
}

impl<'a> Binding<'a> {
    fn new(
        steps: &'a [Step],
        specs: &'a [Box<dyn Spec>],
        input: Format,
        target: Format,
        options: &'a Options,
    ) -> Result<Binding<'a>, ChainError> {
        let final_dither = final_dithering(steps, specs).map_err(|(i, error)| rejected(steps, i, error))?;
        // A chain of `dither` alone has nothing to do when the output can hold the source exactly.
        let wants_16 = specs.iter().any(|s| s.wants_16_bits())
            || steps.iter().any(|s| works_in_yuv(s, &input))
            || (final_dither.is_some() && steps.len() > 1);
        let shallower = matches!((input.depth, target.depth), (Depth::Bits(a), Depth::Bits(b)) if b < a);
        let integer = matches!(input.depth, Depth::Bits(_));
        let deep = integer && !steps.is_empty() && (wants_16 || shallower);
        // What filters make beyond black and white is not cut off where the output has room for it.
        let open = integer && target.depth == Depth::Float && specs.iter().any(|s| s.wants_16_bits());
        let work_depth = if open { Depth::Float } else { Depth::Bits(16) };
        let fields = if has_fields(&input) && has_fields(&target) { options.fields } else { Fields::Frame };
        Ok(Binding {
            chain: Chain { input, stages: Vec::new(), fields, level: options.level, notes: Vec::new() },
            steps,
            specs,
            options,
            target,
            work_depth: if deep { work_depth } else { input.depth },
            final_dither,
            depth_change_is_internal: !shallower && final_dither.is_none(),
            rgb_to_restore: None,
            at_final_depth: false,
        })
    }

    fn bind(mut self) -> Result<Chain, ChainError> {
        self.convert(Format { depth: self.work_depth, ..self.chain.input })?;
        if self.depth_change_is_internal {
            self.chain.notes.clear();
        }
        self.note_idle_curves();
        for i in 0..self.steps.len() {
            self.step(i)?;
        }
        self.finish()?;
        Ok(self.chain)
    }

    /// Notes on curves of which a part has no effect.
    fn note_idle_curves(&mut self) {
        let (first, last) = (self.options.first, self.options.last);
        for (i, step) in self.steps.iter().enumerate() {
            for (setting, value) in step.iter_given() {
                let why = if value.has_idle_mark() {
                    "the mark on the last key has no effect, because a mark applies from its key to the next; put it \
                     on an earlier key, as in '0c=0;48=1'"
                        .to_owned()
                } else if value.has_passed(first, last) {
                    format!(
                        "the curve does not move, because all its keys lie before the first frame, which is number \
                         {first}: keys in seconds ('0s=0;1s=1') and percent count from there"
                    )
                } else {
                    continue;
                };
                self.chain.notes.push(format!(
                    "filter {}, '{}': {}: {why}",
                    i + 1,
                    step.filter.name,
                    setting.id
                ));
            }
        }
    }

    fn step(&mut self, i: usize) -> Result<(), ChainError> {
        let (step, spec) = (&self.steps[i], &self.specs[i]);
        let name = step.filter.name;
        if i > 0 && spec.reads_source_frames() {
            let problem = "it reads the source's frames around each frame, which the filters before it do not change: \
                           put it first, or read one frame at a time (frames=0)";
            return Err(rejected(self.steps, i, SettingError::new("", problem)));
        }
        self.restore_or_leave_rgb(step)?;
        self.change_depth(i)?;
        let own = *self.chain.output();
        if own.family == Family::Gray && step.planes().is_some_and(Planes::name_chroma_only) {
            let note = format!("filter {}, '{name}': skipped, because a grey picture has no colour", i + 1);
            self.chain.notes.push(note);
            return Ok(());
        }
        let input = spec.working_format(&own);
        if own.depth == Depth::Float && input.depth != Depth::Float {
            let note = format!(
                "filter {}, '{name}': values beyond 0 to 1 are cut off, because it takes no float samples",
                i + 1
            );
            self.chain.notes.push(note);
        }
        self.reduce_internally(input, i)?;
        let seed = step.values.seed().unwrap_or_else(|| self.seed(name, i));
        let bind = |format: Format| spec.bind(&format, seed, self.options.level);
        let filters = pictures(&input, self.chain.fields).map(bind).collect::<Result<_, _>>();
        let filters = filters.map_err(|e| rejected(self.steps, i, e))?;
        let note = spec.note(&input).map(|note| format!("filter {}, '{name}': {note}", i + 1));
        self.chain.notes.extend(note);
        let output = spec.output_format(&input);
        let stage = Stage::plain(filters, step.values.is_static(), output, true);
        let stage = self.with_common_settings(stage, step, &input);
        self.chain.stages.push(stage.map_err(|e| rejected(self.steps, i, e))?);
        self.leave_working_format(&own, spec.output_format(&own))
    }

    /// Converts from the working format of a step for input of the format `own` to that of its result.
    fn leave_working_format(&mut self, own: &Format, result: Format) -> Result<(), ChainError> {
        let assumed = own.transfer == Transfer::UNSPECIFIED && self.chain.output().transfer != own.transfer;
        if !assumed {
            return self.convert_internally(result);
        }
        // Without a tag, values would not be changed.
        self.convert_internally(Format { transfer: convert::assumed_transfer(own), ..result })?;
        if let Some(last) = self.chain.stages.last_mut() {
            last.output = result;
        }
        Ok(())
    }

    /// Converts without a note to the user.
    fn convert_internally(&mut self, to: Format) -> Result<(), ChainError> {
        let notes = self.chain.notes.len();
        self.convert(to)?;
        self.chain.notes.truncate(notes);
        Ok(())
    }

    /// The seed of a filter before which the first `count` steps stand.
    fn seed(&self, name: &str, count: usize) -> u64 {
        let nth = self.steps[..count].iter().filter(|s| s.filter.name == name).count();
        filter_seed(self.options.seed, name, nth as u64)
    }

    /// Converts RGB pictures to YUV for the steps that name luma or colour differences, and back after them.
    fn restore_or_leave_rgb(&mut self, step: &Step) -> Result<(), ChainError> {
        let now = *self.chain.output();
        match self.rgb_to_restore {
            None if works_in_yuv(step, &now) => {
                self.rgb_to_restore = Some(now);
                self.convert(as_yuv(&now))
            }
            Some(rgb) if !works_in_yuv(step, &rgb) => {
                self.rgb_to_restore = None;
                self.convert(Format { depth: now.depth, ..rgb })
            }
            _ => Ok(()),
        }
    }

    /// Converts integer samples to the depth of step `i`, without a note to the user.
    fn change_depth(&mut self, i: usize) -> Result<(), ChainError> {
        let final_depth = self.specs[i].works_at_final_depth();
        let changes = final_depth || self.at_final_depth;
        self.at_final_depth = final_depth;
        let (now, depth) =
            (*self.chain.output(), if final_depth { self.target.depth } else { self.work_depth });
        if !changes || now.depth == depth || now.depth == Depth::Float || depth == Depth::Float {
            return Ok(());
        }
        self.reduce_internally(Format { depth, ..now }, i)
    }

    /// Converts before step `i` without a note to the user, with dither if that loses depth.
    fn reduce_internally(&mut self, to: Format, i: usize) -> Result<(), ChainError> {
        let notes = self.chain.notes.len();
        self.reduce(to, filter_seed(self.options.seed, "depth", i as u64), false)?;
        self.chain.notes.truncate(notes);
        Ok(())
    }

    /// Converts the result of the steps to the output format.
    fn finish(&mut self) -> Result<(), ChainError> {
        let Format { width, height, rate, aspect, fields, .. } = *self.chain.output();
        if (width, height) != (self.target.width, self.target.height) {
            return Err(ChainError::Size((width, height), (self.target.width, self.target.height)));
        }
        let target = Format { rate, aspect, fields, ..self.target };
        let last = self.steps.last().map(|last| &last.values);
        // A last `dither` that has nothing to add is replaced by the final dithering; any other filter draws
        // its own noise.
        let replaced = self.specs.last().and_then(|s| s.final_dithering()).is_some_and(|(_, only)| only);
        let seed = last.filter(|_| replaced).and_then(Values::seed);
        let seed = seed.unwrap_or_else(|| self.seed("dither", self.steps.len() - usize::from(replaced)));
        // If no stage changes from frame to frame, the dither noise does not change either.
        let all_static = !self.steps.is_empty() && self.steps.iter().all(|s| s.values.is_static());
        let is_static = all_static || (self.final_dither.is_some() && last.is_some_and(Values::is_static));
        self.reduce(target, seed, is_static)
    }

    /// Converts to the format `to`. If that loses depth, all other conversions come first, in 16 bits.
    fn reduce(&mut self, to: Format, seed: u64, is_static: bool) -> Result<(), ChainError> {
        let (from, mode) = (*self.chain.output(), self.final_dither.unwrap_or(Mode::Uniform));
        let shrinks = match (from.depth, to.depth) {
            (Depth::Bits(a), Depth::Bits(b)) => b < a,
            (Depth::Float, Depth::Bits(b)) => b < 16,
            (_, Depth::Float) => false,
        };
        if !shrinks || mode == Mode::None {
            return self.convert(to);
        }
        let only_depth = from.depth != Depth::Float && from == (Format { depth: from.depth, ..to });
        let deep = if only_depth { from } else { Format { depth: Depth::Bits(16), ..to } };
        self.convert(deep)?;
        let mut filters: Vec<Box<dyn Filter>> = Vec::new();
        for (a, b) in self.pictures(&deep).zip(self.pictures(&to)) {
            let dither = Dither::new(&a, &b, mode, seed, self.options.level).map_err(ChainError::Shape)?;
            if filters.is_empty() && !(self.depth_change_is_internal && deep == from) {
                self.chain.notes.push(dither.describe());
            }
            filters.push(dither.boxed());
        }
        self.push_inserted(filters, is_static, to);
        Ok(())
    }

    fn convert(&mut self, to: Format) -> Result<(), ChainError> {
        let (from, level) = (*self.chain.output(), self.options.level);
        if from == to {
            return Ok(());
        }
        let first = |f: &Format| self.pictures(f).next().unwrap_or(*f);
        let whole = Convert::new(&first(&from), &first(&to), level).map_err(ChainError::Convert)?;
        self.chain.notes.push(whole.describe());
        let mut before = from;
        for to in convert::path(&from, &to).map_err(ChainError::Convert)? {
            let steps = self.pictures(&before).zip(self.pictures(&to));
            let filters = steps.map(|(a, b)| convert::bind(&a, &b, level)).collect::<Result<_, _>>();
            self.push_inserted(filters.map_err(ChainError::Convert)?, false, to);
            before = to;
        }
        Ok(())
    }

    /// Adds a stage that the chain inserts itself and that the steps' common settings do not affect.
    fn push_inserted(&mut self, filters: Vec<Box<dyn Filter>>, is_static: bool, output: Format) {
        self.chain.stages.push(Stage::plain(filters, is_static, output, false));
    }

    /// Applies the settings that all filters have to the stage of a step.
    fn with_common_settings(&self, stage: Stage, step: &Step, input: &Format) -> Result<Stage, SettingError> {
        let (first, last) = (self.options.first, self.options.last);
        let mut common = step.common.clone();
        common.resolve(first, last)?;
        if let Some(clip) = step.values.details() {
            common.supply_details(clip.clone());
        }
        if !stage.output.same_samples(input)
            && let Some((setting, _)) = common.iter_given().next()
        {
            let problem = "this filter changes the size or format of the picture: leave this out";
            return Err(SettingError::new(setting.id, problem));
        }
        let enable: Option<Spans> = common.read(ENABLE);
        let enable = enable.map(|enable| enable.bind(first, last)).transpose();
        let planes = step.planes().map(|named| (named, named.resolve(input)));
        if let Some((named, _)) = planes.filter(|(_, planes)| planes.is_empty()) {
            return Err(SettingError::new(PLANES, format!("{} has no plane '{named}'", input.name())));
        }
        let pictures: Vec<Format> = self.pictures(input).collect();
        let mask = Mask::bind(&common, input, self.options, &pictures, self.chain.fields)?;
        Ok(Stage {
            enable: enable.map_err(|e| SettingError::new(ENABLE, e))?,
            planes: planes.map(|(_, planes)| planes),
            opacity: common.read(OPACITY),
            mask,
            ..stage
        })
    }

    fn pictures(&self, format: &Format) -> impl Iterator<Item = Format> + use<> {
        pictures(format, self.chain.fields)
    }
}

/// Whether a step names luma or colour differences of RGB pictures.
fn works_in_yuv(step: &Step, format: &Format) -> bool {
    format.is_rgb() && step.planes().is_some_and(Planes::name_yuv)
}

/// The YUV format for an RGB format, in 16 bits, whose rounding is the only loss.
fn as_yuv(rgb: &Format) -> Format {
    let depth = if rgb.depth == Depth::Float { Depth::Float } else { Depth::Bits(16) };
    let (family, matrix, range) = (Family::Yuv, Matrix::BT709, ColorRange::Full);
    Format { family, matrix, range, depth, ..*rgb }
}

/// How the last filter reduces the depth. Returns an error for a `dither` that cannot do so.
fn final_dithering(steps: &[Step], specs: &[Box<dyn Spec>]) -> Result<Option<Mode>, (usize, SettingError)> {
    let mut last = None;
    for (i, (step, spec)) in steps.iter().zip(specs).enumerate() {
        let Some((mode, only)) = spec.final_dithering() else { continue };
        let fail = |setting, problem: &str| Err((i, SettingError::new(setting, problem)));
        if i + 1 == steps.len() {
            last = Some(mode);
        } else if only {
            return fail(
                "bits",
                "only the last filter can omit them: give bits, or move the filter to the end",
            );
        }
        if let Some((setting, _)) = step.common.iter_given().next() {
            return fail(setting.id, "all frames and planes need the same depth: leave this out");
        }
    }
    Ok(last)
}

/// Whether every plane has rows of both fields.
fn has_fields(format: &Format) -> bool {
    (0..format.planes()).all(|p| format.plane_size(p).1 >= 2)
}

/// The formats that a frame is filtered as: the frame, or its top and bottom field.
fn pictures(format: &Format, fields: Fields) -> impl Iterator<Item = Format> + use<> {
    let format = *format;
    let list = match fields {
        Fields::Frame => vec![format],
        Fields::First(_) => vec![format.field(Parity::Top), format.field(Parity::Bottom)],
    };
    list.into_iter()
}
