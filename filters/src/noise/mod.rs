//! Streams of random words with random access.
//!
//! A filter that adds noise needs some 16-bit words for each pixel, the same words whenever the same frame is rendered,
//! at the speed of memory. So a stream is not a generator that runs from its seed, but a fixed function of an *address*
//! (seed, frame, plane, row, pixel) in two parts: a **seek**, which converts the address of a row to the state of a
//! small generator, and a **fill**, which runs that generator along the row, in parallel lanes.
//!
//! | stream | state | seek | for |
//! |---|---|---|---|
//! | [`lfsr31`] | 31 bits, eight lanes | a power of a GF(2) matrix | `noise`: the fastest |
//! | [`xs64`] | 64 bits, 32 lanes | a hash of the address | filters that need good statistics over long distances |
//!
//! Both are frozen: the words at an address never change. A stream with other words gets a new name.
//!
//! A filter scales a *centred* number c, which a [`Distribution`] makes from one or several words: uniform, a sum of
//! several, or nearly normal. See [`distribution`].

pub mod distribution;
pub mod gf2;
pub mod lfsr31;
#[cfg(test)]
mod reference;
mod rng;
pub mod seed;
mod shape;
pub mod stream;
pub mod value_noise;
pub mod xs64;

pub use distribution::{Distribution, MAX_SAMPLES};
#[cfg(test)]
pub(crate) use reference::noise_at;
pub(crate) use rng::Rng;
pub use seed::filter_seed;
pub use shape::{CycleStart, Layout, Shape, ShapeError};
pub use stream::{Generator, Stream};
