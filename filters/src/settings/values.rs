//! Values of settings, checked against their description.

use super::{Animated, Kind, Setting};
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
            if let Some(Value::Number(n)) = value {
                *n = n
                    .resolve(last)
                    .map_err(|e| SettingError { setting: setting.id, problem: e.to_string() })?;
            }
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

    /// A number that may move. Panics, as the next ones, when the description says otherwise.
    pub fn number(&self, id: &str) -> Animated {
        match self.get(id) {
            Some(Value::Number(n)) => n.clone(),
            other => panic!("setting '{id}' is {other:?}, not a number with a default"),
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
            (Kind::Switch, Value::Switch(_)) | (Kind::Seed, Value::Seed(_)) => Ok(()),
            (Kind::Whole { min, max }, Value::Whole(v)) => {
                if (min..=max).contains(v) {
                    Ok(())
                } else {
                    err(format!("{v} is not from {min} to {max}"))
                }
            }
            (Kind::Number { min, max }, Value::Number(n)) => {
                let bad = |v: &f64| !(min..=max).contains(v);
                let found = match n {
                    Animated::Constant(v) => Some(*v).filter(bad),
                    Animated::Curve(c) => c.keys().iter().map(|k| k.value).find(bad),
                };
                found.map_or(Ok(()), |v| err(format!("{v} is not from {min} to {max}")))
            }
            (Kind::Choice(all), Value::Choice(v)) if all.iter().any(|c| c.id == *v) => Ok(()),
            _ => err("the wrong kind of value".into()),
        }
    }
}
