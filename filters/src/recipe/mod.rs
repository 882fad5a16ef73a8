//! Recipes: text to filters and settings and back, by way of the catalog.
//!
//! # Chains
//!
//! ```text
//! chain   = [ filter { "," filter } ]
//! filter  = name [ "=" setting { ":" setting } ]
//! setting = name "=" value | value              without a name: the filter's first setting, and only in first place
//! ```
//!
//! as in `noise=strength='0=0;48=12':planes=y,fade=amount=0.5`. White space between these does not count. Quotes
//! `'...'` protect what stands in them, a backslash protects the character after it. The usual spellings mean what
//! they mean to FFmpeg, which reads a chain twice; the table stands in `lex.rs`.
//!
//! Every filter also takes `enable` (frame ranges; `+` may separate them, so that no quotes are needed), `planes` and
//! `opacity`: see [`common`](crate::settings::common).
//!
//! What belongs to the whole recipe stands in front, as if it were a filter: `recipe=seed=7,noise=strength=6`.
//!
//! A number, position or colour that may move can stand in a file: `strength=@tracks.gfa#name`, or without `#name` where
//! there is one track only. The file is a track file (`.gfa`), a Lottie keyframe list (`.json`) or text that is a
//! keyframe string; a position takes the tracks `name.x` and `name.y`. Relative names count from the folder of a TOML
//! recipe, and from the current one in a chain. The text says the file's name, the [key](Recipe::key) what is in it.
//!
//! # TOML
//!
//! ```toml
//! version = 1                # may be left out
//! seed = 7                   # may be left out; --seed wins
//!
//! [[filter]]
//! name = "noise"
//! strength = "0=0;48~=12"    # or the same in more words:
//! # strength = [{ at = 0, value = 0 }, { at = 48, value = 12, shape = "smooth" }]
//! # strength = { keys = [...], before = "hold", after = "repeat" }
//! enable = "0-48"
//! ```
//!
//! Numbers, booleans and strings as TOML has them; positions and colours also as lists of numbers; whatever a chain
//! can say, a string can. Shapes are named as in the parentheses of a
//! [curve's text](crate::curve#text): `"hermite 0.5 0"`.
//!
//! # Limits
//!
//! A text of [`MAX_TEXT`] bytes, [`MAX_STEPS`] filters, and in one value
//! [`MAX_KEYS`](crate::curve::MAX_KEYS) keys or [`MAX_RANGES`](crate::frame::MAX_RANGES)
//! frame ranges; a chain has no nesting, TOML 80 levels.

mod assemble;
mod chain;
mod document;
pub mod effect;
mod error;
mod lex;
mod link;
mod print;

pub use error::nearest;
pub use error::{Parts, Problem, RecipeError};
pub use lex::quoted;
pub use link::Link;
pub(crate) use print::toml_string;

use crate::catalog::FILTERS;
use crate::chain::Step;
use crate::settings::{Kind, Value};

/// Longest text of a recipe, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// Most filters of one recipe.
pub const MAX_STEPS: usize = 1024;
/// The version of the format that this program reads and writes.
pub const VERSION: i64 = 1;
/// What stands in a filter's place for what belongs to the whole recipe. No filter may be called so.
const HEAD: &str = "recipe";

/// Filters in order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// First to last.
    pub steps: Vec<Step>,
    /// The recipe's own seed; one given on the command line takes its place.
    pub seed: Option<u64>,
    /// Settings whose curves stand in files.
    pub links: Vec<Link>,
}

/// Equal when they say the same, in whatever spelling; what means the same but says it otherwise (a default written
/// out) is equal in [`canonical`](Recipe::canonical).
impl PartialEq for Recipe {
    fn eq(&self, o: &Recipe) -> bool {
        let same = |(a, b): (&Step, &Step)| {
            a.filter.name == b.filter.name
                && a.values == b.values
                && (&a.enable, &a.planes, &a.opacity) == (&b.enable, &b.planes, &b.opacity)
        };
        self.seed == o.seed
            && self.links == o.links
            && self.steps.len() == o.steps.len()
            && self.steps.iter().zip(&o.steps).all(same)
    }
}

impl Recipe {
    /// Reads a chain.
    pub fn parse_chain(text: &str) -> Result<Recipe, RecipeError> {
        chain::parse(text, FILTERS)
    }

    /// Makes a draft of it: every filter that has a setting `draft` takes it for true.
    pub fn draft(&mut self) {
        for step in &mut self.steps {
            let known = step.values.settings().iter().any(|s| s.id == "draft" && s.kind == Kind::Switch);
            if known {
                // A switch takes any switch.
                let _ = step.values.set("draft", Value::Switch(true));
            }
        }
    }

    /// Reads TOML. The caller adds the file's name to an error: [`RecipeError::named`].
    pub fn parse_toml(text: &str) -> Result<Recipe, RecipeError> {
        document::parse(text, FILTERS)
    }
}

#[cfg(test)]
mod tests;
