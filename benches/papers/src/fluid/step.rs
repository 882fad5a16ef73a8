//! A step of the fluid, and going on to a time.

use super::list::{Candidates, List};
use super::parcel_store::ParcelStore;
use super::settings::{Constants, MAX_PARCELS};
use super::sums::{self, Known};
use super::{FluidError, Grid, Layout, Parcel, Settings};
use crate::simd::Level;
use core::ops::Range;
use grainfield_filters::host::{Executor, Host, PrepareError};
use std::sync::{Mutex, PoisonError};

/// A part of a step, as the paper's Table 4 has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Neighbour lists.
    Detect,
    /// Densities and pressures.
    Densities,
    /// Forces.
    Forces,
    /// New velocities and places.
    Update,
    /// Moves within the packed memory array.
    Sort,
    /// The list of slots, and the parcels' places by cell.
    Index,
}

/// Parcels of a task, at least.
const SHARE: u32 = 512;

/// The part of a task: some cells and their parcels.
#[derive(Clone, Debug)]
struct Partition {
    cells: Range<usize>,
    parcels: Range<usize>,
    list: List,
}

/// A fluid at a moment.
#[derive(Clone)]
pub struct Fluid {
    pub(super) settings: Settings,
    pub(super) c: Constants,
    level: Level,
    pub(super) store: ParcelStore,
    pub(super) layout: Layout,
    partitions: Vec<Partition>,
    /// By place in the layout, as are the next three.
    pub(super) velocities: Vec<[f32; 3]>,
    densities: Vec<f32>,
    known: Vec<Known>,
    forces: Vec<[f32; 3]>,
    next: Vec<([f32; 3], [f32; 3])>,
    rooms: Vec<Candidates>,
    pub(super) time: f64,
    pub(super) steps: u64,
    moved: usize,
}

/// Runs `f` over the jobs on the threads of `executor`.
fn run<J: Send>(executor: &dyn Executor, jobs: impl Iterator<Item = J>, f: impl Fn(J) + Sync) {
    let jobs: Vec<Mutex<Option<J>>> = jobs.map(|j| Mutex::new(Some(j))).collect();
    executor.execute(jobs.len(), &|t| {
        let job = jobs[t].lock().unwrap_or_else(PoisonError::into_inner).take();
        job.into_iter().for_each(&f);
    });
}

/// Cuts a slice where the shares' parcels end.
fn split_at_partitions<'a, T>(mut rest: &'a mut [T], partitions: &[Partition]) -> Vec<&'a mut [T]> {
    partitions
        .iter()
        .map(|s| {
            let (own, after) = core::mem::take(&mut rest).split_at_mut(s.parcels.len());
            rest = after;
            own
        })
        .collect()
}

impl Fluid {
    /// A fluid of the given parcels, at time 0.
    ///
    /// # Errors
    /// [`FluidError::Setting`], [`FluidError::Parcel`] (outside the box, or not numbers), [`FluidError::Twice`],
    /// [`FluidError::TooMany`].
    pub fn new(settings: Settings, parcels: &[Parcel], level: Level) -> Result<Fluid, FluidError> {
        settings.check()?;
        if parcels.len() > MAX_PARCELS {
            return Err(FluidError::TooMany { count: parcels.len(), most: MAX_PARCELS });
        }
        let mut ids: Vec<u32> = parcels.iter().map(|p| p.id).collect();
        ids.sort_unstable();
        if let Some(w) = ids.windows(2).find(|w| w[0] == w[1]) {
            return Err(FluidError::Twice { id: w[0] });
        }
        let c = Constants::new(&settings);
        let size = Fluid::domain(&settings);
        let right = |p: &Parcel| {
            let numbers = p.pos.iter().chain(&p.vel).all(|v| v.is_finite());
            let inside = (0..3).all(|a| !settings.walls || (0.0 <= p.pos[a] && p.pos[a] <= size[a]));
            let flat = !settings.flat || (p.pos[2] == 0.0 && p.vel[2] == 0.0);
            numbers && inside && flat
        };
        if let Some(p) = parcels.iter().find(|p| !right(p)) {
            return Err(FluidError::Parcel { id: p.id });
        }
        let grid =
            if settings.walls { Grid::new(size, settings.radius) } else { Grid::open(settings.radius) };
        let mut store = ParcelStore::new(&grid, level)?;
        for p in parcels {
            // Zeros alike, so that equal states have equal bytes.
            let pos = p.pos.map(|v| v + 0.0);
            let number = grid.number(grid.cell(pos)).unwrap_or(0);
            store.insert(number, Parcel { pos, vel: p.vel.map(|v| v + 0.0), ..*p });
        }
        let layout = Layout::new(grid, level)?;
        let mut fluid = Fluid {
            settings,
            c,
            level,
            store,
            layout,
            partitions: Vec::new(),
            velocities: Vec::new(),
            densities: Vec::new(),
            known: Vec::new(),
            forces: Vec::new(),
            next: Vec::new(),
            rooms: Vec::new(),
            time: 0.0,
            steps: 0,
            moved: 0,
        };
        fluid.store.apply_moves(&grainfield_filters::host::CurrentThread)?;
        fluid.index()?;
        Ok(fluid)
    }

    /// The box; in 2-D it has no depth.
    pub(super) fn domain(s: &Settings) -> [f32; 3] {
        [s.size[0], s.size[1], if s.flat { 0.0 } else { s.size[2] }]
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many parcels there are.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// How many parcels changed their cells in the last step.
    pub fn moved(&self) -> usize {
        self.moved
    }

    /// The parcels by cell.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The parcels, by cell, then number.
    pub fn parcels(&self) -> impl Iterator<Item = &Parcel> {
        self.store.iter().map(|(_, p)| p)
    }

    /// Reads the parcels out of the packed array.
    fn index(&mut self) -> Result<(), FluidError> {
        self.store.index();
        self.velocities.clear();
        let velocities = &mut self.velocities;
        self.layout.fill(self.store.iter().map(|(number, p)| {
            velocities.push(p.vel);
            (number, p.pos)
        }))?;
        // Tasks of whole cells; how many depends on the parcels alone, and would change nothing if it did not.
        let held = self.layout.held();
        let mut used = 0;
        let (mut cell, mut parcel) = (0, 0);
        for (i, h) in held.iter().enumerate() {
            let end = (h.first + h.len) as usize;
            if end - parcel >= SHARE as usize || i + 1 == held.len() {
                if used == self.partitions.len() {
                    self.partitions.push(Partition { cells: 0..0, parcels: 0..0, list: List::default() });
                }
                self.partitions[used].cells = cell..i + 1;
                self.partitions[used].parcels = parcel..end;
                (cell, parcel) = (i + 1, end);
                used += 1;
            }
        }
        self.partitions.truncate(used);
        let n = self.layout.len();
        self.densities.resize(n, 0.0);
        self.known.resize(n, Known::default());
        self.forces.resize(n, [0.0; 3]);
        Ok(())
    }

    /// Finds the neighbours of all parcels where they are now.
    fn detect(&mut self, executor: &dyn Executor) -> Result<(), FluidError> {
        let (layout, level, radius) = (&self.layout, self.level, self.settings.radius);
        let rooms = Mutex::new(core::mem::take(&mut self.rooms));
        let wrong = Mutex::new(None);
        run(executor, self.partitions.iter_mut(), |share| {
            let room = rooms.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut room = room.unwrap_or_default();
            if let Err(e) = share.list.fill(level, layout, share.cells.clone(), radius, &mut room) {
                *wrong.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
            }
            rooms.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        });
        self.rooms = rooms.into_inner().unwrap_or_else(PoisonError::into_inner);
        wrong.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// The lists of the last step, and densities relative to rest: for where the parcels are, after `measure`.
    pub(super) fn measured(&self) -> impl Iterator<Item = (&List, &[f32])> {
        self.partitions.iter().map(|s| (&s.list, &self.densities[s.parcels.clone()]))
    }

    /// Neighbours and densities of the state as it is.
    pub(super) fn measure(&mut self, executor: &dyn Executor) -> Result<(), FluidError> {
        self.detect(executor)?;
        self.sum_densities(executor);
        Ok(())
    }

    fn sum_densities(&mut self, executor: &dyn Executor) {
        let (level, c, layout, velocities) = (self.level, &self.c, &self.layout, &self.velocities);
        let densities = split_at_partitions(&mut self.densities, &self.partitions);
        let known = split_at_partitions(&mut self.known, &self.partitions);
        let jobs = self.partitions.iter().zip(densities).zip(known);
        run(executor, jobs, |((share, densities), known)| {
            sums::densities(level, &share.list, c, densities);
            for (k, (known, density)) in known.iter_mut().zip(densities).enumerate() {
                let i = share.parcels.start + k;
                let ([x, y, z], [u, v, w]) = (layout.at(i), velocities[i]);
                *known = [x, y, z, sums::pressure(c, *density), u, v, w, 1.0 / *density];
            }
        });
    }

    fn sum_forces(&mut self, executor: &dyn Executor) {
        let (level, c, known) = (self.level, &self.c, &self.known);
        let forces = split_at_partitions(&mut self.forces, &self.partitions);
        let jobs = self.partitions.iter().zip(forces);
        run(executor, jobs, |(share, forces)| sums::forces(level, &share.list, c, known, forces));
    }

    /// Gravity and walls; in the same pass the greatest squares of speed and acceleration.
    fn outer_forces(&mut self) -> (f32, f32) {
        let (s, c) = (&self.settings, &self.c);
        let size = Fluid::domain(s);
        let (mut fastest, mut strongest) = (0f32, 0f32);
        for (i, a) in self.forces.iter_mut().enumerate() {
            let (at, v) = (self.layout.at(i), self.velocities[i]);
            for axis in 0..s.axes() {
                a[axis] += s.gravity[axis];
                if s.walls {
                    let (low, high) = (c.skin - at[axis], c.skin - (size[axis] - at[axis]));
                    a[axis] += c.wall * (low.max(0.0) - high.max(0.0));
                }
            }
            fastest = fastest.max(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            strongest = strongest.max(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        }
        (fastest, strongest)
    }

    /// The longest stable step: sound and the fastest parcel pass `cfl` of a radius, and so does what is accelerated
    /// most from rest.
    fn stable(&self, (fastest, strongest): (f32, f32)) -> f32 {
        let (s, c) = (&self.settings, &self.c);
        let by_speed = s.cfl * c.h / (s.sound + fastest.sqrt());
        // sqrt(h/a) from a^2, in two roots.
        let by_force = if strongest > 0.0 { s.cfl * (c.h / strongest.sqrt()).sqrt() } else { c.longest };
        c.longest.min(by_speed).min(by_force)
    }

    /// Moves all by `dt` (velocity first, then place with the new velocity) and notes who changes cells.
    fn update(&mut self, dt: f32) -> Result<(), FluidError> {
        let s = &self.settings;
        let size = Fluid::domain(s);
        self.next.clear();
        let mut right = true;
        for (i, a) in self.forces.iter().enumerate() {
            let (mut pos, mut vel) = (self.layout.at(i), self.velocities[i]);
            for axis in 0..s.axes() {
                vel[axis] += a[axis] * dt;
                pos[axis] += vel[axis] * dt;
                if s.walls && !(0.0..=size[axis]).contains(&pos[axis]) {
                    // Through the wall: it stops there.
                    right &= pos[axis].is_finite();
                    pos[axis] = if pos[axis] < 0.0 { 0.0 } else { size[axis] };
                    vel[axis] = 0.0;
                }
                right &= pos[axis].is_finite() & vel[axis].is_finite();
            }
            self.next.push((pos, vel));
        }
        if !right {
            return Err(FluidError::Diverged { step: self.steps });
        }
        let grid = self.layout.grid();
        for held in self.layout.held() {
            for i in held.first as usize..(held.first + held.len) as usize {
                let (slot, (pos, vel)) = (self.store.slots()[i], self.next[i]);
                let cell = grid.cell(pos);
                if cell != held.cell
                    && let Some(number) = grid.number(cell)
                {
                    self.store.go(slot, number);
                }
                if let Some(parcel) = self.store.get_mut(slot) {
                    (parcel.pos, parcel.vel) = (pos, vel);
                }
            }
        }
        Ok(())
    }

    /// One step of the longest stable length, which is returned, in seconds.
    ///
    /// # Errors
    /// [`FluidError::Diverged`], [`FluidError::Crowded`]; then nothing has changed.
    pub fn step(&mut self, executor: &dyn Executor) -> Result<f32, FluidError> {
        self.step_within(executor, f64::INFINITY, &mut |_| ())
    }

    /// One step that does not pass `end` (in seconds), and of two left to there makes two halves; its length. Calls
    /// `done` after each phase.
    ///
    /// # Errors
    /// As [`Fluid::step`].
    pub fn step_within(
        &mut self,
        executor: &dyn Executor,
        end: f64,
        done: &mut dyn FnMut(Phase),
    ) -> Result<f32, FluidError> {
        self.detect(executor)?;
        done(Phase::Detect);
        self.sum_densities(executor);
        done(Phase::Densities);
        self.sum_forces(executor);
        let greatest = self.outer_forces();
        done(Phase::Forces);
        let longest = f64::from(self.stable(greatest));
        let left = end - self.time;
        let (dt, time) = if left <= longest {
            (left.max(0.0) as f32, end.max(self.time))
        } else {
            let dt = (if left < 2.0 * longest { 0.5 * left } else { longest }) as f32;
            (dt, self.time + f64::from(dt))
        };
        self.update(dt)?;
        done(Phase::Update);
        self.moved = self.store.apply_moves(executor)?;
        done(Phase::Sort);
        self.index()?;
        self.time = time;
        self.steps += 1;
        done(Phase::Index);
        Ok(dt)
    }

    /// Goes on to a time, in seconds since the start; a time that has passed is left as it is.
    ///
    /// # Errors
    /// [`PrepareError::Cancelled`] when the host wants to stop, [`PrepareError::Failed`] if the simulation cannot go
    /// on.
    pub fn advance(&mut self, to: f64, host: &Host<'_>) -> Result<(), PrepareError> {
        while self.time < to {
            host.check()?;
            let before = self.time;
            self.step_within(host.executor, to, &mut |_| ())
                .map_err(|e| PrepareError::Failed(e.to_string()))?;
            if self.time <= before {
                // Steps so short that time stands still.
                let e = FluidError::Diverged { step: self.steps };
                return Err(PrepareError::Failed(e.to_string()));
            }
        }
        Ok(())
    }
}

impl core::fmt::Debug for Fluid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut d = f.debug_struct("Fluid");
        d.field("len", &self.len()).field("time", &self.time).field("steps", &self.steps);
        d.finish_non_exhaustive()
    }
}
