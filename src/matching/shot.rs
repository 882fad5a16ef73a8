//! Frames of a plate and of its clean twin, and what is laid over the twin.

use crate::source::{self, Slot, Source, SourceError};
use grainfield_filters::chain::{Chain, ChainError, Fields, States, Step, Workspace};
use grainfield_filters::frame::{Format, Frame, FrameTime, Ranges};
use grainfield_filters::lend::{CurrentThread, Host, NoCache, PrepareError};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;
use grainfield_measure::residual::{Area, Residual};
use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// So many frames are taken when nobody says which.
const DEFAULT_FRAMES: i64 = 8;
/// Bytes of frames that are kept, at most.
const KEPT: usize = 1 << 30;
/// The least area that says something, in luma samples.
const LEAST_AREA: usize = 64 * 64;

/// Why nothing can be matched.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// One of the inputs cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The two do not belong together, or there is too little of them. The text says what would be right.
    #[error("{0}")]
    Unequal(String),
    /// A fitted look cannot be rendered.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// It was asked to stop.
    #[error("{0}")]
    Prepare(#[from] PrepareError),
    /// There is no grain to be matched.
    #[error("{plate} and {clean} do not differ: there is no grain to match")]
    Nothing {
        /// The plate.
        plate: String,
        /// Its clean twin.
        clean: String,
    },
}

impl MatchError {
    /// Whether asking differently would help.
    pub fn is_usage(&self) -> bool {
        match self {
            MatchError::Source(e) => e.is_usage(),
            MatchError::Unequal(_) => true,
            _ => false,
        }
    }
}

/// What of the inputs is looked at.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which frames of the plate; without it the first eight.
    pub frames: Option<Ranges>,
    /// Which part of them, in luma samples.
    pub area: Option<Area>,
    /// How both are opened.
    pub source: source::Options,
    /// Set when the work is to end.
    pub stop: Arc<AtomicBool>,
}

/// A frame of both.
struct Pair {
    number: i64,
    time: Ratio,
    duration: Ratio,
    plate: Frame,
    clean: Frame,
}

/// Frames of a plate and of its clean twin.
pub struct Shot {
    names: [String; 2],
    pairs: Vec<Pair>,
    area: Option<Area>,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Shot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shot").field("names", &self.names).field("frames", &self.pairs.len()).finish()
    }
}

fn next(source: &mut dyn Source, number: i64) -> Result<(source::FrameStamp, Frame), MatchError> {
    let name = source.info().name.clone();
    let missing =
        || MatchError::Unequal(format!("{name} has no frame {number}: select other frames with --frames"));
    let (first, last) = (source.info().first, source.info().last);
    if number < first || last.is_some_and(|last| number > last) {
        return Err(missing());
    }
    source.seek(number)?;
    let mut slot = Slot::default();
    let stamp = source.next(&mut slot)?.filter(|s| s.number == number).ok_or_else(missing)?;
    source.decoder().decode(&stamp, &mut slot)?;
    Ok((stamp, slot.frame))
}

impl Shot {
    /// Reads both, first frame with first frame.
    pub fn read(plate: &OsStr, clean: &OsStr, options: &Options) -> Result<Shot, MatchError> {
        let mut sources = [source::open(plate, &options.source)?, source::open(clean, &options.source)?];
        let infos = [sources[0].info().clone(), sources[1].info().clone()];
        let shape = |f: &Format| (f.width, f.height, f.family, f.subsampling, f.has_alpha(), f.full_range());
        let (a, b) = (&infos[0].format, &infos[1].format);
        if shape(a) != shape(b) {
            let said = |f: &Format| {
                format!(
                    "{}x{} {} {}",
                    f.width,
                    f.height,
                    f.name(),
                    if f.full_range() { "full range" } else { "limited range" }
                )
            };
            return Err(MatchError::Unequal(format!(
                "{} is {}, {} is {}: size, planes and range must be the same (the depth may differ)",
                infos[0].name,
                said(a),
                infos[1].name,
                said(b)
            )));
        }
        let (width, height) = (a.width as usize, a.height as usize);
        if let Some(area) = options.area
            && (area.x + area.width > width || area.y + area.height > height)
        {
            return Err(MatchError::Unequal(format!(
                "--area reaches beyond the picture of {width}x{height}"
            )));
        }
        let (w, h) = options.area.map_or((width, height), |a| (a.width, a.height));
        if w * h < LEAST_AREA || w < 16 || h < 16 {
            return Err(MatchError::Unequal(format!(
                "{w}x{h} is too small to measure grain: at least 64x64 samples are needed"
            )));
        }
        let first = infos[0].first;
        let frames = match &options.frames {
            Some(frames) => infos[0].last.map_or_else(|| frames.clone(), |last| frames.bounded(last)),
            None => {
                let last = infos[0].last.unwrap_or(i64::MAX).min(first + DEFAULT_FRAMES - 1);
                let last = infos[1].last.map_or(last, |l| last.min(first + l - infos[1].first));
                Ranges::span(first, last.max(first)).unwrap_or_default()
            }
        };
        let most = (KEPT / (a.frame_bytes() + b.frame_bytes())).max(1);
        let mut pairs = Vec::new();
        for number in frames.iter().take(most) {
            let (stamp, plate) = next(sources[0].as_mut(), number)?;
            let (_, clean) = next(sources[1].as_mut(), number - first + infos[1].first)?;
            pairs.push(Pair { number, time: stamp.time, duration: stamp.duration, plate, clean });
        }
        if pairs.is_empty() {
            return Err(MatchError::Unequal(format!("{} has none of these frames", infos[0].name)));
        }
        let names = infos.map(|i| i.name);
        Ok(Shot { names, pairs, area: options.area, stop: Arc::clone(&options.stop) })
    }

    /// What the plate's frames are.
    pub fn format(&self) -> &Format {
        self.pairs[0].plate.format()
    }

    /// The first and the last frame that are looked at, and how many there are.
    pub fn frames(&self) -> (i64, i64, usize) {
        let numbers = || self.pairs.iter().map(|p| p.number);
        (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0), self.pairs.len())
    }

    /// Measures the grain of the plate.
    pub fn measure(&self) -> Result<Residual, MatchError> {
        let mut all = Residual::new(self.format(), self.area);
        self.pairs.iter().for_each(|p| all.add(&p.plate, &p.clean));
        if all.planes().iter().all(|p| p.overall().0 == 0.0) {
            let [plate, clean] = self.names.clone();
            return Err(MatchError::Nothing { plate, clean });
        }
        Ok(all)
    }

    /// Lays steps over the clean frames, at the plate's depth, and measures what they add.
    pub(super) fn render(&self, steps: &[Step]) -> Result<Residual, MatchError> {
        let mut all = Residual::new(self.format(), self.area);
        let mut over = Over::new(steps, self.pairs[0].clean.format(), self.format(), &self.stop)?;
        for pair in &self.pairs {
            let frame = over.frame(&pair.clean, pair.number, pair.time, pair.duration)?;
            all.add(&frame, &pair.clean);
        }
        Ok(all)
    }

    pub(super) fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

/// Steps bound to pictures, and what rendering them needs.
pub(super) struct Over<'a> {
    chain: Chain,
    work: Workspace,
    states: States,
    stop: &'a AtomicBool,
}

impl Over<'_> {
    pub(super) fn new<'a>(
        steps: &[Step],
        input: &Format,
        output: &Format,
        stop: &'a AtomicBool,
    ) -> Result<Over<'a>, MatchError> {
        let options = grainfield_filters::chain::Options {
            seed: 0,
            level: Level::best(),
            last: None,
            fields: Fields::of(input.fields),
        };
        let depth = output.depth;
        let chain = Chain::bind::<ChainError>(steps, *input, &options, |made| Ok(Format { depth, ..*made }))?;
        Ok(Over { chain, work: Workspace::default(), states: States::default(), stop })
    }

    pub(super) fn frame(
        &mut self,
        clean: &Frame,
        number: i64,
        time: Ratio,
        duration: Ratio,
    ) -> Result<Frame, MatchError> {
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: self.stop };
        let mut frame = clean.clone();
        let at = FrameTime::of_time(number, time);
        self.chain.run(&at, duration, &mut frame, &mut self.work, &self.states, &host)?;
        Ok(frame)
    }
}
