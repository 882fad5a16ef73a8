//! The settings and presets.

use super::field::{FieldSettings, Space, Temporal};
use crate::noise::{CycleStart, Distribution, Generator, Layout};
use crate::settings::{Animated, SettingError, Unit, Values};
use crate::{choices, settings};

settings! {
    pub(super) struct NoiseSpec {
        /// Standard deviation of the noise in 8-bit code values, whatever the distribution and the depth. 2 is barely
        /// visible, 6 is obvious, 20 is like bad reception.
        strength: Animated = number(0.0..=255.0).default(6.0).unit(Unit::Code8).soft(0.0..=50.0),
        /// Noise in brightness only: U and V stay clean; R, G and B get the same noise.
        monochrome: bool = switch().default(false),
        /// Number of noise layers, each twice as coarse as the one before. 1 is white noise, 8 is cloudy; for clouds of
        /// their own see `atmosphere`.
        octaves: i64 = integer(1..=8).default(1).group("Space"),
        /// Strength of an octave relative to the next finer one: 1 is 1/f noise, less is finer, more is coarser. The
        /// total strength stays the same.
        persistence: Animated = number(0.0..=4.0).default(1.0).group("Space"),
        /// Stretches the noise along rows: the distance in luma samples over which the correlation falls to 1/e. 0 does
        /// not stretch.
        across: i64 = integer(0..=64).default(0).label("Length across").group("Space"),
        /// Stretches the noise along columns, as `across` does along rows.
        down: i64 = integer(0..=64).default(0).label("Length down").group("Space"),
        /// How the noise of a frame depends on the frames before it.
        temporal: InTime = choice("none").label("In time").group("Time"),
        /// Correlation of the noise of neighbouring frames, for temporal=ar1.
        correlation: Animated =
            number(0.0..=0.9).default(0.5).group("Time").refused_unless("temporal", &["ar1"]),
        /// Distribution of the noise values.
        distribution: DistributionKind = choice("uniform"),
        /// Number of uniform values that a binomial value sums: 2 is a triangular distribution; more come
        /// closer to a normal distribution and cost more.
        samples: i64 = integer(2..=16).default(4).refused_unless("distribution", &["binomial"]),
        /// Source of the random numbers.
        generator: Generator = choice("lfsr31").group("Advanced"),
        /// Start state of the shift register lfsr31 (32 bits, of which the lower 31 count). Replaces the seed.
        state: Option<u64> =
            seed().label("Register state").group("Advanced").refused_unless("generator", &["lfsr31"]),
        /// How rows of pixels are placed in the cycle of lfsr31.
        layout: Layout = choice("keyed").group("Advanced").refused_unless("generator", &["lfsr31"]),
    }
    presets "Sets several settings at once. A setting that you give overrides the preset." {
        /// snow of an analogue television without a signal
        // The bandwidth of a receiver is limited, so specks are slightly longer than high.
        "analog-tv" = "strength=32:distribution=gaussian:monochrome=true:across=3",
        /// streaks of a video cassette, in luma and chroma
        "vhs" = "strength=8:distribution=gaussian:across=9:down=1:temporal=ar1:correlation=0.3",
    }
    with static, seed
}

choices! {
    /// The correlation of noise in time.
    pub(super) enum InTime {
        /// new in every frame
        None = "none",
        /// neighbouring frames are alike; `correlation` says how much
        Ar1 = "ar1",
        /// 1/f: changes at all rates, from every frame to every 512 frames
        Pink = "pink",
    }
}

choices! {
    /// The distribution of noise values.
    pub(super) enum DistributionKind {
        /// all values within +-1.73 strengths are equally likely; fastest
        Uniform = "uniform",
        /// a sum of `samples` uniform values: close to a normal distribution
        Binomial = "binomial",
        /// a normal distribution, closer to it than binomial, and faster
        Gaussian = "gaussian",
    }
}

choices! {
    for Generator {
        /// 31-bit shift registers: fastest for white noise
        Lfsr31 = "lfsr31",
        /// 64-bit registers: pass every statistical test of the project
        Xs64 = "xs64",
    }
}

choices! {
    for Layout {
        /// each row starts at a hashed place: no frame repeats another, a few pairs of rows overlap
        Keyed = "keyed",
        /// rows follow each other; repeats after 2^27 words (65 frames of 1080p luma)
        Sequential = "sequential",
    }
}

fn err<T>(setting: &'static str, problem: impl ToString) -> Result<T, SettingError> {
    Err(SettingError::new(setting, problem))
}

impl NoiseSpec {
    /// Rejects settings that contradict each other. A spatial setting that the user gives replaces the
    /// preset's other kind.
    pub(super) fn agree(&mut self, given: &Values) -> Result<(), SettingError> {
        let typed = |id: &str| given.given(id).is_some();
        let by_octaves = typed("octaves") && self.octaves > 1;
        let by_lengths = typed("across") && self.across > 0 || typed("down") && self.down > 0;
        if by_octaves && by_lengths {
            return err("octaves", "use either octaves, or across and down");
        }
        if by_lengths && !typed("octaves") {
            self.octaves = 1;
        }
        if by_octaves {
            (self.across, self.down) = (0, 0);
        }
        if self.octaves == 1 && typed("persistence") {
            return err("persistence", "this needs octaves=2 or more: set that, or leave this out");
        }
        if self.state.is_some() && given.seed().is_some() {
            return err("state", "it replaces the seed: give only one of the two");
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

    /// The start of the cycle, if it is given.
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

    /// The settings of a field; `None` for white noise.
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
