//! The parameters of a frei0r plugin, and the recipe that they make.
//!
//! Projects store parameters by position, and numbers as a fraction of a range. Both are therefore fixed in
//! `order.txt`, which only grows: a new setting gets a line at the end of its filter, and a removed setting keeps its
//! position without effect. `GRAINFIELD_BLESS=1 cargo test -p grainfield-host-kit order` adds missing lines.

use super::{Argument, HostError, Look};
use grainfield_filters::catalog::Entry;
use grainfield_filters::settings::common::COMMON;
use grainfield_filters::settings::{Animated, Kind, Setting, Value};
use std::path::Path;

/// See the [module](self). A line `[filter]`, then one for each parameter: the setting's id (with `.x` or `.y` for a
/// component of a position), its type, and for a number the values at 0 and at 1.
const ORDER: &str = include_str!("order.txt");

/// The frei0r type of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Off or on.
    Switch,
    /// A number: the values at 0 and at 1.
    Number(f64, f64),
    /// Red, green and blue, 0 to 1.
    Colour,
    /// Text.
    Text,
}

/// The meaning of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// Settings as in a chain, `strength=12:monochrome=1`; they override other parameters.
    Settings,
    /// A chain, or the name of a TOML file.
    Recipe,
    /// Frames per second, `24` or `24000/1001`.
    Rate,
    /// The unit of the host's time.
    Clock,
    /// Added to the number of the frame.
    Offset,
    /// The recipe's seed.
    Seed,
    /// A setting; for a position one coordinate.
    Setting(&'static Setting, Option<usize>),
    /// A removed setting.
    Nothing,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name.
    pub name: String,
    /// The help.
    pub help: &'static str,
    /// The frei0r type.
    pub shape: Shape,
    /// The meaning.
    pub role: Role,
}

/// A parameter's value in frei0r.
#[derive(Clone, PartialEq, Debug)]
pub enum ParamValue {
    /// Off or on.
    Switch(bool),
    /// 0 to 1.
    Number(f64),
    /// Red, green, blue.
    Colour([f32; 3]),
    /// Text.
    Text(String),
}

/// The unit of the host's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// To be detected.
    Auto,
    /// Seconds, as frei0r specifies.
    Seconds,
    /// Milliseconds, as in FFmpeg up to version 7.
    Milliseconds,
}

const RATE: &str = "Frames per second of the clip, as 24 or 24000/1001. With it frames have the numbers that the command line \
    gives them; without it random numbers follow from the time alone.";
const CLOCK: &str = "The unit of the host's time: auto, seconds or milliseconds (FFmpeg to version 7).";
const OFFSET: &str = "Added to the number of each frame: that of the frame which the host calls time 0.";
const SEED: &str = "The seed of the recipe: another number gives other random numbers.";
const SETTINGS: &str =
    "Settings as in a chain, such as strength=12:monochrome=1; they override the parameters below.";
const RECIPE: &str = "Filters as in a chain, such as grain=preset=35mm,dust, or the name of a TOML recipe.";

/// The parameters of a filter's plugin, or of the one that takes recipes.
pub fn params(filter: Option<&'static Entry>) -> Vec<Param> {
    let text = |name: &str, help, role| Param { name: name.into(), help, shape: Shape::Text, role };
    let first = match filter {
        Some(_) => text("Settings", SETTINGS, Role::Settings),
        None => text("Recipe", RECIPE, Role::Recipe),
    };
    let mut all = vec![
        first,
        text("Rate", RATE, Role::Rate),
        text("Clock", CLOCK, Role::Clock),
        text("Offset", OFFSET, Role::Offset),
        text("Recipe seed", SEED, Role::Seed),
    ];
    let shared = all.len();
    let Some(filter) = filter else { return all };
    let frozen: Vec<(String, Shape)> = lines(filter.name);
    let new = natural(filter).into_iter().filter(|(id, _)| !frozen.iter().any(|(known, _)| known == id));
    for (id, shape) in frozen.iter().cloned().chain(new) {
        let (base, part) = match id.rsplit_once('.') {
            Some((base, axis)) => (base, Some(usize::from(axis == "y"))),
            None => (&*id, None),
        };
        let setting = filter.settings.iter().chain(&COMMON).find(|s| s.id == base);
        let axis = ["", " x", " y"][part.map_or(0, |part| part + 1)];
        all.push(match setting {
            // Use the id, which never changes: hosts derive property names from it.
            Some(s) => {
                let mut name = s.id.replace(['-', '_'], " ");
                if all[..shared].iter().any(|p| p.name.eq_ignore_ascii_case(&name)) {
                    name = format!("{} {name}", filter.name);
                }
                let name = name[..1].to_ascii_uppercase() + &name[1..] + axis;
                Param { name, help: s.help, shape, role: Role::Setting(s, part) }
            }
            None => Param { name: id.clone(), help: "No longer used.", shape, role: Role::Nothing },
        });
    }
    all
}

/// The fixed parameters of a filter.
fn lines(filter: &str) -> Vec<(String, Shape)> {
    let head = format!("[{filter}]");
    let own = ORDER.lines().skip_while(|l| **l != head).skip(1).take_while(|l| !l.starts_with('['));
    own.filter_map(|line| {
        let mut words = line.split_whitespace();
        let id = words.next()?.to_owned();
        let shape = match words.next()? {
            "switch" => Shape::Switch,
            "colour" => Shape::Colour,
            "number" => Shape::Number(words.next()?.parse().ok()?, words.next()?.parse().ok()?),
            _ => Shape::Text,
        };
        Some((id, shape))
    })
    .collect()
}

/// The parameters of a filter without fixed ones.
fn natural(filter: &Entry) -> Vec<(String, Shape)> {
    let mut all = Vec::new();
    for s in filter.settings.iter().chain(&COMMON) {
        let id = || s.id.to_owned();
        let range = |min: f64, max: f64| s.soft.map_or(Shape::Number(min, max), |(a, b)| Shape::Number(a, b));
        // A setting without a default has no value between 0 and 1.
        if s.default.is_none() {
            all.push((id(), Shape::Text));
            continue;
        }
        match s.kind {
            Kind::Switch => all.push((id(), Shape::Switch)),
            Kind::Integer { min, max } => all.push((id(), range(min as f64, max as f64))),
            Kind::Number { min, max } | Kind::Fixed { min, max } => all.push((id(), range(min, max))),
            Kind::Position { min, max } => {
                all.extend(["x", "y"].map(|axis| (format!("{}.{axis}", s.id), range(min, max))));
            }
            Kind::Colour => all.push((id(), Shape::Colour)),
            _ => all.push((id(), Shape::Text)),
        }
    }
    all
}

impl Param {
    /// The value of an untouched parameter.
    pub fn default(&self) -> ParamValue {
        let default = if let Role::Setting(setting, _) = self.role { setting.default() } else { None };
        match (self.shape, default) {
            (Shape::Switch, Some(Value::Switch(on))) => ParamValue::Switch(on),
            (Shape::Switch, _) => ParamValue::Switch(false),
            (Shape::Number(low, high), Some(value)) => {
                let value = match (value, self.role) {
                    (Value::Integer(n), _) => n as f64,
                    (Value::Number(Animated::Constant(n)), _) => n,
                    (Value::Position(Animated::Constant(p)), Role::Setting(_, Some(part))) => p[part],
                    _ => low,
                };
                ParamValue::Number(((value - low) / (high - low)).clamp(0.0, 1.0))
            }
            (Shape::Number(..), None) => ParamValue::Number(0.0),
            (Shape::Colour, Some(Value::Colour(Animated::Constant([r, g, b, _])))) => {
                ParamValue::Colour([r, g, b].map(|v| v as f32))
            }
            (Shape::Colour, _) => ParamValue::Colour([0.0; 3]),
            (Shape::Text, Some(value)) => ParamValue::Text(value.to_string()),
            (Shape::Text, None) => {
                ParamValue::Text(if matches!(self.role, Role::Clock) { "auto".into() } else { String::new() })
            }
        }
    }

    /// The value as text for the setting.
    fn text(&self, value: &ParamValue) -> String {
        match (value, self.shape) {
            (ParamValue::Switch(on), _) => on.to_string(),
            (ParamValue::Number(part), Shape::Number(low, high)) => {
                let whole = matches!(self.role, Role::Setting(Setting { kind: Kind::Integer { .. }, .. }, _));
                decimal(*part, low, high, whole)
            }
            (ParamValue::Number(part), _) => part.to_string(),
            (ParamValue::Colour(parts), _) => {
                let parts = parts.map(|v| decimal(v.into(), 0.0, 1.0, false));
                parts.join(",")
            }
            (ParamValue::Text(text), _) => text.trim().to_owned(),
        }
    }
}

/// The value at a fraction of a range, with five or six decimal digits: hosts print fractions with that precision, and
/// 12 of 255 would come back as 11.99999.
fn decimal(part: f64, low: f64, high: f64, whole: bool) -> String {
    let value = low + part.clamp(0.0, 1.0) * (high - low);
    if whole {
        return format!("{}", value.round());
    }
    let mut digits = 5usize;
    let mut span = high - low;
    while span >= 10.0 && digits > 0 {
        (span, digits) = (span / 10.0, digits - 1);
    }
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The look for parameter values.
///
/// # Errors
/// A chain, a recipe file or a value is invalid, or a file that it names cannot be read.
pub fn look(
    filter: Option<&'static Entry>,
    params: &[Param],
    values: &[ParamValue],
) -> Result<Look, HostError> {
    let text = |wanted: fn(&Role) -> bool| -> String {
        let found = params.iter().zip(values).find(|(p, _)| wanted(&p.role));
        found.map_or_else(String::new, |(p, value)| p.text(value))
    };
    let seed = text(|r| matches!(r, Role::Seed));
    let seed = match &seed[..] {
        "" => None,
        text => Some(
            text.parse().map_err(|_| HostError(format!("Recipe seed: '{text}' is not a whole number")))?,
        ),
    };
    let Some(filter) = filter else {
        let recipe = text(|r| matches!(r, Role::Recipe));
        let is_file = recipe.ends_with(".toml") && !recipe.contains('=');
        let look = if is_file { Look::of_file(Path::new(&recipe))? } else { Look::of_chain(&recipe)? };
        return Ok(look.seeded(seed));
    };
    let typed = text(|r| matches!(r, Role::Settings));
    let mut chain = String::from(filter.name);
    let mut given = Vec::new();
    if !typed.is_empty() {
        chain = format!("{chain}={typed}");
        let look = Look::of_chain(&chain)?;
        let [step] = &look.recipe().steps[..] else {
            return Err(HostError(format!("Settings: '{typed}' has a comma: put the value in quotes")));
        };
        given.extend(step.iter_given().map(|(s, _)| s.id));
        given.extend(look.recipe().links.iter().map(|l| l.setting.id));
    }
    let arguments = arguments(params, values, &given);
    let more = super::chain_text("", &arguments);
    if !more.is_empty() {
        chain.push(if typed.is_empty() { '=' } else { ':' });
        chain += &more[1..];
    }
    Ok(Look::of_chain(&chain)?.seeded(seed))
}

/// Settings whose parameters differ from their defaults. Hosts set every parameter, and a default value would override
/// a preset.
fn arguments(params: &[Param], values: &[ParamValue], given: &[&str]) -> Vec<Argument> {
    let mut all: Vec<Argument> = Vec::new();
    for (i, (param, value)) in params.iter().zip(values).enumerate() {
        let Role::Setting(setting, part) = param.role else { continue };
        let same = |i: usize| {
            let default = params[i].text(&params[i].default());
            params[i].text(&values[i]) == default || params[i].text(&values[i]).is_empty()
        };
        // Both coordinates of a position, or none.
        let other = match part {
            Some(0) => i + 1,
            Some(_) => i - 1,
            None => i,
        };
        if given.contains(&setting.id) || (same(i) && same(other)) {
            continue;
        }
        match all.iter_mut().find(|a| a.setting.id == setting.id) {
            Some(argument) => argument.values.push(param.text(value)),
            None => all.push(Argument { setting, values: vec![param.text(value)] }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::catalog::{FILTERS, find};
    use grainfield_filters::recipe::Recipe;
    use std::fmt::Write;

    fn made(filter: &str, changes: &[(&str, ParamValue)]) -> Look {
        let filter = find(filter).unwrap();
        let params = params(Some(filter));
        let mut values: Vec<ParamValue> = params.iter().map(Param::default).collect();
        for (name, value) in changes {
            values[params.iter().position(|p| p.name == *name).expect(name)] = value.clone();
        }
        look(Some(filter), &params, &values).unwrap()
    }

    fn typed(chain: &str) -> Recipe {
        chain.parse::<Recipe>().unwrap()
    }

    #[test]
    fn order_is_frozen_and_complete() {
        let mut wanted = String::new();
        let known: Vec<&str> = ORDER.lines().filter_map(|l| l.strip_prefix('[')?.strip_suffix(']')).collect();
        let new = FILTERS.iter().map(|f| f.name).filter(|name| !known.contains(name));
        for name in known.iter().copied().chain(new) {
            let _ = writeln!(wanted, "[{name}]");
            let mut all = lines(name);
            if let Some(filter) = find(name) {
                let fresh: Vec<_> =
                    natural(filter).into_iter().filter(|(id, _)| !all.iter().any(|(k, _)| k == id)).collect();
                all.extend(fresh);
            }
            for (id, shape) in all {
                let _ = match shape {
                    Shape::Switch => writeln!(wanted, "{id} switch"),
                    Shape::Colour => writeln!(wanted, "{id} colour"),
                    Shape::Text => writeln!(wanted, "{id} text"),
                    Shape::Number(low, high) => writeln!(wanted, "{id} number {low} {high}"),
                };
            }
        }
        if std::env::var_os("GRAINFIELD_BLESS").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/order.txt");
            std::fs::write(file, &wanted).unwrap();
            return;
        }
        assert_eq!(ORDER, wanted, "a setting is new: see the module's page for how its place is frozen");
    }

    #[test]
    fn names_are_different() {
        for filter in FILTERS {
            let mut names: Vec<String> = params(Some(filter)).iter().map(|p| p.name.to_lowercase()).collect();
            names.sort();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{}", filter.name);
        }
    }

    #[test]
    fn untouched_parameters_say_nothing() {
        for filter in FILTERS {
            assert_eq!(made(filter.name, &[]).recipe(), &typed(filter.name), "{}", filter.name);
        }
        let preset = made("grain", &[("Preset", ParamValue::Text("16mm".into()))]);
        assert_eq!(preset.recipe(), &typed("grain=preset=16mm"));
    }

    #[test]
    fn parameters_are_settings() {
        let number = |value: f64, name: &str, filter: &str| {
            let params = params(find(filter));
            let shape = params.iter().find(|p| p.name == name).unwrap().shape;
            let Shape::Number(low, high) = shape else { panic!("{name} is no number") };
            // With the precision of hosts.
            ParamValue::Number(format!("{:.6}", (value - low) / (high - low)).parse().unwrap())
        };
        let noise = [
            ("Strength", number(12.0, "Strength", "noise")),
            ("Monochrome", ParamValue::Switch(true)),
            ("Octaves", number(3.0, "Octaves", "noise")),
            ("Enable", ParamValue::Text("5-9".into())),
        ];
        assert_eq!(
            made("noise", &noise).recipe(),
            &typed("noise=strength=12:monochrome=1:octaves=3:enable=5-9")
        );
        let center = [("Center x", number(0.25, "Center x", "vignette"))];
        assert_eq!(made("vignette", &center).recipe(), &typed("vignette=center='0.25,0.5'"));
        let red = [("Color", ParamValue::Colour([1.0, 0.5, 0.0]))];
        assert_eq!(made("fade", &red).recipe(), &typed("fade=color='1,0.5,0'"));
        // The text wins, and may contain settings without parameters.
        let both = [
            ("Settings", ParamValue::Text("strength='0=0;48=12'".into())),
            ("Strength", ParamValue::Number(0.9)),
            ("Recipe seed", ParamValue::Text("7".into())),
        ];
        assert_eq!(made("noise", &both).recipe(), &typed("recipe=seed=7,noise=strength='0=0;48=12'"));
    }

    #[test]
    fn recipes_are_chains_or_files() {
        let params = params(None);
        let mut values: Vec<ParamValue> = params.iter().map(Param::default).collect();
        values[0] = ParamValue::Text("grain=preset=35mm,dust".into());
        assert_eq!(look(None, &params, &values).unwrap().recipe(), &typed("grain=preset=35mm,dust"));
        values[0] = ParamValue::Text("/nowhere/look.toml".into());
        assert!(look(None, &params, &values).unwrap_err().0.contains("/nowhere/look.toml"));
    }
}
