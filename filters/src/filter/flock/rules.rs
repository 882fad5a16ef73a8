//! One step of the agents: neighbour search and steering.
//!
//! Lengths are frame heights, times seconds; x is to the right, y down and z away from the camera.

pub(super) use super::near::Agent;
use super::near::{Cells, Near, Reach, Sorted, near};
use super::vector::{V, add, angle, cross, dot, mul, sub, unit, wave};
use crate::host::{Executor, lock};
use crate::math::smooth;
use crate::noise::Rng;
use crate::noise::seed::{GOLDEN, mix64};
use crate::particle::fluid::SignedDistanceField;
use crate::simd::{Level, multiversion};
use std::sync::{Arc, Mutex};

/// The number of waves of the wind.
pub(super) const MODES: usize = 5;
/// The number of agents per task.
pub(super) const AGENTS_PER_TASK: usize = 512;

/// Time constants in seconds.
pub(super) const ALIGNMENT_TIME: f32 = 0.30;
pub(super) const COHESION_TIME: f32 = 0.60;
pub(super) const SEPARATION_TIME: f32 = 0.10;
pub(super) const SPEED_TIME: f32 = 0.5;
/// The distances at which agents avoid a predator or a threat, and an obstacle.
pub(super) const FLEE_DISTANCE: f32 = 0.32;
pub(super) const MARGIN: f32 = 0.07;

/// The fastest roll, in turns per second: about 8 degrees per frame of a film.
pub(super) const ROLL_RATE: f32 = 0.53;

/// Distance of the camera from the nearest agents, in frame heights.
pub(super) const CAMERA: f32 = 1.6;

/// The magnification of an object `z` behind the plane of the frame.
#[inline(always)]
pub(super) fn scale(z: f32) -> f32 {
    CAMERA / (CAMERA + z)
}

/// One wave of the wind: its effect and its motion.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Mode {
    /// Waves per frame height along each axis.
    pub(super) k: V,
    /// Perpendicular to `k`, so that the wind has no divergence.
    pub(super) direction: V,
    /// Turns per second, and the phase at the start.
    pub(super) rate: f64,
    pub(super) phase: f64,
}

/// The parameters of a step.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// The numbers of agents and of predators after them.
    pub(super) agents: usize,
    pub(super) predators: usize,
    pub(super) seed: u64,
    /// Width of the frame.
    pub(super) aspect: f32,
    /// The duration of a step in seconds.
    pub(super) dt: f32,
    pub(super) speed: f32,
    /// The distance at which an agent sees others, and the distance of separation.
    pub(super) perception_radius: f32,
    pub(super) separation_radius: f32,
    pub(super) separation: f32,
    pub(super) alignment: f32,
    pub(super) cohesion: f32,
    pub(super) wander: f32,
    pub(super) erratic: f32,
    /// Random changes of direction per second.
    pub(super) wander_rate: f64,
    /// How strongly all circle around the home in one direction.
    pub(super) circle: f32,
    pub(super) waves: f32,
    pub(super) pull: f32,
    /// The damping of vertical speed per second.
    pub(super) vertical_damping: f32,
    /// The largest acceleration, in speeds per second.
    pub(super) agility: f32,
    /// Up, tilted towards the camera in a view from below.
    pub(super) up: V,
    /// The half axes of the home.
    pub(super) home: V,
    pub(super) wind: [Mode; MODES],
    pub(super) solid: Option<Arc<SignedDistanceField>>,
}

/// The state besides the agents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct StepState {
    /// The number of steps so far.
    pub(super) step: u64,
    /// The centre of the home.
    pub(super) home: V,
    /// The threat, in the plane of the frame.
    pub(super) threat: Option<[f32; 2]>,
}

/// The quantities of a step that are the same for all agents.
pub(super) struct StepWind {
    pub(super) phases: [f32; MODES],
    /// The position, direction and strength of the wave of turns.
    pub(super) front: f32,
    pub(super) direction: V,
    pub(super) wander_phase: f64,
}

/// Seconds between waves of turns.
const WAVES: f64 = 2.6;

impl Rules {
    pub(super) fn step_wind(&self, step: u64) -> StepWind {
        let t = step as f64 * f64::from(self.dt);
        let fraction = |v: f64| (v - libm::floor(v)) as f32;
        let event = libm::floor(t / WAVES);
        let mut rng = Rng::new(self.seed ^ 0x7761_7665, event as u64);
        let direction = unit(
            [rng.range(-1.0, 1.0) as f32, rng.range(-0.5, 0.5) as f32, rng.range(-0.6, 0.6) as f32],
            [1.0, 0.0, 0.0],
        );
        StepWind {
            phases: self.wind.map(|m| fraction(t * m.rate + m.phase)),
            // From one side of the home to the other, and beyond.
            front: (-1.7 + 3.4 * (t / WAVES - event)) as f32,
            direction,
            wander_phase: t * self.wander_rate,
        }
    }

    /// The wind at a position, with a length of about 1.
    #[inline(always)]
    pub(super) fn wind(&self, step_wind: &StepWind, at: V) -> V {
        let mut sum = [0.0; 3];
        for (mode, phase) in self.wind.iter().zip(step_wind.phases) {
            sum = add(sum, mul(mode.direction, wave(dot(mode.k, at) + phase)));
        }
        sum
    }

    /// The individual direction of an agent: a vector of length up to 1 that changes smoothly.
    #[inline(always)]
    pub(super) fn wander_noise(&self, step_wind: &StepWind, id: u64) -> V {
        let own = mix64(self.seed ^ id.wrapping_mul(GOLDEN));
        let at = step_wind.wander_phase + (own >> 40) as f64 / (1 << 24) as f64;
        // Times are not below zero.
        let knot = at as i64;
        let u = smooth((at - knot as f64) as f32);
        let vector = |knot: u64| {
            let bits = mix64(own.wrapping_add(knot.wrapping_mul(0xd129_0d3b_3c1f_9a55)));
            let part = |shift: u32| ((bits >> shift) & 0x1f_ffff) as i32 as f32 / (1 << 20) as f32 - 1.0;
            [part(0), part(21), part(42)]
        };
        let (a, b) = (vector(knot as u64), vector((knot as u64).wrapping_add(1)));
        add(a, mul(sub(b, a), u))
    }

    /// The effect of a wave of turns on an agent, 0 to 1.
    #[inline(always)]
    pub(super) fn turn(&self, step_wind: &StepWind, out_of_home: V) -> f32 {
        let along = dot(step_wind.direction, out_of_home) - step_wind.front;
        let w = 1.0 - along * along * 12.0;
        if w > 0.0 { w * w * self.waves } else { 0.0 }
    }

    /// The individual speed of an agent.
    #[inline(always)]
    pub(super) fn own_speed(&self, id: u64) -> f32 {
        let part = (mix64(self.seed ^ id.wrapping_mul(0x2545_f491_4f6c_dd1d)) >> 40) as i32 as f32
            / (1 << 24) as f32;
        self.speed * (0.9 + 0.2 * part)
    }

    /// The position relative to the home, in its half axes.
    #[inline(always)]
    fn out_of_home(&self, now: &StepState, p: V) -> V {
        let from = sub(p, now.home);
        [from[0] / self.home[0], from[1] / self.home[1], from[2] / self.home[2]]
    }

    /// The acceleration of an agent without neighbours.
    #[inline(always)]
    pub(super) fn solitary_steering(
        &self,
        step_wind: &StepWind,
        now: &StepState,
        id: u64,
        own: f32,
        p: V,
        v: V,
    ) -> V {
        let part = self.out_of_home(now, p);
        let out = dot(part, part).sqrt();
        let mut acc = [0.0; 3];
        // Home: without effect in its centre.
        let back = ((out - 0.45) * 2.0).clamp(0.0, 3.0) * self.pull;
        let inwards = unit([-part[0], -part[1], -part[2]], [0.0; 3]);
        acc = add(acc, mul(inwards, back * own * 2.2));
        if self.circle > 0.0 {
            acc = add(acc, mul(cross(self.up, inwards), self.circle * own * out.min(1.0)));
        }
        acc = add(acc, mul(self.wind(step_wind, p), self.wander * own * 1.6));
        if self.erratic > 0.0 {
            acc = add(acc, mul(self.wander_noise(step_wind, id), self.erratic * own * 9.0));
        }
        if self.waves > 0.0 {
            acc = add(acc, mul(step_wind.direction, -self.turn(step_wind, part) * own * 3.0));
        }
        // Level flight.
        acc = sub(acc, mul(self.up, dot(v, self.up) * self.vertical_damping));
        let fast = dot(v, v).sqrt();
        add(acc, mul(unit(v, [1.0, 0.0, 0.0]), (own - fast) / SPEED_TIME))
    }

    /// Avoidance of predators, the threat and the obstacle.
    #[inline(always)]
    pub(super) fn avoidance(&self, now: &StepState, predators: &[Agent], own: f32, p: V) -> V {
        let mut acc = [0.0; 3];
        for f in predators {
            let away = sub(p, [f[0], f[1], f[2]]);
            let distance = dot(away, away).sqrt();
            let near = (1.0 - distance / FLEE_DISTANCE).max(0.0);
            acc = add(acc, mul(unit(away, [0.0, -1.0, 0.0]), near * own * 12.0));
        }
        let s = scale(p[2]);
        let [x, y] = self.project(p);
        if let Some([tx, ty]) = now.threat {
            let away = [x - tx, y - ty, 0.0];
            let distance = dot(away, away).sqrt();
            let near = (1.0 - distance / FLEE_DISTANCE).max(0.0);
            acc = add(acc, mul(unit(away, [0.0, -1.0, 0.0]), near * own * 16.0 / s));
        }
        if let Some(solid) = &self.solid {
            let (distance, direction) = solid.at(x, y);
            let near = (1.0 - distance / MARGIN).clamp(0.0, 1.5);
            acc = add(acc, mul([direction[0], direction[1], 0.0], near * own * 18.0));
        }
        acc
    }

    /// The projection of a position, in frame heights from the frame's corner.
    #[inline(always)]
    pub(super) fn project(&self, p: V) -> [f32; 2] {
        let s = scale(p[2]);
        [0.5 * self.aspect + (p[0] - 0.5 * self.aspect) * s, 0.5 + (p[1] - 0.5) * s]
    }

    /// Advances an agent by a step.
    #[inline(always)]
    pub(super) fn moved(&self, agent: &Agent, acc: V, own: f32, beats: f32, turning: f32) -> Agent {
        let (p, v) = ([agent[0], agent[1], agent[2]], [agent[3], agent[4], agent[5]]);
        let most = self.agility * own;
        let strong = dot(acc, acc).sqrt();
        let acc = if strong > most { mul(acc, most / strong) } else { acc };
        let mut v = add(v, mul(acc, self.dt));
        let fast = dot(v, v).sqrt();
        let kept = fast.clamp(0.55 * own, 1.5 * own);
        v = if fast > 1e-9 { mul(v, kept / fast) } else { [own, 0.0, 0.0] };
        let mut p = add(p, mul(v, self.dt));
        p[2] = p[2].clamp(-0.5 * CAMERA, 8.0);
        p = [p[0].clamp(-64.0, 64.0), p[1].clamp(-64.0, 64.0), p[2]];
        if let Some(solid) = &self.solid {
            // At a corner the direction out of the obstacle changes during the motion.
            for _ in 0..3 {
                let [x, y] = self.project(p);
                let (distance, direction) = solid.at(x, y);
                if distance >= 0.0 {
                    break;
                }
                let s = scale(p[2]);
                p = add(p, [-distance * direction[0] / s, -distance * direction[1] / s, 0.0]);
                let into = v[0] * direction[0] + v[1] * direction[1];
                if into < 0.0 {
                    v = sub(v, [into * direction[0], into * direction[1], 0.0]);
                }
            }
        }
        // An agent banks into its turns like an aircraft. Its wings stay where they are as its course turns, also past the
        // vertical, where level wings change sides; from there it rolls to its bank.
        let axes = |v: V| {
            let ahead = unit(v, [1.0, 0.0, 0.0]);
            let right = unit(cross(ahead, self.up), [0.0, 0.0, 1.0]);
            (ahead, right, cross(right, ahead))
        };
        let (_, right, above) = axes([agent[3], agent[4], agent[5]]);
        let wing = sub(mul(right, wave(agent[6] + 0.25)), mul(above, wave(agent[6])));
        let (ahead, right, above) = axes(v);
        let kept = angle(dot(wing, right), -dot(wing, above));
        let lean = (0.085 * dot(acc, right) / own).clamp(-0.2, 0.2) + turning * 0.17;
        let off = lean - kept;
        let off = off - (off + 0.5).floor();
        let most = ROLL_RATE * self.dt;
        let roll = kept + (off * (7.0 * self.dt).min(1.0)).clamp(-most, most);
        // Climbing and acceleration increase the rate of beats.
        let work = 1.0 + (0.6 * dot(v, self.up) / own + 0.1 * dot(acc, ahead) / own).clamp(-0.5, 0.6);
        let phase = agent[7] + beats * work * self.dt;
        [p[0], p[1], p[2], v[0], v[1], v[2], roll, phase - phase.floor()]
    }

    /// The motion of a predator: through the centre of the flock, and back.
    fn hunt(&self, step_wind: &StepWind, middle: V, id: u64, predator: &Agent) -> V {
        let (p, v) = ([predator[0], predator[1], predator[2]], [predator[3], predator[4], predator[5]]);
        let to = sub(middle, p);
        let distance = dot(to, to).sqrt();
        let own = self.own_speed(id) * 1.35;
        // Near the centre it holds its course, and so passes to the other side.
        let eager = if distance > 0.22 { 2.6 } else { 0.0 };
        let acc = add(mul(unit(to, [0.0; 3]), eager * own), mul(self.wander_noise(step_wind, id), 1.5 * own));
        let fast = dot(v, v).sqrt();
        add(acc, mul(unit(v, [1.0, 0.0, 0.0]), (own - fast) / SPEED_TIME))
    }
}

/// The inputs of a step.
struct World<'a> {
    rules: &'a Rules,
    step_wind: &'a StepWind,
    now: &'a StepState,
    predators: &'a [Agent],
    cells: &'a Cells,
    beats: f32,
}

multiversion! {
    /// Advances the agents of some slots by a step.
    fn advance(level, world: &World<'_>, agents: &[Agent], first: usize, seen: &[Near], out: &mut [Agent]) = advance_body;
}

#[inline(always)]
fn advance_body(world: &World<'_>, agents: &[Agent], first: usize, seen: &[Near], out: &mut [Agent]) {
    let World { rules, step_wind, now, predators, cells, beats } = *world;
    for ((id, near), out) in cells.ids[first..].iter().zip(seen).zip(out) {
        let (me, id) = (&agents[*id as usize], u64::from(*id));
        let (p, v) = ([me[0], me[1], me[2]], [me[3], me[4], me[5]]);
        let own = rules.own_speed(id);
        let acc = add(
            rules.solitary_steering(step_wind, now, id, own, p, v),
            rules.avoidance(now, predators, own, p),
        );
        let acc = add(acc, rules.flocking(near, own, v));
        let turning = if rules.waves > 0.0 { rules.turn(step_wind, rules.out_of_home(now, p)) } else { 0.0 };
        *out = rules.moved(me, acc, own, beats, turning);
    }
}

impl Rules {
    /// Separation, alignment and cohesion: the acceleration of an agent by its neighbours (the rules of Reynolds' boids).
    #[inline(always)]
    pub(super) fn flocking(&self, near: &Near, own: f32, v: V) -> V {
        let mut acc = mul(near.apart, self.separation * own / SEPARATION_TIME);
        if near.count > 0.0 {
            let part = 1.0 / near.count;
            acc = add(acc, mul(sub(mul(near.velocity, part), v), self.alignment / ALIGNMENT_TIME));
            acc =
                add(acc, mul(near.to, part * self.cohesion * own / (self.perception_radius * COHESION_TIME)));
        }
        acc
    }

    /// The state after the next step; `beats` is the number of wing beats per second.
    pub(super) fn step(
        &self,
        state: &[Agent],
        now: &StepState,
        beats: f32,
        level: Level,
        executor: &dyn Executor,
    ) -> Vec<Agent> {
        let (agents, predators) = state.split_at(self.agents.min(state.len()));
        let step_wind = self.step_wind(now.step);
        let reach =
            Reach { perception_radius: self.perception_radius, separation_radius: self.separation_radius };
        let cells = Cells::new(agents, self.perception_radius);
        let sorted = Sorted::new(agents, &cells);
        let mut moved = vec![[0f32; 8]; agents.len()];
        {
            let parts: Vec<Mutex<&mut [Agent]>> = moved.chunks_mut(AGENTS_PER_TASK).map(Mutex::new).collect();
            let world = World { rules: self, step_wind: &step_wind, now, predators, cells: &cells, beats };
            executor.execute(parts.len(), &|part| {
                let mut out = lock(&parts[part]);
                let mut seen = [Near::default(); AGENTS_PER_TASK];
                let first = part * AGENTS_PER_TASK;
                near(level, reach, &cells, &sorted, now.step, first, &mut seen[..out.len()]);
                advance(level, &world, agents, first, &seen, &mut out);
            });
        }
        let mut out = state.to_vec();
        for (id, agent) in cells.ids.iter().zip(&moved) {
            out[*id as usize] = *agent;
        }
        if !predators.is_empty() {
            let mut sum = [0f64; 3];
            agents.iter().for_each(|a| (0..3).for_each(|i| sum[i] += f64::from(a[i])));
            let middle = sum.map(|s| (s / agents.len().max(1) as f64) as f32);
            for (k, predator) in predators.iter().enumerate() {
                let id = (agents.len() + k) as u64;
                let acc = self.hunt(&step_wind, middle, id, predator);
                out[agents.len() + k] =
                    self.moved(predator, acc, self.own_speed(id) * 1.35, 0.6 * beats, 0.0);
            }
        }
        out
    }

    /// The initial state: agents in and around the home, in motion.
    pub(super) fn start(&self, home: V) -> Vec<Agent> {
        let step_wind = self.step_wind(0);
        (0..self.agents + self.predators)
            .map(|id| {
                let mut rng = Rng::new(self.seed, id as u64);
                let mut at = [0f32; 3];
                // Inside the ball: a few tries, then the position of the last one.
                for _ in 0..8 {
                    at = core::array::from_fn(|_| rng.range(-1.0, 1.0) as f32);
                    if dot(at, at) <= 1.0 {
                        break;
                    }
                }
                let wide = if id < self.agents { 0.75 } else { 1.3 };
                let mut p: V = core::array::from_fn(|i| home[i] + wide * at[i] * self.home[i]);
                // Around the home, and with the wind.
                let around = cross(self.up, at);
                let direction = add(mul(around, 0.7), mul(self.wind(&step_wind, p), 0.6));
                let direction =
                    unit(add(direction, mul(self.wander_noise(&step_wind, id as u64), 0.2)), [1.0, 0.0, 0.0]);
                let v = mul(direction, self.own_speed(id as u64));
                if let Some(solid) = &self.solid {
                    // Out of the obstacle in several steps, as the direction changes on the way.
                    for _ in 0..16 {
                        let [x, y] = self.project(p);
                        let (distance, out) = solid.at(x, y);
                        let (s, step) = (scale(p[2]), (0.002 - distance).max(0.0));
                        p = add(p, [step * out[0] / s, step * out[1] / s, 0.0]);
                    }
                }
                [p[0], p[1], p[2], v[0], v[1], v[2], 0.0, rng.next_f64() as f32]
            })
            .collect()
    }
}
