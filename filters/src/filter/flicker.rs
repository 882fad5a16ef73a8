//! `flicker`: random changes of exposure from frame to frame, as in hand-cranked and worn film.
//!
//! The exposure of a frame is `1 + amount * v`, where v is approximately normal with a standard deviation of 1 and a
//! bound of 3.5. Each value is a hash of the seed and its number, so frames can be computed in any order. Samples are
//! scaled about black, colour differences about zero; legal samples stay legal.

use super::point::{PointFilter, PointOperation};
use super::{Entry, Filter, Plan, Render, Spec};
use crate::curve::Integral;
use crate::frame::{Format, FrameTime};
use crate::noise::seed::Layer;
use crate::noise::value_noise::{Interpolation, ValueNoise};
use crate::pixel::tone::{Limits, Nominal};
use crate::settings::{Animated, SettingError, Unit};
use crate::simd::Level;
use crate::{choices, settings};

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<FlickerSpec>(
    "flicker",
    "Flicker",
    "Varies the exposure from frame to frame, as in old film",
);

settings! {
    struct FlickerSpec {
        /// Standard deviation of the exposure. 0.02 is just noticeable, 0.05 is obvious, 0.15 is a silent film.
        amount: Animated = number(0.0..=1.0).default(0.05).unit(Unit::Fraction).soft(0.0..=0.3),
        /// New exposures per frame: 1 gives every frame its own, 0.1 drifts over tens of frames, 0 stands still.
        speed: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=1.0),
        /// How the exposure changes between two values.
        mode: Interpolation = choice("smooth"),
    }
    with seed
}

choices! {
    for Interpolation {
        /// smoothly
        Smooth = "smooth",
        /// in steps: each value is held until the next
        Step = "step",
    }
}

impl Spec for FlickerSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let value_noise = ValueNoise::new(seed, Layer::EXPOSURE, self.mode);
        let phase = Phase::new(&self.speed, input);
        let of = Flicker { amount: self.amount.clone(), phase, value_noise };
        Ok(PointFilter { format: *input, level, of }.boxed())
    }
}

/// The phase of a process with varying speed: the integral of the speed.
pub(super) enum Phase {
    /// Constant speed per frame.
    PerFrame(f64),
    /// Constant speed per second.
    PerSecond(f64),
    /// A speed curve, and the factor of its integral over the unit of its keys.
    Curve(Integral, f64),
}

impl Phase {
    /// Of a speed per frame.
    pub(super) fn new(speed: &Animated, format: &Format) -> Phase {
        match speed {
            Animated::Constant(v) => Phase::PerFrame(*v),
            Animated::Curve(curve) => {
                let frames = if curve.in_seconds() { format.rate.to_f64() } else { 1.0 };
                Phase::Curve(Integral::new(curve), frames)
            }
        }
    }

    /// Of a speed per second.
    pub(super) fn per_second(speed: &Animated, format: &Format) -> Phase {
        match speed {
            Animated::Constant(v) => Phase::PerSecond(*v),
            Animated::Curve(curve) => {
                let seconds = if curve.in_seconds() { 1.0 } else { 1.0 / format.rate.to_f64().max(1e-3) };
                Phase::Curve(Integral::new(curve), seconds)
            }
        }
    }

    pub(super) fn at(&self, at: &FrameTime) -> f64 {
        match self {
            Phase::PerFrame(speed) => at.frame.to_f64() * speed,
            Phase::PerSecond(speed) => at.time.to_f64() * speed,
            Phase::Curve(integral, factor) => integral.value(at.frame, at.time) * factor,
        }
    }
}

struct Flicker {
    amount: Animated,
    phase: Phase,
    value_noise: ValueNoise,
}

impl Flicker {
    fn exposure(&self, at: &FrameTime) -> f64 {
        let amount = self.amount.at(at);
        if amount <= 0.0 {
            return 1.0;
        }
        (1.0 + amount * self.value_noise.value(self.phase.at(at), 0)).max(0.0)
    }
}

impl PointOperation for Flicker {
    fn at(&self, format: &Format, at: &FrameTime) -> Option<(Plan, [Nominal; 4])> {
        let gain = self.exposure(at);
        let scaled = Nominal::Line { gain, offset: 0.0, limits: Limits::Widened };
        (gain != 1.0).then(|| (Plan::in_place(format.color_planes()), [scaled; 4]))
    }
}

#[cfg(test)]
mod tests;
