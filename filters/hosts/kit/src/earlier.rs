//! Filters that earlier calls of a host have applied to a picture.

use grainfield_filters::chain::Step;
use grainfield_filters::noise::filter_seed;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::Value;
use grainfield_filters::settings::common::SEED;

/// The filters that earlier calls have applied to the same picture, passed on with it if the host supports that. Two
/// filters of the same name then draw different random numbers, as in one chain.
///
/// The text form has the names separated by commas, and a semicolon after each call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Earlier(String);

/// Longer than in any practical script; a longer text is not ours.
const LONGEST: usize = 1 << 16;

impl Earlier {
    /// Parses the result of [`text`](Earlier::text); an invalid text means no filters.
    pub fn read(text: &str) -> Earlier {
        let ours = |b: u8| b.is_ascii_alphanumeric() || b"-_,;".contains(&b);
        let known = text.len() <= LONGEST && text.ends_with(';') && text.bytes().all(ours);
        Earlier(if known { text.into() } else { String::new() })
    }

    /// The text that is passed on with the picture.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The list after one more call.
    #[must_use]
    pub fn and(&self, recipe: &Recipe) -> Earlier {
        let names: Vec<&str> = recipe.steps.iter().map(|s| s.filter.name).collect();
        Earlier(format!("{}{};", self.0, names.join(",")))
    }

    /// The steps of a recipe with the seeds that they would have after the earlier filters, and the seed of the final
    /// dither.
    pub(super) fn seeds(&self, recipe: &Recipe) -> (Vec<Step>, u64) {
        let seed = recipe.seed.unwrap_or(0);
        let mut steps = recipe.steps.clone();
        let calls = self.0.matches(';').count() as u64;
        if calls == 0 {
            return (steps, seed);
        }
        let mut names: Vec<&str> = self.0.split([',', ';']).collect();
        for step in &mut steps {
            let name = step.filter.name;
            let nth = names.iter().filter(|n| **n == name).count() as u64;
            names.push(name);
            let draws = step.filter.settings.iter().any(|s| s.id == SEED.id);
            if draws && step.values.seed().is_none() {
                // A seed accepts any number.
                let _ = step.values.set(SEED.id, Value::Seed(filter_seed(seed, name, nth)));
            }
        }
        // No chain has so many filters, so this seed is unique.
        (steps, filter_seed(seed, "dither", (1 << 32) + calls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn travels_as_text() {
        let one = Earlier::default().and(&"noise,fade".parse::<Recipe>().unwrap());
        let two = one.and(&"noise".parse::<Recipe>().unwrap());
        assert_eq!((two.text(), Earlier::read(two.text())), ("noise,fade;noise;", two.clone()));
        for other in ["", "noise", "x y;", "é;", &"a;".repeat(LONGEST)] {
            assert_eq!(Earlier::read(other), Earlier::default(), "{other:.20}");
        }
    }

    #[test]
    fn seeds_are_those_of_one_chain() {
        let noise = "recipe=seed=5,noise,dust=seed=3,noise".parse::<Recipe>().unwrap();
        let earlier = Earlier::default().and(&noise);
        let (steps, rounding) = earlier.seeds(&noise);
        let seeds: Vec<_> = steps.iter().map(|s| s.values.seed()).collect();
        let of = |nth| Some(filter_seed(5, "noise", nth));
        assert_eq!(seeds, [of(2), Some(3), of(3)]);
        assert_ne!(rounding, earlier.and(&noise).seeds(&noise).1);
        // Without earlier filters nothing changes.
        assert_eq!(Earlier::default().seeds(&noise).1, 5);
        assert_eq!(Earlier::default().seeds(&noise).0[0].values.seed(), None);
    }
}
