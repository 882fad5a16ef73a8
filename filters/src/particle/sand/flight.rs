//! Grains in flight: they fall, drift and swirl without touching each other, until they land.

use super::Forces;
use super::cells::{Near, is_inside};
use super::grain::{Body, Flyer, Motion};
use super::solids::Solids;
use crate::noise::seed::{GOLDEN, mix64};

/// The longest distance between two tests on the way, in diameters.
const STRIDE: f32 = 0.4;
/// The part of the contact distance at which a flyer hits a grain.
const HIT: f32 = 0.98;
/// The fraction of its velocity along a surface that a flyer keeps as it glances off.
const GLANCES: f32 = 0.6;
/// The velocity that is kept on landing.
const LANDED: f32 = 0.3;
/// The size of a swirl in diameters.
const SWIRL: f32 = 48.0;

/// The end of a flyer's motion in a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    /// It flies on from here.
    Flying([f32; 2]),
    /// It has glanced off a surface here, and continues at this velocity.
    Deflected([f32; 2], [f32; 2]),
    /// It has landed here.
    Landed([f32; 2]),
    /// It has left the grid.
    Gone,
}

/// A smooth random number, -1 to 1, at a place of a lattice of `SWIRL` diameters that changes once a second.
fn potential(seed: u64, at: [f32; 2], time: f32) -> f32 {
    let place = [at[0] * (1.0 / SWIRL), at[1] * (1.0 / SWIRL), time];
    let whole = place.map(libm::floorf);
    let [x, y, t] = [0, 1, 2].map(|a: usize| {
        let f = place[a] - whole[a];
        f * f * f * (f * (f * 6.0 - 15.0) + 10.0)
    });
    let value = |i: i64, j: i64, k: i64| {
        let corner = [whole[0] as i64 + i, whole[1] as i64 + j, whole[2] as i64 + k];
        let hash = corner.iter().fold(seed, |h, v| mix64(h ^ *v as u64).wrapping_add(GOLDEN));
        (mix64(hash) >> 40) as f32 * (2.0 / (1u32 << 24) as f32) - 1.0
    };
    let mix = |a: f32, b: f32, f: f32| a + (b - a) * f;
    let plane =
        |k: i64| mix(mix(value(0, 0, k), value(1, 0, k), x), mix(value(0, 1, k), value(1, 1, k), x), y);
    mix(plane(0), plane(1), t)
}

/// The velocity of the air, of which the swirling part is free of divergence: the curl of a random potential.
fn air(forces: &Forces, at: [f32; 2]) -> [f32; 2] {
    if forces.gusts == 0.0 {
        return [forces.wind, 0.0];
    }
    const D: f32 = 0.5;
    // The air moves with the wind.
    let at = [at[0] - forces.wind * forces.time, at[1]];
    let p = |dx: f32, dy: f32| potential(forces.seed, [at[0] + dx, at[1] + dy], forces.time);
    let scale = forces.gusts * SWIRL * 0.5;
    [forces.wind + (p(0.0, D) - p(0.0, -D)) * scale, (p(-D, 0.0) - p(D, 0.0)) * scale]
}

/// The bodies and solids that a flyer may hit.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) size: [f32; 2],
    pub(super) solids: &'a Solids,
    pub(super) near: Near<'a>,
    /// The motions of the awake bodies.
    pub(super) motions: &'a [Motion],
    /// The velocity along a surface above which a flyer glances off, in diameters a second.
    pub(super) fastest: f32,
}

impl Flyer {
    /// Changes the velocity over `time` seconds and returns the place at their end.
    pub(super) fn drift(&mut self, forces: &Forces, time: f32) -> [f32; 2] {
        let air = air(forces, self.at);
        // The drag acts at the end of the step, so that any strength is stable.
        let part = 1.0 / (1.0 + forces.drag * time);
        let pull = [0.0, forces.gravity];
        self.velocity =
            [0, 1].map(|a: usize| (self.velocity[a] + (pull[a] + forces.drag * air[a]) * time) * part);
        [0, 1].map(|a: usize| self.at[a] + self.velocity[a] * time)
    }

    /// Moves a flyer to a place, through awake bodies that nothing carries.
    pub(super) fn follow(&self, to: [f32; 2], around: &Surroundings<'_>) -> End {
        let Surroundings { size, solids, near, motions, fastest } = *around;
        let way = [to[0] - self.at[0], to[1] - self.at[1]];
        let steps = ((way[0] * way[0] + way[1] * way[1]).sqrt() * (1.0 / STRIDE)) as u32 + 1;
        let mut body = Body::new(self.id, self.at);
        for k in 1..=steps {
            let part = k as f32 / steps as f32;
            let last = body.at;
            body.at = [self.at[0] + way[0] * part, self.at[1] + way[1] * part];
            // The deepest contact has the smallest gap.
            let (mut normal, mut least) = ([0.0f32; 2], f32::MAX);
            if near.cells.is_near_solid(body.at) {
                solids.contacts(&body, 0.0, size, |(n, overlap)| {
                    if -overlap < least {
                        (normal, least) = (n, -overlap);
                    }
                });
            }
            near.around(body.at, |j, other| {
                // A body that falls does not stop a flyer.
                let catches = j < near.sleepers || motions[j - near.sleepers].is_carried;
                let [dx, dy] = [body.at[0] - other.at[0], body.at[1] - other.at[1]];
                let distance = (dx * dx + dy * dy).sqrt();
                let gap = distance - other.radius - body.radius * (2.0 * HIT - 1.0);
                if catches && gap < 0.0 && gap < least {
                    let scale = 1.0 / distance.max(1e-6);
                    (normal, least) = ([dx * scale, dy * scale], gap);
                }
            });
            if least < f32::MAX {
                let along = self.velocity[0] * normal[0] + self.velocity[1] * normal[1];
                let slide = [0, 1].map(|a: usize| GLANCES * (self.velocity[a] - along * normal[a]));
                let is_fast = slide[0] * slide[0] + slide[1] * slide[1] > fastest * fastest;
                return match is_inside(last, size) {
                    true if is_fast => End::Deflected(last, slide),
                    true => End::Landed(last),
                    false => End::Gone,
                };
            }
            if is_gone(body.at, size) {
                return End::Gone;
            }
        }
        End::Flying(body.at)
    }

    pub(super) fn landed_velocity(&self, most: f32) -> [f32; 2] {
        let [x, y] = self.velocity.map(|v| v * LANDED);
        let speed = (x * x + y * y).sqrt();
        let part = if speed > most { most / speed } else { 1.0 };
        [x * part, y * part]
    }
}

/// Whether a flyer has left for good: it may be far above the frame, but not beside or below it.
pub(super) fn is_gone([x, y]: [f32; 2], size: [f32; 2]) -> bool {
    !is_inside([x, y.max(0.0)], size)
}
