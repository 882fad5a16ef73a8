//! One point of a curve.

use super::{At, TextProblem};
use core::str::FromStr;

/// How the value goes from a key to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Shape {
    /// Stays until the next key.
    Hold,
    /// A straight line.
    #[default]
    Linear,
}

/// The names that [`Shape`] reads.
pub const SHAPES: &[&str] = &["hold", "linear"];

impl FromStr for Shape {
    type Err = TextProblem;

    fn from_str(name: &str) -> Result<Shape, TextProblem> {
        match name {
            "hold" => Ok(Shape::Hold),
            "linear" => Ok(Shape::Linear),
            _ => Err(TextProblem::Shape),
        }
    }
}

/// One point of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key<T = f64> {
    /// When.
    pub at: At,
    /// What.
    pub value: T,
    /// How it goes on to the next key.
    pub shape: Shape,
}
