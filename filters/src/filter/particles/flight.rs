//! The position of a particle at an age, for its head, the opening of the shutter, its trail and the birth of its
//! children.
//!
//! In this order: [`Flight::at`] (start, gravity, friction), [`EffectState::drift`] (wind), [`BoundLayer::wrap_shift`],
//! [`BoundLayer::landing`] (the floor), [`BoundLayer::displaced`] (swirl and sway). Children need these for one particle;
//! `block.rs` has them for 64 at a time, in the same order of operations. `tests/reference.rs` completes the definition for
//! one particle, and compares the two bit for bit.

use super::bound_layer::{BoundLayer, EXTRA, EffectState};
use super::layer::Layer;
use crate::math::parabola;

/// The number of bisections for a moment within a part of a life.
const HALVINGS: u32 = 24;
/// The number of passes of a particle through the camera that are tested for the floor.
const PASSES: usize = 256;

/// The start of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flight {
    /// Its birthplace.
    pub(super) from: [f32; 3],
    /// Its velocity.
    pub(super) start: [f32; 3],
}

/// The effect of friction at an age: `[(1 - exp(-drag age)) / drag, exp(-drag age)]`.
#[inline(always)]
pub(super) fn friction(drag: f32, age: f32) -> [f32; 2] {
    let lost = libm::expm1f(-drag * age);
    [-lost / drag, 1.0 + lost]
}

impl Flight {
    /// The position at an age, in still air.
    pub(super) fn at(&self, layer: &Layer, age: f32) -> [f32; 3] {
        let drag = layer.drag;
        if drag > 0.0 {
            let [gone, _] = friction(drag, age);
            core::array::from_fn(|a| {
                self.from[a] + self.start[a] * gone + layer.pull[a] * (age - gone) / drag
            })
        } else {
            core::array::from_fn(|a| self.from[a] + (self.start[a] + layer.pull[a] * (0.5 * age)) * age)
        }
    }

    /// The velocity at an age, in still air.
    pub(super) fn velocity(&self, layer: &Layer, age: f32) -> [f32; 3] {
        let [gone, left] = if layer.drag > 0.0 { friction(layer.drag, age) } else { [age, 1.0] };
        core::array::from_fn(|a| self.start[a] * left + layer.pull[a] * gone)
    }
}

impl EffectState {
    /// The displacement by wind of a particle that was `age` old some seconds ago, for a layer that takes all of it.
    pub(super) fn drift(&self, age: f32, seconds_ago: f32) -> f32 {
        match &self.wind_offset {
            Some(wind_offset) => wind_offset(age + seconds_ago) - wind_offset(seconds_ago),
            None => self.wind * age,
        }
    }
}

/// The first moment from `low` on at which `reached` holds; it holds at `high`, and stays true.
fn first(mut low: f32, mut high: f32, reached: impl Fn(f32) -> bool) -> f32 {
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *if reached(middle) { &mut high } else { &mut low } = middle;
    }
    high
}

impl BoundLayer {
    /// The offset along an axis for a position that left at one side, so that it comes in at the other.
    #[inline(always)]
    pub(super) fn wrap_shift(&self, axis: usize, place: f32) -> f32 {
        let wrap = self.wrap[axis];
        if wrap > 0.0 { -wrap * ((place - self.middle[axis]) / wrap + 0.5).floor() } else { 0.0 }
    }

    /// The distance of a position below the floor.
    #[inline(always)]
    pub(super) fn below(line: f32, [_, y, z]: [f32; 3]) -> f32 {
        y - line * z
    }

    /// Whether no particle of the layer rises after falling to the floor: then a particle above the floor has not been
    /// there yet, and [`landing`](BoundLayer::landing) is not needed.
    pub(super) fn falls_once(&self) -> bool {
        let Some(floor) = self.layer.floor else { return true };
        let pull = self.layer.pull;
        let end = |r: f32| pull[1] - (floor.at(r) - 0.5) * pull[2] >= 0.0;
        self.wrap[2] <= 0.0 && end(-1.0) && end(1.0)
    }

    /// The age, up to `lived`, at which a particle falls to the floor at `line`.
    ///
    /// A life is cut where its depth or its distance to the floor has an extremum, and where it passes the camera and
    /// starts again at the far end: between two cuts there is at most one such moment.
    pub(super) fn landing(&self, flight: &Flight, line: f32, lived: f32) -> Option<f32> {
        let layer = &self.layer;
        let place = |age: f32| flight.at(layer, age);
        let depth_speed = |age: f32| flight.velocity(layer, age)[2];
        let fall = |age: f32| BoundLayer::below(line, flight.velocity(layer, age));
        let turn = |speed: &dyn Fn(f32) -> f32| {
            let starts = speed(0.0) > 0.0;
            if (speed(lived) > 0.0) == starts {
                lived
            } else {
                first(0.0, lived, |t| (speed(t) > 0.0) != starts)
            }
        };
        let (a, b) = (turn(&depth_speed), turn(&fall));
        let cuts = [0.0, a.min(b), a.max(b), lived];
        let shift = |age: f32| self.wrap_shift(2, place(age)[2]);
        let mut above = false;
        for cut in cuts.windows(2) {
            let mut low = cut[0];
            for _ in 0..PASSES {
                let now = shift(low);
                let high =
                    if shift(cut[1]) == now { cut[1] } else { first(low, cut[1], |t| shift(t) != now) };
                let down = |age: f32| {
                    let [x, y, z] = place(age);
                    BoundLayer::below(line, [x, y, z + now]) >= 0.0
                };
                match (down(low), down(high)) {
                    (true, _) if above => return Some(low),
                    (false, true) => return Some(first(low, high, down)),
                    (_, still) => above |= !still,
                }
                if high >= cut[1] {
                    break;
                }
                low = high;
            }
        }
        None
    }

    /// The position after swirl and sway of a particle at `place`, `age` old, some seconds ago. `phases` are the current
    /// ones.
    pub(super) fn displaced(
        &self,
        mut place: [f32; 3],
        (age, seconds_ago): (f32, f32),
        extra: &[f32; EXTRA],
        phases: &[f32],
    ) -> [f32; 3] {
        let layer = &self.layer;
        if layer.swirl > 0.0 {
            let grown = if layer.swirl_age > 0.0 { (age / layer.swirl_age).min(1.0) } else { 1.0 };
            let mut offset = [0.0f32; 3];
            for (w, phase) in self.waves.iter().zip(phases) {
                let phase = phase - w.rate as f32 * seconds_ago;
                let s = wave(
                    w.direction[0] * place[0] + w.direction[1] * place[1] + w.direction[2] * place[2] + phase,
                );
                for (offset, amplitude) in offset.iter_mut().zip(w.amplitude) {
                    *offset += amplitude * s;
                }
            }
            for (place, offset) in place.iter_mut().zip(offset) {
                *place += offset * grown;
            }
        }
        if layer.sway != [0.0; 2] {
            let turn = layer.sway_rate * (1.0 + 0.3 * extra[4]) * age;
            place[0] += layer.sway[0] * wave(turn + extra[4]);
            place[1] += layer.sway[1] * wave(2.0 * turn + extra[3]);
        }
        place
    }
}

/// `sin` of turns, to within 2e-4: only + and *, with the same bits on all machines.
#[inline(always)]
pub(super) fn wave(turns: f32) -> f32 {
    // Corrected towards the sine.
    let p = parabola(turns);
    p * (0.775 + 0.225 * p.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand small steps in f64 with the speed of their middle: an error of a few parts in a million.
    #[test]
    fn a_flight_follows_gravity_and_friction() {
        let flight = Flight { from: [0.3, -0.2, 1.5], start: [0.7, -1.1, 0.05] };
        for drag in [0.0f32, 0.02, 0.8, 5.0] {
            let layer = Layer { pull: [0.1, 1.6, -0.2], drag, ..Layer::default() };
            for age in [0.0f32, 0.01, 0.6, 4.0] {
                let dt = f64::from(age) / 1000.0;
                let (at, speed) = (flight.at(&layer, age), flight.velocity(&layer, age));
                for a in 0..3 {
                    let (mut p, mut v) = (f64::from(flight.from[a]), f64::from(flight.start[a]));
                    let pull = |v: f64| f64::from(layer.pull[a]) - f64::from(drag) * v;
                    for _ in 0..1000 {
                        let middle = v + 0.5 * dt * pull(v);
                        p += dt * middle;
                        v += dt * pull(middle);
                    }
                    assert!((f64::from(at[a]) - p).abs() < 1e-4, "{drag} {age} {a}: {} {p}", at[a]);
                    assert!((f64::from(speed[a]) - v).abs() < 1e-4, "{drag} {age} {a}: {} {v}", speed[a]);
                }
            }
        }
    }
}
