//! Fluid: smoothed particle hydrodynamics (SPH) with particles in a packed memory array.
//!
//! A weakly compressible fluid in 2-D or 3-D, represented by parcels ([`Parcel`]) of equal mass, each spread over the
//! radius `h` by a kernel. A step ([`Fluid::step`]) finds the neighbours of each parcel, sums density, computes
//! pressure from it by an equation of state, sums the forces of pressure, viscosity and cohesion, chooses the length of
//! the step by the CFL condition, and moves the parcels. The array of parcels is kept in the order of a uniform grid's
//! cells along a Z-curve; only parcels that change cells are moved (M. Durand, B. Raffin, F. Faure, *A Packed Memory
//! Array to Keep Moving Particles Sorted*, 2012).
//!
//! | module | what it holds |
//! |---|---|
//! | `settings` | the settings of a simulation, and the constants that follow |
//! | `grid` | cells and their numbers; where the parcels of a cell lie: a dense table, or a packed array of the cells that hold something |
//! | `search` | the three ways to find pairs that the paper compares, behind one interface |
//! | `list` | the fast way: neighbour lists by vectors |
//! | `sums` | density and forces from the lists |
//! | `parcel_store` | the parcels in their packed array |
//! | `step` | a step, and steps up to a time |
//! | `state` | a state as bytes, and back |
//! | `energy` | conserved quantities, for checks |
//!
//! **One result.** Positions and velocities are f32, and only + - * / and sqrt make them. Sums run over a parcel's
//! neighbours in the order of the grid (cells by z, y, x; within a cell by number), sixteen partial sums at a time
//! that are added up in a fixed tree. All of that depends on the parcels alone, so the number of threads, the
//! instruction set and the way a state was reached (step by step, or restored from bytes) change nothing.
//!
//! ```
//! use grainfield_filters::host::CurrentThread;
//! use grainfield_papers::fluid::{Fluid, Settings, block};
//! use grainfield_filters::simd::Level;
//!
//! let settings = Settings::flat([1.0, 0.5], 0.02);
//! let dam = block(&settings, [0.3, 0.3, 0.0])?;
//! let mut fluid = Fluid::new(settings, &dam, Level::best())?;
//! while fluid.time() < 0.1 {
//!     fluid.step(&CurrentThread)?;
//! }
//! let saved = fluid.save();
//! let again = Fluid::restore(settings, &saved, Level::best())?;
//! assert_eq!(again.save(), saved);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod energy;
mod error;
mod grid;
mod list;
mod parcel_store;
mod search;
mod settings;
mod state;
mod step;
mod sums;
#[cfg(test)]
mod tests;

pub use energy::Energy;
pub use error::FluidError;
pub use grid::{Grid, Held, Layout};
pub use list::{Candidates, LANES, List, MAX_NEIGHBORS};
pub use search::{Search, pairs};
pub use settings::{EquationOfState, Settings};
pub use state::VERSION;
pub use step::{Fluid, Phase};

use grainfield_filters::pma::Ranked;

/// A parcel of fluid.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Parcel {
    /// Its number, which no other parcel has.
    pub id: u32,
    /// Where it is, in metres; in 2-D the third is 0.
    pub pos: [f32; 3],
    /// How fast it moves, in metres a second; in 2-D the third is 0.
    pub vel: [f32; 3],
    /// Not used yet; 0.
    pub spare: u32,
}

const _: () = assert!(size_of::<Parcel>() == 32);

impl Ranked for Parcel {
    type Rank = u32;
    #[inline(always)]
    fn rank(&self) -> u32 {
        self.id
    }
}

/// Parcels at rest on a lattice of the settings' spacing that fills a block in the corner of the box: with a block
/// smaller than the box, the corner breaking dam. Numbered from 0 by z, y, x.
///
/// # Errors
/// [`FluidError::Setting`] if the settings cannot be used, [`FluidError::TooMany`] for more than 2^26 parcels.
pub fn block(settings: &Settings, size: [f32; 3]) -> Result<Vec<Parcel>, FluidError> {
    settings.check()?;
    let along = |axis: usize| {
        let room = f64::from(size[axis].min(settings.size[axis])) / f64::from(settings.spacing);
        // Nearest: a block of n spacings holds n.
        (room + 0.5).max(0.0) as usize
    };
    let n = [along(0), along(1), if settings.flat { 1 } else { along(2) }];
    let count = n.iter().try_fold(1usize, |a, b| a.checked_mul(*b)).unwrap_or(usize::MAX);
    if count > settings::MAX_PARCELS {
        return Err(FluidError::TooMany { count, most: settings::MAX_PARCELS });
    }
    let place = |i: usize| ((i as f64 + 0.5) * f64::from(settings.spacing)) as f32;
    let mut parcels = Vec::with_capacity(count);
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in 0..n[0] {
                let pos = [place(x), place(y), if settings.flat { 0.0 } else { place(z) }];
                parcels.push(Parcel { id: parcels.len() as u32, pos, ..Parcel::default() });
            }
        }
    }
    Ok(parcels)
}
