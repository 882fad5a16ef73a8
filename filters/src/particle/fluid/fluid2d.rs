//! A weakly compressible fluid of parcels of equal mass, each spread over a radius by a kernel.
//!
//! Frames must have a constant cost and never fail. So the length of a step is given ([`Fluid2d::max_step`] is the upper
//! limit), speed is limited, and parcels that leave the box or enter an obstacle are moved back.
//!
//! Parcels are stored in columns in the order of a grid's cells, row by row, within a cell by number. They are sorted
//! before every step ([`Fluid2d::sort_by_cell`]), so that no pair is ever missed, by a stable counting sort of all: a
//! packed memory array, which moves the 8 % that change cells and is then read in order, takes 2.3 to 2.5 times as long
//! at 12,000 and 30,000 parcels (`./x bench settle`).
//!
//! The state is a function of the settings, the parcels and the number of steps: neither threads, nor the instruction
//! set, nor saving and restoring change a bit.

mod cells;
#[cfg(test)]
mod tests;

use super::FluidError;
use super::rows::{self, Constants, LANES, View};
use super::solid::SignedDistanceField;
use crate::host::{CurrentThread, Executor, lock};
use crate::simd::{Level, multiversion};
use cells::{Cells, Columns, Order};
use core::ops::Range;
use std::sync::{Arc, Mutex};

/// The smallest number of parcels per task.
const MIN_SHARE: usize = 1024;
/// The largest number of radii that sound travels per step.
const MAX_RADII_PER_STEP: f32 = 0.51;

/// The parameters of the simulation. Lengths have an arbitrary unit; time is in seconds; y grows downwards,
/// in the direction of gravity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid2dSettings {
    /// The box reaches from 0 to this.
    pub size: [f32; 2],
    /// The distance of parcels at rest.
    pub spacing: f32,
    /// The radius of interaction.
    pub radius: f32,
    /// Gravity.
    pub gravity: f32,
    /// Speed of sound.
    pub sound: f32,
    /// Kinematic viscosity.
    pub viscosity: f32,
    /// The attraction between parcels, in 1/s^2.
    pub cohesion: f32,
    /// The length of a step, at most [`Fluid2d::max_step`].
    pub step: f32,
    /// The speed limit.
    pub max_speed: f32,
}

/// The state of a fluid.
#[derive(Clone)]
pub struct Fluid2d {
    settings: Fluid2dSettings,
    constants: Constants,
    /// The distance at which walls repel, and the acceleration per length.
    wall_range: f32,
    wall: f32,
    level: Level,
    solid: Option<Arc<SignedDistanceField>>,
    order: Order,
    /// The parcels in order, with [`LANES`] more behind the last of each column.
    now: Columns,
    pressure_term: Vec<f32>,
    inv_density: Vec<f32>,
    /// Sums: what comes of a parcel's own row of cells and of that below, x and y, and what comes of the row above.
    sums: [Vec<f32>; 4],
    steps: u64,
}

/// Runs one job per range, in parallel if there are several and the executor has several threads.
fn run<J: Send>(executor: &dyn Executor, jobs: Vec<J>, f: impl Fn(J) + Sync) {
    if executor.width() == 1 || jobs.len() == 1 {
        return jobs.into_iter().for_each(f);
    }
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|j| Mutex::new(Some(j))).collect();
    executor.execute(jobs.len(), &|t| {
        let job = lock(&jobs[t]).take();
        job.into_iter().for_each(&f);
    });
}

/// Cuts a slice at the ends of ranges that follow each other and begin where it does.
fn split<'a, T>(mut rest: &'a mut [T], parts: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        let (own, after) = core::mem::take(&mut rest).split_at_mut(part.len());
        out.push(own);
        rest = after;
    }
    out
}

impl Fluid2dSettings {
    fn constants(&self) -> Constants {
        let (h, dx, c) = (f64::from(self.radius), f64::from(self.spacing), f64::from(self.sound));
        let n = (h / dx) as i32 + 1;
        let (mut sum, mut shear) = (0.0, 0.0);
        for j in -n..=n {
            for i in -n..=n {
                let (x, y) = (f64::from(i) * dx, f64::from(j) * dx);
                let s = (x * x + y * y).sqrt() / h;
                let t = 1.0 - s;
                if t > 0.0 {
                    sum += t * t * t * t * (1.0 + 4.0 * s);
                    shear += t * t * t * (x * x) * (y * y);
                }
            }
        }
        let shear = shear.max(1e-4 * dx * dx * dx * dx);
        Constants {
            inv_h: (1.0 / h) as f32,
            scale: (1.0 / sum) as f32,
            push: (20.0 / (sum * h * h)) as f32,
            drag: (2.0 * f64::from(self.viscosity) / shear) as f32,
            pull: (f64::from(self.cohesion) / sum) as f32,
            stiff: (c * c) as f32,
        }
    }
}

impl Fluid2d {
    /// The longest step for a radius, a speed of sound and a viscosity.
    pub fn max_step(radius: f32, sound: f32, viscosity: f32) -> f32 {
        let by_sound = MAX_RADII_PER_STEP * radius / sound;
        if viscosity > 0.0 { by_sound.min(0.1 * radius * radius / viscosity) } else { by_sound }
    }

    /// A fluid of parcels by number: x and y, then the velocity per second ([`Fluid2dSettings`] has the unit).
    ///
    /// # Errors
    /// [`FluidError::Radius`] if the box has too many cells for the radius, [`FluidError::Parcel`]
    /// for parcels that are outside of the box or not finite.
    pub fn new(
        settings: Fluid2dSettings,
        solid: Option<Arc<SignedDistanceField>>,
        parcels: &[[f32; 4]],
        steps: u64,
        level: Level,
    ) -> Result<Fluid2d, FluidError> {
        let cells = Cells::new(settings.size, settings.radius).ok_or(FluidError::Radius(settings.radius))?;
        let wall_range = 0.5 * settings.spacing;
        let stop = settings.sound / (4.0 * wall_range);
        let mut fluid = Fluid2d {
            settings,
            constants: settings.constants(),
            wall_range,
            wall: stop * stop,
            level,
            solid,
            order: Order::new(cells),
            now: Columns::default(),
            pressure_term: Vec::new(),
            inv_density: Vec::new(),
            sums: Default::default(),
            steps,
        };
        for (id, p) in (0..).zip(parcels) {
            let inside = (0.0..=settings.size[0]).contains(&p[0]) && (0.0..=settings.size[1]).contains(&p[1]);
            if !inside || !p[2].is_finite() || !p[3].is_finite() {
                return Err(FluidError::Parcel { id });
            }
        }
        fluid.sort_by_cell(parcels, &CurrentThread);
        Ok(fluid)
    }

    /// The number of steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of parcels.
    pub fn len(&self) -> usize {
        self.now.len()
    }

    /// Whether there are no parcels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All parcels by number: x and y, then the velocity, as in [`new`](Fluid2d::new).
    pub fn parcels(&self) -> Vec<[f32; 4]> {
        let mut all = vec![[0.0; 4]; self.len()];
        for (i, id) in self.now.ids.iter().enumerate() {
            all[*id as usize] = [self.now.x[i], self.now.y[i], self.now.vx[i], self.now.vy[i]];
        }
        all
    }

    /// The numbers, positions and velocities of the parcels, in unspecified order.
    pub fn places(&self) -> impl Iterator<Item = (u32, [f32; 2], [f32; 2])> {
        let now = &self.now;
        let moves = now.vx.iter().zip(&now.vy).map(|(u, v)| [*u, *v]);
        let places = now.x.iter().zip(&now.y).map(|(x, y)| [*x, *y]);
        now.ids.iter().zip(places.zip(moves)).map(|(id, (at, v))| (*id, at, v))
    }

    /// Moves the `count` parcels nearest to `from`, like a pump. Of equally near ones, those with lower numbers.
    /// `to(i)` is the position and velocity of the `i`-th.
    pub fn pump(&mut self, from: [f32; 2], count: usize, mut to: impl FnMut(usize) -> [f32; 4]) {
        let count = count.min(self.len());
        if count == 0 {
            return;
        }
        let now = &mut self.now;
        let mut far: Vec<(u32, u32, u32)> = (0..now.len())
            .map(|i| {
                let (dx, dy) = (now.x[i] - from[0], now.y[i] - from[1]);
                // Squares are not negative, so the order of their bits is the numeric order.
                ((dx * dx + dy * dy).to_bits(), now.ids[i], i as u32)
            })
            .collect();
        far.select_nth_unstable(count - 1);
        far.truncate(count);
        far.sort_unstable();
        for (n, (_, _, i)) in far.into_iter().enumerate() {
            let [x, y, u, v] = to(n);
            let i = i as usize;
            (now.x[i], now.y[i]) = (x.clamp(0.0, self.settings.size[0]), y.clamp(0.0, self.settings.size[1]));
            (now.vx[i], now.vy[i]) = (u, v);
        }
    }

    /// Sorts the parcels by cell and number, including new ones (as in [`new`](Fluid2d::new)) whose numbers follow the last.
    pub fn sort_by_cell(&mut self, new: &[[f32; 4]], executor: &dyn Executor) {
        self.now.extend(new);
        self.order.sort_by_cell(&mut self.now, self.level, executor);
    }

    /// One step of parcels that were [sorted](Fluid2d::sort_by_cell) since the last.
    pub fn step(&mut self, executor: &dyn Executor) {
        let (level, n) = (self.level, self.len());
        for v in self.sums.iter_mut().chain([&mut self.pressure_term, &mut self.inv_density]) {
            v.resize(n + LANES, 0.0);
        }
        let (rows, parts) = self.order.parts();
        let under: Vec<Range<usize>> = rows.iter().map(|r| self.order.below(r)).collect();
        // The first row has none above it.
        let top = under.first().map_or(n, |u| u.start).min(n);
        let mut view = View {
            starts: self.order.starts(),
            size: self.order.size(),
            cells: self.order.cells(),
            x: &self.now.x,
            y: &self.now.y,
            vx: &self.now.vx,
            vy: &self.now.vy,
            pressure_term: &[],
            inv_density: &[],
            constants: &self.constants,
        };
        let [x, y, above_x, above_y] = &mut self.sums;
        for above in [&mut *above_x, &mut *above_y] {
            above[..top].fill(0.0);
        }
        let jobs = rows.iter().zip(split(x, parts)).zip(split(&mut above_x[top..], &under)).collect();
        run(executor, jobs, |((rows, own), below)| rows::densities(level, view, rows.clone(), own, below));
        let (pressure_term, inv_density) = (&mut self.pressure_term[..n], &mut self.inv_density[..n]);
        rows::pressures(level, &self.constants, [&x[..n], &above_x[..n]], pressure_term, inv_density);
        (view.pressure_term, view.inv_density) = (&self.pressure_term, &self.inv_density);
        let own = split(x, parts).into_iter().zip(split(y, parts));
        let below = split(&mut above_x[top..], &under).into_iter().zip(split(&mut above_y[top..], &under));
        let jobs = rows.iter().zip(own.zip(below)).collect();
        run(executor, jobs, |(rows, ((x, y), (bx, by)))| {
            rows::forces(level, view, rows.clone(), [x, y], [bx, by]);
        });
        let by = Moving { settings: &self.settings, wall_range: self.wall_range, wall: self.wall };
        let solid = self.solid.as_deref();
        let Columns { x: px, y: py, vx, vy, .. } = &mut self.now;
        let places = split(px, parts).into_iter().zip(split(py, parts));
        let speeds = split(vx, parts).into_iter().zip(split(vy, parts));
        let jobs = parts.iter().zip(places.zip(speeds)).collect();
        let sums = &self.sums;
        // Without an obstacle the work is so small that starting a thread takes longer.
        let executor = if solid.is_some() { executor } else { &CurrentThread };
        run(executor, jobs, |(part, ((x, y), (vx, vy)))| {
            if let Some(solid) = solid {
                for i in 0..x.len() {
                    by.resolve_obstacle(solid, [&mut x[i], &mut y[i]], [&mut vx[i], &mut vy[i]]);
                }
            }
            let sums = [0, 1, 2, 3].map(|k: usize| &sums[k][part.clone()]);
            moved(level, by, sums, [x, y], [vx, vy]);
        });
        self.steps += 1;
    }
}

#[derive(Clone, Copy)]
struct Moving<'a> {
    settings: &'a Fluid2dSettings,
    wall_range: f32,
    wall: f32,
}

multiversion! {
    /// New velocities and positions.
    fn moved(level, by: Moving<'_>, sums: [&[f32]; 4], at: [&mut [f32]; 2], v: [&mut [f32]; 2]) = moved_body;
}

#[inline(always)]
fn moved_body(by: Moving<'_>, sums: [&[f32]; 4], [x, y]: [&mut [f32]; 2], [vx, vy]: [&mut [f32]; 2]) {
    let Moving { settings, wall_range, wall } = by;
    let n = x.len();
    let [ax, ay, bx, by] = sums.map(|v| &v[..n]);
    let (y, vx, vy) = (&mut y[..n], &mut vx[..n], &mut vy[..n]);
    let [w, h] = settings.size;
    let (dt, most) = (settings.step, settings.max_speed);
    // Not `max`, whose zero may have either sign.
    let above = |v: f32| if v > 0.0 { v } else { 0.0 };
    let spring = |at: f32, end: f32| wall * (above(wall_range - at) - above(wall_range - (end - at)));
    for i in 0..n {
        let u = vx[i] + (ax[i] + bx[i] + spring(x[i], w)) * dt;
        let v = vy[i] + (ay[i] + by[i] + settings.gravity + spring(y[i], h)) * dt;
        let speed = (u * u + v * v).sqrt();
        // Parcels with NaN stand still: comparisons with NaN fail.
        let keep = if speed <= most {
            1.0
        } else if speed > most && speed < f32::INFINITY {
            most / speed
        } else {
            0.0
        };
        let (u, v) = if keep > 0.0 { (u * keep, v * keep) } else { (0.0, 0.0) };
        let (nx, ny) = (x[i] + u * dt, y[i] + v * dt);
        x[i] = above(if nx < w { nx } else { w });
        y[i] = above(if ny < h { ny } else { h });
        vx[i] = if nx < 0.0 || nx > w { 0.0 } else { u };
        vy[i] = if ny < 0.0 || ny > h { 0.0 } else { v };
    }
}

impl Moving<'_> {
    /// Pushes a parcel out of the obstacle.
    #[inline]
    fn resolve_obstacle(&self, solid: &SignedDistanceField, [x, y]: [&mut f32; 2], [vx, vy]: [&mut f32; 2]) {
        let (d, [nx, ny]) = solid.at(*x, *y);
        if d >= self.wall_range {
            return;
        }
        // The obstacle repels like a wall, and parcels inside are moved out.
        let push = (self.wall * (self.wall_range - d) * self.settings.step).min(self.settings.max_speed);
        let along = *vx * nx + *vy * ny;
        let gain = if d < 0.0 { (-along).max(0.0).max(push) } else { push };
        *vx += nx * gain;
        *vy += ny * gain;
        if d < 0.0 {
            let out = (-d).min(self.settings.spacing);
            *x = (*x + nx * out).max(0.0).min(self.settings.size[0]);
            *y = (*y + ny * out).max(0.0).min(self.settings.size[1]);
        }
    }
}

impl core::fmt::Debug for Fluid2d {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Fluid2d")
            .field("len", &self.len())
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
