//! Before the first key and after the last.

use crate::ratio::Ratio;

/// What a curve does before its first or after its last key. A curve of one key always holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Extrapolation {
    /// Stays at the key's value.
    #[default]
    Hold,
    /// From the other end again, and again.
    Repeat,
    /// Back, and again, and back.
    Mirror,
    /// Straight on with the slope at the key; next to a named ease, the slope of the line between its keys.
    Extrapolate,
}

/// The names that texts use.
const NAMES: [(&str, Extrapolation); 4] = [
    ("hold", Extrapolation::Hold),
    ("repeat", Extrapolation::Repeat),
    ("mirror", Extrapolation::Mirror),
    ("extrapolate", Extrapolation::Extrapolate),
];

impl Extrapolation {
    /// What recipes call it.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The rule of that name.
    pub fn of_name(name: &str) -> Option<Extrapolation> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, rule)| *rule)
    }
}

/// A time folded into the stretch between first and last key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fold {
    /// How many whole lengths lie between: negative before the first key.
    pub(super) turns: i64,
    /// The time since the first key, 0 to the length, both included.
    pub(super) since: Ratio,
    /// Whether this length is run backwards.
    pub(super) backwards: bool,
}

/// Folds a time `since` the first key; `length` is above 0.
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
            assert_eq!((rule.name(), Extrapolation::of_name(name)), (name, Some(rule)));
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
        // However far: never outside.
        for at in [i64::MIN, i64::MAX] {
            let f = fold(Ratio::whole(at), Ratio::new(1, i64::MAX).unwrap(), true);
            assert!((Ratio::ZERO..=Ratio::new(1, i64::MAX).unwrap()).contains(&f.since));
        }
    }
}
