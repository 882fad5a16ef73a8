//! Curves: values that move with time, and their text.

mod animate;
mod key;
mod keyed;
mod literal;
mod text;
mod time;

pub use animate::Animate;
pub use key::{Key, SHAPES, Shape};
pub use keyed::{Curve, CurveError, MAX_KEYS};
pub use literal::{TextError, TextProblem};
pub(crate) use text::{parse as parse_spanned, trim};
pub use time::At;
