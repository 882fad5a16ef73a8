//! Errors of fluids.

/// The error of creating a fluid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// The radius of interaction is so small that the box has too many cells.
    #[error("radius = {0} is too small for the size of the box")]
    Radius(f32),
    /// A given parcel is outside of the box, or its values are not finite.
    #[error("parcel {id} must lie inside the box and have finite values")]
    Parcel {
        /// Its number.
        id: u32,
    },
}
