//! Recipes: text to filters and settings and back, by way of the catalog.

use grainfield_filters::chain::Step;

/// Filters in order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// First to last.
    pub steps: Vec<Step>,
}
