//! The frames of a plate and of its clean version, and rendering over the clean version, or over a ramp if
//! there is none.

use super::error::{Doubt, MatchError, NoGrain};
use super::render::{StepRenderer, synthetic_frame};
use crate::session::Cancel;
use crate::session::job::NoFrame;
use grainfield_filters::chain::Step;
use grainfield_filters::frame::{Depth, Format, Frame, Ranges, Spans};
use grainfield_filters::ratio::Ratio;
use grainfield_io::source::{self, Info, Slot, Source};
use grainfield_measure::Field;
use grainfield_measure::blind::{self, Found};
use grainfield_measure::residual::{Area, Bin, Residual};
use std::ffi::OsStr;
use std::sync::Arc;

/// The default number of frames.
const DEFAULT_FRAMES: i64 = 8;
/// The limit on the memory of frames, in bytes.
const MAX_FRAME_BYTES: usize = 1 << 30;
/// The smallest useful area in luma samples.
const LEAST_AREA: usize = 64 * 64;
/// The largest relative uncertainty of a strength that is certain.
const CERTAIN: f64 = 0.1;
/// The strength in steps of codes below which rounding, of strength 0.29, cannot be told from grain.
const MIN_STEPS: f64 = 0.45;
/// The number of frames by which a clean version is checked.
const CHECKED_FRAMES: usize = 3;
/// Rows and frames of the ramp that replaces a clean picture.
const RAMP_ROWS: u32 = 256;
const RAMP_FRAMES: i64 = 8;
/// Number of 4-byte values that a measurement without a clean picture needs for each sample of a frame.
const PER_SAMPLE: usize = 6;

/// The part of the inputs to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The frames of the plate; by default the first eight.
    pub frames: Option<Spans>,
    /// The area, in luma samples.
    pub area: Option<Area>,
    /// Options for opening both inputs.
    pub source: source::Options,
    /// Cancels reading and rendering.
    pub cancel: Cancel,
}

/// A clean frame and its time.
struct CleanFrame {
    number: i64,
    time: Ratio,
    duration: Ratio,
    clean: Arc<Frame>,
}

/// The frames of a plate, and clean frames.
pub struct Shot {
    names: Vec<String>,
    plates: Vec<Frame>,
    clean_frames: Vec<CleanFrame>,
    /// The numbers of the plate's first and last frame.
    span: (i64, i64),
    area: Option<Area>,
    cancel: Cancel,
}

/// The grain of a plate.
#[derive(Debug)]
pub struct Measured {
    /// The measured grain.
    pub grain: Residual,
    /// How it was found without a clean picture; `None` if there was one.
    pub blind: Option<Blind>,
    /// Why the strength is not certain; `None` if it is.
    pub doubt: Option<Doubt>,
}

/// How grain was found without a clean picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Blind {
    /// The method.
    pub method: blind::Method,
    /// The number of blocks with nothing but grain, and of all blocks.
    pub blocks: (usize, usize),
    /// The number of consecutive frames with the same grain.
    pub held: u32,
    /// The share of 8x8 parts without grain.
    pub gone: f64,
    /// The relative uncertainty of the strength.
    pub bound: f64,
}

impl Blind {
    /// A larger share of parts without grain is significant: compression removed it.
    const MAX_GONE: f64 = 0.03;

    /// Whether compression has removed grain, so that the measured grain is less than that of the film.
    pub fn degrained_by_codec(&self) -> bool {
        self.gone > Blind::MAX_GONE
    }
}

impl std::fmt::Debug for Shot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shot").field("names", &self.names).field("frames", &self.plates.len()).finish()
    }
}

fn read_frame(source: &mut dyn Source, number: i64) -> Result<(source::FrameStamp, Frame), MatchError> {
    let missing = NoFrame::new(source.info(), number, 0);
    if number < missing.first || missing.last.is_some_and(|last| number > last) {
        return Err(missing.into());
    }
    source.seek(number)?;
    let mut slot = Slot::default();
    let stamp = source.next(&mut slot)?.filter(|s| s.number == number).ok_or(missing)?;
    source.decoder().decode(&stamp, &mut slot)?;
    Ok((stamp, slot.frame))
}

/// The step of codes, in 8-bit code values.
pub(super) fn code_step(format: &Format) -> f64 {
    match format.depth {
        Depth::Bits(bits) => 1.0 / f64::from(1u32 << (bits - 8)),
        Depth::Float => 0.0,
    }
}

/// Checks that an area and a picture are large enough.
fn check_area(format: &Format, area: Option<Area>) -> Result<(), MatchError> {
    let (width, height) = (format.width as usize, format.height as usize);
    if let Some(area) = area
        && (area.x + area.width > width || area.y + area.height > height)
    {
        return Err(MatchError::Area(width, height));
    }
    let (w, h) = area.map_or((width, height), |a| (a.width, a.height));
    if w * h < LEAST_AREA || w < 16 || h < 16 {
        return Err(MatchError::Small(w, h));
    }
    Ok(())
}

/// Checks that two inputs can be a plate and its clean version.
fn check_same_shape(a: &Info, b: &Info) -> Result<(), MatchError> {
    let shape = |f: &Format| (f.width, f.height, f.family, f.subsampling, f.has_alpha(), f.full_range());
    if shape(&a.format) == shape(&b.format) {
        return Ok(());
    }
    Err(MatchError::Different(Box::new([a, b].map(|info| (info.name.clone(), info.format)))))
}

/// The requested frames, or the first ones.
fn frame_range(frames: Option<&Ranges>, plate: &Info, clean: Option<&Info>) -> Ranges {
    match frames {
        Some(frames) => plate.last.map_or_else(|| frames.clone(), |last| frames.bounded(last)),
        None => {
            let last = plate.last.unwrap_or(i64::MAX).min(plate.first + DEFAULT_FRAMES - 1);
            let clean = clean.and_then(|c| Some(plate.first + c.last? - c.first));
            let last = clean.map_or(last, |l| last.min(l));
            Ranges::span(plate.first, last.max(plate.first)).unwrap_or_default()
        }
    }
}

impl Shot {
    /// Reads a plate and its clean version, paired from their first frames on; or a plate without one.
    ///
    /// # Errors
    /// [`MatchError`] if an input cannot be read, is too small, or does not match the other.
    pub fn read(plate: &OsStr, clean: Option<&OsStr>, options: &Options) -> Result<Shot, MatchError> {
        let mut source = source::open(plate, &options.source)?;
        let mut clean_source = clean.map(|clean| source::open(clean, &options.source)).transpose()?;
        let numbers = |spans: &Spans| source::frame_numbers::<MatchError>(spans, &mut *source, 0);
        let frames = options.frames.as_ref().map(numbers).transpose()?.map(|(ranges, _)| ranges);
        let info = source.info().clone();
        let clean = clean_source.as_ref().map(|clean_source| clean_source.info().clone());
        if let Some(clean) = &clean {
            check_same_shape(&info, clean)?;
        }
        check_area(&info.format, options.area)?;
        let samples =
            |f: &Format| (0..f.planes()).map(|p| f.plane_size(p)).map(|(w, h)| w * h).sum::<usize>();
        let bytes = info.format.frame_bytes()
            + clean.as_ref().map_or(4 * PER_SAMPLE * samples(&info.format), |c| c.format.frame_bytes());
        let max_frames = (MAX_FRAME_BYTES / bytes).max(if clean.is_some() { 1 } else { 2 });
        let mut plates = Vec::new();
        let mut clean_frames = Vec::new();
        let mut span = None;
        for number in frame_range(frames.as_ref(), &info, clean.as_ref()).iter().take(max_frames) {
            let (stamp, plate) = read_frame(source.as_mut(), number)?;
            if let (Some(clean_source), Some(clean)) = (&mut clean_source, &clean) {
                let (_, clean) = read_frame(clean_source.as_mut(), number - info.first + clean.first)?;
                let clean = Arc::new(clean);
                clean_frames.push(CleanFrame { number, time: stamp.time, duration: stamp.duration, clean });
            }
            plates.push(plate);
            span = Some((span.map_or(number, |s: (i64, i64)| s.0), number));
        }
        let Some(span) = span else {
            return Err(MatchError::NoFrames(info.name));
        };
        if clean.is_none() {
            clean_frames = ramps(plates[0].format());
        }
        let names = std::iter::once(info.name).chain(clean.map(|c| c.name)).collect();
        Ok(Shot { names, plates, clean_frames, span, area: options.area, cancel: options.cancel.clone() })
    }

    /// Whether there is no clean version.
    pub fn is_blind(&self) -> bool {
        self.names.len() == 1
    }

    /// The format of the plate's frames.
    pub fn format(&self) -> &Format {
        self.plates[0].format()
    }

    /// The first and the last frame to measure, and their number.
    pub fn frames(&self) -> (i64, i64, usize) {
        (self.span.0, self.span.1, self.plates.len())
    }

    /// Measures the grain of the plate.
    ///
    /// # Errors
    /// [`MatchError::NoGrain`] if there is no grain.
    pub fn measure(&self) -> Result<Measured, MatchError> {
        if self.is_blind() { self.measure_blind() } else { self.measure_difference() }
    }

    /// Measures the grain in blocks that differ only by grain.
    fn measure_blind(&self) -> Result<Measured, MatchError> {
        let frames: Vec<&Frame> = self.plates.iter().collect();
        let Found { grain, method, blocks, gone, evidence } = blind::measure(&frames, self.area);
        if !evidence.is_grain() || !grain.planes()[0].bins.iter().any(Bin::counts) {
            return Err(NoGrain::FewBlocks(self.names[0].clone()).into());
        }
        let (step, strength) = (code_step(self.format()), grain.planes()[0].overall().0);
        if strength < MIN_STEPS * step {
            return Err(NoGrain::Rounding(self.names[0].clone(), strength).into());
        }
        let blind = Blind { method, blocks, held: grain.held(), gone, bound: evidence.bound };
        let doubt = if !evidence.followed {
            Some(Doubt::Few)
        } else if blind.degrained_by_codec() {
            Some(Doubt::Compressed)
        } else if method == blind::Method::Flat {
            Some(Doubt::Texture)
        } else {
            (evidence.bound > CERTAIN).then_some(Doubt::Motion(evidence.bound))
        };
        Ok(Measured { grain, blind: Some(blind), doubt })
    }

    /// Measures the difference from the clean version, which it checks against the differences of neighbouring frames.
    fn measure_difference(&self) -> Result<Measured, MatchError> {
        let mut grain = Residual::new(self.format(), self.area);
        self.plates.iter().zip(&self.clean_frames).for_each(|(plate, frame)| grain.add(plate, &frame.clean));
        if grain.planes().iter().all(|p| p.overall().0 == 0.0) {
            return Err(NoGrain::Equal(self.names.clone()).into());
        }
        // The last frames: denoisers begin with frames that they hardly change.
        let from = self.plates.len().saturating_sub(CHECKED_FRAMES);
        let plates: Vec<&Frame> = self.plates[from..].iter().collect();
        let clean: Vec<&Frame> = self.clean_frames[from..].iter().map(|frame| &*frame.clean).collect();
        let doubt = match blind::check(&plates, &clean, self.area) {
            Some(found) if found.differ() => Some(Doubt::Clean(found)),
            Some(found) if found.bound <= CERTAIN => None,
            _ => Some(Doubt::Unchecked),
        };
        Ok(Measured { grain, blind: None, doubt })
    }

    /// The plate's grain over its strength, by frames and planes.
    pub(super) fn grain_of(&self, measured: &Residual) -> Vec<Vec<Field>> {
        self.plates
            .iter()
            .zip(&self.clean_frames)
            .map(|(plate, frame)| measured.over_strength(plate, &frame.clean))
            .collect()
    }

    /// Renders steps over the clean frames at the plate's depth, and measures the difference with the resolution
    /// of `plate`. Another seed gives other grain.
    pub(super) fn render(&self, steps: &[Step], plate: &Residual, seed: u64) -> Result<Residual, MatchError> {
        let clean = self.clean_frames[0].clean.format();
        let rendered = Format { depth: self.format().depth, ..*clean };
        let mut all = Residual::new(&rendered, self.area.filter(|_| !self.is_blind())).in_tiles_of(plate);
        let mut renderer = StepRenderer::new(steps, clean, &rendered, seed, &self.cancel)?;
        for CleanFrame { number, time, duration, clean } in &self.clean_frames {
            all.add(&renderer.frame(clean, *number, *time, *duration)?, clean);
        }
        Ok(all)
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

/// Ramps with the width of the plate, from the darkest to the lightest code.
fn ramps(format: &Format) -> Vec<CleanFrame> {
    let format = Format { height: RAMP_ROWS, ..*format };
    let clean = Arc::new(synthetic_frame(format, |x, _| 256.0 * x as f64 / f64::from(format.width)));
    let frame_duration = Ratio::ONE.checked_div(format.rate).unwrap_or(Ratio::ONE);
    let frame = |number: i64| CleanFrame {
        number,
        time: frame_duration * Ratio::whole(number),
        duration: frame_duration,
        clean: Arc::clone(&clean),
    };
    (0..RAMP_FRAMES).map(frame).collect()
}
