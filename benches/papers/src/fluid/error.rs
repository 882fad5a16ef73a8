//! Errors of fluids.

use crate::pma::BoundsError;
use core::fmt;
use grainfield_filters::pma::PmaError;

/// The error of creating, advancing or restoring a fluid. After a failed step the state is as it was before.
#[derive(Clone, Debug, PartialEq)]
pub enum FluidError {
    /// A setting outside its range.
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
    },
    /// The number of parcels is too large.
    TooMany {
        /// The number of parcels.
        count: usize,
        /// The largest number of parcels.
        most: usize,
    },
    /// A given parcel is outside of the box, or its values are not finite.
    Parcel {
        /// Its number.
        id: u32,
    },
    /// Two parcels have the same number.
    Twice {
        /// The number.
        id: u32,
    },
    /// Too many parcels are in one place.
    Crowded {
        /// Candidates around a cell.
        count: usize,
        /// The largest number.
        most: usize,
    },
    /// Velocities or positions are not finite.
    Diverged {
        /// The failed step, counted from 0.
        step: u64,
    },
    /// Bytes that are not a saved state, and the reason.
    Damaged(&'static str),
    /// A saved state of another version.
    Version {
        /// Its version.
        found: u32,
    },
    /// A saved state of other settings.
    OtherSettings,
    /// The error of the packed memory array.
    Pma(PmaError),
    /// The density bounds of the packed memory array in total order.
    Bounds(BoundsError),
}

impl fmt::Display for FluidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FluidError::Setting { name, value, low, high } => {
                write!(f, "{name} = {value} must lie between {low} and {high}")
            }
            FluidError::TooMany { count, most } => {
                write!(
                    f,
                    "{count} parcels of fluid are too many: at most {most}; a larger spacing makes fewer"
                )
            }
            FluidError::Parcel { id } => {
                write!(f, "parcel {id} must lie inside the box and have finite values")
            }
            FluidError::Twice { id } => write!(f, "two parcels have the number {id}: each must have its own"),
            FluidError::Crowded { count, most } => write!(
                f,
                "{count} parcels lie within reach of one cell (at most {most}): use a larger spacing, or raise \
                    the speed of sound"
            ),
            FluidError::Diverged { step } => write!(
                f,
                "the simulation became unstable at step {step}: lower cfl or the forces, or raise the viscosity"
            ),
            FluidError::Damaged(what) => write!(f, "the saved state of a fluid is incomplete: {what}"),
            FluidError::Version { found } => {
                write!(f, "a saved state of version {found}; this program reads {}", super::VERSION)
            }
            FluidError::OtherSettings => f.write_str("the saved state belongs to other settings"),
            FluidError::Pma(e) => e.fmt(f),
            FluidError::Bounds(e) => e.fmt(f),
        }
    }
}

impl core::error::Error for FluidError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            FluidError::Pma(e) => Some(e),
            FluidError::Bounds(e) => Some(e),
            _ => None,
        }
    }
}

impl From<PmaError> for FluidError {
    fn from(e: PmaError) -> FluidError {
        FluidError::Pma(e)
    }
}

impl From<BoundsError> for FluidError {
    fn from(e: BoundsError) -> FluidError {
        FluidError::Bounds(e)
    }
}
