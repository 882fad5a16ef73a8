//! Streams of random words that can be entered anywhere.
//!
//! A filter that adds noise needs some 16-bit words for each pixel, the same ones whenever it is asked for the same
//! frame, and it needs them as fast as memory can take them. So a stream here is not a generator that is seeded and
//! run. It is a fixed function of an *address* (seed, frame, plane, row, pixel), made of two parts: a **seek**, which
//! turns the address of a row into the state of a small generator, and a **fill**, which runs that generator along
//! the row, many lanes side by side.
//!
//! | stream | state | seek | for |
//! |---|---|---|---|
//! | [`lfsr31`] | 31 bits, eight lanes | a power of a GF(2) matrix | `noise`: the plain fast one |
//!
//! Both are frozen: the words at an address never change. What would change them gets a new name.
//!
//! A pixel takes one word or, for a binomial, the sum of k of them ([`Shape::samples`]). What a filter scales is not
//! the word but the *centred* number c of [`centred`], which is symmetric about zero, so that no strength shifts the
//! mean of a picture.

pub mod centre;
pub mod lfsr31;
pub mod seed;
mod shape;

pub use lfsr31::{noise_at, word_at};
pub use shape::{Layout, MAX_SAMPLES, Origin, Shape, ShapeError};

#[cfg(doc)]
use centre::centred;
