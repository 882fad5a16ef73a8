//! The parts of a bound chain.

use crate::filter::{Filter, Memory};
use crate::frame::{FieldOrder, Format, FrameTime, Parity, PlaneSet, Spans};
use crate::pixel::blend::Opacity;
use crate::settings::Animated;
use crate::simd::Level;
use core::fmt;

/// How interlaced pictures are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fields {
    /// As whole frames.
    Frame,
    /// As two half-height pictures, of which this one is the earlier in time.
    First(Parity),
}

impl Fields {
    /// The mode for the format's field order. [`FieldOrder::Mixed`] is filtered as fields, top first, which is
    /// also correct for progressive frames.
    pub fn of(order: FieldOrder) -> Fields {
        match order {
            FieldOrder::Unspecified | FieldOrder::Progressive => Fields::Frame,
            FieldOrder::TopFirst | FieldOrder::Mixed => Fields::First(Parity::Top),
            FieldOrder::BottomFirst => Fields::First(Parity::Bottom),
        }
    }
}

/// Parameters of a binding, besides steps and formats.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The user's seed.
    pub seed: u64,
    /// Instruction set to use.
    pub level: Level,
    /// Number of the source's first frame, for keys in percent.
    pub first: i64,
    /// Number of its last frame, for keys that count from the end or in percent.
    pub last: Option<i64>,
    /// How interlaced pictures are filtered.
    pub fields: Fields,
}

/// One filter with the work that the chain does for it.
pub(super) struct Stage {
    /// One for whole frames, two (top, bottom) for fields.
    pub filters: Vec<Box<dyn Filter>>,
    pub enable: Option<Spans>,
    pub planes: Option<PlaneSet>,
    pub opacity: Animated,
    pub mask: Option<Mask>,
    /// Every frame is rendered with the frame number 0, its second field with 1.
    pub is_static: bool,
    /// The format of the whole frame after this stage.
    pub output: Format,
    /// True for a step of the recipe, false for a conversion that the chain inserts.
    pub from_recipe: bool,
}

impl Stage {
    /// A stage for all frames and planes at full opacity.
    pub(super) fn plain(
        filters: Vec<Box<dyn Filter>>,
        is_static: bool,
        output: Format,
        from_recipe: bool,
    ) -> Stage {
        let (enable, planes, opacity, mask) = (None, None, Animated::Constant(1.0), None);
        Stage { filters, enable, planes, opacity, mask, is_static, output, from_recipe }
    }

    /// The opacity at a time; `None` if the stage then does nothing.
    pub(super) fn opacity(&self, at: &FrameTime) -> Option<Opacity> {
        let enabled = self.enable.as_ref().is_none_or(|e| e.contains(at.index, at.time));
        enabled.then(|| Opacity::new(self.opacity.at(at))).filter(|opacity| !opacity.is_none())
    }
}

/// The mask of a step, bound to the format before it.
pub(super) struct Mask {
    pub(super) chain: Chain,
    /// Whether it is made from the picture before the step.
    pub(super) reads_picture: bool,
    /// Whether it is the same in all frames.
    pub(super) is_constant: bool,
}

/// Filters in order, bound to a format. Any thread can run any frame through it.
pub struct Chain {
    pub(super) input: Format,
    pub(super) stages: Vec<Stage>,
    pub(super) fields: Fields,
    pub(super) level: Level,
    pub(super) notes: Vec<String>,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("input", &self.input).field("stages", &self.stages.len()).finish()
    }
}

impl Chain {
    /// The format of the input.
    pub fn input(&self) -> &Format {
        &self.input
    }

    /// The format of the output.
    pub fn output(&self) -> &Format {
        self.stages.last().map_or(&self.input, |l| &l.output)
    }

    /// Whether a frame depends on earlier frames, because one of the filters is a simulation.
    pub fn is_simulation(&self) -> bool {
        self.stages.iter().flat_map(|l| &l.filters).any(|f| f.is_simulation())
    }

    /// One line for each conversion, to show to the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// An upper bound of the memory that a frame needs, without the source's frame.
    pub fn memory(&self) -> Memory {
        let mut total = Memory::default();
        let mut largest = 0;
        for stage in &self.stages {
            for m in stage.filters.iter().map(|f| f.memory()) {
                total.fixed += m.fixed;
                total.per_frame += m.per_frame;
            }
            total.per_frame += stage.mask.as_ref().map_or(0, Mask::memory);
            largest = largest.max(padded_bytes(&stage.output));
        }
        // Stages that do not work in place alternate between two frames.
        if !self.stages.is_empty() {
            total.per_frame += 2 * largest;
        }
        total
    }
}

fn padded_bytes(format: &Format) -> usize {
    (0..format.planes())
        .map(|p| format.plane_size(p))
        .map(|(w, h)| (w * format.depth.bytes()).next_multiple_of(64) * h)
        .sum()
}

impl Mask {
    /// An upper bound of the bytes that a frame's mask needs.
    pub(super) fn memory(&self) -> usize {
        let memory = self.chain.memory();
        memory.fixed + memory.per_frame + self.chain.output().frame_bytes()
    }
}
