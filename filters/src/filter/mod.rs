//! The filter interface, with a guide to new filters.
//!
//! A filter has three parts: its **settings**, declared once with [`settings!`](crate::settings!); its **parameters**
//! at a time, computed once for each frame; and its **rows**, rendered band by band on any thread. The simplest kind is
//! a *point operation*, which changes every sample independently. This is a complete file of this crate, with its test:
//!
//! ```rust,ignore
#![doc = include_str!("invert.rs")]
//! ```
//!
//! # How to add a filter
//!
//! 1. Write the file `NAME.rs` in this folder, with its tests at the end or in `NAME/tests.rs`. The harness
//!    `filter::testing` runs it over formats of every kind, all levels and several bands, and compares every sample with a
//!    reference in f64 (`compare`), or renders single frames (`bind`, `run`).
//! 2. Add a `mod` line below and a row to the [`catalog`](crate::catalog). Help, completions, recipes and hosts use
//!    the catalog. A test walks over it (`GRAINFIELD_WALK=NAME cargo test --test library walk`) and binds each filter with
//!    random settings to every kind of format. It checks that all levels and bands give the same result, codes stay within
//!    the depth, alpha is unchanged unless the user named it, non-finite samples are unchanged to the bit, and `opacity=0`
//!    changes nothing. A filter that draws over the picture or moves it needs [`Entry::with_role`]; one that draws random
//!    numbers needs settings in `LIVELY` of `tests/library/walk/twins.rs`. The walk also animates every setting, on 48 by
//!    32 samples: if one has no effect there with your defaults, as a length, add settings with which it has one to `BASE`
//!    of `walk/curves.rs`; settings that are integrated, or bound something, stand in `INTEGRALS` and `BOUNDS` there.
//! 3. Add lines to `CHAINS` in `tests/library/golden.rs` for settings other than the defaults, and to `PREMULTIPLIED` if
//!    premultiplied colour is a case of its own. `./x bless` writes `tests/golden/NAME.txt`, new lines of
//!    `not-finite.txt`, and the filter's page of the handbook; no line of another filter may change. Add the page to
//!    `docs/src/SUMMARY.md`.
//! 4. Add an example recipe to `samples/recipes`, which a test runs on 64 by 36 samples: frame 10 has to change. Add a line
//!    to `CHANGELOG.md`.
//! 5. `./x test`. It rejects std's inexact functions (`sin`, `powf`, `mul_add`; use `libm`), imports in a circle, and files
//!    of more than 600 lines.
//!
//! The chain handles `enable`, `planes`, `opacity`, fields, the seed (`with seed`) and `static` (`with static`) for all
//! filters.
//!
//! # Filters with a reach
//!
//! A filter that reads other samples than the one it writes declares its reach in its [`Plan`]. It reads the picture from
//! [`Band::input`] and writes to [`Band::output`], whose contents are arbitrary at first. The whole input is accessible,
//! but only the rows within the plan's reach are guaranteed not to be overwritten yet. This is the mean of three by three
//! samples, for all formats (premultiplied colour needs more, see below):
//!
//! ```
//! use grainfield_filters::for_depth;
//! use grainfield_filters::filter::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
//! use grainfield_filters::frame::{Format, FrameTime, Scratch};
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
//!     /// The parameters at a time: this filter has none.
//!     type Params = ();
//!     type State = ();
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
//!         for_depth!(self.format.depth, T => self.planes::<T>(band, scratch));
//!     }
//! }
//!
//! impl Softener {
//!     fn planes<T: ConvertF32>(&self, band: &mut Band<'_>, scratch: &mut Scratch) {
//!         let input = band.source();
//!         for p in band.writes.iter().filter(|&p| p < self.format.planes()) {
//!             // Samples and rows of this plane, in this field if pictures are fields.
//!             let (width, height) = self.format.plane_size(p);
//!             let zero = Code::of(&self.format, p).zero as f32;
//!             let legal = self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
//!             let [row, sum] = scratch.buffers::<f32, 2>([width; 2]);
//!             let (from, to) = (input.plane(p), band.output.plane_mut(p));
//!             for y in to.rows() {
//!                 sum.fill(0.0);
//!                 // Beyond the edges, the outermost samples are repeated.
//!                 for near in [y.saturating_sub(1), y, (y + 1).min(height - 1)] {
//!                     to_f32(self.level, from.row::<T>(near), zero, row);
//!                     for x in 0..width {
//!                         sum[x] += row[x.saturating_sub(1)] + row[x] + row[(x + 1).min(width - 1)];
//!                     }
//!                 }
//!                 sum.iter_mut().for_each(|v| *v *= 1.0 / 9.0);
//!                 // Rounded, and clipped to the legal codes, or to the old sample if that is beyond them. If the
//!                 // sample or the sum is not finite, the sample does not change.
//!                 to.row_mut::<T>(y).copy_from_slice(from.row(y));
//!                 from_f32::<T>(self.level, sum, zero, legal, to.row_mut(y));
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! `multiversion!` of [`simd`](crate::simd) compiles slow inner loops for every level. They are in the filter's file, or
//! in [`pixel`](crate::pixel) if two filters share them. Sums use + - * / and sqrt in a fixed order, or integers, so that
//! every machine gives the same result. Integer chains work in 16 bits and round once at their end; a filter that gains
//! nothing from that, such as white noise, returns `false` from [`Spec::wants_16_bits`].
//!
//! - **Lengths** are in samples of a picture 1920 wide, so that a look does not depend on the resolution: multiply by
//!   `format.width / 1920`. In plane `p` a length in luma samples is `length / (1 << sx)` horizontally and
//!   `length / ((1 << sy) * format.field_rows().0)` vertically. See [`blur`].
//! - **Positions** of a plane's samples, chroma included: [`Format::frame_sites`]. See [`vignette`].
//! - **Fractions of brightness** are nominal, from black to white: multiply by `Code::of(format, p).span`.
//! - **Planes that change only when named** (`planes=all`, `planes=uv`) belong in [`Plan::on_request`]: alpha, for nearly
//!   every filter with a reach.
//! - **With a reach**, read alpha and every plane that you do not write from [`Band::input`]; they are not in the output.
//! - **For premultiplied colour** ([`Format::alpha`]), work on straight values: read with
//!   [`PremultipliedScale::value`](crate::pixel::tone::PremultipliedScale::value), write with `sample`, take alpha (0 to 1,
//!   for a row of any plane) from `point::mean_alpha`. Samples without coverage do not change. See `unsharp`. A linear
//!   filter that writes alpha, too, works on the products as they are; see `blur`.
//! - **To build on another filter**, give its bound type a `pub(super)` constructor and call its `render` on your own band,
//!   as `unsharp` calls the Gaussian of `blur`. It overwrites the [`Scratch`] that you pass; to keep your buffers use
//!   [`Scratch::buffers_and_rest`].
//! - **A plane may have no rows**: chroma in the bottom field of a low picture.
//! - **Golden pictures are 67 samples wide**: a length in samples of a picture 1920 wide is divided by 29 there, so use
//!   large ones.
//!
//! # More
//!
//! - A [`State`](Render::State) holds data that is expensive to compute and often the same for several frames. It is made
//!   by [`prepare`](Render::prepare) and stored under the plan's key. It does not depend on samples: `prepare` does not see
//!   the picture. What several rows need of the picture, each band computes again: see [`Plan::extra_rows`].
//! - A filter in which every frame depends on the one before implements [`Simulate`].

mod ambient;
pub mod analog;
pub mod atmosphere;
pub mod av1grain;
pub mod blur;
pub mod color;
pub mod convert;
pub mod crop;
pub mod deband;
pub mod denoise;
pub mod dither;
pub mod dust;
mod erased;
pub mod fade;
pub mod flicker;
pub mod flock;
pub mod fluid;
pub mod glow;
pub mod grain;
pub mod invert;
pub mod lavfi;
pub mod levels;
pub mod lut;
mod mask;
pub mod matte;
pub mod noise;
pub mod overlay;
pub mod particles;
mod point;
mod rgb;
pub mod sand;
pub mod scale;
pub mod scratches;
mod second;
mod splats;
pub mod sprites;
mod stepped;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod transform;
pub mod unsharp;
pub mod vignette;
pub mod weave;

pub use erased::{Filter, FrameParams, State};

use crate::frame::{Format, FrameMut, FrameRef, FrameTime, PlaneSet, Scratch, SecondInput};
use crate::host::{Host, PrepareError};
use crate::settings::{Setting, SettingError, Settings, Values};
use crate::simd::Level;
use core::ops::Range;

/// The distance from its own row, in luma rows, at which a filter reads its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The filter changes samples in place, and is fused with neighbouring filters.
    InPlace,
    /// As `InPlace`, but where the pictures differ the filter itself reads the samples from [`Band::input`], which saves
    /// their copy.
    Sample,
    /// So many rows up and down, of this picture: in a field, rows of the field.
    Rows(u32),
    /// The whole picture.
    Whole,
}

/// The work of a filter on one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The reach of the filter.
    pub reach: Reach,
    /// The planes that it writes. With [`Reach::InPlace`] and [`Reach::Sample`] the others are unchanged; otherwise they are passed on by
    /// reference without a copy, and must have the same shape in input and output.
    pub writes: PlaneSet,
    /// Planes that it can also write, but only if the user names them (`planes=a`): alpha, for noise.
    pub on_request: PlaneSet,
    /// A hash of everything that the prepared state depends on, and of nothing else; `None` if nothing is
    /// prepared.
    pub state: Option<u128>,
    /// Luma rows that it computes for a band in addition to the band's own, above and below together. If there are many,
    /// bands are higher.
    pub extra_rows: u32,
}

impl Plan {
    /// A plan that changes `writes` in place without a prepared state.
    pub const fn in_place(writes: PlaneSet) -> Plan {
        Plan { reach: Reach::InPlace, writes, on_request: PlaneSet::NONE, state: None, extra_rows: 0 }
    }
}

/// The memory that a filter needs besides the pictures, in bytes: an upper bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Allocated once, shared by all threads.
    pub fixed: usize,
    /// For each frame in progress (states, scratch).
    pub per_frame: usize,
}

/// The rows to render. All row numbers are those of the whole picture (frame or field).
#[derive(Debug)]
pub struct Band<'a> {
    /// Luma rows of the output; the rows of a plane are `output.plane(p).rows()`.
    pub rows: Range<usize>,
    /// The whole input, for a filter that reads beyond its row; `None` with [`Reach::InPlace`], whose input is in
    /// `output`, and with [`Reach::Sample`] if it works in place.
    pub input: Option<FrameRef<'a>>,
    /// The rows of the output, every plane.
    pub output: FrameMut<'a>,
    /// The planes to write: those of the plan, as changed by the user's `planes=`. No other plane may be
    /// written.
    pub writes: PlaneSet,
}

impl<'a> Band<'a> {
    /// The input, beside the output. Panics in a filter whose plan works in place.
    pub fn source(&self) -> FrameRef<'a> {
        let Some(input) = self.input else { unreachable!("a plan with a reach is given the input") };
        input
    }

    /// Copies the input's rows of the planes that are written.
    pub(super) fn copy_source(&mut self) {
        let (input, planes) = (self.source(), self.output.format.planes());
        for p in self.writes.iter().filter(|&p| p < planes) {
            let to = self.output.plane_mut(p);
            to.rows().for_each(|y| to.row_bytes_mut(y).copy_from_slice(input.plane(p).row_bytes(y)));
        }
    }
}

/// Evaluates an expression with a name for the type of a depth's samples: `for_depth!(depth, T => run::<T>())`.
#[macro_export]
macro_rules! for_depth {
    ($depth:expr, $sample:ident => $run:expr) => {
        match $depth.bytes() {
            1 => {
                type $sample = u8;
                $run
            }
            2 => {
                type $sample = u16;
                $run
            }
            _ => {
                type $sample = f32;
                $run
            }
        }
    };
}

/// One filter of a recipe before binding: its settings, parsed and checked.
pub trait Spec: Send + Sync {
    /// Binds the filter to a format. `seed` is different for every filter of the chain.
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError>;

    /// The format of its output for input of a format.
    fn output_format(&self, input: &Format) -> Format {
        *input
    }

    /// The format in which it must work for input of a format: one of the same size, to which the chain converts before
    /// the filter, and back after it.
    fn working_format(&self, input: &Format) -> Format {
        *input
    }

    /// Rejects combinations of settings that are valid one by one, and resolves settings that depend on which
    /// others were `given` and which come from a preset or default.
    fn check(&mut self, given: &Values) -> Result<(), SettingError> {
        let _ = given;
        Ok(())
    }

    /// What the user should know of its result for input of a format, in one line.
    fn note(&self, input: &Format) -> Option<String> {
        let _ = input;
        None
    }

    /// Whether the chain should work in 16 bits although source and sink have fewer. This is right if results lie
    /// between codes and rounding them separately would show steps. White noise dithers itself.
    fn wants_16_bits(&self) -> bool {
        true
    }

    /// Whether it reads the source's frames around each frame, which the host then supplies by
    /// [`Values::supply_source`]. Such a filter must be the first of its chain.
    fn reads_source_frames(&self) -> bool {
        false
    }

    /// Whether its input must have the depth of the chain's result, so that the chain reduces the depth before it. A
    /// decoder, for example, adds grain to the coded samples.
    fn works_at_final_depth(&self) -> bool {
        false
    }

    /// How the chain reduces depth at its end if this is its last filter, and whether the filter does nothing else;
    /// `None` for every filter but `dither`.
    fn final_dithering(&self) -> Option<(dither::Mode, bool)> {
        None
    }
}

/// A filter bound to a format. All methods take `&self`: results do not depend on interior state, and a filter uses no
/// clock, files or threads.
pub trait Render: Send + Sync + 'static {
    /// The parameters at a time: everything that its rows need and that follows from the settings and the
    /// time.
    type Params: Send + Sync + 'static;
    /// The prepared state, which may serve several frames: tables, sorted splats. `()` for most filters.
    type State: Default + Send + Sync + 'static;

    /// The plan and parameters at a time; `None` if the filter does nothing. Called once for each picture,
    /// before any band.
    fn at(&self, at: &FrameTime) -> Option<(Plan, Self::Params)>;

    /// An upper bound of the memory it needs.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// Computes the state that the bands of a frame share; called only if the plan has a state key. `near` is an older
    /// state of this filter for any frame, or the default; it may be advanced or overwritten, and must affect only the
    /// speed. The picture is not available here.
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

    /// The second input of which [`prepare`](Render::prepare) reads a picture for a time, and the place of the picture.
    fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)> {
        let _ = at;
        None
    }

    /// For a filter with [`Reach::Whole`] and no state key whose result is computed from the whole picture at once: the state
    /// that its bands read. `None` for other filters.
    ///
    /// # Errors
    /// The picture cannot be filtered; the frame fails.
    fn of_picture(
        &self,
        now: &Self::Params,
        picture: FrameRef<'_>,
    ) -> Result<Option<Self::State>, PrepareError> {
        let _ = (now, picture);
        Ok(None)
    }

    /// For a filter that changes each sample of plane `p` without regard to any other sample or to its place: replaces
    /// codes by the results, and returns about how many passes of one multiplication over the samples that costs. The
    /// chain then looks up the results of several filters at once. `None` for other filters, whose `codes` are undefined.
    fn map_codes(&self, now: &Self::Params, state: &Self::State, p: usize, codes: &mut [u16]) -> Option<u32> {
        let _ = (now, state, p, codes);
        None
    }

    /// Writes the band's rows of the planes in `band.writes`. Called concurrently for disjoint bands.
    fn render(&self, now: &Self::Params, state: &Self::State, band: &mut Band<'_>, scratch: &mut Scratch);

    /// Type-erases the filter for the chain.
    fn boxed(self) -> Box<dyn Filter>
    where
        Self: Sized,
    {
        Box::new(erased::FrameFilter(self))
    }
}

/// A filter whose frames depend on earlier ones. [`step`](Simulate::step) is called before
/// [`prepare`](Render::prepare), one frame at a time, and its result is the `near` of `prepare`.
pub trait Simulate: Render {
    /// The state that is advanced from frame to frame.
    type Simulation: Send + Sync + 'static;

    /// Advances the shared state to a frame: `track` is the state that the last call left, for any frame (`None` at
    /// first; it may be that of another filter of this kind). It and the host's stored states must affect only the
    /// speed. The chain never makes overlapping calls for one layer. After an error, `track` must be `None` or a valid
    /// state.
    fn step(
        &self,
        now: &Self::Params,
        track: &mut Option<Self::Simulation>,
        host: &Host<'_>,
    ) -> Result<Self::State, PrepareError>;

    /// Type-erases the filter for the chain.
    fn boxed_simulation(self) -> Box<dyn Filter>
    where
        Self: Sized,
    {
        Box::new(erased::SimulationFilter(self))
    }
}

/// Makes a spec from checked settings; rejects invalid combinations.
pub type Build = fn(&Values) -> Result<Box<dyn Spec>, SettingError>;

/// The effect of a filter on the picture as a whole, which determines its effect on alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It changes colours in place. Alpha stays, unless the user names it.
    Adjusts,
    /// It draws over the picture, and covers transparent areas.
    Covers,
    /// It moves the whole picture, including alpha.
    Moves,
}

/// A filter in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in recipes. The filter's seed depends on it, so it never changes.
    pub name: &'static str,
    /// The label in a window.
    pub label: &'static str,
    /// One line about what it does.
    pub help: &'static str,
    /// Its effect on the picture as a whole.
    pub role: Role,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Makes a spec from checked settings.
    pub build: Build,
}

impl Entry {
    /// A filter with the settings `S`, which [adjusts](Role::Adjusts) the picture unless `role` is set.
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

    /// The same filter with another role.
    #[must_use]
    pub const fn with_role(self, role: Role) -> Entry {
        Entry { role, ..self }
    }

    /// Binds the filter with these settings, without a chain; `seed` is used if the settings have none.
    ///
    /// # Errors
    /// A setting has a wrong value, or the filter does not support the format.
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
