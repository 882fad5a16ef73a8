//! What Grainfield's shells for other programs share.
//!
//! A shell turns what its host gives it into three things: a [`Look`] (the filters, with the files that they name), a
//! [`Format`](grainfield_filters::frame::Format), and planes. [`BoundLook`] does the rest, and a frame of it equals the
//! frame that the command line makes of the same samples, number and rate.
//!
//! - Whatever goes wrong, a panic of ours too, is a [`HostError`]: one text for whatever the host shows errors with.
//! - Nothing here writes files, and nothing outlives the process but what the host has.

mod arguments;
mod bound;
pub mod describe;
mod earlier;
mod error;
mod float;
mod look;
mod memory;
pub mod packed;
pub mod params;
pub mod planes;
mod pool;

pub use arguments::{Argument, chain_text};
pub use bound::{BoundLook, Setup, Threads, gray};
pub use earlier::Earlier;
pub use error::{HostError, guarded};
pub use look::Look;
pub use pool::WorkPool;
