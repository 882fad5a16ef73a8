//! Parses effects.

use super::super::{Problem, RecipeError, nearest};
use super::{MAX_TEXT, VERSION};
use crate::filter::particles::keys::field::{Fault, Value, in_order, number};
use crate::filter::particles::keys::{KeyError, LoadPicture};
use crate::filter::particles::{Effect, EffectError, Emission, Layer, MAX_LAYERS};
use std::fmt::Display;
use toml::Spanned;
use toml::de::DeTable;

pub(super) fn parse(text: &str, load: LoadPicture<'_>) -> Result<Effect, RecipeError> {
    let said = |message: &str| Problem::Effect(message.to_owned());
    if text.len() > MAX_TEXT {
        return Err(RecipeError::new(text, MAX_TEXT..text.len(), said("an effect file is at most 1 MiB")));
    }
    let document = DeTable::parse(text)
        .map_err(|e| RecipeError::new(text, e.span().unwrap_or(text.len()..text.len()), said(e.message())))?;
    effect(document.get_ref(), load)
        .map_err(|e| RecipeError::new(text, e.at, Problem::Effect(e.problem)).hint(e.hint))
}

fn effect(table: &DeTable<'_>, load: LoadPicture<'_>) -> Result<Effect, Fault> {
    let mut effect = Effect::default();
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "version" if number(value) == Some(VERSION as f64) => {}
            "version" => {
                let what = format!("this program reads effect files of version {VERSION}");
                return Err(Fault::new(value.span(), what));
            }
            "layer" => {
                let what = "write [[layer]], once for each layer";
                let all = value.get_ref().as_array().ok_or_else(|| Fault::new(value.span(), what))?;
                if all.len() > MAX_LAYERS {
                    return Err(Fault::new(value.span(), format!("an effect has 1 to {MAX_LAYERS} layers")));
                }
                for value in all {
                    effect.layers.push(layer(value, effect.layers.len() + 1, load)?);
                }
            }
            id => {
                let Some(known) = Effect::keys().find(|known| known.id == id) else {
                    let all = Effect::keys().map(|known| known.id).chain(["version", "layer"]);
                    return Err(Fault::unknown(key, "an effect", all));
                };
                if id == "wind" && number(value).is_none() {
                    let range = known.key_type;
                    let what = format!("expected {range}; a curve belongs to the filter: wind='0=0;48=1'");
                    return Err(Fault::new(value.span(), what));
                }
                (known.set)(&mut effect, value, load)?;
            }
        }
    }
    if effect.layers.is_empty() {
        return Err(Fault::new(0..0, "an effect needs a [[layer]]"));
    }
    // Check the references between layers.
    effect.check().map_err(|e| {
        let all = table.get("layer").and_then(|l| l.get_ref().as_array());
        let EffectError::Value { layer, key, wrong } = &e else { return Fault::new(0..0, e) };
        let value = layer.checked_sub(1).and_then(|i| all?.get(i));
        let said = value.and_then(|v| v.get_ref().as_table()?.get(*key));
        let at = said.or(value).map_or(0..0, Spanned::span);
        let near =
            said.and_then(|v| nearest(v.get_ref().as_str()?, effect.layers.iter().map(|l| l.name.as_str())));
        Fault { hint: near.filter(|n| !n.is_empty()), ..Fault::new(at, format!("{key}: {wrong}")) }
    })?;
    Ok(effect)
}

fn layer(value: &Value<'_>, number: usize, load: LoadPicture<'_>) -> Result<Layer, Fault> {
    let table = value.get_ref().as_table();
    let table = table.ok_or_else(|| Fault::new(value.span(), "write [[layer]], with its keys below"))?;
    let mut given = Vec::new();
    for (name, value) in in_order(table) {
        let Some(key) = Layer::keys().find(|key| key.id == name.get_ref().as_ref()) else {
            return Err(Fault::unknown(name, "a layer", Layer::keys().map(|key| key.id)));
        };
        given.push((key, value));
    }
    // The position of a key if it is given, else of the layer.
    let fault = |id: &str, problem: &dyn Display| {
        let found = table.iter().find(|(key, _)| key.get_ref().as_ref() == id);
        let at = found.map_or(value.span(), |(key, value)| key.span().start..value.span().end);
        Fault::new(at, problem)
    };
    let mut layer = Layer::default();
    let emission = emission(|id| given.iter().any(|(key, _)| key.id == id));
    layer.when = emission.map_err(|(id, e)| fault(id, &format!("{id}: {e}")))?;
    // The choices that give other keys a meaning come first.
    given.sort_by_key(|(key, _)| !["place", "shape"].contains(&key.id));
    for (key, value) in given {
        if !(key.set)(&mut layer, value, load)? {
            return Err(fault(key.id, &format!("{}: {}", key.id, KeyError::With(key.with))));
        }
    }
    layer.check(number).map_err(|e| match e {
        EffectError::Value { key, wrong, .. } => fault(key, &format!("{key}: {wrong}")),
        EffectError::Shape(_, e) => fault("shape", &e),
        e => fault("", &e),
    })?;
    Ok(layer)
}

/// The way in which particles are born if these keys are given, or the key that contradicts another.
fn emission(given: impl Fn(&str) -> bool) -> Result<Emission, (&'static str, KeyError)> {
    let ways: Vec<&str> = ["rate", "bursts", "every"].into_iter().filter(|id| given(id)).collect();
    match ways[..] {
        [first, second, ..] => Err((second, KeyError::Beside(first))),
        _ if given("count") && !given("every") => Err(("count", KeyError::Lacks("every"))),
        ["every"] if !given("count") => Err(("every", KeyError::Lacks("count"))),
        ["every"] => Ok(Emission::Pulses { every: 1.0, count: 0.0 }),
        ["bursts"] => Ok(Emission::Bursts(Vec::new())),
        _ => Ok(Layer::default().when),
    }
}
