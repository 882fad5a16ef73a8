//! What the user can set, and the presets.

use super::field::{FieldSettings, Space, Temporal};
use crate::noise::{CycleStart, Distribution, Generator, Layout};
use crate::settings::{Animated, SettingError, Unit, Values};
use crate::{choices, settings};

settings! {
    pub(super) struct NoiseSpec {
        /// How strong: the standard deviation of the noise in 8-bit code values, whatever the distribution and the depth. 2
        /// is barely seen, 6 is plain, 20 is a bad receiver.
        strength: Animated = number(0.0..=255.0).default(6.0).unit(Unit::Code8).soft(0.0..=50.0),
        /// Leaves the colour differences alone, and gives R, G and B the same noise.
        monochrome: bool = switch().default(false),
        /// How many layers of noise are blended, each twice as coarse as the one before. 1 is white, 8 is clouds.
        octaves: i64 = integer(1..=8).default(1).group("Space"),
        /// How strong an octave is beside the next finer one: 1 is 1/f noise, less is finer, more is coarser. The strength
        /// of the whole stays.
        persistence: Animated = number(0.0..=4.0).default(1.0).group("Space"),
        /// Draws noise out along rows: the distance in luma samples over which likeness falls to 1/e. 0 does not.
        across: i64 = integer(0..=64).default(0).label("Length across").group("Space"),
        /// Draws noise out along columns, as `across` does along rows.
        down: i64 = integer(0..=64).default(0).label("Length down").group("Space"),
        /// How the noise of a frame hangs on that of the frames before it.
        temporal: InTime = choice("none").label("In time").group("Time"),
        /// Of the noise of a frame with that of the next, for temporal=ar1.
        correlation: Animated =
            number(0.0..=0.9).default(0.5).group("Time").refused_unless("temporal", &["ar1"]),
        /// How often small and large values come.
        distribution: DistributionKind = choice("uniform"),
        /// How many uniform numbers a binomial sums: 2 is a triangle, more come nearer to a bell curve and cost as much
        /// more.
        samples: i64 = integer(2..=16).default(4).refused_unless("distribution", &["binomial"]),
        /// Where the random numbers come from.
        generator: Generator = choice("lfsr31").group("Random numbers"),
        /// Starts the shift register lfsr31 at this very state (32 bits, of which the lower 31 count) in place of one made
        /// from a seed. Without it the seed decides.
        state: Option<u64> =
            bits().label("Register state").group("Random numbers").refused_unless("generator", &["lfsr31"]),
        /// How rows of pixels are laid over the cycle of lfsr31.
        layout: Layout = choice("keyed").group("Random numbers").refused_unless("generator", &["lfsr31"]),
    }
    presets "A look in one word. What is typed beside it wins." {
        /// the snow of a television set that is tuned to no station
        // A receiver's band is narrower than the picture's lines are long: specks are a little longer than high.
        "analog-tv" = "strength=60:distribution=gaussian:monochrome=true:across=1",
        /// streaks of a video cassette, in luma and colour
        "vhs" = "strength=11:distribution=gaussian:across=7:temporal=ar1:correlation=0.3",
        /// slow billows of eight octaves
        "clouds" = "strength=26:distribution=gaussian:monochrome=true:octaves=8:persistence=1.6:temporal=ar1:correlation=0.9",
    }
    with static, seed
}

choices! {
    /// How noise hangs together in time.
    pub(super) enum InTime {
        /// new in every frame
        None = "none",
        /// frames are like their neighbours, the more the higher `correlation`
        Ar1 = "ar1",
        /// 1/f: fast and slow changes alike, from every frame to every 512
        Pink = "pink",
    }
}

choices! {
    /// How often small and large values come.
    pub(super) enum DistributionKind {
        /// all values within +-1.73 strengths equally often; the fastest
        Uniform = "uniform",
        /// a sum of `samples` uniform numbers: near to a bell curve
        Binomial = "binomial",
        /// a bell curve, nearer to it than binomial and faster
        Gaussian = "gaussian",
    }
}

choices! {
    for Generator {
        /// shift registers of 31 bits: the fastest for white noise
        Lfsr31 = "lfsr31",
        /// registers of 64 bits, whose numbers stand up to any statistics
        Xs64 = "xs64",
    }
}

choices! {
    for Layout {
        /// each row at a hashed place: frames never echo each other
        Keyed = "keyed",
        /// one row behind the other, as a tape; an echo of the picture comes back after 2^27 words (65 frames of 1080p luma)
        Sequential = "sequential",
    }
}

fn err<T>(setting: &'static str, problem: impl Into<String>) -> Result<T, SettingError> {
    Err(SettingError { setting, problem: problem.into() })
}

impl NoiseSpec {
    /// Refuses what does not go together. One way into space typed puts the preset's other way aside.
    pub(super) fn agree(&mut self, given: &Values) -> Result<(), SettingError> {
        let typed = |id: &str| given.given(id).is_some();
        let by_octaves = typed("octaves") && self.octaves > 1;
        let by_lengths = typed("across") && self.across > 0 || typed("down") && self.down > 0;
        if by_octaves && by_lengths {
            return err(
                "octaves",
                "noise is made coarse by octaves or by lengths: give octaves, or across and down",
            );
        }
        if by_lengths && !typed("octaves") {
            self.octaves = 1;
        }
        if by_octaves {
            (self.across, self.down) = (0, 0);
        }
        if self.octaves == 1 && typed("persistence") {
            return err("persistence", "a single octave has none: give octaves=2 or more, or leave it out");
        }
        if self.state.is_some() && given.seed().is_some() {
            return err("state", "stands in the place of the seed: give one of the two");
        }
        self.register().map(drop)
    }

    pub(super) fn distribution(&self) -> Distribution {
        match self.distribution {
            DistributionKind::Uniform => Distribution::UNIFORM,
            DistributionKind::Binomial => Distribution::Sum(self.samples as u32),
            DistributionKind::Gaussian => Distribution::H8,
        }
    }

    /// Where the cycle begins, if that is given.
    pub(super) fn register(&self) -> Result<Option<CycleStart>, SettingError> {
        let Some(wide) = self.state else { return Ok(None) };
        let Ok(state) = u32::try_from(wide) else {
            return err("state", format!("{wide:#x} has more than 32 bits"));
        };
        match CycleStart::State(state).state() {
            Ok(_) => Ok(Some(CycleStart::State(state))),
            Err(e) => err("state", e.to_string()),
        }
    }

    /// What makes it other than white; `None` when nothing does.
    pub(super) fn field_settings(&self) -> Option<FieldSettings> {
        let space = if self.octaves > 1 {
            Space::Octaves(self.octaves as u32, self.persistence.clone())
        } else {
            Space::Lengths([self.across as u32, self.down as u32])
        };
        let temporal = match self.temporal {
            InTime::Ar1 => Temporal::Ar1(self.correlation.clone()),
            InTime::Pink => Temporal::Pink,
            InTime::None => Temporal::None,
        };
        let white = matches!((&space, &temporal), (Space::Lengths([0, 0]), Temporal::None));
        (!white).then_some(FieldSettings { space, temporal })
    }
}
