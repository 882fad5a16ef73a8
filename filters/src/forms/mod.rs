//! What a page or another program is told, in serde's forms: the [catalog], [recipes](recipe) with their faults, [looks], and
//! [curves](curve) with their keys.

pub mod catalog;
pub mod curve;
pub mod looks;
pub mod recipe;
