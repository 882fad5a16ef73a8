//! The settings of a simulation, and the constants of the sums.
//!
//! The kernel is Wendland's C2 with support `h`: `w(s) = (1-s)^4 (1+4s)` with `s = r/h`. Its derivative is
//! `-20 s (1-s)^3`, so that the gradient times the distance's direction needs no division by the distance. Sums are
//! scaled by what they are on a square (cubic) lattice of the settings' spacing, which is therefore at rest.

use super::FluidError;

/// The most parcels.
pub(super) const MAX_PARCELS: usize = 1 << 26;

/// The equation of state: pressure from density. Pressure below zero (at a free surface, where neighbours lack) is
/// taken as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationOfState {
    /// Tait's: `p = c^2 rho0 / 7 ((rho/rho0)^7 - 1)`.
    Tait,
    /// `p = c^2 (rho - rho0)`.
    Linear,
}

/// The settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// 2-D: the third coordinate stays 0.
    pub flat: bool,
    /// The box has walls. Without, it is only where the parcels start.
    pub walls: bool,
    /// The box reaches from 0 to this, in metres.
    pub size: [f32; 3],
    /// Distance of parcels at rest, in metres.
    pub spacing: f32,
    /// The largest distance at which parcels interact (the kernel's support, `h`), in metres: 1.2 to 4 spacings.
    pub radius: f32,
    /// Gravity, in m/s^2.
    pub gravity: [f32; 3],
    /// Density at rest, in kg/m^3 (kg/m^2 in 2-D).
    pub density: f32,
    /// Speed of sound, in m/s. Ten times the greatest speed keeps density within one percent.
    pub sound: f32,
    /// Pressure from density.
    pub equation_of_state: EquationOfState,
    /// Kinematic viscosity, in m^2/s.
    pub viscosity: f32,
    /// Surface tension, as the pull between parcels near each other, in 1/s^2 (after M. Becker, M. Teschner, *Weakly
    /// compressible SPH for free surface flows*, 2007).
    pub cohesion: f32,
    /// How much of a radius sound may pass in a step, 0.01 to 0.5.
    pub cfl: f32,
}

impl Settings {
    /// Water in 2-D in a box: gravity along -y, sound ten times as fast as a fall through the box.
    pub fn flat(size: [f32; 2], spacing: f32) -> Settings {
        let s = Settings::solid([size[0], size[1], 0.0], spacing);
        Settings { flat: true, ..s }
    }

    /// Water in 3-D in a box: gravity along -y, sound ten times as fast as a fall through the box.
    pub fn solid(size: [f32; 3], spacing: f32) -> Settings {
        let sound = 10.0 * (2.0 * 9.81 * size[1].max(0.0)).sqrt();
        let radius = 2.0 * spacing;
        Settings {
            flat: false,
            walls: true,
            size,
            spacing,
            radius,
            gravity: [0.0, -9.81, 0.0],
            density: 1000.0,
            sound,
            equation_of_state: EquationOfState::Tait,
            viscosity: 0.01 * radius * sound,
            cohesion: 0.0,
            cfl: 0.3,
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`FluidError::Setting`] names the first setting that is out of range.
    pub fn check(&self) -> Result<(), FluidError> {
        let within = |name, value: f32, low: f64, high: f64| {
            let value = f64::from(value);
            // Written so that what is not a number fails.
            let inside = low <= value && value <= high;
            if inside { Ok(()) } else { Err(FluidError::Setting { name, value, low, high }) }
        };
        within("spacing", self.spacing, 1e-5, 1e4)?;
        let spacing = f64::from(self.spacing);
        within("radius", self.radius, 1.199 * spacing, 4.001 * spacing)?;
        let radius = f64::from(self.radius);
        for (name, size) in ["width", "height", "depth"].into_iter().zip(self.size).take(self.axes()) {
            within(name, size, 2.0 * radius, 1e5 * radius)?;
        }
        for (name, g) in ["gravity.x", "gravity.y", "gravity.z"].into_iter().zip(self.gravity) {
            within(name, g, -1e4, 1e4)?;
        }
        within("density", self.density, 1e-6, 1e6)?;
        within("sound", self.sound, 1e-2, 1e5)?;
        // What takes effect faster than sound would need shorter steps than sound does.
        let fastest = f64::from(self.sound) * radius;
        within("viscosity", self.viscosity, 0.0, fastest)?;
        let rate = f64::from(self.sound) / radius;
        within("cohesion", self.cohesion, 0.0, rate * rate)?;
        within("cfl", self.cfl, 0.01, 0.5)
    }

    /// 2 or 3.
    pub fn axes(&self) -> usize {
        if self.flat { 2 } else { 3 }
    }

    /// Mass of a parcel, in kg.
    pub fn mass(&self) -> f64 {
        let d = f64::from(self.spacing);
        f64::from(self.density) * if self.flat { d * d } else { d * d * d }
    }

    /// All settings as words, for what is saved.
    pub(super) fn words(&self) -> [u32; 16] {
        let s = self;
        let flags = u32::from(s.flat)
            | u32::from(s.walls) << 1
            | u32::from(s.equation_of_state == EquationOfState::Linear) << 2;
        let f = |v: f32| v.to_bits();
        [
            flags,
            f(s.size[0]),
            f(s.size[1]),
            f(s.size[2]),
            f(s.spacing),
            f(s.radius),
            f(s.gravity[0]),
            f(s.gravity[1]),
            f(s.gravity[2]),
            f(s.density),
            f(s.sound),
            f(s.viscosity),
            f(s.cohesion),
            f(s.cfl),
            0,
            0,
        ]
    }
}

/// Constants of the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) h: f32,
    pub(super) h2: f32,
    pub(super) inv_h: f32,
    /// 1 / sum of kernels on the lattice: makes densities relative to rest.
    pub(super) scale: f32,
    /// Of pressure: 20 / (lattice sum * h^2).
    pub(super) push: f32,
    /// Of viscosity: 2 nu / lattice sum of `(1-s)^3 x^2 y^2`.
    pub(super) drag: f32,
    /// Of cohesion: kappa / lattice sum.
    pub(super) pull: f32,
    /// `c^2`, by 7 for Tait's law.
    pub(super) stiff: f32,
    pub(super) equation_of_state: EquationOfState,
    /// Nearer to a wall than this, it pushes back, in metres.
    pub(super) skin: f32,
    /// With this acceleration per metre, in 1/s^2.
    pub(super) wall: f32,
    /// The longest step whatever the state, in seconds.
    pub(super) longest: f32,
}

impl Constants {
    pub(super) fn new(s: &Settings) -> Constants {
        let (h, dx, c) = (f64::from(s.radius), f64::from(s.spacing), f64::from(s.sound));
        let n = (h / dx) as i32 + 1;
        let deep = if s.flat { 0 } else { n };
        let (mut sum, mut shear) = (0.0, 0.0);
        for k in -deep..=deep {
            for j in -n..=n {
                for i in -n..=n {
                    let (x, y, z) = (f64::from(i) * dx, f64::from(j) * dx, f64::from(k) * dx);
                    let s = (x * x + y * y + z * z).sqrt() / h;
                    let t = 1.0 - s;
                    if t > 0.0 {
                        sum += t * t * t * t * (1.0 + 4.0 * s);
                        shear += t * t * t * (x * x) * (y * y);
                    }
                }
            }
        }
        let nu = f64::from(s.viscosity);
        // Below a radius of sqrt(2) spacings no neighbour has both x and y; then the nearest ones' share stands in.
        let shear = shear.max(1e-4 * dx * dx * dx * dx);
        let skin = 0.5 * dx;
        let stop = c / (4.0 * skin);
        let by_drag = if nu > 0.0 { 0.1 * h * h / nu } else { f64::MAX };
        Constants {
            h: s.radius,
            h2: s.radius * s.radius,
            inv_h: (1.0 / h) as f32,
            scale: (1.0 / sum) as f32,
            push: (20.0 / (sum * h * h)) as f32,
            drag: (2.0 * nu / shear) as f32,
            pull: (f64::from(s.cohesion) / sum) as f32,
            stiff: (c * c / if s.equation_of_state == EquationOfState::Tait { 7.0 } else { 1.0 }) as f32,
            equation_of_state: s.equation_of_state,
            skin: skin as f32,
            // Stops a quarter of the speed of sound within the skin.
            wall: (stop * stop) as f32,
            longest: by_drag.min(f64::from(s.cfl) * h / c) as f32,
        }
    }
}
