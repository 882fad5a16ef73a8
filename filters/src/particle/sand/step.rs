//! A step of all grains.

use super::cells::{Near, is_inside};
use super::contact::{Contacts, FASTEST, GAP, ITERATIONS, NO_CONTACTS, ShortStep, predict};
use super::flight::{End, Surroundings, is_gone};
use super::grain::{Body, Flyer, Grain, Motion};
use super::slope::{Place, place};
use super::{ASLEEP, Forces, Sand};
use crate::host::{Executor, lock};
use crate::pma::{CellBatch, PmaError, Slot};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

/// Short steps per step.
const SHORT_STEPS: usize = 2;
/// Friction between grains inside a pile.
const INSIDE: f32 = 0.2;
/// The fall in a step under the gravity for which the distances below hold, in diameters; they scale with gravity.
const FALL: f32 = 0.217;
/// A grain that moves less than this in a step counts as still, in diameters: on the surface, and inside a pile, where
/// the corrections do not come to rest.
const STILL: f32 = 0.02;
const STILL_INSIDE: f32 = 0.05;
/// A grain that moves farther than this rolls or falls; a slower one creeps.
const ROLLS: f32 = 0.15;
/// A flyer that is slower than this when it lands has only hopped, in diameters a second.
const HOP: f32 = 20.0;
/// A flyer that is this much faster than short steps can follow glances off what it hits.
const GLANCES: f32 = 1.5;
/// A grain that moves farther than this wakes those beside and above it.
const STIRS: f32 = 0.06;
/// A grain wakes one that it presses by this much.
const PRESSES: f32 = 0.4;
/// On a surface this much steeper than the angle of repose, a grain drags its neighbours along.
const STEEP: f32 = 1.6;
/// Bodies per task.
const PART: usize = 1024;

/// A grain's slot and cell at the start of the step; one that has just landed has no slot.
#[derive(Clone, Copy, Debug)]
struct Home {
    slot: Slot,
    cell: u32,
}

/// The lists of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// Sleepers around by cell, then the awake grains by cell, then those that have landed.
    bodies: Vec<Body>,
    /// The slot and cell of each body.
    homes: Vec<Home>,
    /// The number of sleepers.
    sleepers: usize,
    /// For each awake grain, the body after an iteration, its motion, its position at the start, and so on.
    next: Vec<Body>,
    motions: Vec<Motion>,
    start: Vec<[f32; 2]>,
    contacts: Vec<Contacts>,
    places: Vec<Place>,
    awake_homes: Vec<Home>,
    /// Carried grains whose neighbours have not been visited.
    carried: Vec<usize>,
    /// The blocks that are read.
    blocks: Vec<u32>,
    pub(super) batch: CellBatch<Grain>,
}

impl Workspace {
    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * (size_of::<Body>() + size_of::<Home>())
            + self.next.capacity() * (size_of::<Body>() + size_of::<Contacts>() + 64)
    }
}

/// Fills `out` in parts at the same time: `f` gets the index of each part's first item, and the part.
fn fill<T: Send>(executor: &dyn Executor, out: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
    if out.len() <= PART {
        return f(0, out);
    }
    let parts: Vec<Mutex<&mut [T]>> = out.chunks_mut(PART).map(Mutex::new).collect();
    executor.execute(parts.len(), &|i| {
        f(i * PART, &mut lock(&parts[i]));
    });
}

/// A flyer in a step, with its new velocity at the old place.
#[derive(Clone, Copy, Default)]
struct Approach {
    flyer: Flyer,
    to: [f32; 2],
    /// Whether grains or something solid are on the way.
    is_near: bool,
}

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
        if forces.drain != self.drain() {
            self.drain_to(forces.drain);
        }
        if forces.lifted + forces.melted + forces.shaken > 0 {
            self.erode(forces)?;
        }
        self.flying.extend_from_slice(arrivals);
        self.flying.sort_by_key(|flyer| flyer.id);
        let approaches = self.fly(forces, executor);
        self.read_blocks();
        self.land(approaches, executor);
        self.settle(forces, executor);
        self.carry();
        self.rest(forces, executor);
        self.write()
    }

    /// Moves the flyers that are near nothing; returns the others, by number.
    fn fly(&mut self, forces: &Forces, executor: &dyn Executor) -> Vec<Approach> {
        let (size, time) = (self.settings.size, self.settings.step);
        let mut ways = vec![Approach::default(); self.flying.len()];
        let (flying, cells) = (&self.flying, &self.cells);
        fill(executor, &mut ways, |first, out| {
            for (out, flyer) in out.iter_mut().zip(&flying[first..]) {
                let mut flyer = *flyer;
                let to = flyer.drift(forces, time);
                let mut held = cells.blocks_between(flyer.at, to).map(|block| cells.block_holds(block));
                let is_near = held.any(|(grains, solid)| grains || solid);
                *out = Approach { flyer, to, is_near };
            }
        });
        let work = &mut self.work;
        work.blocks.clear();
        self.flying.clear();
        let is_kept = |way: &Approach| {
            let Approach { mut flyer, to, is_near } = *way;
            if is_near {
                let held = cells.blocks_between(flyer.at, to).filter(|block| cells.block_holds(*block).0);
                work.blocks.extend(held);
            } else if is_gone(to, size) {
                self.drained += 1;
            } else {
                flyer.at = to;
                self.flying.push(flyer);
            }
            is_near
        };
        ways.retain(is_kept);
        ways
    }

    /// Reads the grains of all blocks around awake grains and approaching flyers.
    fn read_blocks(&mut self) {
        let (work, cells) = (&mut self.work, &mut self.cells);
        for block in &self.active {
            work.blocks.extend(cells.blocks_around(*block).filter(|b| cells.block_holds(*b).0));
        }
        work.blocks.sort_unstable();
        work.blocks.dedup();
        work.bodies.clear();
        work.homes.clear();
        work.next.clear();
        work.awake_homes.clear();
        work.motions.clear();
        for run in work.blocks.chunk_by(|a, b| a + 1 == *b) {
            let range = run[0] * 16..(run[run.len() - 1] + 1) * 16;
            self.array.read(range, |cell, slot, grain| {
                let (body, home) = (Body::new(grain.id, grain.at), Home { slot, cell });
                let Grain { velocity, still, is_carried, .. } = *grain;
                if still >= ASLEEP {
                    cells.add_sleeper(cell, work.bodies.len());
                    work.bodies.push(body);
                    work.homes.push(home);
                } else {
                    work.next.push(body);
                    work.awake_homes.push(home);
                    work.motions.push(Motion { velocity, still, is_carried, lies: false });
                }
            });
        }
        work.sleepers = work.bodies.len();
        work.bodies.extend_from_slice(&work.next);
        work.homes.extend_from_slice(&work.awake_homes);
    }

    /// Follows the flyers that are near something; those that hit it become awake grains.
    fn land(&mut self, approaches: Vec<Approach>, executor: &dyn Executor) {
        let (work, size) = (&mut self.work, self.settings.size);
        if approaches.is_empty() {
            return;
        }
        let (sleepers, awake) = (work.sleepers, work.bodies.len());
        self.cells.add_awake(&work.bodies[sleepers..], sleepers);
        let mut ends = vec![End::Gone; approaches.len()];
        let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
        let around = Surroundings {
            size,
            solids: &self.settings.solids,
            near,
            motions: &work.motions,
            fastest: GLANCES * fastest(self.settings.step),
        };
        fill(executor, &mut ends, |first, ends| {
            for (way, end) in approaches[first..].iter().zip(ends) {
                *end = way.flyer.follow(way.to, &around);
            }
        });
        for (Approach { mut flyer, .. }, end) in approaches.into_iter().zip(ends) {
            match end {
                End::Gone => self.drained += 1,
                End::Flying(at) => {
                    flyer.at = at;
                    self.flying.push(flyer);
                }
                End::Deflected(at, velocity) => self.flying.push(Flyer { at, velocity, ..flyer }),
                End::Landed(at) => {
                    let body = Body::new(flyer.id, at);
                    let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
                    // If another one has landed here in this step, it waits.
                    let mut taken = !is_inside(at, size);
                    near.around(at, |j, other| taken |= j >= awake && body.is_near(other, 0.0));
                    if taken {
                        flyer.at = at;
                        flyer.velocity = [0.0; 2];
                        self.flying.push(flyer);
                        continue;
                    }
                    self.cells.add_awake(&[body], work.bodies.len());
                    work.bodies.push(body);
                    work.homes.push(Home { slot: Slot::MAX, cell: self.cells.number(at) });
                    // A grain that hops in a hollow comes to rest.
                    let [vx, vy] = flyer.velocity;
                    let still = if vx * vx + vy * vy < HOP * HOP { ASLEEP - 8 } else { 0 };
                    let velocity = flyer.landed_velocity(fastest(self.settings.step));
                    work.motions.push(Motion { velocity, still, is_carried: false, lies: false });
                }
            }
        }
        self.cells.forget_awake();
        // They are part of the surface's slope.
        work.homes[awake..].iter().for_each(|home| self.cells.enter(home.cell));
        // The sort is stable and fast on runs in order.
        self.flying.sort_by_key(|flyer| flyer.id);
    }

    /// Moves the awake grains in short steps.
    fn settle(&mut self, forces: &Forces, executor: &dyn Executor) {
        let work = &mut self.work;
        let sleepers = work.sleepers;
        let count = work.bodies.len() - sleepers;
        work.places.resize(count, Place::Buried);
        let (cells, awake, motions) = (&self.cells, &work.bodies[sleepers..], &work.motions);
        fill(executor, &mut work.places, |first, out| {
            for (k, out) in (first..).zip(out) {
                *out = place(cells, &awake[k], motions[k].velocity);
            }
        });
        work.start.clear();
        work.start.extend(awake.iter().map(|body| body.at));
        work.contacts.clear();
        work.contacts.resize(count, NO_CONTACTS);
        work.next.resize(count, Body::default());
        let time = self.settings.step / SHORT_STEPS as f32;
        let step = ShortStep {
            size: self.settings.size,
            solids: &self.settings.solids,
            friction: [INSIDE, surface_friction(forces.friction)],
            gravity: forces.gravity,
            time,
        };
        for _ in 0..SHORT_STEPS {
            for (body, motion) in work.bodies[sleepers..].iter_mut().zip(&mut work.motions) {
                predict(body, &mut motion.velocity, forces.gravity, time);
            }
            self.cells.add_awake(&work.bodies[sleepers..], sleepers);
            let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
            fill(executor, &mut work.contacts, |first, out| {
                for (i, out) in (first + sleepers..).zip(out) {
                    step.find(&near, i, out);
                }
            });
            for _ in 0..ITERATIONS {
                let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
                fill(executor, &mut work.next, |first, out| {
                    for (k, out) in (first..).zip(out) {
                        let is_buried = work.places[k] == Place::Buried;
                        *out = step.correct(&near, &work.contacts[k], is_buried, k + sleepers);
                    }
                });
                work.bodies[sleepers..].copy_from_slice(&work.next);
            }
            let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
            fill(executor, &mut work.motions, |first, out| {
                for (k, out) in (first..).zip(out) {
                    *out = step.motion(&near, &work.contacts[k], work.places[k], *out, k + sleepers);
                }
            });
            self.cells.forget_awake();
        }
    }

    /// Marks the grains that are carried: those that lie on something, and those above them.
    fn carry(&mut self) {
        let Workspace { bodies, motions, contacts, carried, sleepers, .. } = &mut self.work;
        carried.clear();
        carried.extend((0..motions.len()).filter(|k| motions[*k].lies));
        motions.iter_mut().for_each(|motion| motion.is_carried = motion.lies);
        while let Some(k) = carried.pop() {
            for j in contacts[k].bodies().filter(|j| *j >= *sleepers) {
                let above = &mut motions[j - *sleepers];
                if !above.is_carried && bodies[j].at[1] < bodies[k + *sleepers].at[1] {
                    above.is_carried = true;
                    carried.push(j - *sleepers);
                }
            }
        }
    }

    /// Counts how long each grain has been still, and wakes sleeping ones: those that are pressed, and those whose
    /// neighbours have moved.
    fn rest(&mut self, forces: &Forces, executor: &dyn Executor) {
        let work = &mut self.work;
        let sleepers = work.sleepers;
        let woken: Vec<AtomicBool> = (0..sleepers).map(|_| AtomicBool::new(false)).collect();
        // Under weak gravity, grains start to move slowly.
        let fall = forces.gravity * self.settings.step * self.settings.step;
        let slow = (fall * (1.0 / FALL)).clamp(0.05, 1.0);
        let steep = STEEP * forces.friction;
        let wake = |j: usize| woken[j].store(true, Ordering::Relaxed);
        let near = Near { cells: &self.cells, bodies: &work.bodies, sleepers };
        fill(executor, &mut work.motions, |first, motions| {
            for (k, motion) in (first..).zip(motions) {
                let (body, from) = (&work.bodies[sleepers + k], work.start[k]);
                let by = [body.at[0] - from[0], body.at[1] - from[1]];
                let far2 = by[0] * by[0] + by[1] * by[1];
                let is_steep = matches!(work.places[k], Place::Surface([x, y]) if x.abs() > -y * steep)
                    && far2 > slow * slow * STIRS * STIRS;
                for j in work.contacts[k].bodies().filter(|j| *j < sleepers) {
                    if is_steep || body.is_near(&work.bodies[j], -PRESSES) {
                        wake(j);
                    }
                }
                if far2 > 1e-6 {
                    let before = Body { at: from, ..*body };
                    near.around(from, |j, other| {
                        let is_above = other.at[1] - from[1] < 0.2 * (body.radius + other.radius);
                        let leaves = far2 > slow * slow * STIRS * STIRS || !body.is_near(other, GAP);
                        if is_above && leaves && before.is_near(other, GAP) {
                            wake(j);
                        }
                    });
                }
                let limit = slow * if work.places[k] == Place::Buried { STILL_INSIDE } else { STILL };
                motion.still = match far2 {
                    _ if !motion.is_carried || work.places[k] == Place::Undermined => {
                        motion.still.saturating_sub(1)
                    }
                    far2 if far2 < limit * limit && work.contacts[k].is_held => motion.still + 4,
                    far2 if far2 < slow * slow * ROLLS * ROLLS => motion.still + 1,
                    _ => motion.still.saturating_sub(4),
                };
                if motion.still >= ASLEEP {
                    motion.velocity = [0.0; 2];
                }
            }
        });
        self.active.clear();
        for (woken, home) in woken.iter().zip(&work.homes) {
            if woken.load(Ordering::Relaxed) {
                let grain = self.array.payload_mut(home.slot);
                (grain.still, grain.is_carried) = (0, true);
                self.active.push(home.cell / 16);
            }
        }
        work.blocks.iter().for_each(|block| self.cells.forget_sleepers(*block));
    }

    /// Writes back what has changed.
    fn write(&mut self) -> Result<(), PmaError> {
        let (work, size) = (&mut self.work, self.settings.size);
        // A grain that is three fifths faster than short steps can follow has fallen for some steps.
        let fastest = 1.6 * fastest(self.settings.step);
        work.batch.clear();
        for (k, home) in work.homes[work.sleepers..].iter().enumerate() {
            let Body { at, id, .. } = work.bodies[work.sleepers + k];
            let Motion { velocity, still, is_carried, .. } = work.motions[k];
            self.changed[home.cell as usize >> 6] = true;
            let stays = is_inside(at, size);
            let speed2 = velocity[0] * velocity[0] + velocity[1] * velocity[1];
            let falls = !is_carried && speed2 > fastest * fastest;
            let cell = self.cells.number(at);
            let flies = falls || !work.contacts[k].touched;
            let is_new = home.slot == Slot::MAX;
            if cell != home.cell || !stays || flies {
                self.cells.leave(home.cell);
                if stays && !flies {
                    self.cells.enter(cell);
                }
            }
            if !stays || flies {
                self.drained += u64::from(!stays);
                if stays {
                    self.flying.push(Flyer { id, at, velocity });
                }
                if !is_new {
                    work.batch.removes.push(home.slot);
                }
                continue;
            }
            self.changed[cell as usize >> 6] = true;
            let grain = Grain { id, at, velocity, still, is_carried };
            if is_new {
                work.batch.inserts.push((cell, grain));
            } else {
                *self.array.payload_mut(home.slot) = grain;
                if cell != home.cell {
                    work.batch.moves.push((home.slot, cell));
                }
            }
            if still < ASLEEP {
                self.active.push(cell / 16);
            }
        }
        self.flying.sort_by_key(|flyer| flyer.id);
        let applied = self.array.apply(&work.batch);
        self.sort_active();
        applied
    }

    /// Wakes a sleeper. [`Sand::active`] is not sorted then.
    pub(super) fn wake(&mut self, slot: Slot, cell: u32) {
        let grain = self.array.payload_mut(slot);
        (grain.still, grain.is_carried) = (0, true);
        self.active.push(cell / 16);
    }

    pub(super) fn sort_active(&mut self) {
        self.active.sort_unstable();
        self.active.dedup();
    }
}

/// The highest velocity that short steps can follow.
fn fastest(step: f32) -> f32 {
    FASTEST * SHORT_STEPS as f32 / step
}

/// The friction on the surface that makes piles as steep as they should be: measured (see the tests).
pub(super) fn surface_friction(slope: f32) -> f32 {
    const MEASURED: [[f32; 2]; 5] = [[0.55, 0.0], [0.6, 0.1], [0.7, 0.32], [1.0, 0.8], [1.2, 1.06]];
    let above = MEASURED[1..4].iter().take_while(|m| m[0] < slope).count();
    let ([a, low], [b, high]) = (MEASURED[above], MEASURED[above + 1]);
    low + (high - low) * (slope - a) / (b - a)
}
