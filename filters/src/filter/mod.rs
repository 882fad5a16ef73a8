//! The filter interface. **A newcomer starts here.**
//!
//! A filter is three things: its **settings**, declared once with [`settings!`](crate::settings!); what it is at a
//! **moment**, asked once for each frame; and its **rows**, written band by band from any thread. This is a whole one:
//!
//! ```
//! use grainfield_filters::filter::{Band, Entry, Filter, Plan, Render, Spec};
//! use grainfield_filters::frame::{Format, FrameTime, Scratch};
//! use grainfield_filters::pixel::convert::Code;
//! use grainfield_filters::pixel::tone::{Affine, Tone};
//! use grainfield_filters::settings;
//! use grainfield_filters::settings::{Animated, SettingError, Unit};
//! use grainfield_filters::simd::Level;
//!
//! settings! {
//!     /// What `invert` is asked for.
//!     pub struct Invert {
//!         /// How far: 0 is the picture as it was, 0.5 grey, 1 the negative.
//!         amount: Animated = number(0.0..=1.0).default(1.0).unit(Unit::Fraction),
//!     }
//! }
//!
//! pub const ENTRY: Entry = Entry::new::<Invert>("invert", "Invert", "Turns light to dark and dark to light");
//!
//! impl Spec for Invert {
//!     fn bind(&self, input: &Format, _seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
//!         Ok(Inverter { format: *input, set: self.clone(), level }.boxed())
//!     }
//! }
//!
//! struct Inverter {
//!     format: Format,
//!     set: Invert,
//!     level: Level,
//! }
//!
//! impl Render for Inverter {
//!     /// What is done to the samples of each plane.
//!     type Params = Vec<Tone>;
//!     type State = ();
//!
//!     fn output(&self) -> &Format {
//!         &self.format
//!     }
//!
//!     fn at(&self, at: &FrameTime) -> Option<(Plan, Vec<Tone>)> {
//!         let gain = 1.0 - 2.0 * self.set.amount.at(at);
//!         let tone = |p| {
//!             let code = Code::of(&self.format, p);
//!             // Colour differences turn about their zero, all others about the middle between black and white.
//!             let half = if self.format.is_chroma(p) { 0.0 } else { 0.5 };
//!             let middle = f64::from(code.zero) + half * f64::from(code.span);
//!             match self.format.depth.bits() {
//!                 Some(bits) => Tone::line(Affine::new(bits, gain, middle - middle * gain, self.format.codes(), false)),
//!                 None => Tone::Real { gain: gain as f32, offset: (middle - middle * gain) as f32 },
//!             }
//!         };
//!         let planes = (0..self.format.planes()).map(tone).collect();
//!         (gain != 1.0).then(|| (Plan::in_place(self.format.color_planes()), planes))
//!     }
//!
//!     fn render(&self, planes: &Vec<Tone>, (): &(), band: &mut Band<'_>, _: &mut Scratch) {
//!         for p in band.writes.iter().filter(|&p| p < planes.len()) {
//!             let plane = band.output.plane_mut(p);
//!             for y in plane.rows() {
//!                 planes[p].apply(self.level, self.format.depth, plane.row_bytes_mut(y));
//!             }
//!         }
//!     }
//! }
//!
//! // What a test asks of it: white becomes black at frame 24 of a curve.
//! use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Step, Workspace};
//! use grainfield_filters::{frame::Frame, lend::CurrentThread, lend::Host, lend::NoCache, ratio::Ratio, settings::Values};
//! static INVERT: Entry = ENTRY;
//! let step = Step::new(&INVERT, Values::parse(INVERT.settings, "amount=0=0;24=1").unwrap());
//! let format = Format::from_name("gray", 16, 8).unwrap();
//! let options = Options { seed: 0, level: Level::best(), last: None, fields: Fields::Frame };
//! let chain = Chain::bind::<ChainError>(&[step], format, &options, |made| Ok(*made)).unwrap();
//! let mut frame = Frame::new(format);
//! (0..8).for_each(|y| frame.row_mut::<u8>(0, y).fill(235));
//! let (at, go) = (FrameTime::of_frame(24, Ratio::whole(24)), std::sync::atomic::AtomicBool::new(false));
//! let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &go };
//! chain.run(&at, Ratio::ZERO, &mut frame, &mut Workspace::default(), &States::default(), &host).unwrap();
//! assert_eq!(frame.row::<u8>(0, 7), [16; 16]);
//! ```
//!
//! To become one of the program's filters it goes into a file of its own, with a `mod` line here and a row in the
//! [`catalog`](crate::catalog). The chain does for it what it does for all: `enable`, `planes`, `opacity`, fields, the
//! seed (`with seed`) and `static` (`with static`).
//!
//! - A filter that looks beyond its own sample says so in its [`Plan`] and finds the picture before in [`Band::input`].
//! - What takes long to make and often stays the same from frame to frame is its [`State`](Render::State), made by
//!   [`prepare`](Render::prepare) and kept under the plan's key.
//! - What must follow from the frame before it is a [`Simulate`]d filter.

pub mod blur;
pub mod color;
pub mod convert;
pub mod dither;
pub mod dust;
mod erased;
pub mod fade;
pub mod flicker;
pub mod fluid;
pub mod grain;
pub mod levels;
pub mod noise;
mod overlay;
pub mod particles;
mod point;
pub mod scratches;
pub mod sprites;
#[cfg(test)]
pub(crate) mod testing;
pub mod transform;
pub mod vignette;
pub mod weave;

pub use erased::{Filter, FrameParams, State};

use crate::frame::{Format, FrameMut, FrameRef, FrameTime, PlaneSet, Scratch};
use crate::lend::{Host, PrepareError};
use crate::settings::{Setting, SettingError, Settings, Values};
use crate::simd::Level;
use core::ops::Range;

/// How far from its own row, in luma rows, a filter looks into its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Not at all: it changes samples in place, and bands of neighbouring filters fuse with its own.
    InPlace,
    /// So many rows up and down.
    Rows(u32),
    /// Anywhere.
    Whole,
}

/// What a filter does to one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// How far it looks.
    pub reach: Reach,
    /// The planes it writes. With [`Reach::InPlace`] the others stay as they are; otherwise they pass by reference,
    /// uncopied, and must have the same shape in output and input.
    pub writes: PlaneSet,
    /// Planes it can write too, but only when the user names them (`planes=a`): alpha, for noise.
    pub on_request: PlaneSet,
    /// A hash of all that shapes the prepared state, and nothing that does not; `None` when nothing is prepared.
    pub state: Option<u128>,
}

impl Plan {
    /// Changes `writes` in place, with nothing prepared.
    pub const fn in_place(writes: PlaneSet) -> Plan {
        Plan { reach: Reach::InPlace, writes, on_request: PlaneSet::NONE, state: None }
    }
}

/// What a filter needs beyond the pictures, in bytes: an upper bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Once, shared by all threads.
    pub fixed: usize,
    /// In each frame that is being worked on at the same time (states, scratch).
    pub per_frame: usize,
}

/// The rows to be made. All row numbers are of the whole picture (frame or field).
#[derive(Debug)]
pub struct Band<'a> {
    /// Luma rows of the output; a plane's own rows are `output.plane(p).rows()`.
    pub rows: Range<usize>,
    /// The whole input, for a filter that looks beyond its row; `None` with [`Reach::InPlace`], whose input is what
    /// stands in `output`.
    pub input: Option<FrameRef<'a>>,
    /// The rows of the output, every plane.
    pub output: FrameMut<'a>,
    /// The planes to write: the plan's, as changed by the user's `planes=`. No other may be written.
    pub writes: PlaneSet,
}

/// One entry of a recipe, not yet bound: settings parsed and checked.
pub trait Spec: Send + Sync {
    /// Fixes everything that depends on the picture. `seed` is this filter's own, already made different from every
    /// other filter's in the chain.
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError>;

    /// Refuses what each setting alone allows but not all together, and settles what hangs on whether something was
    /// `given` or follows from a preset or default.
    fn check(&mut self, given: &Values) -> Result<(), SettingError> {
        let _ = given;
        Ok(())
    }

    /// Whether the chain should work in 16 bits although source and sink have fewer.
    fn wants_16_bits(&self) -> bool {
        false
    }

    /// How the chain reduces depth at its end when this is its last filter, and whether that is all that the filter is
    /// for; `None` for every filter but `dither`.
    fn final_dithering(&self) -> Option<(dither::Mode, bool)> {
        None
    }
}

/// A filter bound to a format, as its author writes it. `&self` everywhere: no interior mutability, no clock, no file,
/// no thread of its own.
pub trait Render: Send + Sync + 'static {
    /// What it is at a moment: all that its rows need and that follows from the settings and the time.
    type Params: Send + Sync + 'static;
    /// What is prepared for a frame and may serve others: tables, sorted splats. `()` for most filters.
    type State: Default + Send + Sync + 'static;

    /// What comes out.
    fn output(&self) -> &Format;

    /// What it does at a moment; `None`: nothing. Asked once for each picture, before any band.
    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)>;

    /// What it needs at most.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// Makes what the bands of a frame share; called only when the plan has a state key. `near` is any older state
    /// of this filter, of whatever frame, to be moved on or overwritten, or the default: the result may depend on it in
    /// speed alone. Never sees the picture.
    fn prepare(
        &self,
        now: &Self::Params,
        near: Self::State,
        host: &Host<'_>,
    ) -> Result<Self::State, PrepareError> {
        let _ = now;
        host.check()?;
        Ok(near)
    }

    /// Writes the band's rows of the planes in `band.writes`. Called concurrently for disjoint bands.
    fn render(&self, now: &Self::Params, state: &Self::State, band: &mut Band<'_>, scratch: &mut Scratch);

    /// For the chain.
    fn boxed(self) -> Box<dyn Filter>
    where
        Self: Sized,
    {
        Box::new(erased::FrameFilter(self))
    }
}

/// A filter whose frames follow from those before them. [`step`](Simulate::step) is called before
/// [`prepare`](Render::prepare), one frame at a time, and what it gives is `prepare`'s `near`.
pub trait Simulate: Render {
    /// What is moved on from frame to frame.
    type Simulation: Send + Sync + 'static;

    /// Moves what all frames share on to a frame: `line` is what the last call left there, of whatever frame (`None` at
    /// first; of another filter of this kind it may be, too), and the result may depend on it, and on what the host's
    /// store has, in speed alone. The chain sees to it that calls for one layer never overlap; where it fails, `line` is
    /// nothing or still a state.
    fn step(
        &self,
        now: &Self::Params,
        line: &mut Option<Self::Simulation>,
        host: &Host<'_>,
    ) -> Result<Self::State, PrepareError>;

    /// For the chain.
    fn boxed_simulation(self) -> Box<dyn Filter>
    where
        Self: Sized,
    {
        Box::new(erased::SimulationFilter(self))
    }
}

/// Makes a spec of checked settings; refuses combinations that each setting alone allows.
pub type Build = fn(&Values) -> Result<Box<dyn Spec>, SettingError>;

/// A filter as the catalog knows it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What recipes call it. It is part of its seed, so it never changes.
    pub name: &'static str,
    /// What a window would call it.
    pub label: &'static str,
    /// One line: what it does.
    pub help: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Makes one of checked settings.
    pub build: Build,
}

impl Entry {
    /// The filter whose settings are declared as `S`.
    pub const fn new<S: Spec + Settings + 'static>(
        name: &'static str,
        label: &'static str,
        help: &'static str,
    ) -> Entry {
        let build = |values: &Values| -> Result<Box<dyn Spec>, SettingError> {
            values.check()?;
            let mut spec = S::read(values);
            spec.check(values)?;
            Ok(Box::new(spec))
        };
        Entry { name, label, help, settings: S::TABLE, build }
    }

    /// One of these settings, bound alone: `seed` is the filter's own where none is given.
    pub fn bind(
        &self,
        values: &Values,
        input: &Format,
        seed: u64,
        level: Level,
    ) -> Result<Box<dyn Filter>, SettingError> {
        (self.build)(values)?.bind(input, values.seed().unwrap_or(seed), level)
    }
}
