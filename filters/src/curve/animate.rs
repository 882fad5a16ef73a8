//! Types that can be animated: numbers, positions and colours, each component separately.

use super::literal::{self, TextError};
use core::fmt;

/// A value that a curve can animate. Each component (coordinate, channel) is interpolated separately, with the same
/// shape.
pub trait Animate: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The number of components: 1 to 4.
    const COMPONENTS: usize;

    /// Component `i`, below [`COMPONENTS`](Animate::COMPONENTS).
    fn component(&self, i: usize) -> f64;

    /// The value whose component `i` is `component(i)`.
    fn from_components(component: impl FnMut(usize) -> f64) -> Self;

    /// Parses a text without white space around it.
    fn parse(text: &str) -> Result<Self, TextError>;

    /// Prints a text that [`parse`](Animate::parse) reads back to the same bits (a negative zero as 0).
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

/// A colour: red, green and blue as displayed (not linear light), and alpha, 0 to 1 each, not premultiplied.
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
