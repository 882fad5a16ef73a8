//! Values of settings, checked against their description.

use super::{Animated, FileAsset, FromValue, ImageAsset, Kind, OnlyWhen, Planes, Points, Setting, common};
use crate::curve::Animate;
use crate::frame::Ranges;
use core::fmt;

/// A value of a setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Of a [`Kind::Switch`].
    Switch(bool),
    /// Of a [`Kind::Integer`].
    Integer(i64),
    /// Of a [`Kind::Number`] or a [`Kind::Fixed`], which stays the same.
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
    Image(ImageAsset),
    /// Of a [`Kind::Effect`] or a [`Kind::GrainTable`].
    File(FileAsset),
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

impl Value {
    /// Whether it is a curve whose last key has a mark that does nothing.
    pub fn has_idle_mark(&self) -> bool {
        match self {
            Value::Number(Animated::Curve(c)) => c.has_idle_mark(),
            Value::Position(Animated::Curve(c)) => c.has_idle_mark(),
            Value::Colour(Animated::Curve(c)) => c.has_idle_mark(),
            _ => false,
        }
    }
}

/// The values of one filter's settings: what was given, else what the preset says, else the default.
#[derive(Clone, Debug)]
pub struct Values {
    settings: &'static [Setting],
    given: Vec<Option<Value>>,
    /// What stands where nothing is given.
    rest: Vec<Option<Value>>,
}

impl Values {
    /// Nothing given yet.
    pub fn new(settings: &'static [Setting]) -> Values {
        let rest = settings.iter().map(Setting::default).collect();
        Values { settings, given: vec![None; settings.len()], rest }
    }

    /// Values as presets say them, `strength=2.2:size=0.8`: those of a chain that need no quotes.
    pub fn parse(settings: &'static [Setting], text: &str) -> Result<Values, SettingError> {
        let mut values = Values::new(settings);
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let (id, text) = part.split_once('=').unwrap_or((part, ""));
            let Some(setting) = settings.iter().find(|s| s.id == id) else { return Err(unknown(id)) };
            let problem = |e: super::ValueError| SettingError { setting: setting.id, problem: e.to_string() };
            values.set(id, setting.parse(text).map_err(problem)?)?;
        }
        Ok(values)
    }

    /// The descriptions.
    pub fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    /// Gives a value; refused when there is no such setting, or the value is of the wrong kind or out of range.
    pub fn set(&mut self, id: &str, value: Value) -> Result<(), SettingError> {
        let Some(i) = self.settings.iter().position(|s| s.id == id) else { return Err(unknown(id)) };
        self.settings[i].check(&value)?;
        if let (Kind::Choice(words), Value::Choice(word)) = (self.settings[i].kind, &value)
            && let Some(preset) = words.iter().find(|c| c.id == *word && !c.sets.is_empty())
        {
            let preset = Values::parse(self.settings, preset.sets)?;
            self.rest =
                preset.given.into_iter().zip(preset.rest).map(|(given, rest)| given.or(rest)).collect();
        }
        self.given[i] = Some(value);
        Ok(())
    }

    /// The value that was given, if one was. Panics, as the next ones, for a setting that is not described.
    pub fn given(&self, id: &str) -> Option<&Value> {
        self.given[self.index(id)].as_ref()
    }

    /// The value in effect: the one given, else the preset's, else the default.
    pub fn get(&self, id: &str) -> Option<&Value> {
        let i = self.index(id);
        self.given[i].as_ref().or(self.rest[i].as_ref())
    }

    /// The value in effect as the type that the setting is declared with, a curve kept to the setting's range also
    /// where a shape swings beyond its keys.
    pub fn read<T: FromValue>(&self, id: &str) -> T {
        let value = match (self.settings[self.index(id)].kind, self.get(id)) {
            (_, None) => T::absent(),
            (Kind::Number { min, max }, Some(Value::Number(n))) => {
                T::of(&Value::Number(n.clone().clamped(min, max)))
            }
            (Kind::Position { min, max }, Some(Value::Position(p))) => {
                T::of(&Value::Position(p.clone().clamped(min, max)))
            }
            (Kind::Colour, Some(Value::Colour(c))) => T::of(&Value::Colour(c.clone().clamped(0.0, 1.0))),
            (_, Some(value)) => T::of(value),
        };
        value.unwrap_or_else(|| panic!("setting '{id}' is {:?}, which is of another type", self.get(id)))
    }

    /// The seed that was given, of a filter that has one.
    pub fn seed(&self) -> Option<u64> {
        if self.has(common::SEED.id) { self.read(common::SEED.id) } else { None }
    }

    /// Whether every frame is to get what frame 0 gets.
    pub fn is_static(&self) -> bool {
        self.has(common::STATIC.id) && self.read(common::STATIC.id)
    }

    /// Refuses what is given beside a choice that has no use for it.
    pub fn check(&self) -> Result<(), SettingError> {
        for (setting, _) in self.iter_given() {
            let Some(OnlyWhen { setting: of, words, refused: true }) = setting.only_when else { continue };
            if !matches!(self.get(of), Some(Value::Choice(word)) if words.contains(word)) {
                let problem = format!("it applies to {of}={} only: add that, or leave this out", words[0]);
                return Err(SettingError { setting: setting.id, problem });
            }
        }
        Ok(())
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

    fn has(&self, id: &str) -> bool {
        self.settings.iter().any(|s| s.id == id)
    }

    fn index(&self, id: &str) -> usize {
        // A filter asks only for what it describes itself; the catalog's test builds each with its defaults.
        self.settings
            .iter()
            .position(|s| s.id == id)
            .unwrap_or_else(|| panic!("no setting '{id}' is described"))
    }
}

fn unknown(id: &str) -> SettingError {
    SettingError { setting: "", problem: format!("there is no setting '{id}'") }
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
            | (Kind::Effect | Kind::GrainTable, Value::File(_)) => Ok(()),
            (Kind::Integer { min, max }, Value::Integer(v)) => {
                if (min..=max).contains(v) {
                    Ok(())
                } else {
                    err(format!("{v} is not from {min} to {max}"))
                }
            }
            (Kind::Number { min, max }, Value::Number(n)) => self.check_range(n, min, max),
            (Kind::Fixed { min, max }, Value::Number(n @ Animated::Constant(_))) => {
                self.check_range(n, min, max)
            }
            (Kind::Position { min, max }, Value::Position(p)) => self.check_range(p, min, max),
            (Kind::Colour, Value::Colour(c)) => self.check_range(c, 0.0, 1.0),
            (Kind::Points { min, max }, Value::Points(p)) => match p.outside(min, max) {
                None => Ok(()),
                Some((_, v)) => err(format!("{v} is not from {min} to {max}")),
            },
            (Kind::Choice(all), Value::Choice(v)) if all.iter().any(|c| c.id == *v) => Ok(()),
            _ => err("the wrong type of value".into()),
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
    let bad = |v: &T| (0..T::COMPONENTS).map(|i| v.component(i)).find(|p| !(min..=max).contains(p));
    match value {
        Animated::Constant(v) => bad(v).map(|p| (0, p)),
        Animated::Curve(c) => c.keys().iter().enumerate().find_map(|(i, k)| Some((i, bad(&k.value)?))),
    }
}
