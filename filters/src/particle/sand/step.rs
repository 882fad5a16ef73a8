//! A step of all grains.

use super::cells::{NONE, is_inside};
use super::contact::{Contacts, FASTEST, ITERATIONS, NO_CONTACTS, ShortStep, predict};
use super::flight::{End, Surroundings, is_gone};
use super::grain::{Body, Flyer, Grain};
use super::slope::surface;
use super::{ASLEEP, Forces, Sand};
use crate::host::Executor;
use crate::pma::{CellBatch, PmaError, Slot};
use std::sync::{Mutex, PoisonError};

/// Short steps per step.
const SHORT_STEPS: usize = 2;
/// Friction between grains inside a pile.
const INSIDE: f32 = 0.5;
/// A grain that moves less than this in a step counts as still, in diameters: on the surface, and inside a pile, where
/// the corrections do not come to rest.
const STILL: f32 = 0.02;
const STILL_INSIDE: f32 = 0.05;
/// A grain that moves farther than this rolls or falls; a slower one creeps.
const ROLLS: f32 = 0.15;
/// A flyer that is slower than this when it lands has only hopped, in diameters a second.
const HOP: f32 = 20.0;
/// A grain that moves farther than this wakes those beside and above it.
const STIRS: f32 = 0.06;
/// A grain wakes one that it presses by this much.
const PRESSES: f32 = 0.4;
/// Bodies per task.
const PART: usize = 1024;

/// An element's slot and cell; a grain that has just landed has none.
#[derive(Clone, Copy, Debug)]
struct Home {
    slot: Slot,
    cell: u32,
}

/// The lists of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    sleepers: Vec<Body>,
    sleeping_in: Vec<Home>,
    /// Awake grains: at the start of the step, of the short step, and now.
    start: Vec<Body>,
    before: Vec<Body>,
    now: Vec<Body>,
    next: Vec<Body>,
    velocities: Vec<[f32; 2]>,
    homes: Vec<Home>,
    still: Vec<u16>,
    carried: Vec<bool>,
    carried_before: Vec<bool>,
    links: Vec<u32>,
    contacts: Vec<Contacts>,
    surfaces: Vec<Option<[f32; 2]>>,
    blocks: Vec<u32>,
    marked: Vec<bool>,
    woken: Vec<bool>,
    pub(super) batch: CellBatch<Grain>,
}

impl Workspace {
    pub(super) fn bytes(&self) -> usize {
        (self.sleepers.capacity() + 4 * self.start.capacity()) * size_of::<Body>()
            + self.contacts.capacity() * (size_of::<Contacts>() + 48)
    }
}

/// Fills `out` in parts at the same time: `f` gets the index of each part's first item, and the part.
fn fill<T: Send>(executor: &dyn Executor, out: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
    if out.len() <= PART {
        return f(0, out);
    }
    let parts: Vec<Mutex<&mut [T]>> = out.chunks_mut(PART).map(Mutex::new).collect();
    executor.execute(parts.len(), &|i| {
        f(i * PART, &mut parts[i].lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Where a flyer goes in a step, with its new velocity at the old place.
type Approach = ([f32; 2], Flyer);

impl Sand {
    /// Advances the scene by a step. `arrivals` are new grains in flight, with numbers that no other grain has.
    ///
    /// # Errors
    /// There are more grains than the array can hold.
    pub fn step(
        &mut self,
        forces: &Forces,
        arrivals: &[Flyer],
        executor: &dyn Executor,
    ) -> Result<(), PmaError> {
        if forces.lifted + forces.melted > 0 {
            self.erode(forces)?;
        }
        self.flying.extend_from_slice(arrivals);
        self.flying.sort_by_key(|flyer| flyer.id);
        let approaches = self.fly(forces, executor);
        self.read_blocks();
        self.land(approaches, executor);
        self.settle(forces, executor);
        self.wake();
        self.write()
    }

    /// Moves the flyers that are near nothing; returns the others, by number.
    fn fly(&mut self, forces: &Forces, executor: &dyn Executor) -> Vec<Approach> {
        let (size, time) = (self.settings.size, self.settings.step);
        let mut ways = vec![Approach::default(); self.flying.len()];
        let flying = &self.flying;
        fill(executor, &mut ways, |first, out| {
            for (out, flyer) in out.iter_mut().zip(&flying[first..]) {
                let mut flyer = *flyer;
                *out = (flyer.drift(forces, time), flyer);
            }
        });
        let (work, cells, solids) = (&mut self.work, &self.cells, &self.settings.solids);
        work.blocks.clear();
        self.flying.clear();
        let (mut approaches, mut gone) = (Vec::new(), 0);
        for (to, mut flyer) in ways {
            let first = work.blocks.len();
            let mut near = solids.floor && to[1] > size[1] - 1.0
                || solids.walls && !(1.0..=size[0] - 1.0).contains(&to[0]);
            for block in cells.blocks_between(flyer.at, to) {
                near |= cells.solid[block as usize];
                if cells.held[block as usize] > 0 {
                    work.blocks.push(block);
                }
            }
            if near || work.blocks.len() > first {
                approaches.push((to, flyer));
            } else if is_gone(to, size) {
                gone += 1;
            } else {
                flyer.at = to;
                self.flying.push(flyer);
            }
        }
        self.drained += gone;
        approaches
    }

    /// Reads the grains of all blocks around awake grains and approaching flyers.
    fn read_blocks(&mut self) {
        let (work, cells) = (&mut self.work, &mut self.cells);
        for block in &self.active {
            work.blocks.extend(cells.blocks_around(*block).filter(|b| cells.held[*b as usize] > 0));
        }
        work.marked.resize(cells.held.len(), false);
        let marked = &mut work.marked;
        work.blocks.retain(|b| !core::mem::replace(&mut marked[*b as usize], true));
        work.blocks.iter().for_each(|b| marked[*b as usize] = false);
        work.blocks.sort_unstable();
        work.sleepers.clear();
        work.start.clear();
        work.sleeping_in.clear();
        work.velocities.clear();
        work.homes.clear();
        work.still.clear();
        work.carried.clear();
        for run in work.blocks.chunk_by(|a, b| a + 1 == *b) {
            let range = run[0] << 6..(run[run.len() - 1] + 1) << 6;
            self.array.read(range, |number, slot, grain| {
                let body = Body::new(grain.id, grain.at);
                let cell = cells.cell_mut(number);
                if grain.still >= ASLEEP {
                    let n = work.sleepers.len() as u32;
                    if cell.sleepers[0] == cell.sleepers[1] {
                        cell.sleepers[0] = n;
                    }
                    cell.sleepers[1] = n + 1;
                    work.sleepers.push(body);
                    work.sleeping_in.push(Home { slot, cell: number });
                } else {
                    cell.count += 1;
                    work.start.push(body);
                    work.velocities.push(grain.velocity);
                    work.homes.push(Home { slot, cell: number });
                    work.still.push(grain.still);
                    work.carried.push(grain.is_carried);
                }
            });
        }
    }

    /// Follows the flyers that are near something; those that hit it become awake grains.
    fn land(&mut self, approaches: Vec<Approach>, executor: &dyn Executor) {
        let (work, size) = (&mut self.work, self.settings.size);
        if approaches.is_empty() {
            return;
        }
        self.cells.link(&work.start, &mut work.links);
        let mut ends = vec![End::Gone; approaches.len()];
        let awake = work.start.len();
        let around = Surroundings {
            size,
            solids: &self.settings.solids,
            cells: &self.cells,
            sleepers: &work.sleepers,
            awake: &work.start,
            carried: &work.carried,
            links: &work.links,
        };
        fill(executor, &mut ends, |first, ends| {
            for ((to, flyer), end) in approaches[first..].iter().zip(ends) {
                *end = flyer.follow(*to, &around);
            }
        });
        for ((_, mut flyer), end) in approaches.into_iter().zip(ends) {
            match end {
                End::Gone => self.drained += 1,
                End::Flying(at) => {
                    flyer.at = at;
                    self.flying.push(flyer);
                }
                End::Landed(at) => {
                    let body = Body::new(flyer.id, at);
                    // Another one may have landed here in this step: then it waits.
                    let mut taken = false;
                    self.cells.around(at, |cell| {
                        let mut j = cell.awake;
                        while j != NONE {
                            taken |= j as usize >= awake && body.is_near(&work.start[j as usize], 0.0);
                            j = work.links[j as usize];
                        }
                    });
                    if taken {
                        flyer.at = at;
                        flyer.velocity = [0.0; 2];
                        self.flying.push(flyer);
                        continue;
                    }
                    work.start.push(body);
                    work.links.push(NONE);
                    self.cells.link_one(&work.start, &mut work.links, work.start.len() - 1);
                    work.velocities.push(flyer.landed_velocity(fastest(self.settings.step)));
                    work.homes.push(Home { slot: Slot::MAX, cell: u32::MAX });
                    // A grain that hops in a hollow comes to rest.
                    let [vx, vy] = flyer.velocity;
                    work.still.push(if vx * vx + vy * vy < HOP * HOP { ASLEEP - 8 } else { 0 });
                    work.carried.push(false);
                }
            }
        }
        self.cells.unlink();
        for body in &work.start[awake..] {
            let number = self.cells.number(body.at);
            self.cells.cell_mut(number).count += 1;
        }
        // The sort is stable and fast on runs in order.
        self.flying.sort_by_key(|flyer| flyer.id);
    }

    /// Moves the awake grains in short steps.
    fn settle(&mut self, forces: &Forces, executor: &dyn Executor) {
        let work = &mut self.work;
        let count = work.start.len();
        work.surfaces.clear();
        work.surfaces.resize(count, None);
        let (cells, start, velocities) = (&self.cells, &work.start, &work.velocities);
        fill(executor, &mut work.surfaces, |first, out| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = surface(cells, &start[first + k], velocities[first + k]);
            }
        });
        work.contacts.clear();
        work.contacts.resize(count, NO_CONTACTS);
        work.now.clear();
        work.now.extend_from_slice(&work.start);
        work.next.resize(count, Body::default());
        for _ in 0..SHORT_STEPS {
            work.before.clear();
            work.before.extend_from_slice(&work.now);
            let time = self.settings.step / SHORT_STEPS as f32;
            for (body, velocity) in work.now.iter_mut().zip(&mut work.velocities) {
                predict(body, velocity, forces.gravity, time);
            }
            self.cells.link(&work.now, &mut work.links);
            let step = ShortStep {
                size: self.settings.size,
                solids: &self.settings.solids,
                cells: &self.cells,
                sleepers: &work.sleepers,
                friction: [INSIDE, surface_friction(self.settings.friction)],
                gravity: forces.gravity,
                time,
            };
            fill(executor, &mut work.contacts, |first, out| {
                for (k, out) in out.iter_mut().enumerate() {
                    step.find(&work.now, &work.links, first + k, out);
                }
            });
            for _ in 0..ITERATIONS {
                fill(executor, &mut work.next, |first, out| {
                    for (k, out) in out.iter_mut().enumerate() {
                        let i = first + k;
                        *out = step.correct(
                            &work.before,
                            &work.now,
                            &work.contacts[i],
                            work.surfaces[i].is_some(),
                            i,
                        );
                    }
                });
                core::mem::swap(&mut work.now, &mut work.next);
            }
            fill(executor, &mut work.velocities, |first, out| {
                for (k, out) in out.iter_mut().enumerate() {
                    let i = first + k;
                    *out =
                        step.velocity(&work.before, &work.now, &work.contacts[i], work.surfaces[i], *out, i);
                }
            });
            core::mem::swap(&mut work.carried, &mut work.carried_before);
            work.carried.resize(count, false);
            let before = &work.carried_before;
            fill(executor, &mut work.carried, |first, out| {
                for (k, out) in out.iter_mut().enumerate() {
                    *out = step.is_carried(&work.now, &work.contacts[first + k], before, first + k);
                }
            });
            self.cells.unlink();
        }
    }

    /// Marks the sleeping grains that wake: those that are pressed, and those whose neighbours moved away.
    fn wake(&mut self) {
        let work = &mut self.work;
        work.woken.clear();
        work.woken.resize(work.sleepers.len(), false);
        for (i, contacts) in work.contacts.iter().enumerate() {
            let (from, to) = (&work.start[i], &work.now[i]);
            for j in contacts.sleepers() {
                work.woken[j] |= to.is_near(&work.sleepers[j], -PRESSES);
            }
            let by = [to.at[0] - from.at[0], to.at[1] - from.at[1]];
            if by[0] * by[0] + by[1] * by[1] > STIRS * STIRS {
                self.cells.around(from.at, |cell| {
                    for j in cell.sleepers[0] as usize..cell.sleepers[1] as usize {
                        let other = &work.sleepers[j];
                        let above = other.at[1] - from.at[1] < 0.2 * (from.radius + other.radius);
                        work.woken[j] |= above && from.is_near(other, 0.05);
                    }
                });
            }
        }
    }

    /// Writes back what has changed.
    fn write(&mut self) -> Result<(), PmaError> {
        let (work, size) = (&mut self.work, self.settings.size);
        // Three fifths more than short steps can follow: it has fallen for some steps.
        let fastest = 1.6 * fastest(self.settings.step);
        self.active.clear();
        work.batch.clear();
        for (home, woken) in work.sleeping_in.iter().zip(&work.woken) {
            let cell = self.cells.cell_mut(home.cell);
            cell.sleepers = [0; 2];
            if *woken {
                let grain = self.array.payload_mut(home.slot);
                (grain.still, grain.is_carried) = (0, true);
                self.active.push(home.cell >> 6);
            }
        }
        for (i, home) in work.homes.iter().enumerate() {
            let (from, to, velocity) = (&work.start[i], &work.now[i], work.velocities[i]);
            let number = self.cells.number(from.at);
            self.cells.cell_mut(number).count = 0;
            self.changed[number as usize >> 6] = true;
            let stays = is_inside(to.at, size);
            let speed2 = velocity[0] * velocity[0] + velocity[1] * velocity[1];
            let falls = !work.carried[i] && speed2 > fastest * fastest;
            if !stays || falls || !work.contacts[i].touched {
                self.drained += u64::from(!stays);
                if stays {
                    self.flying.push(Flyer { id: to.id, at: to.at, velocity });
                }
                if home.slot != Slot::MAX {
                    work.batch.removes.push(home.slot);
                    self.cells.held[home.cell as usize >> 6] -= 1;
                }
                continue;
            }
            let by = [to.at[0] - from.at[0], to.at[1] - from.at[1]];
            let far = (by[0] * by[0] + by[1] * by[1]).sqrt();
            let limit = if work.surfaces[i].is_some() { STILL } else { STILL_INSIDE };
            let still = match far {
                far if far < limit => work.still[i] + 4,
                far if far < ROLLS => work.still[i] + 1,
                _ => work.still[i].saturating_sub(4),
            };
            let velocity = if still >= ASLEEP { [0.0; 2] } else { velocity };
            let grain = Grain { id: to.id, at: to.at, velocity, still, is_carried: work.carried[i] };
            let cell = self.cells.number(to.at);
            let block = cell as usize >> 6;
            self.changed[block] = true;
            if home.slot == Slot::MAX {
                work.batch.inserts.push((cell, grain));
                self.cells.held[block] += 1;
            } else {
                *self.array.payload_mut(home.slot) = grain;
                if cell != home.cell {
                    work.batch.moves.push((home.slot, cell));
                    self.cells.held[home.cell as usize >> 6] -= 1;
                    self.cells.held[block] += 1;
                }
            }
            if still < ASLEEP {
                self.active.push(block as u32);
            }
        }
        self.flying.sort_by_key(|flyer| flyer.id);
        self.active.sort_unstable();
        self.active.dedup();
        self.array.apply(&work.batch)
    }
}

/// The highest velocity that short steps can follow.
fn fastest(step: f32) -> f32 {
    FASTEST * SHORT_STEPS as f32 / step
}

/// The friction on the surface that makes piles as steep as they should be: measured (see the tests).
fn surface_friction(slope: f32) -> f32 {
    const MEASURED: [[f32; 2]; 6] =
        [[0.54, 0.04], [0.64, 0.2], [0.735, 0.4], [0.87, 0.6], [1.09, 0.8], [1.325, 1.0]];
    let above = MEASURED[1..5].iter().take_while(|m| m[0] < slope).count();
    let ([a, low], [b, high]) = (MEASURED[above], MEASURED[above + 1]);
    low + (high - low) * (slope - a) / (b - a)
}
