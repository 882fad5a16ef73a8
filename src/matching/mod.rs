//! Matching grain: what makes a clean picture as grainy as a plate.
//!
//! Grain is the difference of a plate and its clean twin, or of blocks of it that differ in nothing else
//! ([`blind`](grainfield_measure::blind)). It is measured
//! ([`Residual`](grainfield_measure::residual::Residual)), a look is fitted to it ([`recipe`](recipe()),
//! [`table`](table())), laid over the clean twin, or a ramp, and measured again, and the look corrected by what that lacks: so all
//! that filters round and limit is in the result. What a look cannot say is told in dB.

mod fit;
pub mod plot;
mod recipe;
mod report;
mod shot;
mod table;

pub use recipe::{RecipeMatch, recipe};
pub use report::{Match, PlaneMatch, Point};
pub use shot::{Blind, MatchError, Measured, Options, Shot};
pub use table::{TableMatch, table};
