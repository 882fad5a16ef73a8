//! Conserved quantities: mass, momentum, energy. For tests; computed in f64 in the order of the layout.

use super::{EquationOfState, Fluid, FluidError};
use grainfield_filters::host::Executor;

/// The energy of a fluid, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy in the field of gravity, from the box's corner 0.
    pub gravity: f64,
    /// Of compression.
    pub elastic: f64,
    /// In the springs of the walls.
    pub walls: f64,
    /// Of cohesion; below zero.
    pub cohesion: f64,
}

impl Energy {
    /// The total.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.elastic + self.walls + self.cohesion
    }
}

impl Fluid {
    /// The total mass in kg.
    pub fn mass(&self) -> f64 {
        self.len() as f64 * self.settings.mass()
    }

    /// The total momentum in kg m/s.
    pub fn momentum(&self) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for v in &self.velocities {
            sum.iter_mut().zip(v).for_each(|(s, v)| *s += f64::from(*v));
        }
        sum.map(|s| s * self.settings.mass())
    }

    /// The total energy. Computes neighbours and densities again; the state is not changed.
    ///
    /// # Errors
    /// [`FluidError::Crowded`].
    pub fn energy(&mut self, executor: &dyn Executor) -> Result<Energy, FluidError> {
        self.measure(executor)?;
        let (s, c) = (self.settings, self.c);
        let size = Fluid::domain(&s);
        let mut e = Energy::default();
        for (i, v) in self.velocities.iter().enumerate() {
            let at = self.layout.at(i);
            for axis in 0..s.axes() {
                let (x, v) = (f64::from(at[axis]), f64::from(v[axis]));
                e.kinetic += 0.5 * v * v;
                e.gravity -= f64::from(s.gravity[axis]) * x;
                if s.walls {
                    let skin = f64::from(c.skin);
                    let (low, high) = ((skin - x).max(0.0), (skin - (f64::from(size[axis]) - x)).max(0.0));
                    e.walls += 0.5 * f64::from(c.wall) * (low * low + high * high);
                }
            }
        }
        let (stiff, pull, h2) = (f64::from(c.stiff), f64::from(c.pull), f64::from(c.h2));
        // The integral of s w(s).
        let depth = |s: f64| {
            let s2 = s * s;
            s2 * (0.5 + s2 * (-2.5 + s * (4.0 + s * (-2.5 + s * (4.0 / 7.0)))))
        };
        for (list, densities) in self.measured() {
            for (k, d) in densities.iter().enumerate() {
                let d = f64::from(*d);
                if d > 1.0 {
                    // The integral of p / d^2 from rest.
                    let d2 = d * d;
                    e.elastic += stiff
                        * match c.equation_of_state {
                            EquationOfState::Tait => (d2 * d2 * d2 - 1.0) / 6.0 + 1.0 / d - 1.0,
                            EquationOfState::Linear => libm::log(d) + 1.0 / d - 1.0,
                        };
                }
                for d2 in list.of(k).1 {
                    // Each pair occurs twice.
                    let s = (f64::from(*d2) / h2).sqrt();
                    e.cohesion += 0.5 * pull * h2 * (depth(s) - depth(1.0));
                }
            }
        }
        let m = s.mass();
        Ok(Energy {
            kinetic: e.kinetic * m,
            gravity: e.gravity * m,
            elastic: e.elastic * m,
            walls: e.walls * m,
            cohesion: e.cohesion * m,
        })
    }
}
