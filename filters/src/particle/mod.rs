//! Particles in closed form: birth, motion and culling follow from a particle's number and the time; 32 bytes are kept.
//!
//! An [`Emitter`] numbers its particles and has the time of each birth ([`Births`]), a [`Kind`] has their common
//! properties, and [`placed`] computes the position of one at a time. With these three, frames can be rendered in any
//! order. The [`Pool`] is the fast form: it keeps the births of the window of living particles, 64 to a block, and
//! computes their positions a block at a time.
//!
//! ```
//! use grainfield_filters::particle::*;
//! use grainfield_filters::simd::Level;
//! use std::sync::Arc;
//!
//! let mut spreads = [Spread::default(); STANDARD];
//! spreads[Parameter::Life as usize] = Spread::between(1.2, 1.6); // seconds
//! spreads[Parameter::Speed as usize] = Spread::between(50.0, 80.0);
//! spreads[Parameter::AccelY as usize] = Spread::fixed(9.81);
//! spreads[Parameter::Size as usize] = Spread::between(1.0, 2.0);
//! let kind = Kind::new(spreads, vec![])?;
//! let shape = EmitterShape::new([0.0; 3], [10.0, 0.0, 0.0], [0.0, -1.0, 0.0], 0.1)?;
//! let births = Arc::new(ConstantRate::new(1000.0)?);
//! let emitter = Emitter { seed: 1, kind: 0, births, shape };
//!
//! let mut pool = Pool::new(emitter, kind, None, 0..FLICKS * 60, 10_000, Level::best())?;
//! pool.seek(FLICKS * 10);
//! let mut block = PlacedBlock::EMPTY;
//! let mut living = 0;
//! for index in 0..pool.blocks() {
//!     pool.place(index, &View::ALL, &mut block);
//!     pool.set_size_and_angle(&mut block);
//!     for lane in block.lanes() {
//!         assert!(block.size[lane] >= 1.0);
//!         living += 1;
//!     }
//! }
//! assert!((1200..=1600).contains(&living));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arch;
mod births;
mod clock;
pub mod draw;
mod emitter;
pub mod fluid;
mod kind;
mod motion;
mod pool;
mod random;
mod record;
mod regenerate;
mod ring;
pub mod sand;
mod survivor_cache;
#[cfg(test)]
mod tests;

pub(crate) use arch::whole;
pub use births::{BLOCK, Births, Bursts, ConstantRate, NEVER, RateError};
pub use clock::{FLICKS, LAST, flicks, length, seconds};
pub use emitter::{Columns, Emitter, EmitterShape, EmitterShapeError};
pub use kind::{Kind, KindError, MAX_LIFE, MAX_PARAMETERS, MAX_SPREAD, Parameter, STANDARD, Spread};
pub(crate) use motion::pack;
pub use motion::{Placed, PlacedBlock, View, place, placed, set_size_and_angle, starts};
pub use pool::{Pool, PoolError, PoolSize};
pub use random::{Draws, mix32, step};
pub use record::{Particle, UNIT, from_fixed, to_fixed};
pub use regenerate::continue_draws;
pub use ring::{LiveWindow, lanes};
