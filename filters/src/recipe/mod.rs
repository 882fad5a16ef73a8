//! Recipes: parse and print filters and settings, using the catalog.
//!
//! # Chains
//!
//! ```text
//! chain   = [ filter { "," filter } ]
//! filter  = name [ "=" setting { ":" setting } ]
//! setting = name "=" value | value              without a name: the filter's first setting; only as the first one
//! ```
//!
//! For example `noise=strength='0=0;48=12':planes=y,fade=amount=0.5`. White space between the parts is ignored. Quotes
//! `'...'` protect the text between them, a backslash protects the character after it. The usual spellings have the
//! same meaning as in FFmpeg, which parses a chain twice; `lex.rs` has a table.
//!
//! Every filter also takes `enable` (frame ranges; `+` may separate them, so that no quotes are needed), `planes` and
//! `opacity`: see [`common`](crate::settings::common).
//!
//! Settings of the whole recipe come first, in the form of a filter: `recipe=seed=7,noise=strength=6`.
//!
//! A number, position or colour that can be animated may refer to a file: `strength=@tracks.gfa#name`, or without
//! `#name` if the file has a single track. The file is a track file (`.gfa`), a Lottie keyframe list (`.json`) or a
//! text file with a keyframe string; a position uses the tracks `name.x` and `name.y`. Names are relative to the folder
//! of a TOML recipe, or to the current folder in a chain. The text contains only the name of the file; the
//! [key](Recipe::key) covers its contents.
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
//! Numbers, booleans and strings are those of TOML; positions and colours may also be lists of numbers. A string
//! accepts every value that a chain accepts. Shapes have the names in the parentheses of a [curve's
//! text](crate::curve#text): `"hermite 0.5 0"`.
//!
//! # Limits
//!
//! A text may have [`MAX_TEXT`] bytes and [`MAX_STEPS`] filters, and a value [`MAX_KEYS`](crate::curve::MAX_KEYS) keys
//! or [`MAX_RANGES`](crate::frame::MAX_RANGES) frame ranges; a chain has no nesting, TOML may have 80 levels.

mod assemble;
mod chain;
mod document;
pub mod effect;
mod error;
mod lex;
mod link;
mod print;

pub use crate::settings::nearest;
pub use error::{Parts, Problem, RecipeError};
pub use lex::quoted;
pub use link::Link;

use crate::catalog::FILTERS;
use crate::chain::Step;
use crate::settings::{Kind, Value};

/// The largest size of a recipe in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The largest number of filters in a recipe.
pub const MAX_STEPS: usize = 1024;
/// The version of the format that this program reads and writes.
pub const VERSION: i64 = 1;
/// The pseudo filter for settings of the whole recipe. No filter may have this name.
const RECIPE: &str = "recipe";

/// Filters in order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The filters in order.
    pub steps: Vec<Step>,
    /// The seed of the recipe; a seed on the command line replaces it.
    pub seed: Option<u64>,
    /// Settings whose curves are stored in files.
    pub links: Vec<Link>,
}

/// Recipes are equal if they give the same settings, in any spelling. Recipes of the same meaning (for example with
/// a default written out) have equal [`canonical`](Recipe::canonical) texts.
impl PartialEq for Recipe {
    fn eq(&self, o: &Recipe) -> bool {
        let same = |(a, b): (&Step, &Step)| {
            a.filter.name == b.filter.name && a.values == b.values && a.common == b.common
        };
        self.seed == o.seed
            && self.links == o.links
            && self.steps.len() == o.steps.len()
            && self.steps.iter().zip(&o.steps).all(same)
    }
}

/// Parses a chain.
impl std::str::FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Recipe, RecipeError> {
        chain::parse(text, FILTERS)
    }
}

impl Recipe {
    /// Switches to draft quality: sets `draft` in every filter that has such a setting.
    pub fn draft(&mut self) {
        for step in &mut self.steps {
            let known = step.values.settings().iter().any(|s| s.id == "draft" && s.kind == Kind::Switch);
            if known {
                // A switch accepts `true`.
                let _ = step.values.set("draft", Value::Switch(true));
            }
        }
    }

    /// Parses TOML. The caller adds the file name to an error: [`RecipeError::named`].
    ///
    /// # Errors
    /// The first error in the text, with its position.
    pub fn parse_toml(text: &str) -> Result<Recipe, RecipeError> {
        document::parse(text, FILTERS)
    }
}

#[cfg(test)]
mod tests;
