//! Named easing functions: curves, MLT letters and names.

use super::easing;

/// The curve of an easing function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EaseKind {
    /// A quarter of a sine wave.
    Sine,
    /// u^2.
    Quad,
    /// u^3.
    Cubic,
    /// u^4.
    Quart,
    /// u^5.
    Quint,
    /// 2^(10u), shifted and scaled to begin at exactly 0.
    Expo,
    /// A quarter of a circle.
    Circ,
    /// Moves back by a tenth first.
    Back,
    /// Oscillates with growing amplitude.
    Elastic,
    /// Bounces like a ball.
    Bounce,
}

/// The end that is eased.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EaseEnd {
    /// Begins slowly.
    In,
    /// Ends slowly: `In` mirrored in time.
    Out,
    /// Eases both ends, `In` and `Out` at half scale.
    InOut,
}

/// An easing function, as Robert Penner defined them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Ease {
    /// The curve.
    pub kind: EaseKind,
    /// The end that is eased.
    pub end: EaseEnd,
}

const ENDS: [EaseEnd; 3] = [EaseEnd::In, EaseEnd::Out, EaseEnd::InOut];

/// MLT's letters: in, out, and in-out of each curve in turn.
const LETTERS: &[u8; 30] = b"abcdefghijklmnopqrstuvwxyzABCD";

macro_rules! kinds {
    ($($kind:ident $name:literal)*) => {
        const KINDS: [EaseKind; 10] = [$(EaseKind::$kind),*];

        /// The names, in the order of the letters.
        pub(crate) const NAMES: [&str; 30] =
            [$(concat!($name, "-in"), concat!($name, "-out"), concat!($name, "-in-out")),*];
    };
}
kinds!(Sine "sine" Quad "quad" Cubic "cubic" Quart "quart" Quint "quint" Expo "expo" Circ "circ" Back "back" Elastic "elastic"
    Bounce "bounce");

impl Ease {
    /// All thirty easing functions, in the order of their letters.
    pub fn all() -> impl Iterator<Item = Ease> {
        KINDS.into_iter().flat_map(|kind| ENDS.map(|end| Ease { kind, end }))
    }

    pub(crate) const fn index(self) -> usize {
        self.kind as usize * 3 + self.end as usize
    }

    /// The easing function whose letter is this many places after `a`.
    pub(crate) fn from_index(index: usize) -> Option<Ease> {
        Some(Ease { kind: *KINDS.get(index / 3)?, end: ENDS[index % 3] })
    }

    /// The name in recipes: `sine-in` to `bounce-in-out`.
    pub const fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    /// The letter that MLT uses.
    pub const fn letter(self) -> char {
        LETTERS[self.index()] as char
    }

    /// Finds an easing function by name.
    pub fn from_name(name: &str) -> Option<Ease> {
        Ease::all().find(|e| e.name() == name)
    }

    /// Finds an easing function by MLT's letter.
    pub fn from_letter(letter: char) -> Option<Ease> {
        Ease::all().find(|e| e.letter() == letter)
    }

    /// The times, in order, at which the value changes from rising to falling or back.
    pub(super) fn turns(self) -> Vec<f64> {
        let half = || easing::turns_of_half(self.kind).into_iter().map(|u| 0.5 * u);
        match self.end {
            EaseEnd::In => easing::turns(self.kind),
            EaseEnd::Out => easing::turns(self.kind).into_iter().rev().map(|u| 1.0 - u).collect(),
            EaseEnd::InOut => half().chain(half().rev().map(|u| 1.0 - u)).collect(),
        }
    }

    /// Whether its values leave the range from 0 to 1.
    pub const fn overshoots(self) -> bool {
        matches!(self.kind, EaseKind::Back | EaseKind::Elastic)
    }

    /// The progress at `u`: 0 at `u` = 0 and 1 at `u` = 1. Back and elastic leave that range in between.
    pub fn value(self, u: f64) -> f64 {
        match self.end {
            EaseEnd::In => easing::value(self.kind, u),
            EaseEnd::Out => 1.0 - easing::value(self.kind, 1.0 - u),
            EaseEnd::InOut if u < 0.5 => 0.5 * easing::value_of_half(self.kind, 2.0 * u),
            EaseEnd::InOut => 1.0 - 0.5 * easing::value_of_half(self.kind, 2.0 - 2.0 * u),
        }
    }

    /// The integral of [`value`](Ease::value) from 0 to `u`, in closed form.
    pub fn integral(self, u: f64) -> f64 {
        match self.end {
            EaseEnd::In => easing::integral(self.kind, u),
            EaseEnd::Out => u - (easing::integral(self.kind, 1.0) - easing::integral(self.kind, 1.0 - u)),
            EaseEnd::InOut if u < 0.5 => 0.25 * easing::integral_of_half(self.kind, 2.0 * u),
            EaseEnd::InOut => (u - 0.5) + 0.25 * easing::integral_of_half(self.kind, 2.0 - 2.0 * u),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_one_to_one() {
        assert_eq!(Ease::all().count(), 30);
        for (i, e) in Ease::all().enumerate() {
            assert_eq!(e.index(), i);
            assert_eq!(Ease::from_name(e.name()), Some(e));
            assert_eq!(Ease::from_letter(e.letter()), Some(e));
            let kind = format!("{:?}-{:?}", e.kind, e.end).to_lowercase().replace("inout", "in-out");
            assert_eq!(e.name(), kind);
        }
        // From MLT's table of keyframe types.
        let letter = |name| Ease::from_name(name).unwrap().letter();
        assert_eq!(
            ["sine-in", "cubic-in-out", "circ-in", "back-in-out", "elastic-in-out", "bounce-in-out"]
                .map(letter),
            ['a', 'i', 's', 'x', 'A', 'D']
        );
    }

    #[test]
    fn ends_are_exact_and_halves_meet() {
        for e in Ease::all() {
            assert_eq!(e.value(0.0), 0.0, "{}", e.name());
            assert_eq!(e.value(1.0), 1.0, "{}", e.name());
            if e.end == EaseEnd::InOut {
                assert!((e.value(0.5) - 0.5).abs() < 1e-15, "{}", e.name());
                assert!((e.integral(1.0) - 0.5).abs() < 1e-15, "{}", e.name());
            }
        }
    }

    #[test]
    fn eases_are_continuous() {
        const N: i32 = 40_000;
        for e in Ease::all() {
            for i in 0..N {
                let [a, b] = [i, i + 1].map(|i| f64::from(i) / f64::from(N));
                // A quarter circle is the steepest: its end is vertical.
                let most = if e.kind == EaseKind::Circ { 0.01 } else { 0.002 };
                assert!((e.value(b) - e.value(a)).abs() < most, "{} at {a}", e.name());
            }
        }
    }

    #[test]
    fn eases_without_a_swing_never_go_back() {
        for e in Ease::all() {
            if matches!(e.kind, EaseKind::Back | EaseKind::Elastic | EaseKind::Bounce) {
                continue;
            }
            let all: Vec<f64> = (0..=10_000).map(|i| e.value(f64::from(i) / 10_000.0)).collect();
            assert!(all.windows(2).all(|w| w[0] <= w[1] + 1e-15), "{}", e.name());
        }
    }

    #[test]
    fn eases_turn_where_they_are_said_to() {
        for e in Ease::all() {
            let mut ends = e.turns();
            ends.insert(0, 0.0);
            ends.push(1.0);
            let mut rose = None;
            for pair in ends.windows(2) {
                assert!(pair[0] < pair[1], "{}", e.name());
                let all: Vec<f64> = (0..=4000)
                    .map(|i| e.value(pair[0] + (pair[1] - pair[0]) * f64::from(i) / 4000.0))
                    .collect();
                let rises = all[4000] > all[0];
                let moves = |w: &[f64]| if rises { w[1] - w[0] } else { w[0] - w[1] };
                assert!(all.windows(2).all(|w| moves(w) > -1e-15), "{} after {}", e.name(), pair[0]);
                assert_ne!(rose.replace(rises), Some(rises), "{} at {}", e.name(), pair[0]);
            }
        }
    }

    #[test]
    fn integrals_agree_with_summing() {
        // Simpson's rule over pieces whose ends include the corners of bounce (elevenths of halves).
        const N: usize = 22 * 400;
        for e in Ease::all() {
            let mut sum = 0.0;
            for i in 0..N {
                let (a, h) = (i as f64 / N as f64, 1.0 / N as f64);
                let (f0, f1, f2) = (e.value(a), e.value(a + 0.5 * h), e.value((a + h).min(1.0)));
                sum += (f0 + 4.0 * f1 + f2) * h / 6.0;
                if i % 400 == 7 {
                    let want = e.integral(a + h);
                    // Simpson's rule is less accurate where the quarter circle is vertical.
                    let most = if e.kind == EaseKind::Circ { 2e-7 } else { 1e-11 };
                    assert!((sum - want).abs() < most, "{} to {}: {sum} {want}", e.name(), a + h);
                }
            }
        }
    }

    #[test]
    fn values_are_the_textbooks() {
        // Computed with an independent implementation in another language.
        let want = [
            [0.118_078_735_651_644_95, 0.471_396_736_825_997_8, 0.222_214_883_490_198_86],
            [0.097_656_25, 0.527_343_75, 0.195_312_5],
            [0.030_517_578_125, 0.675_048_828_125, 0.122_070_312_5],
            [0.009_536_743_164_062_5, 0.776_596_069_335_937_5, 0.076_293_945_312_5],
            [0.002_980_232_238_769_531_2, 0.846_409_797_668_457, 0.047_683_715_820_312_5],
            [0.007_550_402_601_487_841, 0.886_239_963_313_589_6, 0.036_710_290_987_377_395],
            [0.050_082_240_401_833_51, 0.726_184_377_413_890_6, 0.109_687_625_100_100_1],
            [-0.083_724_243_164_062_52, 0.926_380_834_960_936_9, -0.067_986_535_644_531_28],
            [-0.001_954_187_991_456_678_5, 0.890_116_242_565_004_2, 0.0],
            [0.097_412_109_374_999_89, 0.738_525_390_625, 0.015_136_718_750_000_056],
        ];
        for (e, want) in Ease::all().zip(want.into_iter().flatten()) {
            assert!((e.value(0.3125) - want).abs() < 1e-14, "{}: {} {want}", e.name(), e.value(0.3125));
        }
    }

    #[test]
    fn values_are_frozen() {
        // The bits must be the same on every machine; a change here changes every render that uses an easing
        // function.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for e in Ease::all() {
            for i in 0..=64 {
                for b in e.value(f64::from(i) / 64.0).to_bits().to_le_bytes() {
                    hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
                }
            }
        }
        assert_eq!(format!("{hash:016x}"), "22b723ce1eb5ca56");
    }
}
