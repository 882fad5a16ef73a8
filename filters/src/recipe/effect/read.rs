//! Parses effects.

use super::super::{Problem, RecipeError, nearest};
use super::{LoadPicture, MAX_TEXT, VERSION};
use crate::curve::{Animate, Curve, TextError};
use crate::filter::particles::keys::{self, Key, KeyType, KeyValue, LAYER, LayerBuilder};
use crate::filter::particles::{Effect, EffectError, Layer, MAX_LAYERS, WIND};
use crate::particle::Spread;
use crate::particle::draw::{Blend, BlendSpace};
use crate::settings::{Choice, ChoiceEnum, ImageAsset};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

type Value<'a> = Spanned<DeValue<'a>>;
/// The position and kind of an error, and a suggestion.
type Fault = (Range<usize>, Problem, Option<String>);

const TOP: [&str; 5] = ["version", "blend", "light", "wind", "layer"];

pub(super) fn parse(text: &str, load: LoadPicture<'_>) -> Result<Effect, RecipeError> {
    let said = |message: &str| Problem::Effect(message.to_owned());
    if text.len() > MAX_TEXT {
        return Err(RecipeError::new(text, MAX_TEXT..text.len(), said("an effect file is at most 1 MiB")));
    }
    let document = DeTable::parse(text)
        .map_err(|e| RecipeError::new(text, e.span().unwrap_or(text.len()..text.len()), said(e.message())))?;
    let fault = |(at, problem, hint): Fault| RecipeError::new(text, at, problem).hint(hint);
    effect(document.get_ref(), load).map_err(fault)
}

/// The entries in the order of the text, so that the first error in the text is reported.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Spanned<DeString<'a>>, &'t Value<'a>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

fn fault(at: Range<usize>, what: impl ToString) -> Fault {
    (at, Problem::Effect(what.to_string()), None)
}

fn effect(table: &DeTable<'_>, load: LoadPicture<'_>) -> Result<Effect, Fault> {
    let mut effect = Effect { layers: Vec::new(), blend: Blend::Over, wind: 0.0, light: BlendSpace::Gamma };
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "version" if number(value) == Some(VERSION as f64) => {}
            "version" => {
                let what = format!("this program reads effect files of version {VERSION}");
                return Err(fault(value.span(), what));
            }
            "blend" => effect.blend = Blend::from_id(word(Blend::CHOICES, value)?).unwrap_or(Blend::Over),
            "light" => {
                effect.light = BlendSpace::from_id(word(BlendSpace::CHOICES, value)?).unwrap_or_default()
            }
            "wind" => {
                effect.wind = number(value).ok_or_else(|| {
                    let what = format!("expected {WIND}; a curve belongs to the filter: wind='0=0;48=1'");
                    fault(value.span(), what)
                })?;
                let fits = WIND.check(&KeyValue::Number(effect.wind));
                fits.map_err(|e| fault(value.span(), format!("wind: {e}")))?;
            }
            "layer" => {
                let what = "write [[layer]], once for each layer";
                let all = value.get_ref().as_array().ok_or_else(|| fault(value.span(), what))?;
                if all.len() > MAX_LAYERS {
                    return Err(fault(value.span(), format!("an effect has 1 to {MAX_LAYERS} layers")));
                }
                for value in all {
                    effect.layers.push(layer(value, effect.layers.len() + 1, load)?);
                }
            }
            name => {
                let problem = Problem::UnknownSetting("effect".into(), name.into());
                return Err((key.span(), problem, nearest(name, TOP)));
            }
        }
    }
    if effect.layers.is_empty() {
        return Err(fault(0..0, "an effect needs a [[layer]]"));
    }
    // Check the references between layers.
    effect.check().map_err(|e| {
        let all = table.get("layer").and_then(|l| l.get_ref().as_array());
        let EffectError::Value { layer, key, wrong } = &e else { return fault(0..0, e) };
        let value = layer.checked_sub(1).and_then(|i| all?.get(i));
        let said = value.and_then(|v| v.get_ref().as_table()?.get(*key));
        let at = said.or(value).map_or(0..0, Spanned::span);
        let near =
            said.and_then(|v| nearest(v.get_ref().as_str()?, effect.layers.iter().map(|l| l.name.as_str())));
        (at, Problem::Effect(format!("{key}: {wrong}")), near.filter(|n| !n.is_empty()))
    })?;
    Ok(effect)
}

fn layer(value: &Value<'_>, number: usize, load: LoadPicture<'_>) -> Result<Layer, Fault> {
    let what = "write [[layer]], with its keys below";
    let table = value.get_ref().as_table().ok_or_else(|| fault(value.span(), what))?;
    let mut draft = LayerBuilder::default();
    for (key, value) in in_order(table) {
        let name = key.get_ref().as_ref();
        let Some(known) = keys::find(name) else {
            let problem = Problem::UnknownSetting("layer".into(), name.into());
            return Err((key.span(), problem, nearest(name, LAYER.iter().map(|k| k.id))));
        };
        let item = item(known, value, load)?;
        draft.put(known, item).map_err(|e| fault(value.span(), format!("{name}: {e}")))?;
    }
    // The position of a key if it is given, else of the layer.
    let place = |id: &str| {
        let found = table.iter().find(|(key, _)| key.get_ref().as_ref() == id);
        found.map_or(value.span(), |(key, value)| key.span().start..value.span().end)
    };
    let layer = draft.finish().map_err(|(id, e)| fault(place(id), format!("{id}: {e}")))?;
    layer.check(number).map_err(|e| match e {
        EffectError::Value { key, wrong, .. } => fault(place(key), format!("{key}: {wrong}")),
        EffectError::Shape(_, e) => fault(place("shape"), e),
        e => fault(value.span(), e),
    })?;
    Ok(layer)
}

fn expected(value: &Value<'_>, key_type: KeyType) -> Fault {
    fault(value.span(), format!("expected {key_type}"))
}

fn item(key: &Key, value: &Value<'_>, load: LoadPicture<'_>) -> Result<KeyValue, Fault> {
    let wrong = || expected(value, key.key_type);
    match key.key_type {
        KeyType::Number { .. } => number(value).map(KeyValue::Number).ok_or_else(wrong),
        KeyType::Integer { max } => {
            let n = number(value).ok_or_else(wrong)?;
            if !(0.0..=max as f64).contains(&n) || n != n.trunc() {
                return Err(wrong());
            }
            Ok(KeyValue::Integer(n as u64))
        }
        KeyType::Spread { .. } => spread(key, value).map(KeyValue::Spread),
        KeyType::Numbers { .. } => numbers(value).map(KeyValue::Numbers).ok_or_else(wrong),
        KeyType::Over { .. } | KeyType::Corners | KeyType::Bursts => {
            points(value).map(KeyValue::Points).ok_or_else(wrong)
        }
        KeyType::Rate { .. } => match value.get_ref().as_str() {
            Some(text) => curve(key, text, value).map(KeyValue::Curve),
            None => number(value).map(KeyValue::Number).ok_or_else(wrong),
        },
        KeyType::Name => {
            let name = value.get_ref().as_str().ok_or_else(wrong)?;
            Ok(KeyValue::Name(name.to_owned()))
        }
        KeyType::Path => curve(key, value.get_ref().as_str().ok_or_else(wrong)?, value).map(KeyValue::Path),
        KeyType::Colours => colours(value).map(KeyValue::Colours),
        KeyType::Choice(all) => word(all, value).map(KeyValue::Choice),
        KeyType::Picture => {
            let name = value.get_ref().as_str().filter(|name| !name.is_empty()).ok_or_else(wrong)?;
            let picture = ImageAsset::named(name);
            match load(name) {
                Ok(Some(frame)) => Ok(KeyValue::Picture(picture.read(frame))),
                Ok(None) => Ok(KeyValue::Picture(picture)),
                Err(problem) => Err(fault(value.span(), problem)),
            }
        }
    }
}

fn curve<T: Animate>(key: &Key, text: &str, value: &Value<'_>) -> Result<Curve<T>, Fault> {
    let read = text.trim_ascii().parse();
    read.map_err(|e: TextError| fault(value.span(), format!("{}: as a curve: {e}", key.id)))
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
        DeValue::Float(x) => x.as_str().parse().ok(),
        _ => None,
    }
}

fn numbers(value: &Value<'_>) -> Option<Vec<f64>> {
    value.get_ref().as_array()?.iter().map(number).collect()
}

fn points(value: &Value<'_>) -> Option<Vec<[f64; 2]>> {
    if let Some(v) = number(value) {
        return Some(vec![[0.0, v]]);
    }
    value.get_ref().as_array()?.iter().map(|p| numbers(p)?.try_into().ok()).collect()
}

/// A number, `[lowest, highest]` or `{ base = B, offset = O }`.
fn spread(key: &Key, value: &Value<'_>) -> Result<Spread, Fault> {
    let wrong = || expected(value, key.key_type);
    if let Some(v) = number(value) {
        return Ok(Spread::fixed(v as f32));
    }
    if let Some(table) = value.get_ref().as_table() {
        let mut parts = [None; 2];
        for (key, value) in in_order(table) {
            let which = ["base", "offset"].iter().position(|n| n == key.get_ref());
            let Some(which) = which else {
                let name = key.get_ref().as_ref();
                let problem = Problem::UnknownSetting("spread".into(), name.into());
                return Err((key.span(), problem, nearest(name, ["base", "offset"])));
            };
            parts[which] = Some(number(value).ok_or_else(|| fault(value.span(), "expected a number"))?);
        }
        let base = parts[0].ok_or_else(|| (value.span(), Problem::Lacks("base"), None))?;
        return Ok(Spread { base: base as f32, offset: parts[1].unwrap_or(0.0) as f32 });
    }
    match numbers(value).ok_or_else(wrong)?[..] {
        [low, high] if low <= high => Ok(Spread::between(low as f32, high as f32)),
        [_, _] => Err(fault(value.span(), format!("{}: put the lowest first", key.id))),
        _ => Err(wrong()),
    }
}

/// One colour or a list.
fn colours(value: &Value<'_>) -> Result<Vec<[f64; 3]>, Fault> {
    match value.get_ref().as_array() {
        Some(all) if numbers(value).is_none() || all.is_empty() => all.iter().map(colour).collect(),
        _ => Ok(vec![colour(value)?]),
    }
}

fn colour(value: &Value<'_>) -> Result<[f64; 3], Fault> {
    let what = "expected a colour: \"#rrggbb\", a name, or [red, green, blue] from 0 to 1";
    let wrong = || fault(value.span(), what);
    if let Some(text) = value.get_ref().as_str() {
        return match <[f64; 4]>::parse(text.trim_ascii()) {
            Ok([r, g, b, 1.0]) => Ok([r, g, b]),
            Ok(_) => Err(fault(value.span(), "set its opacity with the key 'opacity'")),
            Err(_) => Err(wrong()),
        };
    }
    numbers(value).and_then(|n| n.try_into().ok()).ok_or_else(wrong)
}

fn word(all: &'static [Choice], value: &Value<'_>) -> Result<&'static str, Fault> {
    let key_type = KeyType::Choice(all);
    let text = value.get_ref().as_str().ok_or_else(|| expected(value, key_type))?;
    match all.iter().find(|c| c.id == text) {
        Some(choice) => Ok(choice.id),
        None => {
            let (at, problem, _) = expected(value, key_type);
            Err((at, problem, nearest(text, all.iter().map(|c| c.id))))
        }
    }
}
