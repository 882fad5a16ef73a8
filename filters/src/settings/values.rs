//! Values of settings, checked against their description.

use super::{Animated, FileAsset, FromValue, ImageAsset, Kind, OnlyWhen, Planes, Points, Setting, common};
use crate::curve::Animate;
use crate::frame::{ClipDetails, FilterLibrary, SourceFrames, Spans};
use core::fmt;
use std::sync::Arc;

/// A value of a setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// For [`Kind::Switch`].
    Switch(bool),
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Number`], or for [`Kind::Fixed`], which is constant.
    Number(Animated),
    /// For [`Kind::Seed`].
    Seed(u64),
    /// For [`Kind::Choice`]: the word as the description spells it.
    Choice(&'static str),
    /// For [`Kind::Position`]: `x` to the right, `y` down.
    Position(Animated<[f64; 2]>),
    /// For [`Kind::Colour`]: red, green, blue and alpha, 0 to 1 each, as displayed, not premultiplied.
    Colour(Animated<[f64; 4]>),
    /// For [`Kind::Text`].
    Text(String),
    /// For [`Kind::Frames`].
    Frames(Spans),
    /// For [`Kind::Planes`].
    Planes(Planes),
    /// For [`Kind::Points`].
    Points(Points),
    /// For [`Kind::Image`], or for [`Kind::SourceFrame`], whose frame number is the name of the picture.
    Image(ImageAsset),
    /// For [`Kind::File`].
    File(FileAsset),
}

/// An error in a setting's value.
#[derive(Clone, PartialEq, Debug)]
pub struct SettingError {
    /// The id of the setting; empty for the filter as a whole.
    pub setting: &'static str,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl SettingError {
    /// An error of a setting, or of the filter as a whole if its id is empty.
    pub fn new(setting: &'static str, problem: impl ToString) -> SettingError {
        SettingError { setting, problem: problem.to_string() }
    }
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
    /// Whether the value is a curve whose last key has a mark, which has no effect.
    pub fn has_idle_mark(&self) -> bool {
        match self {
            Value::Number(Animated::Curve(c)) => c.has_idle_mark(),
            Value::Position(Animated::Curve(c)) => c.has_idle_mark(),
            Value::Colour(Animated::Curve(c)) => c.has_idle_mark(),
            _ => false,
        }
    }

    /// Whether the value is a curve all of whose keys lie before the first frame.
    pub fn has_passed(&self, first: i64, last: Option<i64>) -> bool {
        match self {
            Value::Number(Animated::Curve(c)) => c.has_passed(first, last),
            Value::Position(Animated::Curve(c)) => c.has_passed(first, last),
            Value::Colour(Animated::Curve(c)) => c.has_passed(first, last),
            _ => false,
        }
    }
}

/// The values of a filter's settings: the given ones, else those of the preset, else the defaults.
#[derive(Clone, Debug)]
pub struct Values {
    settings: &'static [Setting],
    given: Vec<Option<Value>>,
    /// The values of settings that are not given.
    rest: Vec<Option<Value>>,
    source: Option<Arc<dyn SourceFrames>>,
    details: Option<Arc<ClipDetails>>,
    library: Option<Arc<dyn FilterLibrary>>,
}

impl Values {
    /// Values with no setting given.
    pub fn new(settings: &'static [Setting]) -> Values {
        let rest = settings.iter().map(Setting::default).collect();
        Values {
            settings,
            given: vec![None; settings.len()],
            rest,
            source: None,
            details: None,
            library: None,
        }
    }

    /// Parses the values of a preset, `strength=2.2:size=0.8`: a chain's form without quotes.
    ///
    /// # Errors
    /// The first setting that is unknown or has a wrong value.
    pub fn parse(settings: &'static [Setting], text: &str) -> Result<Values, SettingError> {
        let mut values = Values::new(settings);
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let (id, text) = part.split_once('=').unwrap_or((part, ""));
            let Some(setting) = settings.iter().find(|s| s.id == id) else { return Err(unknown(id)) };
            let problem = |e: super::ValueError| SettingError::new(setting.id, e);
            values.set(id, setting.parse(text).map_err(problem)?)?;
        }
        Ok(values)
    }

    /// The descriptions of the settings.
    pub fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    /// Sets a value. Returns an error if there is no such setting, or the value has the wrong kind or is out of
    /// range.
    ///
    /// # Errors
    /// There is no such setting, or the value has the wrong kind or is out of range.
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

    /// Removes a given value.
    pub(crate) fn unset(&mut self, id: &str) {
        let i = self.index(id);
        self.given[i] = None;
    }

    /// The given value, if there is one. This and the following methods panic for a setting that is not
    /// described.
    pub fn given(&self, id: &str) -> Option<&Value> {
        self.given[self.index(id)].as_ref()
    }

    /// The value in effect: the one given, else the preset's, else the default.
    pub fn get(&self, id: &str) -> Option<&Value> {
        let i = self.index(id);
        self.given[i].as_ref().or(self.rest[i].as_ref())
    }

    /// The value in effect, in the type of the setting's declaration. Curves are clamped to the setting's range,
    /// since shapes may overshoot.
    pub fn read<T: FromValue>(&self, id: &str) -> T {
        let value = match (self.settings[self.index(id)].kind, self.get(id)) {
            (_, None) => T::absent(),
            (Kind::Number { min, max }, Some(Value::Number(n))) => {
                T::from_value(&Value::Number(n.clone().clamped(min, max)))
            }
            (Kind::Position { min, max }, Some(Value::Position(p))) => {
                T::from_value(&Value::Position(p.clone().clamped(min, max)))
            }
            (Kind::Colour, Some(Value::Colour(c))) => {
                T::from_value(&Value::Colour(c.clone().clamped(0.0, 1.0)))
            }
            (_, Some(value)) => T::from_value(value),
        };
        value.unwrap_or_else(|| panic!("setting '{id}' is {:?}, which is of another type", self.get(id)))
    }

    /// Supplies the frames of the source to a filter that
    /// [reads them](crate::filter::Spec::reads_source_frames).
    pub fn supply_source(&mut self, source: Arc<dyn SourceFrames>) {
        self.source = Some(source);
    }

    /// The frames of the source, if the host has supplied them.
    pub fn source(&self) -> Option<&Arc<dyn SourceFrames>> {
        self.source.as_ref()
    }

    /// Supplies what is known of the clip besides its pictures.
    pub fn supply_details(&mut self, details: Arc<ClipDetails>) {
        self.details = Some(details);
    }

    /// What is known of the clip, if the host has supplied it.
    pub fn details(&self) -> Option<&Arc<ClipDetails>> {
        self.details.as_ref()
    }

    /// Supplies the filters of another library.
    pub fn supply_library(&mut self, library: Arc<dyn FilterLibrary>) {
        self.library = Some(library);
    }

    /// The filters of another library, if the host has supplied them.
    pub fn library(&self) -> Option<&Arc<dyn FilterLibrary>> {
        self.library.as_ref()
    }

    /// The given seed, of a filter that has one.
    pub fn seed(&self) -> Option<u64> {
        if self.has(common::SEED.id) { self.read(common::SEED.id) } else { None }
    }

    /// Whether every frame gets the random numbers of frame 0.
    pub fn is_static(&self) -> bool {
        self.has(common::STATIC.id) && self.read(common::STATIC.id)
    }

    /// Returns an error for settings that have no effect with the chosen words and must not be given.
    ///
    /// # Errors
    /// A setting was given that has no effect with the chosen words.
    pub fn check(&self) -> Result<(), SettingError> {
        for (setting, _) in self.iter_given() {
            let Some(OnlyWhen { setting: of, words, refused: true }) = setting.only_when else { continue };
            if !matches!(self.get(of), Some(Value::Choice(word)) if words.contains(word)) {
                let problem = format!("it applies to {of}={} only: add that, or leave this out", words[0]);
                return Err(SettingError::new(setting.id, problem));
            }
        }
        Ok(())
    }

    /// All settings that were given, in the order of the description.
    pub fn iter_given(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        self.settings.iter().zip(&self.given).filter_map(|(s, v)| Some((s, v.as_ref()?)))
    }

    /// Resolves curve keys that count from the end or in percent of the source's frames, `first` to `last`.
    ///
    /// # Errors
    /// A curve that needs the last frame, if the last frame is not known or its keys are not in order.
    pub fn resolve(&mut self, first: i64, last: Option<i64>) -> Result<(), SettingError> {
        for (setting, value) in self.settings.iter().zip(&mut self.given) {
            let resolved = match value {
                Some(Value::Number(n)) => n.resolve(first, last).map(Value::Number),
                Some(Value::Position(p)) => p.resolve(first, last).map(Value::Position),
                Some(Value::Colour(c)) => c.resolve(first, last).map(Value::Colour),
                _ => continue,
            };
            *value = Some(resolved.map_err(|e| SettingError::new(setting.id, e))?);
        }
        Ok(())
    }

    fn has(&self, id: &str) -> bool {
        self.settings.iter().any(|s| s.id == id)
    }

    fn index(&self, id: &str) -> usize {
        // A filter reads only settings that it describes itself; a test of the catalog builds each with its
        // defaults.
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
    /// Returns an error for a value of the wrong kind or out of range.
    ///
    /// # Errors
    /// The value has the wrong kind or is out of range.
    pub fn check(&self, value: &Value) -> Result<(), SettingError> {
        let err = |problem| Err(SettingError::new(self.id, problem));
        match (self.kind, value) {
            (Kind::Switch, Value::Switch(_))
            | (Kind::Seed, Value::Seed(_))
            | (Kind::Text, Value::Text(_))
            | (Kind::Frames, Value::Frames(_))
            | (Kind::Planes, Value::Planes(_))
            | (Kind::Image | Kind::SourceFrame, Value::Image(_))
            | (Kind::File(_), Value::File(_)) => Ok(()),
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

/// The first number outside the range (or NaN), and the number of its key.
pub(super) fn outside<T: Animate>(value: &Animated<T>, min: f64, max: f64) -> Option<(usize, f64)> {
    let bad = |v: &T| (0..T::COMPONENTS).map(|i| v.component(i)).find(|p| !(min..=max).contains(p));
    match value {
        Animated::Constant(v) => bad(v).map(|p| (0, p)),
        Animated::Curve(c) => c.keys().iter().enumerate().find_map(|(i, k)| Some((i, bad(&k.value)?))),
    }
}
