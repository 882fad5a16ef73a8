//! Generates descriptions of the catalog for other programs: the Python module of filters, and Kdenlive's
//! effects.

use super::params::{Param, ParamValue, Role, Shape, params};
use grainfield_filters::catalog::{Entry, FILTERS};
use grainfield_filters::settings::common::COMMON;
use grainfield_filters::settings::{Kind, Setting, wrap};
use std::fmt::Write;

/// A valid Python name: without `-`, and not a keyword.
fn python_name(id: &str) -> String {
    let name = id.replace('-', "_");
    let own =
        ["in", "is", "from", "lambda", "class", "def", "global", "pass", "with", "yield", "not", "and", "or"];
    if own.contains(&&*name) { name + "_" } else { name }
}

fn python_type(kind: Kind) -> String {
    match kind {
        Kind::Switch => "bool".into(),
        Kind::Integer { .. } | Kind::SourceFrame => "int".into(),
        Kind::Fixed { .. } => "float".into(),
        Kind::Number { .. } => "Number".into(),
        Kind::Position { .. } => "Position".into(),
        Kind::Colour => "Colour".into(),
        Kind::Seed => "int".into(),
        Kind::Image | Kind::File(_) => "Path".into(),
        Kind::Frames | Kind::Planes | Kind::Text | Kind::Points { .. } => "str".into(),
        Kind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|w| format!("\"{}\"", w.id)).collect();
            format!("Literal[{}]", words.join(", "))
        }
    }
}

/// `words` broken at 100 columns, indented.
fn wrapped(out: &mut String, indent: &str, first: &str, words: &str) {
    wrap(out, &format!("{indent}{first}"), indent.len() + 4, 100, words);
}

/// The values and default of a setting, for a docstring.
fn range(s: &Setting) -> String {
    let mut text = match s.kind {
        Kind::Integer { min, max } => format!("{min} to {max}. "),
        Kind::Number { min, max } | Kind::Fixed { min, max } => format!("{min} to {max}. "),
        _ => String::new(),
    };
    if let Some(default) = s.default() {
        let _ = write!(text, "Default {default}. ");
    }
    text
}

/// The module `grainfield.filters`: a typed function for each filter.
pub fn python() -> String {
    let mut out = String::from(
        "\"\"\"A function for each filter, made of Grainfield's catalog. See `grainfield.Chain` for the common arguments.\"\"\"\n\n\
         # Generated: edit the settings of the filters instead.\n\n\
         from __future__ import annotations\n\nfrom typing import Literal, Optional\n\n\
         from ._chain import Array, Colour, Number, Path, Position, Rate, apply\n\n",
    );
    let names: Vec<String> = FILTERS.iter().map(|f| format!("\"{}\"", python_name(f.name))).collect();
    let _ = writeln!(out, "__all__ = [{}]", names.join(", "));
    FILTERS.iter().for_each(|filter| function(&mut out, filter));
    out
}

fn function(out: &mut String, filter: &Entry) {
    let settings = || filter.settings.iter().chain(&COMMON);
    let name = python_name(filter.name);
    let _ = writeln!(out, "\n\ndef {name}(\n    picture: Array,\n    /,\n    *,");
    for s in settings() {
        let _ = writeln!(out, "    {}: Optional[{}] = None,", python_name(s.id), python_type(s.kind));
    }
    out.push_str(
        "    frame: int = 0,\n    rate: Rate = 24,\n    recipe_seed: Optional[int] = None,\n    \
         last: Optional[int] = None,\n    transfer: str = \"srgb\",\n    sample_bits: Optional[int] = None,\n    \
         out: Optional[Array] = None,\n) -> Array:\n",
    );
    wrapped(out, "    ", "\"\"\"", filter.help);
    out.push_str("\n    Args:\n        picture: H x W or H x W x C, or several, N x H x W x C.\n");
    for s in settings() {
        wrapped(
            out,
            "        ",
            &format!("{}: ", python_name(s.id)),
            &format!("{}{}", s.help, " ").replace('\\', "\\\\"),
        );
        if !range(s).is_empty() {
            wrapped(out, "            ", "", range(s).trim());
        }
        if let Kind::Choice(words) = s.kind {
            for word in words {
                wrapped(out, "            ", &format!("{}: ", word.id), word.help);
            }
        }
    }
    for (name, help) in [
        ("frame", "The number of the frame, of the first of several."),
        (
            "rate",
            "Frames per second, for settings that change over time: a number, a Fraction or \"24000/1001\".",
        ),
        ("recipe_seed", "The seed of the recipe, as --seed of the command line."),
        ("last", "The number of the last frame, for keys that count from the end."),
        (
            "transfer",
            "The transfer characteristic of samples: \"srgb\" (images), \"linear\", or another name of FFmpeg.",
        ),
        ("sample_bits", "Bits per sample in a uint16 array, if not 16."),
        ("out", "The array for the result; it may be `picture` itself."),
    ] {
        wrapped(out, "        ", &format!("{name}: "), help);
    }
    out.push_str("    \"\"\"\n    settings = {\n");
    for s in settings() {
        let _ = writeln!(out, "        \"{}\": {},", s.id, python_name(s.id));
    }
    let _ = writeln!(out, "    }}\n    options = (frame, rate, recipe_seed, last, transfer, sample_bits)");
    let _ = writeln!(out, "    return apply(\"{}\", picture, settings, options, out)", filter.name);
}

/// The names and contents of Kdenlive's files: one for each filter, and one for recipes.
pub fn kdenlive() -> Vec<(String, String)> {
    let file = |filter: Option<&'static Entry>| {
        let service = plugin_name(filter);
        let mut out = String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE kpartgui>\n");
        let _ = writeln!(out, "<effect tag=\"frei0r.{service}\" id=\"frei0r.{service}\">");
        let label = filter.map_or_else(|| "Grainfield".into(), |f| format!("Grainfield {}", f.label));
        let _ = writeln!(out, "  <name>{}</name>", escaped(&label));
        let help = filter.map_or("Filters of a Grainfield recipe.", |f| f.help);
        let _ =
            writeln!(out, "  <description>{}</description>\n  <author>Grainfield</author>", escaped(help));
        for (i, param) in params(filter).iter().enumerate() {
            parameter(&mut out, i, param);
        }
        (format!("frei0r_{service}.xml"), out + "</effect>\n")
    };
    FILTERS.iter().map(Some).chain([None]).map(file).collect()
}

/// The name of a plugin's file, without its extension.
pub fn plugin_name(filter: Option<&Entry>) -> String {
    filter.map_or_else(|| "grainfield".into(), |f| format!("grainfield_{}", f.name.replace('-', "_")))
}

fn parameter(out: &mut String, index: usize, param: &Param) {
    let default = param.default();
    let (kind, more) = match (param.shape, &default) {
        (Shape::Switch, ParamValue::Switch(on)) => ("bool", format!("default=\"{}\"", u8::from(*on))),
        (Shape::Number(low, high), ParamValue::Number(part)) => {
            // The displayed value is the stored one times the factor, plus the offset.
            let factor = high - low;
            let mut decimals = 0;
            let mut step = factor / 200.0;
            while step < 1.0 && decimals < 4 {
                (step, decimals) = (step * 10.0, decimals + 1);
            }
            let offset = if low == 0.0 { String::new() } else { format!(" offset=\"{low}\"") };
            let shown = low + part * factor;
            let range = format!(
                "default=\"{shown:.decimals$}\" min=\"{low}\" max=\"{high}\" factor=\"{factor}\"{offset}"
            );
            ("animated", format!("{range} decimals=\"{decimals}\""))
        }
        (Shape::Colour, ParamValue::Colour(parts)) => {
            let [r, g, b] = parts.map(|v| (v * 255.0).round() as u8);
            ("color", format!("default=\"#{r:02x}{g:02x}{b:02x}\""))
        }
        _ => match (param.role, default) {
            (Role::Setting(Setting { kind: Kind::Choice(words), .. }, _), ParamValue::Text(text)) => {
                let first = if text.is_empty() { vec![""] } else { vec![] };
                let words: Vec<&str> = first.into_iter().chain(words.iter().map(|w| w.id)).collect();
                ("list", format!("default=\"{text}\" paramlist=\"{}\"", words.join(";")))
            }
            (Role::Clock, _) => {
                ("list", "default=\"seconds\" paramlist=\"auto;seconds;milliseconds\"".into())
            }
            (Role::Rate, _) => {
                let rates = "24000/1001;24;25;30000/1001;30;50;60000/1001;60";
                ("keywords", format!("default=\"\" keywords=\"{rates}\" keywordsdisplay=\"{rates}\""))
            }
            (Role::Setting(Setting { kind: Kind::Image | Kind::File(_), .. }, _), _) => {
                ("url", "default=\"\"".into())
            }
            _ => ("keywords", "default=\"\"".into()),
        },
    };
    let _ = writeln!(out, "  <parameter type=\"{kind}\" name=\"{index}\" {more}>");
    let _ = writeln!(out, "    <name>{}</name>", escaped(&param.name));
    let _ = writeln!(out, "    <comment>{}</comment>\n  </parameter>", escaped(param.help));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_and_setting_is_there() {
        let module = python();
        let files = kdenlive();
        assert_eq!(files.len(), FILTERS.len() + 1);
        for filter in FILTERS {
            assert!(module.contains(&format!("\ndef {}(\n", filter.name)), "{}", filter.name);
            let xml = &files
                .iter()
                .find(|(name, _)| *name == format!("frei0r_{}.xml", plugin_name(Some(filter))))
                .unwrap()
                .1;
            assert_eq!(xml.matches("<parameter ").count(), params(Some(filter)).len());
        }
        // The names of a function's parameters are unique.
        for function in module.split("\ndef ").skip(1) {
            let head = function.split(") -> ").next().unwrap();
            let mut names: Vec<&str> =
                head.lines().filter_map(|l| l.trim().split_once(": ").map(|l| l.0)).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert!(count > 8 && names.len() == count, "{head}");
        }
        assert!(module.contains("    crop_left: Optional[Number] = None,\n"));
        assert!(module.contains("\"crop-left\": crop_left,"));
        assert!(module.contains("    mode: Optional[Literal[\"smooth\", \"step\"]] = None,"));
    }
}
