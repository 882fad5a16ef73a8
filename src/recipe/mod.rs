//! Recipes: text to filters and settings and back, by way of the catalog.

use grainfield_filters::chain::Step;

/// Filters in order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// First to last.
    pub steps: Vec<Step>,
}

// Stand-in until the real recipes are merged.

/// What is wrong with a recipe.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no filter is known here yet: {0}")]
pub struct RecipeError(pub String);

impl Recipe {
    /// Reads the `-f` spelling.
    pub fn parse_chain(text: &str) -> Result<Recipe, RecipeError> {
        if text.is_empty() { Ok(Recipe::default()) } else { Err(RecipeError(text.into())) }
    }

    /// Reads the TOML spelling.
    pub fn parse_toml(text: &str) -> Result<Recipe, RecipeError> {
        Recipe::parse_chain(text.trim())
    }

    /// The canonical text.
    pub fn to_chain(&self) -> String {
        String::new()
    }

    /// The TOML spelling.
    pub fn to_toml(&self) -> String {
        String::new()
    }

    /// A hash of the canonical text.
    pub fn key(&self) -> u128 {
        0
    }
}
