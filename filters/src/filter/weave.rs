//! `weave`: unsteady film in the gate of a worn projector, which drifts and jumps.
//!
//! There are two smooth random movements (horizontal and vertical), new in every frame by default, and in each frame a chance of a vertical hop
//! that decays within three frames. All follow from hashes of the frame number, so frames can be computed in any order.
//! The resampler of [`transform`](super::transform) moves the picture by fractions of a sample.

use super::flicker::Phase;
use super::transform::{Mover, Placement, Resampler, without_rim};
use super::{Entry, Filter, Render, Role, Spec};
use crate::frame::{Format, FrameTime};
use crate::noise::seed::Layer;
use crate::noise::value_noise::{Interpolation, ValueNoise, normal, uniform};
use crate::pixel::resample::{Edge, InterpolationKernel};
use crate::settings;
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<WeaveSpec>("weave", "Gate weave", "Moves the picture slightly, as film in a worn gate")
        .with_role(Role::Moves);

settings! {
    struct WeaveSpec {
        /// Horizontal wander: the standard deviation as a fraction of the width. 0.001 is just noticeable, 0.003 is
        /// obvious.
        across: Animated = number(0.0..=0.25).default(0.0005).unit(Unit::Fraction).soft(0.0..=0.02),
        /// Vertical wander: the standard deviation as a fraction of the height.
        down: Animated = number(0.0..=0.25).default(0.0012).unit(Unit::Fraction).soft(0.0..=0.02),
        /// New positions per frame: 1 gives every frame its own, as a gate does, 0.1 is a slow sway as of a camera in a
        /// hand.
        speed: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=1.0),
        /// Size of a hop: the standard deviation as a fraction of the height.
        hop: Animated = number(0.0..=0.5).default(0.01).unit(Unit::Fraction).soft(0.0..=0.1),
        /// Probability of a hop per frame. 0 is never; 0.02 is about two in a hundred frames.
        hops: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).soft(0.0..=0.1),
        /// What fills the area beyond the edges of the picture.
        edge: Edge = choice("extend"),
        /// Fill colour for edge=color, with its alpha. Default: black; transparent in pictures with alpha.
        color: Animated<[f64; 4]> = colour().default([0.0; 4]).only_when("edge", &["color"]),
    }
    with seed
}

impl Spec for WeaveSpec {
    fn working_format(&self, input: &Format) -> Format {
        without_rim(input)
    }

    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let weave = Weave {
            set: self.clone(),
            phase: Phase::new(&self.speed, input),
            sway: ValueNoise::new(seed, Layer::WEAVE, Interpolation::Smooth),
            jump: ValueNoise::new(seed, Layer::HOP, Interpolation::Step),
            size: [f64::from(input.width), f64::from(input.height)],
        };
        let resampler = Resampler::new(input, level, InterpolationKernel::Bicubic, self.edge)?;
        let at = move |at: &FrameTime| (weave.placement(at), weave.set.color.at(at));
        Ok(Mover { resampler, farthest: 1.0, at }.boxed())
    }
}

struct Weave {
    set: WeaveSpec,
    phase: Phase,
    sway: ValueNoise,
    jump: ValueNoise,
    /// Width and height of the frame.
    size: [f64; 2],
}

/// The remaining part of a hop in the frame in which it happens and the next ones.
const LEFT: [f64; 3] = [1.0, 0.45, 0.15];

impl Weave {
    /// The displacement of the picture in fractions of width and height.
    fn offset(&self, at: &FrameTime) -> [f64; 2] {
        let place = self.phase.at(at);
        let x = self.set.across.at(at) * self.sway.value(place, 0);
        let mut y = self.set.down.at(at) * self.sway.value(place, 1);
        // Both fields of a frame have the same hop.
        let whole = at.whole_frame();
        let (hop, chance) = (self.set.hop.at(&whole), self.set.hops.at(&whole));
        let frame = at.frame.floor();
        if hop > 0.0 && chance > 0.0 {
            for (back, left) in (0i64..).zip(LEFT) {
                let then = frame.wrapping_sub(back);
                if uniform(self.jump.hash(then, 0)) < chance {
                    y += hop * left * normal(self.jump.hash(then, 1));
                }
            }
        }
        [x, y]
    }

    fn placement(&self, at: &FrameTime) -> Placement {
        let [x, y] = self.offset(at);
        let [width, height] = self.size;
        // Limit the sum to the size of the picture.
        let shift = [-x.clamp(-1.0, 1.0) * width, -y.clamp(-1.0, 1.0) * height];
        Placement { shift, ..Placement::SAME }
    }
}

#[cfg(test)]
mod tests;
