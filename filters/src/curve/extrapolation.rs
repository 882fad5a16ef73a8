//! Extrapolation before the first key and after the last.

use crate::ratio::Ratio;

/// The behaviour of a curve before its first or after its last key. A curve of one key always holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Extrapolation {
    /// Holds the key's value.
    #[default]
    Hold,
    /// Repeats the curve from its other end.
    Repeat,
    /// Plays the curve backwards and forwards in turn.
    Mirror,
    /// Continues straight with the slope at the key; next to a named easing function, with the slope of the
    /// line between its keys.
    Extrapolate,
}

/// The names in texts.
const NAMES: [(&str, Extrapolation); 4] = [
    ("hold", Extrapolation::Hold),
    ("repeat", Extrapolation::Repeat),
    ("mirror", Extrapolation::Mirror),
    ("extrapolate", Extrapolation::Extrapolate),
];

impl Extrapolation {
    /// The name in recipes.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// Finds a rule by name.
    pub fn from_name(name: &str) -> Option<Extrapolation> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, rule)| *rule)
    }
}

/// A time mapped into the interval between first and last key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fold {
    /// The number of whole lengths in between; negative before the first key.
    pub(super) turns: i64,
    /// The time since the first key, from 0 to the length inclusive.
    pub(super) since: Ratio,
    /// Whether this repetition runs backwards.
    pub(super) backwards: bool,
}

/// Maps the time `since` the first key into the interval; `length` is above 0.
pub(super) fn fold(since: Ratio, length: Ratio, mirror: bool) -> Fold {
    let turns = since.checked_div(length).map_or(0, Ratio::floor);
    let inside = (since - length * Ratio::whole(turns)).clamp(Ratio::ZERO, length);
    let backwards = mirror && turns.rem_euclid(2) == 1;
    Fold { turns, since: if backwards { length - inside } else { inside }, backwards }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_to_one() {
        for (name, rule) in NAMES {
            assert_eq!((rule.name(), Extrapolation::from_name(name)), (name, Some(rule)));
        }
    }

    #[test]
    fn folding_is_exact() {
        let third = |n| Ratio::new(n, 3).unwrap();
        for (at, turns, repeat, mirror) in
            [(7, 1, 1, 5), (12, 2, 0, 0), (-1, -1, 5, 1), (-6, -1, 0, 6), (13, 2, 1, 1)]
        {
            let f = fold(third(at), third(6), false);
            assert_eq!((f.turns, f.since, f.backwards), (turns, third(repeat), false), "{at}");
            let f = fold(third(at), third(6), true);
            assert_eq!((f.turns, f.since), (turns, third(mirror)), "{at}");
        }
        // Even for extreme times the result is inside.
        for at in [i64::MIN, i64::MAX] {
            let f = fold(Ratio::whole(at), Ratio::new(1, i64::MAX).unwrap(), true);
            assert!((Ratio::ZERO..=Ratio::new(1, i64::MAX).unwrap()).contains(&f.since));
        }
    }
}
