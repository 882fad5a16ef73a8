//! The catalog for windows: the settings of filters with their kinds, ranges, units, groups and defaults, and their values in
//! each preset. Seeds are text, since many readers store JSON's numbers as doubles.

use crate::filter::Entry;
use crate::settings::common::COMMON;
use crate::settings::{Animated, Choice, Kind, Setting, Value, Values};
use serde::Serialize;
use std::collections::BTreeMap;

/// A filter.
#[derive(Clone, Debug, Serialize)]
pub struct FilterForm {
    name: &'static str,
    label: &'static str,
    help: &'static str,
    settings: Vec<SettingForm>,
    common: Vec<SettingForm>,
}

/// A value.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Plain {
    Switch(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug, Serialize)]
struct ChoiceForm {
    id: &'static str,
    help: &'static str,
    /// Of a preset: the values of all settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<BTreeMap<&'static str, Plain>>,
}

#[derive(Clone, Debug, Serialize)]
struct OnlyWhenForm {
    setting: &'static str,
    values: &'static [&'static str],
}

#[derive(Clone, Debug, Serialize)]
struct SettingForm {
    id: &'static str,
    label: String,
    help: &'static str,
    kind: &'static str,
    unit: &'static str,
    animatable: bool,
    default: Option<Plain>,
    logarithmic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Plain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Plain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<ChoiceForm>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_when: Option<OnlyWhenForm>,
}

impl FilterForm {
    /// The form of a filter.
    pub fn of(f: &Entry) -> FilterForm {
        FilterForm {
            name: f.name,
            label: f.label,
            help: f.help,
            settings: f.settings.iter().map(|s| SettingForm::of(f.settings, s)).collect(),
            common: COMMON.iter().map(|s| SettingForm::of(&COMMON, s)).collect(),
        }
    }
}

impl Plain {
    fn of(value: &Value) -> Plain {
        match value {
            Value::Switch(b) => Plain::Switch(*b),
            Value::Integer(n) => Plain::Integer(*n),
            Value::Number(Animated::Constant(n)) => Plain::Number(*n),
            other => Plain::Text(other.to_string()),
        }
    }
}

impl SettingForm {
    fn of(all: &'static [Setting], s: &Setting) -> SettingForm {
        let kind = match s.kind {
            Kind::Switch => "switch",
            Kind::Seed => "seed",
            Kind::Integer { .. } => "whole",
            Kind::Number { .. } | Kind::Fixed { .. } => "number",
            Kind::Position { .. } => "position",
            Kind::Colour => "colour",
            Kind::Frames => "frames",
            Kind::Planes => "planes",
            Kind::Text => "text",
            Kind::Image => "image",
            Kind::File(kind) => kind.name(),
            Kind::SourceFrame => "source frame",
            Kind::Points { .. } => "points",
            Kind::Choice(_) => "choice",
        };
        let (min, max) = match s.kind {
            Kind::Integer { min, max } => (Some(Plain::Integer(min)), Some(Plain::Integer(max))),
            Kind::Number { min, max }
            | Kind::Fixed { min, max }
            | Kind::Position { min, max }
            | Kind::Points { min, max } => (Some(Plain::Number(min)), Some(Plain::Number(max))),
            _ => (None, None),
        };
        let choices = match s.kind {
            Kind::Choice(words) => Some(words.iter().map(|w| ChoiceForm::of(all, s, w)).collect()),
            _ => None,
        };
        SettingForm {
            id: s.id,
            label: s.label(),
            help: s.help,
            kind,
            unit: s.unit.text(),
            animatable: s.kind.animatable(),
            default: s.default().as_ref().map(Plain::of),
            logarithmic: s.logarithmic,
            min,
            max,
            choices,
            group: s.group,
            soft_min: s.soft.map(|(min, _)| min),
            soft_max: s.soft.map(|(_, max)| max),
            step: s.step,
            only_when: s.only_when.map(|w| OnlyWhenForm { setting: w.setting, values: w.words }),
        }
    }
}

impl ChoiceForm {
    fn of(all: &'static [Setting], s: &Setting, w: &Choice) -> ChoiceForm {
        let values = (!w.sets.is_empty()).then(|| {
            let mut values = Values::new(all);
            let known = values.set(s.id, Value::Choice(w.id)).is_ok();
            let own = all.iter().filter(|other| known && other.id != s.id);
            own.filter_map(|s| Some((s.id, Plain::of(values.get(s.id)?)))).collect()
        });
        ChoiceForm { id: w.id, help: w.help, values }
    }
}
