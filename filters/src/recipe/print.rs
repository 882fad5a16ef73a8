//! Prints recipes as text, and computes their key.

use super::lex::quoted;
use super::{RECIPE, Recipe, VERSION};
use crate::chain::Step;
use crate::curve::Animate;
use crate::settings::common::COMMON;
use crate::settings::{Animated, Value, toml_string};
use md5::{Digest, Md5};
use std::fmt::Write;

/// A value, or a link to it.
enum ValueOrLink {
    Value(Value),
    Link(String),
}

impl std::fmt::Display for ValueOrLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueOrLink::Value(v) => v.fmt(f),
            ValueOrLink::Link(text) => f.write_str(text),
        }
    }
}

/// Replaces values by links, in the order of the description.
fn linked(
    recipe: &Recipe,
    i: usize,
    values: impl Iterator<Item = (&'static str, Value)>,
) -> Vec<(&'static str, ValueOrLink)> {
    let links = || recipe.links.iter().filter(|l| l.step == i);
    let own = values.filter(|(id, _)| !links().any(|l| l.setting.id == *id));
    let mut all: Vec<_> = own.map(|(id, v)| (id, ValueOrLink::Value(v))).collect();
    all.extend(links().map(|l| (l.setting.id, ValueOrLink::Link(l.to_string()))));
    let settings = recipe.steps[i].values.settings().iter().chain(&COMMON);
    let order: Vec<&str> = settings.map(|s| s.id).collect();
    all.sort_by_key(|(id, _)| order.iter().position(|o| o == id));
    all
}

/// The settings of a step that differ from the defaults, in the order of the description.
fn given(recipe: &Recipe, i: usize) -> Vec<(&'static str, ValueOrLink)> {
    linked(recipe, i, recipe.steps[i].iter_given().map(|(s, v)| (s.id, v.clone())))
}

/// All settings of a step that have a value, given or default, in canonical form.
fn complete(recipe: &Recipe, i: usize) -> Vec<(&'static str, ValueOrLink)> {
    let step = &recipe.steps[i];
    let settings = step.values.settings().iter();
    let own = settings.filter_map(|s| Some((s.id, normal(step.values.get(s.id)?))));
    // A common setting with its default, such as a constant opacity of 1, is left out, however it is written.
    let common = step.common.iter_given().map(|(s, v)| (s, normal(v)));
    let common = common.filter(|(s, v)| s.default().as_ref() != Some(v)).map(|(s, v)| (s.id, v));
    linked(recipe, i, own.chain(common))
}

/// The canonical form of all values with the same meaning.
fn normal(value: &Value) -> Value {
    fn still<T: Animate>(v: &Animated<T>) -> Animated<T> {
        v.constant().map_or_else(|| v.clone(), Animated::Constant)
    }
    match value {
        Value::Number(v) => Value::Number(still(v)),
        Value::Position(v) => Value::Position(still(v)),
        Value::Colour(v) => Value::Colour(still(v)),
        Value::Frames(r) => Value::Frames(r.normalized()),
        Value::Switch(_)
        | Value::Integer(_)
        | Value::Seed(_)
        | Value::Choice(_)
        | Value::Text(_)
        | Value::Planes(_)
        | Value::Points(_)
        | Value::Image(_)
        | Value::File(_) => value.clone(),
    }
}

fn chain(
    seed: Option<u64>,
    steps: impl Iterator<Item = (&'static str, Vec<(&'static str, ValueOrLink)>)>,
) -> String {
    let head = seed.map(|s| (RECIPE, vec![("seed", ValueOrLink::Value(Value::Seed(s)))]));
    let mut out = String::new();
    for (i, (name, settings)) in head.into_iter().chain(steps).enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(name);
        for (j, (id, value)) in settings.iter().enumerate() {
            out.push(if j > 0 { ':' } else { '=' });
            out.push_str(id);
            out.push('=');
            quoted(&value.to_string(), &mut out);
        }
    }
    out
}

/// Prints the recipe as [`to_chain`](Recipe::to_chain).
impl std::fmt::Display for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_chain())
    }
}

impl Recipe {
    /// Prints the recipe as a chain, which [`FromStr`](std::str::FromStr) reads back to an equal
    /// recipe.
    pub fn to_chain(&self) -> String {
        chain(self.seed, self.steps.iter().enumerate().map(|(i, s)| (s.filter.name, given(self, i))))
    }

    /// Prints the recipe as TOML, which [`parse_toml`](Recipe::parse_toml) reads back to an equal recipe.
    pub fn to_toml(&self) -> String {
        let mut out = format!("version = {VERSION}\n");
        if let Some(seed) = self.seed {
            let _ = writeln!(out, "seed = {}", toml_value(&Value::Seed(seed)));
        }
        for (i, step) in self.steps.iter().enumerate() {
            let _ = writeln!(out, "\n[[filter]]\nname = {}", toml_string(step.filter.name));
            for (id, said) in given(self, i) {
                let text = match said {
                    ValueOrLink::Value(value) => toml_value(&value),
                    ValueOrLink::Link(text) => toml_string(&text),
                };
                let _ = writeln!(out, "{id} = {text}");
            }
        }
        out
    }

    /// One text for all recipes with the same meaning, in any spelling: a chain with the seed (0 if none is given)
    /// and every setting that has a value, including defaults, in the order of their description; constant curves
    /// as numbers; frame ranges in [normal form](crate::frame::Ranges::normalized). It parses to a recipe with the
    /// same meaning, which remains the same if a default changes later.
    pub fn canonical(&self) -> String {
        let steps = self.steps.iter().enumerate().map(|(i, s)| (s.filter.name, complete(self, i)));
        chain(Some(self.seed.unwrap_or(0)), steps)
    }

    /// The key of the recipe in caches, manifests and segments: the MD5, first byte highest, of `grainfield recipe 1`,
    /// a line feed and the [canonical text](Recipe::canonical); then, for each link that has been read, a line feed and
    /// the digest of its value; then the same for each image and effect file that has been read. Put a seed from the
    /// command line into [`seed`](Recipe::seed) first.
    pub fn key(&self) -> u128 {
        let mut md5 = Md5::new();
        md5.update(format!("grainfield recipe {VERSION}\n"));
        md5.update(self.canonical());
        // The key covers the contents of files, not only their names.
        for digest in self.links.iter().filter_map(|l| l.digest) {
            md5.update(format!("\n{digest:032x}"));
        }
        for (_, value) in self.steps.iter().flat_map(Step::iter_given) {
            let read = match value {
                Value::Image(picture) => picture.frame().map(|f| f.digest()),
                Value::File(file) => file.digest(),
                _ => None,
            };
            if let Some(digest) = read {
                md5.update(format!("\n{digest:032x}"));
            }
        }
        u128::from_be_bytes(md5.finalize().into())
    }
}

fn toml_value(value: &Value) -> String {
    match value {
        // TOML guarantees 63 bits only.
        Value::Seed(s) if i64::try_from(*s).is_err() => format!("\"{s:#x}\""),
        Value::Switch(_) | Value::Integer(_) | Value::Seed(_) | Value::Number(Animated::Constant(_)) => {
            value.to_string()
        }
        other => toml_string(&other.to_string()),
    }
}
