//! A flat fluid for pictures: the same equations in 2-D, in steps of one length, that never fails.
//!
//! Where [`Fluid`](super::Fluid) chooses its steps by what moves in it and says so when it comes apart, a picture needs
//! frames that cost the same and always come. So the length of a step is given ([`Fluid2d::longest`] says how long it may
//! be), speed is limited, and what leaves the box or enters something solid is put back. The packed memory array is
//! kept in the order of a grid numbered row by row ([`Grid::rows`]) and settled every [`EVERY`] steps; in between
//! parcels move but keep their places, which the cells' margin allows for.
//!
//! The state is a function of the settings, the parcels and the number of steps: neither threads, nor the instruction
//! set, nor saving and restoring change a bit, as long as it is saved at a multiple of [`EVERY`] steps.

#[cfg(test)]
mod tests;

use super::list::LANES;
use super::parcel_store::ParcelStore;
use super::rows::{self, Constants, View};
use super::solid::Solid;
use super::{FluidError, Grid, Parcel};
use crate::lend::{CurrentThread, Executor};
use crate::simd::{Level, multiversion};
use core::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Steps from one settling of the packed array to the next.
pub const EVERY: u64 = 2;
/// Cells are larger than the radius by this, for what moves between two settlings.
const MARGIN: f32 = 1.1;
/// Parcels of a task, at least.
const SHARE: usize = 1024;
/// Radii that sound passes in a step, at most.
const PASSED: f32 = 0.51;

/// What is simulated. Lengths in any one unit; time in seconds; y grows downwards, and gravity acts along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid2dSettings {
    /// The box reaches from 0 to this.
    pub size: [f32; 2],
    /// Distance of parcels at rest.
    pub spacing: f32,
    /// How far parcels feel each other.
    pub radius: f32,
    /// Gravity.
    pub gravity: f32,
    /// Speed of sound.
    pub sound: f32,
    /// Kinematic viscosity.
    pub viscosity: f32,
    /// Pull between parcels, in 1/s^2.
    pub cohesion: f32,
    /// Length of a step, at most [`Fluid2d::longest`].
    pub step: f32,
    /// Nothing moves faster.
    pub fastest: f32,
}

#[derive(Clone, Debug)]
struct Partition {
    rows: Range<usize>,
    parcels: Range<usize>,
}

/// A flat fluid at a moment.
#[derive(Clone)]
pub struct Fluid2d {
    set: Fluid2dSettings,
    c: Constants,
    /// Nearer to a wall than this it pushes back, with this much a length.
    skin: f32,
    wall: f32,
    level: Level,
    solid: Option<Arc<Solid>>,
    grid: Grid,
    store: ParcelStore,
    /// By place: numbers, cells; then what moves, with [`LANES`] more behind the last.
    ids: Vec<u32>,
    cells: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    press: Vec<f32>,
    thin: Vec<f32>,
    ax: Vec<f32>,
    ay: Vec<f32>,
    starts: Vec<u32>,
    partitions: Vec<Partition>,
    steps: u64,
}

fn run<J: Send>(executor: &dyn Executor, jobs: Vec<J>, f: impl Fn(J) + Sync) {
    if executor.width() == 1 {
        return jobs.into_iter().for_each(f);
    }
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|j| Mutex::new(Some(j))).collect();
    executor.execute(jobs.len(), &|t| {
        let job = jobs[t].lock().unwrap_or_else(PoisonError::into_inner).take();
        job.into_iter().for_each(&f);
    });
}

fn split_at_partitions<'a>(mut rest: &'a mut [f32], partitions: &[Partition]) -> Vec<&'a mut [f32]> {
    let mut parts = Vec::with_capacity(partitions.len());
    for share in partitions {
        let (own, after) = core::mem::take(&mut rest).split_at_mut(share.parcels.len());
        parts.push(own);
        rest = after;
    }
    parts
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
    pub fn longest(radius: f32, sound: f32, viscosity: f32) -> f32 {
        let by_sound = PASSED * radius / sound;
        if viscosity > 0.0 { by_sound.min(0.1 * radius * radius / viscosity) } else { by_sound }
    }

    /// A fluid of parcels by number: place, then velocity.
    ///
    /// # Errors
    /// [`FluidError::Setting`] if the box has too many cells for the radius, [`FluidError::Parcel`] for what is
    /// outside the box or no number.
    pub fn new(
        set: Fluid2dSettings,
        solid: Option<Arc<Solid>>,
        parcels: &[[f32; 4]],
        steps: u64,
        level: Level,
    ) -> Result<Fluid2d, FluidError> {
        let cell = set.radius * MARGIN;
        let low = f64::from(set.size[0].max(set.size[1])) / 2000.0;
        let grid = Grid::rows(set.size, cell).ok_or(FluidError::Setting {
            name: "radius",
            value: f64::from(set.radius),
            low,
            high: f64::from(set.size[0]),
        })?;
        let store = ParcelStore::new(&grid, level)?;
        let skin = 0.5 * set.spacing;
        let stop = set.sound / (4.0 * skin);
        let mut flat = Fluid2d {
            set,
            c: set.constants(),
            skin,
            wall: stop * stop,
            level,
            solid,
            starts: vec![0; grid.numbers() as usize + 1],
            grid,
            store,
            ids: Vec::new(),
            cells: Vec::new(),
            x: vec![0.0; LANES],
            y: vec![0.0; LANES],
            vx: vec![0.0; LANES],
            vy: vec![0.0; LANES],
            press: Vec::new(),
            thin: Vec::new(),
            ax: Vec::new(),
            ay: Vec::new(),
            partitions: Vec::new(),
            steps,
        };
        for (id, p) in (0..).zip(parcels) {
            let inside = (0.0..=set.size[0]).contains(&p[0]) && (0.0..=set.size[1]).contains(&p[1]);
            if !inside || !p[2].is_finite() || !p[3].is_finite() {
                return Err(FluidError::Parcel { id });
            }
        }
        flat.apply_moves(parcels, &CurrentThread)?;
        Ok(flat)
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many parcels there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// All parcels by number: place, then velocity.
    pub fn parcels(&self) -> Vec<[f32; 4]> {
        let mut all = vec![[0.0; 4]; self.len()];
        for (i, id) in self.ids.iter().enumerate() {
            all[*id as usize] = [self.x[i], self.y[i], self.vx[i], self.vy[i]];
        }
        all
    }

    /// Numbers of the parcels and where they are, in the order of the array.
    pub fn places(&self) -> impl Iterator<Item = (u32, [f32; 2])> {
        self.ids.iter().zip(self.x.iter().zip(&self.y)).map(|(id, (x, y))| (*id, [*x, *y]))
    }

    /// Moves the `count` parcels nearest to `from` elsewhere: what a pump does. Of equally near ones those with lower
    /// numbers. `to(i)` is the place and velocity of the `i`-th.
    pub fn pump(&mut self, from: [f32; 2], count: usize, mut to: impl FnMut(usize) -> [f32; 4]) {
        let count = count.min(self.len());
        if count == 0 {
            return;
        }
        let mut far: Vec<(u32, u32, u32)> = (0..self.len())
            .map(|i| {
                let (dx, dy) = (self.x[i] - from[0], self.y[i] - from[1]);
                // Squares are not below zero, so that their bits are in their order.
                ((dx * dx + dy * dy).to_bits(), self.ids[i], i as u32)
            })
            .collect();
        far.select_nth_unstable(count - 1);
        far.truncate(count);
        far.sort_unstable();
        for (n, (_, _, i)) in far.into_iter().enumerate() {
            let [x, y, u, v] = to(n);
            let i = i as usize;
            (self.x[i], self.y[i]) = (x.clamp(0.0, self.set.size[0]), y.clamp(0.0, self.set.size[1]));
            (self.vx[i], self.vy[i]) = (u, v);
        }
    }

    /// Brings the packed array into order, with new parcels whose numbers follow the last, and reads it out.
    pub fn apply_moves(&mut self, new: &[[f32; 4]], executor: &dyn Executor) -> Result<(), FluidError> {
        let grid = &self.grid;
        let number = |x: f32, y: f32| grid.number(grid.cell([x, y, 0.0])).unwrap_or(0);
        for i in 0..self.ids.len() {
            let (x, y) = (self.x[i], self.y[i]);
            let (slot, cell) = (self.store.slots()[i], number(x, y));
            if cell != u64::from(self.cells[i]) {
                self.store.go(slot, cell);
            }
            if let Some(parcel) = self.store.get_mut(slot) {
                parcel.pos = [x, y, 0.0];
                parcel.vel = [self.vx[i], self.vy[i], 0.0];
            }
        }
        for (k, p) in new.iter().enumerate() {
            let id = (self.ids.len() + k) as u32;
            let parcel = Parcel { id, pos: [p[0], p[1], 0.0], vel: [p[2], p[3], 0.0], spare: 0 };
            self.store.insert(number(p[0], p[1]), parcel);
        }
        self.store.apply_moves(executor)?;
        self.store.index();
        self.read();
        Ok(())
    }

    fn read(&mut self) {
        for v in [&mut self.ids, &mut self.cells] {
            v.clear();
        }
        for v in [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy] {
            v.clear();
        }
        let mut next = 0usize;
        let size = self.grid.size();
        let row = self.grid.row() as usize;
        self.store.each(|number, p| {
            let at = self.ids.len() as u32;
            while next <= number as usize {
                self.starts[next] = at;
                next += 1;
            }
            self.ids.push(p.id);
            self.cells.push(number as u32);
            self.x.push(p.pos[0]);
            self.y.push(p.pos[1]);
            self.vx.push(p.vel[0]);
            self.vy.push(p.vel[1]);
        });
        let n = self.ids.len();
        self.starts[next..].fill(n as u32);
        for v in [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy, &mut self.press, &mut self.thin] {
            v.resize(n + LANES, 0.0);
        }
        for v in [&mut self.ax, &mut self.ay] {
            v.resize(n, 0.0);
        }
        self.partitions.clear();
        let mut from = 0;
        for j in 0..size[1] as usize {
            let first = self.starts[from * row] as usize;
            let end = self.starts[(j + 1) * row] as usize;
            if end - first >= SHARE || j + 1 == size[1] as usize {
                self.partitions.push(Partition { rows: from..j + 1, parcels: first..end });
                from = j + 1;
            }
        }
    }

    /// One step. Before it, every [`EVERY`] steps, the array must have been settled.
    pub fn step(&mut self, executor: &dyn Executor) {
        let (level, size) = (self.level, self.grid.size());
        let mut view = View {
            starts: &self.starts,
            size: [size[0] as usize, size[1] as usize],
            row: self.grid.row() as usize,
            x: &self.x,
            y: &self.y,
            vx: &self.vx,
            vy: &self.vy,
            press: &[],
            thin: &[],
            c: &self.c,
        };
        let jobs = self.partitions.iter().zip(split_at_partitions(&mut self.press, &self.partitions));
        let jobs = jobs.zip(split_at_partitions(&mut self.thin, &self.partitions)).collect();
        run(executor, jobs, |((share, press), thin)| {
            rows::densities(level, view, share.rows.clone(), press, thin);
        });
        (view.press, view.thin) = (&self.press, &self.thin);
        let jobs = self.partitions.iter().zip(split_at_partitions(&mut self.ax, &self.partitions));
        let jobs = jobs.zip(split_at_partitions(&mut self.ay, &self.partitions)).collect();
        run(executor, jobs, |((share, ax), ay)| {
            rows::forces(level, view, share.rows.clone(), ax, ay);
        });
        let partitions = &self.partitions;
        let moves = [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy]
            .map(|v| split_at_partitions(v, partitions));
        let [x, y, vx, vy] = moves;
        let jobs = partitions.iter().zip(x).zip(y).zip(vx).zip(vy).collect();
        let (ax, ay) = (&self.ax, &self.ay);
        let by = Moving { set: &self.set, skin: self.skin, wall: self.wall };
        let solid = self.solid.as_deref();
        // Without anything solid this is so little that to wake a thread takes longer.
        let executor = if solid.is_some() { executor } else { &CurrentThread };
        run(executor, jobs, |((((share, x), y), vx), vy)| {
            let parcels = share.parcels.clone();
            let (ax, ay) = (&ax[parcels.clone()], &ay[parcels]);
            if let Some(solid) = solid {
                for i in 0..x.len() {
                    by.leave(solid, [&mut x[i], &mut y[i]], [&mut vx[i], &mut vy[i]]);
                }
            }
            moved(level, by, [ax, ay], [x, y], [vx, vy]);
        });
        self.steps += 1;
    }
}

#[derive(Clone, Copy)]
struct Moving<'a> {
    set: &'a Fluid2dSettings,
    skin: f32,
    wall: f32,
}

multiversion! {
    /// New velocities and places.
    fn moved(level, by: Moving<'_>, a: [&[f32]; 2], at: [&mut [f32]; 2], v: [&mut [f32]; 2]) = moved_body;
}

#[inline(always)]
fn moved_body(by: Moving<'_>, [ax, ay]: [&[f32]; 2], [x, y]: [&mut [f32]; 2], [vx, vy]: [&mut [f32]; 2]) {
    let Moving { set, skin, wall } = by;
    let n = x.len();
    let (ax, ay) = (&ax[..n], &ay[..n]);
    let (y, vx, vy) = (&mut y[..n], &mut vx[..n], &mut vy[..n]);
    let [w, h] = set.size;
    let (dt, most) = (set.step, set.fastest);
    // Not `max`, whose zero may have either sign.
    let above = |v: f32| if v > 0.0 { v } else { 0.0 };
    let spring = |at: f32, end: f32| wall * (above(skin - at) - above(skin - (end - at)));
    for i in 0..n {
        let u = vx[i] + (ax[i] + spring(x[i], w)) * dt;
        let v = vy[i] + (ay[i] + set.gravity + spring(y[i], h)) * dt;
        let speed = (u * u + v * v).sqrt();
        // What is no number stands still: a comparison with it fails.
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
    /// Pushes a parcel out of what is solid.
    #[inline]
    fn leave(&self, solid: &Solid, [x, y]: [&mut f32; 2], [vx, vy]: [&mut f32; 2]) {
        let (d, [nx, ny]) = solid.at(*x, *y);
        if d >= self.skin {
            return;
        }
        // As a wall does, and what is inside is put outside.
        let push = (self.wall * (self.skin - d) * self.set.step).min(self.set.fastest);
        let along = *vx * nx + *vy * ny;
        let gain = if d < 0.0 { (-along).max(0.0).max(push) } else { push };
        *vx += nx * gain;
        *vy += ny * gain;
        if d < 0.0 {
            let out = (-d).min(self.set.spacing);
            *x = (*x + nx * out).max(0.0).min(self.set.size[0]);
            *y = (*y + ny * out).max(0.0).min(self.set.size[1]);
        }
    }
}

impl core::fmt::Debug for Fluid2d {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Flat").field("len", &self.len()).field("steps", &self.steps).finish_non_exhaustive()
    }
}
