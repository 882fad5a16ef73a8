//! Matches grain: finds parameters that make a clean picture as grainy as a plate.
//!
//! Grain is the difference between a plate and its clean version, or between blocks of the plate that differ in nothing
//! else ([`blind`](grainfield_measure::blind)). It is measured ([`Residual`](grainfield_measure::residual::Residual)),
//! a look is fitted to it ([`recipe`](recipe()), [`table`](table())) and applied to the clean version, or to a ramp.
//! The result is measured again and the look corrected by the difference, so that rounding and limits of filters are
//! included. The report gives the remaining differences in dB.

mod error;
mod fit;
mod keep;
#[cfg(feature = "plots")]
pub mod plot;
mod recipe;
mod render;
mod report;
mod shape;
mod shot;
mod skewed;
mod table;

pub use error::{Doubt, MatchError, NoGrain};
pub use keep::{PlateGrain, check_name, keep};
pub use recipe::{RecipeMatch, recipe};
pub use report::{Match, PlaneMatch, Point};
pub use shot::{Blind, Measured, Options, Shot};
pub use table::{TableMatch, table};

use grainfield_filters::catalog;
use grainfield_filters::chain::Step;
use grainfield_filters::settings::{Value, Values};

/// A step of a filter of the catalog, with values in its ranges.
fn step(filter: &str, given: Vec<(&str, Value)>) -> Vec<Step> {
    let Some(filter) = catalog::find(filter) else { unreachable!("{filter} is in the catalog") };
    let mut values = Values::new(filter.settings);
    for (id, value) in given {
        values.set(id, value).unwrap_or_else(|e| unreachable!("{}: {e}", filter.name));
    }
    vec![Step::new(filter, values)]
}
