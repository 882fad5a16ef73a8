//! Parses TOML recipes.

use super::assemble::{StepBuilder, find, setting, value_hint};
use super::error::{Fault, Problem, RecipeError};
use super::{MAX_STEPS, MAX_TEXT, Recipe, VERSION};
use crate::catalog::Entry;
use crate::curve::{Animate, Curve, Extrapolation, Key, KeyTime, Shape, TextError, TextProblem, shape_names};
use crate::settings::nearest;
use crate::settings::{Animated, Kind, Setting, Value, ValueError, ValueProblem};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

type Item<'a> = Spanned<DeValue<'a>>;

const TOP: [&str; 3] = ["version", "seed", "filter"];
const KEY: [&str; 3] = ["at", "value", "shape"];
const CURVE: [&str; 3] = ["keys", "before", "after"];

/// Parses a document of the filters in `table`.
pub(super) fn parse(text: &str, table: &'static [Entry]) -> Result<Recipe, RecipeError> {
    if text.len() > MAX_TEXT {
        return Err(RecipeError::new(text, MAX_TEXT..text.len(), Problem::TooLong));
    }
    let document = DeTable::parse(text).map_err(|e| {
        let problem = Problem::Toml(e.message().to_owned());
        RecipeError::new(text, e.span().unwrap_or(text.len()..text.len()), problem)
    })?;
    Reader { text, table }.document(document.get_ref()).map_err(|fault| RecipeError::of(text, fault))
}

/// The entries in the order of the text, so that the first error in the text is reported.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Spanned<DeString<'a>>, &'t Item<'a>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

/// An integer as decimal digits.
fn digits(n: &DeInteger<'_>) -> String {
    // A number that does not fit is invalid for every setting; its original digits make the message clearer.
    i128::from_str_radix(n.as_str(), n.radix()).map_or_else(|_| n.to_string(), |v| v.to_string())
}

struct Reader<'t> {
    text: &'t str,
    table: &'static [Entry],
}

impl Reader<'_> {
    fn document(&self, document: &DeTable<'_>) -> Result<Recipe, Fault> {
        let mut recipe = Recipe::default();
        for (key, item) in in_order(document) {
            match (key.get_ref().as_ref(), item.get_ref()) {
                ("version", DeValue::Integer(n)) if digits(n) == VERSION.to_string() => {}
                ("version", _) => return Err((item.span(), Problem::Version, None)),
                ("seed", value) => recipe.seed = Some(seed(value).ok_or_else(|| bad_seed(item))?),
                ("filter", DeValue::Array(steps)) => {
                    if steps.len() > MAX_STEPS {
                        return Err((item.span(), Problem::TooManySteps, None));
                    }
                    for step in steps {
                        self.step(step)?.finish(&mut recipe);
                    }
                }
                ("filter", _) => {
                    return Err((item.span(), Problem::Expected("[[filter]], once for each filter"), None));
                }
                (name, _) => return Err(unknown("", name, key.span(), &TOP)),
            }
        }
        Ok(recipe)
    }

    fn step(&self, item: &Item<'_>) -> Result<StepBuilder, Fault> {
        let Some(table) = item.get_ref().as_table() else {
            return Err((item.span(), Problem::Expected("a table with a name and settings"), None));
        };
        let Some(name) = table.get("name") else {
            return Err((item.span(), Problem::Lacks("name"), None));
        };
        let Some(text) = name.get_ref().as_str() else {
            return Err((name.span(), Problem::Expected("the name of a filter, in quotes"), None));
        };
        let filter = find(self.table, text).map_err(|(p, hint)| (name.span(), p, hint))?;
        let mut draft = StepBuilder::new(filter);
        for (key, item) in in_order(table) {
            let id = key.get_ref().as_ref();
            if id == "name" {
                continue;
            }
            let setting = setting(filter, id).map_err(|(p, hint)| (key.span(), p, hint))?;
            if item.get_ref().as_str().is_some_and(|text| draft.link(setting, text)) {
                continue;
            }
            let value = self.value(setting, item)?;
            draft.set(setting, value).map_err(|p| (item.span(), p, None))?;
        }
        Ok(draft)
    }

    fn value(&self, setting: &Setting, item: &Item<'_>) -> Result<Value, Fault> {
        let kind = |wanted| Err(fault(setting, item.span(), ValueProblem::Kind(wanted)));
        match (item.get_ref(), setting.kind) {
            (DeValue::Boolean(b), Kind::Switch) => Ok(Value::Switch(*b)),
            (DeValue::Array(_) | DeValue::Table(_), Kind::Number { .. }) => {
                self.curve(setting, item, Value::Number)
            }
            (_, Kind::Position { .. }) if is_curve(item) => self.curve(setting, item, Value::Position),
            (_, Kind::Colour) if is_curve(item) => self.curve(setting, item, Value::Colour),
            (DeValue::Boolean(_) | DeValue::Table(_) | DeValue::Datetime(_) | DeValue::Array(_), _)
                if !(matches!(item.get_ref(), DeValue::Array(_)) && setting.kind.animatable()) =>
            {
                kind(wanted(setting.kind))
            }
            _ => {
                let text = literal(item).ok_or_else(|| fault(setting, item.span(), number_expected()))?;
                setting.parse(&text).map_err(|e| {
                    let hint = value_hint(&e.problem, text.trim_ascii());
                    let (at, p) = (self.span(item, e.at), e.problem);
                    (at, Problem::Value(setting.id.to_owned(), p), hint)
                })
            }
        }
    }

    /// The position in the text of a range of a string's value: exact unless the string contains escapes.
    fn span(&self, item: &Item<'_>, bytes: Range<usize>) -> Range<usize> {
        let span = item.span();
        let raw = self.text.get(span.clone()).unwrap_or("");
        match item.get_ref() {
            DeValue::String(s) if raw.len() == s.len() + 2 && raw[1..].starts_with(s.as_ref()) => {
                span.start + 1 + bytes.start..span.start + 1 + bytes.end
            }
            _ => span,
        }
    }

    /// `[{ at = 0, value = 1, shape = "linear" }, ...]`, or `{ keys = [...], before = "hold", after = "repeat" }`.
    fn curve<T: Animate>(
        &self,
        setting: &Setting,
        item: &Item<'_>,
        wrap: fn(Animated<T>) -> Value,
    ) -> Result<Value, Fault> {
        let mut rules = [Extrapolation::Hold; 2];
        let keys = match item.get_ref() {
            DeValue::Table(table) => {
                let mut found = None;
                for (key, item) in in_order(table) {
                    match key.get_ref().as_ref() {
                        "keys" => found = Some(item),
                        "before" => rules[0] = rule(item)?,
                        "after" => rules[1] = rule(item)?,
                        name => return Err(unknown("curve", name, key.span(), &CURVE)),
                    }
                }
                found.ok_or((item.span(), Problem::Lacks("keys"), None))?
            }
            _ => item,
        };
        let Some(all) = keys.get_ref().as_array() else {
            return Err((keys.span(), Problem::Expected("a list of keys"), None));
        };
        let list = all.iter().map(|k| self.key(setting, k, wrap)).collect::<Result<Vec<Key<T>>, Fault>>()?;
        let curve = Curve::new(list).map_err(|e| {
            let at = e.key().and_then(|i| all.get(i)).map_or(keys.span(), Spanned::span);
            fault(setting, at, ValueProblem::Text(TextProblem::Curve(e)))
        })?;
        Ok(wrap(Animated::Curve(curve.with_extrapolation(rules[0], rules[1]))))
    }

    fn key<T: Animate>(
        &self,
        setting: &Setting,
        item: &Item<'_>,
        wrap: fn(Animated<T>) -> Value,
    ) -> Result<Key<T>, Fault> {
        let Some(table) = item.get_ref().as_table() else {
            let what = "a key: { at = 48, value = 12, shape = \"linear\" }";
            return Err((item.span(), Problem::Expected(what), None));
        };
        for (key, _) in in_order(table) {
            if !KEY.contains(&key.get_ref().as_ref()) {
                return Err(unknown("key", key.get_ref(), key.span(), &KEY));
            }
        }
        let entry = |name| table.get(name).ok_or((item.span(), Problem::Lacks(name), None));
        let text_fault = |item: &Item<'_>, e: TextError| {
            let e = ValueError::from(e);
            fault(setting, self.span(item, e.at), e.problem)
        };
        let when = entry("at")?;
        // An unquoted timecode is a TOML time.
        let time = match when.get_ref() {
            DeValue::Datetime(d) => Some(d.to_string()),
            _ => literal(when),
        };
        let time = time.ok_or_else(|| fault(setting, when.span(), ValueProblem::Text(TextProblem::Time)))?;
        let at: KeyTime = time.parse().map_err(|e| text_fault(when, e))?;
        let what = entry("value")?;
        let text = literal(what).ok_or_else(|| fault(setting, what.span(), number_expected()))?;
        let value = T::parse(text.trim_ascii()).map_err(|e| text_fault(what, e))?;
        if setting.check(&wrap(Animated::Constant(value))).is_err() {
            // Parsing it as text produces the error for values out of range.
            let e = setting.parse(&text).err().map_or(ValueProblem::Fixed, |e| e.problem);
            return Err(fault(setting, what.span(), e));
        }
        let shape = match table.get("shape") {
            None => Shape::Linear,
            Some(shape) => {
                let typed = shape.get_ref().as_str().unwrap_or_default();
                Shape::parse(typed).map_err(|e| {
                    let problem = Problem::Value("shape".to_owned(), ValueProblem::Text(e.problem));
                    (self.span(shape, e.at), problem, nearest(typed, shape_names()))
                })?
            }
        };
        Ok(Key { at, value, shape })
    }
}

/// Whether a value is a curve in the long form: a list of tables, or a table.
fn is_curve(item: &Item<'_>) -> bool {
    match item.get_ref() {
        DeValue::Table(_) => true,
        DeValue::Array(all) => all.iter().next().is_none_or(|i| i.get_ref().is_table()),
        _ => false,
    }
}

fn rule(item: &Item<'_>) -> Result<Extrapolation, Fault> {
    let rule = item.get_ref().as_str().and_then(Extrapolation::from_name);
    let problem = Problem::Expected("hold, repeat, mirror or extrapolate, in quotes");
    rule.ok_or((item.span(), problem, None))
}

/// A string, a number or a list of numbers, converted to the text form of a setting.
fn literal(item: &Item<'_>) -> Option<String> {
    match item.get_ref() {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(n) => Some(digits(n)),
        DeValue::Float(x) => Some(x.as_str().to_owned()),
        DeValue::Array(all) if all.len() <= 4 => {
            let number =
                |i: &Item<'_>| literal(i).filter(|_| !i.get_ref().is_array() && !i.get_ref().is_str());
            Some(all.iter().map(number).collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

fn number_expected() -> ValueProblem {
    ValueProblem::Text(TextProblem::Number)
}

fn fault(setting: &Setting, at: Range<usize>, problem: ValueProblem) -> Fault {
    (at, Problem::Value(setting.id.to_owned(), problem), None)
}

fn unknown(filter: &str, name: &str, at: Range<usize>, known: &[&str]) -> Fault {
    let near = nearest(name, known.iter().copied());
    (at, Problem::UnknownSetting(filter.to_owned(), name.to_owned()), near)
}

fn seed(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(n) => u64::from_str_radix(n.as_str(), n.radix()).ok(),
        DeValue::String(s) => match s.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')),
            None => s.parse().ok(),
        },
        _ => None,
    }
}

fn bad_seed(item: &Item<'_>) -> Fault {
    (item.span(), Problem::Value("seed".to_owned(), ValueProblem::Seed), None)
}

/// The values that a kind accepts, for messages.
fn wanted(kind: Kind) -> String {
    let text = match kind {
        Kind::Switch => "true or false",
        Kind::Integer { .. } => "a whole number",
        Kind::Number { .. } => "a number, or a curve",
        Kind::Fixed { .. } => "a number",
        Kind::Seed => "a whole number, or 0x and hex digits in quotes",
        Kind::Choice(_) => "a word in quotes",
        Kind::Position { .. } => "a position such as [960, 540], or a curve",
        Kind::Colour => "a colour in quotes such as \"#ff8000\", three or four numbers, or a curve",
        Kind::Frames => "frame numbers in quotes, such as \"1001-1100\"",
        Kind::Planes => "planes in quotes, such as \"yuv\"",
        Kind::Text => "text in quotes",
        Kind::Image => "the name of an image file in quotes",
        Kind::File(kind) => return format!("{} in quotes", kind.help()),
        Kind::SourceFrame => "the number of a frame in quotes",
        Kind::Points { .. } => "points in quotes, such as \"0=0;0.5=1;1=0\"",
    };
    text.into()
}
