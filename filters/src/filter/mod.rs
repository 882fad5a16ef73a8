//! The filter interface. **A newcomer starts here.**
//!
//! A filter is three things: its **settings**, declared once with [`settings!`](crate::settings!); what it is at a
//! **moment**, asked once for each frame; and its **rows**, written band by band from any thread. The simplest one is a
//! *point operation*, which changes every sample by itself. This is a whole file of this crate, with its test:
//!
//! ```rust,ignore
#![doc = include_str!("invert.rs")]
//! ```
//!
//! # How to add a filter
//!
//! 1. Write it into a file of its own in this folder, `NAME.rs`, with its tests at the end or in `NAME/tests.rs`. The
//!    harness `filter::testing` runs it over formats of every kind, all levels and several bands, and compares every sample
//!    with yours in f64 (`compare`), or gives single frames (`bind`, `run`).
//! 2. Add a `mod` line below and a row to the [`catalog`](crate::catalog). Help, completions, recipes and hosts follow from
//!    that; so does a walk over the catalog (`GRAINFIELD_WALK=NAME cargo test --test library walk`), which binds it with
//!    random settings to every kind of format and asks: does every level and band give the same, do codes stay within the
//!    depth, does alpha stay unless the user named it, does what is not finite pass to the bit, is the frame untouched with
//!    `opacity=0`? A filter that draws over the picture or moves it says so by [`Entry::with_role`]; one that draws random
//!    numbers gets settings in `LIVELY` of `tests/library/walk/twins.rs`.
//! 3. Freeze its output: `GRAINFIELD_BLESS=1 cargo test --test library golden` writes `tests/golden/NAME.txt`; settings
//!    other than the defaults get a line in `CHAINS` in `tests/library/golden.rs`.
//! 4. Put a recipe that shows it into `samples/recipes`, and a line into `CHANGELOG.md`.
//!
//! The chain does for it what it does for all: `enable`, `planes`, `opacity`, fields, the seed (`with seed`) and `static`
//! (`with static`).
//!
//! # Looking beyond the own sample
//!
//! Such a filter says in its [`Plan`] how far it looks, reads the picture from [`Band::input`] and writes to
//! [`Band::output`], which it finds with arbitrary contents. The whole input is there, but only the rows that the plan's
//! reach names are sure to be read before others write. The mean of three by three samples, for all formats:
//!
//! ```
//! use grainfield_filters::filter::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
//! use grainfield_filters::frame::{Depth, Format, FrameTime, Scratch};
//! use grainfield_filters::pixel::convert::Code;
//! use grainfield_filters::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
//! use grainfield_filters::settings;
//! use grainfield_filters::settings::SettingError;
//! use grainfield_filters::simd::Level;
//!
//! settings! { struct Soften {} }
//!
//! pub const ENTRY: Entry = Entry::new::<Soften>("soften", "Soften", "The mean of neighbouring samples");
//!
//! impl Spec for Soften {
//!     fn bind(&self, input: &Format, _seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
//!         Ok(Softener { format: *input, level }.boxed())
//!     }
//! }
//!
//! struct Softener {
//!     format: Format,
//!     level: Level,
//! }
//!
//! impl Render for Softener {
//!     /// What the settings are at a moment, and what follows from them: here nothing.
//!     type Params = ();
//!     type State = ();
//!
//!     fn output(&self) -> &Format {
//!         &self.format
//!     }
//!
//!     fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
//!         // In luma rows: a row of a subsampled plane is several of them.
//!         let reach = Reach::Rows(1 << self.format.subsampling.1);
//!         Some((Plan { reach, ..Plan::in_place(self.format.color_planes()) }, ()))
//!     }
//!
//!     fn memory(&self) -> Memory {
//!         // Two rows of f32; each buffer begins a cache line.
//!         Memory { fixed: 0, per_frame: 2 * (4 * self.format.width as usize + 64) }
//!     }
//!
//!     fn render(&self, (): &(), (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
//!         match self.format.depth {
//!             Depth::Bits(8) => self.planes::<u8>(band, scratch),
//!             Depth::Bits(_) => self.planes::<u16>(band, scratch),
//!             Depth::Float => self.planes::<f32>(band, scratch),
//!         }
//!     }
//! }
//!
//! impl Softener {
//!     fn planes<T: ConvertF32>(&self, band: &mut Band<'_>, scratch: &mut Scratch) {
//!         let Some(input) = band.input else { unreachable!("a plan with a reach is given the input") };
//!         for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
//!             // Samples and rows of this plane, in this field if pictures are fields.
//!             let (width, height) = self.format.plane_size(p);
//!             let zero = Code::of(&self.format, p).zero as f32;
//!             let legal = self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
//!             let [row, sum] = scratch.buffers::<f32, 2>([width; 2]);
//!             let (from, to) = (input.plane(p), band.output.plane_mut(p));
//!             for y in to.rows() {
//!                 sum.fill(0.0);
//!                 // Beyond its edges the picture goes on as its outermost samples.
//!                 for near in [y.saturating_sub(1), y, (y + 1).min(height - 1)] {
//!                     to_f32(self.level, from.row::<T>(near), zero, row);
//!                     for x in 0..width {
//!                         sum[x] += row[x.saturating_sub(1)] + row[x] + row[(x + 1).min(width - 1)];
//!                     }
//!                 }
//!                 sum.iter_mut().for_each(|v| *v *= 1.0 / 9.0);
//!                 // Rounded, and kept to the legal codes or as far beyond them as the sample was; where it or the
//!                 // sum is no finite number, the sample stays.
//!                 to.row_mut::<T>(y).copy_from_slice(from.row(y));
//!                 from_f32::<T>(self.level, sum, zero, legal, to.row_mut(y));
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! Inner loops that cost time are compiled for every level by `multiversion!` of [`simd`](crate::simd): in the filter's
//! own file, or in [`pixel`](crate::pixel) when two filters share them. Sums are + - * / and sqrt in a fixed order, or
//! integers, so that every machine gives the same. Integer chains work in 16 bits and round once at their end; a filter that
//! gains nothing from that, such as white noise, says so with [`Spec::wants_16_bits`].
//!
//! - **Lengths** count in samples of a picture 1920 wide, so that a look does not depend on the resolution: multiply by
//!   `format.width / 1920`. In plane `p` a length in luma samples is `length / (1 << sx)` across and
//!   `length / ((1 << sy) * format.field_rows().0)` down. [`blur`] does it so.
//! - **Fractions of brightness** are nominal, from black to white: multiply by `Code::of(format, p).span`.
//! - **Planes that change only when named** (`planes=uv`) go into [`Plan::on_request`].
//! - **With a reach**, read alpha and every plane that you do not write from [`Band::input`]; they are not in the output.
//! - **Where colour is multiplied by alpha** ([`Format::alpha`]), work on the colour before: read with
//!   [`PremultipliedScale::value`](crate::pixel::tone::PremultipliedScale::value), write with `sample`, take alpha from
//!   `point::mean_alpha`. What nothing covers stays. `unsharp` does it so.
//! - **To build on another filter**, give its bound type a `pub(super)` constructor and call its `render` on your own band,
//!   as `unsharp` calls the Gaussian of `blur`. It overwrites the [`Scratch`] that you hand on;
//!   [`Scratch::buffers_and_rest`] keeps yours.
//! - **Golden pictures are 67 samples wide**: a length of 1920-wide samples is a twenty-ninth there, so give them large ones.
//!
//! # More
//!
//! - What takes long to make and often stays the same from frame to frame is its [`State`](Render::State), made by
//!   [`prepare`](Render::prepare) and kept under the plan's key.
//! - A filter in which every frame follows from the one before is a [`Simulate`]d filter.

pub mod av1grain;
pub mod blur;
pub mod color;
pub mod convert;
pub mod dither;
pub mod dust;
mod erased;
pub mod fade;
pub mod flicker;
pub mod flock;
pub mod fluid;
pub mod grain;
pub mod invert;
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
pub mod unsharp;
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
    /// Luma rows that it works out for a band beside the band's own. Where there are many, bands are made higher.
    pub extra_rows: u32,
}

impl Plan {
    /// Changes `writes` in place, with nothing prepared.
    pub const fn in_place(writes: PlaneSet) -> Plan {
        Plan { reach: Reach::InPlace, writes, on_request: PlaneSet::NONE, state: None, extra_rows: 0 }
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

    /// Whether the chain should work in 16 bits although source and sink have fewer: so it is where results lie between
    /// codes, and rounding each sample by itself would show steps. White noise dithers itself.
    fn wants_16_bits(&self) -> bool {
        true
    }

    /// Whether its input has to have the depth of the chain's result, in which the chain rounds before it then: grain that is
    /// added by a decoder is added to the codes that were coded.
    fn works_at_final_depth(&self) -> bool {
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

/// What a filter does with the picture as a whole, and so with its alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It changes colours where they are. Alpha stays, unless the user names it.
    Adjusts,
    /// It draws over the picture, and covers what was transparent.
    Covers,
    /// It moves the picture as a whole, alpha too.
    Moves,
}

/// A filter as the catalog knows it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What recipes call it. It is part of its seed, so it never changes.
    pub name: &'static str,
    /// What a window would call it.
    pub label: &'static str,
    /// One line: what it does.
    pub help: &'static str,
    /// What it does with the picture as a whole.
    pub role: Role,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Makes one of checked settings.
    pub build: Build,
}

impl Entry {
    /// The filter whose settings are declared as `S`, which [adjusts](Role::Adjusts) the picture unless `role` is set.
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
        Entry { name, label, help, role: Role::Adjusts, settings: S::TABLE, build }
    }

    /// The same in another role.
    #[must_use]
    pub const fn with_role(self, role: Role) -> Entry {
        Entry { role, ..self }
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
