//! Curves: values that move with time.

mod key;

pub use key::{At, Curve, CurveError, Key, Shape};
