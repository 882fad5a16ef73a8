//! Shared parts of the plugins for other programs.
//!
//! A plugin converts the data of its host to three things: a [`Look`] (the filters, with the files that they name), a
//! [`Format`](grainfield_filters::frame::Format), and planes. [`BoundLook`] renders a frame, which equals that of the
//! command line for the same samples, number and rate.
//!
//! - Every error, including a panic, is a [`HostError`]: one text for the host to show.
//! - No files are written.

mod arguments;
mod bound;
#[cfg(feature = "files")]
pub mod describe;
mod earlier;
mod error;
mod float;
mod look;
mod memory;
pub mod packed;
#[cfg(feature = "files")]
pub mod params;
pub mod planes;
mod pool;

pub use arguments::{Argument, chain_text};
pub use bound::{BoundLook, Setup, Threads, still};
pub use earlier::Earlier;
pub use error::{HostError, guarded};
pub use look::Look;
pub use pool::WorkPool;
