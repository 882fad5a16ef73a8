//! Recipes: text to filters and settings and back, by way of the catalog.

use grainfield_filters::catalog::Entry;
use grainfield_filters::frame::PlaneSet;
use grainfield_filters::settings::{Animated, Values};

/// Filters in order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// First to last.
    pub steps: Vec<Step>,
}

/// One filter of a recipe, with what the chain itself does for it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which filter.
    pub filter: &'static Entry,
    /// Its own settings.
    pub values: Values,
    /// Only in these frames; `None`: always.
    pub enable: Option<Ranges>,
    /// Only on these planes; `None`: those the filter itself takes (alpha is left alone).
    pub planes: Option<PlaneSet>,
    /// How much of the filter's result is taken, 0 to 1.
    pub opacity: Animated,
}

/// Frame numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges;
