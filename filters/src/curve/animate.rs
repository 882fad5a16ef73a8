//! What can move: numbers, positions, colours, all part by part.

use super::literal::{self, TextError};
use core::fmt;

/// A value that a curve can lead through time. Every part (coordinate, channel) moves by itself, by the same shape.
pub trait Animate: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// How many numbers it is made of: 1 to 4.
    const COMPONENTS: usize;

    /// Number `i`, below [`COMPONENTS`](Animate::COMPONENTS).
    fn component(&self, i: usize) -> f64;

    /// The value whose number `i` is `component(i)`.
    fn from_components(component: impl FnMut(usize) -> f64) -> Self;

    /// Reads it from a text without white space round it.
    fn parse(text: &str) -> Result<Self, TextError>;

    /// Prints what [`parse`](Animate::parse) reads back to the same bits (a negative zero as 0).
    fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

impl Animate for f64 {
    const COMPONENTS: usize = 1;

    fn component(&self, _: usize) -> f64 {
        *self
    }

    fn from_components(mut component: impl FnMut(usize) -> f64) -> f64 {
        component(0)
    }

    fn parse(text: &str) -> Result<f64, TextError> {
        literal::number(text)
    }

    fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        literal::print_number(*self, out)
    }
}

/// A position, `x` to the right and `y` down.
impl Animate for [f64; 2] {
    const COMPONENTS: usize = 2;

    fn component(&self, i: usize) -> f64 {
        self[i]
    }

    fn from_components(component: impl FnMut(usize) -> f64) -> [f64; 2] {
        core::array::from_fn(component)
    }

    fn parse(text: &str) -> Result<[f64; 2], TextError> {
        literal::position(text)
    }

    fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        literal::print_numbers(self, out)
    }
}

/// A colour: red, green, blue as displayed (not linear light) and alpha, 0 to 1, colour not multiplied by alpha.
impl Animate for [f64; 4] {
    const COMPONENTS: usize = 4;

    fn component(&self, i: usize) -> f64 {
        self[i]
    }

    fn from_components(component: impl FnMut(usize) -> f64) -> [f64; 4] {
        core::array::from_fn(component)
    }

    fn parse(text: &str) -> Result<[f64; 4], TextError> {
        literal::colour(text)
    }

    fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        literal::print_colour(self, out)
    }
}
