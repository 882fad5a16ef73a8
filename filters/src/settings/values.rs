//! Values of settings, checked against their description.

use super::{Animated, Document, Kind, Picture, Planes, Points, Setting};
use crate::curve::Animate;
use crate::frame::Ranges;
use core::fmt;

/// A value of a setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Of a [`Kind::Switch`].
    Switch(bool),
    /// Of a [`Kind::Whole`].
    Whole(i64),
    /// Of a [`Kind::Number`].
    Number(Animated),
    /// Of a [`Kind::Seed`].
    Seed(u64),
    /// Of a [`Kind::Choice`]: the word, as the description spells it.
    Choice(&'static str),
    /// Of a [`Kind::Position`]: `x` to the right, `y` down.
    Position(Animated<[f64; 2]>),
    /// Of a [`Kind::Colour`]: red, green, blue, alpha, each 0 to 1, as displayed and not multiplied by alpha.
    Colour(Animated<[f64; 4]>),
    /// Of a [`Kind::Frames`].
    Frames(Ranges),
    /// Of a [`Kind::Planes`].
    Planes(Planes),
    /// Of a [`Kind::Points`].
    Points(Points),
    /// Of a [`Kind::Image`], or of a [`Kind::SourceFrame`], whose number is the picture's name.
    Image(Picture),
    /// Of a [`Kind::Effect`].
    Effect(Document),
}

/// What is wrong with a setting's value.
#[derive(Clone, PartialEq, Debug)]
pub struct SettingError {
    /// The setting's id; empty when it is the filter as a whole.
    pub setting: &'static str,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.setting.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.setting, self.problem)
        }
    }
}

impl core::error::Error for SettingError {}

/// The values of one filter's settings: those given, and the defaults of the rest.
#[derive(Clone, Debug)]
pub struct Values {
    settings: &'static [Setting],
    given: Vec<Option<Value>>,
}

impl Values {
    /// Nothing given yet.
    pub fn new(settings: &'static [Setting]) -> Values {
        Values { settings, given: vec![None; settings.len()] }
    }

    /// The descriptions.
    pub fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    /// Gives a value; refused when there is no such setting, or the value is of the wrong kind or out of range.
    pub fn set(&mut self, id: &str, value: Value) -> Result<(), SettingError> {
        let Some(i) = self.settings.iter().position(|s| s.id == id) else {
            return Err(SettingError { setting: "", problem: format!("there is no setting '{id}'") });
        };
        self.settings[i].check(&value)?;
        self.given[i] = Some(value);
        Ok(())
    }

    /// The value that was given, if one was.
    pub fn given(&self, id: &str) -> Option<&Value> {
        self.given[self.index(id)].as_ref()
    }

    /// The value given, or the default.
    pub fn get(&self, id: &str) -> Option<&Value> {
        let i = self.index(id);
        self.given[i].as_ref().or(self.settings[i].default.as_ref())
    }

    /// All settings that were given, in the order of the description.
    pub fn iter_given(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        self.settings.iter().zip(&self.given).filter_map(|(s, v)| Some((s, v.as_ref()?)))
    }

    /// Turns curve keys that count from the end into numbers, `last` being the number of the last frame.
    pub fn resolve(&mut self, last: Option<i64>) -> Result<(), SettingError> {
        for (setting, value) in self.settings.iter().zip(&mut self.given) {
            let resolved = match value {
                Some(Value::Number(n)) => n.resolve(last).map(Value::Number),
                Some(Value::Position(p)) => p.resolve(last).map(Value::Position),
                Some(Value::Colour(c)) => c.resolve(last).map(Value::Colour),
                _ => continue,
            };
            *value =
                Some(resolved.map_err(|e| SettingError { setting: setting.id, problem: e.to_string() })?);
        }
        Ok(())
    }

    fn index(&self, id: &str) -> usize {
        // A filter asks only for what it describes itself; the catalog's test builds each with its defaults.
        self.settings
            .iter()
            .position(|s| s.id == id)
            .unwrap_or_else(|| panic!("no setting '{id}' is described"))
    }

    /// A number that may move, kept to the description's range also where a shape swings beyond its keys. Panics, as
    /// the next ones, when the description says otherwise.
    pub fn number(&self, id: &str) -> Animated {
        match (self.get(id), self.settings[self.index(id)].kind) {
            (Some(Value::Number(n)), Kind::Number { min, max }) => n.clone().limited(min, max),
            (other, _) => panic!("setting '{id}' is {other:?}, not a number with a default"),
        }
    }

    /// A whole number.
    pub fn whole(&self, id: &str) -> i64 {
        match self.get(id) {
            Some(Value::Whole(n)) => *n,
            other => panic!("setting '{id}' is {other:?}, not a whole number with a default"),
        }
    }

    /// A switch.
    pub fn switch(&self, id: &str) -> bool {
        match self.get(id) {
            Some(Value::Switch(b)) => *b,
            other => panic!("setting '{id}' is {other:?}, not a switch with a default"),
        }
    }

    /// A choice.
    pub fn choice(&self, id: &str) -> &'static str {
        match self.get(id) {
            Some(Value::Choice(c)) => c,
            other => panic!("setting '{id}' is {other:?}, not a choice with a default"),
        }
    }

    /// A position that may move, kept to its range.
    pub fn position(&self, id: &str) -> Animated<[f64; 2]> {
        match (self.get(id), self.settings[self.index(id)].kind) {
            (Some(Value::Position(p)), Kind::Position { min, max }) => p.clone().limited(min, max),
            (other, _) => panic!("setting '{id}' is {other:?}, not a position with a default"),
        }
    }

    /// A colour that may move, kept to 0..1.
    pub fn colour(&self, id: &str) -> Animated<[f64; 4]> {
        match self.get(id) {
            Some(Value::Colour(c)) => c.clone().limited(0.0, 1.0),
            other => panic!("setting '{id}' is {other:?}, not a colour with a default"),
        }
    }

    /// Frame numbers, if some were given.
    pub fn frames(&self, id: &str) -> Option<&Ranges> {
        match self.get(id) {
            Some(Value::Frames(r)) => Some(r),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not frame numbers"),
        }
    }

    /// Planes, if some were given.
    pub fn planes(&self, id: &str) -> Option<Planes> {
        match self.get(id) {
            Some(Value::Planes(p)) => Some(*p),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not planes"),
        }
    }

    /// Points, if some were given.
    pub fn points(&self, id: &str) -> Option<&Points> {
        match self.get(id) {
            Some(Value::Points(p)) => Some(p),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not points"),
        }
    }

    /// An image, if one was named.
    pub fn image(&self, id: &str) -> Option<&Picture> {
        match self.get(id) {
            Some(Value::Image(p)) => Some(p),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not an image"),
        }
    }

    /// An effect file, if one was named.
    pub fn effect(&self, id: &str) -> Option<&Document> {
        match self.get(id) {
            Some(Value::Effect(d)) => Some(d),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not an effect file"),
        }
    }

    /// A seed, if one was given.
    pub fn seed(&self, id: &str) -> Option<u64> {
        match self.get(id) {
            Some(Value::Seed(s)) => Some(*s),
            None => None,
            other => panic!("setting '{id}' is {other:?}, not a seed"),
        }
    }
}

impl PartialEq for Values {
    fn eq(&self, o: &Values) -> bool {
        core::ptr::eq(self.settings, o.settings) && self.given == o.given
    }
}

impl Setting {
    /// Refuses a value of the wrong kind or out of range.
    pub fn check(&self, value: &Value) -> Result<(), SettingError> {
        let err = |problem| Err(SettingError { setting: self.id, problem });
        match (self.kind, value) {
            (Kind::Switch, Value::Switch(_))
            | (Kind::Seed, Value::Seed(_))
            | (Kind::Frames, Value::Frames(_))
            | (Kind::Planes, Value::Planes(_))
            | (Kind::Image | Kind::SourceFrame, Value::Image(_))
            | (Kind::Effect, Value::Effect(_)) => Ok(()),
            (Kind::Whole { min, max }, Value::Whole(v)) => {
                if (min..=max).contains(v) {
                    Ok(())
                } else {
                    err(format!("{v} is not from {min} to {max}"))
                }
            }
            (Kind::Number { min, max }, Value::Number(n)) => self.check_range(n, min, max),
            (Kind::Position { min, max }, Value::Position(p)) => self.check_range(p, min, max),
            (Kind::Colour, Value::Colour(c)) => self.check_range(c, 0.0, 1.0),
            (Kind::Points { min, max }, Value::Points(p)) => match p.outside(min, max) {
                None => Ok(()),
                Some((_, v)) => err(format!("{v} is not from {min} to {max}")),
            },
            (Kind::Choice(all), Value::Choice(v)) if all.iter().any(|c| c.id == *v) => Ok(()),
            _ => err("the wrong kind of value".into()),
        }
    }

    fn check_range<T: Animate>(&self, value: &Animated<T>, min: f64, max: f64) -> Result<(), SettingError> {
        match outside(value, min, max) {
            None => Ok(()),
            Some((_, v)) => {
                Err(SettingError { setting: self.id, problem: format!("{v} is not from {min} to {max}") })
            }
        }
    }
}

/// The first number outside the range (or not a number), and which key it stands in.
pub(super) fn outside<T: Animate>(value: &Animated<T>, min: f64, max: f64) -> Option<(usize, f64)> {
    let bad = |v: &T| (0..T::PARTS).map(|i| v.part(i)).find(|p| !(min..=max).contains(p));
    match value {
        Animated::Constant(v) => bad(v).map(|p| (0, p)),
        Animated::Curve(c) => c.keys().iter().enumerate().find_map(|(i, k)| Some((i, bad(&k.value)?))),
    }
}
