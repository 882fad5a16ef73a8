//! Recipes of files and by name. Data for programs in other languages: the catalog, and recipes in serde.

use super::Result;
use super::job::JobError;
use crate::assets::{built_in, read_text};
use grainfield_filters::catalog::Entry;
use grainfield_filters::recipe::{MAX_TEXT, Recipe};
use grainfield_filters::settings::common::COMMON;
use grainfield_filters::settings::{Animated, Choice, Kind, OnlyWhen, Setting, Value, Values};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::json;
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

/// The data of a filter for a window: its settings with their kinds, ranges, units, groups and defaults, and their
/// values in each preset. Seeds are text.
pub fn describe(f: &Entry) -> serde_json::Value {
    let settings: Vec<_> = f.settings.iter().map(|s| setting(f.settings, s)).collect();
    json!({
        "name": f.name,
        "label": f.label,
        "help": f.help,
        "settings": settings,
        "common": COMMON.iter().map(|s| setting(&COMMON, s)).collect::<Vec<_>>(),
    })
}

/// A value; 64-bit seeds are text, since many readers store JSON's numbers as doubles.
fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Switch(b) => json!(b),
        Value::Integer(n) => json!(n),
        Value::Choice(word) => json!(word),
        Value::Number(Animated::Constant(n)) => json!(n),
        other => json!(other.to_string()),
    }
}

fn setting(f: &'static [Setting], s: &Setting) -> serde_json::Value {
    let mut o = json!({
        "id": s.id,
        "label": s.label(),
        "help": s.help,
        "unit": s.unit.text(),
        "animatable": s.kind.animatable(),
        "default": s.default().as_ref().map(value),
        "logarithmic": s.logarithmic,
    });
    let mut put = |key: &str, value: serde_json::Value| o[key] = value;
    let kind = match s.kind {
        Kind::Switch => "switch",
        Kind::Seed => "seed",
        Kind::Integer { .. } => "whole",
        Kind::Number { .. } | Kind::Fixed { .. } => "number",
        Kind::Position { .. } => "position",
        Kind::Colour => "colour",
        Kind::Frames => "frames",
        Kind::Planes => "planes",
        Kind::Text => "text",
        Kind::Image => "image",
        Kind::File(kind) => kind.name(),
        Kind::SourceFrame => "source frame",
        Kind::Points { .. } => "points",
        Kind::Choice(_) => "choice",
    };
    put("kind", kind.into());
    match s.kind {
        Kind::Integer { min, max } => {
            put("min", min.into());
            put("max", max.into());
        }
        Kind::Number { min, max }
        | Kind::Fixed { min, max }
        | Kind::Position { min, max }
        | Kind::Points { min, max } => {
            put("min", min.into());
            put("max", max.into());
        }
        Kind::Choice(words) => put("choices", words.iter().map(|w| choice(f, s, w)).collect()),
        _ => {}
    }
    if !s.group.is_empty() {
        put("group", s.group.into());
    }
    if let Some((min, max)) = s.soft {
        put("soft_min", min.into());
        put("soft_max", max.into());
    }
    if let Some(step) = s.step {
        put("step", step.into());
    }
    if let Some(OnlyWhen { setting, words, .. }) = s.only_when {
        put("only_when", json!({ "setting": setting, "values": words }));
    }
    o
}

/// A word of a choice; for a preset also the values of all settings.
fn choice(all: &'static [Setting], s: &Setting, w: &Choice) -> serde_json::Value {
    let mut o = json!({ "id": w.id, "help": w.help });
    if !w.sets.is_empty() {
        let mut values = Values::new(all);
        let known = values.set(s.id, Value::Choice(w.id)).is_ok();
        let own = all.iter().filter(|other| known && other.id != s.id);
        o["values"] = own.filter_map(|s| Some((s.id.to_owned(), value(values.get(s.id)?)))).collect();
    }
    o
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
