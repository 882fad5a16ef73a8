//! Filters in order, bound to a format.
//!
//! The chain does the work that all filters share: `enable`, `planes` and `opacity`, fields of interlaced pictures,
//! conversion to the working depth before the first filter and to the output's format after the last, bands, and the
//! pool of prepared states.

mod active;
mod bind;
mod bound;
mod mask;
#[cfg(test)]
mod mask_tests;

mod run;
#[cfg(test)]
mod size_tests;
mod states;
mod still;
#[cfg(test)]
mod tests;

pub use bind::ChainError;
pub use bound::{Chain, Fields, Options};

pub use run::Workspace;
pub use states::States;
pub use still::{scaled, still};

use crate::catalog::Entry;
use crate::settings::common::{COMMON, PLANES};
use crate::settings::{Planes, Setting, SettingError, Value, Values};

/// One filter of a recipe, with the settings that the chain handles.
#[derive(Clone, Debug)]
pub struct Step {
    /// The filter.
    pub filter: &'static Entry,
    /// The filter's settings.
    pub values: Values,
    /// The settings that all filters have: [`COMMON`].
    pub common: Values,
}

impl Step {
    /// A step that is active in every frame, on the filter's default planes, at full opacity.
    pub fn new(filter: &'static Entry, values: Values) -> Step {
        Step { filter, values, common: Values::new(&COMMON) }
    }

    /// All settings that were given: the filter's, then the common ones.
    pub fn iter_given(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        self.values.iter_given().chain(self.common.iter_given())
    }

    /// Sets a setting of the filter, or a common one.
    ///
    /// # Errors
    /// As those of [`Values::set`].
    pub fn set_value(&mut self, id: &str, value: Value) -> Result<(), SettingError> {
        let Some(common) = COMMON.iter().find(|s| s.id == id) else { return self.values.set(id, value) };
        // A default that is written out is as good as none.
        if common.default().is_some_and(|default| default == value) {
            self.common.unset(id);
            return Ok(());
        }
        self.common.set(id, value)
    }

    /// The planes that it filters; `None` for the filter's own choice (alpha is left unchanged). R, G and B are
    /// converted for steps that name luma or colour differences, and back.
    pub(crate) fn planes(&self) -> Option<Planes> {
        self.common.read(PLANES)
    }
}
