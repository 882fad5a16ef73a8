//! Errors of fluids.

/// The error of creating a fluid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// The radius of interaction is outside its range.
    #[error("radius = {value} must lie between {low} and {high}")]
    Radius {
        /// Its value.
        value: f32,
        /// The minimum.
        low: f32,
        /// The maximum.
        high: f32,
    },
    /// A given parcel is outside of the box, or its values are not finite.
    #[error("parcel {id} must lie inside the box and have finite values")]
    Parcel {
        /// Its number.
        id: u32,
    },
}
