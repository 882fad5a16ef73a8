//! The filter interface. **A newcomer starts here.**
//!
//! A filter is described by its [`Setting`]s (in the [`catalog`](crate::catalog)), parsed into a [`Spec`], and bound
//! to a picture format as a [`Filter`], which can then be asked for any frame, from any thread, in any order.

pub mod blur;
pub mod color;
pub mod convert;
pub mod dither;
pub mod dust;
mod effect;
pub mod fade;
pub mod flicker;
pub mod fluid;
pub mod grain;
pub mod levels;
pub mod noise;
mod overlay;
pub mod particles;
pub mod scratches;
pub mod sprites;
pub mod transform;
pub mod vignette;
pub mod weave;

use crate::frame::{Format, FrameMut, FrameRef, Moment, PlaneSet, Scratch};
use crate::lend::{Host, Stop};
use crate::settings::{Setting, SettingError, Settings, Values};
use crate::simd::Level;
use core::any::Any;
use core::ops::Range;

/// How far from its own row, in luma rows, a filter looks into its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Not at all: it changes samples in place, and bands of neighbouring filters fuse with its own.
    Same,
    /// So many rows up and down.
    Rows(u32),
    /// Anywhere.
    Whole,
}

/// What a filter will do to one frame. Asked once a frame before any band; a curve may change the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Whether it changes anything; `false`: the output is the input.
    pub active: bool,
    /// How far it looks.
    pub reach: Reach,
    /// The planes it writes. With [`Reach::Same`] the others stay as they are; otherwise they pass by reference,
    /// uncopied, and must have the same shape in output and input.
    pub writes: PlaneSet,
    /// Planes it can write too, but only when the user names them (`planes=a`): alpha, for noise.
    pub on_request: PlaneSet,
    /// A hash of all that shapes the prepared state, and nothing that does not; `None` when nothing is prepared.
    pub state: Option<u128>,
}

impl Plan {
    /// A frame left as it is.
    pub const IDLE: Plan = Plan {
        active: false,
        reach: Reach::Same,
        writes: PlaneSet::NONE,
        on_request: PlaneSet::NONE,
        state: None,
    };

    /// Changes `writes` in place, with nothing prepared.
    pub const fn in_place(writes: PlaneSet) -> Plan {
        Plan { active: true, writes, ..Plan::IDLE }
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

/// What [`Filter::prepare`] made for one frame.
pub type State = Box<dyn Any + Send + Sync>;

/// The rows to be made. All row numbers are of the whole picture (frame or field).
#[derive(Debug)]
pub struct Band<'a> {
    /// Luma rows of the output; a plane's own rows are `output.plane(p).rows()`.
    pub rows: Range<usize>,
    /// The whole input, for a filter that looks beyond its row; `None` with [`Reach::Same`], whose input is what
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
    fn ending(&self) -> Option<(dither::Mode, bool)> {
        None
    }
}

/// Bound to a format. `&self` everywhere: no interior mutability, no clock, no file, no thread of its own.
pub trait Filter: Send + Sync {
    /// What comes out.
    fn output(&self) -> &Format;

    /// What it will do to this frame.
    fn plan(&self, at: &Moment) -> Plan;

    /// What it needs at most.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// Makes what the bands of a frame share; called only when the plan has a state key. `near` is any older state
    /// of this filter, of whatever frame, to be moved on or overwritten: the result may depend on it in speed alone.
    /// Never sees the picture.
    fn prepare(&self, at: &Moment, near: Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        let _ = (at, near);
        host.check()?;
        Ok(Box::new(()))
    }

    /// Whether a frame follows from those before it (a simulation). Then [`step`](Filter::step) is called before
    /// [`prepare`](Filter::prepare), one frame at a time, and what it gives is `prepare`'s `near`.
    fn stepped(&self) -> bool {
        false
    }

    /// Moves what all frames share on to a frame: `line` is what the last call left there, of whatever frame (`None` at
    /// first; of another filter of this kind it may be, too), and the result may depend on it, and on what the host's
    /// store has, in speed alone. Gives what `prepare` makes its state of. The chain sees to it that calls for one layer
    /// never overlap; where it fails, `line` is dropped or still a state.
    fn step(&self, at: &Moment, line: &mut Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        let _ = (at, line);
        host.check()?;
        Ok(Box::new(()))
    }

    /// Writes the band's rows of the planes in `band.writes`. Called concurrently for disjoint bands.
    fn render(&self, at: &Moment, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch);
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
