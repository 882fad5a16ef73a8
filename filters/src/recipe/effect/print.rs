//! Prints effects as text.

use super::VERSION;
use crate::filter::particles::Effect;
use crate::filter::particles::keys::Key;
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
    // Default values are left out: recipe keys depend on this text and must not change.
    lines(&mut out, effect.explicit_keys(explained), explained);
    for layer in &effect.layers {
        out += "\n[[layer]]\n";
        lines(&mut out, layer.explicit_keys(false), explained);
    }
    out
}

fn lines<L: 'static>(
    out: &mut String,
    keys: impl Iterator<Item = (&'static Key<L>, String)>,
    explained: bool,
) {
    for (key, value) in keys {
        let said = format!("{} = {value}", key.id);
        let _ = if explained {
            writeln!(out, "{said:COLUMN$} # {}", explanation(key))
        } else {
            writeln!(out, "{said}")
        };
    }
}

/// The first sentence of the help, and the unit.
fn explanation<L>(key: &Key<L>) -> String {
    let mut open = 0;
    let ends = |(_, c): &(usize, char)| {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        open == 0 && matches!(c, '.' | ':')
    };
    let end = key.help.char_indices().find(ends).map_or(key.help.len(), |(at, _)| at);
    let first = &key.help[..end];
    if key.unit.is_empty() { first.to_owned() } else { format!("{}: {first}", key.unit) }
}
