//! Errors of fluids.

use core::fmt;

/// The error of creating a fluid.
#[derive(Clone, Debug, PartialEq)]
pub enum FluidError {
    /// The radius of interaction is outside its range.
    Radius {
        /// Its value.
        value: f32,
        /// The minimum.
        low: f32,
        /// The maximum.
        high: f32,
    },
    /// A given parcel is outside of the box, or its values are not finite.
    Parcel {
        /// Its number.
        id: u32,
    },
}

impl fmt::Display for FluidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FluidError::Radius { value, low, high } => {
                write!(f, "radius = {value} must lie between {low} and {high}")
            }
            FluidError::Parcel { id } => {
                write!(f, "parcel {id} must lie inside the box and have finite values")
            }
        }
    }
}

impl core::error::Error for FluidError {}
