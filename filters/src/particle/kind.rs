//! The common properties of particles of one kind: each parameter's BASE and OFFSET.

use super::clock;

/// One parameter of a kind: a particle's value is `base + r * offset` with its own r, -1 <= r < 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spread {
    /// The middle.
    pub base: f32,
    /// How far to either side.
    pub offset: f32,
}

impl Spread {
    /// The same for every particle.
    pub const fn fixed(base: f32) -> Spread {
        Spread { base, offset: 0.0 }
    }

    /// From `low` (met) to `high` (not met, but for rounding).
    pub fn between(low: f32, high: f32) -> Spread {
        Spread { base: (low + high) * 0.5, offset: (high - low) * 0.5 }
    }

    /// The value for the random number `r`.
    #[inline(always)]
    pub fn at(self, r: f32) -> f32 {
        self.base + r * self.offset
    }

    /// No particle's value is farther from 0. Rounding is monotone, so this holds for the rounded values too.
    #[inline(always)]
    pub fn reach(self) -> f32 {
        self.base.abs() + self.offset.abs()
    }
}

/// Parameters that motion and drawing know, at the places they are drawn in. A kind's own ones come after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Parameter {
    /// How long it lives, in seconds. A particle whose life is not above 0 is never seen.
    Life,
    /// Units a second along its direction, at birth.
    Speed,
    /// Acceleration in x, units a second a second; gravity and steady wind are bases here.
    AccelX,
    /// The same in y.
    AccelY,
    /// The same in z.
    AccelZ,
    /// Half its width at birth, in units.
    Size,
    /// The change of size per second.
    Growth,
    /// Its angle at birth, in turns.
    Angle,
    /// Turns a second.
    Spin,
}

/// How many parameters every kind has.
pub const STANDARD: usize = 9;

/// The most parameters a kind may have.
pub const MAX_PARAMETERS: usize = 1024;

/// The longest life, in seconds (eleven days): ages stay exact well beyond it.
pub const MAX_LIFE: f32 = 1e6;

/// The largest base and offset: squares of the longest life times this are still far from infinite.
pub const MAX_SPREAD: f32 = 1e12;

/// An error in a kind.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum KindError {
    /// Parameter `.0` has a base or an offset that is not a number within ±[`MAX_SPREAD`].
    #[error("parameter {0} must be a number within ±{MAX_SPREAD}")]
    Value(usize),
    /// A life of `.0` seconds, more than [`MAX_LIFE`].
    #[error("a life of {0} seconds: the longest is {MAX_LIFE}")]
    Life(f32),
    /// `.0` parameters, more than [`MAX_PARAMETERS`].
    #[error("{0} parameters: a kind has at most {MAX_PARAMETERS}")]
    Count(usize),
}

/// A definition that any number of particles share.
///
/// Every parameter takes its number from the particle's sequence, in order, whether its offset is 0 or not: changing
/// one never changes another.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    standard: [Spread; STANDARD],
    extra: Vec<Spread>,
}

impl Kind {
    /// A kind with the [standard](Parameter) parameters and any number of its own.
    ///
    /// # Errors
    /// A parameter is out of range, the life is too long, or there are too many parameters.
    pub fn new(standard: [Spread; STANDARD], extra: Vec<Spread>) -> Result<Kind, KindError> {
        let count = STANDARD + extra.len();
        if count > MAX_PARAMETERS {
            return Err(KindError::Count(count));
        }
        let fits = |v: f32| (-MAX_SPREAD..=MAX_SPREAD).contains(&v);
        if let Some(i) = standard.iter().chain(&extra).position(|s| !fits(s.base) || !fits(s.offset)) {
            return Err(KindError::Value(i));
        }
        let life = standard[Parameter::Life as usize].reach();
        if life > MAX_LIFE {
            return Err(KindError::Life(life));
        }
        Ok(Kind { standard, extra })
    }

    /// The parameters that every kind has.
    pub fn standard(&self) -> &[Spread; STANDARD] {
        &self.standard
    }

    /// The kind's own parameters.
    pub fn extra(&self) -> &[Spread] {
        &self.extra
    }

    /// One standard parameter.
    #[inline(always)]
    pub fn parameter(&self, slot: Parameter) -> Spread {
        self.standard[slot as usize]
    }

    /// How many parameters there are.
    pub fn count(&self) -> usize {
        STANDARD + self.extra.len()
    }

    /// Flicks after which no particle of this kind lives any more.
    pub fn longest(&self) -> i64 {
        let life = self.parameter(Parameter::Life);
        clock::length(f64::from(life.base + life.offset.abs()))
    }

    /// How far from its birthplace anything of a particle of this kind may be at an age in seconds, along each axis:
    /// |BASE| + |OFFSET| of speed, acceleration and size over that age. The size is that of a square turned any way.
    ///
    /// Widened by 2^-19 of itself for the rounding of positions; the rounding error of a position of that size comes
    /// on top (see [`View`](super::View)).
    #[inline(always)]
    pub fn reach(&self, age: f32) -> [f32; 3] {
        const ROUNDING: f32 = 1.0 + 1.0 / 524_288.0;
        let size = (self.parameter(Parameter::Size).reach()
            + self.parameter(Parameter::Growth).reach() * age)
            * core::f32::consts::SQRT_2;
        let straight = self.parameter(Parameter::Speed).reach() * age + size;
        let half = 0.5 * age * age;
        [Parameter::AccelX, Parameter::AccelY, Parameter::AccelZ]
            .map(|a| (straight + self.parameter(a).reach() * half) * ROUNDING)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Draws;
    use super::*;

    impl Kind {
        /// All parameters of the particle with this seed, in order: the definition of regeneration.
        pub(crate) fn values(&self, seed: u32) -> impl Iterator<Item = f32> + '_ {
            let mut draws = Draws::of(seed);
            self.standard.iter().chain(&self.extra).map(move |s| s.at(draws.draw()))
        }
    }

    #[test]
    fn a_parameter_is_base_plus_r_times_offset() {
        let mut standard = [Spread::default(); STANDARD];
        standard[Parameter::Life as usize] = Spread { base: 5.0, offset: 2.0 };
        let kind = Kind::new(standard, vec![Spread { base: -1.0, offset: 0.5 }; 3]).unwrap();
        let mut draws = Draws::of(77);
        let r: Vec<f32> = (0..12).map(|_| draws.draw()).collect();
        let values: Vec<f32> = kind.values(77).collect();
        assert_eq!(values.len(), kind.count());
        assert_eq!(values[0], 5.0 + r[0] * 2.0);
        assert_eq!(values[11], -1.0 + r[11] * 0.5);
        assert_eq!(kind.longest(), 7 * super::clock::FLICKS + 1);
    }

    #[test]
    fn changing_one_parameter_changes_no_other() {
        let mut standard = [Spread { base: 1.0, offset: 1.0 }; STANDARD];
        let before = Kind::new(standard, vec![]).unwrap();
        standard[Parameter::Speed as usize].offset = 0.0;
        let after = Kind::new(standard, vec![]).unwrap();
        for (i, (a, b)) in before.values(5).zip(after.values(5)).enumerate() {
            assert_eq!(a == b, i != Parameter::Speed as usize, "{i}");
        }
    }

    #[test]
    fn invalid_kinds_are_refused() {
        let with = |s: Spread| Kind::new([s; STANDARD], vec![]);
        assert_eq!(with(Spread::fixed(f32::NAN)), Err(KindError::Value(0)));
        assert_eq!(with(Spread { base: 0.0, offset: f32::INFINITY }), Err(KindError::Value(0)));
        assert_eq!(with(Spread::fixed(2e6)), Err(KindError::Life(2e6)));
        let many = Kind::new([Spread::default(); STANDARD], vec![Spread::default(); 1016]);
        assert_eq!(many, Err(KindError::Count(1025)));
    }
}
