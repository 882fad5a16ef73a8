//! Prints effects as text.

use super::super::toml_string;
use super::VERSION;
use crate::filter::particles::Effect;
use crate::filter::particles::keys::{Key, KeyValue, explicit_keys};
use crate::particle::Spread;
use crate::particle::draw::BlendSpace;
use crate::settings::ChoiceEnum;
use std::fmt::Write;

/// The column of explanations.
const COLUMN: usize = 36;

/// Prints an effect as TOML, which parses to an equal effect.
pub fn print(effect: &Effect) -> String {
    written(effect, false)
}

/// The same with an explanation of every key, as a starting point.
pub fn print_explained(effect: &Effect) -> String {
    written(effect, true)
}

fn written(effect: &Effect, explained: bool) -> String {
    let mut out = format!("version = {VERSION}\n");
    line(&mut out, &format!("blend = \"{}\"", effect.blend.id()), explained.then_some(BLEND));
    // Default values are left out: recipe keys depend on this text and must not change.
    if explained || effect.light != BlendSpace::default() {
        line(&mut out, &format!("light = \"{}\"", effect.light.id()), explained.then_some(LIGHT));
    }
    line(&mut out, &format!("wind = {}", number(&effect.wind)), explained.then_some(WIND));
    for layer in &effect.layers {
        out += "\n[[layer]]\n";
        for (key, item) in explicit_keys(layer) {
            let help = explained.then(|| explanation(key));
            line(&mut out, &format!("{} = {}", key.id, text(&item)), help.as_deref());
        }
    }
    out
}

const BLEND: &str = "over, add, screen or multiply";
const LIGHT: &str = "gamma or linear: the values that are mixed";
const WIND: &str = "units per second: to the right, below 0 to the left";

fn line(out: &mut String, said: &str, help: Option<&str>) {
    let _ = match help {
        Some(help) => writeln!(out, "{said:COLUMN$} # {help}"),
        None => writeln!(out, "{said}"),
    };
}

/// The first sentence of the help, and the unit.
fn explanation(key: &Key) -> String {
    let mut open = 0;
    let ends = |(_, c): &(usize, char)| {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        open == 0 && matches!(c, '.' | ':')
    };
    let end = key.help.char_indices().find(ends).map_or(key.help.len(), |(at, _)| at);
    let first = &key.help[..end];
    if key.unit.is_empty() { first.to_owned() } else { format!("{}: {first}", key.unit) }
}

/// The text of a value.
pub(super) fn text(item: &KeyValue) -> String {
    fn list<T>(all: &[T], one: impl Fn(&T) -> String) -> String {
        format!("[{}]", all.iter().map(one).collect::<Vec<_>>().join(", "))
    }
    match item {
        KeyValue::Number(v) => number(v),
        KeyValue::Integer(v) => v.to_string(),
        KeyValue::Spread(s) => spread(*s),
        KeyValue::Numbers(all) => list(all, number),
        KeyValue::Points(all) => list(all, |p| list(p, number)),
        KeyValue::Colours(all) => list(all, colour),
        KeyValue::Name(name) => toml_string(name),
        KeyValue::Curve(curve) => toml_string(&curve.to_string()),
        KeyValue::Path(curve) => toml_string(&curve.to_string()),
        KeyValue::Choice(word) => format!("\"{word}\""),
        KeyValue::Picture(picture) => toml_string(picture.name()),
    }
}

/// Prints zero without a sign, so that equal numbers have equal texts.
fn number(v: &f64) -> String {
    (v + 0.0).to_string()
}

/// Prints the fewest digits that read back to the same value. A negative offset cannot become a range: exchanging
/// the ends would change the value of each particle.
fn spread(s: Spread) -> String {
    let [base, offset] = [s.base + 0.0, s.offset + 0.0];
    if offset == 0.0 {
        return base.to_string();
    }
    let [low, high] = [f64::from(base) - f64::from(offset), f64::from(base) + f64::from(offset)];
    for digits in if offset > 0.0 { 0..9 } else { 0..0 } {
        let [low, high] = [low, high].map(|v| format!("{v:.digits$e}").parse::<f64>().unwrap_or(v));
        if Spread::between(low as f32, high as f32) == s {
            return format!("[{low}, {high}]");
        }
    }
    format!("{{ base = {base}, offset = {offset} }}")
}

fn colour(rgb: &[f64; 3]) -> String {
    let codes = rgb.map(|v| (v * 255.0).round());
    if codes.iter().zip(rgb).all(|(n, v)| n / 255.0 == *v) {
        let [r, g, b] = codes.map(|n| n as u8);
        return format!("\"#{r:02x}{g:02x}{b:02x}\"");
    }
    let [r, g, b] = rgb.map(|v| number(&v));
    format!("[{r}, {g}, {b}]")
}
