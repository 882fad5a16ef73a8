//! The encoding of samples: the position of a code between the curve's black and white.

use super::settings::RequestedSpace;
use crate::frame::{Format, Transfer};

/// The encoding of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Space {
    /// Brightness as displayed: u is the sample.
    Video,
    /// Scene-linear light. Grain is added to y, the logarithm of ACEScct (S-2016-001): 17.52 stops from 0 to 1,
    /// straight below 0.0078125. A change of one there looks as strong as one of 1/0.405 in video at mid-grey.
    Linear,
    /// A logarithmic code whose black is at this place, and white the highest: 95 of 1023 in Cineon, LogC and S-Log3; 0 in
    /// the codes of H.273, which begin at a hundredth or a 316th of white.
    Log(f64),
    /// SMPTE ST 2084. White is 1000 cd/m2, in a power of 1/2.4.
    Pq,
    /// ARIB STD-B67. White is the highest code, in a power of 1/2.4 of scene light.
    Hlg,
}

/// Black of Cineon.
const BASE: f64 = 95.0 / 1023.0;

/// Video codes of mid-grey (0.18 in a power of 1/2.4) a stop, over ACEScct codes a stop: 0.141 * 17.52 is 2.47.
const MID_GREY: f64 = 0.405;
/// Black of ACEScct.
const TOE: f64 = 0.0729055341958355;
/// Where it is straight, and how steep.
const BREAK: f64 = 0.0078125;
const STEEP: f64 = 10.5402377416545;
/// Stops in all of it.
const STOPS: f64 = 17.52;

impl Space {
    pub(super) fn of(asked: RequestedSpace, format: &Format) -> Space {
        match asked {
            RequestedSpace::Video => Space::Video,
            RequestedSpace::Linear => Space::Linear,
            RequestedSpace::Log => Space::Log(BASE),
            RequestedSpace::Auto => match format.transfer {
                Transfer::LINEAR => Space::Linear,
                Transfer::DENSITY => Space::Log(BASE),
                Transfer::LOG100 | Transfer::LOG316 => Space::Log(0.0),
                Transfer::PQ => Space::Pq,
                Transfer::HLG => Space::Hlg,
                _ => Space::Video,
            },
        }
    }

    /// The curve's place for a sample, both 0 to 1.
    pub(super) fn light(self, v: f64) -> f64 {
        let gamma = |x: f64| libm::pow(if x > 0.0 { x.min(1.0) } else { 0.0 }, 1.0 / 2.4);
        match self {
            Space::Video => v,
            Space::Linear => {
                let y = if v > BREAK { (libm::log2(v) + 9.72) / STOPS } else { STEEP * v + TOE };
                shaped(y)
            }
            Space::Log(black) => ((v - black) / (1.0 - black)).clamp(0.0, 1.0),
            Space::Pq => {
                let (m1, m2) = (2610.0 / 16384.0, 2523.0 / 32.0);
                let (c1, c2, c3) = (3424.0 / 4096.0, 2413.0 / 128.0, 2392.0 / 128.0);
                let p = libm::pow(v.clamp(0.0, 1.0), 1.0 / m2);
                let top = if p > c1 { p - c1 } else { 0.0 };
                gamma(10.0 * libm::pow(top / (c2 - c3 * p), 1.0 / m1))
            }
            Space::Hlg => {
                let (a, b, c) = (0.17883277, 0.28466892, 0.55991073);
                gamma(if v <= 0.5 { v * v / 3.0 } else { (libm::exp((v - c) / a) + b) / 12.0 })
            }
        }
    }

    /// The factor of grain of one at a sample: where samples are linear, the slope of the way back from the
    /// logarithm, so that dark grain is small and bright grain large.
    pub(super) fn slope(self, v: f64) -> f64 {
        match self {
            Space::Linear if v > BREAK => MID_GREY * STOPS * core::f64::consts::LN_2 * v,
            Space::Linear => MID_GREY / STEEP,
            _ => 1.0,
        }
    }

    /// The factor of the grain of a float picture, which is added to the logarithm itself.
    pub(super) fn scale(self) -> f64 {
        if self == Space::Linear { MID_GREY } else { 1.0 }
    }
}

/// The curve's place for a code y of the logarithm.
fn shaped(y: f64) -> f64 {
    ((y - TOE) / (1.0 - TOE)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_the_curve() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 2e-3, "{a} {b}");
        // ST 2084: 100 cd/m2 is at 0.508, 1000 at 0.752, 10000 at 1; HLG: 1/12 of the light at 1/2.
        near(Space::Pq.light(0.7518), 1.0);
        near(Space::Pq.light(0.5081), 0.383);
        near(Space::Pq.light(0.0), 0.0);
        near(Space::Hlg.light(0.5), libm::pow(1.0 / 12.0, 1.0 / 2.4));
        near(Space::Hlg.light(1.0), 1.0);
        // ACEScct: 0.18 is at 0.4136, 1 at 0.5548, 222.86 at 1.
        near(Space::Linear.light(0.18), (0.4136 - TOE) / (1.0 - TOE));
        near(Space::Linear.light(222.86), 1.0);
        near(Space::Linear.light(0.0), 0.0);
        near(Space::Linear.light(BREAK - 1e-9), Space::Linear.light(BREAK + 1e-9));
        near(Space::Linear.slope(BREAK - 1e-9), Space::Linear.slope(BREAK + 1e-9));
        near(Space::Log(BASE).light(95.0 / 1023.0), 0.0);
        near(Space::Log(BASE).light(1.0), 1.0);
        near(Space::Log(0.0).light(0.5), 0.5);
    }
}
