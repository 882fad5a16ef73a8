//! Words that stand at the top of an effect file and in settings beside it.

use crate::choices;
use crate::particle::draw::{Blend, Light};

choices! {
    for Blend {
        /// it covers the frame
        Over = "over",
        /// its light is added
        Add = "add",
        /// its light is added, and what is white stays white
        Screen = "screen",
        /// it lies on the frame as a slide
        Multiply = "multiply",
    }
}

choices! {
    for Light {
        /// in the values that the picture holds
        Gamma = "gamma",
        /// in light itself, as it adds up and covers in front of a lens
        Linear = "linear",
    }
}
