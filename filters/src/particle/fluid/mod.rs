//! A flat fluid for pictures, by smoothed particle hydrodynamics (SPH).
//!
//! | module | contents |
//! |---|---|
//! | `fluid2d` | the fluid: steps of one length, which never fail |
//! | `rows` | density and forces, by rows of the grid's cells |
//! | `solid` | obstacles |

mod error;
mod fluid2d;
mod rows;
mod solid;

pub use error::FluidError;
pub use fluid2d::{Fluid2d, Fluid2dSettings};
pub use solid::SignedDistanceField;
