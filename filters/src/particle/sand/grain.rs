//! Grains.

use crate::noise::seed::mix64;
use crate::pma::Ranked;

/// A grain that lies on others or on something solid: asleep, or awake and in motion. Lengths are in diameters of the
/// largest grain, times in seconds; y grows downwards.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Grain {
    /// Its number; it determines the radius.
    pub id: u32,
    /// The centre.
    pub at: [f32; 2],
    /// Velocity; 0 while it sleeps.
    pub velocity: [f32; 2],
    /// Increased by four in each step without motion and with support on both sides, and by one if it creeps; the grain
    /// sleeps from [`ASLEEP`](super::ASLEEP) on.
    pub still: u16,
    /// Whether a chain of supports leads down to a sleeper or a solid; a falling heap has none.
    pub is_carried: bool,
}

impl Ranked for Grain {
    type Rank = u32;

    #[inline(always)]
    fn rank(&self) -> u32 {
        self.id
    }
}

/// A grain in flight, which touches nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Flyer {
    /// Its number; it determines the radius.
    pub id: u32,
    /// The centre.
    pub at: [f32; 2],
    /// Velocity.
    pub velocity: [f32; 2],
}

/// The radius of a grain: .38 to .5.
pub fn radius(id: u32) -> f32 {
    let unit = (mix64(u64::from(id) ^ 0x5eed_0000_0000) >> 40) as f32 * (1.0 / (1u32 << 24) as f32);
    0.5 - 0.12 * unit
}

/// A disc in a short step.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Body {
    pub(super) at: [f32; 2],
    /// The position at the start.
    pub(super) from: [f32; 2],
    pub(super) radius: f32,
    pub(super) id: u32,
}

impl Body {
    pub(super) fn new(id: u32, at: [f32; 2]) -> Body {
        Body { at, from: at, radius: radius(id), id }
    }

    /// Whether the gap to another body is below `gap`.
    #[inline(always)]
    pub(super) fn is_near(&self, other: &Body, gap: f32) -> bool {
        let (dx, dy) = (other.at[0] - self.at[0], other.at[1] - self.at[1]);
        let reach = self.radius + other.radius + gap;
        dx * dx + dy * dy < reach * reach
    }

    /// The motion in the short step.
    #[inline(always)]
    pub(super) fn moved(&self) -> [f32; 2] {
        [self.at[0] - self.from[0], self.at[1] - self.from[1]]
    }
}

/// The motion of an awake grain.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Motion {
    pub(super) velocity: [f32; 2],
    /// As in [`Grain`].
    pub(super) still: u16,
    pub(super) is_carried: bool,
    /// Whether it has lain on a sleeper or something solid in the step.
    pub(super) lies: bool,
}
