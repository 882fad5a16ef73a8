//! Prints effects as text.

use super::VERSION;
use crate::filter::particles::keys::Key;
use crate::filter::particles::{Effect, Layer};
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
    line(&mut out, &format!("wind = {}", effect.wind + 0.0), explained.then_some(WIND));
    for layer in &effect.layers {
        out += "\n[[layer]]\n";
        for (key, value) in layer.explicit_keys() {
            let help = explained.then(|| explanation(key));
            line(&mut out, &format!("{} = {value}", key.id), help.as_deref());
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
fn explanation(key: &Key<Layer>) -> String {
    let mut open = 0;
    let ends = |(_, c): &(usize, char)| {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        open == 0 && matches!(c, '.' | ':')
    };
    let end = key.help.char_indices().find(ends).map_or(key.help.len(), |(at, _)| at);
    let first = &key.help[..end];
    if key.unit.is_empty() { first.to_owned() } else { format!("{}: {first}", key.unit) }
}
