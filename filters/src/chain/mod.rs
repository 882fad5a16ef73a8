//! Filters in order, bound to a format.
//!
//! The chain does the work that all filters share: `enable`, `planes` and `opacity`, fields of interlaced pictures,
//! conversion to the working depth before the first filter and to the output's format after the last, bands, and the
//! pool of prepared states.

mod bind;

mod run;
#[cfg(test)]
mod size_tests;
mod states;
mod still;
#[cfg(test)]
mod tests;

pub use bind::{Chain, ChainError, Fields, Options};

pub use run::Workspace;
pub use states::States;
pub use still::{scaled, still};

use crate::catalog::Entry;
use crate::frame::Spans;
use crate::settings::{Animated, Planes, Values};

/// One filter of a recipe, with the settings that the chain handles.
#[derive(Clone, Debug)]
pub struct Step {
    /// The filter.
    pub filter: &'static Entry,
    /// The filter's settings.
    pub values: Values,
    /// The frames in which the filter is active; `None` for all.
    pub enable: Option<Spans>,
    /// The planes that it filters; `None` for the filter's own choice (alpha is left unchanged). R, G and B are
    /// converted for steps that name luma or colour differences, and back.
    pub planes: Option<Planes>,
    /// Weight of the filter's result in the mix with its input, 0 to 1.
    pub opacity: Animated,
}

impl Step {
    /// A step that is active in every frame, on the filter's default planes, at full opacity.
    pub fn new(filter: &'static Entry, values: Values) -> Step {
        Step { filter, values, enable: None, planes: None, opacity: Animated::Constant(1.0) }
    }
}
