//! Density, pressure and forces: sums over the neighbour lists, sixteen partial sums at a time.

mod arch;

use super::list::{LANES, List};
use super::settings::{Constants, EquationOfState};
use crate::simd::multiversion;
pub(super) use arch::forces;

/// What the forces need to know of a parcel: x, y, z, pressure over density squared, velocity, rest density over
/// density.
pub(super) type Known = [f32; 8];

/// Sixteen partial sums. Aligned, so that they can be written and at once be read again: across two cache lines that
/// waits for the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Sums(pub(super) [f32; LANES]);

impl Sums {
    pub(super) const ZERO: Sums = Sums([0.0; LANES]);

    /// All in one, in a fixed tree.
    #[inline(always)]
    pub(super) fn total(&self) -> f32 {
        let v = &self.0;
        let v: [f32; 8] = core::array::from_fn(|k| v[k] + v[k + 8]);
        let v: [f32; 4] = core::array::from_fn(|k| v[k] + v[k + 4]);
        (v[0] + v[2]) + (v[1] + v[3])
    }
}

multiversion! {
    /// Densities of the list's parcels, relative to rest.
    pub(super) fn densities(level, list: &List, c: &Constants, out: &mut [f32]) = densities_body;
}

#[inline(always)]
fn densities_body(list: &List, c: &Constants, out: &mut [f32]) {
    for (k, out) in out.iter_mut().enumerate() {
        let (n, _, d2) = list.wide(k);
        let mut sum = Sums::ZERO;
        for (g, d2) in d2.chunks_exact(LANES).enumerate() {
            let left = n - g * LANES;
            for (l, (d2, sum)) in d2.iter().zip(&mut sum.0).enumerate() {
                let s = d2.sqrt() * c.inv_h;
                // At and beyond the radius, and behind the end of the list, nothing.
                let t = if l < left && s < 1.0 { 1.0 - s } else { 0.0 };
                let t2 = t * t;
                *sum += t2 * t2 * (1.0 + 4.0 * s);
            }
        }
        // The parcel's own kernel is 1.
        *out = (sum.total() + 1.0) * c.scale;
    }
}

/// Pressure over density squared, in units of the rest density.
#[inline(always)]
pub(super) fn pressure(c: &Constants, density: f32) -> f32 {
    let p = match c.equation_of_state {
        EquationOfState::Tait => {
            let d2 = density * density;
            let d4 = d2 * d2;
            c.stiff * (d4 * d2 * density - 1.0)
        }
        EquationOfState::Linear => c.stiff * (density - 1.0),
    };
    (if p > 0.0 { p } else { 0.0 }) / (density * density)
}

/// Accelerations of the list's parcels by pressure, viscosity and cohesion: the definition.
#[inline(always)]
fn forces_body(list: &List, c: &Constants, known: &[Known], out: &mut [[f32; 3]]) {
    for (k, out) in out.iter_mut().enumerate() {
        let own = &known[list.first() + k];
        let (n, near, d2) = list.wide(k);
        let mut sums = [Sums::ZERO; 3];
        for (g, (near, d2)) in near.chunks_exact(LANES).zip(d2.chunks_exact(LANES)).enumerate() {
            let left = n - g * LANES;
            let mut other = [[0f32; LANES]; 8];
            for l in 0..LANES {
                // Behind the end of the list the parcel meets itself, which does nothing.
                let parcel = if l < left { &known[near[l] as usize] } else { own };
                for (to, v) in other.iter_mut().zip(parcel) {
                    to[l] = *v;
                }
            }
            for l in 0..LANES {
                let (dx, dy, dz) = (own[0] - other[0][l], own[1] - other[1][l], own[2] - other[2][l]);
                let (u, v, w) = (own[4] - other[4][l], own[5] - other[5][l], own[6] - other[6][l]);
                let s = d2[l].sqrt() * c.inv_h;
                let t = if l < left && s < 1.0 { 1.0 - s } else { 0.0 };
                let (t2, along) = (t * t, dx * u + dy * v + dz * w);
                let t3 = t2 * t;
                let press = c.push * (own[3] + other[3][l]);
                let drag = c.drag * (own[7] * other[7][l]) * along;
                let pull = c.pull * (t * (1.0 + 4.0 * s));
                let f = t3 * ((press - drag) - pull);
                sums[0].0[l] += f * dx;
                sums[1].0[l] += f * dy;
                sums[2].0[l] += f * dz;
            }
        }
        *out = sums.map(|s| s.total());
    }
}
