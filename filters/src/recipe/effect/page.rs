//! Generates the documentation of effect files from the table that the parser uses.

use crate::filter::particles::keys::{Key, KeyType};
use crate::filter::particles::{Effect, Layer, MAX_LAYERS, MAX_PARTICLES};
use crate::settings::Choice;
use std::fmt::Write;

const HEAD: &str = "\
# Effect files

An effect file describes what the filter `particles` draws:

```text
grainfield filters particles=preset=embers --effect > my.toml
grainfield frame clip.y4m 17 out.png -f particles=effect=my.toml
grainfield filters particles=effect=my.toml
```

The first line writes a preset as a file to start from; the last prints how many particles may exist at a time and how
much memory they need. Errors are reported before the first frame, with the line, the key and the accepted values. The
key of a recipe covers the contents of the file, not only its name.

Positions are in a space in front of a camera: x to the right, y down, z away. At depth 1 a unit is a frame height and
(0, 0) the middle of the picture; at depth z everything is z times as small. So effects do not depend on the frame size.
Angles are in turns.

A value that varies between particles is one number for all, `[lowest, highest]`, or `{ base = B, offset = O }`: each
particle has B + r O with its own random r from -1 to 1. A value over life is a list of points `[[0, 1], [1, 0.2]]`,
where 0 is birth and 1 is death, connected by straight lines; or one number.

";

/// The page as Markdown.
pub fn page() -> String {
    let mut out = String::from(HEAD);
    let _ = writeln!(
        out,
        "## The effect\n\n| key | takes | unit | default | what it does |\n|---|---|---|---|---|"
    );
    row(&mut out, "version", "1", "", "1", "Version of the format of effect files.");
    rows(&mut out, Effect::keys());
    let _ = writeln!(
        out,
        "\n## A layer\n\nAn effect has 1 to {MAX_LAYERS} layers, each written `[[layer]]` with its keys below it: an emitter with \
         one kind of particle.\nAt most {MAX_PARTICLES} particles may live at a time in all of them.\n\n| key | takes | unit | \
         default | what it does |\n|---|---|---|---|---|"
    );
    rows(&mut out, Layer::keys());
    out
}

fn rows<L: Default + 'static>(out: &mut String, keys: impl Iterator<Item = &'static Key<L>>) {
    let usual = L::default();
    for key in keys {
        let default = (key.print)(&usual).unwrap_or_default();
        let help = match key.key_type {
            KeyType::Choice(all) => words(key.help.trim_end_matches('.'), all),
            _ => key.help.to_owned(),
        };
        row(out, key.id, &key.key_type.to_string(), key.unit, &default, &help);
    }
}

fn row(out: &mut String, id: &str, key_type: &str, unit: &str, default: &str, help: &str) {
    let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
    let _ = writeln!(out, "| `{id}` | {key_type} | {unit} | {default} | {help} |");
}

fn words(help: &str, all: &[Choice]) -> String {
    let all: Vec<String> = all.iter().map(|c| format!("`{}`: {}", c.id, c.help)).collect();
    format!("{help}: {}.", all.join("; "))
}
