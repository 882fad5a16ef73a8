//! Curves: values that change over time, their integrals and their text form.
//!
//! A [`Curve`] is a list of [`Key`]s; the [`Shape`] of a key defines the interpolation to the next, an
//! [`Extrapolation`] the value before the first key and after the last. Times are exact [ratios](crate::ratio::Ratio),
//! so a value depends only on the time. At a key the value is exactly the key's, except inside a row of
//! [`Shape::BSpline`] keys, which are control points.
//!
//! # Text
//!
//! In MLT's form: `0=0;48~=12;-1=4`.
//!
//! ```text
//! curve = [ "<" rule ";" ] key { ";" key } [ ";" ">" rule ] [ ";" ]     white space is allowed around all of these
//! rule  = "hold" | "repeat" | "mirror" | "extrapolate"   "<" before the first key, ">" after the last; else hold
//! key   = time [ mark ] "=" value
//! time  = frame number                       -1 is the last frame, -2 the one before it
//!       | number ( "s" | "ms" | "us" )       seconds: 1.5s, 1001/24s, 500ms
//!       | number "%"                         0% is the first frame, 100% the last; the nearest frame between
//!       | [ hours ":" ] minutes ":" seconds  00:00:01.5
//! mark  =                                    none: a straight line to the next key
//!       | "|" | "!"                          holds the value until the next key
//!       | "~"                                smooth
//!       | letter                             a named ease: a to z and A to D, as MLT has them
//!       | "(" shape ")"                      any shape by name
//! shape = "hold" | "linear" | "smooth" | "bspline" | name of an ease, "sine-in" to "bounce-in-out"
//!       | "hermite" slope slope              leaving this key and arriving at the next, in value a frame or second
//!       | "bezier" part value part value     handles: their time as a part of the stretch, 0 to 1, and how far they
//!                                            are above their key's value
//! value = a number | x,y | a colour          slopes and handles of the latter: numbers with commas
//! ```
//!
//! The mark applies to the stretch from its key to the next. There are two differences from MLT. `s` after a number
//! means seconds, so the easing function of that letter is written `48(circ-in)=` after a frame number, or with a
//! space, `48 s=`. MLT's other smooth shapes, whose mark MLT itself loses, are not supported.

mod animate;
mod bezier;
mod bspline;
mod ease;
mod easing;
mod error;
mod extrapolation;
pub mod fit;
mod integral;
mod key;
mod keyed;
mod literal;
mod monotone;
mod segment;
mod shape;
mod smooth;
pub mod stream;
mod text;
mod time;

pub use animate::Animate;
pub use ease::{Ease, EaseEnd, EaseKind};
pub use error::CurveError;
pub use extrapolation::Extrapolation;
pub use integral::Integral;
pub use key::Key;
pub use keyed::{Curve, FAR, MAX_KEYS, MAX_VALUE};
pub use literal::{TextError, TextProblem};
pub use shape::{Handles, Shape};
pub use text::shape_names;
pub(crate) use text::{parse as parse_spanned, trim};
pub use time::KeyTime;

#[cfg(test)]
mod tests;
