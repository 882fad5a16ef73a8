//! Filters in order, bound to a format.
//!
//! The chain does for every filter what no filter should do itself: `enable`, `planes` and `opacity`, fields of
//! interlaced pictures, conversion to the working depth before the first filter and to the output's format after the
//! last, bands, and the pool of prepared states.

mod bind;
mod gray;
mod run;
mod states;
#[cfg(test)]
mod tests;

pub use bind::{Chain, ChainError, Fields, Options};
pub use gray::gray;
pub use run::Workspace;
pub use states::States;

use crate::catalog::Entry;
use crate::frame::Ranges;
use crate::settings::{Animated, Planes, Values};

/// One filter of a recipe, with what the chain itself does for it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which filter.
    pub filter: &'static Entry,
    /// Its own settings.
    pub values: Values,
    /// Only in these frames; `None`: always.
    pub enable: Option<Ranges>,
    /// Only on these planes; `None`: those the filter itself takes (alpha is left alone). R, G and B are converted for the
    /// steps that name luma or colour differences, and back.
    pub planes: Option<Planes>,
    /// How much of the filter's result is taken, 0 to 1.
    pub opacity: Animated,
}

impl Step {
    /// In every frame, on the planes that the filter takes by itself, in full.
    pub fn new(filter: &'static Entry, values: Values) -> Step {
        Step { filter, values, enable: None, planes: None, opacity: Animated::Constant(1.0) }
    }
}
