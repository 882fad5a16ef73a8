//! Assembles one step of a recipe, setting by setting, for chains and TOML.

use super::error::{Problem, RecipeError};
use super::{Link, Recipe, link};
use crate::catalog::Entry;
use crate::chain::Step;
use crate::settings::common::COMMON;
use crate::settings::nearest;
use crate::settings::{Setting, Value, ValueProblem, Values};
use std::fmt::Display;
use std::ops::Range;

/// Finds a filter by name; the error has a suggestion.
pub(super) fn find(table: &'static [Entry], name: &str) -> Result<&'static Entry, (Problem, Option<String>)> {
    let found = table.iter().find(|e| e.name == name);
    found
        .ok_or_else(|| (Problem::UnknownFilter(name.to_owned()), nearest(name, table.iter().map(|e| e.name))))
}

/// Finds a setting by name, of the filter or common to all filters.
pub(super) fn setting(filter: &Entry, name: &str) -> Result<&'static Setting, (Problem, Option<String>)> {
    let mut all = filter.settings.iter().chain(&COMMON);
    if let Some(found) = all.find(|s| s.id == name) {
        return Ok(found);
    }
    let names = filter.settings.iter().chain(&COMMON).map(|s| s.id);
    Err((Problem::UnknownSetting(filter.name.to_owned(), name.to_owned()), nearest(name, names)))
}

/// A suggestion for a word that is not one of a setting's choices.
pub(super) fn value_hint(problem: &ValueProblem, typed: &str) -> Option<String> {
    match problem {
        ValueProblem::Choice(all) => nearest(typed, all.iter().map(|c| c.id)),
        _ => None,
    }
}

impl Step {
    /// Sets a setting of the filter, or one that all filters have, to a value in the form that a chain has: a number, a
    /// word, a curve. Curves in files (`@`) belong to the whole recipe: parse them with it.
    ///
    /// # Errors
    /// No such setting, or not a value of it; the error marks the wrong part of `name=value`.
    pub fn set(&mut self, name: &str, value: impl Display) -> Result<(), RecipeError> {
        let text = format!("{name}={value}");
        let fault = |at: Range<usize>, problem, hint| RecipeError::new(&text, at, problem).hint(hint);
        let setting = setting(self.filter, name).map_err(|(p, hint)| fault(0..name.len(), p, hint))?;
        let start = name.len() + 1;
        let parsed = setting.parse(&text[start..]).map_err(|e| {
            let hint = value_hint(&e.problem, text[start..].trim_ascii());
            let e = e.shifted(start);
            fault(e.at, Problem::Value(setting.id.to_owned(), e.problem), hint)
        })?;
        self.assign(setting, parsed).map_err(|problem| fault(start..text.len(), problem, None))
    }

    /// Sets a value that the setting has parsed or checked.
    fn assign(&mut self, setting: &'static Setting, value: Value) -> Result<(), Problem> {
        let id = setting.id;
        let wrong = |_| Problem::Value(id.to_owned(), ValueProblem::Kind("another type of value".into()));
        self.set_value(id, value).map_err(wrong)
    }
}

/// A step while it is assembled.
pub(super) struct StepBuilder {
    step: Step,
    seen: Vec<&'static str>,
    links: Vec<Link>,
}

impl StepBuilder {
    pub(super) fn new(filter: &'static Entry) -> StepBuilder {
        let step = Step::new(filter, Values::new(filter.settings));
        StepBuilder { step, seen: Vec::new(), links: Vec::new() }
    }

    pub(super) fn filter(&self) -> &'static Entry {
        self.step.filter
    }

    /// Returns an error if a setting is given twice.
    pub(super) fn first_time(&mut self, setting: &'static Setting) -> Result<(), Problem> {
        if self.seen.contains(&setting.id) {
            return Err(Problem::Twice(setting.id.to_owned()));
        }
        self.seen.push(setting.id);
        Ok(())
    }

    /// Sets a value that the setting has parsed or checked.
    pub(super) fn set(&mut self, setting: &'static Setting, value: Value) -> Result<(), Problem> {
        self.step.assign(setting, value)
    }

    /// Takes a text that names a file instead of a value; returns `false` for other texts.
    pub(super) fn link(&mut self, setting: &'static Setting, text: &str) -> bool {
        let Some((file, track)) = link::target(setting, text) else { return false };
        self.links.push(Link { step: 0, setting, file, track, digest: None });
        true
    }

    /// Appends the step and its links to a recipe.
    pub(super) fn finish(self, recipe: &mut Recipe) {
        recipe.append(Recipe { steps: vec![self.step], seed: None, links: self.links });
    }
}
