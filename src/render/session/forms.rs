//! Recipes of files and by name. Data for programs in other languages: the catalog, and recipes in serde.

use super::Result;
use super::job::JobError;
use crate::assets::{built_in, read_text};
use grainfield_filters::catalog::Entry;
use grainfield_filters::forms::catalog::FilterForm;
use grainfield_filters::recipe::{MAX_TEXT, Recipe};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use std::path::Path;

/// A built-in recipe by its name, as `super8`, or that of a file. Files that it names are relative to its folder.
///
/// # Errors
/// The file cannot be read, or its text is no recipe: the message begins with `NAME:LINE:COLUMN: `.
pub fn recipe(name: impl AsRef<Path>) -> Result<Recipe> {
    let path = name.as_ref();
    if let Some((file, text)) = path.to_str().and_then(built_in) {
        return Ok(Recipe::parse_toml(text).map_err(|e| e.named(file))?);
    }
    let text = read_text(path, "a recipe", MAX_TEXT).map_err(JobError::from)?;
    let mut recipe = Recipe::parse_toml(&text).map_err(|e| e.named(&path.to_string_lossy()))?;
    if let Some(folder) = path.parent() {
        recipe.relative_to(folder);
    }
    Ok(recipe)
}

/// The data of a filter for a window, as JSON: see [`FilterForm`].
pub fn describe(f: &Entry) -> serde_json::Value {
    serde_json::to_value(FilterForm::of(f)).unwrap_or_default()
}

/// Serializes a recipe in a structure as its text for `-f`, in which seeds are digits.
///
/// ```
/// use grainfield_filters::recipe::Recipe;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Look {
///     #[serde(with = "grainfield_render::session::recipe_text")]
///     recipe: Recipe,
/// }
/// let text = r#"{"recipe":"recipe=seed=18446744073709551615,noise=strength=3"}"#;
/// let look: Look = serde_json::from_str(text).unwrap();
/// assert_eq!(look.recipe.seed, Some(u64::MAX));
/// assert_eq!(serde_json::to_string(&look).unwrap(), text);
/// ```
pub mod recipe_text {
    use super::{Deserialize, Deserializer, Error, Recipe, Serializer};

    /// Writes the text.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(recipe: &Recipe, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&recipe.to_chain())
    }

    /// Reads the text.
    ///
    /// # Errors
    /// The deserializer's, with the message of a [`RecipeError`](grainfield_filters::recipe::RecipeError).
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Recipe, D::Error> {
        String::deserialize(deserializer)?.parse::<Recipe>().map_err(D::Error::custom)
    }
}
